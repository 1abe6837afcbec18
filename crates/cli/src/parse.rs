//! The parser of Go's grammar: arguments in, set options and operands out. It reads nothing but its arguments.

use crate::flag::{EmptyValue, Flag, Row, Scope, ValueKind};
use crate::global::{self, GlobalFlags};
use crate::value::ValueError;
use stdx::nearest;

/// How a dialect reads its arguments.
#[derive(Clone, Copy, Debug)]
pub struct Grammar {
    /// The dialect whose flags are known: `Native` or `Vegeta`.
    pub dialect: Scope,
    /// Flags may follow operands; otherwise the first operand ends the flags.
    pub mixed: bool,
}

impl Grammar {
    /// Our own: flags may follow operands.
    pub const NATIVE: Self = Self { dialect: Scope::Native, mixed: true };
    /// Vegeta's: the first operand ends the flags.
    pub const VEGETA: Self = Self { dialect: Scope::Vegeta, mixed: false };

    /// The value that a flag's setter gets for a typed one; `None` where the flag counts as not given.
    fn effective<'a>(self, row: &Row, value: &'a str) -> Option<&'a str> {
        if self.dialect != Scope::Vegeta || !value.is_empty() {
            return Some(value);
        }
        match row.vegeta_empty {
            EmptyValue::AsIs => Some(value),
            EmptyValue::Absent => None,
            EmptyValue::Means(other) => Some(other),
        }
    }
}

/// The arguments that are no flags.
#[derive(Debug, PartialEq, Eq)]
pub struct Parsed {
    /// The operands in their order.
    pub operands: Vec<String>,
}

/// Why arguments could not be read. Each names the flag as it was typed.
#[derive(Debug, PartialEq, Eq)]
pub enum FlagError {
    /// No error: `-h`, `-help` or `--help` was given.
    Help,
    /// No error: `-version` was given after the command's name.
    Version,
    /// No such flag.
    Unknown {
        /// Its name, without dashes.
        name: String,
        /// The known flag with the most similar name.
        suggestion: Option<&'static str>,
    },
    /// The flag stands last and lacks its value.
    NeedsValue {
        /// Its name.
        name: String,
        /// What the value may be.
        expected: String,
    },
    /// `-=x`, `---x`.
    Syntax(String),
    /// The value is invalid.
    Value {
        /// The flag's name.
        name: String,
        /// The value as typed.
        value: String,
        /// Whether the flag is a switch.
        switch: bool,
        /// What is wrong with the value.
        error: ValueError,
    },
}

impl FlagError {
    /// The error in our own words: flag, value, what was expected.
    #[must_use]
    pub fn native(&self) -> String {
        stdx::shown_error(&self.native_words()).into_owned()
    }

    fn native_words(&self) -> String {
        match self {
            Self::Help | Self::Version => String::new(),
            Self::Unknown { name, suggestion: Some(suggestion) } => {
                format!("unknown flag -{name} (did you mean -{suggestion}?)")
            }
            Self::Unknown { name, suggestion: None } => format!("unknown flag -{name}"),
            Self::NeedsValue { name, expected } => {
                format!("flag -{name} needs a value ({expected})")
            }
            Self::Syntax(text) => {
                format!("bad flag syntax \"{text}\" (expected -name or -name=value)")
            }
            Self::Value { name, error, .. } => format!("flag -{name}: {}", error.native),
        }
    }

    /// The text of an error that Vegeta reports, with exit code 1, only after it has read all flags.
    #[must_use]
    pub fn late(&self) -> Option<&str> {
        match self {
            Self::Value { error, .. } if error.is_late => Some(&error.go),
            _ => None,
        }
    }

    /// The error in the words of Go's `flag` package.
    #[must_use]
    pub fn go(&self) -> String {
        stdx::shown_error(&self.go_words()).into_owned()
    }

    fn go_words(&self) -> String {
        match self {
            Self::Help => "flag: help requested".to_owned(),
            // Vegeta has this flag before the command only, where it is no error.
            Self::Version => String::new(),
            Self::Unknown { name, .. } => format!("flag provided but not defined: -{name}"),
            Self::NeedsValue { name, .. } => format!("flag needs an argument: -{name}"),
            Self::Syntax(text) => format!("bad flag syntax: {text}"),
            Self::Value { name, value, switch: true, error } => {
                format!("invalid boolean value \"{value}\" for -{name}: {}", error.go)
            }
            Self::Value { name, value, error, .. } => {
                format!("invalid value \"{value}\" for flag -{name}: {}", error.go)
            }
        }
    }
}

