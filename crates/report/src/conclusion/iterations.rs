//! `Iterations`: what a script was asked for by arrival rates, and how many of its iterations came to their end. Users who wait for
//! answers set no pace there: an iteration is due at its time, whatever the server does.

use metrics::Timeline;
use stdx::Nanos;

use super::backlog::Backlog;
use super::load::Load;
use crate::Input;

/// Iterations by arrival rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Iterations {
    /// Those that fell due a second, on average.
    pub(super) due_per_s: f64,
    /// Those that came to their end a second while others fell due.
    pub(super) completed_per_s: f64,
    /// The time in which they fell due.
    pub(super) length: Nanos,
    /// Those that were due and had not ended.
    pub(super) backlog: Backlog,
}

impl Iterations {
    /// `None` of a script without arrival rates, of a part of the requests, and of a run that is too short for a backlog. `requests` is the
    /// backlog of its requests, which shows pauses.
    pub(super) fn of(
        input: &Input<'_>,
        timeline: &Timeline,
        requests: Option<Backlog>,
    ) -> Option<(Self, Load)> {
        let generator =
            input.generator.filter(|one| one.self_paced && input.selected.is_empty())?;
        let course = &generator.iterations;
        let (backlog, load) = Backlog::of_iterations(course, timeline)?;
        let pause = requests.and_then(|requests| requests.pause);
        let cells = course.cells();
        let first = cells.iter().position(|cell| cell.due > 0)?;
        let end = cells.iter().rposition(|cell| cell.due > 0)? + 1;
        let within = &cells[first..end];
        let length = Nanos(course.width().0.saturating_mul(within.len() as u64));
        let per_s = |count: u64| count as f64 / length.as_secs_f64();
        let iterations = Self {
            due_per_s: per_s(within.iter().map(|cell| cell.due).sum()),
            completed_per_s: per_s(within.iter().map(|cell| cell.ended).sum()),
            length,
            backlog: Backlog { pause, ..backlog },
        };
        Some((iterations, load))
    }
}
