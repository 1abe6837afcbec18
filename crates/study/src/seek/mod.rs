//! The search for the highest load that meets an objective.
//!
//! [`propose`] looks at what is searched and at the steps so far, and says what comes next. It remembers nothing, so a search
//! that was interrupted goes on from its steps. It has three phases:
//!
//! 1. *Climb*: from the lowest load, each twice the last, until the objective is missed.
//! 2. *Bisect*: halve what lies between the highest load that met it and the lowest that missed it, until they are
//!    [`BRACKET`] apart. A load near the limit is judged from up to [`level::RUNS_MAX`] runs.
//! 3. *Refine*: steps around the limit as it is known so far (see [`fit`]), until its interval is as narrow as asked for.

pub mod fit;
pub mod level;
mod meter;
mod step;

use metrics::Objective;
use stdx::Nanos;

pub use fit::Estimate;
pub use level::{Judgement, Level, levels};
pub use meter::Meter;
pub use step::{Step, knee};

/// From one load of the climb to the next.
pub const GROWTH: f64 = 2.0;
/// Bisection ends where the bracket's ends are no more than this factor apart.
pub const BRACKET: f64 = 1.1;
/// Steps in a row that the generator spoilt, after which it is taken for the limit.
pub const SPOILT_MAX: usize = 3;
/// The same once a load that missed the objective was offered without fault.
pub const DISTURBED_MAX: usize = 10;
/// Steps near the limit without which no interval is narrow enough.
const REFINED_MIN: usize = 10;
/// How far from the limit, as known, steps are put in turn, as factors: at it for its place, beside it for the slope.
const OFFSETS: [f64; 4] = [1.0, 1.03, 1.0, 0.97];
/// So many times the hits that the objective needs, since arrivals at random and a longer warm-up leave fewer than planned.
const SPARE: f64 = 1.25;
/// A step is made longer, up to so many times, where the objective needs more hits to be judged.
const LONGER_MAX: f64 = 4.0;

/// What is searched, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// What the server must keep. Its conditions are ceilings.
    pub objective: Objective,
    /// What is raised until it does not.
    pub by: By,
    /// The lowest load; above 0.
    pub from: f64,
    /// The highest load, if any; at least `from`.
    pub to: Option<f64>,
    /// How long a step is measured, without its warm-up.
    pub step: Nanos,
    /// Half the width of the answer's interval, as a share of the answer, at which the search ends.
    pub precision: f64,
    /// Steps at most.
    pub steps_max: usize,
}

/// What is raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Hits per second of an open loop.
    Rate,
    /// Connections of a closed loop; whole numbers.
    Connections,
}

/// A step to run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// Hits per second, or connections.
    pub load: f64,
    /// How long it is measured, after its warm-up.
    pub measure: Nanos,
}

/// What comes next.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Run this and add the step.
    Run(Trial),
    /// There is no more to do.
    Done(Outcome),
}

/// What the search found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Why it ended.
    pub ended: Ended,
    /// The limit; `None` where no load was seen to meet the objective.
    pub answer: Option<Answer>,
}

/// The limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// The highest load that meets the objective, as far as is known.
    pub load: f64,
    /// It is above this, with 97.5 %.
    pub low: f64,
    /// It is below this, with 97.5 %. `None` where no load missed the objective: it lies at `load` or anywhere above.
    pub high: Option<f64>,
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The interval is as narrow as asked for.
    Found,
    /// The steps are used up; the interval is wider than asked for.
    StepsUsed,
    /// The objective is missed at the lowest load.
    LowestMissed,
    /// The highest load allowed meets it.
    HighestMet,
    /// The generator could not offer more.
    Generator,
    /// The user ended it.
    Interrupted,
}

impl Ended {
    /// Its name in documents; never changed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::StepsUsed => "steps used",
            Self::LowestMissed => "lowest load missed",
            Self::HighestMet => "highest load met",
            Self::Generator => "generator",
            Self::Interrupted => "interrupted",
        }
    }
}

