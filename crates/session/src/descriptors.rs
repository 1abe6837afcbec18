//! Open descriptors: a run may want more connections than the limit of the process allows, even after it was raised.

use engine::{Protocol, Settings};
use workload::{Load, Plan};

use crate::warning::warn;

/// Descriptors of ours that are no connections: standard streams, results, resolvers.
const OTHERS: u64 = 32;
/// Of each worker: what it waits with, and what wakes it.
const OTHERS_PER_WORKER: u64 = 4;

/// Raises the limit of open descriptors as far as it goes, and warns where it is still too low for the connections that a
/// run may want.
pub fn warn_descriptor_limit(plan: &Plan, settings: &Settings) {
    // A system that does not report its limit has none that we know of.
    let limit = net::machine::raise_descriptor_limit().unwrap_or(u64::MAX);
    if let Some(text) = shortage(&plan.load, settings, limit) {
        warn(&text);
    }
}

/// The warning, where `limit` descriptors are too few.
fn shortage(load: &Load, settings: &Settings, limit: u64) -> Option<String> {
    let wanted = connections(load, settings)?;
    let room = limit.saturating_sub(OTHERS + OTHERS_PER_WORKER * settings.workers as u64);
    (wanted > room).then(|| {
        format!(
            "{wanted} connections were asked for and about {room} can be open (limit of descriptors: {limit}); those beyond \
             fail (raise the limit with \"ulimit -Hn\", or run several)"
        )
    })
}

/// The most connections that the load may need; `None` if the load has no limit. With HTTP/2 the server decides how many hits
/// share one.
fn connections(load: &Load, settings: &Settings) -> Option<u64> {
    let under_way = match load {
        Load::Open { max_in_flight, .. } => *max_in_flight,
        Load::Closed { users } => Some(*users),
        Load::Users(crew) => Some(crew.users),
    };
    let most = settings.max_connections.map(|most| most as u64);
    match (under_way, most) {
        (_, None) if settings.protocol == Protocol::PriorKnowledge => None,
        (Some(hits), Some(most)) => Some(hits.min(most)),
        (hits, most) => hits.or(most),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(users: u64, most: Option<usize>, limit: u64, room: Option<&str>) {
        let settings = Settings { max_connections: most, workers: 2, ..Settings::default() };
        let warning = shortage(&Load::Closed { users }, &settings, limit);
        assert_eq!(
            warning.is_some(),
            room.is_some(),
            "{users} users, {most:?}, {limit}: {warning:?}"
        );
        let (warning, room) = (warning.unwrap_or_default(), room.unwrap_or_default());
        assert!(warning.contains(room), "{users} users, {most:?}, {limit}: {warning}");
    }

    #[test]
    fn streams_need_no_descriptors() {
        let h2c = |most| Settings {
            protocol: Protocol::PriorKnowledge,
            max_connections: most,
            ..Settings::default()
        };
        let load = Load::Closed { users: 50_000 };
        assert_eq!(shortage(&load, &h2c(None), 1024), None);
        assert!(shortage(&load, &h2c(Some(50_000)), 1024).is_some());
    }

    #[test]
    fn too_few_descriptors_give_a_warning() {
        let words = "30000 connections were asked for and about 19960 can be open (limit of descriptors: 20000)";
        check(30_000, None, 20_000, Some(words));
        check(90_000, Some(30_000), 20_000, Some(words));
        check(30_000, Some(19_960), 20_000, None);
        check(19_960, None, 20_000, None);
        check(1, None, 3, Some("about 0 can"));
        check(u64::MAX, None, u64::MAX, Some("asked for"));
    }
}
