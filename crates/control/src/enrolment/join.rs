//! How a machine asks a fleet to let it in.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fleet::Name;
use nkeys::KeyPair;
use serde::{Deserialize, Serialize};

use super::keys::{Refusal, public, read_secret, seed, write_secret};
use super::make_private;
use super::permissions::{JOIN, agent_inbox};
use super::token::JoinToken;
use crate::error::ControlError;
use crate::nats::{Login, NatsAccess, NatsTransport};
use crate::transport::TransportError;

/// How long the server may take to know a key that was let in.
const KNOWN_WITHIN: Duration = Duration::from_secs(5);

/// How long a fleet whose server listens may take until it lets machines in.
const FLEET_WITHIN: Duration = Duration::from_secs(5);

/// How long a machine asks again while many join, and how long it waits in between.
const TURN_WITHIN: Duration = Duration::from_secs(300);
const ASK_AGAIN: Duration = Duration::from_secs(1);

/// What a machine is told that waited for so long.
const BUSY: &str = "too many machines ask to join";

/// The most bytes of a request that are read.
const REQUEST_MAX: usize = 1024;

/// What a machine says of itself.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Request {
    pub(super) name: Name,
    /// The public key that it will sign in with.
    pub(super) public: String,
}

impl Request {
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        (bytes.len() <= REQUEST_MAX).then(|| postcard::from_bytes(bytes).ok())?
    }
}

/// Whether it is let in.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    In,
    Refused(String),
    /// So many join that it has to ask again in a moment.
    Later,
}

impl Answer {
    pub(super) fn bytes(&self) -> Vec<u8> {
        // Writing a text to memory cannot fail.
        postcard::to_allocvec(self).unwrap_or_default()
    }
}

impl Refusal {
    pub(super) fn words(&self, name: &Name) -> String {
        match self {
            Self::NameTaken => {
                format!("another machine has the name {name}; choose another one with -name")
            }
            Self::TooMany => {
                format!("the fleet has {} agents, and takes no more", fleet::AGENTS_MAX)
            }
            Self::BadKey => "its key is none".to_owned(),
            Self::Withdrawn => format!("{name} was put out of it (brunt fleet rm)"),
            Self::TokenEnded => {
                "its joining token has ended (brunt fleet token -new makes another)".to_owned()
            }
            Self::TokenSpent => {
                "as many machines joined by its token as may (brunt fleet token -new makes another)"
                    .to_owned()
            }
        }
    }
}

/// How an agent signs in at its fleet, stored in a folder of the machine, so that it keeps its name.
#[derive(Debug)]
pub struct AgentAccess(PathBuf);

impl AgentAccess {
    /// Of the agent with this name, in this folder.
    #[must_use]
    pub fn of(dir: &Path, name: &Name) -> Self {
        Self(dir.join(format!("agent-{name}.json")))
    }

    /// The access; `None` where the agent never joined.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged.
    pub fn load(&self) -> Result<Option<NatsAccess>, ControlError> {
        let bytes = read_secret(&self.0)?;
        let access = bytes.map(|bytes| serde_json::from_slice(&bytes)).transpose();
        access.map_err(|error| ControlError::file(&self.0, error.into()))
    }

    /// Removes it, where it is.
    pub(super) fn remove(&self) -> Result<(), ControlError> {
        match std::fs::remove_file(&self.0) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(ControlError::file(&self.0, error))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn save(&self, access: &NatsAccess) -> Result<(), ControlError> {
        if let Some(dir) = self.0.parent() {
            make_private(dir)?;
        }
        // Texts and bytes alone: they have a form in JSON.
        write_secret(&self.0, &serde_json::to_vec(access).unwrap_or_default())
    }
}

/// Asks the fleet of a token to let this machine in by this name; its own key is made once and never leaves it.
///
/// # Errors
/// The fleet cannot be reached, does not know the token, or refuses the name.
pub fn join(
    token: &JoinToken,
    name: &Name,
    stored: &AgentAccess,
) -> Result<NatsAccess, ControlError> {
    let own = match stored.load()? {
        Some(NatsAccess { login: Login::Seed(seed), .. }) => seed,
        _ => seed(&KeyPair::new_user()),
    };
    let request = Request { name: name.clone(), public: public(&own) };
    match ask(&token.0, &request) {
        Ok(Answer::In) => {}
        Ok(Answer::Refused(cause)) => return Err(ControlError::NotLetIn(cause)),
        Ok(Answer::Later) => return Err(ControlError::NotLetIn(BUSY.to_owned())),
        // Another token was made meanwhile, by which a machine that is in need not ask.
        Err(error @ ControlError::Transport(TransportError::UnknownKey(_))) => {
            return stored.load()?.filter(is_known).ok_or(error);
        }
        Err(error) => return Err(error),
    }
    let access =
        NatsAccess { login: Login::Seed(own), inbox: agent_inbox(name), ..token.0.clone() };
    stored.save(&access)?;
    wait_until_known(&access)?;
    Ok(access)
}

/// Whether the server knows a key.
fn is_known(access: &NatsAccess) -> bool {
    NatsTransport::connect(access, |_| {}).is_ok()
}

fn ask(access: &NatsAccess, request: &Request) -> Result<Answer, ControlError> {
    let transport = NatsTransport::connect(access, |_| {})?;
    // Writing texts to memory cannot fail.
    let bytes = postcard::to_allocvec(request).unwrap_or_default();
    let began = Instant::now();
    loop {
        let answer = match transport.request(JOIN.to_owned(), bytes.clone()) {
            // Its server listens a moment before it does.
            Err(TransportError::NoFleet) if began.elapsed() < FLEET_WITHIN => {
                std::thread::sleep(Duration::from_millis(100));
                continue;
            }
            outcome => outcome?,
        };
        let answer = postcard::from_bytes(&answer);
        let answer =
            answer.map_err(|_| ControlError::NotLetIn("its answer is damaged".to_owned()))?;
        match answer {
            Answer::Later if began.elapsed() < TURN_WITHIN => std::thread::sleep(ASK_AGAIN),
            answer => return Ok(answer),
        }
    }
}

/// The server reads its configuration again after it answered.
fn wait_until_known(access: &NatsAccess) -> Result<(), TransportError> {
    let until = Instant::now() + KNOWN_WITHIN;
    loop {
        match NatsTransport::connect(access, |_| {}) {
            Err(TransportError::UnknownKey(_)) if Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(100));
            }
            outcome => return outcome.map(drop),
        }
    }
}
