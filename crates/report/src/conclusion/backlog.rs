//! `Backlog`: requests that were due and not yet answered, over a run. It is level in a stable system (Little's law: its mean is
//! the rate of arrivals times the mean response time) and grows by what is asked less what is answered in an overloaded one, in
//! whatever order the server takes its queue. It judges no response times.
//!
//! ```text
//! Timeline, or iterations ──▶ Moments (at most 40 instants) ──▶ line or broken line through the delay ──▶ Trend
//! response times, alike all through the run or not; the backlog that they make ─────────────────┘
//! ```

use metrics::{Cell, IterationCourse, Timeline};

use super::limit::has_used_up;
use super::line::{Line, broken};
use super::load::Load;
use super::moments::{Moment, moments};
use super::onset::Onset;
use super::pause::Pause;
use super::servers::Servers;
use super::steady::{Steady, Waits, is_alike, is_slower};
use super::worked_off::WorkedOff;

/// A backlog that grows by this share of the rate asked, or more, is one that the server does not work off.
pub(super) const GROWTH_MIN: f64 = 0.02;
/// A line through delays that do not wander is known so well: so many times its slope's standard error are below the growth that
/// would be one. By simulation: at 1.1 times the capacity 0.4 % of runs of 20 s pass, of those at 0.8 times 94 %.
const WANDER: f64 = 4.0;
/// A growth below so many requests over a whole run is chance.
const REQUESTS_MIN: f64 = 2.0;
/// The fewest instants: fewer say nothing of a trend.
const MOMENTS_MIN: usize = 8;
/// A backlog that grows by this share of what is due: nothing is answered any more.
const HANGS_MIN: f64 = 0.9;
/// Of the requests due, this share has to be answered within the run, less what is usually under way.
const ANSWERED_MIN: f64 = 0.95;

/// A steady backlog differs from what the run's response times make by less than this share of the last one, and one standard deviation
/// of its number (Poisson). One that grows all through a run ends at more.
const STEADY_SHARE_MAX: f64 = 0.25;

/// Which way a backlog went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Trend {
    /// It stayed level.
    Level,
    /// It grew.
    Growing,
    /// It grew as it does where requests wait as long at the run's start as at its end: the run is short beside its answers, or a
    /// share of its requests is never answered.
    Steady,
    /// Neither is sure.
    #[default]
    Unclear,
}

/// How a run's backlog went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Backlog {
    pub(super) trend: Trend,
    /// By which share of the rate asked it grew.
    pub(super) growth: f64,
    /// Requests that were due and not answered at the last instant.
    pub(super) last: f64,
    /// How long the requests of that moment wait, at the rate asked (s).
    pub(super) delay: f64,
    /// Requests that were due and not answered at a time: means of the first and of the last third of the run.
    pub(super) waiting: [f64; 2],
    /// Since when it grew, where that is not the run's start.
    pub(super) onset: Option<Onset>,
    /// The lowest and the highest rate asked in a twentieth of the run, where the load was not even.
    pub(super) loads: Option<[f64; 2]>,
    /// Enough of what was due was answered within the run.
    pub(super) is_answered: bool,
    pub(super) pause: Option<Pause>,
    /// It grew for a part of the run and was worked off.
    pub(super) worked_off: Option<WorkedOff>,
    /// As many requests were under way all the time: each was sent when another had ended.
    pub(super) is_constant: bool,
}

/// Users of a closed loop, and when their run ended (Unix ns).
#[derive(Clone, Copy, Debug)]
pub(super) struct Users {
    pub(super) count: u64,
    pub(super) end: i64,
}

impl Backlog {
    /// `None` where the run is too short. `earliest` and `latest` are the times (Unix ns) of the first and the last request that
    /// was due.
    pub(super) fn of(
        timeline: &Timeline,
        waits: &Waits<'_>,
        (earliest, latest): (i64, i64),
        load: &Load,
        users: Option<Users>,
    ) -> Option<Self> {
        let cells = timeline.cells().map(|cell| (cell.hits, cell.ended));
        let width = i64::try_from(timeline.width().0).unwrap_or(i64::MAX);
        let moments = moments(cells, (timeline.start(), width), (earliest, latest));
        let settled = settled(timeline, &moments);
        let (trend, growth, knot) = course(&moments, settled)?;
        let steady = Steady::of(timeline, waits);
        let is_uneven = waits.has_timeouts() || settled.iter().any(|moment| moment.rate == 0.0);
        let is_alike = || is_steady(&moments, &steady) && is_alike(timeline);
        let trend = match trend {
            Trend::Growing if is_alike() => Trend::Steady,
            // Too few that time out to matter, or steps at the ends of a gap.
            Trend::Unclear if is_uneven && is_alike() => Trend::Level,
            other => other,
        };
        // Users have theirs by another rule.
        let pause = users.map_or_else(
            || Pause::of(timeline, &steady, (earliest, latest)),
            |users| Pause::of_users(timeline, users.count, (earliest, users.end)),
        );
        let is_constant = is_constant(&moments);
        Some(Self {
            pause,
            is_constant,
            ..Self::seen(&moments, settled, (trend, growth, knot), load)
        })
    }

