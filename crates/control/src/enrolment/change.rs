//! What a fleet's user changes of who is let in: through the process that holds the fleet, or in its files where none does.

use std::path::Path;

use fleet::Name;

use super::door::{Change, Changed};
use super::keys::{Keys, read_secret};
use super::lock::FleetLock;
use super::permissions::{ADMIN, ADMIN_INBOX};
use super::token::{JoinToken, TokenRules, TokenTerms};
use super::{AgentAccess, TOKEN, write_token};
use crate::error::ControlError;
use crate::nats::{Login, NatsAccess, NatsTransport};

/// Puts an agent out of a fleet: its key is of no use from then on, and its name is free. Who has the joining token may come back by
/// another key: make another token too.
///
/// # Errors
/// The folder is of no fleet with a server of its own, or the fleet has no such agent.
pub fn remove_agent(dir: &Path, name: &Name) -> Result<(), ControlError> {
    change(dir, &Change::Remove(name.clone()))?;
    // The key of one whose key was made here: the next is another.
    AgentAccess::of(dir, name).remove()
}

/// Makes another joining token, and gives it. No machine joins by the one before any more; those that joined stay.
///
/// # Errors
/// The folder is of no fleet with a server of its own.
pub fn renew_token(dir: &Path, rules: TokenRules) -> Result<String, ControlError> {
    change(dir, &Change::NewToken(rules))?;
    token(dir).map(|(token, _)| token)
}

/// The joining token of a fleet, and what it is good for yet.
///
/// # Errors
/// The folder is of no fleet with a server of its own.
pub fn token(dir: &Path) -> Result<(String, TokenTerms), ControlError> {
    let keys = keys(dir)?;
    Ok((stored_token(dir)?.text(), keys.terms))
}

fn change(dir: &Path, change: &Change) -> Result<(), ControlError> {
    let mut keys = keys(dir)?;
    let Some(_lock) = FleetLock::try_take(dir)? else { return ask(dir, &keys, change) };
    change.apply(&mut keys)?;
    if matches!(change, Change::NewToken(_)) {
        write_token(dir, &stored_token(dir)?.with_seed(&keys.join))?;
    }
    keys.save(dir)
}

/// Asks the process that holds the fleet.
fn ask(dir: &Path, keys: &Keys, change: &Change) -> Result<(), ControlError> {
    let access = NatsAccess {
        login: Login::Seed(keys.admin.clone()),
        inbox: ADMIN_INBOX.to_owned(),
        ..NatsAccess::of_coordinator(dir)?
    };
    let transport = NatsTransport::connect(&access, |_| {})?;
    // A name and numbers: they have a form.
    let bytes = postcard::to_allocvec(change).unwrap_or_default();
    let answer = transport.request(ADMIN.to_owned(), bytes)?;
    match postcard::from_bytes(&answer) {
        Ok(Changed::Done) => Ok(()),
        Ok(Changed::Refused(cause)) => Err(ControlError::NotChanged(cause)),
        Err(_) => Err(ControlError::NotChanged("its answer is damaged".to_owned())),
    }
}

fn keys(dir: &Path) -> Result<Keys, ControlError> {
    Keys::stored(dir)?.ok_or_else(|| ControlError::NoOwnServer(dir.to_owned()))
}

fn stored_token(dir: &Path) -> Result<JoinToken, ControlError> {
    let path = dir.join(TOKEN);
    let bytes = read_secret(&path)?.ok_or_else(|| ControlError::NoOwnServer(dir.to_owned()))?;
    JoinToken::read(&String::from_utf8_lossy(&bytes))
        .map_err(|error| ControlError::file(&path, std::io::Error::other(error)))
}
