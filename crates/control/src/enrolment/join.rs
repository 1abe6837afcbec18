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
    match ask(&token.0, &request)? {
        Answer::Refused(cause) => return Err(ControlError::NotLetIn(cause)),
        Answer::In => {}
    }
    let access =
        NatsAccess { login: Login::Seed(own), inbox: agent_inbox(name), ..token.0.clone() };
    stored.save(&access)?;
    wait_until_known(&access)?;
    Ok(access)
}

fn ask(access: &NatsAccess, request: &Request) -> Result<Answer, ControlError> {
    let transport = NatsTransport::connect(access, |_| {})?;
    // Writing texts to memory cannot fail.
    let bytes = postcard::to_allocvec(request).unwrap_or_default();
    let until = Instant::now() + FLEET_WITHIN;
    let answer = loop {
        match transport.request(JOIN.to_owned(), bytes.clone()) {
            // Its server listens a moment before it does.
            Err(TransportError::NoFleet) if Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(100));
            }
            outcome => break outcome?,
        }
    };
    postcard::from_bytes(&answer)
        .map_err(|_| ControlError::NotLetIn("its answer is damaged".to_owned()))
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
