//! A fleet's own nats-server, and how machines are let in: `FleetServer` starts it with keys, permissions and TLS of its own, `join`
//! asks it to take a machine.
//!
//! ```text
//!  brunt agent -join TOKEN            nats-server                     brunt fleet up
//!     key of the token ──connect──▶       │ ◀──────connect───── key of the process that lets in
//!     name, own public key ──brunt.join──▶│──────────────────▶ adds the user, writes nats.conf, SIGHUP
//!                         ◀───────────────│◀────────────────── let in, or why not
//!     own key ─────────────connect──▶     │
//! ```

mod change;
mod config;
mod door;
mod issue;
mod join;
mod keys;
mod lock;
mod permissions;
mod process;
#[cfg(test)]
mod tests;
mod token;

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use config::Files;
use door::{Door, JoinRate};
use keys::{Keys, read_secret, write_secret};
use lock::FleetLock;
use process::ServerProcess;
use stdx::private_file;

use crate::error::ControlError;
use crate::nats::{Login, NatsAccess, NatsTransport};
use crate::refusals::Refusals;

pub use change::{remove_agent, renew_token, token};
pub use issue::{IssueOptions, IssuedServer, issue};
pub use join::{AgentAccess, join};
pub use token::{AgentToken, JoinToken, TokenError, TokenRules, TokenTerms};

/// How long nats-server may take to answer after its start.
const START_WITHIN: Duration = Duration::from_secs(10);

/// The access of coordinators, in a fleet's folder.
const COORDINATOR: &str = "coordinator.json";

/// The file of the token, for scripts that start agents.
const TOKEN: &str = "token";

/// What a fleet's server is started with.
#[derive(Clone, Debug)]
pub struct FleetServerOptions {
    /// The fleet's folder: keys, the server's configuration, its log and its store. It is made where it is missing.
    pub dir: PathBuf,
    /// Where the server listens; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The name or address by which agents reach this machine, where it is not that of `listen`.
    pub advertise: Option<String>,
    /// What the joining token is good for, from this start on.
    pub token: TokenRules,
}

/// A fleet's nats-server, and the process that lets machines in.
#[derive(Debug)]
pub struct FleetServer {
    process: Arc<ServerProcess>,
    token: JoinToken,
    listen: SocketAddr,
    _admin: Arc<NatsTransport>,
    /// No other process has the folder.
    _lock: FleetLock,
}

impl FleetServer {
    /// Starts nats-server and waits until it answers. `notice` gets a sentence for each machine that was let in or refused.
    ///
    /// # Errors
    /// nats-server is not installed or does not start, or a file of the folder cannot be used.
    pub fn start(
        options: &FleetServerOptions,
        notice: impl Fn(String) + Send + Sync + 'static,
    ) -> Result<Self, ControlError> {
        let FleetServerOptions { dir, listen, advertise, token: rules } = options;
        let host = match advertise {
            Some(host) => host.clone(),
            None if listen.ip().is_unspecified() => return Err(ControlError::NoAddress),
            None => listen.ip().to_string(),
        };
        make_private(dir)?;
        let dir = dir.canonicalize().map_err(|error| ControlError::file(dir, error))?;
        let listen = with_port(*listen)?;
        let lock = FleetLock::try_take(&dir)?.ok_or_else(|| ControlError::InUse(dir.clone()))?;
        let files = Files::of(&dir);
        process::end_orphan(&files)?;
        let mut keys = Keys::of(&dir, &keys::hosts(listen.ip(), advertise.as_deref()))?;
        keys.terms = rules.from(unix_s());
        keys.save(&dir)?;
        let certificate = keys.certificate_der().ok_or(ControlError::BadKeys)?;
        write_files(&dir, listen, &keys)?;
        let token =
            JoinToken::new(vec![url(&host, listen.port())], certificate.clone(), keys.join.clone());
        write_token(&dir, &token)?;
        let access = |seed: &str, inbox: &str, host: &str| NatsAccess {
            urls: vec![url(host, listen.port())],
            certificate: Some(certificate.clone()),
            login: Login::Seed(seed.to_owned()),
            inbox: inbox.to_owned(),
        };
        // From here, where the address for others may not lead back to this machine.
        let near = if listen.ip().is_unspecified() {
            "127.0.0.1".to_owned()
        } else {
            listen.ip().to_string()
        };
        // Before the server listens: a process that waits for that finds the folder complete.
        access(&keys.coordinator, permissions::COORDINATOR_INBOX, &near).save(&dir)?;
        let process = Arc::new(ServerProcess::start(&files)?);
        let admin = connect(&access(&keys.admin, permissions::ADMIN_INBOX, &near), &process)?;
        let door = Door {
            dir,
            listen,
            keys,
            token: token.clone(),
            process: Arc::clone(&process),
            rate: JoinRate::new(),
            refusals: Refusals::default(),
        };
        let admin = Arc::new(admin);
        door::open(&admin, door, notice)?;
        Ok(Self { process, token, listen, _admin: admin, _lock: lock })
    }

