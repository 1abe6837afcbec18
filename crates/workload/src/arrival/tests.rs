//! What holds for every shape: the table of due times, the integral, the shards.

use proptest::prelude::*;

use stdx::Nanos;

use super::*;
use crate::{Segment, SegmentSlice};

const SECOND: u64 = 1_000_000_000;

fn schedule(shape: &Shape, shard: Shard, duration: Option<Nanos>, max: usize) -> Vec<(u64, u64)> {
    let mut cursor = shape.cursor(7, shard, duration);
    let mut hits = Vec::new();
    while let Some((hit, due)) = cursor.peek() {
        hits.push((hit, due.0));
        if hits.len() == max {
            break;
        }
        cursor.advance();
    }
    hits
}

fn dues(shape: &Shape, seconds: u64) -> Vec<u64> {
    let hits = schedule(shape, Shard::ALL, Some(Nanos::from_secs(seconds)), 1_000_000);
    hits.into_iter().map(|hit| hit.1).collect()
}

fn sine(mean: u64, amplitude: u64, period_s: u64, start_at: SineStart) -> Shape {
    let (mean, amplitude) = (Rate::per_second(mean), Rate::per_second(amplitude));
    Shape::Sine { mean, amplitude, period: Nanos::from_secs(period_s), start_at }
}

fn steps(list: &[(u64, u64)]) -> Shape {
    let step =
        |&(hits, millis)| Step { rate: Rate::per_second(hits), lasts: Nanos::from_millis(millis) };
    Shape::Steps(list.iter().map(step).collect())
}

/// Any shape that ends within a few thousand hits in 20 s.
fn any_shape() -> impl Strategy<Value = Shape> {
    let rate = || {
        (0u64..200, 500u64..3000).prop_map(|(hits, ms)| Rate { hits, per: Nanos::from_millis(ms) })
    };
    let start = prop::sample::select(vec![
        SineStart::MeanUp,
        SineStart::Peak,
        SineStart::MeanDown,
        SineStart::Trough,
    ]);
    prop_oneof![
        rate().prop_map(Shape::constant),
        (rate(), rate()).prop_map(|(from, to)| Shape::Linear { from, to }),
        prop::collection::vec((0u64..100, 1u64..4000), 0..6).prop_map(|list| steps(&list)),
        (1u64..100, 0u64..=100, 1u64..30, start).prop_map(|(mean, share, period, start)| sine(
            mean,
            mean * share / 100,
            period,
            start
        )),
        rate().prop_map(|rate| Shape::Poisson { rate }),
        prop::collection::vec(0u64..30 * SECOND, 0..100).prop_map(|mut moments| {
            moments.sort_unstable();
            Shape::Replay(moments.into_iter().map(Nanos).collect())
        }),
    ]
}

/// What agents of these weights have of the numbers.
fn parts(weights: &[u64]) -> Vec<SegmentSlice> {
    let sum: u64 = weights.iter().sum();
    let ends = weights.iter().scan(0, |end, weight| {
        *end += weight;
        Some(*end)
    });
    let borders: Vec<String> =
        std::iter::once(0).chain(ends).map(|end| format!("{end}/{sum}")).collect();
    let sequence = borders.join(",");
    let part = |pair: &[String]| {
        let segment = Segment::parse(&pair.join(":"), Some(&sequence)).unwrap();
        segment.vus().clone()
    };
    borders.windows(2).map(part).collect()
}

#[test]
fn constant_is_vegetas_to_the_nanosecond_but_for_its_first_wait() {
    let fifty = Shape::constant(Rate::per_second(50));
    let due = dues(&fifty, 5);
    assert_eq!(due.len(), 250);
    assert!((0u64..).zip(&due).all(|(k, &due)| due == k * 20_000_000));
    assert_eq!(dues(&Shape::constant(Rate::per_second(6)), 5)[..3], [0, 166_666_666, 333_333_333]);
    assert_eq!(dues(&Shape::constant(Rate { hits: 120, per: Nanos::from_secs(60) }), 2).len(), 4);
    assert!(dues(&Shape::constant(Rate::per_second(0)), 5).is_empty());
}

