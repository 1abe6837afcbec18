//! `Door`: lets machines in by a joining token, and puts them out again. Each change is in the fleet's files, and in its server, before
//! it is answered.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use fleet::Name;

use super::join::{Answer, Request};
use super::keys::Keys;
use super::permissions::{ADMIN, ADMIN_INBOX, JOIN, JOIN_INBOX};
use super::process::ServerProcess;
use super::token::{JoinToken, TokenRules};
use super::{unix_s, write_files, write_token};
use crate::error::ControlError;
use crate::nats::NatsTransport;
use crate::refusals::Refusals;
use crate::transport::TransportError;

/// New machines in a second over a longer time, and at once: each is two files and a reload of the server.
const JOINS_PER_S: f64 = 8.0;
const JOINS_AT_ONCE: f64 = 64.0;

/// What a fleet's user may change of who is let in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Change {
    /// Puts an agent out: its key is of no use from then on, and its name is free.
    Remove(Name),
    /// Makes another joining token; the one before lets no machine in any more.
    NewToken(TokenRules),
}

/// What became of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Changed {
    Done,
    Refused(String),
}

impl Change {
    /// Makes it in a fleet's keys.
    ///
    /// # Errors
    /// There is no such agent.
    pub(super) fn apply(&self, keys: &mut Keys) -> Result<(), ControlError> {
        match self {
            Self::Remove(name) => keys.remove(name),
            Self::NewToken(rules) => {
                keys.renew_token(*rules, unix_s());
                Ok(())
            }
        }
    }
}

/// Who is let in, and what changes when that does.
pub(super) struct Door {
    pub(super) dir: PathBuf,
    pub(super) listen: SocketAddr,
    pub(super) keys: Keys,
    pub(super) token: JoinToken,
    pub(super) process: Arc<ServerProcess>,
    pub(super) rate: JoinRate,
    pub(super) refusals: Refusals,
}

/// Lets machines in from now on. A request is answered below the answers' own subjects alone, wherever it asks the answer to go.
pub(super) fn open(
    admin: &Arc<NatsTransport>,
    door: Door,
    notice: impl Fn(String) + Send + Sync + 'static,
) -> Result<(), TransportError> {
    let door = Arc::new(Mutex::new(door));
    let (for_changes, outgoing) = (Arc::clone(&door), Arc::downgrade(admin));
    answer(admin, ADMIN, ADMIN_INBOX, outgoing, move |bytes| {
        let change = postcard::from_bytes::<Change>(bytes).ok()?;
        let mut door = for_changes.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = match door.change(&change) {
            Ok(()) => Changed::Done,
            Err(error) => Changed::Refused(error.to_string()),
        };
        postcard::to_allocvec(&changed).ok()
    })?;
    answer(admin, JOIN, JOIN_INBOX, Arc::downgrade(admin), move |bytes| {
        let request = Request::read(bytes)?;
        let mut door = door.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = door.admit(&request);
        let told = match &answer {
            Answer::In => Some(format!("{} joined", request.name)),
            Answer::Refused(cause) => {
                let told = door.refusals.note(&request.name, cause);
                told.map(|cause| format!("{} was refused: {cause}", request.name))
            }
            Answer::Later => None,
        };
        told.into_iter().for_each(&notice);
        Some(answer.bytes())
    })
}

/// Answers what is asked on a subject, where the answer is to go below this inbox.
fn answer(
    admin: &NatsTransport,
    subject: &str,
    inbox: &'static str,
    outgoing: Weak<NatsTransport>,
    mut reply: impl FnMut(&[u8]) -> Option<Vec<u8>> + Send + 'static,
) -> Result<(), TransportError> {
    admin.subscribe(subject.to_owned(), move |message| {
        let (Some(to), Some(admin)) = (message.reply, outgoing.upgrade()) else { return };
        let is_of_asker = to.strip_prefix(inbox).is_some_and(|rest| rest.starts_with('.'));
        if is_of_asker && let Some(bytes) = reply(&message.payload) {
            admin.send_to(to.to_string(), bytes);
        }
    })
}

impl Door {
    fn admit(&mut self, request: &Request) -> Answer {
        let mut keys = self.keys.clone();
        if let Err(refusal) = keys.admit_by_token(&request.name, &request.public, unix_s()) {
            return Answer::Refused(refusal.words(&request.name));
        }
        if keys.agents.len() == self.keys.agents.len() {
            return Answer::In;
        }
        if !self.rate.admits(Instant::now()) {
            return Answer::Later;
        }
        match self.store(keys) {
            Ok(()) => Answer::In,
            Err(error) => Answer::Refused(error.to_string()),
        }
    }

    fn change(&mut self, change: &Change) -> Result<(), ControlError> {
        let mut keys = self.keys.clone();
        change.apply(&mut keys)?;
        self.token = self.token.with_seed(&keys.join);
        write_token(&self.dir, &self.token)?;
        self.store(keys)
    }

    /// The keys are these from now on, for the server too.
    fn store(&mut self, keys: Keys) -> Result<(), ControlError> {
        keys.save(&self.dir)?;
        write_files(&self.dir, self.listen, &keys)?;
        self.keys = keys;
        self.process.reload();
        Ok(())
    }
}

/// How fast new machines are let in.
#[derive(Debug)]
pub(super) struct JoinRate {
    /// Machines that may come now, as of this instant.
    tokens: f64,
    at: Instant,
}

impl JoinRate {
    pub(super) fn new() -> Self {
        Self { tokens: JOINS_AT_ONCE, at: Instant::now() }
    }

    fn admits(&mut self, now: Instant) -> bool {
        let since = now.saturating_duration_since(self.at).as_secs_f64();
        self.tokens = (self.tokens + since * JOINS_PER_S).min(JOINS_AT_ONCE);
        self.at = now;
        let admits = self.tokens >= 1.0;
        if admits {
            self.tokens -= 1.0;
        }
        admits
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn machines_come_at_a_rate() {
        let mut rate = JoinRate::new();
        let mut come = |at: Instant| (0..1000).filter(|_| rate.admits(at)).count();
        let now = Instant::now() + Duration::from_secs(1);
        assert_eq!(come(now), JOINS_AT_ONCE as usize);
        assert_eq!(come(now + Duration::from_secs(2)), 2 * JOINS_PER_S as usize);
    }
}
