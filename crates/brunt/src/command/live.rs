//! Live progress on standard error: `report` draws the frames, this puts each over the one before.

use std::io::Write;
use std::time::Instant;

use metrics::Snapshot;
use report::live::{LINES, Paint, Progress, frame};
use stdx::Nanos;
use workload::{Load, Plan};

/// Live progress of one run.
pub(crate) struct Live {
    name: String,
    duration: Option<Nanos>,
    rate_asked_per_s: f64,
    started: Instant,
    total: Snapshot,
    drawn: bool,
}

/// Columns where the terminal does not say (`COLUMNS`).
const WIDTH: usize = 80;

impl Live {
    /// Nothing is drawn yet.
    pub(crate) fn new(plan: &Plan) -> Self {
        let (rate_asked_per_s, natural) = match &plan.load {
            Load::Open { shape, .. } => {
                (shape.mean_rate_per_s(plan.duration), shape.natural_duration())
            }
            Load::Closed { .. } | Load::Users(_) => (0.0, None),
        };
        Self {
            name: plan.name.clone(),
            duration: plan.duration.into_iter().chain(natural).min(),
            rate_asked_per_s,
            started: Instant::now(),
            total: Snapshot::new(),
            drawn: false,
        }
    }

    /// Draws what was seen lately over what was drawn before.
    pub(crate) fn show(&mut self, recent: &Snapshot) {
        // Both are states and not counts.
        self.total.in_flight = 0;
        self.total.generator.clear();
        self.total.merge(recent);
        let progress = Progress {
            name: &self.name,
            total: &self.total,
            recent: Some(recent),
            elapsed: self.started.elapsed().into(),
            duration: self.duration,
            rate_asked_per_s: self.rate_asked_per_s,
        };
        let width = std::env::var("COLUMNS").ok().and_then(|n| n.parse().ok()).unwrap_or(WIDTH);
        let paint = if std::env::var_os("NO_COLOR").is_some() { Paint::Plain } else { Paint::Ansi };
        let text = frame(&progress, width, paint);
        self.clear();
        // A terminal that went away is no reason to stop the load.
        write!(std::io::stderr().lock(), "{text}").ok();
        self.drawn = true;
    }

    /// Takes away what was drawn.
    pub(crate) fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            write!(std::io::stderr().lock(), "\u{1b}[{LINES}A\u{1b}[0J").ok();
        }
    }
}
