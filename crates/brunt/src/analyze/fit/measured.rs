//! Measurements at several loads, from results, from the state of a seek, and from the command line.

use cli::{CommandError, ExitCode, ExitError, usage_error};
use recordings::{LabelledRuns, RecordedRun, read_labelled, undamaged};
use serde_json::Value;
use stdx::{Nanos, are, counted};
use study::scaling::{Observation, RunFigures, Sweep, by_most, load_of};
use study::seek::By;

use super::flags::{FitFlags, Point};

/// Bytes of a file in which a state's mark is looked for.
const MARK_MAX: usize = 64;
/// What a seek's state begins with.
const MARK: &str = "\"brunt_seek\"";

/// What was measured.
pub(super) struct Measurements {
    pub(super) sweep: Sweep,
    /// What must be known of it.
    pub(super) notes: Vec<String>,
    /// The error of a damaged file; what could be read of it counts.
    pub(super) damage: Result<(), ExitError>,
}

/// Reads what was measured.
pub(super) fn measured(
    operands: &[String],
    flags: &FitFlags,
) -> Result<Measurements, CommandError> {
    let mut notes = Vec::new();
    let given = flags.by.as_deref().map(|by| if by == "rate" { By::Rate } else { By::Connections });
    let mut found: Vec<(Option<By>, Observation)> = Vec::new();
    let (states, results): (Vec<&String>, Vec<&String>) =
        operands.iter().partition(|operand| is_state(operand));
    for path in states {
        found.extend(of_state(path, &mut notes)?);
    }
    let results: Vec<String> = results.into_iter().cloned().collect();
    let labelled = if results.is_empty() {
        Vec::new()
    } else {
        read_labelled(&results, "fit", &metrics::Selector::default())?
    };
    let damage = undamaged(labelled.iter().flat_map(|one| &one.runs));
    for label in &labelled {
        found.extend(of_label(label, given, &mut notes)?);
    }
    let recorded = by_most(found.iter().filter_map(|(by, _)| *by));
    let by = given.or(recorded).unwrap_or(By::Connections);
    if let Some((Some(other), one)) = found.iter().find(|(of, _)| of.is_some_and(|of| of != by)) {
        let (load, word) = (one.load, if *other == By::Rate { "a rate" } else { "users" });
        return Err(usage_error(format!(
            "loads of two kinds: {load} is {word}, others are not (fit users and rates separately)"
        )));
    }
    let mut observations: Vec<Observation> = found.into_iter().map(|(_, one)| one).collect();
    for point in &flags.points {
        observations.push(of_point(point, by)?);
    }
    let sweep = Sweep::bounded(by, observations, &mut notes);
    Ok(Measurements { sweep, notes, damage })
}

/// Whether a file is the state of a seek. A pipe is none: what is read of it to find out would be missing afterwards.
fn is_state(path: &str) -> bool {
    use std::io::Read as _;
    let mut begin = Vec::new();
    if !std::fs::metadata(path).is_ok_and(|meta| meta.is_file()) {
        return false;
    }
    let Ok(file) = std::fs::File::open(path) else { return false };
    stdx::decompressed(file).take(MARK_MAX as u64).read_to_end(&mut begin).is_ok()
        && begin.starts_with(b"{")
        && String::from_utf8_lossy(&begin).contains(MARK)
}

/// The steps of a seek that say something of the server.
fn of_state(
    path: &str,
    notes: &mut Vec<String>,
) -> Result<Vec<(Option<By>, Observation)>, ExitError> {
    let broken = || ExitError {
        code: ExitCode::Input,
        error: anyhow::anyhow!("{path} is not a readable state file of brunt seek"),
    };
    let state: Value =
        serde_json::from_slice(&cli::input::read_text(path)?).map_err(|_| broken())?;
    let by = match state["search"]["by"].as_str() {
        Some("rate") => By::Rate,
        Some("connections") => By::Connections,
        _ => return Err(broken()),
    };
    let steps = state["steps"].as_array().ok_or_else(broken)?;
    let (mut observations, mut spoilt) = (Vec::new(), 0);
    for step in steps {
        // A step that was cut short saw a queue on its way up.
        if !step["spoilt"].is_null() || step["cut"] == Value::Bool(true) {
            spoilt += 1;
            continue;
        }
        let number = |name: &str| step[name].as_f64().ok_or_else(broken);
        let seconds = |name: &str| number(name).map(|ns| ns / 1e9);
        observations.push((
            Some(by),
            Observation {
                load: number("load")?,
                throughput_per_s: number("achieved_per_s")?,
                mean_s: seconds("mean_ns")?,
                p50_s: Some(seconds("p50_ns")?),
                p99_s: Some(seconds("p99_ns")?),
            },
        ));
    }
    if spoilt > 0 {
        let (steps, are) = (counted(spoilt as u64, "step"), are(spoilt as u64));
        notes.push(format!("{steps} of {path} {are} left out: INVALID, or cut short."));
    }
    Ok(observations)
}

