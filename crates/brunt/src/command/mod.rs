//! The commands, a file or a folder each, and the table of them.

mod access_log;
mod agent;
mod completions;
mod control_failure;
mod demo;
mod fleet;
pub(crate) mod help;
mod import;
mod jitter;
mod man;
mod record;
mod registry;
mod serve;
mod study;
mod tools;
pub(crate) mod watch;

pub(crate) use cli::{CommandError, CommandSpec, Registry, usage_error};

pub(crate) use self::registry::REGISTRY;

#[cfg(test)]
pub(crate) mod tests {
    /// Compares a text with a file of this crate, line by line.
    pub(crate) fn check_snapshot(file: &str, text: &str) {
        let snapshot = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        if std::env::var_os("UPDATE").is_some() {
            std::fs::create_dir_all(snapshot.parent().unwrap()).unwrap();
            std::fs::write(&snapshot, text).unwrap();
        }
        let expected = std::fs::read_to_string(&snapshot).unwrap();
        for (got, want) in text.lines().zip(expected.lines()) {
            assert_eq!(got, want, "in {} (UPDATE=1 rewrites it)", snapshot.display());
        }
        assert_eq!(text.lines().count(), expected.lines().count());
    }
}