/// What comes after these steps.
#[must_use]
pub fn propose(search: &Search, steps: &[Step]) -> Next {
    let levels = levels(&search.objective, steps);
    let spoilt = steps.iter().rev().take_while(|step| step.spoilt.is_some()).count();
    let spoilt_max = match limit(&levels) {
        // Higher loads were offered without fault: something else disturbs this machine, and may pass.
        Limit::Between(..) => DISTURBED_MAX,
        _ => SPOILT_MAX,
    };
    if spoilt >= spoilt_max {
        return Next::Done(outcome(search, steps, Ended::Generator));
    }
    let load = match place(search, &levels) {
        Place::At(load) => load,
        Place::End(ended) => return Next::Done(outcome(search, steps, ended)),
        Place::NearLimit => match refine(search, steps, &levels) {
            Some(load) => load,
            None => return Next::Done(outcome(search, steps, Ended::Found)),
        },
    };
    if steps.len() >= search.steps_max {
        return Next::Done(outcome(search, steps, Ended::StepsUsed));
    }
    Next::Run(Trial { load, measure: measure(search, steps, load) })
}

/// What is known after these steps, whether or not they are enough.
#[must_use]
pub fn outcome(search: &Search, steps: &[Step], ended: Ended) -> Outcome {
    let levels = levels(&search.objective, steps);
    let settled = |estimate: Estimate| Answer {
        load: search.by.settled(estimate.load),
        low: search.by.settled(estimate.low),
        high: Some(search.by.settled(estimate.high)),
    };
    let answer = match limit(&levels) {
        Limit::Below => None,
        Limit::Between(..) => estimate(search, steps, &levels).map(settled),
        Limit::Above(_) => {
            let highest_met = levels.iter().rfind(|level| level.judgement.is_met());
            highest_met.map(|level| Answer { load: level.load, low: level.load, high: None })
        }
    };
    Outcome { ended, answer }
}

impl By {
    /// A load that can be offered: connections are whole.
    #[must_use]
    pub fn offered(self, load: f64) -> f64 {
        match self {
            // Thousandths: what is printed, kept and offered is the same number.
            Self::Rate => (load * 1e3).round().max(1.0) / 1e3,
            Self::Connections => load.round().max(1.0),
        }
    }

    /// A limit in whole connections lies below the fraction that was computed.
    fn settled(self, load: f64) -> f64 {
        match self {
            Self::Rate => load,
            Self::Connections => load.floor().max(1.0),
        }
    }
}

/// Where the next step goes.
enum Place {
    At(f64),
    NearLimit,
    End(Ended),
}

fn place(search: &Search, levels: &[Level]) -> Place {
    let lowest = search.by.offered(search.from);
    if let Some(open) = levels.iter().find(|level| level.judgement == Judgement::Open)
        && is_coarse(search, levels)
    {
        return Place::At(open.load);
    }
    let (low, high) = match limit(levels) {
        Limit::Below => return below_all(search, levels, lowest),
        Limit::Above(None) => return Place::At(lowest),
        Limit::Above(Some(top)) => {
            let next = search.by.offered(search.to.unwrap_or(f64::MAX).min(top * GROWTH));
            return if next > top { Place::At(next) } else { Place::End(Ended::HighestMet) };
        }
        Limit::Between(low, high) => (low, high),
    };
    if is_narrow_bracket(search, (low, high)) {
        // All that follows lies below it, so that it missed the objective must be no hiccup.
        let once = levels.iter().any(|level| level.load == high && level.runs == 1);
        if once { Place::At(high) } else { Place::NearLimit }
    } else {
        Place::At(search.by.offered((low * high).sqrt()))
    }
}

/// The lowest load missed the objective. Once may be a hiccup of the machine, so two of up to three runs must.
fn below_all(search: &Search, levels: &[Level], lowest: f64) -> Place {
    match levels.first() {
        Some(level) if level.missed > 1 => Place::End(Ended::LowestMissed),
        Some(level) if level.runs >= level::RUNS_MAX => {
            Place::At(search.by.offered(search.to.unwrap_or(f64::MAX).min(lowest * GROWTH)))
        }
        _ => Place::At(lowest),
    }
}

