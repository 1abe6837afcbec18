//! Live progress: one frame as lines of text, a pure function of what was seen and the terminal's width. It draws nothing:
//! the caller writes the lines and moves the cursor back over them.

use metrics::Snapshot;
use stdx::Nanos;

use crate::number::{duration, grouped};

/// Lines of every frame.
pub const LINES: usize = 3;
/// The least width a frame is laid out for; narrower terminals get its lines cut.
pub const WIDTH_MIN: usize = 40;
/// The greatest width used.
pub const WIDTH_MAX: usize = 120;

/// What a frame shows.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// The attack's name; may be empty.
    pub name: &'a str,
    /// Everything seen so far, merged.
    pub total: &'a Snapshot,
    /// The last stretch; `None` before the first.
    pub recent: Option<&'a Snapshot>,
    /// Time since the run's start.
    pub elapsed: Nanos,
    /// How long the run will go on in all; `None` until stopped.
    pub duration: Option<Nanos>,
    /// The planned hits per second at this time; 0 in a closed loop.
    pub rate_asked_per_s: f64,
}

/// Whether a frame carries colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// Plain text.
    Plain,
    /// ANSI colours.
    Ansi,
}

/// One frame: [`LINES`] lines, each at most `width` columns wide, each ended by a line feed.
#[must_use]
pub fn frame(progress: &Progress<'_>, width: usize, paint: Paint) -> String {
    let width = width.min(WIDTH_MAX);
    let laid_out = width.max(WIDTH_MIN);
    let mut out = String::new();
    for (line, colour) in
        [bar(progress, laid_out), rates(progress, laid_out), times(progress, laid_out)]
    {
        let cut: String = line.chars().take(width).collect();
        match (paint, colour) {
            (Paint::Ansi, Some(colour)) => {
                out.push_str(&format!("\x1b[{}m{cut}\x1b[0m\n", colour.code()));
            }
            _ => {
                out.push_str(&cut);
                out.push('\n');
            }
        }
    }
    out
}

/// A line's colour.
enum Tone {
    Calm,
    Alarm,
}

impl Tone {
    const fn code(&self) -> u8 {
        match self {
            Self::Calm => 36,
            Self::Alarm => 31,
        }
    }
}

type Line = (String, Option<Tone>);

/// `name [=====>     ]  42%  2.1s of 5s`.
fn bar(progress: &Progress<'_>, width: usize) -> Line {
    let elapsed = seconds(progress.elapsed);
    let name: String = crate::escape::terminal(progress.name).chars().take(width / 4).collect();
    let name = if name.is_empty() { name } else { name + " " };
    let Some(whole) = progress.duration.filter(|whole| *whole > Nanos::ZERO) else {
        return (format!("{name}running for {elapsed}"), Some(Tone::Calm));
    };
    let share = (progress.elapsed.as_secs_f64() / whole.as_secs_f64()).min(1.0);
    let tail = format!(" {:>3.0}%  {elapsed} of {}", (share * 100.0).floor(), seconds(whole));
    let room = width.saturating_sub(name.chars().count() + tail.chars().count() + 2);
    let full = (share * room as f64).floor() as usize;
    let head = if full < room { ">" } else { "" };
    let done = "=".repeat(full);
    let rest = " ".repeat(room.saturating_sub(full + head.len()));
    (format!("{name}[{done}{head}{rest}]{tail}"), Some(Tone::Calm))
}

/// The planned and the achieved rate, hits so far, hits under way.
fn rates(progress: &Progress<'_>, width: usize) -> Line {
    let achieved = progress.recent.map_or(0.0, |recent| {
        let time = recent.to.saturating_sub(recent.from).as_secs_f64();
        if time > 0.0 { recent.hits() as f64 / time } else { 0.0 }
    });
    let asked = match progress.rate_asked_per_s {
        rate if rate > 0.0 => format!("asked {}/s  ", rate_text(rate)),
        _ => String::new(),
    };
    let in_flight = progress.recent.map_or(progress.total.in_flight, |recent| recent.in_flight);
    let line = format!("rate   {asked}achieved {}/s", rate_text(achieved));
    let hits = grouped(progress.total.hits());
    let parts = [format!("{hits} done"), format!("{} under way", grouped(in_flight))];
    (joined(line, &parts, width), None)
}

