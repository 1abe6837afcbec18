//! Options as getopt_long reads them, and clap after it: `-c10`, `-c 10`, `-Lc10`, `--name value`, `--name=value`, long names
//! abbreviated where that is unambiguous. Options and operands may mix; `--` ends the options.

use crate::flag::{Flag, ValueKind};
use crate::value::ValueError;

/// Why arguments could not be read. Names are as options, without dashes.
#[derive(Debug, PartialEq, Eq)]
pub enum OptionError {
    /// No such option.
    Unknown(String),
    /// The beginning of several long names.
    Ambiguous(String),
    /// An option that stands last and lacks its value.
    NeedsValue(String),
    /// A switch with a value.
    TakesNone(String),
    /// An option's name, and what is wrong with its value.
    Value(String, ValueError),
}

/// Reads `args` into `options`; returns the operands.
///
/// # Errors
/// An argument is wrong; the options before it are set already.
pub fn parse<T>(
    table: &[Flag<T>],
    args: &[String],
    options: &mut T,
) -> Result<Vec<String>, OptionError> {
    let mut operands = Vec::new();
    let mut rest = args;
    while let Some((arg, after)) = rest.split_first() {
        rest = after;
        if arg == "--" {
            break;
        } else if let Some(body) = arg.strip_prefix("--") {
            rest = read_long(table, body, rest, options)?;
        } else if let Some(letters) = arg.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            rest = read_letters(table, letters, rest, options)?;
        } else {
            operands.push(arg.clone());
        }
    }
    operands.extend_from_slice(rest);
    Ok(operands)
}

/// `--name`, `--name value` or `--name=value`.
fn read_long<'a, T>(
    table: &[Flag<T>],
    body: &str,
    rest: &'a [String],
    options: &mut T,
) -> Result<&'a [String], OptionError> {
    let (name, value) = match body.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (body, None),
    };
    let flag = long(table, name)?;
    match (flag.row.kind, value, rest.split_first()) {
        (ValueKind::Switch, Some(_), _) => Err(OptionError::TakesNone(name.to_owned())),
        (ValueKind::Switch, None, _) => set(flag, name, "true", options).map(|()| rest),
        (_, Some(value), _) => set(flag, name, value, options).map(|()| rest),
        (_, None, Some((value, after))) => set(flag, name, value, options).map(|()| after),
        (_, None, None) => Err(OptionError::NeedsValue(name.to_owned())),
    }
}

/// The option of this long name, or the only one that begins so.
fn long<'t, T>(table: &'t [Flag<T>], name: &str) -> Result<&'t Flag<T>, OptionError> {
    let names = |flag: &Flag<T>| {
        let row = flag.row;
        row.aliases
            .iter()
            .copied()
            .chain([row.name])
            .filter(|name| name.len() > 1)
            .collect::<Vec<_>>()
    };
    if let Some(flag) = table.iter().find(|flag| names(flag).contains(&name)) {
        return Ok(flag);
    }
    let begins = |flag: &&Flag<T>| names(flag).iter().any(|long| long.starts_with(name));
    let mut matching = table.iter().filter(begins);
    match (matching.next(), matching.next()) {
        (Some(flag), None) => Ok(flag),
        (Some(_), Some(_)) => Err(OptionError::Ambiguous(name.to_owned())),
        (None, _) => Err(OptionError::Unknown(name.to_owned())),
    }
}

/// `-c10`, `-c 10`, `-Lc10`.
fn read_letters<'a, T>(
    table: &[Flag<T>],
    letters: &str,
    rest: &'a [String],
    options: &mut T,
) -> Result<&'a [String], OptionError> {
    let mut chars = letters.chars();
    while let Some(letter) = chars.next() {
        let name = letter.to_string();
        let is_called =
            |flag: &&Flag<T>| flag.row.name == name || flag.row.aliases.contains(&&*name);
        let Some(flag) = table.iter().find(is_called) else {
            return Err(OptionError::Unknown(name));
        };
        if flag.row.kind.is_switch() {
            set(flag, &name, "true", options)?;
            continue;
        }
        let attached = chars.as_str();
        return match (attached, rest.split_first()) {
            ("", None) => Err(OptionError::NeedsValue(name)),
            ("", Some((value, after))) => set(flag, &name, value, options).map(|()| after),
            (value, _) => set(flag, &name, value, options).map(|()| rest),
        };
    }
    Ok(rest)
}

fn set<T>(flag: &Flag<T>, name: &str, value: &str, options: &mut T) -> Result<(), OptionError> {
    (flag.set)(options, value).map_err(|error| OptionError::Value(name.to_owned(), error))
}

/// The help's line for each option of a table: its names, its value, what it does.
#[must_use]
pub fn usage_lines<T>(table: &[Flag<T>]) -> String {
    table.iter().fold(String::new(), |mut text, flag| {
        let row = flag.row;
        let mut names: Vec<&str> = row.aliases.iter().copied().chain([row.name]).collect();
        names.sort_by_key(|name| name.len());
        let dashed = |name: &&str| format!("{}{name}", if name.len() > 1 { "--" } else { "-" });
        let names = names.iter().map(dashed).collect::<Vec<_>>().join(", ");
        let head = format!("{names} {}", row.kind.help_text());
        text.push_str(&format!("  {head:<28} {}\n", row.docs));
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value;

    #[derive(Debug, Default, PartialEq)]
    struct Sample {
        count: u64,
        list: bool,
        name: String,
    }

    const TABLE: &[Flag<Sample>] = &[
        Flag::new("connections", ValueKind::Text("N"), "", "Count.", |t: &mut Sample, v| {
            value::number(v).map(|n| t.count = n)
        })
        .also(&["c"]),
        Flag::new("latency", ValueKind::Switch, "", "List.", |t: &mut Sample, _| {
            t.list = true;
            Ok(())
        })
        .also(&["L"]),
        Flag::new("label", ValueKind::Text("NAME"), "", "Name.", |t: &mut Sample, v| {
            v.clone_into(&mut t.name);
            Ok(())
        }),
    ];

    fn parsed(line: &str) -> Result<(Sample, Vec<String>), OptionError> {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let mut options = Sample::default();
        parse(TABLE, &args, &mut options).map(|operands| (options, operands))
    }

    #[test]
    fn every_form_is_read() {
        for line in
            ["-Lc10 url", "url -c 10 -L", "--connections=10 --lat url", "-L --conn 10 -- url"]
        {
            let (options, operands) = parsed(line).unwrap();
            assert_eq!((options.count, options.list), (10, true), "{line}");
            assert_eq!(operands, ["url"], "{line}");
        }
        let (options, operands) = parsed("- --label -x -- -c").unwrap();
        assert_eq!((options.name.as_str(), operands.len()), ("-x", 2));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let cases = [
            ("--bogus", OptionError::Unknown("bogus".to_owned())),
            ("-Lx", OptionError::Unknown("x".to_owned())),
            ("--la", OptionError::Ambiguous("la".to_owned())),
            ("-c", OptionError::NeedsValue("c".to_owned())),
            ("--conn", OptionError::NeedsValue("conn".to_owned())),
            ("--latency=1", OptionError::TakesNone("latency".to_owned())),
        ];
        for (line, error) in cases {
            assert_eq!(parsed(line).unwrap_err(), error, "{line}");
        }
        assert!(matches!(parsed("-cx"), Err(OptionError::Value(name, _)) if name == "c"));
    }

    #[test]
    fn usage_lines_name_every_option() {
        assert!(
            usage_lines(TABLE).starts_with("  -c, --connections N          Count.\n"),
            "{}",
            usage_lines(TABLE)
        );
    }
}
