//! Keeps the lease of a run on a thread of its own, since the server may answer late.

use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use crate::transport::{LEASE_TTL, Lease, Transport, TransportError};

/// The time between two renewals: four chances until the lease ends.
const RENEWAL: Duration = Duration::from_millis(LEASE_TTL.as_millis() as u64 / 5);

/// Renews the lease while the returned token lives; calls `fenced` where another process has it. A server that cannot be reached
/// fences no process: the agents obey the newest coordinator that reaches them.
pub(super) fn keep(
    transport: Arc<dyn Transport>,
    mut lease: Lease,
    fenced: impl FnOnce() + Send + 'static,
) -> Arc<()> {
    let token = Arc::new(());
    let alive: Weak<()> = Arc::downgrade(&token);
    thread::spawn(move || {
        loop {
            thread::park_timeout(RENEWAL);
            if alive.strong_count() == 0 {
                return;
            }
            match transport.renew_lease(&lease) {
                Ok(renewed) => lease = renewed,
                Err(TransportError::LeaseHeld(_)) => return fenced(),
                Err(_) => {}
            }
        }
    });
    token
}
