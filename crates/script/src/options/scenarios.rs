//! Scenarios: from `scenarios`, or from what `vus`, `duration`, `iterations` and `stages` mean without them.

use serde_json::{Map, Value, json};
use stdx::Nanos;
use workload::executor::{ArrivalKind, Executor, Scenario};

use super::bounds::bound_entries;
use super::defaults::{GRACE, MAX_DURATION};
use super::error::{OptionsError, Result, wrong};
use super::fields::{Fields, count, pairs, text, time};
use super::shape::executors;

/// The shortcuts to a scenario, in the order in which k6 looks at them.
const SHORTCUTS: [&str; 3] = ["iterations", "duration", "stages"];

/// What is to be executed.
pub(super) fn scenarios(fields: &Fields) -> Result<Vec<Scenario>> {
    let stages = shortcut_stages(fields)?;
    let scenarios = match fields.get("scenarios") {
        Some(Value::Object(list)) => Some(list).filter(|list| !list.is_empty()),
        Some(Value::Null) | None => None,
        Some(_) => return wrong("options.scenarios is not an object"),
    };
    let (duration, iterations) = (time(fields, "duration")?, count(fields, "iterations")?);
    let given = [iterations.is_some(), duration.is_some(), !stages.is_empty()];
    let mut names = SHORTCUTS.iter().zip(given).filter(|(_, given)| *given).map(|(name, _)| *name);
    let first = names.next();
    let other = names.find(|name| *name != "duration").or(scenarios.map(|_| "scenarios"));
    if let (Some(first), Some(other)) = (first, other) {
        return wrong(format!(
            "using `{first}` and `{other}` options simultaneously is not allowed"
        ));
    }
    match scenarios {
        Some(list) => {
            bound_entries("scenarios", list)?;
            list.iter().map(|(name, value)| scenario(name, value)).collect()
        }
        None => shortcut(count(fields, "vus")?, duration, iterations, stages),
    }
}

/// The scenario that shortcuts are, as JSON.
pub(super) fn shortcut_json(fields: &Fields) -> Map<String, Value> {
    let given = |name: &str| fields.get(name).cloned().unwrap_or_default();
    let (vus, duration) = (given("vus"), given("duration"));
    let scenario = if !given("iterations").is_null() {
        json!({ "executor": "shared-iterations", "vus": vus, "iterations": given("iterations"), "maxDuration": duration })
    } else if !duration.is_null() {
        json!({ "executor": "constant-vus", "vus": vus, "duration": duration })
    } else if let Some(stages) = ramped(&given("stages")) {
        json!({ "executor": "ramping-vus", "startVUs": vus, "stages": stages })
    } else {
        json!({ "executor": "per-vu-iterations" })
    };
    Map::from_iter([("default".to_owned(), scenario)])
}

/// The stages that count; `None` where none does.
fn ramped(stages: &Value) -> Option<Vec<Value>> {
    let stages: Vec<_> = stages.as_array()?.iter().filter(|s| has_duration(s)).cloned().collect();
    Some(stages).filter(|stages| !stages.is_empty())
}

/// What `vus`, `duration`, `iterations` and `stages` mean without scenarios.
fn shortcut(
    vus: Option<u64>,
    duration: Option<Nanos>,
    iterations: Option<u64>,
    stages: Vec<(Nanos, u64)>,
) -> Result<Vec<Scenario>> {
    let many = vus.unwrap_or(1);
    let executor = match (iterations, duration) {
        (Some(0), _) | (_, Some(Nanos::ZERO)) => {
            return wrong("scenario default: iterations and duration must be more than 0");
        }
        (Some(iterations), limit) => {
            if iterations < many {
                return wrong(format!(
                    "the number of iterations ({iterations}) can't be less than the number of VUs ({many})"
                ));
            }
            let max_duration = at_least_a_second("maxDuration", limit.unwrap_or(MAX_DURATION))?;
            Executor::SharedIterations { vus: many, iterations, max_duration }
        }
        (None, Some(duration)) => {
            let duration = at_least_a_second("duration", duration)?;
            Executor::ConstantVus { vus: many, duration }
        }
        (None, None) if !stages.is_empty() => ramping_vus(many, stages, GRACE)?,
        // `vus` alone starts nothing: `Options::warnings` says so.
        (None, None) => {
            Executor::PerVuIterations { vus: 1, iterations: 1, max_duration: MAX_DURATION }
        }
    };
    if many == 0
        && matches!(executor, Executor::SharedIterations { .. } | Executor::ConstantVus { .. })
    {
        return wrong("scenario default: the number of VUs must be more than 0");
    }
    let (name, exec) = ("default".to_owned(), "default".to_owned());
    Ok(vec![Scenario {
        name,
        exec,
        start: Nanos::ZERO,
        graceful_stop: GRACE,
        tags: Vec::new(),
        env: Vec::new(),
        executor,
    }])
}

