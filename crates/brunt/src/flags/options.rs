//! Options as getopt_long reads them, and clap after it: `-c10`, `-c 10`, `-Lc10`, `--name value`, `--name=value`, long names
//! cut short where one is meant. Options and operands may mix; `--` ends the options.

use super::{Flag, Kind, Wrong};

/// Why arguments could not be read. Names are as typed, without dashes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum OptionError {
    /// No such option.
    Unknown(String),
    /// A long name that begins several.
    Ambiguous(String),
    /// It stands last and lacks its value.
    NeedsValue(String),
    /// It is a switch, and was given a value.
    TakesNone(String),
    /// The value is no good.
    Value(String, Wrong),
}

/// Reads `args` into `typed`; gives the operands.
///
/// # Errors
/// An argument is wrong; the options before it are set already.
pub(crate) fn read<T>(
    table: &[Flag<T>],
    args: &[String],
    typed: &mut T,
) -> Result<Vec<String>, OptionError> {
    let mut operands = Vec::new();
    let mut rest = args;
    while let Some((arg, after)) = rest.split_first() {
        rest = after;
        if arg == "--" {
            break;
        } else if let Some(body) = arg.strip_prefix("--") {
            rest = read_long(table, body, rest, typed)?;
        } else if let Some(letters) = arg.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            rest = read_letters(table, letters, rest, typed)?;
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
    typed: &mut T,
) -> Result<&'a [String], OptionError> {
    let (name, value) = match body.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (body, None),
    };
    let flag = long(table, name)?;
    match (flag.row.kind, value, rest.split_first()) {
        (Kind::Switch, Some(_), _) => Err(OptionError::TakesNone(name.to_owned())),
        (Kind::Switch, None, _) => set(flag, name, "true", typed).map(|()| rest),
        (_, Some(value), _) => set(flag, name, value, typed).map(|()| rest),
        (_, None, Some((value, after))) => set(flag, name, value, typed).map(|()| after),
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
    let mut meant = table.iter().filter(begins);
    match (meant.next(), meant.next()) {
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
    typed: &mut T,
) -> Result<&'a [String], OptionError> {
    let mut chars = letters.chars();
    while let Some(letter) = chars.next() {
        let name = letter.to_string();
        let is_called =
            |flag: &&Flag<T>| flag.row.name == name || flag.row.aliases.contains(&&*name);
        let Some(flag) = table.iter().find(is_called) else {
            return Err(OptionError::Unknown(name));
        };
        if flag.row.kind == Kind::Switch {
            set(flag, &name, "true", typed)?;
            continue;
        }
        let attached = chars.as_str();
        return match (attached, rest.split_first()) {
            ("", None) => Err(OptionError::NeedsValue(name)),
            ("", Some((value, after))) => set(flag, &name, value, typed).map(|()| after),
            (value, _) => set(flag, &name, value, typed).map(|()| rest),
        };
    }
    Ok(rest)
}

fn set<T>(flag: &Flag<T>, name: &str, value: &str, typed: &mut T) -> Result<(), OptionError> {
    (flag.set)(typed, value).map_err(|wrong| OptionError::Value(name.to_owned(), wrong))
}

/// One line for each option of a table: its names, its value, what it does.
pub(crate) fn lines<T>(table: &[Flag<T>]) -> String {
    table.iter().fold(String::new(), |mut text, flag| {
        let row = flag.row;
        let mut names: Vec<&str> = row.aliases.iter().copied().chain([row.name]).collect();
        names.sort_by_key(|name| name.len());
        let dashed = |name: &&str| format!("{}{name}", if name.len() > 1 { "--" } else { "-" });
        let names = names.iter().map(dashed).collect::<Vec<_>>().join(", ");
        let head = format!("{names} {}", row.kind.shown());
        text.push_str(&format!("  {head:<28} {}\n", row.docs));
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::value;

    #[derive(Debug, Default, PartialEq)]
    struct Sample {
        count: u64,
        list: bool,
        name: String,
    }

    const TABLE: &[Flag<Sample>] = &[
        Flag::new("connections", Kind::Text("N"), "", "Count.", |t: &mut Sample, v| {
            value::number(v).map(|n| t.count = n)
        })
        .also(&["c"]),
        Flag::new("latency", Kind::Switch, "", "List.", |t: &mut Sample, _| {
            t.list = true;
            Ok(())
        })
        .also(&["L"]),
        Flag::new("label", Kind::Text("NAME"), "", "Name.", |t: &mut Sample, v| {
            v.clone_into(&mut t.name);
            Ok(())
        }),
    ];

    fn told(line: &str) -> Result<(Sample, Vec<String>), OptionError> {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let mut typed = Sample::default();
        read(TABLE, &args, &mut typed).map(|operands| (typed, operands))
    }

    #[test]
    fn every_form_is_read() {
        for line in
            ["-Lc10 url", "url -c 10 -L", "--connections=10 --lat url", "-L --conn 10 -- url"]
        {
            let (typed, operands) = told(line).unwrap();
            assert_eq!((typed.count, typed.list), (10, true), "{line}");
            assert_eq!(operands, ["url"], "{line}");
        }
        let (typed, operands) = told("- --label -x -- -c").unwrap();
        assert_eq!((typed.name.as_str(), operands.len()), ("-x", 2));
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
            assert_eq!(told(line).unwrap_err(), error, "{line}");
        }
        assert!(matches!(told("-cx"), Err(OptionError::Value(name, _)) if name == "c"));
    }

    #[test]
    fn lines_name_every_option() {
        assert!(
            lines(TABLE).starts_with("  -c, --connections N          Count.\n"),
            "{}",
            lines(TABLE)
        );
    }
}
