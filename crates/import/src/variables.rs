//! The `{{variables}}` of Postman and of `.http` files: what a name stands for at a point of the run, as a text of pieces.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Encoding, Piece, Source, Text};

/// What names stand for. Names set by an answer or a script come first, then those of the input and its environment.
#[derive(Default)]
pub(crate) struct Variables {
    given: BTreeMap<String, String>,
    set: BTreeMap<String, Text>,
    /// Names that nothing defines, for the notes.
    pub unknown: BTreeSet<String>,
    /// Names whose value is empty where it is used: that of a secret, which an export leaves out.
    pub empty: BTreeSet<String>,
    /// Dynamic names (`$…`) for which a made-up text goes out.
    pub guessed: BTreeSet<String>,
}

impl Variables {
    /// Gives a name the value that the input has for it; a later one wins.
    pub(crate) fn give(&mut self, name: &str, value: &str) {
        self.given.insert(name.to_owned(), value.to_owned());
    }

    /// Gives a name what a script or an answer sets.
    pub(crate) fn set(&mut self, name: &str, value: Text) {
        self.set.insert(name.to_owned(), value);
    }

    /// Forgets a name.
    pub(crate) fn unset(&mut self, name: &str) {
        self.set.remove(name);
        self.given.remove(name);
    }

    /// What a name stands for.
    pub(crate) fn get(&mut self, name: &str) -> Option<Text> {
        self.value(name, 0)
    }

    /// The text with its variables replaced. An unknown one becomes a variable of the environment of that name, which is the text
    /// itself where it is not set.
    pub(crate) fn substitute(&mut self, text: &str) -> Text {
        self.substitute_at(text, 0)
    }

    fn substitute_at(&mut self, text: &str, depth: usize) -> Text {
        let mut made = Text::default();
        let mut rest = text;
        while let Some(start) = rest.find("{{") {
            let Some(len) = rest[start..].find("}}") else { break };
            let inside = &rest[start + 2..start + len];
            // The innermost pair is the variable, as in `{{{id}}}`.
            let inner = inside.rfind("{{").map_or(0, |at| at + 2);
            let extra = inside[inner..].len() - inside[inner..].trim_start_matches('{').len();
            let name_start = start + 2 + inner + extra;
            made.push_str(&rest[..name_start - 2]);
            let name = rest[name_start..start + len].trim();
            let is_bounded = depth < DEPTH_MAX && made.pieces.len() < PIECES_MAX;
            let value = if is_bounded { self.value(name, depth + 1) } else { None };
            made.push(&value.unwrap_or_else(|| self.unknown_value(name)));
            rest = &rest[start + len + 2..];
        }
        made.push_str(rest);
        made.pieces.truncate(PIECES_MAX);
        made
    }

    fn value(&mut self, name: &str, depth: usize) -> Option<Text> {
        if let Some(text) = self.set.get(name) {
            return Some(text.clone());
        }
        if let Some(value) = self.given.get(name).cloned() {
            if value.contains("{{") {
                return Some(self.substitute_at(&value, depth + 1));
            }
            if value.is_empty() && self.empty.len() < UNKNOWN_MAX {
                self.empty.insert(name.to_owned());
            }
            let is_short = value.len() <= DEFAULT_BYTES_MAX && !value.contains('\n');
            let source = Source::Env { name: name.to_owned(), default: Some(value.clone()) };
            return Some(if is_short && is_free(name) {
                Text::value(source)
            } else {
                Text::literal(value)
            });
        }
        let dynamic = name.strip_prefix('$')?;
        let known = dynamic_value(dynamic);
        if known.is_none() {
            self.guessed.insert(name.to_owned());
        }
        Some(known.unwrap_or_else(|| numbered(&format!("{}-", plain_word(dynamic)))))
    }

    fn unknown_value(&mut self, name: &str) -> Text {
        if name.is_empty() || name.len() > DEFAULT_BYTES_MAX || self.unknown.len() >= UNKNOWN_MAX {
            return Text::literal(format!("{{{{{name}}}}}"));
        }
        self.unknown.insert(name.to_owned());
        Text::value(Source::Env { name: name.to_owned(), default: Some(format!("{{{{{name}}}}}")) })
    }
}

