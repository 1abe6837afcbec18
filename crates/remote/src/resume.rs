//! `Resumable`: a run whose command has died, and which another one goes on with.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cli::Interrupts;
use control::{
    ControlError, CoordinatorHost, LEASE_TTL, NatsAccess, NatsTransport, RunFiles, Transport,
    TransportError,
};
use engine::Settings;
use fleet::Name;
use workload::Plan;

use crate::archive::{CableArchive, Content};
use crate::error::RemoteError;
use crate::execution::FleetExecution;
use crate::gather::Gathering;
use crate::records::Records;
use crate::work::FleetWork;

/// Between two tries to take the lease of a command that may have died just now.
const TRY_EVERY: Duration = Duration::from_millis(500);

/// A run whose command has died.
pub struct Resumable {
    transport: Arc<dyn Transport>,
    dir: PathBuf,
    run: Name,
    content: Content,
}

impl std::fmt::Debug for Resumable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Resumable").field("run", &self.run).finish_non_exhaustive()
    }
}

/// The newest run of a fleet; `None` where it had none.
#[must_use]
pub fn newest_run(dir: &Path) -> Option<String> {
    let runs = std::fs::read_dir(dir.join("runs")).ok()?;
    let by_time = |entry: std::fs::DirEntry| {
        let changed = entry.metadata().ok()?.modified().ok()?;
        Some((changed, entry.file_name().into_string().ok()?))
    };
    runs.filter_map(Result::ok).filter_map(by_time).max().map(|(_, name)| name)
}

impl Resumable {
    /// Finds the run, and what it was to do.
    ///
    /// # Errors
    /// There is no such run, it is a script's, or the fleet cannot be reached.
    pub fn find(dir: &Path, run: &str) -> Result<Self, RemoteError> {
        let unknown = || RemoteError::NoRun(run.to_owned());
        let name = Name::new(run).map_err(|_| unknown())?;
        let access = NatsAccess::of_coordinator(dir)?;
        let files = RunFiles::of_run(dir, &name).map_err(|_| unknown())?;
        let transport: Arc<dyn Transport> =
            Arc::new(NatsTransport::connect(&access, |text| session::warn(&text))?);
        let content = Content::decode(&files.archive)?;
        if matches!(content, Content::Script(_)) {
            return Err(RemoteError::ScriptRun(run.to_owned()));
        }
        Ok(Self { transport, dir: dir.to_owned(), run: name, content })
    }

    /// Its plan and its settings; `None` where it has none of the engine's.
    #[must_use]
    pub fn load(&self) -> Option<(&Plan, &Settings)> {
        match &self.content {
            Content::Load(archive) => Some((&archive.plan, &archive.settings)),
            _ => None,
        }
    }

    /// The test of Action Cable that it is, where it is one.
    #[must_use]
    pub fn cable(&self) -> Option<&CableArchive> {
        match &self.content {
            Content::Cable(archive) => Some(archive),
            _ => None,
        }
    }

    /// Goes on with it: all that agents measured so far comes again, in its order. Waits for the lease of a command that died
    /// just now.
    ///
    /// # Errors
    /// Another command has the run, or it ended before its start.
    pub fn resume(
        &self,
        interrupts: &Interrupts,
        notice: &mut dyn FnMut(&str),
    ) -> Result<(FleetExecution, Records), RemoteError> {
        let until = Instant::now() + LEASE_TTL + Duration::from_secs(2);
        let handle = loop {
            let resumed =
                CoordinatorHost::resume(Arc::clone(&self.transport), &self.dir, &self.run);
            match resumed {
                Ok(handle) => break handle,
                Err(ControlError::Transport(TransportError::LeaseHeld(_)))
                    if Instant::now() < until && interrupts.seen() == 0 =>
                {
                    std::thread::sleep(TRY_EVERY);
                }
                Err(error) => return Err(error.into()),
            }
        };
        notice(&format!("run {}: resumed", self.run));
        let mut gathering = Gathering::of_resumed();
        let (at, unix_ns) = gathering.wait(&handle, interrupts, notice)?;
        let work = FleetWork::of(self.content.clone());
        let records = Records::new(work.whole);
        records.number(gathering.views());
        let start = (began(at, unix_ns), unix_ns);
        Ok((FleetExecution::new(handle, records.clone(), start, work.targets), records))
    }
}

/// The instant of this Unix time, where it lies before `at`.
fn began(at: Instant, unix_ns: i64) -> Instant {
    let since = u64::try_from(session::unix_ns().saturating_sub(unix_ns)).unwrap_or(0);
    let began = Instant::now().checked_sub(Duration::from_nanos(since));
    began.map_or(at, |began| began.min(at))
}
