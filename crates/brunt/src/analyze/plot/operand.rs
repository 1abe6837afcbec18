//! What `plot` is given: `[LABEL=]FILE[:COLUMN]`.

use std::fmt;
use std::path::Path;

use cli::{CommandError, ParsedArgs, usage_error};
use metrics::{Sample, Selector};
use results::TimeUnit;
use stdx::Nanos;

use super::flags::PlotFlags;
use crate::dialect::ReadRules;

/// One operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Operand {
    /// Its series' label; empty where the file is the only one.
    pub(super) label: String,
    /// The file's name.
    pub(super) file: String,
    /// Which times of it; response times where it is not said.
    pub(super) column: Option<Column>,
    /// Which requests of it.
    pub(super) selector: Selector,
}

/// Which times of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column {
    /// A [`RowTime`]'s name, or that of a column in the file's header.
    pub(super) name: String,
    /// The unit, which a column of another program's file must have.
    pub(super) unit: Option<TimeUnit>,
}

/// A time of a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowTime {
    /// From when it was due until it ended; ab's `ttime` without lateness.
    Response,
    /// From when its request was written until it ended.
    Service,
    /// From when its request was written until its answer began; ab's `wait`.
    Wait,
    /// Looking up the name, connecting and the TLS handshake; ab's `ctime`.
    Dial,
}

impl RowTime {
    const ALL: [(&'static str, Self); 4] = [
        ("response", Self::Response),
        ("service", Self::Service),
        ("wait", Self::Wait),
        ("dial", Self::Dial),
    ];
    /// Their names, for people.
    pub(super) const NAMES: &'static str = "response, service, wait or dial";

    pub(super) fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(of, _)| *of == name).map(|(_, time)| *time)
    }

    pub(super) fn of(self, sample: &Sample) -> Nanos {
        match self {
            Self::Response => sample.response(),
            Self::Service => sample.service(),
            Self::Wait => sample.first_byte.saturating_sub(sample.sent),
            Self::Dial => sample.dns.saturating_add(sample.dial).saturating_add(sample.tls),
        }
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.column {
            Some(column) => write!(f, "{}:{}", self.file, column.name),
            None => f.write_str(&self.file),
        }
    }
}

/// The operands; none is standard input. A file that has the very name of an operand, or of a part of it, is meant by its
/// name.
pub(super) fn operands(typed: &ParsedArgs<PlotFlags>) -> Result<Vec<Operand>, CommandError> {
    let selector = || typed.flags.selector.clone();
    if typed.operands.is_empty() {
        let (label, file) = (String::new(), "stdin".to_owned());
        return Ok(vec![Operand { label, file, column: None, selector: selector() }]);
    }
    let one = typed.operands.len() == 1;
    let unlabelled = |operand: &str| if one { String::new() } else { operand.to_owned() };
    typed
        .operands
        .iter()
        .map(|operand| {
            let exists = |name: &str| Path::new(name).exists();
            if !ReadRules::of(typed.dialect).has_labels || exists(operand) {
                let (label, file) = (unlabelled(operand), operand.clone());
                return Ok(Operand { label, file, column: None, selector: selector() });
            }
            let (label, rest) = match operand.split_once('=') {
                Some((label, rest)) => (label.to_owned(), rest),
                None => (unlabelled(operand), operand.as_str()),
            };
            let (file, column) = match rest.rsplit_once(':') {
                Some((file, column)) if !exists(rest) => (file, Some(parse_column(column)?)),
                _ => (rest, None),
            };
            Ok(Operand { label, file: file.to_owned(), column, selector: selector() })
        })
        .collect()
}

/// `name` or `name[unit]`.
fn parse_column(text: &str) -> Result<Column, CommandError> {
    let Some((name, unit)) = text.strip_suffix(']').and_then(|text| text.rsplit_once('[')) else {
        return Ok(Column { name: text.to_owned(), unit: None });
    };
    match TimeUnit::parse(unit) {
        Some(unit) => Ok(Column { name: name.to_owned(), unit: Some(unit) }),
        None => {
            Err(usage_error(format!("\"{text}\": no unit \"{unit}\" (expected ns, us, ms or s)")))
        }
    }
}

#[cfg(test)]
mod tests {
    use cli::{Dialect, GlobalFlags};

    use super::*;

    fn parsed(given: &[&str]) -> Result<Vec<Operand>, CommandError> {
        operands(&ParsedArgs {
            dialect: Dialect::Native,
            global: GlobalFlags::default(),
            flags: PlotFlags::default(),
            operands: given.iter().map(|&text| text.to_owned()).collect(),
        })
    }

    fn operand(label: &str, file: &str, column: Option<(&str, Option<TimeUnit>)>) -> Operand {
        let column = column.map(|(name, unit)| Column { name: name.to_owned(), unit });
        Operand {
            label: label.to_owned(),
            file: file.to_owned(),
            column,
            selector: Selector::default(),
        }
    }

    #[test]
    fn labels_come_before_files_and_columns_after() {
        let seconds = Some(TimeUnit::Seconds);
        let cases = [
            (&[][..], vec![operand("", "stdin", None)]),
            (&["a.bin"], vec![operand("", "a.bin", None)]),
            (
                &["a.bin", "new=b.bin"],
                vec![operand("a.bin", "a.bin", None), operand("new", "b.bin", None)],
            ),
            (
                &["client=c.bin:wait", "server=r.csv:total[s]"],
                vec![
                    operand("client", "c.bin", Some(("wait", None))),
                    operand("server", "r.csv", Some(("total", seconds))),
                ],
            ),
        ];
        for (given, expected) in cases {
            assert_eq!(parsed(given).unwrap(), expected);
        }
        assert!(parsed(&["a=b:c[parsecs]"]).is_err());
    }

    #[test]
    fn times_of_a_row() {
        let sample = Sample {
            intended: Nanos(10),
            sent: Nanos(15),
            first_byte: Nanos(35),
            done: Nanos(50),
            dns: Nanos(1),
            dial: Nanos(2),
            tls: Nanos(4),
            ..Sample::default()
        };
        let times = [("response", 40), ("service", 35), ("wait", 20), ("dial", 7)];
        for (name, time) in times {
            assert_eq!(RowTime::parse(name).unwrap().of(&sample), Nanos(time), "{name}");
            assert!(RowTime::NAMES.contains(name));
        }
        assert_eq!(RowTime::parse("total"), None);
    }
}
