//! `ConsolidatedOptions`: the options of all layers as k6 writes them: in its order, times as Go prints them, thresholds in their
//! short form, null for an option that is not set.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Value, json};
use stdx::Nanos;
use users::SystemTags;

use super::fields::{Fields, time_of, whole};
use super::scenarios;
use super::shape::executor_fields;

/// The fields, in k6's order.
const FIELDS: [&str; 40] = [
    "paused",
    "vus",
    "duration",
    "iterations",
    "stages",
    "scenarios",
    "executionSegment",
    "executionSegmentSequence",
    "noSetup",
    "setupTimeout",
    "noTeardown",
    "teardownTimeout",
    "rps",
    "dns",
    "maxRedirects",
    "userAgent",
    "batch",
    "batchPerHost",
    "httpDebug",
    "insecureSkipTLSVerify",
    "tlsCipherSuites",
    "tlsVersion",
    "tlsAuth",
    "throw",
    "thresholds",
    "blacklistIPs",
    "blockHostnames",
    "hosts",
    "noConnectionReuse",
    "noVUConnectionReuse",
    "minIterationDuration",
    "cloud",
    "ext",
    "summaryTrendStats",
    "summaryTimeUnit",
    "systemTags",
    "tags",
    "metricSamplesBufferSize",
    "noCookiesReset",
    "discardResponseBodies",
];
/// The shortcuts to a scenario, which scripts do not see in `exec.test.options`.
const SHORTCUTS: [&str; 4] = ["vus", "duration", "iterations", "stages"];
/// What scripts see in `exec.test.options` besides.
const OUTSIDE: [&str; 2] = ["consoleOutput", "localIPs"];
/// The fields of every scenario, after its executor.
const SCENARIO: [&str; 5] = ["startTime", "gracefulStop", "env", "exec", "tags"];
/// Fields that are times.
const TIMES: [&str; 9] = [
    "duration",
    "setupTimeout",
    "teardownTimeout",
    "minIterationDuration",
    "startTime",
    "gracefulStop",
    "maxDuration",
    "timeUnit",
    "gracefulRampDown",
];
/// Fields that are whole numbers.
const COUNTS: [&str; 10] = [
    "vus",
    "iterations",
    "rps",
    "maxRedirects",
    "startVUs",
    "preAllocatedVUs",
    "maxVUs",
    "target",
    "rate",
    "startRate",
];

/// Options as k6 writes them.
#[derive(Clone, Debug, PartialEq)]
pub struct ConsolidatedOptions(Vec<(String, OptionJson)>);

/// A value whose fields keep their order.
#[derive(Clone, Debug, PartialEq)]
enum OptionJson {
    Json(Value),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl ConsolidatedOptions {
    /// The options of a script, or of an archive, itself.
    #[must_use]
    pub fn own(fields: &Fields) -> Self {
        Self(FIELDS.iter().filter_map(|name| field(name, fields)).collect())
    }

    /// The options of all layers together: shortcuts have become a scenario.
    pub(super) fn derived(fields: &Fields, tags: SystemTags, trend_stats: &[String]) -> Self {
        let mut fields = fields.clone();
        if !matches!(fields.get("scenarios"), Some(Value::Object(list)) if !list.is_empty()) {
            fields.insert("scenarios".to_owned(), Value::Object(scenarios::shortcut_json(&fields)));
        }
        fields.insert("systemTags".to_owned(), tags.names().collect());
        fields.insert("summaryTrendStats".to_owned(), json!(trend_stats));
        Self::own(&fields)
    }

    /// As `exec.test.options` shows it to scripts.
    pub(super) fn for_scripts(mut self, fields: &Fields) -> Self {
        self.0.retain(|(name, _)| !SHORTCUTS.contains(&name.as_str()));
        let outside = OUTSIDE.iter().filter_map(|name| field(name, fields));
        self.0.extend(outside);
        self
    }

    /// With one more field at the end.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.push((name.to_owned(), OptionJson::Json(value.into())));
        self
    }

    /// JSON on one line.
    #[must_use]
    pub fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// JSON with two blanks a level, and what HTML would take for its own escaped, as Go does.
    #[must_use]
    pub fn pretty(&self) -> String {
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
    }
}

