//! `State`: the steps of a search in a file, so that a search that was stopped goes on where it was. The file is replaced
//! whole after each step, so it is never half written.

use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::anyhow;
use cli::{ExitCode, ExitError, input, reason};
use serde_json::{Map, Value, json};
use stdx::Nanos;
use study::seek::{Search, Step};

use super::config::SeekConfig;

/// A search's file.
pub(super) struct State {
    path: String,
    identity: Value,
    seed: u64,
}

/// The form of the file; another number is another form.
const FORM: u64 = 1;
/// The most steps that are read.
const STEPS_MAX: usize = 100_000;

impl State {
    /// Opens the state that was asked for, if any, and gives its steps. What the generator spoilt at the end is left out and
    /// measured anew: it may have been what ended the search, and the machine may have more time now. A file that is there must be of this search; where no
    /// seed was given, it has the seed too.
    ///
    /// # Errors
    /// The file cannot be read or written, is no state, or belongs to another search; the error names the file and what differs.
    pub(super) fn open(config: &mut SeekConfig) -> Result<(Option<Self>, Vec<Step>), ExitError> {
        let Some(path) = config.state.clone() else { return Ok((None, Vec::new())) };
        let identity = identity(config);
        let mut steps = Vec::new();
        if fs::exists(&path).unwrap_or(true) {
            let document = input::read_whole(&path)?;
            let seed;
            (seed, steps) = read(&document, &identity, config).map_err(|problem| ExitError {
                code: ExitCode::Input,
                error: anyhow!("{path} {problem}"),
            })?;
            config.plan.seed = seed;
            while steps.pop_if(|step| step.spoilt.is_some()).is_some() {}
        }
        let state = Self { path, identity, seed: config.plan.seed };
        // At once, so that a place that cannot be written costs no steps.
        state.save(&steps)?;
        Ok((Some(state), steps))
    }

    /// Writes the steps.
    ///
    /// # Errors
    /// The file cannot be written; the one before is as it was.
    pub(super) fn save(&self, steps: &[Step]) -> Result<(), ExitError> {
        let steps: Vec<Value> = steps.iter().map(written).collect();
        let document = json!({
            "brunt_seek": FORM,
            "search": self.identity,
            "seed": self.seed,
            "steps": steps,
        });
        cli::replace_file(Path::new(&self.path), format!("{document:#}\n").as_bytes())
            .map_err(|error| anyhow!("writing {}: {}", self.path, reason(&error)).into())
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)
    }
}

/// What is kept of the search itself.
fn identity(config: &SeekConfig) -> Value {
    let pairs = config.identity().into_iter();
    Value::Object(pairs.map(|(name, value)| (name.to_owned(), Value::from(value))).collect())
}

/// The seed and the steps of a file, or what is wrong with it.
fn read(
    document: &[u8],
    identity: &Value,
    config: &SeekConfig,
) -> anyhow::Result<(u64, Vec<Step>)> {
    let no_state = || anyhow!("is not a state file of brunt seek (give another -state)");
    let state: Value = serde_json::from_slice(document).map_err(|_| no_state())?;
    if state["brunt_seek"] != FORM {
        return Err(no_state());
    }
    let seed = state["seed"].as_u64().ok_or_else(no_state)?;
    let kept = state["search"].as_object().ok_or_else(no_state)?;
    differs(kept, identity)?;
    if config.seed_given && seed != config.plan.seed {
        return Err(another("seed", &seed.to_string(), &config.plan.seed.to_string()));
    }
    let steps = state["steps"].as_array().filter(|steps| steps.len() <= STEPS_MAX);
    let steps = steps.ok_or_else(no_state)?.iter();
    let steps: Option<Vec<Step>> = steps.map(|step| read_step(step, &config.search)).collect();
    Ok((seed, steps.ok_or_else(no_state)?))
}

