//! `After`: a thread's way on from a sampler.

use crate::walk::Logic;

/// What a thread does after a sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    /// It goes on in this way.
    Go(Logic),
    /// It ends.
    Stop,
}
