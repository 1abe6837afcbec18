//! `Onset`: since when a backlog grows, what the server answers from then on, and what was asked. A backlog's growth is seen some time
//! after it began, most of all in a ramp, so that of a load with a shape the moment is the one at which the shape passes the limit.

use stdx::Nanos;

use super::moments::Moment;
use super::shape::Shape;

/// Since when a backlog grew.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Onset {
    /// After the first request was due.
    pub(super) at: Nanos,
    /// The rate that the server answers from then on (1/s).
    pub(super) answered: f64,
    /// The rate asked then (1/s).
    pub(super) asked: f64,
}

impl Onset {
    /// Of a backlog that is seen to grow from a time on (s).
    pub(super) fn of(moments: &[Moment], seen: f64, shape: Option<&Shape>) -> Self {
        let from = moments.iter().position(|moment| moment.at >= seen).unwrap_or_default();
        let then = moments.get(from).copied().unwrap_or_default();
        let last = moments.last().copied().unwrap_or_default();
        let answered = (last.ended - then.ended) / (last.at - then.at).max(1e-9);
        let passed = shape.and_then(|shape| {
            let at = shape.above(answered, seen)?;
            Some((at, shape.rate_after(at)?))
        });
        let (at, asked) = passed.unwrap_or_else(|| {
            // Growth is seen after a step, so that the rate asked is that of the time after it.
            let soon = moments.get(from + moments.len() / 20).copied().unwrap_or(then);
            (seen, then.rate.max(soon.rate))
        });
        Self { at: Nanos::from_secs_f64(at), answered: asked.min(answered), asked }
    }
}
