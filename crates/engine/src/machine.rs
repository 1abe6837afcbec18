//! `Machine`: the machine that a worker runs on, one of two. The choice is made once a run, and each has a loop of its own,
//! compiled for it.

use std::sync::Arc;
use std::time::Instant;

use net::{NoUring, Reactor, Resolver, Uring, Waker};

use crate::run::StartError;
use crate::settings::IoChoice;

/// The machine that a worker runs on.
#[derive(Debug)]
pub(crate) enum Machine {
    Mio(Reactor),
    Uring(Box<Uring>),
}

impl Machine {
    /// One for each worker, all of a kind.
    pub(crate) fn several(count: usize, choice: IoChoice) -> Result<Vec<Self>, StartError> {
        let now = Instant::now();
        let rings = || -> Result<Vec<Self>, NoUring> {
            (0..count).map(|_| Ok(Self::Uring(Box::new(Uring::new(now)?)))).collect()
        };
        match choice {
            IoChoice::Uring => return Ok(rings()?),
            IoChoice::Auto => {
                if let Ok(rings) = rings() {
                    return Ok(rings);
                }
            }
            IoChoice::Mio => {}
        }
        Ok((0..count).map(|_| Reactor::new(now).map(Self::Mio)).collect::<Result<_, _>>()?)
    }

    /// Its name, for the report.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Mio(_) => Reactor::backend(),
            Self::Uring(_) => Uring::BACKEND,
        }
    }

    pub(crate) fn set_resolver(&mut self, resolver: Arc<Resolver>) {
        match self {
            Self::Mio(reactor) => reactor.set_resolver(resolver),
            Self::Uring(uring) => uring.set_resolver(resolver),
        }
    }

    /// Lets it see answers a little later where that costs less, as a closed loop can bear.
    pub(crate) fn allow_gathering(&mut self) {
        if let Self::Uring(uring) = self {
            uring.allow_gathering();
        }
    }

    pub(crate) fn waker(&self) -> Waker {
        match self {
            Self::Mio(reactor) => reactor.waker(),
            Self::Uring(uring) => uring.waker(),
        }
    }

    /// Counts time from `start` from now on.
    pub(crate) fn set_start(&mut self, start: Instant) {
        match self {
            Self::Mio(reactor) => reactor.set_start(start),
            Self::Uring(uring) => uring.set_start(start),
        }
    }
}
