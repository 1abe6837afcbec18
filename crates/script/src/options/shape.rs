//! What k6's options look like: the names of their fields, and how values are read that may be written in several ways. Every
//! layer of options is brought into this form before anything else looks at it.

use serde_json::{Map, Value, json};

use super::error::{OptionsError, Result, wrong};
use super::fields::Fields;

/// How a value is read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    /// As it is written.
    Any,
    /// A whole number, also as a text. An empty text, which is what an empty variable gives, is no number at all.
    Count,
    /// Names and texts; what is null is the empty text.
    Texts,
    /// A list of such values.
    List(&'static Self),
    /// An object with these fields.
    Object(&'static [Field]),
    /// An object of any names, with such values.
    Map(&'static Self),
    /// The scenarios.
    Scenarios,
}

use Shape::{Any, Count, List, Object, Texts};

/// A field and its shape.
type Field = (&'static str, Shape);

const STAGE: Shape = Object(&[("duration", Any), ("target", Count)]);
const STAGES: Shape = List(&STAGE);
const THRESHOLD: Shape =
    Object(&[("threshold", Any), ("abortOnFail", Any), ("delayAbortEval", Any)]);
const IDENTITY: Shape = Object(&[("domains", Any), ("cert", Any), ("key", Any), ("password", Any)]);

/// The options.
const OPTIONS: &[Field] = &[
    ("vus", Count),
    ("duration", Any),
    ("iterations", Count),
    ("stages", STAGES),
    ("scenarios", Shape::Scenarios),
    ("thresholds", Shape::Map(&List(&THRESHOLD))),
    ("setupTimeout", Any),
    ("teardownTimeout", Any),
    ("userAgent", Any),
    ("maxRedirects", Count),
    ("discardResponseBodies", Any),
    ("insecureSkipTLSVerify", Any),
    ("noConnectionReuse", Any),
    ("tags", Texts),
    ("summaryTrendStats", Any),
    ("minIterationDuration", Any),
    ("paused", Any),
    ("executionSegment", Any),
    ("executionSegmentSequence", Any),
    ("rps", Count),
    ("batch", Count),
    ("batchPerHost", Count),
    ("httpDebug", Any),
    ("throw", Any),
    ("noVUConnectionReuse", Any),
    ("noCookiesReset", Any),
    ("dns", Object(&[("ttl", Any), ("select", Any), ("policy", Any)])),
    ("hosts", Any),
    ("blacklistIPs", Any),
    ("blockHostnames", Any),
    ("localIPs", Any),
    ("tlsVersion", Object(&[("min", Any), ("max", Any)])),
    ("tlsCipherSuites", Any),
    ("tlsAuth", List(&IDENTITY)),
    ("noSetup", Any),
    ("noTeardown", Any),
    ("handleSummaryTimeout", Any),
    ("systemTags", Any),
    ("summaryTimeUnit", Any),
    ("metricSamplesBufferSize", Count),
    ("consoleOutput", Any),
    ("linger", Any),
    ("noUsageReport", Any),
    ("cloud", Any),
    ("ext", Any),
    ("features", Any),
];

/// The fields of every scenario.
const SCENARIO: &[Field] = &[
    ("executor", Any),
    ("startTime", Any),
    ("gracefulStop", Any),
    ("env", Texts),
    ("exec", Any),
    ("tags", Texts),
    ("options", Any),
];

/// The executors, each with the fields of its own, in k6's order.
const EXECUTORS: &[(&str, &[Field])] = &[
    ("shared-iterations", ITERATIONS),
    ("per-vu-iterations", ITERATIONS),
    ("constant-vus", &[("vus", Count), ("duration", Any)]),
    ("ramping-vus", &[("startVUs", Count), ("stages", STAGES), ("gracefulRampDown", Any)]),
    (
        "constant-arrival-rate",
        &[
            ("rate", Count),
            ("timeUnit", Any),
            ("duration", Any),
            ("preAllocatedVUs", Count),
            ("maxVUs", Count),
        ],
    ),
    (
        "ramping-arrival-rate",
        &[
            ("startRate", Count),
            ("timeUnit", Any),
            ("stages", STAGES),
            ("preAllocatedVUs", Count),
            ("maxVUs", Count),
        ],
    ),
    ("externally-controlled", &[("vus", Count), ("duration", Any), ("maxVUs", Count)]),
];
const ITERATIONS: &[Field] = &[("vus", Count), ("iterations", Count), ("maxDuration", Any)];

/// The fields of an executor's own; `None` where there is no such executor.
pub(super) fn executor_fields(executor: &str) -> Option<&'static [Field]> {
    EXECUTORS.iter().find(|(name, _)| *name == executor).map(|(_, fields)| *fields)
}

/// The names of the executors.
pub(super) fn executors() -> impl Iterator<Item = &'static str> {
    EXECUTORS.iter().map(|(name, _)| *name)
}

/// Options of one layer by k6's names. A name that fits in another letter case alone is taken for k6's, as k6 does.
///
/// # Errors
/// A scenario has a field that its executor does not know, or a value that cannot be read.
pub fn canonical(fields: Fields) -> Result<Fields> {
    let mut unknown = Vec::new();
    let fields = object(fields, OPTIONS, &mut unknown)?;
    // k6 leaves a stage without a duration out, so that its misspelt field would make another load.
    let stages = fields.get("stages").and_then(Value::as_array).into_iter().flatten();
    for stage in stages.filter_map(Value::as_object) {
        let says = |name: &str| stage.get(name).is_some_and(|value| !value.is_null());
        if let Some(name) = stage.keys().find(|name| *name != "duration" && *name != "target")
            && !(says("duration") && says("target"))
        {
            return wrong(format!("stages: {}", unknown_field(name, &["duration", "target"])));
        }
    }
    Ok(fields)
}

/// The names of fields that k6 does not know, at the top and within options but for scenarios, where they are refused.
///
/// # Errors
/// As of [`canonical`].
pub(super) fn unknown_fields(fields: &Fields) -> Result<Vec<String>> {
    let mut unknown = Vec::new();
    object(fields.clone(), OPTIONS, &mut unknown)?;
    Ok(unknown)
}

/// An object by the names of its shape; gathers the names that it lacks.
fn object(fields: Fields, shape: &[Field], unknown: &mut Vec<String>) -> Result<Fields> {
    let mut read = Map::new();
    let (exact, other): (Vec<_>, Vec<_>) =
        fields.into_iter().partition(|(name, _)| shape.iter().any(|(known, _)| known == name));
    // Exact names come last and so count.
    for (name, value) in other.into_iter().chain(exact) {
        match shape.iter().find(|(known, _)| known.eq_ignore_ascii_case(&name)) {
            Some((known, shape)) => {
                let value = value_of(known, value, *shape, unknown)?;
                read.insert((*known).to_owned(), value);
            }
            None => {
                unknown.push(name.clone());
                read.insert(name, value);
            }
        }
    }
    Ok(read)
}

/// A value in its shape; one of another kind stays as it is and is refused where it is read.
fn value_of(name: &str, value: Value, shape: Shape, unknown: &mut Vec<String>) -> Result<Value> {
    Ok(match (shape, value) {
        (Count, Value::String(text)) => number_of(name, &text)?,
        (Texts, Value::Object(pairs)) => {
            Value::Object(pairs.into_iter().map(|(name, value)| (name, text_of(value))).collect())
        }
        (Object(shape), Value::Object(fields)) => Value::Object(object(fields, shape, unknown)?),
        (List(shape), Value::Array(list)) => {
            let each = list.into_iter().map(|value| value_of(name, value, *shape, unknown));
            Value::Array(each.collect::<Result<_>>()?)
        }
        (Shape::Map(shape), Value::Object(list)) => {
            let each = list.into_iter().map(|(key, value)| {
                let value = value_of(&key, value, *shape, unknown)?;
                Ok((key, value))
            });
            Value::Object(each.collect::<Result<_>>()?)
        }
        (Shape::Scenarios, Value::Object(list)) => {
            let each = list.into_iter().map(|(name, value)| {
                let value = scenario(&name, value)?;
                Ok((name, value))
            });
            Value::Object(each.collect::<Result<_>>()?)
        }
        (_, value) => value,
    })
}

/// A number that is written as a text.
fn number_of(name: &str, text: &str) -> Result<Value> {
    if text.is_empty() {
        return Ok(Value::Null);
    }
    match text.parse::<i64>() {
        Ok(number) => Ok(json!(number)),
        Err(_) => wrong(format!("{name}: \"{text}\" is not a whole number")),
    }
}

fn text_of(value: Value) -> Value {
    if value.is_null() { Value::String(String::new()) } else { value }
}

/// A scenario by the names of its executor's fields.
fn scenario(name: &str, value: Value) -> Result<Value> {
    let named = |text: String| OptionsError(format!("scenario {name}: {text}"));
    let fields = match value {
        Value::Object(fields) => fields,
        Value::Null => {
            return wrong(format!(
                "scenario '{name}' doesn't have a specified executor type: it is null or undefined"
            ));
        }
        _ => return wrong(format!("scenario {name}: is not an object")),
    };
    let executor = fields.iter().find(|(name, _)| name.eq_ignore_ascii_case("executor"));
    let executor = executor.and_then(|(_, value)| value.as_str()).unwrap_or_default().to_owned();
    // What is wrong with an executor that there is not is found out where scenarios are made.
    let Some(own) = executor_fields(&executor) else { return Ok(Value::Object(fields)) };
    let shape: Vec<Field> = SCENARIO.iter().chain(own).copied().collect();
    let mut unknown = Vec::new();
    let read = object(fields, &shape, &mut unknown).map_err(|error| named(error.0))?;
    match unknown.first() {
        None => Ok(Value::Object(read)),
        Some(field) => {
            let is_of_stage = !read.contains_key(field);
            let own: Vec<_> = own.iter().chain(SCENARIO).map(|(name, _)| *name).collect();
            let known = if is_of_stage { &["duration", "target"][..] } else { &own };
            let place = if is_of_stage { "stages: " } else { "" };
            let mut text = format!("{place}{}", unknown_field(field, known));
            let is_elsewhere = |(_, fields): &(&str, &[Field])| {
                fields.iter().any(|(name, _)| name.eq_ignore_ascii_case(field))
            };
            if !is_of_stage && let Some((other, _)) = EXECUTORS.iter().find(|e| is_elsewhere(e)) {
                text.push_str(&format!(": {executor} has none, unlike {other}"));
            }
            Err(named(text))
        }
    }
}

/// The option that is meant by a name that is none; `None` where none is near.
#[must_use]
pub fn nearest_option(name: &str) -> Option<&'static str> {
    let fields =
        [STAGE, THRESHOLD, IDENTITY].into_iter().chain(OPTIONS.iter().map(|(_, shape)| *shape));
    let inner = fields.filter_map(|shape| match shape {
        Object(fields) => Some(fields),
        _ => None,
    });
    let names = inner.flatten().chain(OPTIONS).map(|(name, _)| *name);
    let names: Vec<&'static str> = names.collect();
    let lower: Vec<String> = names.iter().map(|name| name.to_ascii_lowercase()).collect();
    let meant = stdx::nearest(&name.to_ascii_lowercase(), lower.iter().map(String::as_str))?;
    names.into_iter().find(|name| name.eq_ignore_ascii_case(meant))
}

