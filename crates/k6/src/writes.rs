//! `Writes`: where a script's `handleSummary`, or a plan of JMeter's, may write. A user's start-up files and keys are out of reach: the author of a
//! script is often not its user.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Component, Path, PathBuf};

use cli::reason;
use nix::fcntl::OFlag;

use crate::project::project_root;
use crate::reserved_folders::ReservedFolders;

/// What files that reports are have for an ending.
const REPORTS: [&str; 8] = ["html", "json", "txt", "xml", "csv", "md", "log", "jtl"];

/// What becomes of what a file holds already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// It goes.
    Replace,
    /// It stays, and what is written follows it.
    Append,
}

/// Where a script may write.
#[derive(Debug, Default)]
pub struct Writes {
    /// As k6: anywhere.
    anywhere: bool,
    /// What relative names begin at.
    working: PathBuf,
    /// The project and the working folder.
    free: Vec<PathBuf>,
    /// What the command line allows.
    allowed: Vec<PathBuf>,
}

impl Writes {
    /// What a script of this path may write, and `folders` besides.
    ///
    /// # Errors
    /// A folder of `--allow-write` cannot be found.
    pub fn of(script: &str, folders: &[String]) -> Result<Self, String> {
        let full = |folder: &String| {
            fs::canonicalize(folder)
                .map_err(|error| format!("flag --allow-write: {folder}: {}", reason(&error)))
        };
        let allowed = folders.iter().map(full).collect::<Result<_, _>>()?;
        let working = std::env::current_dir().unwrap_or_default();
        let script = fs::canonicalize(script).ok();
        let beside = script.as_deref().and_then(Path::parent).unwrap_or(working.as_path());
        let places = project_root(beside).into_iter().chain(fs::canonicalize(&working));
        let reserved = ReservedFolders::of_user();
        let free = places.filter(|place| reserved.spares(place)).collect();
        Ok(Self { free, working, allowed, anywhere: false })
    }

    /// Any file, as k6 has it.
    pub(super) fn anywhere() -> Self {
        Self { anywhere: true, ..Self::default() }
    }

    /// Writes a document; a file that is there is written over where the script may write anything.
    ///
    /// # Errors
    /// It may not be written, or cannot; the text says which, but does not name the file.
    pub(super) fn write(&self, name: &str, content: &[u8]) -> Result<(), String> {
        let mut file = self.open(name, Opening::Replace)?;
        file.write_all(content).map_err(|error| reason(&error))
    }

    /// Opens a file to be written; one that is there is written to where the script may write anything.
    ///
    /// # Errors
    /// It may not be written, or cannot; the text says which, but does not name the file.
    pub fn open(&self, name: &str, opening: Opening) -> Result<File, String> {
        let mut options = File::options();
        options.create(true);
        match opening {
            Opening::Replace => options.write(true).truncate(true),
            Opening::Append => options.append(true),
        };
        let place = if self.anywhere {
            Place { path: self.working.join(name), may_replace: true }
        } else {
            // A link is not followed, and opening a pipe does not wait for its reader.
            options.custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits());
            self.judge(name)?
        };
        options.create_new(!place.may_replace);
        let file = options.open(place.path).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => {
                refusal("it is there already, and outside of the project and the working folder")
            }
            _ => reason(&error),
        })?;
        let is_file = file.metadata().is_ok_and(|meta| meta.is_file());
        if !self.anywhere && !is_file {
            return Err(refusal("it is no regular file"));
        }
        Ok(file)
    }

    /// Makes the folders of a file, where they lie in the project, the working folder, or what the command line allows.
    ///
    /// # Errors
    /// They may not be made, or cannot; the text says which.
    pub fn make_folders(&self, name: &str) -> Result<(), String> {
        let path = plain(&self.working.join(name));
        let Some(folder) = path.parent().filter(|folder| !folder.exists()) else { return Ok(()) };
        let Some(there) = folder.ancestors().find(|above| above.exists()) else { return Ok(()) };
        let full = fs::canonicalize(there).map_err(|error| reason(&error))?;
        let new = folder.strip_prefix(there).unwrap_or(folder);
        let is_allowed = self.allowed.iter().any(|root| full.starts_with(root));
        let is_free = self.free.iter().any(|root| full.starts_with(root)) && !is_hidden(new);
        if !is_allowed && !is_free {
            return Err(refusal(
                "its folder is not there, and outside of the project and the working folder",
            ));
        }
        fs::create_dir_all(full.join(new)).map_err(|error| reason(&error))
    }

    /// Which file a name stands for, without a link on the way. A report may be made elsewhere, but it replaces nothing there:
    /// the configuration of a program ends like one.
    ///
    /// # Errors
    /// It must not be written; the text says why.
    fn judge(&self, name: &str) -> Result<Place, String> {
        let path = plain(&self.working.join(name));
        let (Some(folder), Some(file)) = (path.parent(), path.file_name()) else {
            return Err("it is no file".to_owned());
        };
        let full = fs::canonicalize(folder).map_err(|error| reason(&error))?.join(file);
        let is_link = |path: &Path| fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink());
        if is_link(&full) {
            return Err(refusal("it is a symbolic link"));
        }
        if self.allowed.iter().any(|root| full.starts_with(root)) {
            return Ok(Place { path: full, may_replace: true });
        }
        // A link on the way to a free folder is the user's own; one below it may be another user's.
        let leads_to_free = |path: &Path| {
            fs::canonicalize(path)
                .is_ok_and(|to| self.free.iter().any(|free| free.starts_with(&to)))
        };
        if folder.ancestors().any(|above| is_link(above) && !leads_to_free(above)) {
            return Err(refusal("a symbolic link is on the way to it"));
        }
        // Stores of packages lie outside of the project, and its files are names of theirs.
        if fs::symlink_metadata(&full).is_ok_and(|meta| meta.is_file() && meta.nlink() > 1) {
            return Err(refusal("it has another name elsewhere (a hard link)"));
        }
        let below = self.free.iter().find_map(|free| full.strip_prefix(free).ok());
        if is_hidden(below.unwrap_or(&full)) {
            return Err(refusal("a name that begins with a dot is on the way to it"));
        }
        let is_report = full.extension().is_some_and(|ending| REPORTS.iter().any(|r| ending == *r));
        if below.is_none() && !is_report {
            return Err(refusal(
                "it is outside of the project and the working folder, and no report (.html .json .txt .xml .csv .md .log .jtl)",
            ));
        }
        Ok(Place { may_replace: below.is_some(), path: full })
    }
}