/// Whether a name of the input may be taken from the environment: not if the system itself has a variable of that name.
fn is_free(name: &str) -> bool {
    !SYSTEM_NAMES.contains(&name)
        && !name.is_empty()
        && name.chars().all(|char| char.is_alphanumeric() || "_-.".contains(char))
}

/// A text with the variables of the environment at their defaults.
pub(crate) fn with_defaults(text: &Text) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Literal(literal) => literal.clone(),
        Piece::Value(value) => match &value.source {
            Source::Env { default, .. } => default.clone().unwrap_or_default(),
            _ => "x".to_owned(),
        },
    };
    text.pieces.iter().map(piece).collect()
}

/// The text for a place where `encode` is needed: literals encoded, and variables of the environment become literals if their
/// default has to be encoded there.
pub(crate) fn encoded_for(text: &Text, encode: impl Fn(&str) -> String) -> Text {
    let mut made = Text::default();
    for piece in &text.pieces {
        match piece {
            Piece::Literal(literal) => made.push_str(&encode(literal)),
            Piece::Value(value) => match &value.source {
                Source::Env { name, default: Some(default) } if encode(default) != *default => {
                    let is_unknown = *default == format!("{{{{{name}}}}}");
                    let source = Source::Env { name: name.clone(), default: Some(encode(default)) };
                    if is_unknown {
                        made.push(&Text::value(source));
                    } else {
                        made.push_str(&encode(default));
                    }
                }
                _ => made.pieces.push(Piece::Value(value.clone())),
            },
        }
    }
    made
}

/// The value of a dynamic variable, without its `$`, and with its arguments.
fn dynamic_value(name: &str) -> Option<Text> {
    let mut words = name.split_whitespace();
    let word = words.next()?;
    let arguments: Vec<&str> = words.collect();
    let number = |index: usize, default: i64| {
        arguments.get(index).and_then(|word| word.parse().ok()).unwrap_or(default)
    };
    let integer = |min: i64, max: i64| {
        Text::value(Source::RandomInteger { min, max: max.max(min.saturating_add(1)) })
    };
    Some(match word {
        "guid" | "uuid" | "randomUUID" | "random.uuid" => Text::value(Source::Uuid),
        "timestamp" => Text::value(Source::UnixSeconds),
        "isoTimestamp" => Text::value(Source::IsoTime),
        "datetime" | "localDatetime"
            if arguments.first().is_none_or(|form| form.contains("iso8601")) =>
        {
            Text::value(Source::IsoTime)
        }
        "randomInt" => integer(number(0, 0), number(1, 1_001)),
        "random.integer" => integer(number(0, 0), number(1, 1_000)),
        word if word.starts_with("random.integer(") => {
            let inside = name.split_once('(')?.1.trim_end_matches(')');
            let (min, max) = inside.split_once(',')?;
            integer(min.trim().parse().ok()?, max.trim().parse().ok()?)
        }
        "processEnv" | "env" => Text::value(Source::Env {
            name: (*arguments.first()?).trim_start_matches('%').to_owned(),
            default: None,
        }),
        "dotenv" => {
            Text::value(Source::Env { name: (*arguments.first()?).to_owned(), default: None })
        }
        word if word.starts_with("env.") => {
            Text::value(Source::Env { name: word[4..].to_owned(), default: None })
        }
        "randomBoolean" => Text::literal("true"),
        "randomEmail" | "randomExampleEmail" | "random.email" => {
            let mut text = numbered("user");
            text.push_str("@mail.example");
            text
        }
        "randomUserName" => numbered("user"),
        "randomFirstName" => Text::literal("Ada"),
        "randomLastName" => Text::literal("Berg"),
        "randomFullName" => Text::literal("Ada Berg"),
        "randomCity" => Text::literal("Oslo"),
        "randomCountry" => Text::literal("Norway"),
        "randomCountryCode" => Text::literal("NO"),
        "randomPrice" => {
            let mut text = Text::value(Source::RandomInteger { min: 1, max: 1_000 });
            text.push_str(".50");
            text
        }
        "randomUrl" => Text::literal("https://site.example/"),
        "randomIP" => {
            let mut text = Text::literal("192.0.2.");
            text.push_value(Source::RandomInteger { min: 1, max: 255 }, Vec::new());
            text
        }
        _ => return None,
    })
}

