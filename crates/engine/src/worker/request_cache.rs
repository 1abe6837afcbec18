//! `RequestCache`: the last targets that users asked for, made ready.

use std::sync::Arc;

use workload::Target;

use crate::named_by::NamedBy;
use crate::request::Request;

/// The last targets that users asked for, made ready: users that ask for the very same `Arc` again and again pay for it once.
#[derive(Debug, Default)]
pub(super) struct RequestCache(pub(super) Vec<Option<CachedRequest>>);

/// A user's target, made ready.
#[derive(Debug)]
pub(super) struct CachedRequest {
    pub(super) target: Arc<Target>,
    pub(super) request: Arc<Request>,
    pub(super) site: u64,
    pub(super) named: NamedBy,
}

impl RequestCache {
    /// So many are kept at most, each in the place that its address gives it.
    const SLOTS: usize = 256;

    pub(super) fn slot(target: &Arc<Target>) -> usize {
        // Neighbours in memory are at least so far apart.
        (Arc::as_ptr(target) as usize / size_of::<Target>()) % Self::SLOTS
    }

    pub(super) fn keep(&mut self, slot: usize, ask: CachedRequest) {
        if self.0.is_empty() {
            self.0.resize_with(Self::SLOTS, || None);
        }
        self.0[slot] = Some(ask);
    }
}
