//! `Options`: k6's options, from a script's `options` export and from what the command line says above it.

use serde_json::{Map, Value};
use stdx::Nanos;
use thiserror::Error;
use workload::Segment;
use workload::executor::{Executor, Scenario};

use crate::http_options::HttpOptions;

/// What a run is to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The scenarios, in the order of their names; at least one.
    pub scenarios: Vec<Scenario>,
    /// The thresholds, in the order of their metrics' names.
    pub thresholds: Vec<Rule>,
    /// `setupTimeout`.
    pub setup_timeout: Nanos,
    /// `teardownTimeout`.
    pub teardown_timeout: Nanos,
    /// `userAgent`.
    pub user_agent: Option<String>,
    /// `maxRedirects`.
    pub max_redirects: u32,
    /// `discardResponseBodies`.
    pub discard_bodies: bool,
    /// `insecureSkipTLSVerify`.
    pub insecure: bool,
    /// `noConnectionReuse`.
    pub no_reuse: bool,
    /// `tags`.
    pub tags: Vec<(String, String)>,
    /// `summaryTrendStats`.
    pub trend_stats: Vec<String>,
    /// `minIterationDuration`.
    pub min_iteration: Nanos,
    /// `executionSegment` of `executionSegmentSequence`: the part of the test that is ours.
    pub segment: Segment,
    /// `batch` and `batchPerHost`: how many requests of a batch are under way at once; 0 for no limit.
    pub batch: (usize, usize),
    /// What else is said of requests, names and TLS.
    pub http: HttpOptions,
    /// Fields that k6 does not know.
    pub unknown: Vec<String>,
}

/// One threshold of a metric or submetric.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// The metric, with its selector: `http_req_duration{status:200}`.
    pub metric: String,
    /// The expression: `p(95)<500`.
    pub source: String,
    /// The run ends when it is crossed.
    pub abort: bool,
}

/// What the command line says; it stands above the script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shortcuts {
    /// `-u`.
    pub vus: Option<u64>,
    /// `-d`.
    pub duration: Option<Nanos>,
    /// `-i`.
    pub iterations: Option<u64>,
    /// `-s`.
    pub stages: Vec<(Nanos, u64)>,
}

