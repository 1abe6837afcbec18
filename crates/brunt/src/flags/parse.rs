//! The parser: arguments in, typed flags and operands out. It reads nothing but its arguments.

use super::global::{self, Global};
use super::{Flag, Kind, Row, Scope, Wrong, nearest};

/// How a dialect reads its arguments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grammar {
    /// `Native` or `Vegeta`: whose flags are known.
    pub(crate) dialect: Scope,
    /// Flags may follow operands; otherwise the first operand ends the flags.
    pub(crate) mixed: bool,
}

impl Grammar {
    /// Ours: flags may follow operands.
    pub(crate) const NATIVE: Self = Self { dialect: Scope::Native, mixed: true };
    /// Vegeta's: the first operand ends the flags.
    pub(crate) const VEGETA: Self = Self { dialect: Scope::Vegeta, mixed: false };

    /// What is read for a flag's value; `None` where it is as if the flag had not been given. In Vegeta no file is named by an
    /// empty value, no address, no buckets; and no size is 0.
    fn reads<'a>(self, name: &str, value: &'a str) -> Option<&'a str> {
        match (self.dialect, name, value) {
            (Scope::Vegeta, "body" | "cert" | "key" | "laddr" | "buckets", "") => None,
            (Scope::Vegeta, "max-body", "") => Some("0"),
            _ => Some(value),
        }
    }
}

/// What was not a flag.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Parsed {
    /// The operands in their order.
    pub(crate) operands: Vec<String>,
}

/// Why arguments could not be read. Each names the flag as it was typed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FlagError {
    /// `-h`, `-help` or `--help` was asked for.
    Help,
    /// `-version` was asked for, after the command's name.
    Version,
    /// No such flag.
    Unknown {
        /// Its name, without dashes.
        name: String,
        /// The flag that was probably meant.
        meant: Option<&'static str>,
    },
    /// The flag stands last and lacks its value.
    NeedsValue {
        /// Its name.
        name: String,
        /// What its value may be.
        expected: String,
    },
    /// `-=x`, `---x`.
    Syntax(String),
    /// The value is no good.
    Value {
        /// The flag's name.
        name: String,
        /// The value as typed.
        value: String,
        /// The flag is a switch.
        switch: bool,
        /// What is wrong.
        wrong: Wrong,
    },
}

impl FlagError {
    /// The line for people: flag, value, what was expected.
    #[must_use]
    pub(crate) fn native(&self) -> String {
        match self {
            Self::Help | Self::Version => String::new(),
            Self::Unknown { name, meant: Some(meant) } => {
                format!("unknown flag -{name} (did you mean -{meant}?)")
            }
            Self::Unknown { name, meant: None } => format!("unknown flag -{name}"),
            Self::NeedsValue { name, expected } => {
                format!("flag -{name} needs a value ({expected})")
            }
            Self::Syntax(text) => {
                format!("bad flag syntax \"{text}\" (expected -name or -name=value)")
            }
            Self::Value { name, wrong, .. } => format!("flag -{name}: {}", wrong.native),
        }
    }

    /// What Vegeta says and ends with 1 for, once it has read its flags.
    #[must_use]
    pub(crate) fn late(&self) -> Option<&str> {
        match self {
            Self::Value { wrong, .. } if wrong.is_late => Some(&wrong.go),
            _ => None,
        }
    }

    /// The line that Go's flag package prints.
    #[must_use]
    pub(crate) fn go(&self) -> String {
        match self {
            Self::Help => "flag: help requested".to_owned(),
            // Vegeta's dialect knows it before the command alone, where it is no error.
            Self::Version => String::new(),
            Self::Unknown { name, .. } => format!("flag provided but not defined: -{name}"),
            Self::NeedsValue { name, .. } => format!("flag needs an argument: -{name}"),
            Self::Syntax(text) => format!("bad flag syntax: {text}"),
            Self::Value { name, value, switch: true, wrong } => {
                format!("invalid boolean value \"{value}\" for -{name}: {}", wrong.go)
            }
            Self::Value { name, value, wrong, .. } => {
                format!("invalid value \"{value}\" for flag -{name}: {}", wrong.go)
            }
        }
    }
}

