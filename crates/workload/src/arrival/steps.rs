//! Steps: one constant rate after the other. `H(t)` is a chain of straight lines; a part of a hit left over at the end of a
//! step is carried into the next.

use serde::{Deserialize, Serialize};
use stdx::Nanos;

use super::rate::{Rate, due_before};

/// A constant rate held for a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The rate; 0 hits are a pause.
    pub rate: Rate,
    /// How long it is held.
    pub lasts: Nanos,
}

/// A step with what came before it.
#[derive(Clone, Copy, Debug)]
struct Line {
    begin_s: f64,
    end_s: f64,
    /// `H` at its start, in hits.
    hits: f64,
    per_s: f64,
}

#[derive(Clone, Debug)]
pub(super) struct Stairs {
    lines: Vec<Line>,
    /// The step of the hit asked for last; hits are asked for in order.
    at: usize,
    planned: u64,
    end: Nanos,
}

impl Stairs {
    pub(super) fn new(steps: &[Step], duration: Option<Nanos>) -> Self {
        let end = duration.map_or(total(steps), |duration| duration.min(total(steps)));
        let planned = planned(steps, end);
        Self { lines: lines(steps), at: 0, planned, end }
    }

    /// When a hit is due; hits must be asked for in order.
    pub(super) fn due(&mut self, hit: u64) -> Option<Nanos> {
        if hit >= self.planned {
            return None;
        }
        let n = hit as f64;
        // What is due at the border of two steps belongs to the later one: a pause before it is waited for.
        while self.at + 1 < self.lines.len() && n > self.lines[self.at + 1].hits - 1e-6 {
            self.at += 1;
        }
        let line = self.lines[self.at];
        let seconds = line.begin_s + (n - line.hits).max(0.0) / line.per_s;
        Some(Nanos::from_secs_f64(seconds.min(line.end_s)).min(self.end))
    }
}

fn lines(steps: &[Step]) -> Vec<Line> {
    let mut begin = Nanos::ZERO;
    let mut hits = 0.0;
    let line = |step: &Step| {
        let end = begin.saturating_add(step.lasts);
        let (begin_s, end_s) = (begin.as_secs_f64(), end.as_secs_f64());
        let line = Line { begin_s, end_s, hits, per_s: step.rate.per_s() };
        hits += line.per_s * step.lasts.as_secs_f64();
        begin = end;
        line
    };
    steps.iter().map(line).collect()
}

/// The sum of all steps' times.
pub(super) fn total(steps: &[Step]) -> Nanos {
    steps.iter().fold(Nanos::ZERO, |sum, step| sum.saturating_add(step.lasts))
}

/// The hits due before `end`.
pub(super) fn planned(steps: &[Step], end: Nanos) -> u64 {
    let end_s = end.as_secs_f64();
    let line_hits = |line: &Line| line.per_s * (line.end_s.min(end_s) - line.begin_s).max(0.0);
    due_before(lines(steps).iter().map(line_hits).sum())
}
