//! `Gathering`: whether a worker's waits gather answers, and how many. To wake up costs more than a request, so a wait that gathers
//! saves CPU; but an early answer is then seen late. Where the server is the bottleneck that changes no latency: what is not
//! waited for here is waited for in the server's queue. Where it is not, it does. Which of the two holds is found by trying:
//!
//! ```text
//!          a probe is due            8 pairs without loss
//! Closed ────────────────▶ Probing ───────────────────────▶ Open
//!    ▲                        │ loss: the next one is due        │ loss: the next one is due
//!    └────────────────────────┘ after twice as long              │ in the next cycle
//!    └───────────────────────────────────────────────────────────┘
//! ```
//!
//! Time is divided into stretches on a grid, so that all workers do the same at the same time without sharing anything: what one
//! of them leaves to the server's others would otherwise seem to be its loss. It has no clock and no sockets: it is given `now`,
//! and answers. docs/design/io-uring.md has the reasons and what was measured.

mod costs;
mod stretch;
#[cfg(test)]
mod tests;

use net::WaitLimits;
use stdx::{Distribution, Nanos};
use workload::{Load, Plan};

use self::costs::{Cost, Costs, PAIRS};
use self::stretch::{Measure, Stretch};
use crate::settings::{IoChoice, Settings};

/// The window is at most one in so many of a round trip, and so many of the hits under way are waited for. Where the larger window
/// does nothing but make the slowest answers slower, the smaller one is tried.
const SHARES: [u32; 3] = [2, 4, 8];
/// The longest window.
const WINDOW_MAX: Nanos = Nanos::from_millis(4);
/// Hits under way below which nothing is gathered.
const UNDER_WAY_MIN: u32 = 16;
/// The shortest stretch. Longer ones are this times a power of two.
const STRETCH_MIN: Nanos = Nanos::from_millis(20);
/// A stretch is to have room for so many round trips, of which the first ones still see what was before.
const ROUND_TRIPS: u64 = 16;
const SETTLING: u64 = 2;
/// Answers in the shortest stretch without which it says nothing: where fewer come, ten a millisecond, to gather them would save
/// nothing either.
const ANSWERS_MIN: u64 = 200;
/// Stretches of a cycle: the first is without the window, to check it; the last ones are a probe's.
const CYCLE: u64 = 20;
const PROBE: u64 = 2 * PAIRS as u64;
/// Pairs of a probe without which it says nothing.
const PAIRS_MIN: usize = 6;
/// In which of four stretches of a probe the window is open. So a drift adds to one pair what it takes from the next.
const PROBE_OPEN: [bool; 4] = [false, true, true, false];
/// Cycles between two probes, at most, as a power of two.
const BACKOFF_MAX: u32 = 6;
/// What the window may cost, by the median of several pairs, for it to be opened.
const OPENS: Cost = Cost { rate: 0.01, p50: 0.015, p99: 0.04 };
/// The same for it to stay open: what is about as good as its limit is not to go to and fro.
const STAYS: Cost = Cost { rate: 0.02, p50: 0.02, p99: 0.06 };
/// The same of few pairs, and how many are few.
const FEW: Cost = Cost { rate: 0.04, p50: 0.03, p99: 0.25 };
const FEW_PAIRS: usize = 3;
/// What it may not cost in a single stretch, both at once: where the machine stood still the rate alone falls.
const CLEAR: Cost = Cost { rate: 0.22, p50: 0.0, p99: f64::MAX };
/// How many times as long the median of a stretch may be as without the window, at any time in it.
const SLOW: f64 = 1.12;

/// Whether the waits of one worker gather answers.
#[derive(Debug)]
pub(crate) struct Gathering {
    state: State,
    /// Waits gather now.
    is_open: bool,
    stretch: Stretch,
    /// How long each stretch is.
    length: Nanos,
    /// The present stretch, counted from the start of the run, and when it ends.
    index: u64,
    ends: Nanos,
    /// The service time of late, as a moving mean.
    round_trip: Nanos,
    /// The last stretch, and whether the window was open in it.
    before: Option<(bool, Measure)>,
    /// The last stretch without the window, and the medians of the last ones: those of a machine that does other things as well
    /// differ.
    closed: Option<Measure>,
    closed_p50: [Nanos; 3],
    costs: Costs,
    /// Which of the shares is tried, or used.
    share: usize,
    /// A probe is due in each cycle whose number is a multiple of two to this power.
    backoff: u32,
    /// The window is closed for a stretch since answers became slow.
    is_suspect: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// This run's waits never gather.
    Never,
    /// Until a probe is due.
    Closed,
    /// Stretches with and without the window take turns.
    Probing,
    Open,
}

