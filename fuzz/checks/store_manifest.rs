//! A run's manifest, as another machine may have written it: its files lie in its folder, and the store lists it or names a problem.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use store::{Filter, MANIFEST, Manifest, Store};

/// A folder that goes with its owner.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NUMBERED: AtomicU64 = AtomicU64::new(0);
        let number = NUMBERED.fetch_add(1, Ordering::Relaxed);
        let name = format!("brunt-fuzz-manifest-{}-{number}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that is left costs no more than its bytes.
        std::fs::remove_dir_all(&self.0).ok();
    }
}

/// The run's name; `None` where it is no manifest.
///
/// # Panics
/// A file of the run lies elsewhere, or the store neither lists it nor names a problem.
pub(crate) fn check(bytes: &[u8]) -> Option<String> {
    let folder = Folder::new();
    let run = folder.0.join("run-1");
    std::fs::create_dir_all(&run).expect("a folder");
    std::fs::write(run.join(MANIFEST), bytes).expect("a file");
    let listing = Store::at(folder.0.clone()).list().expect("a folder");
    assert_eq!(listing.runs.len() + listing.problems.len(), 1, "{:?}", listing.problems);
    for run in &listing.runs {
        assert!(
            run.results()
                .ok()
                .flatten()
                .is_none_or(|path| path.parent() == Some(run.folder.as_path()))
        );
        // What they say does not matter here.
        let _ = (run.verdict(), run.is_valid(), Filter::default().takes(run));
    }
    let manifest = Manifest::read(&run).ok()?;
    for name in manifest.results.iter().chain(&manifest.documents) {
        assert!(!name.contains(['/', '\\', '\0']) && !name.starts_with('.'), "{name}");
        assert_eq!(run.join(name).parent(), Some(run.as_path()), "{name}");
    }
    Some(manifest.name)
}
