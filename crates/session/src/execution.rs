//! `Execution`: a run as a session sees it: on worker threads, or in the simulated world.

use std::time::Duration;

use engine::{LoadChange, LoadChangeError, Run, RunEvent, Simulation};
use metrics::Batch;
use net::Io;
use stdx::Nanos;
use wire::tls::Agreed;

/// A run under way. Dropping it ends it.
pub trait Execution {
    /// Unix time of the run's start, in nanoseconds.
    fn epoch(&self) -> i64;

    /// The time since the run's start.
    fn elapsed(&self) -> Nanos;

    /// The next event; `None` when `timeout` passed without one, and after [`RunEvent::Finished`].
    fn next_event(&mut self, timeout: Duration) -> Option<RunEvent>;

    /// Gives a batch back to the run, which uses its memory again.
    fn recycle(&mut self, batch: Batch);

    /// Begins no more requests and waits for those under way.
    fn drain(&mut self);

    /// Ends now. Requests under way become rows of the failure `Stopped`.
    fn abort(&mut self);

    /// Offers another load from now on. Returns when, since the run's start.
    ///
    /// # Errors
    /// This run's load cannot be changed so.
    fn change_load(&mut self, change: LoadChange) -> Result<Nanos, LoadChangeError> {
        let _ = change;
        Err(LoadChangeError::Shared)
    }

    /// What the run's first TLS handshake agreed on, once there was one.
    fn tls_agreed(&self) -> Option<Agreed>;
}

impl Execution for Run {
    fn epoch(&self) -> i64 {
        Self::epoch(self)
    }

    fn elapsed(&self) -> Nanos {
        Self::elapsed(self)
    }

    fn next_event(&mut self, timeout: Duration) -> Option<RunEvent> {
        Self::next_event(self, timeout)
    }

    fn recycle(&mut self, batch: Batch) {
        Self::recycle(self, batch);
    }

    fn drain(&mut self) {
        Self::drain(self);
    }

    fn abort(&mut self) {
        Self::abort(self);
    }

    fn change_load(&mut self, change: LoadChange) -> Result<Nanos, LoadChangeError> {
        Self::change_load(self, change)
    }

    fn tls_agreed(&self) -> Option<Agreed> {
        Self::tls_agreed(self)
    }
}

impl<I: Io> Execution for Simulation<I> {
    fn epoch(&self) -> i64 {
        0
    }

    fn elapsed(&self) -> Nanos {
        Self::elapsed(self)
    }

    fn next_event(&mut self, timeout: Duration) -> Option<RunEvent> {
        Self::next_event(self, timeout.into())
    }

    /// A simulated run makes its batches anew.
    fn recycle(&mut self, _: Batch) {}

    fn drain(&mut self) {
        Self::drain(self);
    }

    fn abort(&mut self) {
        Self::abort(self);
    }

    fn change_load(&mut self, change: LoadChange) -> Result<Nanos, LoadChangeError> {
        Self::change_load(self, change)
    }

    fn tls_agreed(&self) -> Option<Agreed> {
        Self::tls_agreed(self)
    }
}