/// The word with a random number behind it.
fn numbered(word: &str) -> Text {
    let mut text = Text::literal(word);
    text.push_value(Source::RandomInteger { min: 1, max: 1_000_000 }, Vec::new());
    text
}

fn plain_word(name: &str) -> String {
    name.trim_start_matches("random")
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .take(30)
        .collect::<String>()
        .to_ascii_lowercase()
}

/// A text in base64, where it is a literal or one value alone.
pub(crate) fn base64_of(text: &Text) -> Option<Text> {
    use base64::Engine as _;
    if let Some(literal) = text.as_literal() {
        return Some(Text::literal(base64::engine::general_purpose::STANDARD.encode(literal)));
    }
    match text.pieces.as_slice() {
        [Piece::Value(_)] => Some(text.encoded(str::to_owned, Encoding::Base64)),
        _ => None,
    }
}

/// Names that a shell or a system sets.
const SYSTEM_NAMES: [&str; 16] = [
    "PATH", "HOME", "USER", "USERNAME", "LOGNAME", "SHELL", "PWD", "LANG", "TERM", "HOST",
    "HOSTNAME", "PORT", "TMPDIR", "EDITOR", "DISPLAY", "_",
];
/// Variables inside each other.
const DEPTH_MAX: usize = 5;
/// Pieces of one text, for variables that double each other.
const PIECES_MAX: usize = 1_000;
/// Longer values are not made variables of the environment.
const DEFAULT_BYTES_MAX: usize = 200;
/// Names that are noted.
const UNKNOWN_MAX: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn substituted(given: &[(&str, &str)], text: &str) -> String {
        let mut variables = Variables::default();
        given.iter().for_each(|(name, value)| variables.give(name, value));
        with_defaults(&variables.substitute(text))
    }

    #[test]
    fn names_are_replaced_also_inside_each_other() {
        let given = [
            ("base", "https://{{host}}/v1"),
            ("host", "a.example"),
            ("a", "{{b}}"),
            ("b", "{{a}}"),
        ];
        assert_eq!(substituted(&given, "{{base}}/{{ host }}"), "https://a.example/v1/a.example");
        assert_eq!(substituted(&given, "{\"id\": {{{host}}}}"), "{\"id\": {a.example}}");
        assert_eq!(substituted(&given, "{{none}} {{"), "{{none}} {{");
        // A circle ends.
        substituted(&given, "{{a}}");
        let bomb: Vec<(String, String)> =
            (0..30).map(|n| (format!("v{n}"), format!("{{{{v{}}}}}", n + 1).repeat(10))).collect();
        let bomb: Vec<(&str, &str)> =
            bomb.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert!(substituted(&bomb, "{{v0}}").len() < 10_000_000);
    }

    #[test]
    fn what_a_script_sets_comes_first() {
        let mut variables = Variables::default();
        variables.give("x", "1");
        variables.set("x", Text::literal("2"));
        assert_eq!(variables.substitute("{{x}}").as_literal(), Some("2"));
        variables.unset("x");
        assert_eq!(with_defaults(&variables.substitute("{{x}}")), "{{x}}");
        assert!(variables.unknown.contains("x"));
        variables.give("secret", "");
        variables.substitute("{{secret}}");
        assert!(variables.empty.contains("secret") && variables.empty.len() == 1);
    }

    #[test]
    fn dynamic_names_are_made_anew() {
        let mut variables = Variables::default();
        assert_eq!(variables.substitute("{{$guid}}"), Text::value(Source::Uuid));
        assert_eq!(
            variables.substitute("{{$randomInt 5 9}}"),
            Text::value(Source::RandomInteger { min: 5, max: 9 })
        );
        assert_eq!(
            variables.substitute("{{$random.integer(5, 9)}}"),
            Text::value(Source::RandomInteger { min: 5, max: 9 })
        );
        assert!(
            variables
                .substitute("{{$randomCatchPhrase}}")
                .literal_start()
                .starts_with("catchphrase")
        );
        assert!(variables.guessed.contains("$randomCatchPhrase"));
    }
}