impl Shortcuts {
    fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// Why options are no options: k6's exit code 104.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct OptionsError(String);

type Result<T> = std::result::Result<T, OptionsError>;

fn wrong<T>(text: impl Into<String>) -> Result<T> {
    Err(OptionsError(text.into()))
}

/// k6's limit of an iteration-bound scenario.
const MAX_DURATION: Nanos = Nanos::from_secs(600);
/// k6's grace.
const GRACE: Nanos = Nanos::from_secs(30);
/// The fields that k6 knows and we have no use for yet, or read elsewhere.
const KNOWN: &[&str] = &[
    "vus",
    "duration",
    "iterations",
    "stages",
    "scenarios",
    "thresholds",
    "setupTimeout",
    "teardownTimeout",
    "userAgent",
    "maxRedirects",
    "discardResponseBodies",
    "insecureSkipTLSVerify",
    "noConnectionReuse",
    "tags",
    "summaryTrendStats",
    "minIterationDuration",
    "paused",
    "executionSegment",
    "executionSegmentSequence",
    "rps",
    "batch",
    "batchPerHost",
    "httpDebug",
    "throw",
    "noVUConnectionReuse",
    "noCookiesReset",
    "dns",
    "hosts",
    "blacklistIPs",
    "blockHostnames",
    "localIPs",
    "tlsVersion",
    "tlsCipherSuites",
    "tlsAuth",
    "noSetup",
    "noTeardown",
    "handleSummaryTimeout",
    "systemTags",
    "summaryTimeUnit",
    "metricSamplesBufferSize",
    "consoleOutput",
    "linger",
    "noUsageReport",
    "cloud",
    "ext",
    "features",
];

impl Options {
    /// Reads the options of a script as JSON, with what the command line says above them.
    ///
    /// # Errors
    /// A field is wrong; the text names it.
    pub fn read(json: Option<&str>, above: &Shortcuts) -> Result<Self> {
        let value: Value = match json {
            Some(text) => serde_json::from_str(text).map_err(|e| OptionsError(e.to_string()))?,
            None => Value::Object(Map::new()),
        };
        let Value::Object(fields) = value else { return wrong("options is not an object") };
        let unknown =
            fields.keys().filter(|name| !KNOWN.contains(&name.as_str())).cloned().collect();
        Ok(Self {
            scenarios: scenarios(&fields, above)?,
            thresholds: thresholds(fields.get("thresholds"))?,
            setup_timeout: time(&fields, "setupTimeout")?.unwrap_or(Nanos::from_secs(60)),
            teardown_timeout: time(&fields, "teardownTimeout")?.unwrap_or(Nanos::from_secs(60)),
            user_agent: text(&fields, "userAgent")?,
            max_redirects: count(&fields, "maxRedirects")?.unwrap_or(10).min(1 << 20) as u32,
            discard_bodies: flag(&fields, "discardResponseBodies")?,
            insecure: flag(&fields, "insecureSkipTLSVerify")?,
            no_reuse: flag(&fields, "noConnectionReuse")?,
            tags: pairs(&fields, "tags")?,
            trend_stats: trend_stats(fields.get("summaryTrendStats"))?,
            min_iteration: time(&fields, "minIterationDuration")?.unwrap_or(Nanos::ZERO),
            segment: segment(&fields)?,
            batch: (
                count(&fields, "batch")?.unwrap_or(20) as usize,
                count(&fields, "batchPerHost")?.unwrap_or(6) as usize,
            ),
            http: HttpOptions::read(&fields).map_err(OptionsError)?,
            unknown,
        })
    }

    /// How long the test may take, its graceful stops included.
    #[must_use]
    pub fn max_duration(&self) -> Nanos {
        let ends = self.scenarios.iter().map(end);
        ends.fold(Nanos::ZERO, Nanos::max)
    }