fn scenario(name: &str, value: &Value) -> Result<Scenario> {
    let named = |error: OptionsError| OptionsError(format!("scenario {name}: {}", error.0));
    let Value::Object(fields) = value else {
        return wrong(format!("scenario {name}: is not an object"));
    };
    if !is_name(name) {
        return wrong(format!(
            "scenario \"{name}\": the name is to have only digits, Latin letters, underscores and dashes"
        ));
    }
    let executor = executor(fields).map_err(named)?;
    Ok(Scenario {
        name: name.to_owned(),
        exec: match text(fields, "exec").map_err(named)? {
            Some(exec) if exec.is_empty() => {
                return wrong(format!("scenario {name}: exec is empty"));
            }
            exec => exec.unwrap_or_else(|| "default".to_owned()),
        },
        start: time(fields, "startTime").map_err(named)?.unwrap_or(Nanos::ZERO),
        graceful_stop: graceful_stop(fields, &executor).map_err(named)?,
        tags: pairs(fields, "tags").map_err(named)?,
        env: pairs(fields, "env").map_err(named)?,
        executor,
    })
}

/// Whether k6 takes a text as the name of a scenario.
fn is_name(text: &str) -> bool {
    let is_sign = |sign: u8| sign.is_ascii_alphanumeric() || sign == b'_' || sign == b'-';
    !text.is_empty() && text.bytes().all(is_sign)
}

/// `gracefulStop`. An externally controlled scenario has none: the controller ends its iterations.
fn graceful_stop(fields: &Fields, executor: &Executor) -> Result<Nanos> {
    let given = time(fields, "gracefulStop")?;
    match executor {
        Executor::ExternallyControlled { .. } if given.is_some() => {
            wrong("gracefulStop is not supported by the externally controlled executor")
        }
        Executor::ExternallyControlled { .. } => Ok(Nanos::ZERO),
        _ => Ok(given.unwrap_or(GRACE)),
    }
}

fn executor(fields: &Fields) -> Result<Executor> {
    let vus = count(fields, "vus")?.unwrap_or(1);
    let executor = text(fields, "executor")?.unwrap_or_default();
    let iterations = count(fields, "iterations")?.unwrap_or(1);
    let max_duration = time(fields, "maxDuration")?.unwrap_or(MAX_DURATION);
    let duration = || match time(fields, "duration")? {
        Some(duration) => at_least_a_second("duration", duration),
        None => wrong("the duration is unspecified"),
    };
    if executor.ends_with("-iterations") {
        at_least_a_second("maxDuration", max_duration)?;
    }
    // Those of an externally controlled scenario may come later.
    if (vus == 0 && executor != "externally-controlled") || iterations == 0 {
        return wrong("vus and iterations must be more than 0");
    }
    Ok(match executor.as_str() {
        "shared-iterations" if iterations < vus => {
            return wrong(format!(
                "the number of iterations ({iterations}) can't be less than the number of VUs ({vus})"
            ));
        }
        "shared-iterations" => Executor::SharedIterations { vus, iterations, max_duration },
        "per-vu-iterations" => Executor::PerVuIterations { vus, iterations, max_duration },
        "constant-vus" => Executor::ConstantVus { vus, duration: duration()? },
        "ramping-vus" => ramping_vus(
            count(fields, "startVUs")?.unwrap_or(1),
            required(stages(fields)?)?,
            time(fields, "gracefulRampDown")?.unwrap_or(GRACE),
        )?,
        "constant-arrival-rate" => constant_rate(fields, duration()?)?,
        "ramping-arrival-rate" => ramping_rate(fields)?,
        "externally-controlled" => controlled(fields, vus)?,
        "" => return wrong("unspecified executor type"),
        other => {
            let meant = stdx::nearest(other, executors());
            let meant = meant.map_or_else(String::new, |meant| format!(" (did you mean {meant}?)"));
            return wrong(format!("unknown executor type '{other}'{meant}"));
        }
    })
}

/// k6's least duration. A number without a unit is milliseconds, which few who write `duration: 30` mean.
fn at_least_a_second(name: &str, duration: Nanos) -> Result<Nanos> {
    if duration < Nanos::SECOND {
        return wrong(format!(
            "the {name} must be at least 1s, but is {duration} (a number without a unit is milliseconds)"
        ));
    }
    Ok(duration)
}

