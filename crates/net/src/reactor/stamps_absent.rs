//! Where the kernel stamps nothing: no [`Stamps`] can be made.

use std::io;
use std::time::Instant;

use stdx::Nanos;

/// There is none.
#[derive(Debug)]
pub(super) enum Stamps {}

impl Stamps {
    pub(super) fn new(_: Instant) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn check(&mut self, _: Instant) {
        match *self {}
    }

    pub(super) fn run_time(&self, _: i64) -> Option<Nanos> {
        match *self {}
    }
}