    /// The same of iterations that fell due by an arrival rate; `timeline` has their requests. Where these take as long at the run's end
    /// as at its start, iterations are long, and the server is not overloaded.
    pub(super) fn of_iterations(
        course: &IterationCourse,
        timeline: &Timeline,
    ) -> Option<(Self, Load)> {
        let counts = course.cells();
        let width = i64::try_from(course.width().0).unwrap_or(i64::MAX);
        let first = counts.iter().position(|cell| cell.due > 0)?;
        let end = counts.iter().rposition(|cell| cell.due > 0)? + 1;
        let span = (width.saturating_mul(first as i64), width.saturating_mul(end as i64));
        let cells = counts.iter().map(|cell| (cell.due, cell.ended));
        let moments = moments(cells, (0, width), span);
        let settled = settled_iterations(&moments);
        let (trend, growth, knot) = self::course(&moments, settled)?;
        let trend = match trend {
            Trend::Growing if !is_slower(timeline) => Trend::Steady,
            other => other,
        };
        let load = Load::of_iterations(
            &counts[first..end].iter().map(|cell| cell.due).collect::<Vec<_>>(),
            course.width().as_secs_f64(),
        );
        let backlog = Self::seen(&moments, settled, (trend, growth, knot), &load);
        Some((backlog, load))
    }

    /// What hangs uses nothing: where the server has used up its CPU, requests that are as slow as ever and more and more wait for it.
    pub(super) fn beside(self, servers: Option<&Servers>) -> Self {
        match self.trend {
            Trend::Steady if servers.is_some_and(has_used_up) => {
                Self { trend: Trend::Growing, ..self }
            }
            _ => self,
        }
    }

    fn seen(
        moments: &[Moment],
        settled: &[Moment],
        (trend, growth, knot): (Trend, f64, Option<f64>),
        load: &Load,
    ) -> Self {
        let last = moments.last().copied().unwrap_or_default();
        let mean = last.due / last.at.max(1e-9);
        let instants: Vec<_> = moments.iter().map(Moment::instant).collect();
        let worked_off = WorkedOff::of(&instants).filter(|_| trend != Trend::Growing);
        let trend = if worked_off.is_some() { Trend::Level } else { trend };
        Self {
            trend,
            worked_off,
            growth,
            last: last.backlog(),
            waiting: waiting(settled),
            delay: last.backlog() / mean.max(1e-9),
            onset: knot
                .filter(|_| trend == Trend::Growing)
                .map(|at| Onset::of(moments, at, load.shape())),
            loads: matches!(load, Load::Varying(_)).then(|| loads(moments)),
            is_answered: is_answered(settled, last),
            pause: None,
            is_constant: false,
        }
    }

    /// It grew since nothing was answered any more.
    pub(super) fn hangs(&self) -> bool {
        self.growth >= HANGS_MIN
    }
}

/// Whether the backlog was all through the run what it is with the same response times all through it.
fn is_steady(moments: &[Moment], steady: &Steady) -> bool {
    let last = moments.last().map_or(0.0, Moment::backlog);
    let most = STEADY_SHARE_MAX * last + last.sqrt();
    moments.iter().all(|moment| (moment.ended - steady.ended(moment.cell)).abs() <= most)
}

/// The trend of the delays of these moments, its slope, and from when on it rises; `None` where there are too few.
fn course(moments: &[Moment], settled: &[Moment]) -> Option<(Trend, f64, Option<f64>)> {
    let last = moments.last().filter(|_| moments.len() >= MOMENTS_MIN)?;
    // Where nothing is due there is no load to fall behind.
    let loaded = settled.iter().filter(|moment| moment.rate > 0.0);
    let delays: Vec<(f64, f64)> = loaded.map(|moment| (moment.at, moment.delay)).collect();
    let limit = GROWTH_MIN.max(REQUESTS_MIN / last.due.max(1.0));
    (delays.len() >= MOMENTS_MIN / 2).then(|| trend(&delays, limit))
}

/// The moments from which on a backlog is level: a tenth of the run, and the time that the first requests took, have passed.
fn settled<'a>(timeline: &Timeline, moments: &'a [Moment]) -> &'a [Moment] {
    let Some(tenth) = moments.get(moments.len() / 10) else { return moments };
    let until = tenth.at;
    let width = timeline.width().as_secs_f64().max(1e-9);
    let mut first = metrics::Sketch::new();
    let early =
        timeline.cells().skip_while(|cell| cell.hits == 0).take((until / width) as usize + 1);
    early.for_each(|cell: &Cell| first.merge(&cell.response));
    let warm = until.max(first.quantile(0.9).as_secs_f64());
    let skipped = moments.iter().take_while(|moment| moment.at <= warm).count();
    &moments[skipped.min(moments.len() / 2)..]
}