fn constant_rate(fields: &Fields, duration: Nanos) -> Result<Executor> {
    let Some(rate) = count(fields, "rate")?.filter(|rate| *rate > 0) else {
        return wrong("the iteration rate must be more than 0");
    };
    let rate = rate as f64 / unit(fields)?;
    let (vus, vus_max) = allocated(fields)?;
    let (kind, stages) = (ArrivalKind::Constant, vec![(duration, rate)]);
    Ok(Executor::ArrivalRate { kind, start_per_s: rate, stages, vus, vus_max })
}

fn ramping_rate(fields: &Fields) -> Result<Executor> {
    let unit = unit(fields)?;
    let stages = required(stages(fields)?)?;
    let (vus, vus_max) = allocated(fields)?;
    Ok(Executor::ArrivalRate {
        kind: ArrivalKind::Ramping,
        start_per_s: count(fields, "startRate")?.unwrap_or(0) as f64 / unit,
        stages: stages.into_iter().map(|(time, rate)| (time, rate as f64 / unit)).collect(),
        vus,
        vus_max,
    })
}

fn controlled(fields: &Fields, vus: u64) -> Result<Executor> {
    let vus_max = count(fields, "maxVUs")?.unwrap_or(vus);
    if vus_max < vus {
        return wrong("maxVUs shouldn't be less than vus");
    }
    let Some(duration) = time(fields, "duration")? else {
        return wrong("the duration is unspecified");
    };
    // k6's 0 is no limit.
    let duration = if duration == Nanos::ZERO { Nanos::MAX } else { duration };
    Ok(Executor::ExternallyControlled { vus, vus_max, duration })
}

/// `preAllocatedVUs` and `maxVUs`.
fn allocated(fields: &Fields) -> Result<(u64, u64)> {
    let Some(vus) = count(fields, "preAllocatedVUs")? else {
        return wrong("the number of preAllocatedVUs isn't specified");
    };
    let most = count(fields, "maxVUs")?.unwrap_or(vus);
    if most < vus || most == 0 {
        return wrong("maxVUs shouldn't be less than preAllocatedVUs, nor 0");
    }
    Ok((vus, most))
}

/// `timeUnit` in seconds.
fn unit(fields: &Fields) -> Result<f64> {
    let unit = time(fields, "timeUnit")?.unwrap_or(Nanos::SECOND);
    if unit == Nanos::ZERO {
        wrong("the timeUnit must be more than 0")
    } else {
        Ok(unit.0 as f64 / 1e9)
    }
}

fn required<T>(stages: Vec<T>) -> Result<Vec<T>> {
    if stages.is_empty() { wrong("at least one stage has to be specified") } else { Ok(stages) }
}

/// Users whose number follows stages.
fn ramping_vus(
    start: u64,
    stages: Vec<(Nanos, u64)>,
    graceful_ramp_down: Nanos,
) -> Result<Executor> {
    if start == 0 && stages.iter().all(|(_, target)| *target == 0) {
        return wrong("either startVUs or one of the stages' targets must be more than 0");
    }
    Ok(Executor::RampingVus { start, stages, graceful_ramp_down })
}

/// Whether a stage has a duration: one of the shortcut `stages` that has none counts for nothing.
pub(super) fn has_duration(stage: &Value) -> bool {
    stage.get("duration").is_some_and(|duration| !duration.is_null())
}

/// The stages without a scenario, as k6 takes them: those without a duration are left out.
fn shortcut_stages(fields: &Fields) -> Result<Vec<(Nanos, u64)>> {
    let Some(Value::Array(list)) = fields.get("stages") else { return stages(fields) };
    let is_left_out = |stage: &&Value| stage.is_object() && !has_duration(stage);
    let list: Vec<_> = list.iter().filter(|stage| !is_left_out(stage)).cloned().collect();
    stages(&Fields::from_iter([("stages".to_owned(), list.into())]))
}

/// The stages of options or of a scenario.
fn stages(fields: &Fields) -> Result<Vec<(Nanos, u64)>> {
    let list = match fields.get("stages") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(list)) => list,
        Some(_) => return wrong("stages is not an array"),
    };
    let stage = |(at, value): (usize, &Value)| {
        let number = at + 1;
        let Value::Object(fields) = value else {
            return wrong(format!("stage {number} is not an object"));
        };
        let named = |error: OptionsError| OptionsError(format!("stage {number}: {}", error.0));
        let Some(time) = time(fields, "duration").map_err(named)? else {
            return wrong(format!("stage {number} doesn't have a duration"));
        };
        match count(fields, "target").map_err(named)? {
            Some(target) => Ok((time, target)),
            None => wrong(format!("stage {number} doesn't have a target")),
        }
    };
    list.iter().enumerate().map(stage).collect()
}
