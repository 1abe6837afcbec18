//! `Readable`: what of the disk a script, or a plan of JMeter's, may read: its own folder, the project that it belongs to, and what the command line
//! allows besides. Names are followed to where they lead before they are judged.

use std::fs;
use std::path::{Path, PathBuf};

use cli::{input::read_regular, reason};

use crate::import_span::Imports;
use crate::reserved_folders::ReservedFolders;

/// Entries that mark a folder as a project. A repository may have packages in it: it is the project then.
const MARKS: [&str; 2] = [".git", "package.json"];

/// What a script may read.
#[derive(Debug, Default)]
pub struct Readable {
    /// What the command line allows.
    allowed: Vec<PathBuf>,
    /// The script's own folder; `None` where it comes out of an archive, which brings all that it needs.
    own: Option<PathBuf>,
    /// The script's own folder, where that is a home or the like: of it the script may read what it imports and the files beside it,
    /// but none that is hidden, as keys and settings are, and nothing of folders in it.
    reserved: Option<PathBuf>,
    /// The script and what it imports.
    imported: Vec<PathBuf>,
    project: Option<PathBuf>,
    /// The folder that its static imports span, where no mark names a project.
    span: Option<PathBuf>,
    /// All that the process may read, as in k6.
    anything: bool,
}

impl Readable {
    /// Allows what the command line names: folders, and full paths in variables of `-e`.
    ///
    /// # Errors
    /// A folder cannot be found; the text says which.
    pub fn new(folders: &[String], env: &[(String, String)]) -> Result<Self, String> {
        let full = |folder: &String| {
            fs::canonicalize(folder)
                .map_err(|error| format!("flag --allow-read: {folder}: {}", reason(&error)))
        };
        let mut allowed = folders.iter().map(full).collect::<Result<Vec<_>, _>>()?;
        allowed.extend(env.iter().filter_map(|(_, value)| handed_over(value)));
        Ok(Self { allowed, ..Self::default() })
    }

    /// Allows whatever the process may read, as k6 does.
    pub(super) fn allow_anything(&mut self) {
        self.anything = true;
    }

    /// Allows the folder of a script and its project.
    pub fn allow_script_in(&mut self, folder: &Path) {
        let own = Some(folder.to_owned());
        match ReservedFolders::of_user().spares(folder) {
            true => self.own = own,
            false => self.reserved = own,
        }
        self.project = project_root(folder);
    }

    /// Allows the working folder, unless it is a home or the like.
    pub fn allow_working_folder(&mut self) {
        let working = std::env::current_dir().and_then(fs::canonicalize).ok();
        self.allowed.extend(working.filter(|folder| ReservedFolders::of_user().spares(folder)));
    }

    /// Allows the folder that the static imports of a script span, where no mark around it says what its project is. The root of the
    /// file system and a home are as little such a folder as they are a project; of those, each imported file may be read by itself.
    pub(super) fn allow_imports_of(&mut self, script: &Path) {
        self.allow_imports(script, &ReservedFolders::of_user());
    }

    fn allow_imports(&mut self, script: &Path, reserved: &ReservedFolders) {
        let Some(folder) = script.parent().filter(|folder| marked(folder, reserved).is_none())
        else {
            return;
        };
        let Some(Imports { span, files }) = Imports::of(script) else { return };
        match reserved.spares(&span) {
            true => self.span = Some(span).filter(|span| span.as_path() != folder),
            false => self.imported = files,
        }
    }

    /// Whether a file lies beside a script in a reserved folder, and is not hidden.
    fn is_beside(&self, full: &Path) -> bool {
        let name = full.file_name().and_then(|name| name.to_str());
        let is_hidden = name.is_none_or(|name| name.starts_with('.'));
        !is_hidden && self.reserved.is_some() && full.parent() == self.reserved.as_deref()
    }

    /// Allows nothing: all there is to read comes out of an archive.
    pub(super) fn allow_nothing(&mut self) {
        *self = Self::default();
    }

    /// What a file holds.
    ///
    /// # Errors
    /// It cannot be read, or must not be.
    pub fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        let full = fs::canonicalize(name).map_err(|error| reason(&error))?;
        let mut roots = self.allowed.iter().chain(&self.own).chain(&self.project).chain(&self.span);
        let is_named = self.imported.contains(&full) || self.is_beside(&full);
        if self.anything || is_named || roots.any(|root| full.starts_with(root)) {
            return read_regular(&full);
        }
        if let (None, Some(reserved)) = (&self.project, &self.reserved) {
            let folder = reserved.display();
            return Err(format!(
                "the script lies in {folder}, which is a home or the like and no project: of it only what it imports and files \
                 beside it that are not hidden may be read (see --allow-read)"
            ));
        }
        Err(match (&self.project, &self.own) {
            (Some(project), _) => {
                format!(
                    "it is not below the script's project, {} (see --allow-read)",
                    project.display()
                )
            }
            (None, Some(own)) => {
                format!(
                    "it is not below {}, where the script lies (see --allow-read)",
                    own.display()
                )
            }
            (None, None) => "it is not in the archive".to_owned(),
        })
    }
}

