//! `PlanFolder`: the folder of a plan, and what of the disk the plan may read and write. The author of a plan is often not its
//! user, so the rules are those of scripts; names on the command line are the user's own, and go through no door.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::anyhow;
use cli::eprint_line;
use jmx::Writing;
use k6::{Opening, Readable, Writes};

/// The property that names folders which a plan may read besides, colons between: `-allow-read`.
pub(super) const ALLOW_READ: &str = "brunt.allow_read";
/// The same for folders that it may write to: `-allow-write`.
pub(super) const ALLOW_WRITE: &str = "brunt.allow_write";
/// What stands there is the system's: the environment of this process, its memory, its devices. No plan reads it.
const SYSTEM: [&str; 3] = ["/proc", "/dev", "/sys"];
/// Bytes of a file at most: 512 MiB.
const FILE_MAX: u64 = 512 << 20;
/// Refusals that are printed at most; a plan may make up names.
const REFUSALS_MAX: usize = 20;

/// The folder of a plan, and what the plan may read and write.
#[derive(Debug)]
pub(super) struct PlanFolder {
    folder: PathBuf,
    readable: Readable,
    writes: Writes,
    /// Refusals that were printed.
    refusals: Mutex<HashSet<String>>,
}

impl PlanFolder {
    /// That of a plan. Folders of the two properties are open to it, and files that others name by their full paths to read.
    ///
    /// # Errors
    /// A folder of a property cannot be found.
    pub(super) fn of(plan: &Path, properties: &HashMap<String, String>) -> anyhow::Result<Self> {
        let folder = plan.parent().map_or_else(PathBuf::new, Path::to_path_buf);
        let named: Vec<(String, String)> =
            properties.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        let mut readable =
            Readable::new(&folders(properties, ALLOW_READ), &named).map_err(|why| anyhow!(why))?;
        // A plan that is not there fails by itself.
        if let Some(own) = fs::canonicalize(plan).ok().as_deref().and_then(Path::parent) {
            readable.allow_script_in(own);
        }
        readable.allow_working_folder();
        let writes = writes(&plan.to_string_lossy(), properties)?;
        Ok(Self { folder, readable, writes, refusals: Mutex::default() })
    }

    /// What a file holds, its name taken from the folder of the plan; `None` where it cannot be read, or must not be.
    pub(super) fn read_beside(&self, name: &str) -> Option<Vec<u8>> {
        self.read(&self.folder.join(name))
    }

    /// The same of a name that is taken from the working folder.
    pub(super) fn read(&self, path: &Path) -> Option<Vec<u8>> {
        let full = fs::canonicalize(path).ok()?;
        let meta = fs::metadata(&full).ok()?;
        if meta.is_dir() {
            return None;
        }
        if meta.len() > FILE_MAX {
            self.refuse(&format!("{} is not read: it has more than 512 MiB", path.display()));
            return None;
        }
        let read = match SYSTEM.iter().any(|root| full.starts_with(root)) {
            true => Err("it is the system's".to_owned()),
            false => self.readable.read(&full.to_string_lossy()),
        };
        read.map_err(|why| self.refuse(&format!("{} is not read: {why}", path.display()))).ok()
    }

    /// Opens a file to be written; `None` where it cannot be, or must not.
    pub(super) fn open(&self, name: &str, how: Writing) -> Option<File> {
        let file = self.writes.open(name, opening(how));
        file.map_err(|why| self.refuse(&format!("{name} is not written: {why}"))).ok()
    }

    /// Prints why a file is left alone, once.
    fn refuse(&self, line: &str) {
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        if refusals.len() < REFUSALS_MAX && refusals.insert(line.to_owned()) {
            eprint_line(&format!("jmeter: {}", stdx::terminal_line(line)));
            if refusals.len() == REFUSALS_MAX {
                eprint_line("jmeter: files that are refused from here on are not listed");
            }
        }
    }
}

