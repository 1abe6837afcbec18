//! `Processes`: the selected processes and all their descendants. All processes of the machine are scanned every few seconds;
//! the watched ones are read at each sample.

mod listeners;
mod neighbours;
mod parse;
mod process_table;
mod serving_threads;
mod watched_process;

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

pub use self::neighbours::{Neighbour, Neighbours};
use self::parse::Stat;
pub(crate) use self::process_table::ProcessSelector;
use self::process_table::ProcessTable;
use self::watched_process::{Measures, WatchedProcess};
use crate::Moment;
use crate::rows::Rows;

/// Looks between two scans of all processes: a scan opens a file for each process of the machine.
const SCAN_EVERY: u32 = 5;
/// Processes that are watched at once.
const WATCHED_MAX: usize = 256;

/// The watched processes.
#[derive(Debug)]
pub(crate) struct Processes {
    root: PathBuf,
    selections: Vec<Selection>,
    /// Looks since the last scan; nothing before the first.
    samples: Option<u32>,
    /// A process has ended since the last scan.
    is_stale: bool,
    /// The last scan failed, which has been reported.
    scan_failure_reported: bool,
    /// There were more processes than are watched, which has been reported.
    overflow_reported: bool,
}

/// A selector and the processes that match it.
#[derive(Debug)]
struct Selection {
    selector: ProcessSelector,
    /// When the process with the selected pid started: a later process with the same pid is not selected.
    started: Option<u64>,
    trees: Vec<Tree>,
    /// No process matches, which has been reported.
    missing_reported: bool,
}

/// A process and all that descend from it.
#[derive(Debug)]
struct Tree {
    root: WatchedProcess,
    others: Vec<WatchedProcess>,
}

impl Processes {
    /// Nothing is read yet.
    pub(crate) fn new(root: &Path, selector: Vec<ProcessSelector>) -> Self {
        let selection = |selector| Selection {
            selector,
            started: None,
            trees: Vec::new(),
            missing_reported: false,
        };
        let selections = selector.into_iter().map(selection).collect();
        Self {
            root: root.to_owned(),
            selections,
            samples: None,
            is_stale: false,
            scan_failure_reported: false,
            overflow_reported: false,
        }
    }

    /// Scans all processes if a scan is due. It takes long on a large machine, so it follows everything that is measured by the
    /// time of a sample.
    pub(crate) fn find(&mut self, at: i64, rows: &mut Rows) {
        let is_due = self.is_stale || self.samples.is_none_or(|samples| samples >= SCAN_EVERY);
        if !is_due || self.selections.is_empty() {
            return;
        }
        match self.scan(at, rows) {
            Ok(()) => self.scan_failure_reported = false,
            Err(error) => {
                if !std::mem::replace(&mut self.scan_failure_reported, true) {
                    rows.incident(at, "processes", format!("cannot be looked up: {error}"));
                }
            }
        }
    }

    /// Reads every watched process, and reports those that have ended.
    pub(crate) fn sample(&mut self, now: Moment, rows: &mut Rows) {
        self.samples = self.samples.map(|samples| samples.saturating_add(1));
        let mut cache = SampleCache::default();
        for selection in &mut self.selections {
            for tree in &mut selection.trees {
                self.is_stale |= tree.sample(now, rows, &mut cache);
            }
            if let ProcessSelector::Port(port) = selection.selector {
                listeners::sample_queue(&self.root.join("proc"), port, now, rows);
            }
            selection.trees.retain(|tree| !tree.root.is_over);
        }
    }

    /// The watched processes by their numbers.
    pub(crate) fn pids(&self) -> HashSet<u32> {
        let known = self.selections.iter().flat_map(Selection::known);
        known.map(|(pid, _)| pid).collect()
    }

    /// Looks at all processes of the machine. Nothing is changed where that fails.
    fn scan(&mut self, at: i64, rows: &mut Rows) -> io::Result<()> {
        let table = ProcessTable::new(&self.root)?;
        let roots: io::Result<Vec<_>> =
            self.selections.iter().map(|selection| table.roots(&selection.selector)).collect();
        let roots = roots?;
        self.is_stale = false;
        let is_first = self.samples.replace(0).is_none();
        // Two selectors may match the same process: its start and its end are reported once.
        let known: HashSet<(u32, u64)> =
            self.selections.iter().flat_map(Selection::known).collect();
        let mut reported = HashSet::new();
        let mut room = Room { left: WATCHED_MAX, refused: 0 };
        for (selection, mut roots) in self.selections.iter_mut().zip(roots) {
            roots.retain(|stat| selection.is_selected(stat));
            selection.trees.retain(|tree| {
                tree.report_ended(&table, &mut reported, at, rows);
                roots.iter().any(|stat| tree.root.is(stat))
            });
            for stat in roots {
                if selection.trees.iter().any(|tree| tree.root.is(stat)) {
                    room.left = room.left.saturating_sub(1);
                } else if room.take() {
                    let root = WatchedProcess::new(&self.root, stat);
                    let is_new = !is_first && !known.contains(&root.identity());
                    if is_new && reported.insert(root.identity()) {
                        rows.incident(at, &root.source(), "came");
                    }
                    selection.trees.push(Tree { root, others: Vec::new() });
                }
            }
            for tree in &mut selection.trees {
                tree.find_others(&table, &self.root, &mut room);
            }
            selection.report_missing(at, rows);
        }
        if room.refused > 0 && !std::mem::replace(&mut self.overflow_reported, true) {
            rows.incident(
                at,
                "processes",
                format!("more than {WATCHED_MAX}: the rest is left out"),
            );
        }
        Ok(())
    }
}

