//! `Neighbours`: what the other processes of this machine used of its CPUs, from one moment to another. Both times each process is
//! read once, which is nothing for the time of a load.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use stdx::Nanos;

use super::parse::Stat;
use super::process_table::ProcessTable;
use super::watched_process::TICKS_PER_S;

/// The other processes of this machine, as they were at a moment.
#[derive(Debug)]
pub struct Neighbours {
    root: PathBuf,
    own: u32,
    /// The ticks of each process, by its number and when it started.
    before: HashMap<(u32, u64), u64>,
    began: Instant,
    /// The machine's cores, at least one.
    cores: u32,
}

/// The process whose children are the kernel's own threads.
const KERNEL_THREADS: u32 = 2;
/// Readings are so much apart from the moments they are of, at most.
const SLACK: Duration = Duration::from_millis(100);

/// A process and what it used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// Its name and number, as `node (1234)`.
    pub name: String,
    /// CPU time, user and system.
    pub cpu: Nanos,
}

impl Neighbours {
    /// From now on. Where processes cannot be listed there are none.
    #[must_use]
    pub fn begin() -> Self {
        Self::below(Path::new("/"), std::process::id())
    }

    /// As seen by the process of this number.
    pub(super) fn below(root: &Path, own: u32) -> Self {
        let before = ProcessTable::new(root).map_or_else(
            |_| HashMap::new(),
            |table| table.all().iter().map(|one| ((one.pid, one.started), one.ticks)).collect(),
        );
        Self { root: root.to_owned(), own, before, began: Instant::now(), cores: cores(root) }
    }

    /// The one that used most since; `None` where none did anything. What ended meanwhile is not seen.
    #[must_use]
    pub fn busiest(&self) -> Option<Neighbour> {
        self.busiest_within(self.began.elapsed())
    }

    /// The same after this time. More than the cores can have given in it no process used: such a reading is wrong.
    pub(super) fn busiest_within(&self, time: Duration) -> Option<Neighbour> {
        let table = ProcessTable::new(&self.root).ok()?;
        let used = |pid: u32, started: u64, ticks: u64| {
            let before = self.before.get(&(pid, started)).copied().unwrap_or(0);
            ticks.saturating_sub(before)
        };
        let others = table.all().iter().filter(|one| one.pid != self.own);
        let (ticks, busiest) = others
            .map(|one| (used(one.pid, one.started, one.ticks), one))
            .filter(|(ticks, one)| *ticks <= self.most(one, time))
            .max_by_key(|(ticks, _)| *ticks)?;
        (ticks > 0).then(|| Neighbour {
            name: format!("{} ({})", busiest.name, busiest.pid),
            cpu: Nanos::from_secs_f64(ticks as f64 / TICKS_PER_S),
        })
    }

    /// The most ticks that a process can have used in a time: a thread of the kernel is one thread.
    fn most(&self, process: &Stat, time: Duration) -> u64 {
        let at_once = if process.parent == KERNEL_THREADS { 1 } else { self.cores };
        (f64::from(at_once) * (time + SLACK).as_secs_f64() * TICKS_PER_S) as u64
    }
}

/// The machine's cores by its `/proc/stat`; one where that cannot be read.
fn cores(root: &Path) -> u32 {
    let text = std::fs::read_to_string(root.join("proc/stat")).unwrap_or_default();
    let is_core = |line: &&str| {
        line.strip_prefix("cpu").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    u32::try_from(text.lines().filter(is_core).count()).unwrap_or(u32::MAX).max(1)
}
