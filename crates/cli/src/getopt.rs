//! One-letter flags as getopt reads them: `-c100`, `-c 100`, switches in bundles (`-kq`). The first operand ends the flags, and
//! so do `--` and an unknown letter. There are no long names and no `=`.

use crate::flag::Flag;
use crate::value::ValueError;

/// The operands, and the error that ended the flags.
#[derive(Debug, PartialEq, Eq)]
pub struct Parsed {
    /// The arguments after the flags.
    pub operands: Vec<String>,
    /// The reason why getopt stopped before the operands; `None` where all flags were read.
    pub error: Option<GetoptError>,
}

/// Why getopt reads no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GetoptError {
    /// A letter that is no flag.
    IllegalLetter(char),
    /// A flag that stands last and lacks its value.
    NeedsValue(char),
}

/// Reads `args` into `options`.
///
/// # Errors
/// A value is invalid; the flags before it are set already.
pub fn parse<T>(table: &[Flag<T>], args: &[String], options: &mut T) -> Result<Parsed, ValueError> {
    let mut rest = args;
    let mut error = None;
    while error.is_none() {
        let Some((arg, after)) = rest.split_first() else { break };
        let Some(bundle) = arg.strip_prefix('-').filter(|bundle| !bundle.is_empty()) else { break };
        if bundle.starts_with('-') {
            rest = after;
            break;
        }
        (rest, error) = read_bundle(table, bundle, rest, options)?;
    }
    Ok(Parsed { operands: rest.to_vec(), error })
}

/// Reads the letters of the first of `args`; returns the arguments that are left, and an error that ends the flags.
fn read_bundle<'a, T>(
    table: &[Flag<T>],
    bundle: &str,
    args: &'a [String],
    options: &mut T,
) -> Result<(&'a [String], Option<GetoptError>), ValueError> {
    let after = &args[1..];
    let mut letters = bundle.chars();
    while let Some(letter) = letters.next() {
        let left = letters.as_str();
        let mut name = [0; 4];
        let name: &str = letter.encode_utf8(&mut name);
        let Some(flag) = table.iter().find(|flag| flag.row.name == name) else {
            // getopt moves on only past an argument it has read whole.
            let rest = if left.is_empty() { after } else { args };
            return Ok((rest, Some(GetoptError::IllegalLetter(letter))));
        };
        if flag.row.kind.is_switch() {
            (flag.set)(options, "true")?;
            continue;
        }
        return match (left, after.split_first()) {
            ("", None) => Ok((after, Some(GetoptError::NeedsValue(letter)))),
            ("", Some((value, after))) => (flag.set)(options, value).map(|()| (after, None)),
            (value, _) => (flag.set)(options, value).map(|()| (after, None)),
        };
    }
    Ok((after, None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flag::ValueKind;

    #[derive(Debug, Default, PartialEq)]
    struct Sample {
        count: String,
        keep: bool,
        quiet: bool,
    }

    const TABLE: &[Flag<Sample>] = &[
        Flag::new("c", ValueKind::Text("N"), "", "Count.", |t: &mut Sample, v| {
            v.clone_into(&mut t.count);
            Ok(())
        }),
        Flag::new("k", ValueKind::Switch, "", "Keep.", |t: &mut Sample, _| {
            t.keep = true;
            Ok(())
        }),
        Flag::new("q", ValueKind::Switch, "", "Quiet.", |t: &mut Sample, _| {
            t.quiet = true;
            Ok(())
        }),
    ];

    fn check(
        line: &str,
        count: &str,
        switches: &str,
        operands: &[&str],
        ends: Option<GetoptError>,
    ) {
        let args: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let mut options = Sample::default();
        let parsed = parse(TABLE, &args, &mut options).expect("no setter refuses");
        let (keep, quiet) = (switches.contains('k'), switches.contains('q'));
        assert_eq!(options, Sample { count: count.to_owned(), keep, quiet }, "{line}");
        assert_eq!((parsed.operands, parsed.error), (owned(operands), ends), "{line}");
    }

    fn owned(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&text| text.to_owned()).collect()
    }

    #[test]
    fn values_stand_beside_or_after_and_switches_bundle() {
        check("-c100 u", "100", "", &["u"], None);
        check("-c 100 u", "100", "", &["u"], None);
        check("-kqc5 u", "5", "kq", &["u"], None);
        check("-k -c -q u", "-q", "k", &["u"], None);
        check("-k u -q", "", "k", &["u", "-q"], None);
        check("-k -- -q", "", "k", &["-q"], None);
        check("-k --quiet u", "", "k", &["u"], None);
        check("-k -", "", "k", &["-"], None);
        check("-c=5 u", "=5", "", &["u"], None);
    }

    #[test]
    fn errors_end_the_flags() {
        check("-k -J -q u", "", "k", &["-q", "u"], Some(GetoptError::IllegalLetter('J')));
        check("-kJq u", "", "k", &["-kJq", "u"], Some(GetoptError::IllegalLetter('J')));
        check("-k -c", "", "k", &[], Some(GetoptError::NeedsValue('c')));
        check("-ü u", "", "", &["u"], Some(GetoptError::IllegalLetter('ü')));
    }
}
