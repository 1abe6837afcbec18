//! `FileServer`: a thread that gives agents the parts of the run's files that they ask for. It answers on the asking agent's own
//! subject, and to none that a message names: what leaves with the coordinator's rights must not go where an agent points.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Weak};
use std::thread;

use crate::files::{PartRequest, RunFiles, ServedFiles};
use crate::transport::{Incoming, Subject, Transport};

/// Requests that may wait; who loses one asks again.
const WAITING_MAX: usize = 4096;

/// Serves the files of a run while it lives.
#[derive(Debug)]
pub(super) struct FileServer {
    requests: SyncSender<Incoming>,
}

impl FileServer {
    /// Serves these files with messages of this version.
    ///
    /// # Errors
    /// There is no thread left.
    pub(super) fn start(
        transport: Arc<dyn Transport>,
        version: String,
        files: RunFiles,
    ) -> io::Result<Arc<Self>> {
        let (requests, queue) = sync_channel(WAITING_MAX);
        let files = ServedFiles::new(files);
        thread::Builder::new()
            .name("files".to_owned())
            .spawn(move || serve(&*transport, &version, &files, &queue))?;
        Ok(Arc::new(Self { requests }))
    }

    /// Takes a request, where the server still lives and has room for it.
    pub(super) fn handle(server: &Weak<Self>, request: Incoming) {
        if let Some(server) = server.upgrade() {
            server.requests.try_send(request).unwrap_or_default();
        }
    }
}

fn serve(
    transport: &dyn Transport,
    version: &str,
    files: &ServedFiles,
    queue: &Receiver<Incoming>,
) {
    while let Ok(message) = queue.recv() {
        let Subject::Fetch { run, agent } = message.subject else { continue };
        let Ok(request) = fleet::decode::<PartRequest>(&message.bytes) else { continue };
        // A part is far below the largest frame.
        if let Ok(bytes) = fleet::encode(version, &files.part(&request)) {
            transport.send_large(&Subject::Part { run, agent }, bytes);
        }
    }
}
