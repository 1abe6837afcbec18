//! The laws, what each says of a load, and a fitted value with its interval. It fits nothing.

use super::Usl;
use crate::queueing::{Closed, Mgc, Mmc};
use crate::seek::By;

/// Which law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A closed network: a server of several workers, and a delay.
    Closed,
    /// M/M/c.
    Mmc,
    /// M/G/c.
    Mgc,
    /// The Universal Scalability Law.
    Usl,
}

/// A law with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Model {
    /// A closed network.
    Closed(Closed),
    /// An open server; M/M/c is the one of variability 1.
    Open(Mgc),
    /// The Universal Scalability Law.
    Usl(Usl),
}

/// A value and its 95 % interval, where there were measurements enough for one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// The interval.
    pub interval: Option<(f64, f64)>,
}

impl Kind {
    /// Its name, which is never changed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Mmc => "mmc",
            Self::Mgc => "mgc",
            Self::Usl => "usl",
        }
    }

    /// The kind of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// All of them.
    pub const ALL: [Self; 4] = [Self::Closed, Self::Mmc, Self::Mgc, Self::Usl];

    /// Those for this kind of load.
    #[must_use]
    pub fn of(by: By) -> [Self; 2] {
        match by {
            By::Connections => [Self::Closed, Self::Usl],
            By::Rate => [Self::Mmc, Self::Mgc],
        }
    }

    /// The fewest different loads it can be fitted to.
    pub(super) const fn loads_min(self) -> usize {
        match self {
            Self::Closed | Self::Mmc => 2,
            Self::Mgc | Self::Usl => 4,
        }
    }
}

impl Model {
    /// The server in it; `None` where a law has no workers.
    pub(super) const fn server(&self) -> Option<Mmc> {
        match self {
            Self::Closed(closed) => Some(closed.server),
            Self::Open(open) => Some(open.server),
            Self::Usl(_) => None,
        }
    }

    /// Answers per second at a load, with `think_s` between a user's hits; an open loop's rate as far as it can be met.
    #[must_use]
    pub fn throughput_per_s(&self, load: f64, think_s: f64) -> f64 {
        match self {
            Self::Closed(closed) => {
                Closed { delay_s: closed.delay_s + think_s, ..*closed }.throughput_per_s(load)
            }
            Self::Open(server) => load.min(server.server.capacity_per_s()),
            Self::Usl(usl) => usl.throughput_per_s(load),
        }
    }

    /// Mean response time in seconds at a load; infinite where the rate of an open loop exceeds the capacity.
    #[must_use]
    pub fn mean_s(&self, load: f64, think_s: f64) -> f64 {
        match self {
            Self::Open(server) => server.mean_response_s(load),
            // Little's law.
            _ => (load / self.throughput_per_s(load, think_s) - think_s).max(0.0),
        }
    }

    /// The most it can do per second, at whatever load; for the Universal Scalability Law that of its peak, if there is one.
    #[must_use]
    pub fn capacity_per_s(&self) -> Option<f64> {
        match self {
            Self::Closed(closed) => Some(closed.server.capacity_per_s()),
            Self::Open(server) => Some(server.server.capacity_per_s()),
            Self::Usl(usl) => usl.capacity_per_s(),
        }
    }

    /// Busy workers as a share, by the utilisation law `U = X s / c`; `None` where a law has no workers.
    #[must_use]
    pub fn utilisation(&self, throughput_per_s: f64) -> Option<f64> {
        match self {
            Self::Usl(_) => None,
            _ => self.capacity_per_s().map(|capacity| throughput_per_s / capacity),
        }
    }
}
