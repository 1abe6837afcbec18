//! Fetches an agent's work by its hashes, and checks it.

use fleet::{Assignment, Digest, Epoch};

use crate::agent_handle::Work;
use crate::transport::{Transport, TransportError, digest};

/// How often a file is asked for, where the server does not answer.
const TRIES: u32 = 3;

/// Work that was fetched, or why it was not.
pub(super) struct Fetched {
    /// The agent that asked for it.
    pub(super) epoch: Epoch,
    pub(super) work: Result<Box<Work>, String>,
}

/// Fetches the archive and the setup's data.
pub(super) fn fetch(
    transport: &dyn Transport,
    assignment: Assignment,
) -> Result<Box<Work>, String> {
    let get = |hash| file(transport, hash).map_err(|error| error.to_string());
    let archive = get(assignment.archive)?;
    let setup = assignment.setup.map(get).transpose()?;
    Ok(Box::new(Work { archive, setup, share: assignment.share }))
}

fn file(transport: &dyn Transport, hash: Digest) -> Result<Vec<u8>, TransportError> {
    let mut tries = 1;
    loop {
        match transport.archive(hash) {
            Ok(bytes) if digest(&bytes) == hash => return Ok(bytes),
            Ok(_) => return Err(TransportError::Damaged(hash)),
            Err(TransportError::Server { .. }) if tries < TRIES => tries += 1,
            Err(error) => return Err(error),
        }
    }
}
