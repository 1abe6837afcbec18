//! The flags of every command: `brunt -cpus 2 attack …`, natively also after the command.

use crate::flag::{Flag, ValueKind};
use crate::value::{self, ValueError};

/// The global flags as typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GlobalFlags {
    /// The most worker threads, and so cores; `None` is all.
    pub cpus: Option<u64>,
    /// What servers, files and scripts may take of the memory, in bytes; `None` is a share of the machine's.
    pub memory_limit: Option<u64>,
    /// Names of headers and query keys whose values are not shown, with commas between.
    pub redact: Option<String>,
    /// Vegeta's profiles of itself; accepted and unused.
    pub profile: Option<String>,
    /// Print the version.
    pub version: bool,
}

impl GlobalFlags {
    /// Limits memory and redacts as these flags say: it holds for the process from here on, whatever the command is.
    pub fn apply(&self) {
        if let Some(limit) = self.memory_limit {
            net::machine::limit_memory(limit);
        }
        if let Some(names) = &self.redact {
            stdx::redact(names);
        }
    }
}

/// The least that `-memory-limit` may be, in bytes: less leaves no room for anything.
const MEMORY_LIMIT_MIN: u64 = 16_000_000;

/// The table of the global flags.
pub const FLAGS: &[Flag<GlobalFlags>] = &[
    Flag::new(
        "cpus",
        ValueKind::Text("N"),
        "all",
        "Maximum number of worker threads, and so of cores.",
        |t: &mut GlobalFlags, v| value::count(v).map(|n| t.cpus = Some(n)),
    ),
    Flag::new(
        "memory-limit",
        ValueKind::Text("SIZE"),
        "3/4",
        "Memory that messages, pages and scripts may take together (512MB); by default three quarters of the machine's or the container's.",
        |t: &mut GlobalFlags, v| {
            let bytes = value::size(v)?;
            if bytes < MEMORY_LIMIT_MIN {
                return Err(ValueError::new(format!("\"{v}\" is too little: 16MB is the least")));
            }
            t.memory_limit = Some(bytes);
            Ok(())
        },
    )
    .native(),
    Flag::new(
        "profile",
        ValueKind::Text("cpu,heap"),
        "",
        "Vegeta's profiles of itself: accepted, and nothing is written.",
        |t: &mut GlobalFlags, v| {
            t.profile = Some(v.to_owned());
            Ok(())
        },
    )
    .vegeta(),
    Flag::new(
        "redact",
        ValueKind::Text("NAMES"),
        "",
        "Headers and query keys shown as *** in results, reports and messages; secrets: all whose names say so.",
        |t: &mut GlobalFlags, v| {
            // An empty variable is not to show what it was given to hide.
            if !v.split(',').any(|name| name.chars().any(char::is_alphanumeric)) {
                return Err(ValueError::new(format!("\"{v}\" names nothing (Authorization,token)")));
            }
            t.redact = Some(v.to_owned());
            Ok(())
        },
    )
    .native(),
    Flag::new("version", ValueKind::Switch, "", "Print the version.", |t: &mut GlobalFlags, v| {
        value::switch(v).map(|on| t.version = on)
    }),
];
