//! `Scan`: all processes of the machine at one moment, and who among them was meant.

use std::fs;
use std::path::{Path, PathBuf};

use super::parse::{self, Stat};

/// Processes that are looked at.
const PROCESSES_MAX: usize = 1 << 16;
/// Descriptors of one process that are looked at for a socket.
const DESCRIPTORS_MAX: usize = 1 << 16;

/// Which processes are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The one of this number.
    Pid(u32),
    /// Those called so.
    Name(String),
    /// Those that listen on this TCP port.
    Port(u16),
}

impl std::fmt::Display for Wanted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Pid(pid) => write!(f, "process {pid}"),
            Self::Name(name) => write!(f, "processes called {name}"),
            Self::Port(port) => write!(f, "port {port}"),
        }
    }
}

/// All processes at one moment.
#[derive(Debug)]
pub(super) struct Scan {
    folder: PathBuf,
    /// In order of their numbers.
    all: Vec<Stat>,
}

impl Scan {
    /// Looks at every process below `root`.
    pub(super) fn new(root: &Path) -> Self {
        let folder = root.join("proc");
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let mut numbers: Vec<u32> = numbers.take(PROCESSES_MAX).collect();
        numbers.sort_unstable();
        let stat = |pid: u32| {
            let text = fs::read(folder.join(pid.to_string()).join("stat")).ok()?;
            parse::stat(&String::from_utf8_lossy(&text)).filter(|stat| !stat.is_over)
        };
        let all = numbers.into_iter().filter_map(stat).collect();
        Self { folder, all }
    }

    /// The processes that are meant, without those that descend from another of them.
    pub(super) fn roots(&self, wanted: &Wanted) -> Vec<&Stat> {
        let own = std::process::id();
        let sockets = match wanted {
            Wanted::Port(port) => self.listeners(*port),
            Wanted::Pid(_) | Wanted::Name(_) => Vec::new(),
        };
        let is_meant = |stat: &Stat| match wanted {
            Wanted::Pid(pid) => stat.pid == *pid,
            Wanted::Name(name) => {
                stat.pid != own && parse::is_named(name, &stat.name, &self.command(stat.pid))
            }
            Wanted::Port(_) => !sockets.is_empty() && self.holds(stat.pid, &sockets),
        };
        let meant: Vec<&Stat> = self.all.iter().filter(|stat| is_meant(stat)).collect();
        let among = |pid: u32| meant.iter().any(|other| other.pid == pid);
        let is_below = |stat: &Stat| self.ancestors(stat).any(|up| up != stat.pid && among(up));
        meant.iter().copied().filter(|stat| !is_below(stat)).collect()
    }

    /// Its parent, the parent's parent and so on.
    fn ancestors<'a>(&'a self, stat: &'a Stat) -> impl Iterator<Item = u32> + 'a {
        let parent = |pid: &u32| self.get(*pid).map(|stat| stat.parent).filter(|pid| *pid != 0);
        // Numbers that are used again could make a circle of two moments.
        std::iter::successors(Some(stat.parent), parent).take(self.all.len())
    }

    pub(super) fn get(&self, pid: u32) -> Option<&Stat> {
        let at = self.all.binary_search_by_key(&pid, |stat| stat.pid).ok()?;
        Some(&self.all[at])
    }

    /// All that descend from a process.
    pub(super) fn descendants(&self, pid: u32) -> Vec<&Stat> {
        let is_below = |stat: &&Stat| stat.pid != pid && self.ancestors(stat).any(|up| up == pid);
        self.all.iter().filter(is_below).collect()
    }

    fn command(&self, pid: u32) -> String {
        let text = fs::read(self.folder.join(pid.to_string()).join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&text).into_owned()
    }

    fn listeners(&self, port: u16) -> Vec<u64> {
        let of = |name: &str| {
            let text = fs::read_to_string(self.folder.join("net").join(name)).unwrap_or_default();
            parse::listeners(&text, port)
        };
        [of("tcp"), of("tcp6")].concat()
    }

    /// Whether a process has one of these sockets open. Those of other users are not ours to see.
    fn holds(&self, pid: u32, sockets: &[u64]) -> bool {
        let entries = fs::read_dir(self.folder.join(pid.to_string()).join("fd"));
        entries.into_iter().flatten().flatten().take(DESCRIPTORS_MAX).any(|entry| {
            let link = fs::read_link(entry.path()).unwrap_or_default();
            let inode = link.to_str().and_then(parse::socket);
            inode.is_some_and(|inode| sockets.contains(&inode))
        })
    }
}
