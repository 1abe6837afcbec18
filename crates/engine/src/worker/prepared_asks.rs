//! `PreparedAsks`: the last targets that users asked for, made ready.

use std::sync::Arc;

use workload::Target;

use crate::origins::Named;
use crate::request::Request;

/// The last targets that users asked for, made ready: users that ask for the very same `Arc` again and again pay for it once.
#[derive(Debug, Default)]
pub(super) struct PreparedAsks(pub(super) Vec<Option<PreparedAsk>>);

/// A user's target, made ready.
#[derive(Debug)]
pub(super) struct PreparedAsk {
    pub(super) target: Arc<Target>,
    pub(super) request: Arc<Request>,
    pub(super) site: u64,
    pub(super) named: Named,
}

impl PreparedAsks {
    /// So many are kept at most, each in the place that its address gives it.
    const PLACES: usize = 256;

    pub(super) fn place(target: &Arc<Target>) -> usize {
        // Neighbours in memory are at least so far apart.
        (Arc::as_ptr(target) as usize / size_of::<Target>()) % Self::PLACES
    }

    pub(super) fn keep(&mut self, place: usize, ask: PreparedAsk) {
        if self.0.is_empty() {
            self.0.resize_with(Self::PLACES, || None);
        }
        self.0[place] = Some(ask);
    }
}