impl Serialize for ConsolidatedOptions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        in_order(&self.0, serializer)
    }
}

impl Serialize for OptionJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Json(value) => value.serialize(serializer),
            Self::List(list) => serializer.collect_seq(list),
            Self::Object(fields) => in_order(fields, serializer),
        }
    }
}

fn in_order<S: Serializer>(
    fields: &[(String, OptionJson)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(fields.len()))?;
    for (name, value) in fields {
        map.serialize_entry(name, value)?;
    }
    map.end()
}

/// A field by its name; `None` for one that is left out unless it is set.
fn field(name: &str, fields: &Fields) -> Option<(String, OptionJson)> {
    let value = fields.get(name).unwrap_or(&Value::Null);
    let shown = match (name, value) {
        ("cloud", Value::Null) => return None,
        ("dns", value) => dns(value),
        ("scenarios", Value::Object(list)) => each(list, scenario),
        ("thresholds", Value::Object(list)) => each(list, thresholds),
        ("stages", Value::Array(list)) => OptionJson::List(list.iter().map(stage).collect()),
        ("tlsVersion", Value::String(one)) => some(
            &["min", "max"],
            &Fields::from_iter(["min", "max"].map(|n| (n.to_owned(), one.as_str().into()))),
        ),
        ("tlsVersion", Value::Object(range)) => some(&["min", "max"], range),
        ("systemTags", Value::Array(list)) => {
            let mut tags: Vec<_> =
                SystemTags::named(list.iter().filter_map(Value::as_str)).names().collect();
            tags.sort_unstable();
            OptionJson::Json(tags.into())
        }
        (name, value) if TIMES.contains(&name) => OptionJson::Json(time(value)),
        (name, value) if COUNTS.contains(&name) => {
            OptionJson::Json(whole(value).map_or_else(|| value.clone(), Value::from))
        }
        (_, value) => OptionJson::Json(value.clone()),
    };
    Some((name.to_owned(), shown))
}

/// Every field of an object, shown in a way.
fn each(fields: &Fields, shown: fn(&Value) -> OptionJson) -> OptionJson {
    OptionJson::Object(fields.iter().map(|(name, value)| (name.clone(), shown(value))).collect())
}

/// Fields of an object in this order.
fn some(names: &[&str], fields: &Fields) -> OptionJson {
    OptionJson::Object(names.iter().filter_map(|name| field(name, fields)).collect())
}

/// A time as Go prints it; a value that is not a time stays as it is.
fn time(value: &Value) -> Value {
    let time = match value {
        Value::String(text) => time_of(text),
        Value::Number(number) => time_of(&number.to_string()),
        _ => None,
    };
    time.map_or_else(|| value.clone(), |time: Nanos| time.to_string().into())
}

fn dns(value: &Value) -> OptionJson {
    let none = Fields::new();
    some(&["ttl", "select", "policy"], value.as_object().unwrap_or(&none))
}

fn stage(value: &Value) -> OptionJson {
    value
        .as_object()
        .map_or(OptionJson::Json(Value::Null), |stage| some(&["duration", "target"], stage))
}

fn thresholds(value: &Value) -> OptionJson {
    let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
    OptionJson::List(list.iter().map(threshold).collect())
}

/// An expression, unless it says more.
fn threshold(value: &Value) -> OptionJson {
    let Some(fields) = value.as_object() else { return OptionJson::Json(value.clone()) };
    let aborts = fields.get("abortOnFail").and_then(Value::as_bool).unwrap_or_default();
    let expression = fields.get("threshold").cloned().unwrap_or_default();
    if !aborts {
        return OptionJson::Json(expression);
    }
    let delay = fields.get("delayAbortEval").map_or(Value::Null, time);
    let all = [("threshold", expression), ("abortOnFail", true.into()), ("delayAbortEval", delay)];
    OptionJson::Object(all.map(|(name, value)| (name.to_owned(), OptionJson::Json(value))).into())
}