/// That there is no such field, and which one may be meant.
fn unknown_field(name: &str, known: &[&str]) -> String {
    let text = format!("json: unknown field \"{name}\"");
    let lower: Vec<_> = known.iter().map(|name| name.to_ascii_lowercase()).collect();
    let meant = stdx::nearest(&name.to_ascii_lowercase(), lower.iter().map(String::as_str));
    let meant = meant.and_then(|meant| known.iter().find(|name| name.eq_ignore_ascii_case(meant)));
    meant.map_or_else(|| text.clone(), |meant| format!("{text} (did you mean {meant}?)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &Value) -> Result<Value> {
        canonical(json.as_object().cloned().unwrap_or_default()).map(Value::Object)
    }

    #[test]
    fn names_are_k6s_in_any_letter_case() {
        let given = json!({"VUs": 3, "insecureSkipTlsVerify": true, "Stages": [{"Duration": "1s", "TARGET": "4"}],
            "Thresholds": {"http_reqs": [{"Threshold": "count>1", "abortonfail": true}, "count>2"]},
            "DNS": {"TTL": "1m"}, "tlsversion": {"MIN": "tls1.2"}, "other": 1,
            "SCENARIOS": {"s": {"Executor": "constant-arrival-rate", "Rate": 5, "maxVus": "50", "Tags": {"A": null}}}});
        let expect = json!({"vus": 3, "insecureSkipTLSVerify": true, "stages": [{"duration": "1s", "target": 4}],
            "thresholds": {"http_reqs": [{"threshold": "count>1", "abortOnFail": true}, "count>2"]},
            "dns": {"ttl": "1m"}, "tlsVersion": {"min": "tls1.2"}, "other": 1,
            "scenarios": {"s": {"executor": "constant-arrival-rate", "rate": 5, "maxVUs": 50, "tags": {"A": ""}}}});
        assert_eq!(read(&given), Ok(expect));
        let both = json!({"VUS": 1, "vus": 2, "zzz": 3});
        assert_eq!(read(&both), Ok(json!({"vus": 2, "zzz": 3})));
    }

    #[test]
    fn a_field_that_an_executor_lacks_is_named_with_the_one_that_is_meant() {
        let of = |fields: Value| read(&json!({"scenarios": {"s": fields}})).unwrap_err().0;
        for (fields, expect) in [
            (
                json!({"executor": "constant-arrival-rate", "maxVU": 50}),
                r#"scenario s: json: unknown field "maxVU" (did you mean maxVUs?)"#,
            ),
            (
                json!({"executor": "constant-vus", "iterations": 5}),
                r#"scenario s: json: unknown field "iterations": constant-vus has none, unlike shared-iterations"#,
            ),
            (
                json!({"executor": "shared-iterations", "foo": 1}),
                r#"scenario s: json: unknown field "foo""#,
            ),
            (
                json!({"executor": "ramping-vus", "stages": [{"duration": "1s", "traget": 3}]}),
                r#"scenario s: stages: json: unknown field "traget" (did you mean target?)"#,
            ),
            (
                Value::Null,
                "scenario 's' doesn't have a specified executor type: it is null or undefined",
            ),
            (
                json!({"executor": "constant-vus", "vus": "many"}),
                r#"scenario s: vus: "many" is not a whole number"#,
            ),
        ] {
            assert_eq!(of(fields), expect);
        }
    }

    #[test]
    fn a_misspelt_stage_makes_no_other_load() {
        let error = read(&json!({"stages": [{"durration": "1s", "target": 3}]})).unwrap_err();
        assert_eq!(error.0, r#"stages: json: unknown field "durration" (did you mean duration?)"#);
        assert!(read(&json!({"stages": [{"duration": "1s", "target": 3, "note": "up"}]})).is_ok());
    }

    #[test]
    fn an_empty_text_is_no_number() {
        let given = json!({"vus": "", "iterations": "7", "scenarios":
            {"s": {"executor": "ramping-arrival-rate", "startRate": "1", "maxVUs": ""}}});
        let expect = json!({"vus": null, "iterations": 7, "scenarios":
            {"s": {"executor": "ramping-arrival-rate", "startRate": 1, "maxVUs": null}}});
        assert_eq!(read(&given), Ok(expect));
    }
}
