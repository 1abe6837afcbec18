//! What the runs at one load say together: a sequential test, one run where it is plain, up to three near the limit.

use metrics::{Condition, Objective};

use super::Step;

/// Runs at one load after which it is judged, however close it is.
pub const RUNS_MAX: usize = 3;
/// One run suffices where a figure is this many times its limit, or its limit this many times the figure.
pub(super) const PLAIN: f64 = 2.0;
/// Hits on the wrong side without which one run misses nothing.
pub(super) const PLAIN_HITS: f64 = 5.0;
/// Hits that may be on the wrong side, without which a clean run proves nothing (95 %): the rule of three.
const PROOF_HITS: f64 = 3.0;

/// The runs at one load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// The load.
    pub load: f64,
    /// How often it was run.
    pub runs: usize,
    /// How many of its runs miss the objective each by itself.
    pub missed: usize,
    /// What its runs say.
    pub judgement: Judgement,
}

/// What runs at one load say of the objective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It is met.
    Met,
    /// Nothing speaks against it, but there were too few hits to prove it.
    Unproven,
    /// It is missed.
    Missed,
    /// Too close: another run is needed.
    Open,
}

/// A share of wrong hits so far on its way from the allowed one to all hits shows that the load is too high, and no more: the length
/// of the step, not the load, decides how far an overload goes. A pause of a second in a step of five is less.
const PLAIN_SHARE: f64 = 0.3;

/// The share of wrong hits from which on a step shows only that its load is too high.
pub(super) fn plain_share(allowed: f64) -> f64 {
    allowed + PLAIN_SHARE * (1.0 - allowed)
}

/// Whether a step misses the objective so plainly that its load is the reason. What a server does now and then at any load (a pause,
/// a collection of garbage) makes a small share of the hits of a step wrong.
pub(super) fn is_beyond(objective: &Objective, step: &Step) -> bool {
    let mut conditions = objective.conditions().iter().zip(&step.figures);
    let misses = |(condition, figure): (&Condition, &f64)| match condition.allowed() {
        None => *figure >= PLAIN * condition.limit,
        Some(allowed) => *figure >= plain_share(tolerated(allowed, step.hits as f64)),
    };
    step.hits == 0 || conditions.any(misses)
}

impl Judgement {
    /// The search takes it for met.
    #[must_use]
    pub fn is_met(self) -> bool {
        matches!(self, Self::Met | Self::Unproven)
    }
}

/// The loads so far in rising order, each with what its valid runs say.
#[must_use]
pub fn levels(objective: &Objective, steps: &[Step]) -> Vec<Level> {
    let mut valid: Vec<&Step> = steps.iter().filter(|step| step.spoilt.is_none()).collect();
    valid.sort_by(|a, b| a.load.total_cmp(&b.load));
    valid.chunk_by(|a, b| a.load == b.load).map(|runs| level(objective, runs)).collect()
}

/// What the runs at one load say. Their sum may miss the objective for the sake of one that a hiccup spoilt: most of them must.
fn level(objective: &Objective, runs: &[&Step]) -> Level {
    let alone = |run: &&&Step| judge_alone(objective, run) == Judgement::Missed;
    let missed = runs.iter().filter(alone).count();
    let judgement = match judge(objective, runs) {
        Judgement::Missed if runs.len() > 1 && 2 * missed <= runs.len() => {
            if runs.len() < RUNS_MAX { Judgement::Open } else { Judgement::Unproven }
        }
        judgement => judgement,
    };
    Level { load: runs[0].load, runs: runs.len(), missed, judgement }
}

/// What runs at one load say of the whole objective.
#[must_use]
pub fn judge(objective: &Objective, runs: &[&Step]) -> Judgement {
    judge_of(objective, runs, RUNS_MAX)
}

/// What one run says of the whole objective, however close it is: never [`Judgement::Open`].
#[must_use]
pub fn judge_alone(objective: &Objective, run: &Step) -> Judgement {
    judge_of(objective, &[run], 1)
}

fn judge_of(objective: &Objective, runs: &[&Step], runs_max: usize) -> Judgement {
    let conditions = objective.conditions().iter().enumerate();
    let judgements: Vec<Judgement> =
        conditions.map(|(at, condition)| judge_one(condition, at, runs, runs_max)).collect();
    let worst = [Judgement::Missed, Judgement::Open, Judgement::Unproven];
    worst.into_iter().find(|one| judgements.contains(one)).unwrap_or(Judgement::Met)
}

fn judge_one(condition: &Condition, at: usize, runs: &[&Step], runs_max: usize) -> Judgement {
    let hits: f64 = runs.iter().map(|run| run.hits as f64).sum();
    if hits == 0.0 {
        // Where nothing was answered, not even with a failure, nothing was met.
        return Judgement::Missed;
    }
    let strain = pooled(condition, at, runs);
    let wrong = match condition.allowed() {
        Some(allowed) => strain * tolerated(allowed, hits) * hits,
        None => f64::INFINITY,
    };
    let plainly_missed = strain >= PLAIN && wrong >= PLAIN_HITS;
    if runs.len() < runs_max && strain > 1.0 / PLAIN && !plainly_missed {
        return Judgement::Open;
    }
    if !condition.is_kept_by(figure(at, runs)) {
        return Judgement::Missed;
    }
    let proven = hits_needed(condition).is_none_or(|needed| hits >= needed);
    if proven { Judgement::Met } else { Judgement::Unproven }
}

/// The figure of all runs together as a multiple of what is allowed: 1 is just at the limit.
fn pooled(condition: &Condition, at: usize, runs: &[&Step]) -> f64 {
    let hits: f64 = runs.iter().map(|run| run.hits as f64).sum();
    figure(at, runs) / limit(condition, hits)
}

/// The figure of all runs together; they have hits.
fn figure(at: usize, runs: &[&Step]) -> f64 {
    let hits: f64 = runs.iter().map(|run| run.hits as f64).sum();
    runs.iter().map(|run| run.figures[at] * run.hits as f64).sum::<f64>() / hits
}

/// What a figure may be: a share of hits, or a time in nanoseconds.
pub(super) fn limit(condition: &Condition, hits: f64) -> f64 {
    condition.allowed().map_or(condition.limit, |allowed| tolerated(allowed, hits))
}

/// The share of wrong hits at which a condition is just met. Where none is allowed at all (`max`, `errors<=0`) that is the
/// share at which half of such runs are clean: ln 2 of a hit.
pub(super) fn tolerated(allowed: f64, hits: f64) -> f64 {
    if allowed > 0.0 { allowed } else { std::f64::consts::LN_2 / hits.max(1.0) }
}

/// Hits without which a clean run proves nothing; `None` where any number does.
#[must_use]
pub fn hits_needed(condition: &Condition) -> Option<f64> {
    condition.allowed().filter(|allowed| *allowed > 0.0).map(|allowed| PROOF_HITS / allowed)
}
