//! `Member`: one process that is watched, with its files open.

use std::fs;
use std::path::{Path, PathBuf};

use super::parse::{self, Stat};
use crate::Moment;
use crate::flow::Flow;
use crate::kept::Kept;
use crate::rows::{Rows, Values, add};

/// Ticks of a second in `/proc/PID/stat`: USER_HZ, which is 100 on every machine that Linux is built for today.
const TICKS_PER_S: f64 = 100.0;
/// Threads whose switches are read; a process with more tells none.
const THREADS_MAX: u64 = 32;

/// One process.
#[derive(Debug)]
pub(super) struct Member {
    stat: Stat,
    folder: PathBuf,
    text: Kept,
    status: Kept,
    cpu: Flow,
    switches: Flow,
    /// It has ended, which was said.
    pub(super) is_over: bool,
}

/// What one process, or several, use.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Measures {
    pub(super) processes: u64,
    /// In cores.
    cpu: Option<f64>,
    /// Bytes.
    rss: Option<f64>,
    threads: Option<f64>,
    descriptors: Option<f64>,
    /// Per second.
    switches: Option<f64>,
}

impl Measures {
    /// Both together; what one does not know counts as nothing.
    pub(super) fn sum(one: &Self, other: &Self) -> Self {
        let sum = |one: Option<f64>, other: Option<f64>| match (one, other) {
            (Some(one), Some(other)) => Some(one + other),
            (one, other) => one.or(other),
        };
        Self {
            processes: one.processes + other.processes,
            cpu: sum(one.cpu, other.cpu),
            rss: sum(one.rss, other.rss),
            threads: sum(one.threads, other.threads),
            descriptors: sum(one.descriptors, other.descriptors),
            switches: sum(one.switches, other.switches),
        }
    }

    fn values(&self) -> Values {
        let mut values = Values::new();
        add(&mut values, "cpu", self.cpu);
        add(&mut values, "rss", self.rss);
        add(&mut values, "threads", self.threads);
        add(&mut values, "descriptors", self.descriptors);
        add(&mut values, "switches", self.switches);
        values
    }

    pub(super) fn tree_values(&self) -> Values {
        let mut values = self.values();
        add(&mut values, "processes", Some(self.processes as f64));
        values
    }
}

impl Member {
    /// Nothing is opened yet.
    pub(super) fn new(root: &Path, stat: &Stat) -> Self {
        let folder = root.join("proc").join(stat.pid.to_string());
        Self {
            text: Kept::new(folder.join("stat")),
            status: Kept::new(folder.join("status")),
            stat: stat.clone(),
            folder,
            cpu: Flow::default(),
            switches: Flow::default(),
            is_over: false,
        }
    }

    pub(super) fn pid(&self) -> u32 {
        self.stat.pid
    }

    /// Numbers are used again: the same number that began at another time is another process.
    pub(super) fn is(&self, stat: &Stat) -> bool {
        (self.stat.pid, self.stat.started) == (stat.pid, stat.started)
    }

    pub(super) fn source(&self) -> String {
        format!("process {} {}", self.stat.pid, self.stat.name)
    }

    pub(super) fn tree_source(&self) -> String {
        format!("tree {} {}", self.stat.pid, self.stat.name)
    }

    /// Reads it, and says so where it has ended.
    pub(super) fn look(&mut self, now: Moment, rows: &mut Rows) -> Measures {
        let stat = self.text.read().and_then(|text| parse::stat(&text));
        let Some(stat) = stat.filter(|stat| self.is(stat) && !stat.is_over) else {
            self.is_over = true;
            rows.incident(now.unix, &self.source(), "has ended");
            return Measures::default();
        };
        let status = self.status.read();
        let measures = Measures {
            processes: 1,
            cpu: self.cpu.per_s(stat.ticks, now.steady).map(|ticks| ticks / TICKS_PER_S),
            rss: status.as_ref().and_then(|text| parse::rss(text)).map(|bytes| bytes as f64),
            threads: Some(stat.threads as f64),
            descriptors: descriptors(&self.folder),
            switches: self.switches.of(switches(&self.folder, stat.threads), now.steady),
        };
        // A process that becomes another program keeps its number and its start.
        self.stat.name = stat.name;
        rows.reading(now.unix, self.source(), measures.values());
        measures
    }
}

/// Descriptors that are open. Since Linux 6.2 the folder's size says it; before, they are counted.
fn descriptors(folder: &Path) -> Option<f64> {
    const COUNTED_MAX: usize = 1 << 20;
    let folder = folder.join("fd");
    let said = fs::metadata(&folder).ok()?.len();
    // In a folder on a disk the size says something else, and is large.
    if (1..4096).contains(&said) {
        return Some(said as f64);
    }
    Some(fs::read_dir(&folder).ok()?.take(COUNTED_MAX).count() as f64)
}

/// The switches of all its threads. One that ended takes its own along: the sum goes backwards then, and is no flow.
fn switches(folder: &Path, threads: u64) -> Option<u64> {
    if threads > THREADS_MAX {
        return None;
    }
    let mut sum = 0u64;
    for entry in fs::read_dir(folder.join("task")).ok()?.flatten().take(THREADS_MAX as usize) {
        let text = fs::read(entry.path().join("status")).unwrap_or_default();
        let count = parse::switches(&String::from_utf8_lossy(&text)).unwrap_or(0);
        sum = sum.saturating_add(count);
    }
    Some(sum)
}