impl Gathering {
    /// For a run whose waits never gather.
    pub(crate) fn never() -> Self {
        Self {
            state: State::Never,
            is_open: false,
            stretch: Stretch::default(),
            length: STRETCH_MIN,
            index: 0,
            ends: STRETCH_MIN,
            round_trip: Nanos::ZERO,
            before: None,
            closed: None,
            closed_p50: [Nanos::ZERO; 3],
            costs: Costs::default(),
            share: 0,
            backoff: 0,
            is_suspect: false,
        }
    }

    /// Whether a run's answers may be gathered: where `io_uring` was asked for, those of a closed loop over HTTP/1.1 whose connections are kept alive and have one request
    /// under way each, and where no time passes between an answer and the next request.
    pub(crate) fn suits(plan: &Plan, settings: &Settings) -> bool {
        settings.io == IoChoice::Uring
            && matches!(plan.load, Load::Closed { .. })
            && matches!(plan.think, Distribution::None)
            && settings.keepalive
            && settings.pipeline <= 1
    }

    /// For a closed loop of which each connection has one request under way at most, and no time passes between an answer and the
    /// next request.
    pub(crate) fn new() -> Self {
        Self { state: State::Closed, stretch: Stretch::new(), ..Self::never() }
    }

    /// From now on nothing is gathered: the run is not as it was taken to be.
    pub(crate) fn end(&mut self) {
        (self.state, self.is_open) = (State::Never, false);
    }

    /// Whether the answers that are read now were gathered.
    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// An answer was read, so long after its request was sent.
    pub(crate) fn count(&mut self, service: Nanos) {
        match self.state {
            State::Never => (),
            State::Closed => self.average(service),
            State::Probing | State::Open => {
                self.average(service);
                self.stretch.count(service);
            }
        }
    }

    fn average(&mut self, service: Nanos) {
        let (old, new) = (self.round_trip.0, service.0);
        self.round_trip = Nanos(if old == 0 { new } else { old - old / 64 + new / 64 });
    }

    /// How the loop is to wait at `now`, while so many hits are under way.
    pub(crate) fn wait_limits(&mut self, now: Nanos, under_way: u32) -> WaitLimits {
        if self.state == State::Never {
            return WaitLimits::AT_ONCE;
        }
        if now >= self.ends {
            self.end_stretch(now);
        }
        self.stretch.wait(now);
        let least = ANSWERS_MIN.max(2 * u64::from(under_way));
        if self.is_open && (under_way < UNDER_WAY_MIN || self.stretch.is_slow(least)) {
            self.close(now, under_way);
        }
        if !self.is_open {
            return WaitLimits::AT_ONCE;
        }
        let round_trip = self.closed.map_or(Nanos::ZERO, |measure| measure.p50);
        let share = SHARES[self.share];
        let window = WINDOW_MAX.min(round_trip * 3 / (2 * u64::from(share)));
        WaitLimits { want: under_way / share, window }
    }

    /// A stretch is over; another one begins.
    fn end_stretch(&mut self, now: Nanos) {
        let least = ANSWERS_MIN * (self.length.0 / STRETCH_MIN.0);
        // One in which the loop stood still is compared with none.
        let stood_still = now >= self.ends + self.length;
        let measure = self.stretch.measure(now, least).filter(|_| !stood_still);
        match self.state {
            State::Never | State::Closed => {}
            State::Probing if stood_still => self.shut(),
            State::Open if stood_still => {}
            State::Probing => self.end_probing(measure),
            State::Open => self.end_open(measure),
        }
        self.before = measure.map(|measure| (self.is_open, measure));
        if let Some(closed) = measure.filter(|_| !self.is_open) {
            self.closed = Some(closed);
            self.closed_p50.rotate_right(1);
            self.closed_p50[0] = closed.p50;
        }
        self.begin_stretch(now);
    }

    /// A stretch of a probe is over.
    fn end_probing(&mut self, measure: Option<Measure>) {
        let Some(measure) = measure else { return self.fail_probe() };
        if self.index % 2 == 1
            && let Some(cost) = self.pair(measure)
        {
            self.costs.push(cost);
            if let Some(cost) = self.costs.median(PAIRS, FEW_PAIRS)
                && !cost.is_within(FEW)
            {
                return self.refuse(cost, FEW);
            }
        }
        if self.index % CYCLE == CYCLE - 1 {
            match self.costs.median(PAIRS, PAIRS_MIN) {
                Some(cost) if cost.is_within(OPENS) => {
                    (self.state, self.backoff) = (State::Open, 0);
                }
                Some(cost) => self.refuse(cost, OPENS),
                None => self.fail_probe(),
            }
        }
    }