/// A file that may be written.
#[derive(Debug)]
struct Place {
    path: PathBuf,
    /// It may be there already.
    may_replace: bool,
}

fn refusal(why: &str) -> String {
    format!("{why} (see --allow-write)")
}

/// The path without `.` and `..`, links not followed: what they lead to is judged on its own.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

fn is_hidden(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str().as_encoded_bytes().starts_with(b"."))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A folder with a project and things beside it, gone at the end.
    struct World(PathBuf);

    impl World {
        fn new(name: &str) -> Self {
            let folder = tempfile::Builder::new()
                .prefix(&format!("brunt-{name}-"))
                .tempdir()
                .unwrap()
                .keep();
            for inner in ["home/project/load", "home/project/.git/hooks", "home/keys", "ci"] {
                fs::create_dir_all(folder.join(inner)).unwrap();
            }
            Self(fs::canonicalize(folder).unwrap())
        }

        /// What may be written from `load` in the project, with these folders allowed.
        fn writes(&self, allowed: &[&str]) -> Writes {
            let project = self.0.join("home/project");
            Writes {
                anywhere: false,
                working: project.join("load"),
                free: vec![project],
                allowed: allowed.iter().map(|folder| self.0.join(folder)).collect(),
            }
        }
    }

    impl Drop for World {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).ok();
        }
    }

    #[test]
    fn reports_go_anywhere_and_the_rest_into_the_project() {
        let world = World::new("writes");
        let writes = world.writes(&["home/keys"]);
        let ci = world.0.join("ci").display().to_string();
        for name in ["out.bin", "./a.js", "../top", "../../x.html", "../../keys/.id"] {
            assert_eq!(writes.judge(name).err(), None, "{name}");
        }
        for (name, expect) in [
            (format!("{ci}/junit.xml"), None),
            (format!("{ci}/run.sh"), Some("no report")),
            (format!("{ci}/.hidden.json"), Some("begins with a dot")),
            ("../../profile".to_owned(), Some("outside of the project")),
            ("../../.bashrc".to_owned(), Some("begins with a dot")),
            ("../.git/hooks/pre-commit".to_owned(), Some("begins with a dot")),
            (".env".to_owned(), Some("begins with a dot")),
            ("nowhere/x.json".to_owned(), Some("no such file")),
        ] {
            let judged = writes.judge(&name);
            match expect {
                Some(expect) => assert!(judged.unwrap_err().contains(expect), "{name}"),
                None => assert_eq!(judged.err(), None, "{name}"),
            }
        }
    }

    #[test]
    fn issue_19_nothing_is_replaced_outside_of_the_project() {
        let world = World::new("replaced");
        let writes = world.writes(&["home/keys"]);
        let config = world.0.join("home/config.json");
        fs::write(&config, "mine").unwrap();
        let error = writes.write("../../config.json", b"x").unwrap_err();
        assert!(error.contains("there already") && error.contains("--allow-write"), "{error}");
        assert_eq!(fs::read(&config).unwrap(), b"mine");
        // A new one may be made, once.
        assert_eq!(writes.write("../../new.json", b"x"), Ok(()));
        assert!(writes.write("../../new.json", b"y").is_err());
        // Below the project and in allowed folders files are written over.
        for name in ["../own.json", "../own.json", "../../keys/a.json", "../../keys/a.json"] {
            assert_eq!(writes.write(name, b"x"), Ok(()), "{name}");
        }
    }

    /// With `TMPDIR=$RUNNER_TEMP`, as in CI, the next steps' programs and variables lie in the temporary folder: a script replaced
    /// them. It is none of the project's, also where brunt runs in it.
    #[test]
    fn issue_42_the_temporary_folder_is_no_project() {
        let temporary = fs::canonicalize(std::env::temp_dir()).unwrap();
        let writes = Writes::of(&temporary.join("script.js").display().to_string(), &[]).unwrap();
        assert!(!writes.free.contains(&temporary));
        let world = World::new("temporary");
        let (next, report) = (world.0.join("ci/set_env"), world.0.join("ci/report.json"));
        for path in [&next, &report] {
            fs::write(path, "mine").unwrap();
            assert!(writes.write(&path.display().to_string(), b"evil").is_err());
            assert_eq!(fs::read(path).unwrap(), b"mine");
        }
        let own = world.0.join("ci/new.json").display().to_string();
        assert_eq!(writes.write(&own, b"x"), Ok(()), "a report may be made there");
    }

    /// The files of pnpm, cargo and others are hard links into a store that all projects share.
    #[test]
    fn issue_42_a_file_with_another_name_is_not_written_through() {
        let world = World::new("hard-links");
        let store = world.0.join("home/keys/lib.js");
        fs::write(&store, "mine").unwrap();
        fs::hard_link(&store, world.0.join("home/project/load/lib.js")).unwrap();
        let error = world.writes(&[]).write("lib.js", b"evil").unwrap_err();
        assert!(error.contains("a hard link"), "{error}");
        assert_eq!(fs::read(&store).unwrap(), b"mine");
        assert_eq!(world.writes(&["home/project"]).write("lib.js", b"x"), Ok(()));
    }

    /// The pipe has no reader: opening it would wait for ever.
    #[test]
    fn pipes_are_not_waited_for() {
        let world = World::new("pipes");
        let pipe = world.0.join("home/project/load/f.json");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert!(world.writes(&[]).write("f.json", b"x").is_err());
        // With a reader it opens, and is refused all the same.
        let reader = File::options().read(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(&pipe);
        let error = world.writes(&[]).write("f.json", b"x").unwrap_err();
        assert!(reader.is_ok() && error.contains("no regular file"), "{error}");
    }

    #[test]
    fn links_are_not_followed() {
        let world = World::new("links");
        let project = world.0.join("home/project");
        symlink(world.0.join("home/keys"), project.join("load/out")).unwrap();
        symlink(world.0.join("home/keys/id.txt"), project.join("load/report.txt")).unwrap();
        symlink(world.0.join("home"), world.0.join("short")).unwrap();
        let mut writes = world.writes(&[]);
        for name in ["out/report.html", "report.txt"] {
            assert!(writes.judge(name).unwrap_err().contains("symbolic link"), "{name}");
            assert!(writes.write(name, b"x").is_err(), "{name}");
        }
        assert!(!world.0.join("home/keys/id.txt").exists());
        // What the way back from a link leads to is not what the name says: the file beside the link is meant.
        assert_eq!(writes.write("out/../beside.bin", b"x"), Ok(()));
        assert!(
            project.join("load/beside.bin").exists() && !world.0.join("home/beside.bin").exists()
        );
        // The way to the project may lead through one.
        writes.working = world.0.join("short/project");
        assert_eq!(writes.write("load/a.sh", b"x"), Ok(()));
        assert_eq!(fs::read(project.join("load/a.sh")).unwrap(), b"x");
    }

    /// A plan's results follow those of the last run, in folders of their own.
    #[test]
    fn files_are_continued_and_folders_made_where_one_may_write() {
        let world = World::new("writes-continued");
        let writes = world.writes(&["ci"]);
        for text in ["a", "b"] {
            writes.make_folders("out/run/all.jtl").unwrap();
            let mut file = writes.open("out/run/all.jtl", Opening::Append).unwrap();
            file.write_all(text.as_bytes()).unwrap();
        }
        let written = fs::read(world.0.join("home/project/load/out/run/all.jtl")).unwrap();
        assert_eq!(written, b"ab");
        let ci = world.0.join("ci/new/x").display().to_string();
        assert_eq!(writes.make_folders(&ci), Ok(()));
        symlink(world.0.join("home"), world.0.join("home/project/load/away")).unwrap();
        for name in ["../../new/x.jtl", ".hidden/x.jtl", "away/new/x.jtl"] {
            assert!(writes.make_folders(name).is_err(), "{name}");
        }
        assert!(!world.0.join("home/new").exists());
        let profile = world.0.join("home/profile");
        fs::write(&profile, "mine").unwrap();
        fs::hard_link(&profile, world.0.join("home/project/load/linked")).unwrap();
        symlink(&profile, world.0.join("home/project/load/led")).unwrap();
        for name in ["../../profile", "linked", "led", "away/profile", "."] {
            for opening in [Opening::Append, Opening::Replace] {
                assert!(writes.open(name, opening).is_err(), "{name}");
            }
        }
        assert_eq!(fs::read(profile).unwrap(), b"mine");
    }
}
