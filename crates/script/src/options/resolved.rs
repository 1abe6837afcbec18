//! `Options`: k6's options, of what the configuration file, the script, the environment and the command line say together.
//!
//! ```text
//! file ▸ script ▸ environment ▸ flags, each as JSON ─▶ merged ─▶ Options
//! ```

use serde_json::{Map, Value};
use stdx::Nanos;
use users::SystemTags;
use workload::executor::Scenario;
use workload::{Segment, VuReservation};

use super::bounds::bound_json;
use super::consolidated::ConsolidatedOptions;
use super::error::{OptionsError, Result, wrong};
use super::fields::{Fields, count, flag, list, pairs, text, time};
use super::http::HttpOptions;
use super::scenarios;
use super::shape::{canonical, unknown_fields};
use super::thresholds::{ThresholdOption, limited, segment, thresholds};

/// What a run is to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The scenarios, in the order of their names; at least one.
    pub scenarios: Vec<Scenario>,
    /// The thresholds, in the order of their metrics' names.
    pub thresholds: Vec<ThresholdOption>,
    /// The metrics and submetrics that thresholds are of, those with an empty list too.
    pub watched: Vec<String>,
    /// `setupTimeout`.
    pub setup_timeout: Nanos,
    /// `teardownTimeout`.
    pub teardown_timeout: Nanos,
    /// `handleSummaryTimeout`.
    pub summary_timeout: Nanos,
    /// `noSetup`.
    pub no_setup: bool,
    /// `noTeardown`.
    pub no_teardown: bool,
    /// `paused`.
    pub paused: bool,
    /// `executionSegment` of `executionSegmentSequence`: the part of the test that is ours.
    pub segment: Segment,
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
    /// `batch` and `batchPerHost`: how many requests of a batch are under way at once; 0 for no limit.
    pub batch: (usize, usize),
    /// The other options of requests, names and TLS.
    pub http: HttpOptions,
    /// `tags`.
    pub tags: Vec<(String, String)>,
    /// `systemTags`.
    pub system_tags: SystemTags,
    /// `summaryTrendStats`.
    pub trend_stats: Vec<String>,
    /// `summaryTimeUnit`: `s`, `ms` or `us`.
    pub time_unit: Option<String>,
    /// `minIterationDuration`.
    pub min_iteration: Nanos,
    /// `consoleOutput`.
    pub console_output: Option<String>,
    /// `linger`.
    pub linger: bool,
    /// Fields that k6 does not know.
    pub unknown: Vec<String>,
    /// What is strange about them, but not wrong.
    pub warnings: Vec<String>,
    /// All that was given, as JSON.
    pub given: Fields,
}

impl Options {
    /// Reads the options that a script exports, as JSON, by k6's names.
    ///
    /// # Errors
    /// They are no object, or a scenario has a field that there is not.
    pub fn exported(json: Option<&str>) -> Result<Fields> {
        json.map_or(Ok(()), bound_json)?;
        match json.map(serde_json::from_str) {
            None => Ok(Map::new()),
            Some(Ok(Value::Object(fields))) => canonical(fields),
            Some(Ok(Value::Null)) => Ok(Map::new()),
            Some(Ok(_)) => wrong("options is not an object"),
            Some(Err(error)) => wrong(error.to_string()),
        }
    }

