//! The store's format: its version, and the names of its files.

/// The version of the store's format that this program writes, and the newest that it reads.
pub const VERSION: u32 = 1;
/// The name of a run's manifest.
pub const MANIFEST: &str = "manifest.json";
/// The file that the process of a run holds locked until it ends.
pub(crate) const LOCK: &str = "lock";
/// Letters of a name, at most.
pub(crate) const NAME_MAX: usize = 80;