/// How many more processes may be watched.
#[derive(Debug)]
struct Room {
    left: usize,
    /// Those that found none.
    refused: usize,
}

impl Room {
    /// Takes room for one, if there is some.
    fn take(&mut self) -> bool {
        let has_room = self.left > 0;
        self.left = self.left.saturating_sub(1);
        self.refused += usize::from(!has_room);
        has_room
    }
}

/// What this sample has read. Two selectors may match the same process, or one a process of the other's tree.
#[derive(Debug, Default)]
struct SampleCache {
    processes: HashMap<u32, Measures>,
    /// The roots of trees.
    roots: HashSet<u32>,
}

impl SampleCache {
    /// Reads a member, unless it was read before.
    fn read(&mut self, process: &mut WatchedProcess, now: Moment, rows: &mut Rows) -> Measures {
        if let Some(measures) = self.processes.get(&process.pid()) {
            process.is_over = measures.processes == 0;
            return measures.clone();
        }
        let measures = process.sample(now, rows);
        self.processes.insert(process.pid(), measures.clone());
        measures
    }
}

impl Selection {
    /// The watched processes: number and start time of each.
    fn known(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.trees.iter().flat_map(Tree::processes).map(WatchedProcess::identity)
    }

    /// A number is the process that had it first.
    fn is_selected(&mut self, stat: &Stat) -> bool {
        match self.selector {
            ProcessSelector::Pid(_) => *self.started.get_or_insert(stat.started) == stat.started,
            ProcessSelector::Name(_) | ProcessSelector::Port(_) => true,
        }
    }

    fn report_missing(&mut self, at: i64, rows: &mut Rows) {
        let is_missing = self.trees.is_empty();
        if is_missing && !self.missing_reported {
            rows.incident(
                at,
                &self.selector.to_string(),
                "there is no such process, or this user may not see it",
            );
        }
        self.missing_reported = is_missing;
    }
}

impl Tree {
    fn processes(&self) -> impl Iterator<Item = &WatchedProcess> {
        std::iter::once(&self.root).chain(&self.others)
    }

    /// Reports each process that has ended since the last sample.
    fn report_ended(
        &self,
        table: &ProcessTable,
        reported: &mut HashSet<(u32, u64)>,
        at: i64,
        rows: &mut Rows,
    ) {
        for process in self.processes() {
            let is_there = table.get(process.pid()).is_some_and(|stat| process.is(stat));
            if !is_there && reported.insert(process.identity()) {
                rows.incident(at, &process.source(), "has ended");
            }
        }
    }

    /// Brings the descendants up to date.
    fn find_others(&mut self, table: &ProcessTable, root: &Path, room: &mut Room) {
        let found: Vec<&Stat> = table.descendants(self.root.pid());
        self.others.retain(|other| found.iter().any(|stat| other.is(stat)));
        room.left = room.left.saturating_sub(self.others.len());
        for stat in found {
            if !self.others.iter().any(|other| other.is(stat)) && room.take() {
                self.others.push(WatchedProcess::new(root, stat));
            }
        }
    }

    /// Reads all of them: each has a row, and several together have one more. Returns whether any has ended.
    fn sample(&mut self, now: Moment, rows: &mut Rows, cache: &mut SampleCache) -> bool {
        let is_twice = !cache.roots.insert(self.root.pid());
        let mut whole = cache.read(&mut self.root, now, rows);
        for other in &mut self.others {
            let measures = cache.read(other, now, rows);
            whole = Measures::sum(&whole, &measures);
        }
        let has_ended = self.root.is_over || self.others.iter().any(|other| other.is_over);
        let had_others = !self.others.is_empty();
        self.others.retain(|other| !other.is_over);
        if had_others && !is_twice && whole.processes > 0 && whole.unread == 0 {
            rows.reading(now.unix, &self.root.tree_source(), whole.tree_values());
        }
        has_ended
    }
}

#[cfg(test)]
mod tests;
