//! The store's format: its version, the names of its files, and which words are names of runs.

/// The version of the store's format that this program writes, and the newest that it reads.
pub const VERSION: u32 = 1;
/// The name of a run's manifest.
pub const MANIFEST: &str = "manifest.json";
/// The file that the process of a run holds locked until it ends.
pub(crate) const LOCK: &str = "lock";
/// Letters of a name, at most.
pub(crate) const NAME_MAX: usize = 80;

/// Whether a text can be the name or the id of a run: a word of a command line that is no flag and no path.
pub(crate) fn is_name(text: &str) -> bool {
    let is_plain = text.chars().all(|one| one.is_alphanumeric() || "._-".contains(one));
    is_plain && text.starts_with(char::is_alphanumeric) && text.chars().count() <= NAME_MAX
}