    /// The most VUs at once, were all scenarios to run at the same time.
    #[must_use]
    pub fn vus_max(&self) -> u64 {
        self.scenarios.iter().map(|scenario| scenario.executor.vus_max()).sum()
    }
}

fn segment(fields: &Map<String, Value>) -> Result<Segment> {
    let sequence = text(fields, "executionSegmentSequence")?;
    match text(fields, "executionSegment")? {
        Some(own) => Segment::parse(&own, sequence.as_deref())
            .map_err(|error| OptionsError(error.to_string())),
        None => Ok(Segment::default()),
    }
}

/// When the last iteration of a scenario has ended.
#[must_use]
pub fn end(scenario: &Scenario) -> Nanos {
    scenario
        .start
        .saturating_add(scenario.executor.duration())
        .saturating_add(scenario.graceful_stop)
}

fn scenarios(fields: &Map<String, Value>, above: &Shortcuts) -> Result<Vec<Scenario>> {
    if !above.is_none() {
        let vus = above.vus.or(count(fields, "vus")?);
        return shortcut(vus, above.duration, above.iterations, above.stages.clone());
    }
    match fields.get("scenarios") {
        Some(Value::Object(list)) if !list.is_empty() => {
            return list.iter().map(|(name, value)| scenario(name, value)).collect();
        }
        Some(Value::Object(_) | Value::Null) | None => {}
        Some(_) => return wrong("options.scenarios is not an object"),
    }
    let stages = stages(fields, "stages", whole)?;
    shortcut(count(fields, "vus")?, time(fields, "duration")?, count(fields, "iterations")?, stages)
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
        (Some(_), _) | (_, Some(_)) if !stages.is_empty() => {
            return wrong(
                "using multiple execution config shortcuts (`stages` and `iterations` or `duration`) simultaneously is not allowed",
            );
        }
        (Some(0), _) | (_, Some(Nanos::ZERO)) => {
            return wrong("iterations and duration must be more than 0");
        }
        (Some(iterations), limit) => {
            if iterations < many {
                return wrong(format!(
                    "the number of iterations ({iterations}) can't be less than the number of VUs ({many})"
                ));
            }
            Executor::SharedIterations {
                vus: many,
                iterations,
                max_duration: limit.unwrap_or(MAX_DURATION),
            }
        }
        (None, Some(duration)) => Executor::ConstantVus { vus: many, duration },
        (None, None) if !stages.is_empty() => {
            Executor::RampingVus { start: many, stages, graceful_ramp_down: GRACE }
        }
        (None, None) => match vus {
            Some(vus) => {
                Executor::SharedIterations { vus, iterations: vus, max_duration: MAX_DURATION }
            }
            None => Executor::PerVuIterations { vus: 1, iterations: 1, max_duration: MAX_DURATION },
        },
    };
    if many == 0 && !matches!(executor, Executor::RampingVus { .. }) {
        return wrong("the number of VUs must be more than 0");
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
    Ok(Scenario {
        name: name.to_owned(),
        exec: text(fields, "exec").map_err(named)?.unwrap_or_else(|| "default".to_owned()),
        start: time(fields, "startTime").map_err(named)?.unwrap_or(Nanos::ZERO),
        graceful_stop: time(fields, "gracefulStop").map_err(named)?.unwrap_or(GRACE),
        tags: pairs(fields, "tags").map_err(named)?,
        env: pairs(fields, "env").map_err(named)?,
        executor: executor(fields).map_err(named)?,
    })
}

fn executor(fields: &Map<String, Value>) -> Result<Executor> {
    let vus = count(fields, "vus")?.unwrap_or(1);
    let iterations = count(fields, "iterations")?.unwrap_or(1);
    let max_duration = time(fields, "maxDuration")?.unwrap_or(MAX_DURATION);
    let needs = |what: Option<Nanos>, name: &str| match what {
        Some(duration) if duration >= Nanos::SECOND => Ok(duration),
        Some(_) => wrong(format!("the {name} must be at least 1s")),
        None => wrong(format!("the {name} is unspecified")),
    };
    let executor = text(fields, "executor")?.unwrap_or_default();
    if vus == 0 || iterations == 0 {
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
        "constant-vus" => {
            Executor::ConstantVus { vus, duration: needs(time(fields, "duration")?, "duration")? }
        }
        "ramping-vus" => Executor::RampingVus {
            start: count(fields, "startVUs")?.unwrap_or(1),
            stages: required(stages(fields, "stages", whole)?)?,
            graceful_ramp_down: time(fields, "gracefulRampDown")?.unwrap_or(GRACE),
        },
        "constant-arrival-rate" => {
            let duration = needs(time(fields, "duration")?, "duration")?;
            let Some(rate) = number(fields, "rate")?.filter(|rate| *rate > 0.0) else {
                return wrong("the iteration rate must be more than 0");
            };
            let rate = rate / unit(fields)?;
            let (vus, vus_max) = allocated(fields)?;
            Executor::ArrivalRate {
                start_per_s: rate,
                stages: vec![(duration, rate)],
                vus,
                vus_max,
            }
        }
        "ramping-arrival-rate" => {
            let unit = unit(fields)?;
            let stages = required(stages(fields, "stages", |value| value.as_f64())?)?;
            let (vus, vus_max) = allocated(fields)?;
            Executor::ArrivalRate {
                start_per_s: number(fields, "startRate")?.unwrap_or(0.0) / unit,
                stages: stages.into_iter().map(|(time, rate)| (time, rate / unit)).collect(),
                vus,
                vus_max,
            }
        }
        "" => return wrong("unspecified executor type"),
        other => return wrong(format!("unknown executor type '{other}'")),
    })
}