#[test]
fn constant_never_drifts() {
    let shape = Shape::constant(Rate::per_second(30_000));
    let due = dues(&shape, 10);
    assert_eq!((due.len(), due[30_000], due[299_999]), (300_000, SECOND, 9_999_966_666));
    let late = Shard { first: u64::MAX / 2, step: 1 };
    assert_eq!(shape.cursor(0, late, None).peek().map(|hit| hit.0), Some(u64::MAX / 2));
}

#[test]
fn without_an_end_it_goes_on() {
    let endless = [
        Shape::constant(Rate::per_second(3)),
        Shape::Linear { from: Rate::per_second(3), to: Rate::per_second(9) },
        sine(3, 1, 10, SineStart::Peak),
        Shape::Poisson { rate: Rate::per_second(3) },
    ];
    for shape in endless {
        assert_eq!(shape.planned(None), None, "{shape:?}");
        let due = schedule(&shape, Shard::ALL, None, 3000);
        assert_eq!(due.len(), 3000, "{shape:?}");
        assert!((due[2999].1 as f64 / (1000.0 * SECOND as f64) - 1.0).abs() < 0.1, "{shape:?}");
    }
}

/// (shape, seconds, hit, due in ns): worked out by hand from each shape's integral.
#[test]
fn due_times_by_hand() {
    let ramp = Shape::Linear { from: Rate::per_second(0), to: Rate::per_second(20) };
    let fall = Shape::Linear { from: Rate::per_second(20), to: Rate::per_second(0) };
    let stairs = steps(&[(10, 1000), (0, 1000), (20, 1000)]);
    let replay = Shape::Replay([0, 5, 5, 9].map(Nanos).into());
    let cases = [
        (&ramp, 10, 0, 0),
        (&ramp, 10, 1, SECOND),      // t^2 = 1
        (&ramp, 10, 4, 2 * SECOND),  // t^2 = 4
        (&fall, 10, 19, SECOND),     // 20 t - t^2 = 19
        (&fall, 10, 99, 9 * SECOND), // 20 t - t^2 = 99
        (&stairs, 9, 9, 900_000_000),
        (&stairs, 9, 10, 2 * SECOND), // The pause is over.
        (&stairs, 9, 29, 2_950_000_000),
        (&replay, 9, 0, 0),
        (&replay, 9, 2, 5),
    ];
    for (shape, seconds, hit, due) in cases {
        assert_eq!(dues(shape, seconds)[hit], due, "{shape:?} {hit}");
    }
    assert_eq!(
        (dues(&ramp, 10).len(), dues(&fall, 10).len(), dues(&stairs, 9).len()),
        (100, 100, 30)
    );
}

#[test]
fn a_part_of_a_hit_is_carried_over_a_step() {
    // Half a hit at 1/s, the other half at 2/s.
    assert_eq!(dues(&steps(&[(1, 500), (2, 500)]), 9), [0, 750_000_000]);
    assert_eq!(dues(&steps(&[(0, 500), (2, 1000)]), 9), [500_000_000, 1_000_000_000]);
}

