//! One-letter flags as getopt reads them: `-c100`, `-c 100`, switches in bundles (`-kq`). The first operand ends them, and so do
//! `--` and a letter that nobody knows. There are no long names and no `=`.

use super::{Flag, Kind, Wrong};

/// What was not a flag, and what getopt itself has to say.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Letters {
    /// The arguments after the flags.
    pub(crate) operands: Vec<String>,
    /// What ended the flags early, if anything did.
    pub(crate) complaint: Option<Complaint>,
}

/// Why getopt reads no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Complaint {
    /// A letter that is no flag.
    Illegal(char),
    /// A flag that stands last and lacks its value.
    NeedsValue(char),
}

/// Reads `args` into `typed`.
///
/// # Errors
/// A value is no good; the flags before it are set already.
pub(crate) fn parse<T>(
    table: &[Flag<T>],
    args: &[String],
    typed: &mut T,
) -> Result<Letters, Wrong> {
    let mut rest = args;
    let mut complaint = None;
    while complaint.is_none() {
        let Some((arg, after)) = rest.split_first() else { break };
        let Some(bundle) = arg.strip_prefix('-').filter(|bundle| !bundle.is_empty()) else { break };
        if bundle.starts_with('-') {
            rest = after;
            break;
        }
        (rest, complaint) = read_bundle(table, bundle, rest, typed)?;
    }
    Ok(Letters { operands: rest.to_vec(), complaint })
}

/// Reads the letters of one argument, the first of `args`; gives the arguments after what it took.
fn read_bundle<'a, T>(
    table: &[Flag<T>],
    bundle: &str,
    args: &'a [String],
    typed: &mut T,
) -> Result<(&'a [String], Option<Complaint>), Wrong> {
    let after = &args[1..];
    let mut letters = bundle.chars();
    while let Some(letter) = letters.next() {
        let left = letters.as_str();
        let mut name = [0; 4];
        let name: &str = letter.encode_utf8(&mut name);
        let Some(flag) = table.iter().find(|flag| flag.row.name == name) else {
            // getopt moves on only past an argument it has read whole.
            let rest = if left.is_empty() { after } else { args };
            return Ok((rest, Some(Complaint::Illegal(letter))));
        };
        if flag.row.kind == Kind::Switch {
            (flag.set)(typed, "true")?;
            continue;
        }
        return match (left, after.split_first()) {
            ("", None) => Ok((after, Some(Complaint::NeedsValue(letter)))),
            ("", Some((value, after))) => (flag.set)(typed, value).map(|()| (after, None)),
            (value, _) => (flag.set)(typed, value).map(|()| (after, None)),
        };
    }
    Ok((after, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, PartialEq)]
    struct Sample {
        count: String,
        keep: bool,
        quiet: bool,
    }

    const TABLE: &[Flag<Sample>] = &[
        Flag::new("c", Kind::Text("N"), "", "Count.", |t: &mut Sample, v| {
            v.clone_into(&mut t.count);
            Ok(())
        }),
        Flag::new("k", Kind::Switch, "", "Keep.", |t: &mut Sample, _| {
            t.keep = true;
            Ok(())
        }),
        Flag::new("q", Kind::Switch, "", "Quiet.", |t: &mut Sample, _| {
            t.quiet = true;
            Ok(())
        }),
    ];

    fn check(line: &str, count: &str, switches: &str, operands: &[&str], ends: Option<Complaint>) {
        let args: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let mut typed = Sample::default();
        let letters = parse(TABLE, &args, &mut typed).expect("no setter refuses");
        let (keep, quiet) = (switches.contains('k'), switches.contains('q'));
        assert_eq!(typed, Sample { count: count.to_owned(), keep, quiet }, "{line}");
        assert_eq!((letters.operands, letters.complaint), (owned(operands), ends), "{line}");
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
    fn complaints_end_the_flags() {
        check("-k -J -q u", "", "k", &["-q", "u"], Some(Complaint::Illegal('J')));
        check("-kJq u", "", "k", &["-kJq", "u"], Some(Complaint::Illegal('J')));
        check("-k -c", "", "k", &[], Some(Complaint::NeedsValue('c')));
        check("-ü u", "", "", &["u"], Some(Complaint::Illegal('ü')));
    }
}