/// `preAllocatedVUs` and `maxVUs`.
fn allocated(fields: &Map<String, Value>) -> Result<(u64, u64)> {
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
fn unit(fields: &Map<String, Value>) -> Result<f64> {
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

fn whole(value: &Value) -> Option<u64> {
    value.as_u64()
}

fn stages<T>(
    fields: &Map<String, Value>,
    name: &str,
    target: impl Fn(&Value) -> Option<T>,
) -> Result<Vec<(Nanos, T)>> {
    let list = match fields.get(name) {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(list)) => list,
        Some(_) => return wrong(format!("{name} is not an array")),
    };
    let stage = |value: &Value| {
        let fields = value
            .as_object()
            .ok_or_else(|| OptionsError(format!("{name}: a stage is not an object")))?;
        let time = time(fields, "duration")?
            .ok_or_else(|| OptionsError("a stage has no duration".to_owned()))?;
        let target = fields.get("target").and_then(&target);
        Ok((time, target.ok_or_else(|| OptionsError("a stage has no target".to_owned()))?))
    };
    list.iter().map(stage).collect()
}

fn thresholds(value: Option<&Value>) -> Result<Vec<Rule>> {
    let list = match value {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Object(list)) => list,
        Some(_) => return wrong("thresholds is not an object"),
    };
    let mut rules = Vec::new();
    for (metric, value) in list {
        let Value::Array(items) = value else {
            return wrong(format!("thresholds of {metric} are not an array"));
        };
        for item in items {
            let source = item.as_str().or_else(|| item.get("threshold")?.as_str());
            let Some(source) = source else {
                return wrong(format!("a threshold of {metric} is no expression"));
            };
            let abort = item.get("abortOnFail").and_then(Value::as_bool).unwrap_or(false);
            rules.push(Rule { metric: metric.clone(), source: source.to_owned(), abort });
        }
    }
    Ok(rules)
}

/// k6's statistics of a trend.
const TREND_STATS: [&str; 6] = ["avg", "min", "med", "max", "p(90)", "p(95)"];

fn trend_stats(value: Option<&Value>) -> Result<Vec<String>> {
    let list = match value {
        None | Some(Value::Null) => return Ok(TREND_STATS.map(str::to_owned).to_vec()),
        Some(Value::Array(list)) => list,
        Some(_) => return wrong("summaryTrendStats is not an array"),
    };
    let text = |value: &Value| value.as_str().map(str::to_owned);
    list.iter()
        .map(text)
        .collect::<Option<_>>()
        .ok_or_else(|| OptionsError("summaryTrendStats are not strings".to_owned()))
}

/// A time: a text with units, or milliseconds.
fn time(fields: &Map<String, Value>, name: &str) -> Result<Option<Nanos>> {
    let wrong = || OptionsError(format!("{name}: invalid duration {}", fields[name]));
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Nanos::parse(text).map(Some).map_err(|_| wrong()),
        Some(Value::Number(number)) => match number.as_f64() {
            Some(milliseconds) if milliseconds >= 0.0 => {
                Ok(Some(Nanos::from_secs_f64(milliseconds / 1e3)))
            }
            _ => Err(wrong()),
        },
        Some(_) => Err(wrong()),
    }
}

fn count(fields: &Map<String, Value>, name: &str) -> Result<Option<u64>> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_u64() {
            Some(count) => Ok(Some(count)),
            None => wrong(format!("{name}: {value} is not a whole number from 0 on")),
        },
    }
}

fn number(fields: &Map<String, Value>, name: &str) -> Result<Option<f64>> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_f64() {
            Some(number) if number >= 0.0 => Ok(Some(number)),
            _ => wrong(format!("{name}: {value} is not a number from 0 on")),
        },
    }
}

fn text(fields: &Map<String, Value>, name: &str) -> Result<Option<String>> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(value) => wrong(format!("{name}: {value} is not a string")),
    }
}

fn flag(fields: &Map<String, Value>, name: &str) -> Result<bool> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(on)) => Ok(*on),
        Some(value) => wrong(format!("{name}: {value} is not true or false")),
    }
}

