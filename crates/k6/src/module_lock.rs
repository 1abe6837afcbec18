//! `ModuleLock` (`brunt.lock`): the modules at `https://` addresses that a project has on disk, each pinned by its hash. A run reads
//! these and fetches nothing.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use cli::input::read_regular;
use cli::reason;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use stdx::private_file::{ALL_AS_MASKED, NewFile};

use crate::project::project_of;

/// The file that names the modules.
const NAME: &str = "brunt.lock";
/// The folder beside it that holds them.
const FOLDER: &str = "brunt_modules";
/// The form of the file.
const FORM: u64 = 1;
/// The letters of an address that name its file, at most.
const NAME_MAX: usize = 100;
/// The digits of a hash that stand in a file's name.
const DIGITS: usize = 12;

/// The modules that a project has on disk.
#[derive(Debug)]
pub(super) struct ModuleLock {
    /// Where the lock and the folder of modules lie.
    folder: PathBuf,
    /// The SHA-256 of each module, in hexadecimal digits, by its address.
    hashes: BTreeMap<String, String>,
}

/// What became of a module that was put into the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// It was not there.
    Added,
    /// It is what was there.
    Same,
    /// Another text had its address.
    Changed,
}

impl ModuleLock {
    /// The lock of a script in this folder: beside it, or above it within its project.
    ///
    /// # Errors
    /// It cannot be read, or is no lock; the text names the file.
    pub(super) fn find(folder: &Path) -> Result<Option<Self>, String> {
        let project = project_of(folder);
        let within = |above: &&Path| project.as_ref().is_none_or(|root| above.starts_with(root));
        let levels = if project.is_some() { usize::MAX } else { 1 };
        let mut folders = folder.ancestors().take_while(within).take(levels);
        let Some(folder) = folders.find(|folder| folder.join(NAME).exists()) else {
            return Ok(None);
        };
        let file = folder.join(NAME);
        let named = |text: String| format!("{}: {text}", file.display());
        let document = read_regular(&file).map_err(&named)?;
        let hashes = read(&document).ok_or_else(|| {
            named("is no lock of brunt's (remove it, and give brunt vendor the script)".to_owned())
        })?;
        Ok(Some(Self { folder: folder.to_owned(), hashes }))
    }

    /// An empty one for a script in this folder: at the root of its project, or else beside the script.
    pub(super) fn new(folder: &Path) -> Self {
        let folder = project_of(folder).unwrap_or_else(|| folder.to_owned());
        Self { folder, hashes: BTreeMap::new() }
    }

    /// The file that it is.
    pub(super) fn path(&self) -> PathBuf {
        self.folder.join(NAME)
    }

    /// How many modules it has.
    pub(super) fn len(&self) -> usize {
        self.hashes.len()
    }

    /// The module at this address; `None` if the lock does not have it.
    ///
    /// # Errors
    /// It is not on disk, or is not what was locked.
    pub(super) fn read(&self, url: &str) -> Option<Result<Vec<u8>, String>> {
        let hash = self.hashes.get(url)?;
        let file = self.file(url, hash);
        let bytes = read_regular(&file).map_err(|text| format!("{}: {text}", file.display()));
        Some(bytes.and_then(|bytes| match digest(&bytes) == *hash {
            true => Ok(bytes),
            false => Err(format!(
                "{} is not what {NAME} says: its SHA-256 is {}, and not {hash} (brunt vendor -update fetches it anew)",
                file.display(),
                digest(&bytes)
            )),
        }))
    }

    /// Puts a module on disk and into the lock, which [`ModuleLock::write`] then writes.
    ///
    /// # Errors
    /// The folder takes no files; the text names the file.
    pub(super) fn put(&mut self, url: &str, bytes: &[u8]) -> Result<Change, String> {
        let hash = digest(bytes);
        let file = self.file(url, &hash);
        let named = |error: io::Error| format!("{}: {}", file.display(), reason(&error));
        make_folder(&self.folder.join(FOLDER)).map_err(named)?;
        replace(&file, bytes).map_err(named)?;
        let Some(before) = self.hashes.insert(url.to_owned(), hash.clone()) else {
            return Ok(Change::Added);
        };
        if before == hash {
            return Ok(Change::Same);
        }
        // It has another name, and is of no use any more; one that is gone already is no loss.
        fs::remove_file(self.file(url, &before)).ok();
        Ok(Change::Changed)
    }

    /// Writes the lock.
    ///
    /// # Errors
    /// The folder takes no files; the text names the file.
    pub(super) fn write(&self) -> Result<(), String> {
        let modules: BTreeMap<&str, String> = self
            .hashes
            .iter()
            .map(|(url, hash)| (url.as_str(), format!("sha256-{hash}")))
            .collect();
        let document = json!({ "brunt_lock": FORM, "modules": modules });
        let mut document = serde_json::to_vec_pretty(&document).unwrap_or_default();
        document.push(b'\n');
        let path = self.path();
        replace(&path, &document).map_err(|error| format!("{}: {}", path.display(), reason(&error)))
    }

