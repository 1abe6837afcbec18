//! `Reason`: why figures are not to be believed, in words, and what to do about it. It judges nothing.

use std::fmt;

use stdx::{Nanos, counted, were};

use super::agents::{self, GoodAgents};
use super::late::{LateQuantile, raised_by};

/// Why figures are not to be believed.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// Targets came later than requests were due.
    Targets {
        /// Requests that waited for theirs.
        waited: u64,
        /// Requests that were not sent any more.
        not_sent: u64,
    },
    /// Hits fell due and were never begun.
    NotSent {
        /// How many.
        not_sent: u64,
        /// Of how many.
        planned: u64,
        /// The most that may be under way at once, where hits had to wait for that; 0 where they had not.
        at_once: u64,
    },
    /// Iterations of a script fell due and were never begun, since every virtual user was at work.
    NotBegun {
        /// How many.
        iterations: u64,
    },
    /// Users of a closed loop were never answered, so that the load was that of the others.
    NeverAnswered {
        /// How many.
        users: u64,
        /// Of how many.
        of: u64,
    },
    /// Hits did not start at the planned rate.
    Rate {
        /// Hits per second begun.
        achieved: f64,
        /// The planned hits per second.
        asked: f64,
    },
    /// A closed loop's users sent less than they could, since the generator was late.
    TimeLost {
        /// The share of the users' time.
        share: f64,
    },
    /// The generator stood still for over 100 ms, which raised response quantiles or lowered a closed loop's rate.
    Stalls {
        /// How often.
        times: u64,
        /// The longest time.
        longest: Nanos,
    },
    /// The generator began hits late, or stood still before it read answers, which raised response quantiles beyond
    /// [`LAG_SHARE_MAX`].
    Late {
        /// Each of [`JUDGED`], in that order.
        quantiles: Vec<LateQuantile>,
        /// The generator stood still: service times are affected as well.
        stood_still: bool,
    },
    /// A CPU quota, as that of a container, kept the generator from running, so that it was late.
    Throttled {
        /// How long, over all its processors.
        time: Nanos,
    },
    /// Another process used the CPUs of the generator's machine while it was late.
    Neighbour {
        /// The process, as `node (1234)`.
        name: String,
        /// How many CPUs it used on average.
        cpus: f64,
    },
    /// The generator began hits late; its record has no more than the lag.
    Lag {
        /// 99 of 100 hits began at most so late.
        p99: Nanos,
        /// 99 of 100 hits were answered within this time.
        response_p99: Nanos,
    },
    /// Connections failed for want of file descriptors.
    Descriptors {
        /// How many.
        connections: u64,
    },
    /// Connections failed for want of local ports.
    Ports {
        /// How many.
        connections: u64,
    },
    /// Rows are missing from the stream, since its queue was full.
    RowsDropped {
        /// How many.
        rows: u64,
    },
    /// The stream ends without the generator's last word.
    CutOff,
    /// The reader lost something; its own words.
    Lost(String),
    /// The figures of an agent of the fleet may not be believed.
    Agent {
        /// Its name.
        name: String,
        /// Why not.
        causes: Vec<String>,
        /// What the agents are worth whose figures may be believed; with the last agent alone, and where the sums are good.
        others: Option<GoodAgents>,
    },
    /// A core of the generator was busy all the time, and hits began late.
    Busy {
        /// CPU share of the busiest worker, 0 to 1.
        share: f64,
        /// 99 of 100 hits began at most so late.
        lag_p99: Nanos,
    },
}

impl Reason {
    /// The generator was late, which adds to response times and takes nothing from them.
    #[must_use]
    pub fn is_lateness(&self) -> bool {
        use Reason::{Busy, Lag, Late, Neighbour, Stalls, Throttled, TimeLost};
        matches!(
            self,
            Throttled { .. }
                | Neighbour { .. }
                | Late { .. }
                | Lag { .. }
                | Stalls { .. }
                | TimeLost { .. }
                | Busy { .. }
        )
    }

