//! `EndpointRotation`: which endpoint is dialled next where one name has several.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::route;
use crate::settings::Settings;

/// The turns of the endpoints that are dialled instead of a name (`-connect-to` repeated). All workers share them: each dial
/// takes the next turn.
#[derive(Debug)]
pub(crate) struct EndpointRotation {
    turns: Vec<(String, AtomicU32)>,
    /// The turns of names that have several fixed addresses (`hosts` of a script).
    others: AtomicU32,
}

impl EndpointRotation {
    /// The turns of each `host:port` that has others dialled instead, all at their beginning.
    pub(crate) fn of(settings: &Settings) -> Self {
        let mut names: Vec<&String> = settings.connect_to.iter().map(|(from, _)| from).collect();
        names.sort_unstable();
        names.dedup();
        let turns = names.into_iter().map(|name| (name.clone(), AtomicU32::new(0))).collect();
        Self { turns, others: AtomicU32::new(0) }
    }

    /// The number of the next dial's turn to `host:port`.
    pub(crate) fn next(&self, host: &str, port: u16) -> u32 {
        let of = self.turns.iter().find(|(name, _)| route::names(name, host, port));
        of.map_or(&self.others, |(_, turn)| turn).fetch_add(1, Ordering::Relaxed)
    }
}