/// Response times of the last stretch, and errors so far.
fn times(progress: &Progress<'_>, width: usize) -> Line {
    let response = &progress.recent.unwrap_or(progress.total).response;
    let [p50, p99] = [0.5, 0.99].map(|q| duration(response.quantile(q)));
    let hits = progress.total.hits();
    let errors = hits.saturating_sub(progress.total.successes);
    let share = errors as f64 / hits.max(1) as f64 * 100.0;
    let line = format!("times  p50 {p50}  p99 {p99}");
    let parts = [format!("errors {} ({share:.2}%)", grouped(errors))];
    (joined(line, &parts, width), (errors > 0).then_some(Tone::Alarm))
}

/// The line with as many of the parts as fit.
fn joined(mut line: String, parts: &[String], width: usize) -> String {
    for part in parts {
        if line.chars().count() + 2 + part.chars().count() <= width {
            line.push_str("  ");
            line.push_str(part);
        }
    }
    line
}

fn rate_text(rate: f64) -> String {
    if rate >= 1000.0 { grouped(rate.round() as u64) } else { format!("{rate:.1}") }
}

/// To a tenth of a second below a minute, to the second above: a bar should not flicker.
fn seconds(time: Nanos) -> String {
    let step = if time < Nanos::from_secs(60) { 100_000_000 } else { 1_000_000_000 };
    Nanos(time.0 / step * step).to_string()
}

#[cfg(test)]
mod tests {
    use metrics::Sample;

    use super::*;

    fn seen(hits: u64, failed: u64) -> Snapshot {
        let mut snapshot = Snapshot::new();
        snapshot.to = Nanos::SECOND;
        for n in 0..hits {
            let status = if n < failed { 503 } else { 200 };
            let done = Nanos::from_micros(1500 + n);
            snapshot.record(&Sample {
                done,
                outcome: metrics::Outcome::http(status),
                ..Sample::default()
            });
        }
        snapshot.in_flight = 3;
        snapshot
    }

    fn shown(total: &Snapshot, elapsed: Nanos, width: usize) -> String {
        let progress = Progress {
            name: "home",
            total,
            recent: Some(total),
            elapsed,
            duration: Some(Nanos::from_secs(5)),
            rate_asked_per_s: 50.0,
        };
        frame(&progress, width, Paint::Plain)
    }

    #[test]
    fn a_frame() {
        let text = shown(&seen(50, 0), Nanos::from_millis(2500), 60);
        assert_eq!(
            text,
            "home [==================>                 ]  50%  2.5s of 5s\n\
             rate   asked 50.0/s  achieved 50.0/s  50 done  3 under way\n\
             times  p50 1.525ms  p99 1.549ms  errors 0 (0.00%)\n"
        );
    }

    #[test]
    fn every_width_holds() {
        let total = seen(50, 7);
        for width in 0..200 {
            for elapsed in [0, 1, 5_000, 90_000_000] {
                let text = shown(&total, Nanos::from_millis(elapsed), width);
                assert_eq!(text.lines().count(), LINES);
                assert!(text.lines().all(|line| line.chars().count() <= width), "{width}\n{text}");
            }
        }
    }

    #[test]
    fn colours_only_on_request() {
        let total = seen(5, 1);
        let progress = Progress {
            name: "\x1b[2J",
            total: &total,
            recent: None,
            elapsed: Nanos::SECOND,
            duration: None,
            rate_asked_per_s: 0.0,
        };
        assert!(!frame(&progress, 80, Paint::Plain).contains('\x1b'));
        let coloured = frame(&progress, 80, Paint::Ansi);
        assert!(coloured.contains("\x1b[31mtimes"), "{coloured:?}");
        assert!(!coloured.contains("[2J\x1b") && !coloured.contains("\x1b[2J"));
    }
}
