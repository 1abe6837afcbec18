//! The flags on what a script has from outside, its variables and folders: `run`, `inspect` and `archive` take them alike.

use cli::{Flag, ValueKind};

use super::run_flags::RunFlags;

/// `NAME=VALUE`; a name alone takes its value from the environment.
pub(super) const ENV: Flag<RunFlags> = Flag::new(
    "e",
    ValueKind::Text("NAME=VALUE"),
    "",
    "A variable for the script, in __ENV. May be repeated.",
    |t: &mut RunFlags, v| {
        let pair = match v.split_once('=') {
            Some((name, value)) => Some((name.to_owned(), value.to_owned())),
            None => std::env::var(v).ok().map(|value| (v.to_owned(), value)),
        };
        t.env.extend(pair);
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
