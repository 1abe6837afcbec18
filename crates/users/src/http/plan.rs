//! `HttpPlan`: what requests of all VUs have in common, and the rate that they share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::host::traits::HttpRules;
use stdx::Nanos;

/// What requests of all VUs have in common.
#[derive(Clone, Debug, Default)]
pub struct HttpPlan {
    /// What users see of it.
    pub rules: HttpRules,
    /// How many redirects are followed where a request does not say.
    pub max_redirects: u32,
    /// Bodies are not shown to users unless a request wants them.
    pub discard_bodies: bool,
    /// Header fields of requests that do not say them: `User-Agent`.
    pub default_headers: Arc<[(String, String)]>,
    /// How many requests of a batch are under way at once, in all and to one host; 0 for no limit.
    pub batch: (usize, usize),
    /// Whether the log gets a warning when a redirect is not followed because there were too many.
    pub warns_of_redirects: bool,
    /// Connections are closed when an iteration has ended (`noVUConnectionReuse`).
    pub closes_connections: bool,
    /// Requests and responses go to the log (`httpDebug`).
    pub debug: Option<HttpDebug>,
    /// What all VUs' requests together keep to (`rps`).
    pub pace: Option<Arc<RateLimit>>,
}

/// What of requests and responses goes to the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpDebug {
    /// Their heads.
    Heads,
    /// All of it.
    Full,
}

/// A rate of requests that many keep to.
#[derive(Debug)]
pub struct RateLimit {
    gap: Nanos,
    /// When the next request may be sent, in nanoseconds of the pool's clock.
    next: AtomicU64,
}

impl RateLimit {
    /// So many requests a second.
    #[must_use]
    pub fn new(rate_per_s: u64) -> Self {
        Self { gap: Nanos(1_000_000_000 / rate_per_s.max(1)), next: AtomicU64::new(0) }
    }

    /// Takes the next place, which is `now` at the earliest.
    pub(crate) fn take(&self, now: Nanos) -> Nanos {
        let take = |next: u64| Some(next.max(now.0).saturating_add(self.gap.0));
        let next = self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        Nanos(next.unwrap_or_else(|next| next).max(now.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_a_gap_apart_and_none_is_saved_up() {
        let pace = RateLimit::new(10);
        let at = |ms: u64| pace.take(Nanos::from_millis(ms)).0 / 1_000_000;
        assert_eq!([at(0), at(0), at(50), at(1000), at(1000)], [0, 100, 200, 1000, 1100]);
    }
}
