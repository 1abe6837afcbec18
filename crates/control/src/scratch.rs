//! A folder of a test's own, removed when the test ends.

use std::path::{Path, PathBuf};

/// The folder.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        let path =
            tempfile::Builder::new().prefix(&format!("brunt-{name}-")).tempdir().unwrap().keep();
        std::fs::remove_dir_all(&path).ok();
        // Whatever the umask: what others can write is refused.
        stdx::private_file::make_folder(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}