/// Reads `args` into `options` and `global`.
///
/// # Errors
/// An argument is wrong; the flags before it are set already.
pub fn parse<T>(
    grammar: Grammar,
    table: &[Flag<T>],
    args: &[String],
    options: &mut T,
    global: &mut GlobalFlags,
) -> Result<Parsed, FlagError> {
    let mut operands = Vec::new();
    let mut rest = args;
    while let Some((arg, after)) = rest.split_first() {
        rest = after;
        if arg == "--" {
            break;
        }
        let Some(body) = arg.strip_prefix('-').filter(|body| !body.is_empty()) else {
            operands.push(arg.clone());
            if grammar.mixed {
                continue;
            }
            break;
        };
        let body = body.strip_prefix('-').unwrap_or(body);
        if body.starts_with(['-', '=']) || body.is_empty() {
            return Err(FlagError::Syntax(arg.clone()));
        }
        let given = RawFlag::of(body);
        rest = if let Some(flag) = table.iter().find(|f| f.is_called(given.name, grammar.dialect)) {
            set(flag, given, rest, options, grammar)?
        } else if let Some(flag) = global_flag(grammar, given.name) {
            set(flag, given, rest, global, grammar)?
        } else if ["h", "help"].contains(&given.name) {
            return Err(FlagError::Help);
        } else {
            let known = rows(grammar, table);
            let suggestion = nearest(given.name, known.iter().map(|row| row.name));
            return Err(FlagError::Unknown { name: given.name.to_owned(), suggestion });
        };
    }
    operands.extend_from_slice(rest);
    Ok(Parsed { operands })
}

/// The rows of a dialect: the command's own, then the global ones.
fn rows<T>(grammar: Grammar, table: &[Flag<T>]) -> Vec<Row> {
    let own = table.iter().map(|flag| flag.row);
    own.chain(global::FLAGS.iter().map(|flag| flag.row))
        .filter(|row| row.scope.is_known_to(grammar.dialect))
        .collect()
}

/// A global flag after the command: natively only.
fn global_flag(grammar: Grammar, name: &str) -> Option<&'static Flag<GlobalFlags>> {
    global::FLAGS.iter().find(|flag| grammar.mixed && flag.is_called(name, grammar.dialect))
}

/// A flag as typed, without dashes.
#[derive(Clone, Copy)]
struct RawFlag<'a> {
    name: &'a str,
    value: Option<&'a str>,
}

impl<'a> RawFlag<'a> {
    fn of(body: &'a str) -> Self {
        match body.split_once('=') {
            Some((name, value)) => Self { name, value: Some(value) },
            None => Self { name: body, value: None },
        }
    }
}