/// The runs of one label.
fn of_label(
    label: &LabelledRuns,
    given: Option<By>,
    notes: &mut Vec<String>,
) -> Result<Vec<(Option<By>, Observation)>, CommandError> {
    // A label that is a number says the load, where the results do not.
    let named = label.label.parse::<f64>().ok().filter(|load| *load > 0.0);
    let mut all = Vec::new();
    for run in &label.runs {
        let summary = &run.summary;
        let (by, load) = match load(run, named, given) {
            Some(found) => found,
            // It is left out, whatever its load was.
            None if summary.requests == 0 => (None, 0.0),
            None => {
                return Err(usage_error(format!(
                    "{}: the file's format does not hold the load (give LOAD=FILE)",
                    run.name
                )));
            }
        };
        let invalid: Vec<String> = run.verdict.reasons.iter().map(ToString::to_string).collect();
        let figures = RunFigures {
            name: &run.name,
            times: &summary.response,
            completions_per_s: summary.completions(),
            errors: 1.0 - summary.success_ratio(),
            invalid: &invalid,
        };
        all.extend(figures.at(load, notes).map(|one| (by, one)));
    }
    Ok(all)
}

/// A run's load, and its kind if the run records it.
fn load(run: &RecordedRun, named: Option<f64>, given: Option<By>) -> Option<(Option<By>, f64)> {
    let Some(named) = named else {
        return load_of(&run.load(), given).map(|(by, load)| (Some(by), load));
    };
    let by = load_of(&run.load(), None).map(|(by, _)| by);
    Some((by.filter(|_| given.is_none()), named))
}

/// A measurement from the command line; what is missing is Little's law's.
fn of_point(point: &Point, by: By) -> Result<Observation, CommandError> {
    let seconds = |time: Option<Nanos>| time.map(Nanos::as_secs_f64);
    let (given_x, given_mean) = (point.throughput_per_s, seconds(point.mean));
    let (throughput_per_s, mean_s) = match (by, given_x, given_mean) {
        (_, Some(x), Some(mean)) => (x, mean),
        (By::Connections, Some(x), None) => (x, point.load / x),
        (By::Connections, None, Some(mean)) => (point.load / mean, mean),
        (By::Rate, None, Some(mean)) => (point.load, mean),
        (By::Connections, None, None) | (By::Rate, _, None) => {
            let load = point.load;
            return Err(usage_error(format!("flag -point: {load} needs mean (or, for users, X)")));
        }
    };
    let (load, p50_s, p99_s) = (point.load, seconds(point.p50), seconds(point.p99));
    Ok(Observation { load, throughput_per_s, mean_s, p50_s, p99_s })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(x: Option<f64>, mean_ms: Option<u64>) -> Point {
        let mean = mean_ms.map(Nanos::from_millis);
        Point { load: 16.0, throughput_per_s: x, mean, ..Point::default() }
    }

    #[test]
    fn what_a_point_lacks_is_littles() {
        let cases = [
            (By::Connections, point(Some(32.0), None), (32.0, 0.5)),
            (By::Connections, point(None, Some(500)), (32.0, 0.5)),
            (By::Connections, point(Some(20.0), Some(500)), (20.0, 0.5)),
            (By::Rate, point(None, Some(500)), (16.0, 0.5)),
        ];
        for (by, point, expect) in cases {
            let found = of_point(&point, by).unwrap();
            assert_eq!((found.throughput_per_s, found.mean_s), expect);
        }
        assert!(of_point(&point(None, None), By::Connections).is_err());
        assert!(of_point(&point(Some(3.0), None), By::Rate).is_err());
    }

    #[test]
    fn a_state_gives_its_steps() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("fit.json");
        let path = path.display().to_string();
        let step = |load: f64, cut: bool, spoilt: Value| {
            serde_json::json!({"load": load, "achieved_per_s": load, "mean_ns": 2_000_000,
                "p50_ns": 1_000_000, "p99_ns": 9_000_000, "cut": cut, "spoilt": spoilt})
        };
        let late = Value::from("late");
        let steps = [
            step(10.0, false, Value::Null),
            step(20.0, true, Value::Null),
            step(30.0, false, late),
        ];
        let state = serde_json::json!({"brunt_seek": 1, "search": {"by": "rate"}, "steps": steps});
        std::fs::write(&path, format!("{state:#}")).unwrap();
        assert!(is_state(&path));
        let mut notes = Vec::new();
        let found = of_state(&path, &mut notes).unwrap();
        assert_eq!((found.len(), found[0].0, found[0].1.load), (1, Some(By::Rate), 10.0));
        assert_eq!((found[0].1.mean_s, found[0].1.p50_s), (0.002, Some(0.001)));
        assert!(notes[0].starts_with("2 steps of"), "{notes:?}");
        std::fs::write(&path, "{\"brunt_seek\": 1}").unwrap();
        assert_eq!(of_state(&path, &mut notes).unwrap_err().code, ExitCode::Input);
        std::fs::remove_file(&path).unwrap();
        assert!(!is_state(&path));
        // Issue 19: a named pipe was opened twice, and waited for its second writer for ever.
        nix::unistd::mkfifo(path.as_str(), nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert!(!is_state(&path));
        std::fs::remove_file(&path).unwrap();
    }
}