/// The project of a script in this folder: the nearest folder upwards with a repository, else the nearest with a package, else the
/// working folder. The root of the file system is never a project, and neither is a user's home or a folder above it, be it for a
/// mark or for being worked in: the settings of a user are often a repository, and the home is where a terminal begins.
pub(super) fn project_root(folder: &Path) -> Option<PathBuf> {
    let working = || fs::canonicalize(std::env::current_dir().ok()?).ok();
    project_below(folder, working, &ReservedFolders::of_user())
}

/// The project of a script in this folder, where a mark says what it is.
pub(super) fn project_of(folder: &Path) -> Option<PathBuf> {
    marked(folder, &ReservedFolders::of_user())
}

/// The nearest folder upwards that has a mark.
fn marked(folder: &Path, reserved: &ReservedFolders) -> Option<PathBuf> {
    let folders = || folder.ancestors().filter(|folder| reserved.spares(folder));
    let with = |mark: &&str| folders().find(|folder| folder.join(mark).exists());
    MARKS.iter().find_map(with).map(Path::to_path_buf)
}

fn project_below(
    folder: &Path,
    working: impl FnOnce() -> Option<PathBuf>,
    reserved: &ReservedFolders,
) -> Option<PathBuf> {
    marked(folder, reserved).or_else(|| working().filter(|folder| reserved.spares(folder)))
}