/// The first difference to the search that a file belongs to.
fn differs(kept: &Map<String, Value>, identity: &Value) -> anyhow::Result<()> {
    let now = |name: &str| &identity[name];
    let was = |name: &str| kept.get(name).unwrap_or(&Value::Null);
    let text = |value: &Value| value.as_str().unwrap_or("nothing").to_owned();
    let names = identity.as_object().into_iter().flatten().map(|(name, _)| name);
    match names.chain(kept.keys()).find(|name| was(name) != now(name)) {
        Some(name) => Err(another(name, &text(was(name)), &text(now(name)))),
        None => Ok(()),
    }
}

fn another(name: &str, was: &str, now: &str) -> anyhow::Error {
    let (was, now) = (was.escape_debug(), now.escape_debug());
    anyhow!("belongs to another search, with {name} {was} instead of {now} (give another -state)")
}

fn written(step: &Step) -> Value {
    json!({
        "load": step.load,
        "hits": step.hits,
        "figures": step.figures,
        "achieved_per_s": step.achieved_per_s,
        "mean_ns": step.mean.0,
        "p50_ns": step.p50.0,
        "p95_ns": step.p95.0,
        "p99_ns": step.p99.0,
        "errors": step.errors,
        "warmup_ns": step.warmup.0,
        "measured_ns": step.measured.0,
        "took_ns": step.took.0,
        "cut": step.cut,
        "spoilt": step.spoilt,
    })
}

/// A step as it was written; `None` where it cannot have been.
fn read_step(value: &Value, search: &Search) -> Option<Step> {
    let number = |name: &str| value[name].as_f64().filter(|number| *number >= 0.0);
    let time = |name: &str| value[name].as_u64().map(Nanos);
    let figures: Option<Vec<f64>> =
        value["figures"].as_array()?.iter().map(Value::as_f64).collect();
    let figures = figures.filter(|list| {
        list.len() == search.objective.conditions().len() && list.iter().all(|one| *one >= 0.0)
    })?;
    Some(Step {
        // As it was offered: reading may be off in the last digit.
        load: search.by.offered(number("load").filter(|load| *load > 0.0)?),
        hits: value["hits"].as_u64()?,
        figures,
        achieved_per_s: number("achieved_per_s")?,
        mean: time("mean_ns")?,
        p50: time("p50_ns")?,
        p95: time("p95_ns")?,
        p99: time("p99_ns")?,
        errors: number("errors")?,
        warmup: time("warmup_ns")?,
        measured: time("measured_ns")?,
        // Older files do not have it.
        took: time("took_ns").or_else(|| Some(time("warmup_ns")? + time("measured_ns")?))?,
        cut: value["cut"].as_bool()?,
        spoilt: match &value["spoilt"] {
            Value::Null => None,
            text => Some(text.as_str()?.to_owned()),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::seek::config::tests::resolved;

    fn step(load: f64, spoilt: Option<&str>) -> Step {
        Step {
            load,
            hits: 1000,
            figures: vec![0.0, 0.0],
            achieved_per_s: load,
            mean: Nanos::MILLI,
            p50: Nanos::MILLI,
            p95: Nanos::MILLI,
            p99: Nanos::MILLI,
            errors: 0.0,
            warmup: Nanos::SECOND,
            measured: Nanos::SECOND,
            took: Nanos::from_secs(2),
            cut: false,
            spoilt: spoilt.map(str::to_owned),
        }
    }

    /// A search that ended since the generator was the limit goes on from its file.
    #[test]
    fn what_the_generator_spoilt_at_the_end_is_measured_anew() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("state");
        let path = path.display().to_string();
        let mut config =
            resolved(&format!("-state={path} http://h/")).unwrap_or_else(|_| panic!("{path}"));
        let mut open = || State::open(&mut config).expect("it can be read and written");
        let (state, steps) = open();
        assert!(steps.is_empty());
        let late = Some("hits began late");
        let kept = [step(10.0, None), step(20.0, late), step(20.0, None)];
        let spoilt = [step(40.0, late), step(40.0, late), step(40.0, late)];
        state.unwrap().save(&[&kept[..], &spoilt[..]].concat()).unwrap();
        let (_, steps) = open();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(steps, kept);
        let next = study::seek::propose(&config.search, &steps);
        let study::seek::Next::Run(trial) = next else { panic!("{next:?}") };
        assert_eq!(trial.load, 40.0);
    }
}
