//! `propose`: the next step of a search, or its end, from the steps so far. It runs nothing and remembers nothing.

use super::pace::{self, Purpose};
use super::search::{Answer, BRACKET, By, Next, Search, SearchOutcome, StopReason};
use super::{
    Estimate, Floor, Judgement, Level, Steadiness, Step, capacity, fit, floor, level, levels,
};

/// From one load of the climb to the next.
pub const GROWTH: f64 = 2.0;
/// Steps in a row that the generator spoilt, after which it is taken for the limit.
pub const SPOILT_MAX: usize = 3;
/// The same once a load that missed the objective was offered without fault.
pub const DISTURBED_MAX: usize = 10;
/// Where the limit of a queue is likely, as a share of what it can do.
const BELOW_CAPACITY: f64 = 0.9;
/// So many long steps near the limit make short ones superfluous.
const LONG_MIN: usize = 3;
/// Steps near the limit without which no interval is narrow enough.
pub(super) const REFINED_MIN: usize = 10;
/// How far from the limit, as known, steps are put in turn, as factors: at it for its place, beside it for the slope.
const OFFSETS: [f64; 4] = [1.0, 1.03, 1.0, 0.97];

/// What comes after these steps.
#[must_use]
pub fn propose(search: &Search, steps: &[Step]) -> Next {
    let levels = levels(&search.objective, steps);
    let spoilt = steps.iter().rev().take_while(|step| step.spoilt.is_some()).count();
    let spoilt_max = match limit(&levels) {
        // Higher loads were offered without fault: something else disturbs this machine, and may pass.
        Limit::Between(..) => DISTURBED_MAX,
        // There is time to see whether it passes.
        _ if search.budget.is_some_and(|budget| 2 * pace::spent(steps).0 < budget.0) => {
            DISTURBED_MAX
        }
        _ => SPOILT_MAX,
    };
    if spoilt >= spoilt_max {
        return Next::Done(outcome(search, steps, StopReason::Generator));
    }
    let (load, purpose) = match place(search, steps, &levels) {
        Place::At(load) => (load, Purpose::Probe),
        Place::End(stop_reason) => return Next::Done(outcome(search, steps, stop_reason)),
        Place::NearLimit => match refine(search, steps, &levels) {
            Ok(run) => run,
            Err(stop_reason) => return Next::Done(outcome(search, steps, stop_reason)),
        },
    };
    if steps.len() >= search.steps_max {
        return Next::Done(outcome(search, steps, StopReason::StepsUsed));
    }
    match pace::trial(search, steps, load, purpose) {
        Some(trial) => Next::Run(trial),
        None => Next::Done(outcome(search, steps, StopReason::BudgetUsed)),
    }
}

/// What is known after these steps, whether or not they are enough.
#[must_use]
pub fn outcome(search: &Search, steps: &[Step], stop_reason: StopReason) -> SearchOutcome {
    let levels = levels(&search.objective, steps);
    let settled = |estimate: Estimate| Answer {
        load: search.by.settled(estimate.load),
        low: search.by.settled(estimate.low),
        high: Some(search.by.settled(estimate.high)),
    };
    let floor = floor_of(search, steps);
    let answer = match limit(&levels) {
        Limit::Below => None,
        _ if floor.is_some_and(Floor::is_missed) => None,
        Limit::Between(..) => estimate(search, steps, &levels).map(|estimate| {
            let wide = steadiness(search, steps).unwrap_or_default().widened(estimate);
            let open = floor.filter(|floor| floor.is_open());
            settled(open.map_or(wide, |floor| Estimate {
                low: search.from.min(wide.low),
                high: wide.high.max(floor.loads[1]),
                ..wide
            }))
        }),
        Limit::Above(_) => {
            let highest_met = levels.iter().rfind(|level| level.judgement.is_met());
            highest_met.map(|level| Answer { load: level.load, low: level.load, high: None })
        }
    };
    SearchOutcome { stop_reason, answer }
}

/// What is wrong far below the limit that these steps give; of an objective that was missed at no load or at all, far below the
/// highest one.
#[must_use]
pub fn floor_of(search: &Search, steps: &[Step]) -> Option<Floor> {
    let levels = levels(&search.objective, steps);
    let limit = estimate(search, steps, &levels).map(|estimate| estimate.load);
    floor::below(&search.objective, steps, limit.or(levels.last().map(|level| level.load))?)
}

/// The place of the next step.
enum Place {
    At(f64),
    NearLimit,
    End(StopReason),
}

fn place(search: &Search, steps: &[Step], levels: &[Level]) -> Place {
    let lowest = search.by.offered(search.from);
    if let Some(open) = levels.iter().find(|level| level.judgement == Judgement::Open)
        && is_coarse(search, levels)
    {
        return Place::At(open.load);
    }
    let limit = limit(levels);
    if let (Limit::Below | Limit::Between(..), Some(next)) = (&limit, higher(search, steps, levels))
    {
        return Place::At(next);
    }
    let (low, high) = match limit {
        Limit::Below => return below_all(search, levels, lowest),
        Limit::Above(None) => return Place::At(lowest),
        Limit::Above(Some(top)) => {
            let next = search.by.offered(search.to.unwrap_or(f64::MAX).min(top * GROWTH));
            return if next > top { Place::At(next) } else { Place::End(StopReason::HighestMet) };
        }
        Limit::Between(low, high) => (low, high),
    };
    if is_narrow_bracket(search, (low, high)) {
        // All that follows lies below it, so that it missed the objective must be no hiccup.
        let once = levels.iter().any(|level| level.load == high && level.runs == 1);
        let is_probe = |step: &Step| search.probe == 1.0 || !pace::is_long(search, step);
        let probed = steps.iter().filter(|step| step.load == high).all(is_probe);
        if once && probed { Place::At(high) } else { Place::NearLimit }
    } else {
        Place::At(middle(search, steps, (low, high)))
    }
}