/// The file or folder that a variable of `-e` names: a user who gives a script a full path allows it to read there.
fn handed_over(value: &str) -> Option<PathBuf> {
    let path = Path::new(value);
    // Not the root of all files.
    let named = path.is_absolute() && path.components().count() > 1;
    named.then(|| fs::canonicalize(path).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of its own, gone at the end.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let folder = tempfile::Builder::new()
                .prefix(&format!("brunt-{name}-"))
                .tempdir()
                .unwrap()
                .keep();
            fs::create_dir_all(folder.join("a/project/tests/load")).unwrap();
            Self(fs::canonicalize(folder).unwrap())
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).ok();
        }
    }

    #[test]
    fn a_project_is_the_nearest_marked_folder_or_the_working_one() {
        let root = Folder::new("projects");
        let tests = root.0.join("a/project/tests/load");
        let working = fs::canonicalize(std::env::current_dir().unwrap()).unwrap();
        assert_eq!(project_root(&tests), Some(working));
        fs::write(root.0.join("a/package.json"), "{}").unwrap();
        assert_eq!(project_root(&tests), Some(root.0.join("a")));
        // A worktree's is a file.
        fs::write(root.0.join("a/project/.git"), "gitdir: x").unwrap();
        assert_eq!(project_root(&tests), Some(root.0.join("a/project")));
        // A package inside of a repository is no project of its own.
        fs::write(root.0.join("a/project/tests/package.json"), "{}").unwrap();
        assert_eq!(project_root(&tests), Some(root.0.join("a/project")));
    }

    /// Of a user whose settings are a repository, a script may not read all that is theirs; nor where the home is worked in, which is
    /// where a terminal begins.
    #[test]
    fn issue_42_a_home_is_no_project() {
        let root = Folder::new("home");
        fs::create_dir(root.0.join(".git")).unwrap();
        let tests = root.0.join("a/project/tests/load");
        let of = |home: &Path| ReservedFolders { home: Some(home.to_owned()), temporary: None };
        for home in [root.0.clone(), root.0.join("a")] {
            for working in [&home, &root.0] {
                let project = project_below(&tests, || Some(working.clone()), &of(&home));
                assert_eq!(project, None, "{working:?}");
            }
        }
        let elsewhere = of(Path::new("/no/such/home"));
        assert_eq!(project_below(&tests, || None, &elsewhere), Some(root.0.clone()));
        fs::write(root.0.join("a/project/package.json"), "{}").unwrap();
        let project = project_below(&tests, || None, &of(&root.0));
        assert_eq!(project, Some(root.0.join("a/project")));
    }

    /// Of a home in which a script lies, its imports and the plain files beside it are read.
    #[test]
    fn issue_42_of_a_home_what_is_imported_or_beside_may_be_read() {
        let root = Folder::new("imports-of-home");
        let script = root.0.join("a/l.js");
        fs::write(&script, "import './project/m.js'; // import './project/key.js'").unwrap();
        for name in ["a/project/m.js", "a/project/key.js", "a/data.csv", "a/.netrc"] {
            fs::write(root.0.join(name), "").unwrap();
        }
        let reserved = ReservedFolders { home: Some(root.0.join("a")), temporary: None };
        let mut readable = Readable { reserved: Some(root.0.join("a")), ..Readable::default() };
        readable.allow_imports(&script, &reserved);
        let read = |name: &str| readable.read(&root.0.join(name).display().to_string());
        for name in ["a/project/m.js", "a/data.csv"] {
            assert_eq!(read(name), Ok(Vec::new()), "{name}");
        }
        for name in ["a/project/key.js", "a/.netrc"] {
            assert!(read(name).unwrap_err().contains("a home or the like"), "{name}");
        }
    }

    #[test]
    fn regression_issue_41_what_static_imports_span_may_be_read() {
        let root = Folder::new("span");
        let tests = root.0.join("a/project/tests");
        fs::write(root.0.join("a/project/c.js"), "").unwrap();
        fs::write(root.0.join("a/d.js"), "{}").unwrap();
        fs::write(root.0.join("a/d.json"), "{}").unwrap();
        let script = tests.join("l.js");
        fs::write(&script, "import '../c.js'; export default () => {}").unwrap();
        let read = |name: &str| {
            let mut readable = Readable::new(&[], &[]).unwrap();
            readable.allow_script_in(&tests);
            readable.allow_imports_of(&script);
            readable.read(&root.0.join(name).display().to_string())
        };
        assert_eq!(read("a/project/c.js"), Ok(Vec::new()));
        assert!(read("a/d.json").is_err(), "no import leads there");
        // A comment imports nothing, and what is no script is no module.
        for text in
            ["// import '../../d.js'", "/* import '../../d.js' */", "require('../../d.json')"]
        {
            fs::write(&script, text).unwrap();
            assert!(read("a/d.json").is_err(), "{text}");
        }
        fs::write(&script, "import '../../d.js'").unwrap();
        assert_eq!(read("a/d.json"), Ok(b"{}".to_vec()));
        // Where a mark says what the project is, imports do not widen it.
        fs::create_dir(tests.join(".git")).unwrap();
        assert!(read("a/d.json").is_err());
    }

    #[test]
    fn as_in_k6_a_script_reads_anything() {
        let root = Folder::new("anything");
        fs::write(root.0.join("data.txt"), "data").unwrap();
        let mut readable = Readable::new(&[], &[]).unwrap();
        let name = root.0.join("data.txt").display().to_string();
        fs::create_dir(root.0.join("a/project/.git")).unwrap();
        readable.allow_script_in(&root.0.join("a/project/tests"));
        assert!(readable.read(&name).is_err());
        readable.allow_anything();
        assert_eq!(readable.read(&name), Ok(b"data".to_vec()));
        readable.allow_nothing();
        assert!(readable.read(&name).is_err(), "an archive brings all that it needs");
    }

    #[test]
    fn what_lies_outside_is_refused_wherever_a_link_lies() {
        let root = Folder::new("outside");
        let project = root.0.join("a/project");
        fs::write(project.join("package.json"), "{}").unwrap();
        fs::write(root.0.join("secret.txt"), "secret").unwrap();
        std::os::unix::fs::symlink(root.0.join("secret.txt"), project.join("link.txt")).unwrap();
        std::os::unix::fs::symlink(project.join("package.json"), project.join("tests/in.json"))
            .unwrap();
        let mut readable = Readable::new(&[], &[]).unwrap();
        readable.allow_script_in(&project.join("tests"));
        let read = |name: &str| readable.read(&project.join(name).display().to_string());
        assert_eq!(read("tests/../package.json"), Ok(b"{}".to_vec()));
        assert_eq!(read("tests/in.json"), Ok(b"{}".to_vec()));
        for outside in ["link.txt", "../../secret.txt", "tests/../../../secret.txt"] {
            let error = read(outside).unwrap_err();
            let expect = format!("below the script's project, {}", project.display());
            assert!(error.contains(&expect), "{outside}: {error}");
        }
        let folders = [root.0.display().to_string()];
        let mut readable = Readable::new(&folders, &[]).unwrap();
        readable.allow_script_in(&project.join("tests"));
        let link = project.join("link.txt").display().to_string();
        assert_eq!(readable.read(&link), Ok(b"secret".to_vec()));
    }
}
