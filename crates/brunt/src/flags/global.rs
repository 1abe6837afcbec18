//! The flags of every command: `brunt -cpus 2 attack …`, natively also after the command.

use super::{Flag, Kind, value};

/// The global flags as typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Global {
    /// Cores to use; `None` is all.
    pub(crate) cpus: Option<u64>,
    /// Vegeta's profiles of itself; accepted and unused.
    pub(crate) profile: Option<String>,
    /// Print the version and end.
    pub(crate) version: bool,
}

/// The global flags.
pub(crate) const FLAGS: &[Flag<Global>] = &[
    Flag::new(
        "cpus",
        Kind::Text("N"),
        "all",
        "Worker threads, and so cores, to use at most.",
        |t: &mut Global, v| value::count(v).map(|n| t.cpus = Some(n)),
    ),
    Flag::new(
        "profile",
        Kind::Text("cpu,heap"),
        "",
        "Vegeta's profiles of itself: accepted, and nothing is written.",
        |t: &mut Global, v| {
            t.profile = Some(v.to_owned());
            Ok(())
        },
    )
    .vegeta(),
    Flag::new("version", Kind::Switch, "", "Print the version and end.", |t: &mut Global, v| {
        value::switch(v).map(|on| t.version = on)
    }),
];
