//! The grammar of JSON lines: one object a line with `method`, `url`, `body` (base64) and `header` (`{name: [values]}`).
//! Blank lines are skipped and other keys ignored.
//!
//! Natively `weight` and `name` are known as well, and method, URL and header fields must be such as can be sent. Vegeta drops a
//! last line without newline; [`Grammar::Vegeta`] does so too.

use std::collections::BTreeMap;
use std::fmt;
use std::io::BufRead;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use stdx::shown_url;

use super::bare::BareTarget;
use super::collect::collect;
use super::field::{is_field, is_token};
use super::grammar::Grammar;
use super::lines::{Line, Lines};
use super::options::Options;
use super::problem::{Problem, ProblemKind};
use super::url::is_url;
use super::vegeta_json;
use crate::target::Target;
use crate::target_list::TargetList;

/// Reads a whole file: its targets, and all that is wrong with it (in Vegeta's grammar, the first thing). No bytes make it
/// panic. Where there are problems, nothing should be sent.
#[must_use]
pub fn parse(input: &[u8], options: &Options) -> (TargetList, Vec<Problem>) {
    collect(Stream::new(input, options.clone()), options.grammar)
}

/// Targets one by one (`-lazy`), and the problems between them. Ends with the input, or after a problem of the input itself.
pub struct Stream<R> {
    lines: Lines<R>,
    options: Options,
}

impl<R: BufRead> Stream<R> {
    /// Reads from `input`, which may be a `Box<dyn BufRead + Send>`.
    pub fn new(input: R, options: Options) -> Self {
        Self { lines: Lines::new(input), options }
    }

    /// The next line that is not blank.
    fn line(&mut self) -> Result<Option<Line>, ProblemKind> {
        while let Some(line) = self.lines.next()? {
            if !line.ended && self.options.grammar == Grammar::Vegeta {
                return Ok(None);
            }
            if !line.text.trim().is_empty() {
                return Ok(Some(line));
            }
        }
        Ok(None)
    }
}

impl<R: BufRead> Iterator for Stream<R> {
    type Item = Result<Target, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        let grammar = self.options.grammar;
        let target = match self.line() {
            Ok(line) => target(&line?.text, grammar),
            Err(kind) => Err(kind),
        };
        Some(match target {
            Ok(target) => Ok(self.options.defaults.apply(target)),
            Err(kind) => Err(Problem { line: self.lines.number(), grammar, kind }),
        })
    }
}

/// A line's object. Keys that are `null` count as missing, as in Go.
#[derive(Deserialize)]
struct Object {
    #[serde(default)]
    method: serde_json::Value,
    #[serde(default)]
    url: serde_json::Value,
    #[serde(default)]
    body: serde_json::Value,
    header: Option<Fields>,
    #[serde(default)]
    weight: serde_json::Value,
    #[serde(default)]
    name: serde_json::Value,
    /// Keys that are not known.
    #[serde(flatten)]
    others: BTreeMap<String, IgnoredAny>,
}

/// The keys that are.
const KEYS: [&str; 6] = ["method", "url", "body", "header", "weight", "name"];

/// Unknown keys are left out, but for a slip of the pen: a field in `headers` would not be sent.
fn check_keys(others: &BTreeMap<String, IgnoredAny>) -> Result<(), ProblemKind> {
    let nearest = |key: &String| {
        let nearest = stdx::nearest(&key.to_ascii_lowercase(), KEYS.into_iter())?;
        Some(format!("there is no key {key:?}: did you mean {nearest:?}?"))
    };
    match others.keys().find_map(nearest) {
        Some(reason) => Err(ProblemKind::Json { reason }),
        None => Ok(()),
    }
}

fn target(line: &str, grammar: Grammar) -> Result<BareTarget, ProblemKind> {
    match grammar {
        Grammar::Vegeta => vegeta_json::target(line),
        Grammar::Native => native(line),
    }
}

