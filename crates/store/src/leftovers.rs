//! What processes that were killed leave in a store: folders of runs that began and did not appear, runs half removed, files half
//! written. A name says whose it is, and a lock that its process lives.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::Pid;

use crate::error::StoreError;
use crate::format::LOCK;
use crate::own_file;

/// A folder that is made, and not locked yet.
const OPENS: &str = ".opens-";
/// A locked folder of a run that has not appeared yet.
const BEGINS: &str = ".begins-";
/// A folder that is removed.
pub(crate) const GONE: &str = ".gone-";
/// What is older, and held by nothing, has no process any more: that of another container has a number that says nothing here, and
/// some file systems have no locks.
const AGE_MAX: Duration = Duration::from_secs(600);

/// The folder of a run that begins, which its process holds locked until it appears.
#[derive(Debug)]
pub(crate) struct Beginning {
    pub(crate) folder: PathBuf,
    _lock: Option<File>,
}

impl Beginning {
    /// Makes the folder; `serial` is a number that this process gives once.
    ///
    /// # Errors
    /// The system refuses it.
    pub(crate) fn create(store: &Path, serial: u32) -> Result<Self, StoreError> {
        let pid = std::process::id();
        let new = store.join(format!("{OPENS}{pid}-{serial}"));
        let folder = store.join(format!("{BEGINS}{pid}-{serial}"));
        own_file::create_folder(&new)?;
        // Locked before it has the name by which it may be swept.
        let lock = File::open(&new).ok().filter(|lock| lock.try_lock().is_ok());
        fs::rename(&new, &folder).map_err(|error| {
            fs::remove_dir(&new).ok();
            StoreError::Io { path: folder.clone(), error }
        })?;
        Ok(Self { folder, _lock: lock })
    }
}

/// Removes the leftovers of a store. Gives how many there were.
///
/// # Errors
/// The system refuses it.
pub(crate) fn sweep(store: &Path) -> Result<usize, StoreError> {
    let mut swept = 0;
    for entry in fs::read_dir(store).map_err(StoreError::io(store))? {
        let path = entry.map_err(StoreError::io(store))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if is_left_folder(&path, &name) {
            fs::remove_dir_all(&path).map_err(StoreError::io(&path))?;
            swept += 1;
        } else if name.starts_with('.') {
            swept += usize::from(is_left_file(&path, &name) && fs::remove_file(&path).is_ok());
        } else if !path.is_symlink() && path.is_dir() && !is_locked(&path) {
            swept += sweep_files(&path)?;
        }
    }
    Ok(swept)
}

/// Whether a folder of this name was left by a process that is gone.
fn is_left_folder(path: &Path, name: &str) -> bool {
    if name.starts_with(GONE) {
        return true;
    }
    let Some(of) = name.strip_prefix(BEGINS).or_else(|| name.strip_prefix(OPENS)) else {
        return false;
    };
    let pid = of.split('-').next().unwrap_or_default();
    let is_gone = name.starts_with(BEGINS) && is_dead(pid);
    (is_gone || is_old(path)) && !is_held(path) && !is_locked(path)
}

/// Removes the files of a run that nothing writes any more.
fn sweep_files(folder: &Path) -> Result<usize, StoreError> {
    let mut swept = 0;
    for entry in fs::read_dir(folder).map_err(StoreError::io(folder))? {
        let entry = entry.map_err(StoreError::io(folder))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if is_left_file(&entry.path(), &name) {
            fs::remove_file(entry.path()).map_err(StoreError::io(&entry.path()))?;
            swept += 1;
        }
    }
    Ok(swept)
}

/// Whether a file is one that was to take another's place (`.NAME.NUMBER-PID.part`; of older versions without one of the two ends) and whose
/// process is gone.
fn is_left_file(path: &Path, name: &str) -> bool {
    let Some((_, number)) = name.strip_suffix(".part").unwrap_or(name).rsplit_once('.') else {
        return false;
    };
    let (number, pid) = number.split_once('-').unwrap_or((number, ""));
    let is_part = name.starts_with('.')
        && number.len() == 16
        && number.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_file = || fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file());
    is_part && is_file() && (is_dead(pid) || is_old(path))
}

