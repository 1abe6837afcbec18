//! The load of a command line of ghz: a closed set of workers, or a rate that so many calls at once may carry.

use anyhow::{Result, bail};
use stdx::Nanos;
use workload::Load;
use workload::arrival::{Rate, Shape, ShapeSpec};

use super::options::GhzOptions;
use super::workers::WorkerSchedule;

/// The steps of a schedule, at most.
const STEPS_MAX: usize = 10_000;
/// How long the last rate goes on: what ends the run comes before.
const LAST: &str = "1000h";

/// When calls are made.
///
/// # Errors
/// A schedule is unknown, or has no end where it needs one.
pub(super) fn load(options: &GhzOptions, workers: &WorkerSchedule) -> Result<Load> {
    let users = workers.first();
    let max_in_flight = (!options.is_on("async")).then_some(users);
    let rate = options.count("rps", 0);
    let shape = match (options.text("load-schedule").unwrap_or("const"), rate) {
        ("const", 0) => return Ok(Load::Closed { users }),
        ("const", rate) => Shape::constant(Rate::per_second(rate)),
        ("step", _) => steps(options)?,
        ("line", _) => line(options)?,
        (other, _) => bail!("--load-schedule: \"{other}\" is none of const, step, line"),
    };
    Ok(Load::Open { shape, max_in_flight })
}

/// A step of `load-step` after each `load-step-duration`, up to `load-end` or `load-max-duration`.
fn steps(options: &GhzOptions) -> Result<Shape> {
    let Some(every) = options.time("load-step-duration") else {
        bail!("--load-schedule step needs --load-step-duration");
    };
    rates(options, every)
}

/// A slope of `load-step` a second: by steps of a second, as ghz has it.
fn line(options: &GhzOptions) -> Result<Shape> {
    rates(options, Nanos::SECOND)
}

/// The rates from `load-start` on, each for this long.
fn rates(options: &GhzOptions, every: Nanos) -> Result<Shape> {
    let (mut rate, step) = (options.number("load-start", 0), options.number("load-step", 0));
    let end = options.value("load-end").and_then(serde_json::Value::as_i64).filter(|end| *end > 0);
    let longest = options.time("load-max-duration");
    if step == 0 || rate < 0 || (end.is_none() && longest.is_none()) {
        bail!(
            "--load-schedule needs --load-start, --load-step, and --load-end or --load-max-duration"
        );
    }
    let (mut text, mut at) = (String::from("steps:"), Nanos::ZERO);
    for _ in 0..STEPS_MAX {
        let is_last = end.is_some_and(|end| if step > 0 { rate >= end } else { rate <= end })
            || longest.is_some_and(|longest| at >= longest)
            || rate + step < 0;
        let rate_now = match end {
            Some(end) if is_last => end,
            _ => rate,
        };
        if is_last {
            text.push_str(&format!("{rate_now}x{LAST}"));
            return parsed(&text);
        }
        // A rate of nothing is no step of ours: ghz waits as well.
        text.push_str(&format!("{}x{every},", rate_now.max(1)));
        (rate, at) = (rate + step, at + every);
    }
    bail!("--load-schedule: more than {STEPS_MAX} steps")
}

fn parsed(text: &str) -> Result<Shape> {
    match Shape::parse(text, None) {
        Ok(ShapeSpec::Shape(shape)) => Ok(shape),
        Ok(ShapeSpec::ReplayFile { .. }) => bail!("--load-schedule: {text}"),
        Err(error) => bail!("--load-schedule: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loaded(line: &str) -> Result<Load> {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let options = GhzOptions::of_args(&args)?;
        load(&options, &WorkerSchedule::of(&options)?)
    }

    #[test]
    fn rates_and_workers_are_loads() {
        assert!(matches!(loaded(""), Ok(Load::Closed { users: 50 })));
        assert!(matches!(loaded("-r 20 -c 4"), Ok(Load::Open { max_in_flight: Some(4), .. })));
        assert!(matches!(loaded("-r 20 --async"), Ok(Load::Open { max_in_flight: None, .. })));
        let of = |line: &str| match loaded(line).expect(line) {
            Load::Open { shape, .. } => shape.mean_rate_per_s(Some(Nanos::from_secs(4))),
            other => panic!("{other:?}"),
        };
        let step = "--load-schedule step --load-start 10 --load-step 10 --load-end 30 --load-step-duration 1s";
        // 10, 20, then 30 for two seconds.
        assert!((of(step) - 22.5).abs() < 0.1, "{}", of(step));
        let down = "--load-schedule line --load-start 30 --load-step -10 --load-end 10";
        assert!((of(down) - 17.5).abs() < 0.1, "{}", of(down));
        assert!(loaded("--load-schedule step --load-start 10").is_err());
        assert!(loaded("--load-schedule wave").is_err());
    }
}
