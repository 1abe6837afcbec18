//! `Shape::scaled`: the same course with more hits, or fewer.

use stdx::Nanos;

use super::rate::Rate;
use super::replay::REPLAY_MAX;
use super::shape::Shape;
use super::steps::Step;

/// The parts of a hit that a scale keeps.
const PARTS: f64 = 1000.0;

impl Shape {
    /// The shape with `scale` times as many hits over the same time: steps have that many times their rate, between two moments of
    /// a replay there are that many, evenly spaced. Other shapes stay, as their rate is typed. `scale` is above 0.
    #[must_use]
    pub fn scaled(self, scale: f64) -> Self {
        match self {
            Self::Steps(steps) => {
                let scaled = |step: Step| Step { rate: scaled_rate(step.rate, scale), ..step };
                Self::Steps(steps.into_iter().map(scaled).collect())
            }
            Self::Replay(moments) => Self::Replay(scaled_moments(&moments, scale).into()),
            other => other,
        }
    }
}

fn scaled_rate(rate: Rate, scale: f64) -> Rate {
    let hits = rate.hits as f64 * scale;
    if hits.fract() == 0.0 {
        return Rate { hits: hits as u64, per: rate.per };
    }
    Rate {
        hits: (hits * PARTS).round() as u64,
        per: Nanos(rate.per.0.saturating_mul(PARTS as u64)),
    }
}

fn scaled_moments(moments: &[Nanos], scale: f64) -> Vec<Nanos> {
    if scale == 1.0 {
        return moments.to_vec();
    }
    let count = ((moments.len() as f64 * scale).round() as usize).min(REPLAY_MAX);
    let moment = |hit: usize| {
        let place = hit as f64 / scale;
        let before = (place as usize).min(moments.len() - 1);
        let after = (before + 1).min(moments.len() - 1);
        let gap = moments[after].0 - moments[before].0;
        Nanos(moments[before].0 + (gap as f64 * place.fract()).round() as u64)
    };
    if moments.is_empty() { Vec::new() } else { (0..count).map(moment).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaled_shapes_have_as_many_hits_in_the_same_time() {
        let step = |hits| Step { rate: Rate::per_second(hits), lasts: Nanos::from_secs(10) };
        let steps = Shape::Steps(vec![step(4), step(0), step(1)]);
        for (scale, expect) in [(1.0, 50), (3.0, 150), (0.5, 25), (1.5, 75)] {
            let shape = steps.clone().scaled(scale);
            assert_eq!(shape.planned(None), Some(expect), "{scale}");
            assert_eq!(shape.natural_duration(), steps.natural_duration());
        }
    }

    #[test]
    fn moments_between_two_are_evenly_spaced() {
        let scaled = |scale| {
            let shape = Shape::Replay([0, 30, 60, 60].map(Nanos).into()).scaled(scale);
            let Shape::Replay(moments) = shape else { panic!() };
            moments.iter().map(|moment| moment.0).collect::<Vec<_>>()
        };
        assert_eq!(scaled(1.0), [0, 30, 60, 60]);
        assert_eq!(scaled(3.0), [0, 10, 20, 30, 40, 50, 60, 60, 60, 60, 60, 60]);
        assert_eq!(scaled(0.5), [0, 60]);
        assert_eq!(Shape::Replay([].into()).scaled(2.0), Shape::Replay([].into()));
    }
}