/// Whether no process has this number; of what is no number nothing is known.
fn is_dead(pid: &str) -> bool {
    let pid = pid.parse().ok().filter(|pid| *pid > 0).map(Pid::from_raw);
    pid.is_some_and(|pid| kill(pid, None) == Err(Errno::ESRCH))
}

/// Whether nothing was changed in it for a while.
fn is_old(path: &Path) -> bool {
    let changed = fs::symlink_metadata(path).and_then(|meta| meta.modified()).ok();
    changed.and_then(|at| at.elapsed().ok()).is_some_and(|age| age > AGE_MAX)
}

/// Whether a process holds the lock of the run in this folder.
pub(crate) fn is_locked(folder: &Path) -> bool {
    let Ok(lock) = own_file::open(&folder.join(LOCK)) else { return false };
    matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// Whether a process holds the folder itself, in which a run begins.
fn is_held(folder: &Path) -> bool {
    let lock = File::open(folder);
    lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::tests::Folder;

    /// The number of a process that has ended, and was waited for.
    fn dead_pid() -> u32 {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        child.id()
    }

    fn age(path: &Path) {
        let past = SystemTime::now() - AGE_MAX * 2;
        File::open(path).unwrap().set_modified(past).unwrap();
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
        let mut names: Vec<String> = entries.map(|entry| name(entry.unwrap())).collect();
        names.sort();
        names
    }

    /// Issue 42, F15: a run that began was swept before it had its lock, and another ended with 1.
    #[test]
    fn what_begins_is_not_swept() {
        let folder = Folder::new("sweep-begins");
        let store = folder.0.as_path();
        fs::create_dir(store).unwrap();
        let beginning = Beginning::create(store, 0).unwrap();
        fs::write(beginning.folder.join(LOCK), "").unwrap();
        age(&beginning.folder);
        let opens = store.join(format!("{OPENS}{}-1", dead_pid()));
        fs::create_dir(&opens).unwrap();
        assert_eq!(sweep(store).unwrap(), 0, "{:?}", names(store));
        drop(beginning);
        age(&opens);
        assert_eq!(sweep(store).unwrap(), 2);
        assert_eq!(names(store), [""; 0]);
    }

    /// Issue 42, F16: what a killed import had unpacked, and what was to become a manifest, stayed for ever.
    #[test]
    fn what_a_dead_process_left_is_swept() {
        let folder = Folder::new("sweep-left");
        let store = folder.0.as_path();
        fs::create_dir(store).unwrap();
        let (dead, own) = (dead_pid(), std::process::id());
        let run = store.join("20260101-000000-0001");
        for folder in [store.join(format!("{BEGINS}{dead}-0")), run.clone()] {
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("results.arrow"), "half").unwrap();
        }
        let files = [
            ".manifest.json.0123456789abcdef",
            ".results.arrow.0123456789abcdef.part",
            &format!(".manifest.json.0123456789abcdef-{dead}"),
            &format!(".manifest.json.0123456789abcdef-{own}"),
            ".notes",
            "manifest.json",
        ];
        for name in files {
            fs::write(run.join(name), "").unwrap();
        }
        for name in [files[0], files[1], ".notes", "manifest.json"] {
            age(&run.join(name));
        }
        assert_eq!(sweep(store).unwrap(), 4);
        assert_eq!(names(&run), [files[3], ".notes", "manifest.json", "results.arrow"]);
        let lock = File::create(run.join(LOCK)).unwrap();
        lock.try_lock().unwrap();
        age(&run.join(files[3]));
        assert_eq!(sweep(store).unwrap(), 0, "the run is under way");
        drop(lock);
        assert_eq!(sweep(store).unwrap(), 1);
    }
}