fn native(line: &str) -> Result<BareTarget, ProblemKind> {
    if line.trim_start().starts_with('[') {
        let reason = "this is an array, and each line is to be an object (`jq -c '.[]' FILE` makes such lines of one)";
        return Err(ProblemKind::Json { reason: reason.to_owned() });
    }
    let object: Object = serde_json::from_str(line)
        .map_err(|error| ProblemKind::Json { reason: without_line(&error) })?;
    check_keys(&object.others)?;
    let method = text("method", object.method)?.ok_or(ProblemKind::NoMethod)?;
    let url = text("url", object.url)?.ok_or(ProblemKind::NoUrl)?;
    let mut target = BareTarget::new(&method, &url);
    if let Some(body) = text("body", object.body)? {
        let body = STANDARD.decode(body).map_err(|error| ProblemKind::Json {
            reason: format!("body is not base64: {error}"),
        })?;
        target.body = Some(body.into()).filter(|body: &std::sync::Arc<[u8]>| !body.is_empty());
    }
    target.headers = object.header.map_or_else(Vec::new, |fields| fields.0);
    target.weight = weight(&object.weight)?;
    target.name = name(object.name)?;
    check(&target)?;
    Ok(target)
}

/// The text of a key; an empty one counts as missing.
fn text(key: &str, value: serde_json::Value) -> Result<Option<String>, ProblemKind> {
    match value {
        serde_json::Value::Null => Ok(None),
        serde_json::Value::String(text) => Ok(Some(text).filter(|text| !text.is_empty())),
        other => {
            let hint = if key == "body" { " (in base64)" } else { "" };
            Err(ProblemKind::Json { reason: format!("{key} is to be a text{hint}, found {other}") })
        }
    }
}

/// Natively nothing is sent that is not HTTP.
fn check(target: &BareTarget) -> Result<(), ProblemKind> {
    if !is_token(&target.method) {
        return Err(ProblemKind::Method { found: target.method.clone() });
    }
    if !is_url(&target.url, Grammar::Native) {
        return Err(ProblemKind::Url { found: shown_url(&target.url).into_owned() });
    }
    match target.headers.iter().find(|(name, value)| !is_field(name, value)) {
        Some((name, value)) => Err(ProblemKind::Header { found: format!("{name}: {value}") }),
        None => Ok(()),
    }
}

fn weight(value: &serde_json::Value) -> Result<u32, ProblemKind> {
    if value.is_null() {
        return Ok(1);
    }
    let number = value.as_u64().and_then(|weight| u32::try_from(weight).ok());
    number
        .filter(|weight| *weight > 0)
        .ok_or_else(|| ProblemKind::Directive { found: format!("weight={value}") })
}

fn name(value: serde_json::Value) -> Result<String, ProblemKind> {
    match value {
        serde_json::Value::Null => Ok(String::new()),
        serde_json::Value::String(name) => Ok(name),
        other => Err(ProblemKind::Directive { found: format!("name={other}") }),
    }
}

/// The parser's words, whose "line 1" is of no use: each line is parsed alone.
fn without_line(error: &serde_json::Error) -> String {
    error.to_string().replace(" at line 1 column ", " at column ")
}