    /// The window costs more than this limit. Where only the slowest answers become slower the server is the bottleneck, and the window
    /// is too long: a shorter one is tried in the next cycle.
    fn refuse(&mut self, cost: Cost, limit: Cost) {
        let is_too_long = cost.is_within(Cost { p99: f64::MAX, ..limit });
        if is_too_long && self.share + 1 < SHARES.len() {
            (self.state, self.share) = (State::Closed, self.share + 1);
        } else {
            self.fail_probe();
        }
    }

    fn fail_probe(&mut self) {
        self.shut();
        self.backoff = (self.backoff + 1).min(BACKOFF_MAX);
    }

    /// The next probe begins with the largest share.
    fn shut(&mut self) {
        (self.state, self.share, self.is_suspect) = (State::Closed, 0, false);
    }

    /// A stretch is over, of those that have the window open but for the checks.
    fn end_open(&mut self, measure: Option<Measure>) {
        // Where answers no longer come in numbers there is nothing to gather.
        let Some(measure) = measure else { return self.shut() };
        if self.is_open {
            let cost = self.closed.map(|closed| Cost::of(measure, closed));
            if cost.is_some_and(|cost| cost.rate > CLEAR.rate && cost.p50 > CLEAR.p50) {
                self.shut();
            }
            return;
        }
        let is_suspect = std::mem::take(&mut self.is_suspect);
        let Some(cost) = self.pair(measure) else { return };
        self.costs.push(cost);
        let all = self.costs.median(PAIRS, PAIRS_MIN);
        let few = self.costs.median(FEW_PAIRS, FEW_PAIRS);
        let stays = all.is_none_or(|cost| cost.is_within(STAYS))
            && few.is_none_or(|cost| cost.is_within(FEW))
            && (!is_suspect || cost.is_within(FEW));
        if !stays {
            self.shut();
        }
    }

    /// What the window costs by this stretch and the one before, of which one had it open.
    fn pair(&self, measure: Measure) -> Option<Cost> {
        let (was_open, before) = self.before?;
        match (was_open, self.is_open) {
            (true, false) => Some(Cost::of(before, measure)),
            (false, true) => Some(Cost::of(measure, before)),
            _ => None,
        }
    }

    /// The window seems to cost too much: it is closed at once. Where it had proved to cost nothing, a stretch without it shows
    /// whether it is the window or the server that is slow.
    #[cold]
    fn close(&mut self, now: Nanos, under_way: u32) {
        match (self.state, self.stretch.measure(now, 1)) {
            (State::Open, Some(measure)) if under_way >= UNDER_WAY_MIN => {
                (self.is_suspect, self.is_open) = (true, false);
                self.before = Some((true, measure));
                // The rest of this stretch and all of the next one.
                self.index += 1;
                self.ends += self.length;
                self.restart_stretch(now, SETTLING);
                return;
            }
            (State::Probing, _) => self.fail_probe(),
            _ => self.shut(),
        }
        self.begin_stretch(now);
    }

    /// Begins the stretch that `now` lies in.
    fn begin_stretch(&mut self, now: Nanos) {
        if self.state == State::Closed {
            self.length = length_for(self.round_trip);
        }
        self.index = now.0 / self.length.0;
        self.ends = self.length * (self.index + 1);
        let (cycle, place) = (self.index / CYCLE, self.index % CYCLE);
        let is_due = place == CYCLE - PROBE && cycle.is_multiple_of(1 << self.backoff);
        if self.state == State::Closed && is_due && self.round_trip > Nanos::ZERO {
            self.state = State::Probing;
            self.costs.clear();
            self.closed = None;
            self.closed_p50 = [Nanos::ZERO; 3];
        }
        let was_open = self.is_open;
        self.is_open = match self.state {
            State::Never | State::Closed => false,
            State::Probing => PROBE_OPEN[(self.index % 4) as usize],
            State::Open => place != 0,
        };
        self.restart_stretch(now, if was_open == self.is_open { 0 } else { SETTLING });
    }

    /// Counts anew, after so many round trips.
    fn restart_stretch(&mut self, now: Nanos, settling: u64) {
        let longest = self.closed_p50.into_iter().fold(Nanos::ZERO, Nanos::max);
        let slow_from = if longest == Nanos::ZERO { Nanos::MAX } else { slow_from(longest) };
        self.stretch.restart(now.saturating_add(self.round_trip * settling), slow_from);
    }
}

/// Service times beyond which a median is clearly longer than this one.
fn slow_from(p50: Nanos) -> Nanos {
    Nanos((p50.0 as f64 * SLOW) as u64)
}

/// How long stretches are where an answer takes so long.
fn length_for(round_trip: Nanos) -> Nanos {
    let times = (round_trip * ROUND_TRIPS).0.div_ceil(STRETCH_MIN.0).max(1);
    STRETCH_MIN * times.next_power_of_two()
}
