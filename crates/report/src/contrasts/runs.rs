//! How many runs are missing, and how long they take.

use stdx::{Nanos, list_and, plural};
use study::contrast::{Change, Finding, LimitVerdict, RUNS_MAX, RUNS_MIN};

use super::{Contrasts, Row, Variant};
use crate::number::{counted, duration};

const SECOND: u64 = 1_000_000_000;
const MINUTE: u64 = 60 * SECOND;

impl Contrasts {
    /// `make 2 more of a and 2 more of b (some 20s)`; nothing where there are so many.
    fn make(&self, row: &Row, runs: usize) -> Option<String> {
        let sides =
            [self.variants.first(), self.variants.iter().find(|one| one.label == row.label)];
        let missing = sides.into_iter().flatten().filter_map(|side| {
            let more = runs.checked_sub(side.runs.len()).filter(|more| *more > 0)?;
            Some((more, side))
        });
        let missing: Vec<(usize, &Variant)> = missing.collect();
        let parts: Vec<String> =
            missing.iter().map(|(more, side)| format!("{more} more of {}", side.label)).collect();
        let time: u64 = missing.iter().map(|(more, side)| *more as u64 * length(side)).sum();
        (!parts.is_empty()).then(|| format!("make {}{}", parts.join(" and "), some_time(time)))
    }

    pub(super) fn make_after_colon(&self, row: &Row, runs: usize) -> String {
        self.make(row, runs).map_or(String::new(), |make| format!(": {make}"))
    }

    /// Which runs are missing for a verdict, one sentence for each comparison that a number of runs decides.
    pub(super) fn missing_runs(&self) -> Vec<String> {
        self.rows.iter().filter_map(|row| self.missing_of(row)).collect()
    }

    fn missing_of(&self, row: &Row) -> Option<String> {
        if !row.found.is_enough() {
            return Some(self.make(row, RUNS_MIN)? + ".");
        }
        let needed = row.needed()?;
        let has_any = |one: &Change| one.centres != (0.0, 0.0);
        let is_decided = |one: &Change| one.finding != Finding::CannotTell && has_any(one);
        let as_well = if row.found.changes.iter().any(is_decided) { " as well" } else { "" };
        let make = self.make_after_colon(row, needed.runs);
        Some(format!(
            "about {} of each would decide {}{as_well}, if they vary as these do{make}.",
            counted(needed.runs as u64, "run"),
            names(&needed.of),
        ))
    }

    /// The measures that not even the most runs would decide, one sentence for each comparison.
    pub(super) fn never_decided(&self) -> Vec<String> {
        let of_row = |row: &Row| {
            let open = row.open().filter(|_| row.found.is_enough());
            let unknown: Vec<&Change> = open.filter(|one| one.runs_needed.is_none()).collect();
            let vary = if unknown.len() == 1 { "varies" } else { "vary" };
            (!unknown.is_empty()).then(|| {
                format!(
                    "{} of {} and {} {vary} so much that {RUNS_MAX} runs of each, the most that are compared, would hardly decide.",
                    names(&unknown),
                    row.label,
                    self.first_label()
                )
            })
        };
        self.rows.iter().filter_map(of_row).collect()
    }
}

/// How many runs are missing for what.
pub(super) struct RunsNeeded<'a> {
    /// Runs of each.
    pub(super) runs: usize,
    /// What they would decide.
    of: Vec<&'a Change>,
}

impl Row {
    /// How many runs of each would decide what is open: of the limits that are not decided, where there are any, else of the figure
    /// that is judged first, and where that is decided of all others. The one number that every form and every sentence gives; `None` where it is not known.
    pub(super) fn needed(&self) -> Option<RunsNeeded<'_>> {
        let is_unclear = |one: &&Change| {
            let mut limits = self.verdicts.iter();
            limits.any(|(of, is)| of.measure == one.measure && *is == LimitVerdict::Unclear)
        };
        let is_known = |one: &&Change| one.runs_needed.is_some();
        let gated: Vec<&Change> =
            self.found.changes.iter().filter(is_unclear).filter(is_known).collect();
        let is_primary = |one: &&Change| one.measure == self.found.primary;
        let primary: Vec<&Change> = self.open().filter(is_primary).filter(is_known).collect();
        let of = match (gated.is_empty(), primary.is_empty()) {
            (false, _) => gated,
            (true, false) => primary,
            (true, true) => self.open().filter(is_known).collect(),
        };
        let runs = of.iter().filter_map(|one| one.runs_needed).max()?;
        Some(RunsNeeded { runs, of })
    }

    /// The changes that these runs do not decide.
    fn open(&self) -> impl Iterator<Item = &Change> {
        self.found.changes.iter().filter(|one| one.finding == Finding::CannotTell)
    }
}

fn names(of: &[&Change]) -> String {
    let names: Vec<&str> = of.iter().map(|one| one.measure.name()).collect();
    list_and(&names)
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
