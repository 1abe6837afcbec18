//! Fetches an agent's work from its coordinator, part by part, and checks it by its hashes.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use fleet::{Assignment, Digest, Epoch, Name};
use thiserror::Error;

use crate::agent_handle::Work;
use crate::files::{FILE_MAX, FileFault, Part, PartRequest, PartialFile};
use crate::transport::{Incoming, Subject, Transport, hex};

/// Parts that are asked for ahead: enough for a connection of 50 MB/s with answers after 20 ms.
const AHEAD: usize = 4;

/// How long a part may take until it is asked for again.
const ASK_AGAIN: Duration = Duration::from_secs(1);

/// How long a coordinator may send no part at all.
const SILENCE_MAX: Duration = Duration::from_secs(20);

/// Work that was fetched, or why it was not.
pub(super) struct Fetched {
    /// The agent that asked for it.
    pub(super) epoch: Epoch,
    pub(super) work: Result<Box<Work>, String>,
}

/// Why a file did not come.
#[derive(Debug, Error)]
pub(super) enum FetchError {
    #[error("the run has no file {}", hex(.0))]
    Unknown(Digest),
    #[error("the file {} came damaged", hex(.0))]
    Damaged(Digest),
    #[error("the run's file has more than {FILE_MAX} bytes")]
    TooLarge,
    #[error(
        "the run's file did not come within {}s: its coordinator has gone, or may not send it (is the fleet of another version of brunt?)",
        SILENCE_MAX.as_secs()
    )]
    Silence,
    #[error("another run came")]
    Replaced,
}

/// Where parts of files go: to the newest fetch alone.
#[derive(Clone, Default)]
pub(super) struct PartInbox(Arc<Mutex<Option<SyncSender<Incoming>>>>);

impl PartInbox {
    /// Parts come here from now on.
    fn open(&self) -> Receiver<Incoming> {
        // No more are under way than were asked for, and some of those once more.
        let (sender, parts) = sync_channel(4 * AHEAD);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
        parts
    }

    /// Takes a part that came; it is lost where no fetch has room for it.
    pub(super) fn deliver(&self, message: Incoming) {
        if let Some(sender) = &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            sender.try_send(message).unwrap_or_default();
        }
    }
}

/// Fetches the files of one run.
pub(super) struct Fetch {
    transport: Arc<dyn Transport>,
    version: String,
    run: Name,
    agent: Name,
    parts: Receiver<Incoming>,
}

impl Fetch {
    /// Takes the place of a fetch that is under way.
    pub(super) fn new(
        transport: Arc<dyn Transport>,
        inbox: &PartInbox,
        (version, run, agent): (String, Name, Name),
    ) -> Self {
        Self { transport, version, run, agent, parts: inbox.open() }
    }

    /// Fetches the archive and the setup's data.
    pub(super) fn work(&self, assignment: Assignment) -> Result<Box<Work>, String> {
        let get = |hash| self.file(hash).map_err(|error| error.to_string());
        let archive = get(assignment.archive)?;
        let setup = assignment.setup.map(get).transpose()?;
        Ok(Box::new(Work { archive, setup, share: assignment.share }))
    }

    fn file(&self, digest: Digest) -> Result<Vec<u8>, FetchError> {
        let mut file = PartialFile::new(digest);
        let mut asked: BTreeMap<u32, Instant> = BTreeMap::new();
        let mut heard = Instant::now();
        loop {
            let next: Vec<u32> = file.missing().take(AHEAD).collect();
            asked.retain(|number, _| next.contains(number));
            for number in next {
                if asked.get(&number).is_none_or(|at| at.elapsed() >= ASK_AGAIN) {
                    asked.insert(number, Instant::now());
                    self.ask(PartRequest { file: digest, number });
                }
            }
            match self.parts.recv_timeout(ASK_AGAIN) {
                Ok(message) => {
                    let Ok(part) = fleet::decode::<Part>(&message.bytes) else { continue };
                    let is_new = file.take(part).map_err(|fault| error(fault, digest))?;
                    if is_new {
                        heard = Instant::now();
                    }
                }
                Err(RecvTimeoutError::Timeout) if heard.elapsed() > SILENCE_MAX => {
                    return Err(FetchError::Silence);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(FetchError::Replaced),
            }
            if let Some(whole) = file.whole() {
                return whole.map_err(|fault| error(fault, digest));
            }
        }
    }

    fn ask(&self, request: PartRequest) {
        let subject = Subject::Fetch { run: self.run.clone(), agent: self.agent.clone() };
        // A hash and a number: they fit.
        if let Ok(bytes) = fleet::encode(&self.version, &request) {
            self.transport.send(&subject, bytes);
        }
    }
}

fn error(fault: FileFault, digest: Digest) -> FetchError {
    match fault {
        FileFault::Unknown => FetchError::Unknown(digest),
        FileFault::Damaged => FetchError::Damaged(digest),
        FileFault::TooLarge => FetchError::TooLarge,
    }
}