    /// Reads the options of all layers together ([`merged`](super::merged)).
    ///
    /// # Errors
    /// A field is wrong; the text names it.
    pub fn of(given: Fields) -> Result<Self> {
        let fields = &given;
        let minute = Nanos::from_secs(60);
        let unknown = unknown_fields(fields)?;
        let system_tags = list(fields, "systemTags")?;
        let (thresholds, watched) = thresholds(fields.get("thresholds"))?;
        let mut options = Self {
            scenarios: scenarios::scenarios(fields)?,
            thresholds,
            watched,
            setup_timeout: time(fields, "setupTimeout")?.unwrap_or(minute),
            teardown_timeout: time(fields, "teardownTimeout")?.unwrap_or(minute),
            summary_timeout: time(fields, "handleSummaryTimeout")?.unwrap_or(SUMMARY_TIMEOUT),
            no_setup: flag(fields, "noSetup")?,
            no_teardown: flag(fields, "noTeardown")?,
            paused: flag(fields, "paused")?,
            segment: segment(fields)?,
            user_agent: text(fields, "userAgent")?,
            max_redirects: count(fields, "maxRedirects")?.unwrap_or(10).min(1 << 20) as u32,
            discard_bodies: flag(fields, "discardResponseBodies")?,
            insecure: flag(fields, "insecureSkipTLSVerify")?,
            no_reuse: flag(fields, "noConnectionReuse")?,
            batch: (limited(fields, "batch", 20)?, limited(fields, "batchPerHost", 6)?),
            http: HttpOptions::read(fields).map_err(OptionsError)?,
            tags: pairs(fields, "tags")?,
            system_tags: system_tags.map_or_else(SystemTags::default, |names| {
                SystemTags::named(names.iter().map(String::as_str))
            }),
            trend_stats: list(fields, "summaryTrendStats")?
                .unwrap_or_else(|| TREND_STATS.map(str::to_owned).to_vec()),
            time_unit: text(fields, "summaryTimeUnit")?.filter(|unit| !unit.is_empty()),
            min_iteration: time(fields, "minIterationDuration")?.unwrap_or(Nanos::ZERO),
            console_output: text(fields, "consoleOutput")?,
            linger: flag(fields, "linger")?,
            unknown,
            warnings: Vec::new(),
            given: Map::new(),
        };
        options.warnings = strange(fields)?;
        options.given = given;
        Ok(options)
    }

    /// The options of all layers together, as k6 writes them: shortcuts have become a scenario.
    #[must_use]
    pub fn derived(&self) -> ConsolidatedOptions {
        ConsolidatedOptions::derived(&self.given, self.system_tags, &self.trend_stats)
    }

    /// The same as `exec.test.options` shows it to scripts, as JSON.
    #[must_use]
    pub fn for_scripts(&self) -> String {
        self.derived().for_scripts(&self.given).text()
    }

    /// The options that differ from the script's own (`own`, as JSON): those of layers above it, and those that it does not set.
    #[must_use]
    pub fn above(&self, own: Option<&str>) -> Fields {
        let own = Self::exported(own).unwrap_or_default();
        let differs = |(name, value): &(&String, &Value)| own.get(*name) != Some(*value);
        let above = self.given.iter().filter(differs);
        above.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// What our segment of the test may take: its VUs at once, and its time with the graceful stops.
    #[must_use]
    pub fn reservation(&self) -> VuReservation {
        VuReservation::of(&self.scenarios, self.segment.vus())
    }
}

/// k6's limit of `handleSummary`.
const SUMMARY_TIMEOUT: Nanos = Nanos::from_secs(120);
/// k6's statistics of a trend.
const TREND_STATS: [&str; 6] = ["avg", "min", "med", "max", "p(90)", "p(95)"];

/// Warnings of options that look like a mistake, if no option of execution is set.
fn strange(fields: &Fields) -> Result<Vec<String>> {
    let says = |name: &&str| match fields.get(*name) {
        None | Some(Value::Null) => false,
        Some(Value::Array(list)) => list.iter().any(scenarios::has_duration),
        Some(Value::Object(fields)) => !fields.is_empty(),
        Some(_) => true,
    };
    let names = ["duration", "iterations", "stages", "scenarios"];
    if names.iter().any(says) {
        return Ok(Vec::new());
    }
    let mut strange = Vec::new();
    if let Some(vus) = count(fields, "vus")?.filter(|vus| *vus != 1) {
        strange.push(format!("`vus={vus}` option will be ignored, it only works in conjunction with `iterations`, `duration`, or `stages`"));
    }
    for name in ["stages", "scenarios"] {
        if fields.get(name).is_some_and(|value| !value.is_null()) {
            strange.push(format!("`{name}` was explicitly set to an empty value, running the script with 1 iteration in 1 VU"));
        }
    }
    Ok(strange)
}

#[cfg(test)]
mod tests {
    use workload::executor::{ArrivalKind, Executor};

    use super::super::defaults::{GRACE, MAX_DURATION};
    use super::super::merged;
    use super::*;

    fn executor_of(json: &str) -> std::result::Result<Executor, String> {
        let options = Options::exported(Some(json)).and_then(Options::of);
        options.map(|options| options.scenarios[0].executor.clone()).map_err(|error| error.0)
    }

