//! The configuration of a fleet's nats-server, as text.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::keys::{Keys, public};
use super::permissions::{Party, Permissions};

/// The files of a fleet's folder.
pub(super) struct Files {
    pub(super) config: PathBuf,
    pub(super) log: PathBuf,
    /// What the server is given.
    pub(super) paths: ServerPaths,
}

/// What a server's configuration names.
pub(super) struct ServerPaths {
    /// Its log; `None` is its standard error.
    pub(super) log: Option<PathBuf>,
    /// Where it writes its number, if anywhere.
    pub(super) pid: Option<PathBuf>,
    pub(super) certificate: PathBuf,
    pub(super) certificate_key: PathBuf,
    pub(super) store: PathBuf,
}

impl ServerPaths {
    /// In these folders.
    pub(super) fn of(dir: &Path, store: PathBuf, log: Option<PathBuf>) -> Self {
        let (certificate, key) = (dir.join("server.pem"), dir.join("server-key.pem"));
        Self { log, pid: None, certificate, certificate_key: key, store }
    }
}

impl Files {
    pub(super) fn of(dir: &Path) -> Self {
        let log = dir.join("nats-server.log");
        let paths = ServerPaths::of(dir, dir.join("jetstream"), Some(log.clone()));
        let paths = ServerPaths { pid: Some(dir.join("nats-server.pid")), ..paths };
        Self { config: dir.join("nats.conf"), log, paths }
    }
}

/// The text. There is no monitoring port and no cluster; who has no key is not let in.
pub(super) fn text(listen: SocketAddr, paths: &ServerPaths, keys: &Keys) -> String {
    let quoted = |path: &Path| quoted(&path.to_string_lossy());
    let log = paths.log.as_deref().map_or(String::new(), |log| {
        format!("log_file: {}\nlog_size_limit: 10485760\n", quoted(log))
    });
    let pid = paths.pid.as_deref();
    let pid = pid.map_or(String::new(), |pid| format!("pid_file: {}\n", quoted(pid)));
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write!(
        out,
        "# Written by `brunt fleet`; changes are lost.\n\
         listen: {}\n\
         server_name: \"brunt\"\n\
         max_payload: 1048576\n\
         write_deadline: \"10s\"\n\
         {log}{pid}jetstream {{ store_dir: {} }}\n\
         tls {{ cert_file: {}, key_file: {}, timeout: 5 }}\n\
         authorization {{\n  timeout: 5\n  users: [\n",
        self::quoted(&listen.to_string()),
        quoted(&paths.store),
        quoted(&paths.certificate),
        quoted(&paths.certificate_key),
    );
    let own = [
        (&keys.admin, Party::Admin),
        (&keys.coordinator, Party::Coordinator),
        (&keys.join, Party::Join),
    ];
    own.iter().for_each(|(seed, party)| user(&mut out, &public(seed), *party));
    keys.agents
        .iter()
        .for_each(|(name, public)| user(&mut out, public, Party::Agent(name.as_str())));
    out.push_str("  ]\n}\n");
    out
}

fn user(out: &mut String, public: &str, party: Party<'_>) {
    let Permissions { publish, subscribe } = party.permissions();
    // Names and our own words: nothing in them needs an escape. A thousand users in one Secret of a cluster: the short form.
    let list = |subjects: &[String]| format!("['{}']", subjects.join("','"));
    let (publish, subscribe) = (list(&publish), list(&subscribe));
    let _ =
        writeln!(out, "{{nkey:{public},permissions:{{publish:{publish},subscribe:{subscribe}}}}}");
}

/// A text in double quotes.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
