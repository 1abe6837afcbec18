//! `Source`: where the script and what it imports come from: a file and its folder, standard input, or an archive.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use cli::{input::announce_stdin, reason};
use script::{Fields, Files};
use serde_json::Value;
use stdx::{Compression, mix_all};

use crate::error::K6Error;
use crate::fetch;
use crate::flags::RunFlags;
use crate::module_lock::ModuleLock;
use crate::project::Readable;
use crate::tar;

/// Where the script and what it imports come from.
#[derive(Debug, Default)]
pub(super) struct Source {
    /// The script's full name.
    pub(super) main: String,
    /// The options that an archive brings.
    pub(super) options: Option<Fields>,
    /// The variables that an archive brings.
    pub(super) env: Vec<(String, String)>,
    /// What may be read.
    readable: Readable,
    /// Where modules of the network come from.
    remote: Remote,
    /// Files that need not be read any more.
    held: BTreeMap<String, Vec<u8>>,
    /// It comes out of an archive.
    is_unpacked: bool,
    /// What was read.
    read: RefCell<BTreeMap<String, Vec<u8>>>,
}

/// Where modules of the network come from.
#[derive(Debug, Default)]
enum Remote {
    /// They are fetched.
    #[default]
    Fetched,
    /// From a lock alone.
    Locked(ModuleLock),
    /// From a lock, and what it does not have is fetched (`vendor`).
    LockedOrFetched(ModuleLock),
    /// From nowhere (`-offline` without a lock).
    Nowhere,
}

impl Remote {
    /// As the flags say, for a script in this folder.
    ///
    /// # Errors
    /// A lock cannot be read.
    fn of(flags: &RunFlags, folder: &Path) -> Result<Self, String> {
        if flags.updates {
            return Ok(Self::Fetched);
        }
        Ok(match ModuleLock::find(folder)? {
            Some(lock) if flags.vendors => Self::LockedOrFetched(lock),
            Some(lock) => Self::Locked(lock),
            None if flags.offline => Self::Nowhere,
            None => Self::Fetched,
        })
    }

    /// A module of the network.
    ///
    /// # Errors
    /// It cannot be had; the text says why.
    fn read(&self, url: &str) -> Result<Vec<u8>, String> {
        match self {
            Self::Fetched => fetch::fetch(url),
            Self::Nowhere => Err("it is not on this machine (-offline)".to_owned()),
            Self::Locked(lock) => lock
                .read(url)
                .unwrap_or_else(|| Err(format!("{} does not have it", lock.path().display()))),
            Self::LockedOrFetched(lock) => lock.read(url).unwrap_or_else(|| fetch::fetch(url)),
        }
    }
}

/// The most that standard input or an archive may hold: 1 GiB.
const HELD_MAX: u64 = 1 << 30;

