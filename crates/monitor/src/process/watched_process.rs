//! `WatchedProcess`: one process that is watched, with its files open.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use stdx::Nanos;

use super::parse::{self, Stat};
use super::serving_threads::ServingThreads;
use crate::Moment;
use crate::counter_rate::CounterRate;
use crate::kernel_file::{KernelFile, is_gone};
use crate::rows::{Rows, Values, add};

/// Ticks of a second in `/proc/PID/stat`: USER_HZ, which is 100 on every machine that Linux is built for today.
pub(super) const TICKS_PER_S: f64 = 100.0;
/// Threads with context switches that are read; a process with more has none.
const THREADS_MAX: u64 = 32;

/// One process.
#[derive(Debug)]
pub(super) struct WatchedProcess {
    stat: Stat,
    folder: PathBuf,
    text: KernelFile,
    status: KernelFile,
    cpu: CounterRate,
    switches: ThreadCounts,
    /// Time in which its threads waited for a core.
    waits: ThreadCounts,
    serving: ServingThreads,
    /// The folder of its descriptors says how many there are.
    is_real: bool,
    /// It could not be read the last time, which has been reported.
    unreadable_reported: bool,
    /// It has ended, which has been reported.
    pub(super) is_over: bool,
}

/// What one process, or several, use.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Measures {
    pub(super) processes: u64,
    /// Those of them that could not be read: nothing is known of the whole.
    pub(super) unread: u64,
    /// In cores.
    cpu: Option<f64>,
    /// Bytes.
    rss: Option<f64>,
    threads: Option<f64>,
    descriptors: Option<f64>,
    /// Per second.
    switches: Option<f64>,
    /// Threads that waited for a core at a time.
    waiting: Option<f64>,
    /// Requests that can be worked on at once, where it is known.
    serving: Option<f64>,
}

impl Measures {
    /// Both together; what one does not know counts as nothing, but for switches: a process of many threads has most of them.
    pub(super) fn sum(one: &Self, other: &Self) -> Self {
        if one.processes == 0 || other.processes == 0 {
            return if one.processes == 0 { other.clone() } else { one.clone() };
        }
        let sum = |one: Option<f64>, other: Option<f64>| match (one, other) {
            (Some(one), Some(other)) => Some(one + other),
            (one, other) => one.or(other),
        };
        Self {
            processes: one.processes + other.processes,
            unread: one.unread + other.unread,
            cpu: sum(one.cpu, other.cpu),
            rss: sum(one.rss, other.rss),
            threads: sum(one.threads, other.threads),
            descriptors: sum(one.descriptors, other.descriptors),
            serving: sum(one.serving, other.serving),
            switches: one.switches.zip(other.switches).map(|(one, other)| one + other),
            waiting: one.waiting.zip(other.waiting).map(|(one, other)| one + other),
        }
    }

    fn values(&self) -> Values {
        let mut values = Values::new();
        add(&mut values, "cpu", self.cpu);
        add(&mut values, "rss", self.rss);
        add(&mut values, "threads", self.threads);
        add(&mut values, "descriptors", self.descriptors);
        add(&mut values, "switches", self.switches);
        add(&mut values, "cpu.waiting", self.waiting);
        add(&mut values, "serving_threads", self.serving);
        values
    }

    pub(super) fn tree_values(&self) -> Values {
        let mut values = self.values();
        add(&mut values, "processes", Some(self.processes as f64));
        values
    }
}

impl WatchedProcess {
    /// Nothing is opened yet.
    pub(super) fn new(root: &Path, stat: &Stat) -> Self {
        let folder = root.join("proc").join(stat.pid.to_string());
        Self {
            text: KernelFile::new(folder.join("stat")),
            status: KernelFile::new(folder.join("status")),
            stat: stat.clone(),
            folder,
            cpu: CounterRate::default(),
            switches: ThreadCounts::default(),
            waits: ThreadCounts::default(),
            serving: ServingThreads::default(),
            is_real: root == Path::new("/"),
            unreadable_reported: false,
            is_over: false,
        }
    }

    pub(super) fn pid(&self) -> u32 {
        self.stat.pid
    }

    /// Numbers are used again: the same number that began at another time is another process.
    pub(super) fn is(&self, stat: &Stat) -> bool {
        self.identity() == (stat.pid, stat.started)
    }

    /// Its number and when it began: one process and no other.
    pub(super) fn identity(&self) -> (u32, u64) {
        (self.stat.pid, self.stat.started)
    }

    pub(super) fn source(&self) -> String {
        format!("process {} {}", self.stat.pid, self.stat.name)
    }

    pub(super) fn tree_source(&self) -> String {
        format!("tree {} {}", self.stat.pid, self.stat.name)
    }

