//! `Processes`: those that are meant and all that descend from them. Who is there is found anew every few seconds; what they
//! use is read at each look.

mod member;
mod parse;
mod scan;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use self::member::{Measures, Member};
use self::parse::Stat;
use self::scan::Scan;
pub(crate) use self::scan::Wanted;
use crate::Moment;
use crate::rows::Rows;

/// Looks between two scans of all processes: a scan opens a file for each process of the machine.
const SCAN_EVERY: u32 = 5;
/// Processes that are watched at once.
const MEMBERS_MAX: usize = 256;

/// The processes that are meant.
#[derive(Debug)]
pub(crate) struct Processes {
    root: PathBuf,
    groups: Vec<Group>,
    looks: u32,
    /// Somebody has ended since the last scan.
    is_stale: bool,
    /// More were there than are watched, which was said.
    told_many: bool,
}

/// One wish, and who fulfils it.
#[derive(Debug)]
struct Group {
    wanted: Wanted,
    trees: Vec<Tree>,
    /// Nobody fulfils it, which was said.
    told_missing: bool,
}

/// A process and all that descend from it.
#[derive(Debug)]
struct Tree {
    root: Member,
    others: Vec<Member>,
}

impl Processes {
    /// Nothing is read yet.
    pub(crate) fn new(root: &Path, wanted: Vec<Wanted>) -> Self {
        let group = |wanted| Group { wanted, trees: Vec::new(), told_missing: false };
        let groups = wanted.into_iter().map(group).collect();
        Self { root: root.to_owned(), groups, looks: 0, is_stale: false, told_many: false }
    }

    /// Reads every process that is watched, and tells who came and who ended.
    pub(crate) fn look(&mut self, now: Moment, rows: &mut Rows) {
        if self.groups.is_empty() {
            return;
        }
        if self.looks.is_multiple_of(SCAN_EVERY) || self.is_stale {
            self.scan(now.unix, rows);
        }
        self.looks = self.looks.wrapping_add(1);
        // Two wishes may mean the same process.
        let mut done = HashSet::new();
        for group in &mut self.groups {
            for tree in &mut group.trees {
                self.is_stale |= tree.look(now, rows, &mut done);
            }
            group.trees.retain(|tree| !tree.root.is_over);
        }
    }

    /// Finds out who is there.
    fn scan(&mut self, at: i64, rows: &mut Rows) {
        self.is_stale = false;
        let scan = Scan::new(&self.root);
        let is_first = self.looks == 0;
        let mut room = MEMBERS_MAX;
        for group in &mut self.groups {
            let roots = scan.roots(&group.wanted);
            group.trees.retain(|tree| {
                tree.tell_ended(&scan, at, rows);
                roots.iter().any(|stat| tree.root.is(stat))
            });
            for stat in roots {
                let known = group.trees.iter().any(|tree| tree.root.is(stat));
                if !known && room > 0 {
                    let root = Member::new(&self.root, stat);
                    if !is_first {
                        rows.incident(at, &root.source(), "came");
                    }
                    group.trees.push(Tree { root, others: Vec::new() });
                }
                room = room.saturating_sub(1);
            }
            for tree in &mut group.trees {
                room = tree.find_others(&scan, &self.root, room);
            }
            group.tell_missing(at, rows);
        }
        if room == 0 && !std::mem::replace(&mut self.told_many, true) {
            rows.incident(
                at,
                "processes",
                format!("more than {MEMBERS_MAX}: the rest is left out"),
            );
        }
    }
}

impl Group {
    fn tell_missing(&mut self, at: i64, rows: &mut Rows) {
        let is_missing = self.trees.is_empty();
        if is_missing && !self.told_missing {
            rows.incident(
                at,
                &self.wanted.to_string(),
                "nothing is there (or not to be seen by us)",
            );
        }
        self.told_missing = is_missing;
    }
}

impl Tree {
    /// Says who has ended since the last look.
    fn tell_ended(&self, scan: &Scan, at: i64, rows: &mut Rows) {
        for member in std::iter::once(&self.root).chain(&self.others) {
            if !scan.get(member.pid()).is_some_and(|stat| member.is(stat)) {
                rows.incident(at, &member.source(), "has ended");
            }
        }
    }

    /// Brings the descendants up to date; gives the room that is left.
    fn find_others(&mut self, scan: &Scan, root: &Path, room: usize) -> usize {
        let found: Vec<&Stat> = scan.descendants(self.root.pid());
        self.others.retain(|other| found.iter().any(|stat| other.is(stat)));
        let mut left = room.saturating_sub(self.others.len());
        for stat in found {
            if left > 0 && !self.others.iter().any(|other| other.is(stat)) {
                self.others.push(Member::new(root, stat));
                left -= 1;
            }
        }
        left
    }

    /// Reads all of them: each has a row, and where there are several, all together have one. Says whether somebody ended.
    fn look(&mut self, now: Moment, rows: &mut Rows, done: &mut HashSet<u32>) -> bool {
        if !done.insert(self.root.pid()) {
            return false;
        }
        let mut whole = self.root.look(now, rows);
        for other in &mut self.others {
            if done.insert(other.pid()) {
                let measures = other.look(now, rows);
                whole = Measures::sum(&whole, &measures);
            }
        }
        let has_ended = self.root.is_over || self.others.iter().any(|other| other.is_over);
        let had_others = !self.others.is_empty();
        self.others.retain(|other| !other.is_over);
        if had_others && whole.processes > 0 {
            rows.reading(now.unix, self.root.tree_source(), whole.tree_values());
        }
        has_ended
    }
}

#[cfg(test)]
mod tests;
