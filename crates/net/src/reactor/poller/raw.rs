//! What every poller gives: events by their tokens.

use crate::io::Ready;

/// The token of the waker; no socket's token is ever this.
pub(crate) const WAKER: usize = usize::MAX;

/// The most events taken from the kernel at once.
pub(super) const EVENTS_MAX: usize = 1024;

/// What the kernel said of one token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Raw {
    pub(crate) token: u64,
    pub(crate) ready: Ready,
}
