//! Outages that came again: spans in which every request failed, of a run whose failures all lie in them.

use metrics::{Cell, Timeline};
use stdx::Nanos;

use super::repeat::Repeat;

/// The spans have so much of the failures: others may be at their edges.
const PART_MIN: f64 = 0.9;
/// That so many failures follow each other by chance, with a run's share of them, happens once in e^7 spans like it.
const CHANCE: f64 = 7.0;

/// Spans of a timeline in which all failed; `None` where there are less than two, or where they have not nearly all failures.
/// `earliest` is the time (Unix ns) of the first request that was due.
pub(super) fn outages(timeline: &Timeline, earliest: i64) -> Option<Repeat> {
    let cells: Vec<&Cell> = timeline.cells().collect();
    let sum = |of: fn(&Cell) -> u64| cells.iter().map(|cell| of(cell)).sum::<u64>() as f64;
    let (hits, errors) = (sum(|cell| cell.hits), sum(|cell| cell.errors));
    if errors == 0.0 || errors >= hits {
        return None;
    }
    let least = ((cells.len() as f64).ln() + CHANCE) / (hits / errors).ln();
    let spans: Vec<(usize, usize)> =
        failed(&cells).into_iter().filter(|span| count(&cells[span.0..span.1]) >= least).collect();
    let with_edges = |span: &(usize, usize)| {
        count(&cells[span.0.saturating_sub(1)..(span.1 + 1).min(cells.len())])
    };
    let inside: f64 = spans.iter().map(with_edges).sum();
    let width = timeline.width().0;
    let begin =
        |at: usize| timeline.start().saturating_add_unsigned(width.saturating_mul(at as u64));
    // Of the cells at its sides, an outage has the part that failed.
    let edge = |at: Option<usize>| {
        let cell = at.and_then(|at| cells.get(at)).filter(|cell| cell.hits > 0);
        Nanos(cell.map_or(0, |cell| width.saturating_mul(cell.errors) / cell.hits))
    };
    let time = |(from, to): &(usize, usize)| {
        let after = Nanos(begin(*from).saturating_sub(earliest).max(0).unsigned_abs());
        let (before, behind) = (edge(from.checked_sub(1)), edge(Some(*to)));
        let length = Nanos(width.saturating_mul((to - from) as u64));
        (after.saturating_sub(before), before + length + behind)
    };
    let times: Vec<(Nanos, Nanos)> = spans.iter().map(time).collect();
    Repeat::of(&times).filter(|_| inside >= PART_MIN * errors)
}

fn count(cells: &[&Cell]) -> f64 {
    cells.iter().map(|cell| cell.errors).sum::<u64>() as f64
}

/// The spans of cells in which nothing succeeds, from one that has failures to the last such.
fn failed(cells: &[&Cell]) -> Vec<(usize, usize)> {
    let mut spans: Vec<(usize, usize)> = Vec::new();
    let mut goes_on = false;
    for (at, cell) in cells.iter().enumerate() {
        let is_failed = cell.hits > 0 && cell.errors == cell.hits;
        match spans.last_mut() {
            Some(span) if goes_on && is_failed => span.1 = at + 1,
            _ if is_failed => spans.push((at, at + 1)),
            _ => {}
        }
        goes_on = is_failed || (goes_on && cell.hits == 0);
    }
    spans
}

#[cfg(test)]
mod tests {
    use metrics::{Batch, Outcome, Sample};
    use stdx::Prng;

    use super::*;

    /// 60/s for 20 s, of which those fail for which `fails` holds at its moment (s).
    fn found(fails: &mut dyn FnMut(f64) -> bool) -> Option<Repeat> {
        let mut batch = Batch::default();
        for n in 0..1200_u64 {
            let at = n as f64 / 60.0;
            let intended = Nanos::from_secs_f64(at);
            let outcome = Outcome::Http(if fails(at) { 500 } else { 200 });
            batch.samples.push(Sample { intended, done: intended, outcome, ..Sample::default() });
        }
        let mut timeline = Timeline::new();
        timeline.add(&batch);
        outages(&timeline, 0)
    }

    #[test]
    fn a_server_that_was_down_again_and_again_is_counted() {
        let twice = found(&mut |at| (4.0..5.5).contains(&at) || (12.0..13.0).contains(&at));
        let twice = twice.expect("outages");
        assert_eq!(twice.times, 2);
        assert!((twice.sum.as_secs_f64() - 2.5).abs() < 0.3, "{twice:?}");
        assert!((twice.last.as_secs_f64() - 12.0).abs() < 0.2, "{twice:?}");
        let ten = found(&mut |at| at % 2.0 > 1.5).expect("outages");
        assert_eq!(ten.times, 10);
        assert!((ten.sum.as_secs_f64() - 5.0).abs() < 0.4, "{ten:?}");
    }

    #[test]
    fn failures_by_chance_and_one_outage_are_no_outages() {
        for share in [0.02, 0.1, 0.4, 0.9] {
            for seed in 0..40 {
                let mut rng = Prng::new(seed);
                assert_eq!(found(&mut |_| rng.next_f64() < share), None, "{share} {seed}");
            }
        }
        assert_eq!(found(&mut |at| (4.0..5.5).contains(&at)), None);
        assert_eq!(found(&mut |_| true), None);
    }
}
