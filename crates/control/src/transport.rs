//! `Transport`: what the hosts need of a message system. Messages may be lost, doubled, late and out of order; leases either work or
//! yield an error.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fleet::{Digest, Incarnation, Name};
use thiserror::Error;

/// How long a lease holds without being renewed.
pub const LEASE_TTL: Duration = Duration::from_secs(10);

/// What a message is about, and with it who may send and who may read it. As text it is a subject of NATS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// An agent without a run waits for one: `brunt.hello.AGENT`.
    Hello(Name),
    /// From an agent to the coordinator of its run: `brunt.RUN.up.AGENT`.
    Up {
        /// The run.
        run: Name,
        /// The sender.
        agent: Name,
    },
    /// From the coordinator of a run to an agent: `brunt.RUN.down.AGENT`.
    Down {
        /// The run.
        run: Name,
        /// The receiver.
        agent: Name,
    },
    /// An agent asks the coordinator of its run for a part of a file: `brunt.RUN.fetch.AGENT`.
    Fetch {
        /// The run.
        run: Name,
        /// The sender.
        agent: Name,
    },
    /// A part of a file for an agent that asked: `brunt.RUN.part.AGENT`. It never goes to a subject that the agent names.
    Part {
        /// The run.
        run: Name,
        /// The receiver.
        agent: Name,
    },
}

impl Subject {
    /// Reads a subject; `None` where it is none of ours.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let tokens: Vec<&str> = text.split('.').collect();
        let name = |text: &str| Name::new(text).ok();
        match tokens.as_slice() {
            ["brunt", "hello", agent] => Some(Self::Hello(name(agent)?)),
            ["brunt", run, "up", agent] => Some(Self::Up { run: name(run)?, agent: name(agent)? }),
            ["brunt", run, "down", agent] => {
                Some(Self::Down { run: name(run)?, agent: name(agent)? })
            }
            ["brunt", run, "fetch", agent] => {
                Some(Self::Fetch { run: name(run)?, agent: name(agent)? })
            }
            ["brunt", run, "part", agent] => {
                Some(Self::Part { run: name(run)?, agent: name(agent)? })
            }
            _ => None,
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hello(agent) => write!(f, "brunt.hello.{agent}"),
            Self::Up { run, agent } => write!(f, "brunt.{run}.up.{agent}"),
            Self::Down { run, agent } => write!(f, "brunt.{run}.down.{agent}"),
            Self::Fetch { run, agent } => write!(f, "brunt.{run}.fetch.{agent}"),
            Self::Part { run, agent } => write!(f, "brunt.{run}.part.{agent}"),
        }
    }
}

/// Which messages a process reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// Those of all agents to this run, and of agents that wait.
    Coordinator(Name),
    /// Those of any coordinator to this agent.
    Agent(Name),
}

impl Role {
    /// The subjects, with `*` for any name.
    #[must_use]
    pub fn subjects(&self) -> Vec<String> {
        match self {
            Self::Coordinator(run) => {
                vec![
                    "brunt.hello.*".to_owned(),
                    format!("brunt.{run}.up.*"),
                    format!("brunt.{run}.fetch.*"),
                ]
            }
            Self::Agent(agent) => {
                vec![format!("brunt.*.down.{agent}"), format!("brunt.*.part.{agent}")]
            }
        }
    }

    /// Whether this process reads the subject.
    #[must_use]
    pub fn reads(&self, subject: &Subject) -> bool {
        match (self, subject) {
            (Self::Coordinator(_), Subject::Hello(_)) => true,
            (Self::Coordinator(own), Subject::Up { run, .. } | Subject::Fetch { run, .. }) => {
                own == run
            }
            (Self::Agent(own), Subject::Down { agent, .. } | Subject::Part { agent, .. }) => {
                own == agent
            }
            _ => false,
        }
    }
}

/// A message that came.
#[derive(Clone, Debug)]
pub struct Incoming {
    /// Its subject.
    pub subject: Subject,
    /// Its bytes, which any client of the message system may have sent that has the right to.
    pub bytes: Vec<u8>,
    /// When it was read.
    pub at: Instant,
}

/// Takes a message that came. It must not block: the message is dropped where there is no room.
pub type Deliver = Arc<dyn Fn(Incoming) + Send + Sync>;

/// The right to coordinate a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The run.
    pub run: Name,
    /// This holder: larger than that of any before it, as long as the store is not lost.
    pub incarnation: Incarnation,
    /// The revision of the store's entry, which the next renewal replaces.
    pub revision: u64,
}

