//! `Watch`: follows a running test. It ends the test when a threshold is crossed or the REST API demands it, and draws the
//! progress.

use std::io::{IsTerminal as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use report::terminal_lines;
use script::{Control, LiveMetrics};
use serde_json::Value;
use session::Control as RunControl;

use crate::dashboard;
use crate::judge::{self, Limit};
use crate::rest::Rest;
use crate::setup_totals::SetupTotals;
use cli::terminal::{self, DrawnLines};

/// Follows a running test.
pub(super) struct Watch {
    began: Instant,
    control: Arc<Control>,
    live: Arc<LiveMetrics>,
    before: SetupTotals,
    limits: Vec<Limit>,
    judge_every: Duration,
    judge_at: Instant,
    /// A threshold that ends the test is crossed.
    crossed: Arc<AtomicBool>,
    rest: Option<Arc<Rest>>,
    progress: Option<Progress>,
    aborted: bool,
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(rest) = &self.rest {
            rest.end();
        }
    }
}

/// How often thresholds are judged, as k6 does.
pub(super) const JUDGE_EVERY: Duration = Duration::from_secs(2);
/// The same on a fleet, whose metrics are up to a second old.
pub(super) const JUDGE_FLEET_EVERY: Duration = Duration::from_secs(1);

impl Watch {
    pub(super) fn new(
        control: Arc<Control>,
        live: Arc<LiveMetrics>,
        before: SetupTotals,
        (limits, judge_every): (Vec<Limit>, Duration),
    ) -> Self {
        let began = Instant::now();
        Self {
            began,
            control,
            live,
            before,
            limits,
            judge_every,
            judge_at: began + judge_every,
            crossed: Arc::default(),
            rest: None,
            progress: None,
            aborted: false,
        }
    }

    /// The scenarios begin then, and not now: the agents of a fleet wait for each other.
    pub(super) fn begins_at(&mut self, instant: Instant) {
        self.began = instant;
        self.judge_at = instant + self.judge_every;
    }

    /// Serves the REST API.
    pub(super) fn serve(&mut self, rest: Option<Arc<Rest>>) {
        if let Some(rest) = &rest {
            rest.begin(Arc::clone(&self.control), Arc::clone(&self.live), self.before.clone());
        }
        self.rest = rest;
    }

    /// Whether a threshold has ended the test; it outlives the `Watch`.
    pub(super) fn crossed(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.crossed)
    }

    /// Shows progress.
    pub(super) fn show(&mut self, progress: Progress) {
        self.progress = Some(progress);
    }

    /// What the live page shows beside the requests.
    pub(super) fn beside(&self) -> Value {
        let mut tally = self.before.tally.clone();
        self.live.add(&mut tally);
        let elapsed = self.before.elapsed + self.elapsed();
        let thresholds = judge::judge(&self.limits, &tally, elapsed.into(), false);
        dashboard::beside(&tally, elapsed.as_secs_f64(), &thresholds, &self.control.instance())
    }

    /// The time since the scenarios began.
    fn elapsed(&self) -> Duration {
        Instant::now().saturating_duration_since(self.began)
    }

    /// Judges thresholds, ends the test if one asks for it, and draws progress.
    pub(super) fn update(&mut self, run: &mut RunControl<'_>) {
        let now = Instant::now();
        let elapsed = self.elapsed();
        if judge::may_end(&self.limits) && now >= self.judge_at {
            self.judge_at = now + self.judge_every;
            let mut tally = self.before.tally.clone();
            self.live.add(&mut tally);
            let elapsed = self.before.elapsed + elapsed;
            if judge::ends(&self.limits, &tally, elapsed.into()) {
                self.crossed.store(true, Ordering::Relaxed);
            }
        }
        let stopped = self.rest.as_ref().is_some_and(|rest| rest.is_stopped());
        let crossed = self.crossed.load(Ordering::Relaxed);
        if !self.aborted && (stopped || crossed || self.control.is_halted()) {
            self.aborted = true;
            self.control.interrupt();
            run.abort();
        }
        if let Some(progress) = &mut self.progress {
            progress.draw(elapsed, &self.control, false);
        }
    }
}

/// Progress on standard output, in k6's manner: a bar for each scenario.
pub(super) struct Progress {
    /// Names, how long they are to take from the start, and their VUs.
    pub(super) scenarios: Vec<(String, Duration, u64)>,
    pub(super) vus_max: u64,
    /// How long the test took beside them.
    pub(super) beside: Duration,
    terminal: bool,
    draw_at: Duration,
    /// Lines on the terminal that are drawn anew.
    drawn: DrawnLines,
}

/// The width of a bar on a terminal that has room for it.
const BAR: usize = 38;
/// The least width of a bar; where there is less room it is left out.
const BAR_MIN: usize = 4;

impl Progress {
    pub(super) fn new(scenarios: Vec<(String, Duration, u64)>, vus_max: u64) -> Self {
        let terminal = std::io::stdout().is_terminal();
        let (beside, draw_at) = (Duration::ZERO, Duration::from_secs(1));
        Self { scenarios, vus_max, beside, terminal, draw_at, drawn: DrawnLines::default() }
    }