/// A whole file, decompressed where it is compressed.
fn whole(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stdx::decompressed(fs::File::open(path)?).take(HELD_MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

impl Source {
    /// Finds a script: a file, `-` for standard input, or an archive.
    ///
    /// # Errors
    /// It cannot be read, or is no archive.
    pub(super) fn find(path: &str, flags: &RunFlags) -> Result<Self, K6Error> {
        let other = |text: String| K6Error::other(text);
        let mut readable = Readable::new(&flags.allow_read, &flags.env).map_err(other)?;
        if flags.compat {
            readable.allow_anything();
        }
        let mut source = Self { readable, ..Self::default() };
        if path == "-" {
            let mut bytes = Vec::new();
            announce_stdin("the script");
            let read = std::io::stdin().lock().take(HELD_MAX).read_to_end(&mut bytes);
            read.map_err(|error| other(format!("standard input: {}", reason(&error))))?;
            let folder = std::env::current_dir().unwrap_or_default();
            source.remote = Remote::of(flags, &folder).map_err(other)?;
            source.main = folder.join("-").to_string_lossy().into_owned();
            source.readable.allow_script_in(&folder);
            if tar::is_one(&bytes) {
                return source.unpacked(&bytes);
            }
            source.held.insert(source.main.clone(), bytes);
            return Ok(source);
        }
        let full =
            fs::canonicalize(path).map_err(|error| other(format!("{path}: {}", reason(&error))))?;
        let is_archive = flags.script_type.as_deref() == Some("archive")
            || full.extension().is_some_and(|ending| ending == "tar");
        if let Some(kind) =
            flags.script_type.as_deref().filter(|kind| !["js", "archive"].contains(kind))
        {
            return Err(other(format!("unknown or unspecified test type '{kind}' for '{path}'")));
        }
        let name = full.to_string_lossy().into_owned();
        let (stem, compression) = Compression::of_name(&name);
        if is_archive || compression != Compression::None {
            let bytes =
                whole(&full).map_err(|error| other(format!("{path}: {}", reason(&error))))?;
            if is_archive || stem.ends_with(".tar") {
                return source.unpacked(&bytes);
            }
            source.held.insert(stem.to_owned(), bytes);
        }
        source.main = stem.to_owned();
        let folder = full.parent().unwrap_or(Path::new("/"));
        source.remote = Remote::of(flags, folder).map_err(other)?;
        source.readable.allow_script_in(folder);
        source.readable.allow_imports_of(&full);
        Ok(source)
    }

    /// The script of an archive's bytes: it may read what the archive holds, and nothing of this machine.
    ///
    /// # Errors
    /// They are no archive.
    pub(super) fn of_archive(bytes: &[u8]) -> Result<Self, K6Error> {
        Self::default().unpacked(bytes)
    }

    /// What an archive of k6's holds.
    fn unpacked(mut self, bytes: &[u8]) -> Result<Self, K6Error> {
        let files = tar::read(bytes).map_err(K6Error::other)?;
        let metadata = files.iter().find(|(name, _)| name == "metadata.json");
        let metadata = metadata.and_then(|(_, bytes)| serde_json::from_slice::<Value>(bytes).ok());
        let Some(metadata) = metadata else {
            return Err(K6Error::other("the archive has no metadata.json".to_owned()));
        };
        let main = metadata["filename"].as_str().unwrap_or("/script.js");
        self.main = main.strip_prefix("file://").unwrap_or(main).to_owned();
        self.options = metadata["options"].as_object().cloned();
        if let Some(env) = metadata["env"].as_object() {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            self.env = env.iter().map(|(name, value)| (name.clone(), text(value))).collect();
        }
        self.readable.allow_nothing();
        self.is_unpacked = true;
        for (name, bytes) in files {
            if let Some(path) = name.strip_prefix("file") {
                self.held.insert(path.to_owned(), bytes);
            } else if let Some(address) = name.strip_prefix("https/") {
                self.held.insert(format!("https://{address}"), bytes);
            } else if name == "data" {
                self.held.entry(self.main.clone()).or_insert(bytes);
            }
        }
        Ok(self)
    }

    /// Whether it comes out of an archive.
    pub(super) fn is_unpacked(&self) -> bool {
        self.is_unpacked
    }

    /// What was read so far, by its full name.
    pub(super) fn read_so_far(&self) -> BTreeMap<String, Vec<u8>> {
        self.read.borrow().clone()
    }

    /// A number that is another one where a file that was read so far has other bytes. Names of folders are a machine's own.
    pub(super) fn fingerprint(&self) -> u64 {
        let read = self.read.borrow();
        read.values().fold(read.len() as u64, |seed, bytes| mix_all(seed, bytes))
    }

    /// The script's text, once it was read.
    pub(super) fn text(&self) -> String {
        let read = self.read.borrow();
        read.get(&self.main).map_or_else(String::new, |b| String::from_utf8_lossy(b).into_owned())
    }
}

impl Files for Source {
    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        let bytes = match self.held.get(name) {
            Some(bytes) => bytes.clone(),
            None if name.starts_with("https://") => self.remote.read(name)?,
            None => self.readable.read(name)?,
        };
        self.read.borrow_mut().insert(name.to_owned(), bytes.clone());
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fingerprint_is_of_all_files() {
        let source = Source::default();
        let read = |name: &str, text: &str| {
            source.read.borrow_mut().insert(name.to_owned(), text.as_bytes().to_vec());
            source.fingerprint()
        };
        let main = read("/a/main.js", "import './b.js'");
        let with_module = read("/a/b.js", "export const b = 1");
        let with_data = read("/a/users.json", "[]");
        let edited = read("/a/b.js", "export const b = 2");
        let all = [main, with_module, with_data, edited];
        assert!((1..4).all(|at| !all[..at].contains(&all[at])), "{all:?}");
        assert_eq!(read("/a/b.js", "export const b = 1"), with_data);
    }
}
