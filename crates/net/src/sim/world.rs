//! `World`: the simulated machine and everything around it.

use std::net::{IpAddr, SocketAddr};

use stdx::Nanos;

use super::Faults;
use crate::{Address, Dial, Event, Io, IoFailure, Key, Peer, Progress, Sock};

/// A simulated world: one worker's machine, its links, and the peers at their addresses.
pub struct World {}

impl World {
    /// An empty world whose every choice follows from `seed`. Faults beyond their limits are brought within them.
    #[must_use]
    pub fn new(seed: u64, faults: Faults) -> Self {
        let _ = (seed, faults);
        todo!()
    }

    /// Lets `peer` listen at `address`; a later peer at the same address replaces nothing, the first answers.
    pub fn add_peer(&mut self, address: Address, peer: Box<dyn Peer>) {
        let _ = (address, peer);
        todo!()
    }

    /// Makes `name` resolve to `ips`; without any, as all other names, it does not resolve.
    pub fn add_name(&mut self, name: &str, ips: Vec<IpAddr>) {
        let _ = (name, ips);
        todo!()
    }

    /// Calls the waker at that time, as another thread would: [`Event::Woken`] follows.
    pub fn wake_at(&mut self, at: Nanos) {
        let _ = at;
        todo!()
    }

    /// A hash of everything that happened so far: equal for the same seed and the same calls.
    #[must_use]
    pub fn trace(&self) -> u64 {
        todo!()
    }
}

impl Io for World {
    fn now(&mut self) -> Nanos {
        todo!()
    }
    fn open(&mut self, _: Key, _: Dial<'_>) -> Result<Sock, IoFailure> {
        todo!()
    }
    fn set_key(&mut self, _: Sock, _: Key) {}
    fn recv(&mut self, _: Sock, _: &mut [u8]) -> Progress {
        todo!()
    }
    fn send(&mut self, _: Sock, _: &[u8]) -> Progress {
        todo!()
    }
    fn close(&mut self, _: Sock) {}
    fn reset(&mut self, _: Sock) {}
    fn addresses(&mut self, _: Sock) -> Option<(SocketAddr, SocketAddr)> {
        todo!()
    }
    fn resolve(&mut self, _: Key, _: &str) {}
    fn wait(&mut self, _: Option<Nanos>) -> Nanos {
        todo!()
    }
    fn next_event(&mut self) -> Option<Event> {
        todo!()
    }
}