    /// Draws it so long after the scenarios began, if it is time or the end.
    pub(super) fn draw(&mut self, elapsed: Duration, control: &Control, is_end: bool) {
        if elapsed < self.draw_at && !is_end {
            return;
        }
        let every = if self.terminal { Duration::from_millis(200) } else { Duration::from_secs(1) };
        self.draw_at = elapsed + every;
        let seen = control.instance();
        // Asked for anew each time: a terminal may change its size.
        let width = if self.terminal { terminal::width(&std::io::stdout()) } else { usize::MAX };
        let counts = (seen.active, seen.completed, seen.interrupted);
        let text = self.text(elapsed, counts, is_end, width);
        let back = self.drawn.erase(width);
        if self.terminal {
            self.drawn.record(&text);
        }
        // If stdout is closed, there is nothing left to do.
        let mut stdout = std::io::stdout().lock();
        write!(stdout, "{back}{text}").and_then(|()| stdout.flush()).ok();
    }

    fn text(
        &self,
        elapsed: Duration,
        (active, completed, interrupted): (u64, u64, u64),
        is_end: bool,
        columns: usize,
    ) -> String {
        let (vus_max, at) = (self.vus_max, clock(self.beside + elapsed));
        let whole = format!(
            "running ({at}), {active:02}/{vus_max} VUs, {completed} complete and {interrupted} interrupted iterations"
        );
        let short =
            format!("{at}  {active:02}/{vus_max} VUs  {completed} done, {interrupted} cut off");
        let first = if whole.chars().count() <= columns { whole } else { short };
        let mut text = format!("\n{}\n", cut(&first, columns));
        let width = self.scenarios.iter().map(|of| of.0.chars().count()).max().unwrap_or(0);
        for (name, duration, vus) in &self.scenarios {
            let share = if is_end || duration.is_zero() {
                1.0
            } else {
                (elapsed.as_secs_f64() / duration.as_secs_f64()).min(1.0)
            };
            let (mark, percent) = (if is_end { "✓" } else { " " }, (share * 100.0) as u64);
            let (at, of) = (clock(elapsed.min(*duration)), clock(*duration));
            let name = terminal_lines(name);
            let (head, tail) = (format!("{name:<width$} {mark} "), format!("{vus} VUs  {at}/{of}"));
            let taken = head.chars().count() + tail.chars().count() + "[] ".len();
            let room = columns.saturating_sub(taken).min(BAR);
            let bar = match (self.terminal, room) {
                (true, BAR_MIN..) => {
                    let full = (share * room as f64) as usize;
                    format!("[{}{}] ", "=".repeat(full), "-".repeat(room - full))
                }
                (true, _) => String::new(),
                (false, _) => format!("[ {percent:>3}% ] "),
            };
            text.push_str(&format!("{}\n", cut(&format!("{head}{bar}{tail}"), columns)));
        }
        text
    }
}

/// As much of a line as fits.
fn cut(line: &str, columns: usize) -> String {
    line.chars().take(columns).collect()
}

/// k6's clock: `00m05.3s`.
pub(super) fn clock(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    format!("{:02}m{:04.1}s", (seconds / 60.0).floor(), seconds % 60.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On 40 columns a bar of 38 wrapped, and what was drawn before stayed.
    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let second = Duration::from_secs(1);
        let scenarios = vec![("ramp".to_owned(), second * 10, 3), ("steady".to_owned(), second, 1)];
        let drawn = DrawnLines::default();
        let progress = Progress { drawn, terminal: true, ..Progress::new(scenarios, 4) };
        for columns in 1..200 {
            for (elapsed, counts) in [(0, (0, 0, 0)), (5, (4, 123_456, 7)), (700, (4, 1, 0))] {
                let text = progress.text(second * elapsed, counts, false, columns);
                assert_eq!(text.lines().count(), 4);
                let widest = text.lines().map(|line| line.chars().count()).max();
                assert!(widest <= Some(columns), "{columns}: {text}");
            }
        }
        let expect = "\n00m05.0s  02/4 VUs  7 done, 1 cut off\nramp     [==--] 3 VUs  00m05.0s/00m10.0s\nsteady   [====] 1 VUs  00m01.0s/00m01.0s\n";
        assert_eq!(progress.text(second * 5, (2, 7, 1), false, 40), expect);
    }

    /// Issue 41: the bars of a fleet ran for the seconds in which its agents waited for the start.
    #[test]
    fn bars_begin_with_the_load() {
        let control = Control::new(&[], &workload::Segment::default());
        let before =
            SetupTotals { tally: metrics::tally::Tally::default(), elapsed: Duration::ZERO };
        let limits = (Vec::new(), JUDGE_EVERY);
        let mut watch = Watch::new(control, Arc::default(), before, limits);
        let hour = Duration::from_secs(3600);
        watch.begins_at(Instant::now() + hour);
        assert_eq!(watch.elapsed(), Duration::ZERO);
        assert!(watch.judge_at > watch.began);
    }

    #[test]
    fn progress_is_a_bar_for_each_scenario() {
        let second = Duration::from_secs(1);
        let scenarios = vec![("a".to_owned(), second * 10, 3), ("long".to_owned(), second * 20, 1)];
        let progress = Progress { beside: second * 2, ..Progress::new(scenarios, 4) };
        let progress = Progress { terminal: false, ..progress };
        let expect = "\nrunning (00m07.0s), 02/4 VUs, 7 complete and 1 interrupted iterations\na      [  50% ] 3 VUs  00m05.0s/00m10.0s\nlong   [  25% ] 1 VUs  00m05.0s/00m20.0s\n";
        assert_eq!(progress.text(second * 5, (2, 7, 1), false, usize::MAX), expect);
    }
}
