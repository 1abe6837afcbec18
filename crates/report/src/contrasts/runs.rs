//! How many runs are missing, and how long they take.

use stdx::{Nanos, plural};
use study::contrast::{Change, Finding, RUNS_MIN};

use super::{Contrasts, Row, Variant};
use crate::number::{counted, duration};

const SECOND: u64 = 1_000_000_000;
const MINUTE: u64 = 60 * SECOND;

impl Contrasts {
    /// `: make 2 more of a and 2 more of b (some 20s)`; nothing where there are so many.
    pub(super) fn make(&self, row: &Row, runs: usize) -> String {
        let sides =
            [self.variants.first(), self.variants.iter().find(|one| one.label == row.label)];
        let missing = sides.into_iter().flatten().filter_map(|side| {
            let more = runs.checked_sub(side.runs.len()).filter(|more| *more > 0)?;
            Some((more, side))
        });
        let missing: Vec<(usize, &Variant)> = missing.collect();
        if missing.is_empty() {
            return String::new();
        }
        let parts: Vec<String> =
            missing.iter().map(|(more, side)| format!("{more} more of {}", side.label)).collect();
        let time: u64 = missing.iter().map(|(more, side)| *more as u64 * length(side)).sum();
        format!(": make {}{}", parts.join(" and "), some_time(time))
    }

    /// What is missing for a verdict, one sentence for each comparison.
    pub(super) fn missing_runs(&self) -> Vec<String> {
        self.rows.iter().filter_map(|row| self.missing_of(row)).collect()
    }

    fn missing_of(&self, row: &Row) -> Option<String> {
        let first = self.first_label();
        let label = &row.label;
        if !row.found.is_enough() {
            return Some(format!(
                "whether {label} differs from {first} takes at least {RUNS_MIN} runs of each; the changes above are what these runs \
                 showed, and say nothing of the next{}.",
                self.make(row, RUNS_MIN)
            ));
        }
        let open = row.found.changes.iter().filter(|one| one.finding == Finding::CannotTell);
        let (known, unknown): (Vec<&Change>, Vec<&Change>) =
            open.partition(|one| one.runs_needed.is_some());
        let most = known.iter().filter_map(|one| one.runs_needed).max();
        let names =
            |of: &[&Change]| of.iter().map(|one| one.measure.name()).collect::<Vec<_>>().join(", ");
        let enough = most.map(|runs| {
            format!(
                "about {} of each would decide {} as well, if they vary as these do{}.",
                counted(runs as u64, "run"),
                names(&known),
                self.make(row, runs)
            )
        });
        let never = (!unknown.is_empty()).then(|| {
            let vary = if unknown.len() == 1 { "varies" } else { "vary" };
            format!(
                "{} of {label} and {first} {vary} too much for any number of runs to decide.",
                names(&unknown)
            )
        });
        let both: Vec<String> = enough.into_iter().chain(never).collect();
        (!both.is_empty()).then(|| both.join(" "))
    }
}

/// The median length of a variant's runs (ns).
fn length(side: &Variant) -> u64 {
    let length = |run: &super::VariantRun| run.span.1.saturating_sub(run.span.0).max(0) as u64;
    let mut lengths: Vec<u64> = side.runs.iter().map(length).collect();
    lengths.sort_unstable();
    lengths.get(lengths.len() / 2).copied().unwrap_or(0)
}

/// ` (some 20s)`, without more digits than an estimate has; nothing below a second.
fn some_time(time: u64) -> String {
    let text = match time {
        0..SECOND => return String::new(),
        SECOND..MINUTE => duration(Nanos(time.div_ceil(SECOND) * SECOND)),
        _ => {
            let minutes = time.div_ceil(MINUTE);
            format!("{minutes} {}", plural(minutes, "minute"))
        }
    };
    format!(" (some {text} of load)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_estimates() {
        let cases = [
            (0, ""),
            (900_000_000, ""),
            (1_500_000_000, " (some 2s of load)"),
            (59 * SECOND, " (some 59s of load)"),
            (61 * SECOND, " (some 2 minutes of load)"),
            (MINUTE, " (some 1 minute of load)"),
        ];
        for (time, text) in cases {
            assert_eq!(some_time(time), text);
        }
    }
}