/// The same of iterations: a tenth of the run has passed, and as many have ended as were due in it.
fn settled_iterations(moments: &[Moment]) -> &[Moment] {
    let Some(tenth) = moments.get(moments.len() / 10) else { return moments };
    let early = moments.iter().take_while(|one| one.at <= tenth.at || one.ended < tenth.due);
    &moments[early.count().min(moments.len() / 2)..]
}

/// The trend of delays (s) over time (s), its slope, and from when on it rises.
fn trend(delays: &[(f64, f64)], limit: f64) -> (Trend, f64, Option<f64>) {
    let whole = Line::through(delays);
    let drift = Drift::of(delays);
    // A server that was cold at first has worked off by then what had to wait for it.
    let rest = &delays[delays.len() / 3..];
    if is_level(delays, limit) || (whole.slope < 0.0 && is_level(rest, limit)) {
        return (Trend::Level, whole.slope, None);
    }
    let (knot, after) = broken(delays);
    let late = knot > delays.len() / 10;
    let rising = &delays[knot..];
    let from_then = Drift::of(rising);
    let grows = |line: &Line, drift: &Drift| {
        line.slope - 2.0 * line.error.max(drift.error / 2.0) > limit && drift.mean > limit
    };
    if late && rising.len() >= MOMENTS_MIN && grows(&after, &from_then) {
        return (Trend::Growing, after.slope, Some(delays[knot].0));
    }
    if grows(&whole, &drift) {
        return (Trend::Growing, whole.slope, None);
    }
    (Trend::Unclear, whole.slope, None)
}

/// Delays that do not rise, and do not wander: those of a server at its limit fall as often as they rise, and a run is then as likely
/// to end low as high.
fn is_level(delays: &[(f64, f64)], limit: f64) -> bool {
    let line = Line::through(delays);
    let is_calm = WANDER * line.error < limit;
    is_calm && line.slope + 3.0 * line.error < limit && Drift::of(delays).is_level(limit)
}

/// Delays' steps from instant to instant: of an overloaded server they have a mean, of a stable one they cancel out.
struct Drift {
    mean: f64,
    error: f64,
    /// How much longer the delay was in the last third than in the first one (s).
    rise: f64,
    /// The time from the middle of the first third to that of the last one (s).
    span: f64,
}

impl Drift {
    fn of(delays: &[(f64, f64)]) -> Self {
        let step =
            |pair: &[(f64, f64)]| (pair[1].1 - pair[0].1) / (pair[1].0 - pair[0].0).max(1e-9);
        let steps: Vec<f64> = delays.windows(2).map(step).collect();
        let count = steps.len().max(1) as f64;
        let mean = steps.iter().sum::<f64>() / count;
        let spread: f64 = steps.iter().map(|step| (step - mean).powi(2)).sum();
        let third = delays.len().div_ceil(3);
        let (first, last) = (centre(&delays[..third]), centre(&delays[delays.len() - third..]));
        Self {
            mean,
            error: (spread / (count - 1.0).max(1.0) / count).sqrt(),
            rise: last.1 - first.1,
            span: last.0 - first.0,
        }
    }

    fn is_level(&self, limit: f64) -> bool {
        self.rise <= limit * self.span / 2.0
    }
}

/// The mean of some points.
fn centre(points: &[(f64, f64)]) -> (f64, f64) {
    let count = points.len().max(1) as f64;
    let sum = points.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    (sum.0 / count, sum.1 / count)
}

/// Means of the backlog in the first and in the last third of these moments.
fn waiting(settled: &[Moment]) -> [f64; 2] {
    let third = settled.len().div_ceil(3);
    let mean =
        |part: &[Moment]| part.iter().map(Moment::backlog).sum::<f64>() / part.len().max(1) as f64;
    [mean(&settled[..third]), mean(&settled[settled.len() - third..])]
}

fn loads(moments: &[Moment]) -> [f64; 2] {
    let rates = moments.iter().map(|moment| moment.rate);
    [rates.clone().fold(f64::INFINITY, f64::min), rates.fold(0.0, f64::max)]
}

/// From the first moment on nine in ten have as many as any: the others may lie between an answer and the next request. Of a rate it
/// takes as long as an answer until as many are under way, and a single one may be under way by chance whenever it is looked at.
fn is_constant(moments: &[Moment]) -> bool {
    let most = moments.iter().map(Moment::backlog).fold(0.0, f64::max);
    let with_most = moments.iter().filter(|moment| moment.backlog() == most).count();
    let from_the_first = moments.first().is_some_and(|first| first.backlog() == most);
    most > 1.0 && from_the_first && with_most * 10 >= moments.len() * 9
}

/// What is under way in a level system is under way at its end as well.
fn is_answered(settled: &[Moment], last: Moment) -> bool {
    let usual = settled.first().map_or(0.0, Moment::backlog);
    let scale = settled.first().map_or(1.0, |first| (last.rate / first.rate.max(1e-9)).max(1.0));
    last.backlog() <= (1.0 - ANSWERED_MIN) * last.due + usual * scale + REQUESTS_MIN
}