    /// What a user can do about it; `None` where the reader's own words say it.
    #[must_use]
    pub fn remedy(&self) -> Option<&'static str> {
        match self {
            Self::Targets { .. } => Some(
                "give targets faster than they are sent, or write them to a file and leave out -lazy",
            ),
            Self::NotSent { at_once: 0, .. } => {
                Some("give the generator more cores (-cpus), or ask for a lower rate")
            }
            Self::NotSent { .. } => {
                Some("allow more requests at once (-max-workers), or ask for a lower rate")
            }
            Self::NotBegun { .. } => Some(
                "allow more virtual users (preAllocatedVUs, maxVUs), or ask for fewer iterations a second",
            ),
            Self::NeverAnswered { .. } => Some(
                "see why no more connections are accepted (the server's limits of connections and processes, its listen queue), or use fewer users (-c)",
            ),
            Self::Rate { .. } => {
                Some("give the generator more cores (-cpus), or ask for a lower rate")
            }
            Self::Neighbour { .. }
            | Self::TimeLost { .. }
            | Self::Stalls { .. }
            | Self::Late { .. }
            | Self::Lag { .. } => Some(
                "end what else runs here, give server and generator cores of their own (taskset), or use another machine",
            ),
            Self::Throttled { .. } => Some(
                "raise the CPU quota of the container that brunt runs in, or use another machine",
            ),
            Self::Busy { .. } => Some("give the generator more cores (-cpus), or another machine"),
            Self::Descriptors { .. } => {
                Some("raise the limit of open files (ulimit -n), or use fewer connections")
            }
            Self::Ports { .. } => {
                Some("keep connections open, or send from several addresses (-laddr)")
            }
            Self::RowsDropped { .. } => {
                Some("write the results to a faster disk, or with fewer bodies and headers")
            }
            Self::CutOff => {
                Some("write the results with -output instead of a pipe, and let the run end")
            }
            Self::Agent { .. } => Some("look after that agent, or leave it out of the fleet"),
            Self::Lost(_) => None,
        }
    }
}

impl Reason {
    /// That of a generator that was late, or what made it late.
    fn write_lateness(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimeLost { share } => {
                let percent = share * 100.0;
                write!(
                    f,
                    "the generator cost its users {percent:.1}% of their time, and the rate with it"
                )
            }
            Self::Stalls { times, longest } => {
                let (times, longest) = (counted(*times, "time"), longest.rounded());
                write!(f, "the generator stood still {times} for over 100ms (longest {longest})")
            }
            Self::Late { quantiles, stood_still: true } => {
                f.write_str(&raised_by("late starts and answers read late", quantiles, false))
            }
            Self::Late { quantiles, stood_still: false } => {
                f.write_str(&raised_by("late starts", quantiles, true))
            }
            Self::Throttled { time } => {
                write!(f, "a CPU quota kept the generator from running for {}", time.rounded())
            }
            Self::Neighbour { name, cpus } => {
                write!(f, "the process {name} used {cpus:.1} of this machine's CPUs")
            }
            Self::Lag { p99, response_p99 } => {
                let (p99, response) = (p99.rounded(), response_p99.rounded());
                write!(f, "requests began late: schedule lag p99 {p99}, response p99 {response}")
            }
            Self::Busy { share, lag_p99 } => {
                let (percent, lag) = (share * 100.0, lag_p99.rounded());
                write!(f, "the generator's busiest core was at {percent:.0}% with lag p99 {lag}")
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Targets { waited, not_sent } => {
                let requests = counted(*waited, "request");
                write!(f, "{requests} waited for targets, which came too slowly")?;
                match not_sent {
                    0 => Ok(()),
                    not_sent => write!(f, ", and {not_sent} {} not sent", were(*not_sent)),
                }
            }
            Self::NotSent { not_sent, planned, at_once } => {
                let planned = counted(*planned, "request");
                write!(f, "{not_sent} of {planned} {} not sent", were(*not_sent))?;
                match at_once {
                    0 => Ok(()),
                    most => write!(f, ", since at most {most} may be under way (-max-workers)"),
                }
            }
            Self::NotBegun { iterations } => {
                let due = counted(*iterations, "iteration");
                write!(
                    f,
                    "{due} fell due and {} never begun, since every virtual user was at work",
                    were(*iterations)
                )
            }
            Self::NeverAnswered { users, of } => {
                let of = counted(*of, "user");
                write!(f, "{users} of {of} {} never answered", were(*users))
            }
            Self::Rate { achieved, asked } => {
                write!(f, "the rate was {achieved:.2}/s instead of {asked:.2}/s")
            }
            Self::Descriptors { connections } => {
                write!(f, "no file descriptor was left for {}", counted(*connections, "connection"))
            }
            Self::Ports { connections } => {
                write!(f, "no local port was left for {}", counted(*connections, "connection"))
            }
            Self::RowsDropped { rows } => {
                let (rows, were) = (counted(*rows, "row"), were(*rows));
                write!(f, "{rows} {were} dropped before being written")
            }
            Self::CutOff => f.write_str("the stream was cut off before the generator's last word"),
            Self::Agent { name, causes, others } => agents::write(f, name, causes, *others),
            Self::Lost(what) => f.write_str(what),
            lateness => lateness.write_lateness(f),
        }
    }
}
