//! `FullScreen`: the observer of a run that the whole terminal shows.

use std::io::IsTerminal as _;

use cli::{Interrupts, screen};
use metrics::{Batch, Snapshot};
use ratatui_core::terminal::Terminal;
use stdx::Nanos;
use workload::Plan;

use super::ansi::Ansi;
use super::state::State;
use super::view;
use crate::error::ObserverError;
use crate::labels::target_labels;
use crate::observer::{Control, Observer};
use crate::warning::warn;

/// A run on the whole terminal, which is given back when this ends.
pub struct FullScreen {
    terminal: Terminal<Ansi>,
    state: State,
    interrupts: Interrupts,
    looked: Nanos,
}

/// Keys are looked for so often.
const KEYS_EVERY: Nanos = Nanos::from_millis(50);

/// Takes the terminal behind standard error. Where it is none, a warning says so, and the run goes on without the view.
#[must_use]
pub fn open(plan: &Plan, interrupts: &Interrupts) -> Option<FullScreen> {
    if !std::io::stderr().is_terminal() {
        warn("-tui: standard error is not a terminal; the run goes on without the view");
        return None;
    }
    let is_plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let terminal = screen::take().and_then(|()| Terminal::new(Ansi::new(is_plain)));
    let terminal = match terminal {
        Ok(terminal) => terminal,
        Err(error) => {
            screen::release();
            warn(&format!("-tui: {error}; the run goes on without the view"));
            return None;
        }
    };
    let state = State::new(plan.name.clone(), plan.begins_for(), target_labels(plan));
    let mut view =
        FullScreen { terminal, state, interrupts: interrupts.clone(), looked: Nanos::ZERO };
    view.draw();
    Some(view)
}

impl FullScreen {
    fn draw(&mut self) {
        let state = &self.state;
        // A terminal that went away is no reason to stop the load.
        self.terminal.draw(|frame| view::draw(frame, state)).ok();
    }
}

impl Observer for FullScreen {
    fn rows(&mut self, batch: &Batch) -> Result<(), ObserverError> {
        self.state.add_rows(batch);
        Ok(())
    }

    fn progress(&mut self, snapshot: &Snapshot, control: &mut Control<'_>) {
        self.state.elapsed = control.elapsed();
        self.state.add_second(snapshot);
        self.draw();
    }

    fn tick(&mut self, control: &mut Control<'_>) {
        let now = control.elapsed();
        if now.saturating_sub(self.looked) < KEYS_EVERY {
            return;
        }
        self.looked = now;
        let was_ending = std::mem::replace(&mut self.state.is_ending, control.interrupts() > 0);
        let keys = screen::pressed();
        for key in &keys {
            if self.state.press(*key) {
                self.interrupts.interrupt();
            }
        }
        if !keys.is_empty() || was_ending != self.state.is_ending {
            self.state.elapsed = now;
            self.draw();
        }
    }

    fn finished(&mut self) {
        screen::release();
    }
}

impl Drop for FullScreen {
    fn drop(&mut self) {
        screen::release();
    }
}
