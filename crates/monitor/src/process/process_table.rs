//! `ProcessTable`: all processes of the machine at one moment, and the selection of some.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::listeners::listeners;
use super::parse::{self, Listener, Stat};
use crate::kernel_file::if_visible;

/// Processes of a scan at most.
const PROCESSES_MAX: usize = 1 << 16;
/// Descriptors of one process that are searched for a socket.
const DESCRIPTORS_MAX: usize = 1 << 16;

/// Selects processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ProcessSelector {
    /// The one of this number.
    Pid(u32),
    /// Those called so.
    Name(String),
    /// Those that listen on this TCP port.
    Port(u16),
}

impl std::fmt::Display for ProcessSelector {
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
pub(super) struct ProcessTable {
    folder: PathBuf,
    /// In order of their numbers.
    all: Vec<Stat>,
}

impl ProcessTable {
    /// Reads every process below `root`.
    ///
    /// # Errors
    /// The processes cannot be listed: no descriptor is left, for example.
    pub(super) fn new(root: &Path) -> io::Result<Self> {
        let folder = root.join("proc");
        let entries = if_visible(fs::read_dir(&folder))?.into_iter().flatten().flatten();
        let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let mut numbers: Vec<u32> = numbers.take(PROCESSES_MAX).collect();
        numbers.sort_unstable();
        let mut all = Vec::with_capacity(numbers.len());
        for pid in numbers {
            let Some(text) = if_visible(fs::read(folder.join(pid.to_string()).join("stat")))?
            else {
                continue;
            };
            let stat = parse::stat(&String::from_utf8_lossy(&text));
            all.extend(stat.filter(|stat| !stat.is_over));
        }
        Ok(Self { folder, all })
    }

    /// All of them, by number.
    pub(super) fn all(&self) -> &[Stat] {
        &self.all
    }

    /// The selected processes, without those that descend from another selected one.
    ///
    /// # Errors
    /// As [`ProcessTable::new`].
    pub(super) fn roots(&self, selector: &ProcessSelector) -> io::Result<Vec<&Stat>> {
        let own = std::process::id();
        let sockets = match selector {
            ProcessSelector::Port(port) => listeners(&self.folder, *port)?,
            ProcessSelector::Pid(_) | ProcessSelector::Name(_) => Vec::new(),
        };
        let is_selected = |stat: &Stat| match selector {
            ProcessSelector::Pid(pid) => Ok(stat.pid == *pid),
            ProcessSelector::Name(_) if stat.pid == own => Ok(false),
            ProcessSelector::Name(name) => {
                let command = self.command(stat.pid)?;
                Ok(parse::is_named(name, &stat.name, &command))
            }
            ProcessSelector::Port(_) if sockets.is_empty() => Ok(false),
            ProcessSelector::Port(_) => self.has_socket(stat.pid, &sockets),
        };
        let mut selected = Vec::new();
        for stat in &self.all {
            if is_selected(stat)? {
                selected.push(stat);
            }
        }
        let among = |pid: u32| selected.iter().any(|other| other.pid == pid);
        let is_below = |stat: &Stat| self.ancestors(stat).any(|up| up != stat.pid && among(up));
        Ok(selected.iter().copied().filter(|stat| !is_below(stat)).collect())
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

    fn command(&self, pid: u32) -> io::Result<String> {
        let text = if_visible(fs::read(self.folder.join(pid.to_string()).join("cmdline")))?;
        Ok(String::from_utf8_lossy(&text.unwrap_or_default()).into_owned())
    }

    /// Whether a process has one of these sockets open. Those of other users are not ours to see.
    fn has_socket(&self, pid: u32, sockets: &[Listener]) -> io::Result<bool> {
        let entries = if_visible(fs::read_dir(self.folder.join(pid.to_string()).join("fd")))?;
        let is_ours = |entry: fs::DirEntry| {
            let link = fs::read_link(entry.path()).unwrap_or_default();
            let inode = link.to_str().and_then(parse::socket);
            inode.is_some_and(|inode| sockets.iter().any(|socket| socket.inode == inode))
        };
        Ok(entries.into_iter().flatten().flatten().take(DESCRIPTORS_MAX).any(is_ours))
    }
}