/// Where a plan may write; of a plan without a name, from the working folder alone.
///
/// # Errors
/// A folder of the property cannot be found.
pub(super) fn writes(plan: &str, properties: &HashMap<String, String>) -> anyhow::Result<Writes> {
    Writes::of(plan, &folders(properties, ALLOW_WRITE)).map_err(|why| anyhow!(why))
}

/// Opens a file that a listener of the plan names, and makes its folders.
///
/// # Errors
/// It must not be written, or cannot be.
pub(super) fn open_listed(writes: &Writes, name: &str) -> anyhow::Result<File> {
    writes.make_folders(name).map_err(|why| anyhow!("making the folder of {name}: {why}"))?;
    let file = writes.open(name, Opening::Append);
    file.map_err(|why| anyhow!("opening results {name}: {why}"))
}

/// What a user's file holds, a pipe's as well, so many bytes at most.
///
/// # Errors
/// It cannot be read.
pub(super) fn read_bounded(path: &Path, bytes_max: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(bytes_max).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn folders(properties: &HashMap<String, String>, name: &str) -> Vec<String> {
    let value = properties.get(name).map_or("", String::as_str);
    value.split(':').filter(|folder| !folder.is_empty()).map(str::to_owned).collect()
}

fn opening(how: Writing) -> Opening {
    match how {
        Writing::Append => Opening::Append,
        Writing::Replace => Opening::Replace,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plan's folder in a folder of its own, gone at the end.
    struct World(PathBuf);

    impl World {
        fn new(name: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("brunt-{name}-{}", std::process::id()));
            for inner in ["plans/.git", "others"] {
                fs::create_dir_all(folder.join(inner)).unwrap();
            }
            fs::write(folder.join("plans/users.csv"), "a,b").unwrap();
            fs::write(folder.join("others/key.csv"), "k").unwrap();
            Self(fs::canonicalize(folder).unwrap())
        }

        fn folder(&self, properties: &[(&str, &str)]) -> PlanFolder {
            let pair = |(name, value): &(&str, &str)| {
                ((*name).to_owned(), self.0.join(value).display().to_string())
            };
            let properties = properties.iter().map(pair).collect();
            fs::write(self.0.join("plans/p.jmx"), "").unwrap();
            PlanFolder::of(&self.0.join("plans/p.jmx"), &properties).unwrap()
        }
    }

    impl Drop for World {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).ok();
        }
    }

    #[test]
    fn a_plan_reads_its_folder_and_what_the_user_names() {
        let world = World::new("plan-reads");
        let plain = world.folder(&[]);
        assert_eq!(plain.read_beside("users.csv").as_deref(), Some(&b"a,b"[..]));
        for name in
            ["../others/key.csv", "/proc/self/environ", "/dev/zero", "/etc/passwd", "nowhere", "."]
        {
            assert_eq!(plain.read_beside(name), None, "{name}");
        }
        std::os::unix::fs::symlink(world.0.join("others/key.csv"), world.0.join("plans/led"))
            .unwrap();
        assert_eq!(plain.read_beside("led"), None);
        for named in [(ALLOW_READ, "others"), ("keys", "others/key.csv")] {
            let read = world.folder(&[named]).read_beside("../others/key.csv");
            assert_eq!(read.as_deref(), Some(&b"k"[..]), "{named:?}");
        }
        let all = world.folder(&[(ALLOW_READ, "/")]);
        assert_eq!(all.read_beside("/proc/self/environ"), None);
    }

    #[test]
    fn a_plan_writes_into_its_folder_and_where_the_user_says() {
        let world = World::new("plan-writes");
        let name = |inner: &str| world.0.join(inner).display().to_string();
        let plain = world.folder(&[]);
        assert!(plain.open(&name("plans/out"), Writing::Append).is_some());
        for inner in ["others/profile", "others/key.csv", "plans/.git/hook", "others"] {
            assert!(plain.open(&name(inner), Writing::Replace).is_none(), "{inner}");
        }
        let allowed = world.folder(&[(ALLOW_WRITE, "others")]);
        assert!(allowed.open(&name("others/profile"), Writing::Replace).is_some());
        assert_eq!(fs::read(world.0.join("others/key.csv")).unwrap(), b"k");
    }
}
