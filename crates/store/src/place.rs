//! Which folder the store is, where none is named.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::file;

/// The folder of a project's own store.
const OWN: &str = ".brunt";
/// The folder of runs in it.
const RUNS: &str = "runs";
/// The environment's variable that names a store.
const VARIABLE: &str = "BRUNT_STORE";

/// The store's folder: the one that is named, else that of `BRUNT_STORE`, else `.brunt/runs` of the project (the closest folder
/// above this one that has `.brunt` or `.git`), else `brunt/runs` among the user's data.
#[must_use]
pub fn folder_of(named: Option<&str>) -> PathBuf {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(named) = named {
        return PathBuf::from(named);
    }
    if let Some(named) = variable(VARIABLE) {
        return PathBuf::from(named);
    }
    let here = std::env::current_dir().unwrap_or_default();
    let home = variable("HOME").map(PathBuf::from);
    if let Some(project) = project_of(&here, home.as_deref()) {
        return project.join(OWN).join(RUNS);
    }
    let data = variable("XDG_DATA_HOME").map(PathBuf::from);
    let data = data.or_else(|| Some(home?.join(".local/share")));
    data.map_or_else(|| here.join(OWN).join(RUNS), |data| data.join("brunt").join(RUNS))
}

/// The closest folder, from `here` upwards, that has `.brunt` or is a working tree of git; the home folder is none.
fn project_of<'a>(here: &'a Path, home: Option<&Path>) -> Option<&'a Path> {
    let is_project = |folder: &&Path| folder.join(OWN).is_dir() || folder.join(".git").exists();
    here.ancestors().take_while(|folder| Some(*folder) != home).find(is_project)
}

/// Makes the store's folder. Git leaves a project's own store out.
pub(crate) fn create(folder: &Path) -> Result<(), StoreError> {
    fs::create_dir_all(folder).map_err(StoreError::io(folder))?;
    let Some(own) = folder.parent().filter(|parent| parent.ends_with(OWN)) else { return Ok(()) };
    let ignore = own.join(".gitignore");
    if ignore.exists() { Ok(()) } else { file::replace(&ignore, b"*\n") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_project_has_the_store() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().join("place");
        let deep = root.join("home/site/app/models");
        fs::create_dir_all(&deep).unwrap();
        fs::create_dir_all(root.join("home/.git")).unwrap();
        let home = root.join("home");
        assert_eq!(project_of(&deep, Some(&home)), None, "the home folder is no project");
        fs::write(root.join("home/site/.git"), "gitdir: elsewhere").unwrap();
        assert_eq!(project_of(&deep, Some(&home)), Some(root.join("home/site").as_path()));
        fs::create_dir_all(root.join("home/site/app/.brunt")).unwrap();
        assert_eq!(project_of(&deep, None), Some(root.join("home/site/app").as_path()));
        let runs = root.join("home/site/app/.brunt/runs");
        create(&runs).unwrap();
        assert_eq!(fs::read_to_string(runs.parent().unwrap().join(".gitignore")).unwrap(), "*\n");
        assert_eq!(folder_of(Some("here")), PathBuf::from("here"));
        fs::remove_dir_all(&root).unwrap();
    }
}
