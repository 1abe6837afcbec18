//! The number of workers that call at once: a fixed one, or one that a schedule raises or lowers while the run goes on.

use anyhow::{Result, bail};
use stdx::Nanos;

use super::options::GhzOptions;

/// The steps of a schedule, at most.
const STEPS_MAX: usize = 10_000;

/// A number of workers, from a moment of the run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Workers {
    /// Since the run's start.
    pub(super) from: Nanos,
    pub(super) count: u64,
}

/// The workers of a run, in the order of their moments; the first is its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WorkerSchedule(Vec<Workers>);

impl WorkerSchedule {
    /// As the options say.
    ///
    /// # Errors
    /// A schedule is unknown, has no end, or goes with a rate.
    pub(super) fn of(options: &GhzOptions) -> Result<Self> {
        let fixed = options.count("concurrency", 50).max(1);
        let every = match options.text("concurrency-schedule").unwrap_or("const") {
            "const" => return Ok(Self(vec![Workers { from: Nanos::ZERO, count: fixed }])),
            "step" => options.time("concurrency-step-duration"),
            // A slope is steps of a second.
            "line" => Some(Nanos::SECOND),
            other => {
                bail!("--concurrency-schedule: \"{other}\" is none of const, step, line")
            }
        };
        let Some(every) = every else {
            bail!("--concurrency-schedule step needs --concurrency-step-duration");
        };
        if options.count("rps", 0) > 0 || has_load_schedule(options) {
            bail!("--concurrency-schedule is not done together with a rate by brunt ghz");
        }
        Steps::of(options)?.schedule(every).map(Self)
    }

    /// The workers at the start.
    pub(super) fn first(&self) -> u64 {
        self.0.first().map_or(1, |workers| workers.count)
    }

    /// The most that there ever are.
    pub(super) fn most(&self) -> u64 {
        self.0.iter().map(|workers| workers.count).max().unwrap_or(1)
    }

    /// Whether their number changes.
    pub(super) fn changes(&self) -> bool {
        self.0.len() > 1
    }

    /// The changes after the start, in their order.
    pub(super) fn later(&self) -> Vec<Workers> {
        self.0.iter().skip(1).copied().collect()
    }
}

fn has_load_schedule(options: &GhzOptions) -> bool {
    options.text("load-schedule").is_some_and(|word| word != "const")
}

/// The numbers of a schedule.
struct Steps {
    start: i64,
    step: i64,
    end: Option<i64>,
    longest: Option<Nanos>,
}

impl Steps {
    fn of(options: &GhzOptions) -> Result<Self> {
        let number = |name: &str| options.number(name, 0);
        let (start, step) = (number("concurrency-start"), number("concurrency-step"));
        let end = Some(number("concurrency-end")).filter(|end| *end > 0);
        let longest = options.time("concurrency-max-duration");
        if step == 0 || start < 0 || (end.is_none() && longest.is_none()) {
            bail!(
                "--concurrency-schedule needs --concurrency-start, --concurrency-step, and --concurrency-end or --concurrency-max-duration"
            );
        }
        Ok(Self { start, step, end, longest })
    }

    /// A step after each `every`, until the end is reached or the time is over, which leads to the end at once.
    fn schedule(&self, every: Nanos) -> Result<Vec<Workers>> {
        let mut all = Vec::new();
        let (mut count, mut from) = (self.start, Nanos::ZERO);
        loop {
            // Without workers nothing would be called: there is one at least.
            all.push(Workers { from, count: count.max(1).unsigned_abs() });
            if self.is_reached(count) {
                return Ok(all);
            }
            if all.len() > STEPS_MAX {
                bail!("--concurrency-schedule: more than {STEPS_MAX} steps");
            }
            from = from.saturating_add(every);
            count = match (self.longest, self.end) {
                (Some(longest), end) if from > longest => {
                    let last = end.map(|end| Workers { from, count: end.unsigned_abs() });
                    all.extend(last);
                    return Ok(all);
                }
                _ => count + self.step,
            };
        }
    }

    fn is_reached(&self, count: i64) -> bool {
        match self.end {
            Some(end) if self.step > 0 => count >= end,
            end => self.step < 0 && count <= end.unwrap_or(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(line: &str) -> Result<Vec<(u64, u64)>> {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let of = WorkerSchedule::of(&GhzOptions::of_args(&args)?)?;
        Ok(of.0.iter().map(|workers| (workers.from.0 / 1_000_000, workers.count)).collect())
    }

    #[test]
    fn workers_come_and_go_by_steps() {
        let check = |line: &str, expect: &[(u64, u64)]| {
            assert_eq!(counts(line).expect(line), expect, "{line}");
        };
        check("", &[(0, 50)]);
        check("-c 7", &[(0, 7)]);
        check(
            "--concurrency-schedule step --concurrency-start 5 --concurrency-step 5 --concurrency-end 15 --concurrency-step-duration 500ms",
            &[(0, 5), (500, 10), (1000, 15)],
        );
        check(
            "--concurrency-schedule line --concurrency-start 6 --concurrency-step -2 --concurrency-end 2",
            &[(0, 6), (1000, 4), (2000, 2)],
        );
        // The time is over first.
        check(
            "--concurrency-schedule step --concurrency-start 1 --concurrency-step 1 --concurrency-end 50 --concurrency-step-duration 1s --concurrency-max-duration 2s",
            &[(0, 1), (1000, 2), (2000, 3), (3000, 50)],
        );
        check(
            "--concurrency-schedule step --concurrency-start 3 --concurrency-step 2 --concurrency-step-duration 1s --concurrency-max-duration 1s",
            &[(0, 3), (1000, 5)],
        );
    }

    #[test]
    fn what_has_no_end_is_refused() {
        let step = "--concurrency-schedule step --concurrency-start 1 --concurrency-step 1";
        for (line, word) in [
            ("--concurrency-schedule wave", "none of const"),
            (step, "--concurrency-step-duration"),
            (&format!("{step} --concurrency-step-duration 1s"), "--concurrency-end"),
            (
                &format!("{step} --concurrency-step-duration 1s --concurrency-end 3 -r 5"),
                "together with a rate",
            ),
            (
                &format!("{step} --concurrency-step-duration 1ns --concurrency-end 50000"),
                "more than",
            ),
        ] {
            let error = counts(line).expect_err(line).to_string();
            assert!(error.contains(word), "{line}: {error}");
        }
    }
}
