//! `EndpointRotation`: whose turn it is where several endpoints are dialled for one name.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::settings::Settings;

/// The turns of what is dialled instead of something else (`-connect-to` repeated), over all workers: dials take them one by
/// one, whoever makes them.
#[derive(Debug)]
pub(crate) struct EndpointRotation(Vec<(String, AtomicU32)>);

impl EndpointRotation {
    /// The turns of each `host:port` that has others dialled instead, all at their beginning.
    pub(crate) fn of(settings: &Settings) -> Self {
        let mut names: Vec<&String> = settings.connect_to.iter().map(|(from, _)| from).collect();
        names.sort_unstable();
        names.dedup();
        Self(names.into_iter().map(|name| (name.clone(), AtomicU32::new(0))).collect())
    }

    /// The number of the next dial's turn; 0 for what has none.
    pub(crate) fn next(&self, authority: &str) -> u32 {
        let of = self.0.iter().find(|(name, _)| name == authority);
        of.map_or(0, |(_, turn)| turn.fetch_add(1, Ordering::Relaxed))
    }
}
