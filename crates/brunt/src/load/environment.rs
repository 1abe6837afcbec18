//! `Environment`: what a command line depends on beside its flags.

use std::io::IsTerminal;
use std::thread::available_parallelism;
use std::time::SystemTime;

use cli::stdout_is_terminal;

/// What a command line depends on beside its flags.
pub(crate) struct Environment<'a> {
    /// Whether standard output is a terminal.
    pub(crate) stdout_is_terminal: bool,
    /// Whether standard error is a terminal.
    pub(crate) stderr_is_terminal: bool,
    /// The environment variable of a name.
    pub(crate) variable: &'a dyn Fn(&str) -> Option<String>,
    /// The cores that this process may use.
    pub(crate) cores: u64,
    /// The seed of a run for which none is given.
    pub(crate) seed: u64,
}

impl Environment<'static> {
    /// The environment of this process.
    #[must_use]
    pub(crate) fn of_process() -> Self {
        Self {
            stdout_is_terminal: stdout_is_terminal(),
            stderr_is_terminal: std::io::stderr().is_terminal(),
            variable: &variable,
            cores: available_parallelism().map_or(1, |cores| cores.get() as u64),
            seed: seed(),
        }
    }

    /// The environment of a command whose report goes to standard output, and its results only where `-output` says: as on a
    /// terminal.
    #[must_use]
    pub(crate) fn of_process_with_report() -> Self {
        Self { stdout_is_terminal: true, ..Self::of_process() }
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// A seed that differs from run to run; the report shows it.
fn seed() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    stdx::mix(now.map_or(0, |since| since.as_nanos() as u64), u64::from(std::process::id())) >> 32
}
