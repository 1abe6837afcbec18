//! `ReservedFolders`: folders that are no script's project, whatever lies in them: the root of the file system, a user's home and those above
//! it, the temporary folder. One rule for what a script may read and for where it may write.

use std::fs;
use std::path::{Path, PathBuf};

/// The folders of this machine that are no script's project.
#[derive(Clone, Debug, Default)]
pub(super) struct ReservedFolders {
    pub(super) home: Option<PathBuf>,
    pub(super) temporary: Option<PathBuf>,
}

impl ReservedFolders {
    /// Those of this user.
    pub(super) fn of_user() -> Self {
        let full = |folder: PathBuf| fs::canonicalize(folder).ok();
        Self { home: std::env::home_dir().and_then(full), temporary: full(std::env::temp_dir()) }
    }

    /// Whether a folder may be a project: a user's keys and settings lie in the home, what other programs and the next steps of a CI
    /// job run in the temporary folder.
    pub(super) fn spares(&self, folder: &Path) -> bool {
        let holds_home = self.home.as_ref().is_some_and(|home| home.starts_with(folder));
        folder.parent().is_some() && !holds_home && self.temporary.as_deref() != Some(folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_what_is_above_it_and_the_temporary_folder_are_no_projects() {
        let reserved =
            ReservedFolders { home: Some("/home/me".into()), temporary: Some("/tmp".into()) };
        for folder in ["/", "/home", "/home/me", "/tmp"] {
            assert!(!reserved.spares(Path::new(folder)), "{folder}");
        }
        for folder in ["/home/me/work", "/home/other", "/tmp/project", "/srv"] {
            assert!(reserved.spares(Path::new(folder)), "{folder}");
        }
    }
}
