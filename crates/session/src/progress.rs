//! Live progress on standard error: `report` draws the frames, this puts each over the one before.

use std::io::Write;

use cli::terminal::{self, DrawnLines};
use metrics::{Event, EventKind, Snapshot};
use report::live::{self, Paint, frame};
use stdx::Nanos;
use workload::{Load, Plan};

use crate::observer::{Control, Observer};

/// Live progress of one run.
pub struct Progress {
    name: String,
    duration: Option<Nanos>,
    /// What is asked for; zero in a closed loop.
    rate_asked_per_s: f64,
    is_paused: bool,
    total: Snapshot,
    drawn: DrawnLines,
}

impl Progress {
    /// Nothing is drawn yet.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let rate_asked_per_s = match &plan.load {
            Load::Open { shape, .. } => shape.mean_rate_per_s(plan.duration),
            Load::Closed { .. } | Load::Users(_) => 0.0,
        };
        Self {
            name: plan.name.clone(),
            duration: plan.begins_for(),
            rate_asked_per_s,
            is_paused: false,
            total: Snapshot::new(),
            drawn: DrawnLines::default(),
        }
    }
}

impl Progress {
    /// The same of a load that so many agents send together; `None` where their number is open.
    #[must_use]
    pub fn of_agents(self, agents: Option<usize>) -> Self {
        let counted = |agents: usize| stdx::counted(agents as u64, "agent");
        let agents = agents.map_or_else(|| "a fleet".to_owned(), counted);
        let name = match self.name.as_str() {
            "" => agents,
            name => format!("{name} ({agents})"),
        };
        Self { name, ..self }
    }
}

impl Observer for Progress {
    /// Draws the recent figures over those drawn before.
    fn progress(&mut self, recent: &Snapshot, control: &mut Control<'_>) {
        // Both are states and not counts.
        self.total.in_flight = 0;
        self.total.generator.clear();
        self.total.merge(recent);
        let progress = live::Progress {
            name: &self.name,
            total: &self.total,
            recent: Some(recent),
            elapsed: control.elapsed(),
            duration: self.duration,
            rate_asked_per_s: if self.is_paused { 0.0 } else { self.rate_asked_per_s },
        };
        // Asked for anew each time: a terminal may change its size.
        let width = terminal::width(&std::io::stderr());
        let paint = if std::env::var_os("NO_COLOR").is_some() { Paint::Plain } else { Paint::Ansi };
        let text = frame(&progress, width, paint);
        let away = self.drawn.erase(width);
        // A terminal that went away is no reason to stop the load.
        write!(std::io::stderr().lock(), "{away}{text}").ok();
        self.drawn.record(&text);
    }

    fn event(&mut self, event: &Event) {
        match event.what {
            EventKind::Pause => self.is_paused = true,
            EventKind::Resume => self.is_paused = false,
            EventKind::Rate(rate) => self.rate_asked_per_s = rate,
            EventKind::Mark(_) | EventKind::Users(_) | EventKind::Ended(_) => {}
        }
    }

    /// Takes away what was drawn.
    fn finished(&mut self) {
        let away = self.drawn.erase(terminal::width(&std::io::stderr()));
        write!(std::io::stderr().lock(), "{away}").ok();
    }
}
