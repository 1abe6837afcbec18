//! Tiers: what of the configuration file, the script, the environment and the command line counts.

use serde_json::{Map, Value, json};

use super::fields::{Fields, time_of};

/// How a text is to be read as the value of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueFormat {
    /// As it is.
    Text,
    /// A whole number.
    Count,
    /// A number of any sign.
    Number,
    /// `true` or `false`.
    Flag,
    /// A time.
    Time,
    /// Words between commas.
    List,
    /// `1m:10,30s:0`.
    Stages,
    /// `name=value` between commas.
    Assigned,
    /// `name:value` between commas.
    Pairs,
    /// JSON.
    Json,
}

/// The options that the environment can say: the variable without its `K6_`, the option, how it is written.
pub const VARIABLES: &[(&str, &str, ValueFormat)] = &[
    ("PAUSED", "paused", ValueFormat::Flag),
    ("VUS", "vus", ValueFormat::Count),
    ("DURATION", "duration", ValueFormat::Time),
    ("ITERATIONS", "iterations", ValueFormat::Count),
    ("STAGES", "stages", ValueFormat::Stages),
    ("RPS", "rps", ValueFormat::Number),
    ("MAX_REDIRECTS", "maxRedirects", ValueFormat::Count),
    ("USER_AGENT", "userAgent", ValueFormat::Text),
    ("BATCH", "batch", ValueFormat::Number),
    ("BATCH_PER_HOST", "batchPerHost", ValueFormat::Number),
    ("HTTP_DEBUG", "httpDebug", ValueFormat::Text),
    ("INSECURE_SKIP_TLS_VERIFY", "insecureSkipTLSVerify", ValueFormat::Flag),
    ("TLS_CIPHER_SUITES", "tlsCipherSuites", ValueFormat::List),
    ("TLS_VERSION", "tlsVersion", ValueFormat::Text),
    ("TLSAUTH", "tlsAuth", ValueFormat::Json),
    ("THROW", "throw", ValueFormat::Flag),
    ("THRESHOLDS", "thresholds", ValueFormat::Json),
    ("BLACKLIST_IPS", "blacklistIPs", ValueFormat::List),
    ("BLOCK_HOSTNAMES", "blockHostnames", ValueFormat::List),
    ("HOSTS", "hosts", ValueFormat::Json),
    ("NO_CONNECTION_REUSE", "noConnectionReuse", ValueFormat::Flag),
    ("NO_VU_CONNECTION_REUSE", "noVUConnectionReuse", ValueFormat::Flag),
    ("MIN_ITERATION_DURATION", "minIterationDuration", ValueFormat::Time),
    ("SUMMARY_TREND_STATS", "summaryTrendStats", ValueFormat::List),
    ("SUMMARY_TIME_UNIT", "summaryTimeUnit", ValueFormat::Text),
    ("SYSTEM_TAGS", "systemTags", ValueFormat::List),
    ("TAGS", "tags", ValueFormat::Pairs),
    ("METRIC_SAMPLES_BUFFER_SIZE", "metricSamplesBufferSize", ValueFormat::Count),
    ("NO_COOKIES_RESET", "noCookiesReset", ValueFormat::Flag),
    ("DISCARD_RESPONSE_BODIES", "discardResponseBodies", ValueFormat::Flag),
    ("CONSOLE_OUTPUT", "consoleOutput", ValueFormat::Text),
    ("LOCAL_IPS", "localIPs", ValueFormat::Text),
    ("DNS", "dns", ValueFormat::Assigned),
    ("NO_SETUP", "noSetup", ValueFormat::Flag),
    ("SETUP_TIMEOUT", "setupTimeout", ValueFormat::Time),
    ("NO_TEARDOWN", "noTeardown", ValueFormat::Flag),
    ("TEARDOWN_TIMEOUT", "teardownTimeout", ValueFormat::Time),
    ("HANDLE_SUMMARY_TIMEOUT", "handleSummaryTimeout", ValueFormat::Time),
    ("EXECUTION_SEGMENT", "executionSegment", ValueFormat::Text),
    ("EXECUTION_SEGMENT_SEQUENCE", "executionSegmentSequence", ValueFormat::Text),
];

impl ValueFormat {
    /// Reads a text.
    ///
    /// # Errors
    /// It is not of this form; the text says what was expected.
    pub fn read(self, text: &str) -> Result<Value, String> {
        let wrong = |what: &str| Err(format!("\"{text}\" is not {what}"));
        match self {
            Self::Text => Ok(text.into()),
            Self::Count => {
                text.parse::<u64>().map_or_else(|_| wrong("a whole number"), |n| Ok(n.into()))
            }
            Self::Number => {
                text.parse::<i64>().map_or_else(|_| wrong("a whole number"), |n| Ok(n.into()))
            }
            Self::Flag => match text {
                "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true.into()),
                "0" | "f" | "F" | "false" | "FALSE" | "False" | "" => Ok(false.into()),
                _ => wrong("true or false"),
            },
            Self::Time if time_of(text).is_none() => wrong("a duration (such as 1m30s)"),
            Self::Time => Ok(text.into()),
            Self::List => Ok(text
                .split(',')
                .map(str::trim)
                .filter(|word| !word.is_empty())
                .map(Value::from)
                .collect()),
            Self::Stages => text.split(',').map(stage).collect(),
            Self::Assigned => pairs(text, '='),
            Self::Pairs => pairs(text, ':'),
            // It may have a client's key (`tlsAuth`): its text is not shown.
            Self::Json => serde_json::from_str(text).map_err(|_| "it is not JSON".to_owned()),
        }
    }
}