    /// Where a module lies. The name is made here, never read: a lock out of a strange tree cannot lead anywhere else.
    fn file(&self, url: &str, hash: &str) -> PathBuf {
        let address = url.strip_prefix("https://").unwrap_or(url);
        let address = address.strip_suffix(".js").unwrap_or(address);
        let plain = |letter: char| match letter {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '.' => letter,
            _ => '_',
        };
        let name: String = address.chars().map(plain).take(NAME_MAX).collect();
        self.folder.join(FOLDER).join(format!("{name}-{}.js", &hash[..DIGITS]))
    }
}

/// Makes a folder where none is. A link is none: a strange tree would have files written somewhere else.
fn make_folder(folder: &Path) -> io::Result<()> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let is_folder = fs::symlink_metadata(folder)?.is_dir();
            if is_folder { Ok(()) } else { Err(ErrorKind::NotADirectory.into()) }
        }
        made => made,
    }
}

/// Writes a file whole; a link of its name is replaced, not followed.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = NewFile::beside(path, ALL_AS_MASKED)?;
    new.file().write_all(bytes)?;
    new.publish()
}

/// The hashes of a lock by the addresses; `None` if it is none.
fn read(document: &[u8]) -> Option<BTreeMap<String, String>> {
    let document: Value = serde_json::from_slice(document).ok()?;
    if document["brunt_lock"] != FORM {
        return None;
    }
    let modules = document["modules"].as_object()?.iter();
    modules
        .map(|(url, hash)| {
            let hash = hash.as_str()?.strip_prefix("sha256-")?;
            let is_hash = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
            is_hash.then(|| (url.clone(), hash.to_ascii_lowercase()))
        })
        .collect()
}

/// The SHA-256 of bytes, in hexadecimal digits.
fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://jslib.example/a/1.0.0/../index.js?x=/../../etc";

    #[test]
    fn a_module_is_read_while_it_is_what_was_locked() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("package.json"), "{}").unwrap();
        let below = folder.path().join("load/users");
        fs::create_dir_all(&below).unwrap();
        let mut lock = ModuleLock::new(&below);
        assert_eq!(lock.put(URL, b"export default 1").unwrap(), Change::Added);
        assert_eq!(lock.put(URL, b"export default 1").unwrap(), Change::Same);
        assert_eq!(lock.put(URL, b"export default 2").unwrap(), Change::Changed);
        lock.write().unwrap();
        let found = ModuleLock::find(&below).unwrap().expect("it lies at the project's root");
        assert_eq!(found.read(URL).unwrap().unwrap(), b"export default 2");
        assert_eq!(found.read("https://jslib.example/b.js"), None);
        let modules = folder.path().join(FOLDER);
        let files: Vec<PathBuf> =
            fs::read_dir(modules).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(files.len(), 1, "the text of before went: {files:?}");
        fs::write(&files[0], "export default 3").unwrap();
        let error = found.read(URL).unwrap().unwrap_err();
        assert!(error.contains("is not what brunt.lock says"), "{error}");
        fs::remove_file(&files[0]).unwrap();
        assert!(found.read(URL).unwrap().unwrap_err().contains("no such file"));
    }

    #[test]
    fn what_is_no_lock_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert!(ModuleLock::find(folder.path()).unwrap().is_none());
        for text in [
            "",
            "[]",
            r#"{"brunt_lock":2,"modules":{}}"#,
            r#"{"brunt_lock":1,"modules":{"https://a.example/":"sha256-../../etc/passwd"}}"#,
            r#"{"brunt_lock":1,"modules":{"https://a.example/":7}}"#,
        ] {
            fs::write(folder.path().join(NAME), text).unwrap();
            let error = ModuleLock::find(folder.path()).unwrap_err();
            assert!(error.contains("brunt.lock") && error.contains("no lock"), "{error}");
        }
    }

    #[test]
    fn links_of_a_strange_tree_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let victim = folder.path().join("victim");
        fs::write(&victim, "mine").unwrap();
        let mut lock = ModuleLock::new(folder.path());
        lock.folder = folder.path().to_owned();
        std::os::unix::fs::symlink(&victim, lock.path()).unwrap();
        lock.write().unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
        std::os::unix::fs::symlink(folder.path(), folder.path().join(FOLDER)).unwrap();
        assert!(lock.put(URL, b"1").is_err());
    }

    #[test]
    fn a_file_stays_in_its_folder() {
        let lock = ModuleLock::new(Path::new("/p"));
        let hash = digest(b"");
        for url in [URL, "https://../../../etc/passwd", "https://a/\u{202e}\n\0", "https://"] {
            let file = lock.file(url, &hash);
            assert_eq!(file.parent(), Some(lock.folder.join(FOLDER).as_path()), "{url}");
        }
    }
}
