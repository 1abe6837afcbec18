//! The flags on what a script has from outside, its variables and folders: `run`, `inspect` and `archive` take them alike.

use cli::{Flag, ValueKind, switch};

use super::run_flags::RunFlags;

/// The variable of the script that `NAME=VALUE` gives; of a name alone that of the environment, `None` where it has none.
#[must_use]
pub fn script_variable(text: &str) -> Option<(String, String)> {
    match text.split_once('=') {
        Some((name, value)) => Some((name.to_owned(), value.to_owned())),
        None => std::env::var(text).ok().map(|value| (text.to_owned(), value)),
    }
}

/// A variable of the script.
pub(super) const ENV: Flag<RunFlags> = Flag::new(
    "e",
    ValueKind::Text("NAME=VALUE"),
    "",
    "A variable for the script, in __ENV; a name alone takes its value from the environment. May be repeated.",
    |t: &mut RunFlags, v| {
        t.env.extend(script_variable(v));
        Ok(())
    },
)
.native()
.also(&["env"]);

/// What may be read besides the project.
pub(super) const ALLOW_READ: Flag<RunFlags> = gather!(
    "allow-read",
    "DIR",
    "A folder outside the project that the script may read. May be repeated.",
    allow_read
);

/// `-offline`, of every command that runs a script's init code.
pub(super) const OFFLINE: Flag<RunFlags> = switch!(
    RunFlags,
    "offline",
    "Fetch no module: those of the network come from brunt.lock (see brunt vendor), or are named as missing.",
    offline
)
.native();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_alone_takes_its_value_from_the_environment() {
        let pair = |name: &str, value: &str| Some((name.to_owned(), value.to_owned()));
        assert_eq!(script_variable("HOST=a=b"), pair("HOST", "a=b"));
        assert_eq!(script_variable("EMPTY="), pair("EMPTY", ""));
        assert_eq!(script_variable("CARGO_PKG_NAME"), pair("CARGO_PKG_NAME", "k6"));
        assert_eq!(script_variable("BRUNT_NO_SUCH_VARIABLE"), None);
    }
}