/// Header fields in the order of the file.
struct Fields(Vec<(String, String)>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of header names with lists of values")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
        let mut fields = Vec::new();
        while let Some((name, values)) = map.next_entry::<String, serde_json::Value>()? {
            let values: Option<Vec<String>> = serde_json::from_value(values).map_err(|_| {
                A::Error::custom(format!(
                    "header {name:?} is to have a list of texts, as in {{\"Accept\": [\"text/plain\"]}}"
                ))
            })?;
            fields
                .extend(values.unwrap_or_default().into_iter().map(|value| (name.clone(), value)));
        }
        Ok(Fields(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target_list::TargetRef;

    fn found(grammar: Grammar, input: &str) -> (Vec<Target>, Vec<String>) {
        let options = Options { grammar, ..Options::default() };
        let (targets, problems) = parse(input.as_bytes(), &options);
        let targets = targets.iter().map(TargetRef::to_target).collect();
        (targets, problems.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn reads_every_key() {
        let input = concat!(
            r#"{"method":"POST","url":"http://a/","body":"aGk=","header":{"Z":["1","2"],"A":["3"],"N":null},"x":[1]}"#,
            "\n\n  ",
            r#"{"url":"http://b/","method":"GET","weight":3,"name":"home","body":null,"header":null}"#,
            "\n",
        );
        for grammar in [Grammar::Native, Grammar::Vegeta] {
            let (targets, problems) = found(grammar, input);
            assert_eq!((targets.len(), problems.len()), (2, 0), "{problems:?}");
            let fields: Vec<String> =
                targets[0].headers.iter().map(|(name, value)| format!("{name}={value}")).collect();
            assert_eq!(fields, ["Z=1", "Z=2", "A=3"]);
            assert_eq!((targets[0].method.as_str(), &targets[0].body[..]), ("POST", &b"hi"[..]));
            let extra = (targets[1].weight, targets[1].name.as_str());
            assert_eq!(extra, if grammar == Grammar::Native { (3, "home") } else { (1, "") });
        }
    }

    #[test]
    fn a_misspelt_key_is_refused_and_a_strange_one_left_out() {
        let line = |key: &str| {
            let line = format!(r#"{{"method":"GET","url":"http://a/","{key}":null}}"#);
            (found(Grammar::Native, &line).1, found(Grammar::Vegeta, &(line + "\n")).1)
        };
        for (key, known) in [("headers", "header"), ("Body", "body"), ("nmae", "name")] {
            let (native, vegeta) = line(key);
            let words = format!("there is no key {key:?}: did you mean {known:?}?");
            assert!(native.len() == 1 && native[0].contains(&words), "{native:?}");
            assert!(vegeta.is_empty(), "as Vegeta: {vegeta:?}");
        }
        assert_eq!(line("comment"), (Vec::new(), Vec::new()));
    }

    #[test]
    fn the_last_line_counts_natively() {
        let input = "{\"method\":\"GET\",\"url\":\"http://a/\"}\n{\"method\":\"GET\",\"url\":\"http://b/\"}";
        assert_eq!(found(Grammar::Native, input).0.len(), 2);
        assert_eq!(found(Grammar::Vegeta, input).0.len(), 1);
        assert_eq!(found(Grammar::Vegeta, "{}").1, ["no targets to attack"]);
    }

    #[test]
    fn problems_in_both_words() {
        let cases = [
            (
                r#"{"url":"http://a/"}"#,
                "line 1: required method is missing",
                "target: required method is missing",
            ),
            (
                r#"{"method":"GET"}"#,
                "line 1: required url is missing",
                "target: required url is missing",
            ),
        ];
        for (line, native, vegeta) in cases {
            assert_eq!(found(Grammar::Native, line).1, [native]);
            assert_eq!(found(Grammar::Vegeta, &format!("{line}\n")).1, [vegeta]);
        }
    }

    #[test]
    fn natively_every_problem_is_reported() {
        let input = [
            r#"{"method":"GET","url":"/a"}"#,
            r#"{"method":"G T","url":"http://a/"}"#,
            r#"{"method":"GET","url":"http://a/","header":{"A":["1\r\nB: 2"]}}"#,
            r#"{"method":"GET","url":"http://a/","body":"!"}"#,
            r#"{"method":"GET","url":"http://a/","weight":0}"#,
            r#"{"method":"GET","url":"http://a/","name":7}"#,
            r#"{"method":7,"url":"http://a/"}"#,
            "GET http://a/",
            r#"[{"method":"GET","url":"http://a/"}]"#,
            r#"{"method":"GET","url":"http://a/","header":{"Content-Type":"text/plain"}}"#,
            r#"{"method":"POST","url":"http://a/","body":{"a":1}}"#,
        ];
        let heads = [
            "line 1: expected a URL",
            "line 2: expected a method",
            "line 3: expected \"Name: value\"",
            "line 4: expected a JSON object with method and url: body is not base64",
            "line 5: expected weight=N (1 or more) or name=TEXT, found \"weight=0\"",
            "line 6: expected weight=N (1 or more) or name=TEXT, found \"name=7\"",
            "line 7: expected a JSON object with method and url: method is to be a text, found 7",
            "line 8: expected a JSON object with method and url: expected value at column 1",
            "line 9: expected a JSON object with method and url: this is an array, and each line is to be an object",
            "line 10: expected a JSON object with method and url: header \"Content-Type\" is to have a list of texts",
            "line 11: expected a JSON object with method and url: body is to be a text (in base64), found {\"a\":1}",
        ];
        let (targets, problems) = found(Grammar::Native, &input.join("\n"));
        assert_eq!((targets.len(), problems.len()), (0, heads.len()), "{problems:?}");
        for (problem, head) in problems.iter().zip(heads) {
            assert!(problem.starts_with(head), "{problem} for {head}");
        }
    }
}
