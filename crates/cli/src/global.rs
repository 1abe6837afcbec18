//! The flags of every command: `brunt -cpus 2 attack …`, natively also after the command.

use crate::flag::{Flag, ValueKind};
use crate::value;

/// The global flags as typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GlobalFlags {
    /// The most worker threads, and so cores; `None` is all.
    pub cpus: Option<u64>,
    /// Vegeta's profiles of itself; accepted and unused.
    pub profile: Option<String>,
    /// Print the version.
    pub version: bool,
}

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
    Flag::new("version", ValueKind::Switch, "", "Print the version.", |t: &mut GlobalFlags, v| {
        value::switch(v).map(|on| t.version = on)
    }),
];