/// Why a transport could not do what was asked.
#[derive(Debug, Error)]
pub enum TransportError {
    /// The server could not be reached, or refused.
    #[error("{action}: {cause}")]
    Server {
        /// What was tried.
        action: &'static str,
        /// The server's or the client's words.
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The server does not know the key.
    #[error("the server at {0} does not know this key")]
    UnknownKey(String),
    /// No process answers for the fleet.
    #[error("the fleet lets no machine in just now: is `brunt fleet up` running?")]
    NoFleet,
    /// Another process coordinates the run.
    #[error("another process coordinates the run {0}")]
    LeaseHeld(Name),
    /// The thread of the transport has ended.
    #[error("the connection is closed")]
    Closed,
}

/// A message system. All calls but [`Transport::send`] may take seconds.
pub trait Transport: Send + Sync {
    /// Delivers the messages for `role` from now on.
    ///
    /// # Errors
    /// The server cannot be reached, or refuses.
    fn listen(&self, role: &Role, deliver: Deliver) -> Result<(), TransportError>;

    /// Sends a message, at most [`fleet::FRAME_MAX`] bytes; it may be lost. It never blocks.
    fn send(&self, subject: &Subject, bytes: Vec<u8>);

    /// Sends a large message, and returns once it is on its way: who sends many of them is no faster than the connection, and other
    /// messages do not wait behind a queue of them. It may be lost as well.
    fn send_large(&self, subject: &Subject, bytes: Vec<u8>) {
        self.send(subject, bytes);
    }

    /// It has no connection just now, so that silence of the others means nothing.
    fn is_away(&self) -> bool {
        false
    }

    /// Takes the lease of a run that has no holder; it ends [`LEASE_TTL`] after the last renewal.
    ///
    /// # Errors
    /// Another process holds it, or the server cannot be reached.
    fn take_lease(&self, run: &Name) -> Result<Lease, TransportError>;

    /// Renews a lease; takes it again where it ended and no other process has it.
    ///
    /// # Errors
    /// Another process holds it, or the server cannot be reached.
    fn renew_lease(&self, lease: &Lease) -> Result<Lease, TransportError>;
}

/// The SHA-256 of bytes.
#[must_use]
pub fn digest(bytes: &[u8]) -> Digest {
    use sha2::{Digest as _, Sha256};
    Digest(Sha256::digest(bytes).into())
}

/// A hash as 64 hexadecimal digits.
#[must_use]
pub fn hex(digest: &Digest) -> String {
    digest.0.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        Name::new(text).unwrap()
    }

    #[test]
    fn a_subject_comes_back() {
        let (run, agent) = (name("r1"), name("a1"));
        let all = [
            Subject::Hello(agent.clone()),
            Subject::Up { run: run.clone(), agent: agent.clone() },
            Subject::Down { run: run.clone(), agent: agent.clone() },
            Subject::Fetch { run: run.clone(), agent: agent.clone() },
            Subject::Part { run, agent },
        ];
        for subject in all {
            assert_eq!(Subject::parse(&subject.to_string()), Some(subject));
        }
        for text in ["brunt.hello", "brunt.r.up.a.b", "x.r.up.a", "brunt.r.up.*", "brunt..up.a"] {
            assert_eq!(Subject::parse(text), None, "{text}");
        }
    }

    #[test]
    fn each_reads_its_own_subjects() {
        let down = |agent| Subject::Down { run: name("r"), agent: name(agent) };
        let up = |run| Subject::Up { run: name(run), agent: name("a") };
        assert!(Role::Agent(name("a")).reads(&down("a")));
        assert!(!Role::Agent(name("a")).reads(&down("b")));
        assert!(!Role::Agent(name("a")).reads(&up("r")));
        let part = |agent| Subject::Part { run: name("r"), agent: name(agent) };
        assert!(
            Role::Agent(name("a")).reads(&part("a")) && !Role::Agent(name("a")).reads(&part("b"))
        );
        let fetch = |run| Subject::Fetch { run: name(run), agent: name("a") };
        assert!(Role::Coordinator(name("r")).reads(&fetch("r")));
        assert!(!Role::Coordinator(name("r")).reads(&fetch("s")));
        assert!(Role::Coordinator(name("r")).reads(&up("r")));
        assert!(!Role::Coordinator(name("r")).reads(&up("s")));
        assert!(!Role::Coordinator(name("r")).reads(&down("a")));
    }
}