/// Sets one flag; returns the arguments after its value.
fn set<'a, T>(
    flag: &Flag<T>,
    given: RawFlag<'_>,
    rest: &'a [String],
    options: &mut T,
    grammar: Grammar,
) -> Result<&'a [String], FlagError> {
    let switch = flag.row.kind.is_switch();
    let (value, rest) = match (given.value, flag.row.kind, rest.split_first()) {
        (Some(value), ..) => (value, rest),
        (None, ValueKind::Switch, _) => ("true", rest),
        (None, ValueKind::Optional { is_value, .. }, Some((value, after))) if is_value(value) => {
            (value.as_str(), after)
        }
        (None, ValueKind::Optional { .. }, _) => ("", rest),
        (None, _, Some((value, after))) => (value.as_str(), after),
        (None, _, None) => {
            let expected = flag.row.kind.help_text();
            return Err(FlagError::NeedsValue { name: given.name.to_owned(), expected });
        }
    };
    let Some(value) = grammar.effective(&flag.row, value) else { return Ok(rest) };
    (flag.set)(options, value).map_err(|error| FlagError::Value {
        name: given.name.to_owned(),
        value: value.to_owned(),
        switch,
        error,
    })?;
    Ok(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value;

    #[derive(Debug, Default, PartialEq)]
    struct Sample {
        web: Option<String>,
        rate: u64,
        lazy: bool,
        name: String,
    }

    const WEB: ValueKind = ValueKind::Optional { word: "A:P", is_value: |text| text.contains(':') };

    const TABLE: &[Flag<Sample>] = &[
        Flag::new("web", WEB, "", "Web.", |t: &mut Sample, v| {
            t.web = Some(v.to_owned());
            Ok(())
        }),
        Flag::new("rate", ValueKind::Text("N"), "50", "Rate.", |t: &mut Sample, v| {
            value::number(v).map(|n| t.rate = n)
        }),
        Flag::new("lazy", ValueKind::Switch, "", "Lazy.", |t: &mut Sample, v| {
            value::switch(v).map(|on| t.lazy = on)
        }),
        Flag::new("name", ValueKind::Text("NAME"), "", "Name.", |t: &mut Sample, v| {
            v.clone_into(&mut t.name);
            Ok(())
        })
        .native()
        .also(&["n"]),
    ];

    fn read(grammar: Grammar, line: &str) -> Result<(Sample, Vec<String>), FlagError> {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let (mut typed, mut global) = (Sample::default(), GlobalFlags::default());
        let parsed = parse(grammar, TABLE, &args, &mut typed, &mut global)?;
        Ok((typed, parsed.operands))
    }

    #[test]
    fn every_form_of_go_is_read() {
        for line in ["-rate 6 -lazy", "-rate=6 -lazy=true", "--rate 6 --lazy", "--rate=6 --lazy=1"]
        {
            let (typed, operands) = read(Grammar::VEGETA, line).unwrap();
            assert_eq!((typed.rate, typed.lazy, operands.len()), (6, true, 0), "{line}");
        }
        let (typed, operands) = read(Grammar::VEGETA, "-lazy false -rate 6").unwrap();
        assert!(typed.lazy && typed.rate == 0, "a switch takes no next argument");
        assert_eq!(operands, ["false", "-rate", "6"]);
    }

    #[test]
    fn an_optional_value_is_what_looks_like_one() {
        for (line, value, operands) in [
            ("-web", "", 0),
            ("-web a:1 x", "a:1", 1),
            ("-web=a:1 x", "a:1", 1),
            ("-web x", "", 1),
            ("-web -rate 6", "", 0),
            ("-web=x", "x", 0),
        ] {
            let (typed, rest) = read(Grammar::NATIVE, line).unwrap();
            assert_eq!((typed.web.as_deref(), rest.len()), (Some(value), operands), "{line}");
        }
    }

    #[test]
    fn natively_flags_may_follow_operands() {
        let line = "a.bin -rate 6 b.bin -n=x -- -lazy";
        let (typed, operands) = read(Grammar::NATIVE, line).unwrap();
        assert_eq!(typed, Sample { rate: 6, name: "x".into(), ..Sample::default() });
        assert_eq!(operands, ["a.bin", "b.bin", "-lazy"]);
        let (typed, operands) = read(Grammar::VEGETA, "a.bin -rate 6").unwrap();
        assert_eq!((typed.rate, operands.len()), (0, 3));
    }

    #[test]
    fn errors_name_flag_value_and_expectation() {
        let cases = [
            (
                "-rat 6",
                "unknown flag -rat (did you mean -rate?)",
                "flag provided but not defined: -rat",
            ),
            ("-rate", "flag -rate needs a value (N)", "flag needs an argument: -rate"),
            (
                "-rate=x",
                "flag -rate: \"x\" is not a whole number (expected 0 or more)",
                "invalid value \"x\" for flag -rate: parse error",
            ),
            (
                "-lazy=maybe",
                "flag -lazy: \"maybe\" is neither true nor false",
                "invalid boolean value \"maybe\" for -lazy: parse error",
            ),
            (
                "-=x",
                "bad flag syntax \"-=x\" (expected -name or -name=value)",
                "bad flag syntax: -=x",
            ),
        ];
        for (line, native, go) in cases {
            let error = read(Grammar::NATIVE, line).unwrap_err();
            assert_eq!((error.native().as_str(), error.go().as_str()), (native, go), "{line}");
        }
    }

    #[test]
    fn vegeta_does_not_know_our_flags() {
        assert!(matches!(read(Grammar::VEGETA, "-name x"), Err(FlagError::Unknown { .. })));
        assert_eq!(read(Grammar::VEGETA, "-h"), Err(FlagError::Help));
    }

    #[test]
    fn a_lone_dash_is_an_operand() {
        assert_eq!(read(Grammar::NATIVE, "-").unwrap().1, ["-"]);
    }
}