    /// Reads it, and reports its end.
    pub(super) fn sample(&mut self, now: Moment, rows: &mut Rows) -> Measures {
        let stat = match self.text.try_read() {
            Ok(text) => parse::stat(&text),
            Err(error) if is_gone(&error) => None,
            // No descriptor is left, for example: that is no death.
            Err(error) => {
                if !std::mem::replace(&mut self.unreadable_reported, true) {
                    rows.incident(now.unix, &self.source(), format!("cannot be read: {error}"));
                }
                return Measures { processes: 1, unread: 1, ..Measures::default() };
            }
        };
        let Some(stat) = stat.filter(|stat| self.is(stat) && !stat.is_over) else {
            self.is_over = true;
            rows.incident(now.unix, &self.source(), "has ended");
            return Measures::default();
        };
        self.unreadable_reported = false;
        let status = self.status.read();
        let measures = Measures {
            processes: 1,
            unread: 0,
            cpu: self.cpu.per_s(stat.ticks, now.steady).map(|ticks| ticks / TICKS_PER_S),
            rss: status.as_ref().and_then(|text| parse::rss(text)).map(|bytes| bytes as f64),
            threads: Some(stat.threads as f64),
            descriptors: self.descriptors(),
            switches: self.switches.per_s(
                by_thread(&self.folder, stat.threads, "status", parse::switches),
                now.steady,
            ),
            waiting: self
                .waits
                .per_s(
                    by_thread(&self.folder, stat.threads, "schedstat", parse::waited_ns),
                    now.steady,
                )
                .map(|ns| ns / 1e9),
            serving: self.serving.count(&self.folder, stat.threads),
        };
        // A process that executes another program has the same pid and start.
        self.stat.name = stat.name;
        rows.reading(now.unix, &self.source(), measures.values());
        measures
    }

    /// Open descriptors. Since Linux 6.2 the size of their folder is their number; on a disk a folder's size is something else.
    fn descriptors(&self) -> Option<f64> {
        let folder = self.folder.join("fd");
        let reported = if self.is_real { fs::metadata(&folder).ok()?.len() } else { 0 };
        descriptors(&folder, reported)
    }
}

/// A count of each thread, such as its switches, as it was last seen.
#[derive(Debug, Default)]
struct ThreadCounts {
    before: Option<(HashMap<u32, u64>, Nanos)>,
}

impl ThreadCounts {
    /// How much all grew per second since the last sample. What is of a thread that has ended since is lost; all of a new thread
    /// counts.
    fn per_s(&mut self, now: Option<HashMap<u32, u64>>, at: Nanos) -> Option<f64> {
        let Some(now) = now else {
            self.before = None;
            return None;
        };
        let mut grown = 0u64;
        if let Some((before, _)) = &self.before {
            for (thread, count) in &now {
                // A number that is used again counts from nothing.
                let since = before.get(thread).copied().filter(|then| then <= count).unwrap_or(0);
                grown = grown.saturating_add(count - since);
            }
        }
        let (_, then) = self.before.replace((now, at))?;
        let passed = at.saturating_sub(then).as_secs_f64();
        (passed > 0.0).then(|| grown as f64 / passed)
    }
}

/// The number that the kernel reports, or else a count.
fn descriptors(folder: &Path, reported: u64) -> Option<f64> {
    const COUNTED_MAX: usize = 1 << 20;
    if reported > 0 {
        return Some(reported as f64);
    }
    Some(fs::read_dir(folder).ok()?.take(COUNTED_MAX).count() as f64)
}

/// What a file of each of its threads counts.
fn by_thread(
    folder: &Path,
    threads: u64,
    file: &str,
    count: fn(&str) -> Option<u64>,
) -> Option<HashMap<u32, u64>> {
    if threads > THREADS_MAX {
        return None;
    }
    let entries = fs::read_dir(folder.join("task")).ok()?.flatten().take(THREADS_MAX as usize);
    let of = |entry: fs::DirEntry| {
        let thread = entry.file_name().to_str()?.parse().ok()?;
        let text = fs::read(entry.path().join(file)).ok()?;
        Some((thread, count(&String::from_utf8_lossy(&text))?))
    };
    let counts: HashMap<u32, u64> = entries.filter_map(of).collect();
    (!counts.is_empty()).then_some(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_of_threads_that_come_and_go() {
        let mut switches = ThreadCounts::default();
        let mut check = |second, threads: &[(u32, u64)], expected| {
            let now = threads.iter().copied().collect();
            let got = switches.per_s(Some(now), Nanos::from_secs(second));
            assert_eq!(got, expected, "{threads:?}");
        };
        check(1, &[(1, 100), (2, 1000)], None);
        // The second ended: what the first had meanwhile is not less for it.
        check(2, &[(1, 150)], Some(50.0));
        check(4, &[(1, 150), (3, 20)], Some(10.0));
        check(5, &[(1, 150), (3, 5)], Some(5.0));
        check(5, &[(1, 150)], None);
        assert_eq!(switches.per_s(None, Nanos::from_secs(6)), None);
    }

    #[test]
    fn a_tree_does_not_mix_what_is_known_with_what_is_not() {
        let one =
            Measures { processes: 1, cpu: Some(1.0), switches: Some(7.0), ..Measures::default() };
        let many = Measures { cpu: None, switches: None, ..one.clone() };
        let sum = Measures::sum(&one, &many);
        assert_eq!((sum.processes, sum.cpu, sum.switches), (2, Some(1.0), None));
        assert_eq!(Measures::sum(&one, &Measures::default()), one);
    }
}