/// `30s:10`; without a target the stage has none.
fn stage(text: &str) -> Result<Value, String> {
    let (time, target) = text.trim().split_once(':').unwrap_or((text.trim(), ""));
    if time != "0" && time.parse::<f64>().is_ok() {
        return Err(format!("missing unit in duration \"{time}\""));
    }
    if time_of(time).is_none() {
        return Err(format!("\"{time}\" is not a duration (such as 1m30s)"));
    }
    if target.is_empty() {
        return Ok(json!({ "duration": time, "target": null }));
    }
    match target.parse::<u64>() {
        Ok(target) => Ok(json!({ "duration": time, "target": target })),
        Err(_) => Err(format!("\"{target}\" is not a whole number")),
    }
}

fn pairs(text: &str, between: char) -> Result<Value, String> {
    let pair = |part: &str| {
        let (name, value) =
            part.split_once(between).ok_or_else(|| format!("invalid map item: \"{part}\""))?;
        Ok((name.trim().to_owned(), Value::from(value)))
    };
    text.split(',')
        .filter(|part| !part.is_empty())
        .map(pair)
        .collect::<Result<Map<_, _>, _>>()
        .map(Value::Object)
}

/// The options of execution: a layer that sets one replaces all of those of the layers below.
const EXECUTION: [&str; 4] = ["duration", "iterations", "stages", "scenarios"];

/// The options of all layers together; later layers stand above earlier ones.
#[must_use]
pub fn merged(layers: impl IntoIterator<Item = Fields>) -> Fields {
    let mut all = Fields::new();
    for mut layer in layers {
        layer.retain(|_, value| !value.is_null());
        if EXECUTION.iter().any(|name| layer.get(*name).is_some_and(is_non_empty)) {
            all.retain(|name, _| !EXECUTION.contains(&name.as_str()));
        }
        all.append(&mut layer);
    }
    all
}

/// The names of the layers that set an option of execution and so drop the scenarios of a layer below.
#[must_use]
pub fn overridden<'a>(layers: &[(&'a str, &Fields)]) -> Vec<&'a str> {
    let (mut found, mut scenarios) = (Vec::new(), false);
    for (name, layer) in layers {
        let is_set = |name: &str| layer.get(name).is_some_and(|value| !value.is_null());
        if EXECUTION.iter().any(|name| is_set(name)) {
            found.extend(Some(*name).filter(|_| scenarios));
            scenarios = is_set("scenarios");
        }
    }
    found
}

/// Whether there is something in a value.
fn is_non_empty(value: &Value) -> bool {
    match value {
        Value::Array(list) => !list.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_by_their_form() {
        for (format, text, expect) in [
            (
                ValueFormat::Stages,
                "10s:5,1m:0",
                json!([{"duration": "10s", "target": 5}, {"duration": "1m", "target": 0}]),
            ),
            (ValueFormat::Assigned, "ttl=5m,select=first", json!({"ttl": "5m", "select": "first"})),
            (ValueFormat::Pairs, "a:b", json!({"a": "b"})),
            (ValueFormat::List, "a, b", json!(["a", "b"])),
            (ValueFormat::Number, "-1", json!(-1)),
        ] {
            assert_eq!(format.read(text), Ok(expect), "{text}");
        }
        for (format, text) in [
            (ValueFormat::Count, "abc"),
            (ValueFormat::Time, "abc"),
            (ValueFormat::Pairs, "x"),
            (ValueFormat::Flag, "abc"),
            (ValueFormat::Stages, "x"),
        ] {
            assert!(format.read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn scenarios_that_count_for_nothing_are_noticed() {
        let layer = |value: Value| value.as_object().cloned().unwrap_or_default();
        let scenarios = layer(json!({"scenarios": {"a": {}}, "duration": null}));
        let (vus, many) = (layer(json!({"vus": 3})), layer(json!({"vus": 3, "iterations": 5})));
        let names = |layers: [&Fields; 3]| {
            overridden(&[("script", layers[0]), ("env", layers[1]), ("cli", layers[2])]).join(",")
        };
        assert_eq!(names([&scenarios, &vus, &vus]), "");
        assert_eq!(names([&scenarios, &vus, &many]), "cli");
        assert_eq!(names([&scenarios, &many, &many]), "env");
        assert_eq!(names([&many, &scenarios, &many]), "cli");
    }

    #[test]
    fn a_higher_tiers_execution_stands_in_for_all_of_a_lower_ones() {
        let layer = |value: Value| value.as_object().cloned().unwrap_or_default();
        let all = merged([
            layer(
                json!({"stages": [{"duration": "1s", "target": 1}], "userAgent": "low", "vus": 3}),
            ),
            layer(json!({"userAgent": "script", "tags": {"a": "b"}})),
            layer(json!({"iterations": 5, "userAgent": null})),
        ]);
        assert_eq!(
            Value::Object(all),
            json!({"userAgent": "script", "vus": 3, "tags": {"a": "b"}, "iterations": 5})
        );
    }
}