fn scenario(value: &Value) -> OptionJson {
    let Some(fields) = value.as_object() else { return OptionJson::Json(value.clone()) };
    let executor = fields.get("executor").cloned().unwrap_or_default();
    let own = executor_fields(executor.as_str().unwrap_or_default()).unwrap_or_default();
    let mut shown = vec![("executor".to_owned(), OptionJson::Json(executor))];
    shown.extend(SCENARIO.iter().filter_map(|name| field(name, fields)));
    if fields.get("options").is_some_and(|options| !options.is_null()) {
        shown.extend(field("options", fields));
    }
    shown.extend(own.iter().filter_map(|(name, _)| field(name, fields)));
    OptionJson::Object(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(json: &str) -> Fields {
        serde_json::from_str(json).expect("an object")
    }

    /// The part of a text from here to there.
    fn part<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
        let start = text.find(from).expect("the start");
        let end = text[start..].find(to).expect("the end");
        &text[start..start + end]
    }

    #[test]
    fn fields_stand_in_k6s_order_and_are_null_where_nobody_says() {
        let text = ConsolidatedOptions::own(&Fields::new()).text();
        assert!(text.starts_with(r#"{"paused":null,"vus":null,"duration":null,"iterations":null,"stages":null,"scenarios":null,"#));
        assert!(
            text.contains(r#""dns":{"ttl":null,"select":null,"policy":null},"maxRedirects":null"#)
        );
        assert!(text.contains(r#""minIterationDuration":null,"ext":null,"#), "no cloud: {text}");
        let given = fields(r#"{"cloud":{"b":1},"setupTimeout":1500,"duration":"60s","vus":"2"}"#);
        let text = ConsolidatedOptions::own(&given).text();
        assert!(text.contains(r#""cloud":{"b":1},"ext":null"#), "{text}");
        assert!(
            text.contains(r#""setupTimeout":"1.5s""#)
                && text.contains(r#""vus":2,"duration":"1m0s""#)
        );
    }

    #[test]
    fn scenarios_have_every_field_of_their_executor() {
        let given = fields(
            r#"{"scenarios":{"z":{"executor":"constant-vus","duration":"90s","tags":{"a":"b"},"options":{"browser":{}}},
            "a":{"executor":"ramping-vus","stages":[{"target":3,"duration":"0.5s"}]}}}"#,
        );
        let expect = r#""scenarios":{"a":{"executor":"ramping-vus","startTime":null,"gracefulStop":null,"env":null,"exec":null,"tags":null,"startVUs":null,"stages":[{"duration":"500ms","target":3}],"gracefulRampDown":null},"z":{"executor":"constant-vus","startTime":null,"gracefulStop":null,"env":null,"exec":null,"tags":{"a":"b"},"options":{"browser":{}},"vus":null,"duration":"1m30s"}},"#;
        let text = ConsolidatedOptions::own(&given).text();
        assert_eq!(part(&text, "\"scenarios\"", "\"executionSegment\""), expect);
    }

    #[test]
    fn thresholds_are_short_unless_they_end_the_test() {
        let given = fields(
            r#"{"thresholds":{"checks":[],"a":[{"threshold":"avg<1","abortOnFail":false},{"threshold":"max<5","abortOnFail":true,"delayAbortEval":"90s"},"p(95)>1"]}}"#,
        );
        let text = ConsolidatedOptions::own(&given).text();
        let expect = r#""thresholds":{"a":["avg<1",{"threshold":"max<5","abortOnFail":true,"delayAbortEval":"1m30s"},"p(95)>1"],"checks":[]},"#;
        assert_eq!(part(&text, "\"thresholds\"", "\"blacklistIPs\""), expect);
        assert!(ConsolidatedOptions::own(&given).pretty().contains("      \"avg\\u003c1\",\n"));
    }

    #[test]
    fn what_is_derived_has_a_scenario_and_scripts_see_no_shortcuts() {
        let given = fields(r#"{"vus":3,"duration":"5s","localIPs":"127.0.0.1"}"#);
        let derived =
            ConsolidatedOptions::derived(&given, SystemTags::named(["url", "check"]), &[]);
        let text = derived.text();
        for part in [
            r#""systemTags":["check","url"]"#,
            r#""vus":3,"duration":"5s","#,
            r#"{"default":{"executor":"constant-vus""#,
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let text = derived.for_scripts(&given).text();
        assert!(text.starts_with(r#"{"paused":null,"scenarios":{"#), "{text}");
        assert!(text.ends_with(r#""consoleOutput":null,"localIPs":"127.0.0.1"}"#), "{text}");
    }
}