/// Where rate times duration is no whole number, what is due before the end is part of the run.
#[test]
fn regression_issue_41_all_that_is_due_within_the_duration() {
    let rate = |hits, per_ms| Shape::constant(Rate { hits, per: Nanos::from_millis(per_ms) });
    let ramp = Shape::Linear { from: Rate::per_second(0), to: Rate::per_second(3) };
    for (shape, millis, expect) in [
        (rate(1, 10_000), 5_000, vec![0]),
        (rate(1, 4_000), 10_000, vec![0, 4_000, 8_000]),
        (rate(1, 4_000), 8_000, vec![0, 4_000]),
        (rate(50, 1_000), 110, vec![0, 20, 40, 60, 80, 100]),
        (rate(50, 1_000), 100, vec![0, 20, 40, 60, 80]),
        (ramp, 1_000, vec![0, 816]), // 3 t^2 / 2 = 1
        (steps(&[(1, 1_500)]), 9_000, vec![0, 1_000]),
        (sine(1, 0, 10, SineStart::MeanUp), 1_500, vec![0, 1_000]),
    ] {
        let end = Some(Nanos::from_millis(millis));
        let due = schedule(&shape, Shard::ALL, end, 100);
        let due: Vec<u64> = due.into_iter().map(|hit| hit.1 / 1_000_000).collect();
        assert_eq!(shape.planned(end), Some(expect.len() as u64), "{shape:?}");
        assert_eq!(due, expect, "{shape:?}");
    }
}

#[test]
fn a_sine_swings_around_its_mean() {
    let due = dues(&sine(100, 80, 10, SineStart::MeanUp), 10);
    let first_half = due.partition_point(|&due| due <= 5 * SECOND) as f64;
    // H(P/2) = M P / 2 + A P / pi
    let expect = 100.0 * 5.0 + 80.0 * 10.0 / std::f64::consts::PI;
    assert!((first_half - expect).abs() <= 1.0, "{first_half} for {expect}");
    assert_eq!(due.len(), 1000);
    let low = dues(&sine(100, 100, 10, SineStart::Trough), 10);
    assert!(low[1] > 300_000_000, "it begins with no rate at all: {}", low[1]);
}

#[test]
fn poisson_gaps_are_exponential() {
    let shape = Shape::Poisson { rate: Rate::per_second(1000) };
    let due = dues(&shape, 200);
    let gaps: Vec<f64> = due.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e6).collect();
    let n = gaps.len() as f64;
    let mean = gaps.iter().sum::<f64>() / n;
    let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / n;
    assert!((mean - 1.0).abs() < 0.01, "mean {mean} ms");
    assert!((variance - 1.0).abs() < 0.03, "variance {variance} ms^2");
    let over_two = gaps.iter().filter(|gap| **gap > 2.0).count() as f64 / n;
    assert!((over_two - (-2.0f64).exp()).abs() < 0.005, "P(gap > 2 ms) = {over_two}");
}

#[test]
fn seeds_differ_and_repeat() {
    let shape = Shape::Poisson { rate: Rate::per_second(10) };
    let first = |seed| shape.cursor(seed, Shard::ALL, None).peek();
    assert_eq!(first(1), first(1));
    assert_ne!(first(1), first(2));
}

#[test]
fn mean_rates() {
    let end = Some(Nanos::from_secs(10));
    let cases = [
        (Shape::constant(Rate::per_second(50)), 50.0),
        (Shape::Linear { from: Rate::per_second(10), to: Rate::per_second(30) }, 20.0),
        (steps(&[(10, 2000), (40, 1000)]), 20.0),
        (sine(100, 50, 10, SineStart::Peak), 100.0),
        (Shape::Poisson { rate: Rate::per_second(5) }, 5.0),
        (Shape::Replay([0, 1, 2, SECOND].map(Nanos).into()), 4.0),
    ];
    for (shape, expect) in cases {
        let mean = shape.mean_rate_per_s(end);
        assert!((mean - expect).abs() < 1e-9, "{shape:?}: {mean}");
    }
}

#[test]
fn a_hopeless_backlog_is_counted_at_once() {
    let shape = Shape::constant(Rate { hits: 1, per: Nanos(1) });
    let mut cursor = shape.cursor(1, Shard { first: 1, step: 2 }, None);
    cursor.advance();
    assert_eq!(cursor.count_until(Nanos::from_secs(3600)), 1_800_000_000_000 - 1);
}