/// The phases before refining: there is no bracket yet, or it is wide. Later a level that is open is one of many near
/// the limit, and the fit makes of it what there is.
fn is_coarse(search: &Search, levels: &[Level]) -> bool {
    match limit(levels) {
        Limit::Between(low, high) => !is_narrow_bracket(search, (low, high)),
        _ => true,
    }
}

/// Halving a bracket would bring no new load, or none that says more than the fit.
fn is_narrow_bracket(search: &Search, (low, high): (f64, f64)) -> bool {
    let middle = search.by.offered((low * high).sqrt());
    high / low <= BRACKET || middle <= low || middle >= high
}

/// Where the limit lies among the levels.
enum Limit {
    /// Below all of them.
    Below,
    /// Between a load that met the objective and one that missed it.
    Between(f64, f64),
    /// Above all of them; the highest is here, where there is one.
    Above(Option<f64>),
}

/// The cut that contradicts the fewest levels: a load may miss the objective by a hiccup of the machine, or meet it by luck,
/// and neither must decide the search. Of equal cuts the highest, since going on from there will tell.
fn limit(levels: &[Level]) -> Limit {
    let is_missed = |level: &&Level| level.judgement == Judgement::Missed;
    let is_met = |level: &&Level| level.judgement.is_met();
    let against = |cut: &usize| {
        let (below, above) = levels.split_at(*cut);
        below.iter().filter(is_missed).count() + above.iter().filter(is_met).count()
    };
    let cut = (0..=levels.len()).rev().min_by_key(against).unwrap_or(0);
    let (below, above) = levels.split_at(cut);
    match (below.iter().rfind(is_met), above.iter().find(is_missed)) {
        (Some(low), Some(high)) => Limit::Between(low.load, high.load),
        (None, Some(_)) => Limit::Below,
        (low, None) => Limit::Above(low.or(levels.last()).map(|level| level.load)),
    }
}

/// Where the limit is, from the steps around the bracket.
fn estimate(search: &Search, steps: &[Step], levels: &[Level]) -> Option<Estimate> {
    let Limit::Between(low, high) = limit(levels) else { return None };
    let valid: Vec<&Step> = steps.iter().filter(|step| step.spoilt.is_none()).collect();
    fit::estimate(&search.objective, &valid, (low, high))
}

/// The next step near the limit; `None` where it is known well enough.
fn refine(search: &Search, steps: &[Step], levels: &[Level]) -> Option<f64> {
    let estimate = estimate(search, steps, levels)?;
    if estimate.steps >= REFINED_MIN && is_narrow(search, &estimate) {
        return None;
    }
    let offset = OFFSETS[steps.len() % OFFSETS.len()];
    let load = estimate.load * offset;
    let load = match search.by {
        By::Rate => load,
        // A few hundredths of a few connections is none: then its neighbours.
        By::Connections if offset > 1.0 => load.max(estimate.load + 1.0),
        By::Connections if offset < 1.0 => load.min(estimate.load - 1.0),
        By::Connections => load,
    };
    Some(search.by.offered(load.clamp(search.from, search.to.unwrap_or(f64::MAX))))
}

fn is_narrow(search: &Search, estimate: &Estimate) -> bool {
    let whole = search.by == By::Connections
        && search.by.settled(estimate.low) == search.by.settled(estimate.high);
    whole || (estimate.high - estimate.low) / 2.0 <= search.precision * estimate.load
}

/// How long a step is measured, so that three hits may be on the wrong side where the objective is just met (with
/// fewer, none at all would prove nothing: the rule of three).
fn measure(search: &Search, steps: &[Step], load: f64) -> Nanos {
    let rate_per_s = match search.by {
        By::Rate => load,
        By::Connections => steps.last().map_or(0.0, |step| step.achieved_per_s),
    };
    let needed = search.objective.conditions().iter().filter_map(level::hits_needed);
    let seconds = match needed.reduce(f64::max) {
        Some(hits) if rate_per_s > 0.0 => SPARE * hits / rate_per_s,
        _ => 0.0,
    };
    let step = search.step.as_secs_f64();
    Nanos::from_secs_f64(seconds.clamp(step, LONGER_MAX * step))
}

#[cfg(test)]
mod tests;