    /// What a machine joins with.
    #[must_use]
    pub fn token(&self) -> String {
        self.token.text()
    }

    /// Where the server listens.
    #[must_use]
    pub fn listen(&self) -> SocketAddr {
        self.listen
    }

    /// Why the server ended, where it did.
    #[must_use]
    pub fn ended(&self) -> Option<String> {
        self.process.ended()
    }

    /// Starts the server again, once it has ended: agents and coordinators come back by themselves, with all that was measured
    /// meanwhile.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn restart(&self) -> Result<(), ControlError> {
        self.process.restart()
    }

    /// The number of the server's process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Ends the server.
    pub fn stop(self) {
        self.process.stop();
    }
}

impl NatsAccess {
    /// That of coordinators of the fleet with this folder.
    ///
    /// # Errors
    /// The folder is not of a fleet, or the file is damaged.
    pub fn of_coordinator(dir: &Path) -> Result<Self, ControlError> {
        let path = dir.join(COORDINATOR);
        let bytes = read_secret(&path)?.ok_or_else(|| ControlError::NoFleet(dir.to_owned()))?;
        serde_json::from_slice(&bytes).map_err(|error| ControlError::file(&path, error.into()))
    }

    /// Makes a folder the fleet's of a NATS server that is there already, once that was reached and has JetStream.
    ///
    /// # Errors
    /// The server cannot be reached, has no JetStream, or the folder cannot be written.
    pub fn adopt(&self, dir: &Path) -> Result<(), ControlError> {
        NatsTransport::connect(self, |_| {})?.make_stream()?;
        make_private(dir)?;
        self.save(dir)
    }

    fn save(&self, dir: &Path) -> Result<(), ControlError> {
        // Texts and bytes alone: they have a form in JSON.
        let text = serde_json::to_vec(self).unwrap_or_default();
        write_secret(&dir.join(COORDINATOR), &text)
    }
}

/// Makes a folder that only this user reads, where it is missing. One that others can write is refused.
fn make_private(dir: &Path) -> Result<(), ControlError> {
    private_file::make_folder(dir).map_err(|error| ControlError::file(dir, error))
}

/// The address with a free port where it has none.
fn with_port(listen: SocketAddr) -> Result<SocketAddr, ControlError> {
    if listen.port() != 0 {
        return Ok(listen);
    }
    let free = TcpListener::bind(listen).and_then(|socket| socket.local_addr());
    free.map_err(|error| ControlError::Listen(listen, error))
}

fn url(host: &str, port: u16) -> String {
    match host.contains(':') {
        true => format!("tls://[{host}]:{port}"),
        false => format!("tls://{host}:{port}"),
    }
}

fn write_files(dir: &Path, listen: SocketAddr, keys: &Keys) -> Result<(), ControlError> {
    let files = Files::of(dir);
    write_secret(&files.paths.certificate, keys.certificate.as_bytes())?;
    write_secret(&files.paths.certificate_key, keys.certificate_key.as_bytes())?;
    write_secret(&files.config, config::text(listen, &files.paths, keys).as_bytes())
}

/// Writes the file of the token.
fn write_token(dir: &Path, token: &JoinToken) -> Result<(), ControlError> {
    write_secret(&dir.join(TOKEN), (token.text() + "\n").as_bytes())
}

/// Unix time, in seconds.
fn unix_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Connects to a server that was started just now.
fn connect(access: &NatsAccess, process: &ServerProcess) -> Result<NatsTransport, ControlError> {
    let until = Instant::now() + START_WITHIN;
    loop {
        let connected = NatsTransport::connect(access, |_| {});
        // It may have been another server that answered.
        if let Some(cause) = process.ended() {
            return Err(ControlError::Server(cause));
        }
        let error = match connected {
            Ok(transport) => return Ok(transport),
            Err(error) => error,
        };
        if Instant::now() > until {
            process.stop();
            return Err(error.into());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