fn pairs(fields: &Map<String, Value>, name: &str) -> Result<Vec<(String, String)>> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Object(pairs)) => Ok(pairs
            .iter()
            .map(|(name, value)| {
                (name.clone(), value.as_str().map_or_else(|| value.to_string(), str::to_owned))
            })
            .collect()),
        Some(value) => wrong(format!("{name}: {value} is not an object")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn executor_of(json: &str) -> std::result::Result<Executor, String> {
        let options = Options::read(Some(json), &Shortcuts::default());
        options.map(|options| options.scenarios[0].executor.clone()).map_err(|error| error.0)
    }

    #[test]
    fn shortcuts_are_executors() {
        let cases = [
            ("{}", Executor::PerVuIterations { vus: 1, iterations: 1, max_duration: MAX_DURATION }),
            (
                r#"{"vus":3}"#,
                Executor::SharedIterations { vus: 3, iterations: 3, max_duration: MAX_DURATION },
            ),
            (
                r#"{"vus":2,"iterations":6}"#,
                Executor::SharedIterations { vus: 2, iterations: 6, max_duration: MAX_DURATION },
            ),
            (
                r#"{"vus":2,"duration":"5s"}"#,
                Executor::ConstantVus { vus: 2, duration: Nanos::from_secs(5) },
            ),
            (
                r#"{"stages":[{"duration":"1m30s","target":7}]}"#,
                Executor::RampingVus {
                    start: 1,
                    stages: vec![(Nanos::from_secs(90), 7)],
                    graceful_ramp_down: GRACE,
                },
            ),
            (
                r#"{"scenarios":{"a":{"executor":"constant-arrival-rate","rate":30,"timeUnit":"1m","duration":2000,"preAllocatedVUs":2}}}"#,
                Executor::ArrivalRate {
                    start_per_s: 0.5,
                    stages: vec![(Nanos::from_secs(2), 0.5)],
                    vus: 2,
                    vus_max: 2,
                },
            ),
        ];
        for (json, expect) in cases {
            assert_eq!(executor_of(json), Ok(expect), "{json}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (json, expect) in [
            (r#"{"vus":"many"}"#, "vus"),
            (r#"{"duration":"5 parsecs"}"#, "duration"),
            (r#"{"vus":5,"iterations":2}"#, "can't be less than the number of VUs"),
            (
                r#"{"iterations":2,"stages":[{"duration":"1s","target":1}]}"#,
                "multiple execution config shortcuts",
            ),
            (r#"{"scenarios":{"a":{"executor":"nonsense"}}}"#, "scenario a: unknown executor"),
            (
                r#"{"scenarios":{"a":{"executor":"constant-vus"}}}"#,
                "scenario a: the duration is unspecified",
            ),
            (
                r#"{"scenarios":{"a":{"executor":"constant-vus","duration":"1s","vus":0}}}"#,
                "more than 0",
            ),
            (r#"{"thresholds":{"checks":"rate>1"}}"#, "thresholds of checks"),
        ] {
            let error = executor_of(json).unwrap_err();
            assert!(error.contains(expect), "{json}: {error}");
        }
    }

    #[test]
    fn the_command_line_stands_above_the_script() {
        let above =
            Shortcuts { vus: Some(4), duration: Some(Nanos::SECOND), ..Shortcuts::default() };
        let script = r#"{"scenarios":{"a":{"executor":"per-vu-iterations"}},"thresholds":{"checks":["rate>0.9",{"threshold":"rate>0.5","abortOnFail":true}]},"strange":1}"#;
        let options = Options::read(Some(script), &above).unwrap();
        assert_eq!(
            options.scenarios[0].executor,
            Executor::ConstantVus { vus: 4, duration: Nanos::SECOND }
        );
        assert_eq!(options.thresholds.len(), 2);
        assert!(options.thresholds[1].abort && options.unknown == ["strange"]);
    }
}
