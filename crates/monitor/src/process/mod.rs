//! `Processes`: those that are meant and all that descend from them. Who is there is found anew every few seconds; what they
//! use is read at each look.

mod member;
mod parse;
mod scan;

use std::collections::{HashMap, HashSet};
use std::io;
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
    /// Looks since the last scan; nothing before the first.
    looks: Option<u32>,
    /// Somebody has ended since the last scan.
    is_stale: bool,
    /// It could not be found out who is there, which was said.
    told_blind: bool,
    /// More were there than are watched, which was said.
    told_many: bool,
}

/// One wish, and who fulfils it.
#[derive(Debug)]
struct Group {
    wanted: Wanted,
    /// When the process of the number that is meant began: who has the number after it is not meant.
    started: Option<u64>,
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
        let group =
            |wanted| Group { wanted, started: None, trees: Vec::new(), told_missing: false };
        let groups = wanted.into_iter().map(group).collect();
        Self {
            root: root.to_owned(),
            groups,
            looks: None,
            is_stale: false,
            told_blind: false,
            told_many: false,
        }
    }

    /// Finds out who is there, if it is time to. That takes long on a large machine: it is done after all that is measured by
    /// the time of a look.
    pub(crate) fn find(&mut self, at: i64, rows: &mut Rows) {
        let is_due = self.is_stale || self.looks.is_none_or(|looks| looks >= SCAN_EVERY);
        if !is_due || self.groups.is_empty() {
            return;
        }
        match self.scan(at, rows) {
            Ok(()) => self.told_blind = false,
            Err(error) => {
                if !std::mem::replace(&mut self.told_blind, true) {
                    rows.incident(at, "processes", format!("cannot be looked up: {error}"));
                }
            }
        }
    }

    /// Reads every process that is watched, and tells who ended.
    pub(crate) fn look(&mut self, now: Moment, rows: &mut Rows) {
        self.looks = self.looks.map(|looks| looks.saturating_add(1));
        let mut done = Done::default();
        for group in &mut self.groups {
            for tree in &mut group.trees {
                self.is_stale |= tree.look(now, rows, &mut done);
            }
            group.trees.retain(|tree| !tree.root.is_over);
        }
    }

    /// Looks at all processes of the machine. Nothing is changed where that fails.
    fn scan(&mut self, at: i64, rows: &mut Rows) -> io::Result<()> {
        let scan = Scan::new(&self.root)?;
        let roots: io::Result<Vec<_>> =
            self.groups.iter().map(|group| scan.roots(&group.wanted)).collect();
        let roots = roots?;
        self.is_stale = false;
        let is_first = self.looks.replace(0).is_none();
        // Two wishes may mean the same process: it comes and ends once.
        let known: HashSet<(u32, u64)> = self.groups.iter().flat_map(Group::known).collect();
        let mut told = HashSet::new();
        let mut room = Room { left: MEMBERS_MAX, refused: 0 };
        for (group, mut roots) in self.groups.iter_mut().zip(roots) {
            roots.retain(|stat| group.is_meant(stat));
            group.trees.retain(|tree| {
                tree.tell_ended(&scan, &mut told, at, rows);
                roots.iter().any(|stat| tree.root.is(stat))
            });
            for stat in roots {
                if group.trees.iter().any(|tree| tree.root.is(stat)) {
                    room.left = room.left.saturating_sub(1);
                } else if room.take() {
                    let root = Member::new(&self.root, stat);
                    let is_new = !is_first && !known.contains(&root.identity());
                    if is_new && told.insert(root.identity()) {
                        rows.incident(at, &root.source(), "came");
                    }
                    group.trees.push(Tree { root, others: Vec::new() });
                }
            }
            for tree in &mut group.trees {
                tree.find_others(&scan, &self.root, &mut room);
            }
            group.tell_missing(at, rows);
        }
        if room.refused > 0 && !std::mem::replace(&mut self.told_many, true) {
            rows.incident(
                at,
                "processes",
                format!("more than {MEMBERS_MAX}: the rest is left out"),
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

/// What was read in this look. Two wishes may mean the same process, or one a process of the other's tree.
#[derive(Debug, Default)]
struct Done {
    members: HashMap<u32, Measures>,
    /// The roots of trees.
    roots: HashSet<u32>,
}

impl Done {
    /// Reads a member, unless it was read before.
    fn read(&mut self, member: &mut Member, now: Moment, rows: &mut Rows) -> Measures {
        if let Some(measures) = self.members.get(&member.pid()) {
            member.is_over = measures.processes == 0;
            return measures.clone();
        }
        let measures = member.look(now, rows);
        self.members.insert(member.pid(), measures.clone());
        measures
    }
}

impl Group {
    /// Who is watched.
    fn known(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.trees.iter().flat_map(Tree::members).map(Member::identity)
    }

    /// A number is the process that had it first.
    fn is_meant(&mut self, stat: &Stat) -> bool {
        match self.wanted {
            Wanted::Pid(_) => *self.started.get_or_insert(stat.started) == stat.started,
            Wanted::Name(_) | Wanted::Port(_) => true,
        }
    }

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
    fn members(&self) -> impl Iterator<Item = &Member> {
        std::iter::once(&self.root).chain(&self.others)
    }

    /// Says who has ended since the last look, once.
    fn tell_ended(&self, scan: &Scan, told: &mut HashSet<(u32, u64)>, at: i64, rows: &mut Rows) {
        for member in self.members() {
            let is_there = scan.get(member.pid()).is_some_and(|stat| member.is(stat));
            if !is_there && told.insert(member.identity()) {
                rows.incident(at, &member.source(), "has ended");
            }
        }
    }

    /// Brings the descendants up to date.
    fn find_others(&mut self, scan: &Scan, root: &Path, room: &mut Room) {
        let found: Vec<&Stat> = scan.descendants(self.root.pid());
        self.others.retain(|other| found.iter().any(|stat| other.is(stat)));
        room.left = room.left.saturating_sub(self.others.len());
        for stat in found {
            if !self.others.iter().any(|other| other.is(stat)) && room.take() {
                self.others.push(Member::new(root, stat));
            }
        }
    }

    /// Reads all of them: each has a row, and where there are several, all together have one. Says whether somebody ended.
    fn look(&mut self, now: Moment, rows: &mut Rows, done: &mut Done) -> bool {
        let is_twice = !done.roots.insert(self.root.pid());
        let mut whole = done.read(&mut self.root, now, rows);
        for other in &mut self.others {
            let measures = done.read(other, now, rows);
            whole = Measures::sum(&whole, &measures);
        }
        let has_ended = self.root.is_over || self.others.iter().any(|other| other.is_over);
        let had_others = !self.others.is_empty();
        self.others.retain(|other| !other.is_over);
        if had_others && !is_twice && whole.processes > 0 && whole.unread == 0 {
            rows.reading(now.unix, self.root.tree_source(), whole.tree_values());
        }
        has_ended
    }
}

#[cfg(test)]
mod tests;