proptest! {
    #[test]
    fn what_is_left_is_counted(
        shape in any_shape(), first in 0u64..4, walked in 0usize..50, until in 0..20 * SECOND
    ) {
        let shard = Shard { first, step: 4 };
        let mut cursor = shape.cursor(7, shard, Some(Nanos::from_secs(15)));
        (0..walked).for_each(|_| cursor.advance());
        let all = schedule(&shape, shard, Some(Nanos::from_secs(15)), usize::MAX);
        let left = all.iter().skip(walked).filter(|hit| hit.1 <= until).count();
        prop_assert_eq!(cursor.count_until(Nanos(until)), left as u64);
    }

    #[test]
    fn hits_due_until_t_are_the_integral(shape in any_shape(), seconds in 0u64..20, part in 0.0f64..=1.0) {
        prop_assume!(!matches!(shape, Shape::Poisson { .. }));
        // A ramp's slope follows from its duration, so only its whole integral can be asked for.
        let part = if matches!(shape, Shape::Linear { .. }) { 1.0 } else { part };
        let until = Nanos((seconds as f64 * part * 1e9) as u64);
        let due = dues(&shape, seconds);
        let is_replay = matches!(shape, Shape::Replay(_));
        let counted = due.partition_point(|&due| due < until.0 + u64::from(is_replay)) as u64;
        let planned = shape.planned(Some(until)).unwrap();
        // Due times are whole nanoseconds: a hit may fall on the other side of `until` by one.
        let near = due.iter().filter(|&&due| due.abs_diff(until.0) <= 1).count() as u64;
        prop_assert!(counted.abs_diff(planned) <= near, "{counted} due, {planned} planned");
        if until == Nanos::from_secs(seconds) {
            prop_assert_eq!(counted, planned);
        }
    }

    /// Each agent has the hits of its part, each of its workers a shard of those: together they are the whole schedule.
    #[test]
    fn parts_and_their_shards_merge_to_one_schedule(
        shape in any_shape(),
        weights in prop::collection::vec(1u64..9, 1..6),
        workers in 1u64..4,
        walked in 0usize..30,
        until in 0..20 * SECOND,
    ) {
        let end = Some(Nanos::from_secs(15));
        let whole = schedule(&shape, Shard::ALL, end, usize::MAX);
        let mut merged = Vec::new();
        for part in parts(&weights) {
            for first in 0..workers {
                let shard = Shard { first, step: workers };
                let mut cursor = shape.cursor_of_part(7, shard, &part, end);
                let mut own = Vec::new();
                while let Some((hit, due)) = cursor.peek() {
                    own.push((hit, due.0));
                    cursor.advance();
                }
                let mut cursor = shape.cursor_of_part(7, shard, &part, end);
                (0..walked).for_each(|_| cursor.advance());
                let left = own.iter().skip(walked).filter(|hit| hit.1 <= until);
                prop_assert_eq!(cursor.count_until(Nanos(until)), left.clone().count() as u64);
                let below = left.filter(|hit| hit.0 < 20).count() as u64;
                prop_assert_eq!(cursor.count_until_below(Nanos(until), Some(20)), below);
                merged.extend(own);
            }
        }
        merged.sort_unstable();
        prop_assert_eq!(merged, whole);
    }

    #[test]
    fn shards_merge_to_one_schedule(shape in any_shape(), shards in 1u64..6, seconds in 0u64..20) {
        let end = Some(Nanos::from_secs(seconds));
        let whole = schedule(&shape, Shard::ALL, end, usize::MAX);
        let mut merged: Vec<(u64, u64)> = (0..shards)
            .flat_map(|first| schedule(&shape, Shard { first, step: shards }, end, usize::MAX))
            .collect();
        merged.sort_unstable();
        prop_assert!(whole.iter().all(|hit| hit.1 <= seconds * SECOND));
        prop_assert!(whole.windows(2).all(|pair| pair[0].1 <= pair[1].1 && pair[0].0 + 1 == pair[1].0));
        prop_assert_eq!(merged, whole);
    }
}