/// Reads `args` into `typed` and `global`.
///
/// # Errors
/// An argument is wrong; the flags before it are set already.
pub(crate) fn parse<T>(
    grammar: Grammar,
    table: &[Flag<T>],
    args: &[String],
    typed: &mut T,
    global: &mut Global,
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
        let given = Given::of(body);
        rest = if let Some(flag) = table.iter().find(|f| f.is_called(given.name, grammar.dialect)) {
            set(flag, given, rest, typed, grammar)?
        } else if let Some(flag) = global_flag(grammar, given.name) {
            set(flag, given, rest, global, grammar)?
        } else if ["h", "help"].contains(&given.name) {
            return Err(FlagError::Help);
        } else {
            let known = rows(grammar, table);
            let meant = nearest(given.name, known.iter().map(|row| row.name));
            return Err(FlagError::Unknown { name: given.name.to_owned(), meant });
        };
    }
    operands.extend_from_slice(rest);
    Ok(Parsed { operands })
}

/// The rows a dialect knows: the command's own, then the global ones.
#[must_use]
fn rows<T>(grammar: Grammar, table: &[Flag<T>]) -> Vec<Row> {
    let own = table.iter().map(|flag| flag.row);
    own.chain(global::FLAGS.iter().map(|flag| flag.row))
        .filter(|row| row.scope.is_known_to(grammar.dialect))
        .collect()
}

/// A global flag after the command: natively only.
fn global_flag(grammar: Grammar, name: &str) -> Option<&'static Flag<Global>> {
    global::FLAGS.iter().find(|flag| grammar.mixed && flag.is_called(name, grammar.dialect))
}

/// A flag as typed, without dashes.
#[derive(Clone, Copy)]
struct Given<'a> {
    name: &'a str,
    value: Option<&'a str>,
}

impl<'a> Given<'a> {
    fn of(body: &'a str) -> Self {
        match body.split_once('=') {
            Some((name, value)) => Self { name, value: Some(value) },
            None => Self { name: body, value: None },
        }
    }
}

/// Sets one flag; gives the arguments after its value.
fn set<'a, T>(
    flag: &Flag<T>,
    given: Given<'_>,
    rest: &'a [String],
    typed: &mut T,
    grammar: Grammar,
) -> Result<&'a [String], FlagError> {
    let switch = flag.row.kind == Kind::Switch;
    let (value, rest) = match (given.value, rest.split_first()) {
        (Some(value), _) => (value, rest),
        (None, _) if switch => ("true", rest),
        (None, Some((value, after))) => (value.as_str(), after),
        (None, None) => {
            let expected = flag.row.kind.shown();
            return Err(FlagError::NeedsValue { name: given.name.to_owned(), expected });
        }
    };
    let Some(value) = grammar.reads(flag.row.name, value) else { return Ok(rest) };
    (flag.set)(typed, value).map_err(|wrong| FlagError::Value {
        name: given.name.to_owned(),
        value: value.to_owned(),
        switch,
        wrong,
    })?;
    Ok(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::value;

    #[derive(Debug, Default, PartialEq)]
    struct Sample {
        rate: u64,
        lazy: bool,
        name: String,
    }

    const TABLE: &[Flag<Sample>] = &[
        Flag::new("rate", Kind::Text("N"), "50", "Rate.", |t: &mut Sample, v| {
            value::number(v).map(|n| t.rate = n)
        }),
        Flag::new("lazy", Kind::Switch, "", "Lazy.", |t: &mut Sample, v| {
            value::switch(v).map(|on| t.lazy = on)
        }),
        Flag::new("name", Kind::Text("NAME"), "", "Name.", |t: &mut Sample, v| {
            v.clone_into(&mut t.name);
            Ok(())
        })
        .native()
        .also(&["n"]),
    ];

    fn read(grammar: Grammar, line: &str) -> Result<(Sample, Vec<String>), FlagError> {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let (mut typed, mut global) = (Sample::default(), Global::default());
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
    fn natively_flags_may_follow_operands() {
        let line = "a.bin -rate 6 b.bin -n=x -- -lazy";
        let (typed, operands) = read(Grammar::NATIVE, line).unwrap();
        assert_eq!(typed, Sample { rate: 6, lazy: false, name: "x".into() });
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