    #[test]
    fn shortcuts_are_executors() {
        let cases = [
            ("{}", Executor::PerVuIterations { vus: 1, iterations: 1, max_duration: MAX_DURATION }),
            (
                r#"{"vus":3}"#,
                Executor::PerVuIterations { vus: 1, iterations: 1, max_duration: MAX_DURATION },
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
                    kind: ArrivalKind::Constant,
                    start_per_s: 0.5,
                    stages: vec![(Nanos::from_secs(2), 0.5)],
                    vus: 2,
                    vus_max: 2,
                },
            ),
            (
                r#"{"scenarios":{"a":{"executor":"externally-controlled","vus":0,"maxVUs":5,"duration":"0s"}}}"#,
                Executor::ExternallyControlled { vus: 0, vus_max: 5, duration: Nanos::MAX },
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
                "using `iterations` and `stages` options simultaneously",
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
            (
                r#"{"scenarios":{"a":{"executor":"externally-controlled","duration":"1s","gracefulStop":"0s"}}}"#,
                "gracefulStop is not supported",
            ),
            (r#"{"thresholds":{"checks":"rate>1"}}"#, "thresholds of checks"),
        ] {
            let error = executor_of(json).unwrap_err();
            assert!(error.contains(expect), "{json}: {error}");
        }
    }

    #[test]
    fn the_command_line_stands_above_the_script() {
        let above = r#"{"vus":4,"duration":"1s"}"#;
        let script = r#"{"scenarios":{"a":{"executor":"per-vu-iterations"}},"thresholds":{"checks":["rate>0.9",{"threshold":"rate>0.5","abortOnFail":true,"delayAbortEval":"5s"}]},"strange":1}"#;
        let layers = [script, above].map(|layer| Options::exported(Some(layer)).unwrap());
        let options = Options::of(merged(layers)).unwrap();
        assert_eq!(
            options.scenarios[0].executor,
            Executor::ConstantVus { vus: 4, duration: Nanos::SECOND }
        );
        assert_eq!(options.thresholds.len(), 2);
        let aborts = &options.thresholds[1];
        assert!(aborts.abort && aborts.delay == Nanos::from_secs(5));
        assert!(options.unknown == ["strange"] && options.warnings.is_empty());
        let nested = r#"{"thresholds":{"iterations":[{"threshold":"count>0","abortOnFial":true}]},"dns":{"tttl":"1m"}}"#;
        let misspelt = Options::of(Options::exported(Some(nested)).unwrap()).unwrap();
        assert_eq!(misspelt.unknown, ["tttl", "abortOnFial"]);
        let above = options.above(Some(script));
        assert_eq!(serde_json::json!(above), serde_json::json!({"vus": 4, "duration": "1s"}));
        let shown: Value = serde_json::from_str(&options.for_scripts()).unwrap();
        assert_eq!(shown["scenarios"]["default"]["executor"], "constant-vus");
        assert!(shown["scenarios"]["default"]["exec"].is_null() && shown["rps"].is_null());
    }

    #[test]
    fn strange_options_give_warnings() {
        for (json, expect) in [
            (r#"{"vus":1}"#, &[][..]),
            (r#"{"vus":2,"duration":"1s"}"#, &[]),
            (r#"{"vus":2,"iterations":null}"#, &["`vus=2` option will be ignored"]),
            (
                r#"{"stages":[],"scenarios":{}}"#,
                &["`stages` was explicitly set to an empty value", "`scenarios` was explicitly"],
            ),
        ] {
            let options = Options::of(Options::exported(Some(json)).unwrap()).unwrap();
            assert_eq!(options.warnings.len(), expect.len(), "{json}: {:?}", options.warnings);
            let warnings = options.warnings.iter().zip(expect);
            warnings.for_each(|(warning, expect)| {
                assert!(warning.starts_with(expect), "{json}: {warning}");
            });
        }
    }

    #[test]
    fn what_requests_are_to_be_is_read() {
        let json = r#"{"dns":{"ttl":"1m"},"batch":0,"rps":-1,"maxRedirects":3}"#;
        let options = Options::of(Options::exported(Some(json)).unwrap()).unwrap();
        assert_eq!((options.batch, options.max_redirects, options.http.rps), ((0, 6), 3, None));
        for json in [r#"{"throw":"yes"}"#, r#"{"tags":{"a":{}}}"#, r#"{"batch":"x"}"#] {
            assert!(executor_of(json).is_err(), "{json}");
        }
    }

    #[test]
    fn forms_that_k6_refuses_are_refused() {
        let of_rate = |field: &str| {
            format!(
                r#"{{"scenarios":{{"s":{{"executor":"ramping-arrival-rate","preAllocatedVUs":1,{field}}}}}}}"#
            )
        };
        let stages = |target: &str| format!(r#""stages":[{{"duration":"1s","target":{target}}}]"#);
        for json in [
            r#"{"tags":{"a":1}}"#,
            r#"{"tags":{"a":true}}"#,
            r#"{"scenarios":{"s":{"executor":"per-vu-iterations","tags":{"a":true}}}}"#,
            r#"{"scenarios":{"s":{"executor":"per-vu-iterations","env":{"A":1}}}}"#,
            r#"{"scenarios":{"s":{"executor":"constant-arrival-rate","rate":1.5,"duration":"1s","preAllocatedVUs":1}}}"#,
            &of_rate(&stages("1.5")),
            &of_rate(&stages("-1")),
            &of_rate(&format!("\"startRate\":0.5,{}", stages("1"))),
            r#"{"scenarios":{"s":{"executor":"ramping-vus","startVUs":0,"stages":[{"duration":"1s","target":0}]}}}"#,
            r#"{"vus":0,"stages":[{"duration":"1s","target":0}]}"#,
            r#"{"stages":[{"duration":"1s"}]}"#,
            r#"{"scenarios":{"my test":{"executor":"per-vu-iterations"}}}"#,
            r#"{"scenarios":{"":{"executor":"per-vu-iterations"}}}"#,
            r#"{"scenarios":{"s":{"executor":"per-vu-iterations","exec":""}}}"#,
            r#"{"scenarios":{"s":null}}"#,
            r#"{"blockHostnames":["a.*.b"]}"#,
            r#"{"dns":{"ttl":0}}"#,
            r#"{"httpDebug":true}"#,
            r#"{"tlsVersion":"ssl3.0"}"#,
            r#"{"rps":0.5}"#,
            r#"{"duration":30}"#,
            r#"{"duration":"30"}"#,
            r#"{"duration":1.5,"vus":2}"#,
            r#"{"iterations":5,"duration":"500ms"}"#,
            r#"{"scenarios":{"s":{"executor":"shared-iterations","maxDuration":"500ms"}}}"#,
            r#"{"scenarios":{"s":{"executor":"per-vu-iterations","maxDuration":600}}}"#,
        ] {
            assert!(executor_of(json).is_err(), "{json}");
        }
        let error = executor_of(r#"{"vus":1,"duration":30}"#).unwrap_err();
        assert!(error.starts_with("the duration must be at least 1s, but is 30ms"), "{error}");
    }

    #[test]
    fn what_k6_passes_over_with_a_warning_runs_once() {
        let once = Executor::PerVuIterations { vus: 1, iterations: 1, max_duration: MAX_DURATION };
        for json in [r#"{"vus":0}"#, r#"{"stages":[{"target":2}]}"#, r#"{"stages":[{}]}"#] {
            let options = Options::of(Options::exported(Some(json)).unwrap()).unwrap();
            assert_eq!(options.scenarios[0].executor, once, "{json}");
            assert_eq!(options.warnings.len(), 1, "{json}");
        }
        assert!(executor_of(r#"{"vus":"","iterations":"","stages":null}"#).is_ok());
    }

    #[test]
    fn numbers_are_read_from_texts() {
        let json = r#"{"scenarios":{"s":{"executor":"ramping-arrival-rate","startRate":"1","preAllocatedVUs":"2","maxVUs":"","stages":[{"duration":"1s","target":"8"}]}}}"#;
        let stages = vec![(Nanos::SECOND, 8.0)];
        let kind = ArrivalKind::Ramping;
        assert_eq!(
            executor_of(json),
            Ok(Executor::ArrivalRate { kind, start_per_s: 1.0, stages, vus: 2, vus_max: 2 })
        );
    }
}
