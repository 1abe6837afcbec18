//! `WorkerIo`: the `Io` of a worker, one of two kinds. The choice is made once a run, and each has a loop of its own,
//! compiled for it.

use std::sync::Arc;
use std::time::Instant;

use net::{NoUring, Reactor, Resolver, Uring, Waker};
use workload::Load;

use crate::error::StartError;
use crate::settings::{AnswerClock, IoChoice, Settings};

/// How late an answer may be seen so that less CPU is used, as one in so many of its time, where `io_uring` was not asked
/// for and where it was (docs/design/io-uring.md).
const GATHER_UNASKED: u64 = 32;
const GATHER_ASKED: u64 = 8;
/// Users of a closed loop from which on `io_uring` costs less, at the smaller share; with fewer, and at a rate, no difference
/// was measured.
const URING_FROM: u64 = 192;
/// The same of users that decide for themselves: each takes so long that answers pile up without being waited for.
const URING_FROM_DECIDING: u64 = 8;

/// The `Io` of a worker.
#[derive(Debug)]
pub(crate) enum WorkerIo {
    Reactor(Box<Reactor>),
    Uring(Box<Uring>),
}

impl WorkerIo {
    /// One for each worker, all of a kind.
    pub(crate) fn several(
        count: usize,
        settings: &Settings,
        load: &Load,
    ) -> Result<Vec<Self>, StartError> {
        let now = Instant::now();
        let (costs_less, gathers) = match load {
            Load::Closed { users } => (*users >= URING_FROM, true),
            Load::Users(crew) => (crew.users >= URING_FROM_DECIDING, false),
            // A rate cannot bear to see anything later.
            Load::Open { .. } => (false, false),
        };
        let rings = |share| -> Result<Vec<Self>, NoUring> {
            let share = gathers.then_some(share);
            (0..count).map(|_| Self::ring(now, share)).collect()
        };
        match settings.io {
            IoChoice::Uring => return Ok(rings(GATHER_ASKED)?),
            IoChoice::Auto if costs_less => {
                if let Ok(rings) = rings(GATHER_UNASKED) {
                    return Ok(rings);
                }
            }
            IoChoice::Auto | IoChoice::Reactor => {}
        }
        let is_open = matches!(load, Load::Open { .. });
        let stamps = is_open && settings.answer_clock == AnswerClock::Auto;
        Ok((0..count).map(|_| Self::reactor(now, stamps)).collect::<Result<_, _>>()?)
    }

    fn reactor(now: Instant, stamps: bool) -> std::io::Result<Self> {
        let mut reactor = Reactor::new(now)?;
        if stamps {
            reactor.stamp_arrivals();
        }
        Ok(Self::Reactor(Box::new(reactor)))
    }

    fn ring(now: Instant, share: Option<u64>) -> Result<Self, NoUring> {
        let mut uring = Uring::new(now)?;
        if let Some(share) = share {
            uring.allow_gathering(share);
        }
        Ok(Self::Uring(Box::new(uring)))
    }

    /// Its name, for the report.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Reactor(_) => Reactor::backend(),
            Self::Uring(_) => Uring::BACKEND,
        }
    }

    pub(crate) fn set_resolver(&mut self, resolver: Arc<Resolver>) {
        match self {
            Self::Reactor(reactor) => reactor.set_resolver(resolver),
            Self::Uring(uring) => uring.set_resolver(resolver),
        }
    }

    pub(crate) fn waker(&self) -> Waker {
        match self {
            Self::Reactor(reactor) => reactor.waker(),
            Self::Uring(uring) => uring.waker(),
        }
    }

    /// Counts time from `start` from now on.
    pub(crate) fn set_start(&mut self, start: Instant) {
        match self {
            Self::Reactor(reactor) => reactor.set_start(start),
            Self::Uring(uring) => uring.set_start(start),
        }
    }
}

#[cfg(test)]
mod tests {
    use workload::VuFactory;
    use workload::arrival::{Rate, Shape};

    use super::*;

    fn check(choice: IoChoice, load: &Load, io: &str) {
        let settings = Settings { io: choice, ..Settings::default() };
        let machines = WorkerIo::several(2, &settings, load).expect("this system has both");
        assert_eq!(machines.len(), 2);
        assert!(machines.iter().all(|machine| machine.name() == io), "{choice:?} {load:?}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_one_that_costs_less_is_taken() {
        let shape = Shape::constant(Rate::per_second(50));
        let open = Load::Open { shape, max_in_flight: None };
        let closed = |users| Load::Closed { users };
        check(IoChoice::Auto, &open, "epoll");
        check(IoChoice::Auto, &closed(191), "epoll");
        check(IoChoice::Auto, &closed(192), "io_uring");
        check(IoChoice::Reactor, &closed(192), "epoll");
        check(IoChoice::Uring, &open, "io_uring");
        let make = |_| -> Box<dyn workload::VirtualUsers> { unreachable!("nobody is made here") };
        let deciding = |users| Load::Users(VuFactory { users, make: Arc::new(make) });
        check(IoChoice::Auto, &deciding(7), "epoll");
        check(IoChoice::Auto, &deciding(8), "io_uring");
        check(IoChoice::Reactor, &deciding(8), "epoll");
    }
}