/// The next load of the climb, where no step shows that the highest load so far is too high for the server: a load is missed by
/// chance as well.
fn higher(search: &Search, steps: &[Step], levels: &[Level]) -> Option<f64> {
    let top = levels.last()?;
    let mut at_top = steps.iter().filter(|step| step.spoilt.is_none() && step.load == top.load);
    let is_beyond = at_top.any(|step| {
        level::is_beyond(&search.objective, step) || capacity::is_exceeded(search, step)
    });
    let next = search.by.offered(search.to.unwrap_or(f64::MAX).min(top.load * GROWTH));
    // The lowest load is tried up to three times before anything else.
    let is_first = levels.len() == 1 && top.runs < level::RUNS_MAX;
    (!is_beyond && !is_first && next > top.load).then_some(next)
}

/// The load that halves the bracket; less where the server was seen to do no more than that, since the limit lies below.
fn middle(search: &Search, steps: &[Step], (low, high): (f64, f64)) -> f64 {
    let middle = (low * high).sqrt();
    let below =
        capacity::seen(search, steps).map_or(middle, |most| (BELOW_CAPACITY * most).min(middle));
    search.by.offered(if below >= low * BRACKET.sqrt() { below } else { middle })
}

/// The lowest load missed the objective. Once may be a hiccup of the machine, so two of up to three runs must.
fn below_all(search: &Search, levels: &[Level], lowest: f64) -> Place {
    match levels.first() {
        Some(level) if level.missed > 1 => Place::End(StopReason::LowestMissed),
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
/// and neither must decide the search. Of equal cuts the highest, since later steps will decide.
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
pub(super) fn estimate(search: &Search, steps: &[Step], levels: &[Level]) -> Option<Estimate> {
    let Limit::Between(low, high) = limit(levels) else { return None };
    let valid = steps.iter().filter(|step| step.spoilt.is_none());
    let (long, short): (Vec<&Step>, Vec<&Step>) =
        valid.partition(|step| pace::is_long(search, step));
    let most = capacity::bound(search, steps).unwrap_or(f64::INFINITY);
    let steepness = floor::steepness(&search.objective, steps, (low * high).sqrt());
    let place = fit::Place { bracket: (low, high), most, steepness };
    let of = |steps: &[&Step]| fit::estimate(&search.objective, steps, place);
    // In a short step a queue that begins empty has not built up: where there are long ones it is left out.
    match of(&long) {
        Some(estimate) if estimate.steps >= LONG_MIN => Some(estimate),
        _ => of(&[long, short].concat()),
    }
}

/// Whether the server was the same one during these steps; `None` as long as no limit was seen.
#[must_use]
pub fn steadiness(search: &Search, steps: &[Step]) -> Option<Steadiness> {
    let levels = levels(&search.objective, steps);
    let estimate = estimate(search, steps, &levels)?;
    Some(Steadiness::of(search, steps, &estimate))
}

/// The next step near the limit, or why there is none: it is known well enough, or as well as steps that contradict each other
/// allow.
fn refine(search: &Search, steps: &[Step], levels: &[Level]) -> Result<(f64, Purpose), StopReason> {
    let Some(estimate) = estimate(search, steps, levels) else { return Err(StopReason::Found) };
    let steadiness = steadiness(search, steps).unwrap_or_default();
    if let Some(load) = steadiness.doubtful() {
        return Ok((load, Purpose::Probe));
    }
    if estimate.steps >= REFINED_MIN && is_narrow(search, &estimate) {
        let wide = steadiness.widened(estimate);
        return Err(if is_narrow(search, &wide) {
            StopReason::Found
        } else {
            StopReason::Contradiction
        });
    }
    Ok((beside(search, steps, &estimate), Purpose::Refine))
}

/// The load of the next step near the limit: at it and beside it in turn.
fn beside(search: &Search, steps: &[Step], estimate: &Estimate) -> f64 {
    // An INVALID step is repeated, not followed.
    let valid = steps.iter().filter(|step| step.spoilt.is_none()).count();
    let offset = OFFSETS[valid % OFFSETS.len()];
    let load = estimate.load * offset;
    let load = match search.by {
        By::Rate => load,
        // A few hundredths of a few connections round to the same number: then its neighbours.
        By::Connections if offset > 1.0 => load.max(estimate.load + 1.0),
        By::Connections if offset < 1.0 => load.min(estimate.load - 1.0),
        By::Connections => load,
    };
    search.by.offered(load.clamp(search.from, search.to.unwrap_or(f64::MAX)))
}

fn is_narrow(search: &Search, estimate: &Estimate) -> bool {
    let whole = search.by == By::Connections
        && search.by.settled(estimate.low) == search.by.settled(estimate.high);
    whole || (estimate.high - estimate.low) / 2.0 <= search.precision * estimate.load
}
