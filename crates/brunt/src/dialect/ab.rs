//! ApacheBench's dialect: `ab [flags] URL`, its words, usage and exit codes, which are errno's numbers.

use crate::command::Stored;
use crate::command::ab::{self, Quit, USAGE};
use crate::flags::ab::{AB, AbFlags, Stop};
use crate::flags::letters::{self, Complaint};
use crate::output::{self, Place};

/// Runs a command line of ab's; gives the code to end with.
pub(super) fn run(args: &[String], results: Option<Stored>) -> u8 {
    let mut flags = AbFlags::default();
    let letters = match letters::parse(AB, args, &mut flags) {
        Ok(letters) => letters,
        Err(wrong) => return misused(&wrong.native),
    };
    match flags.stop {
        Some(Stop::Help) => {
            output::complain(&usage());
            return USAGE;
        }
        Some(Stop::Version) => {
            // Where nobody reads it, the code says as much.
            return u8::from(Place::Stdout.write(ab::banner().as_bytes()).is_err());
        }
        Some(Stop::Refused(words)) => {
            output::complain(&format!("{words}\n"));
            return 1;
        }
        None => {}
    }
    match letters.complaint {
        Some(Complaint::Illegal(letter)) => {
            output::complain(&format!("ab: illegal option -- {letter}"));
        }
        Some(Complaint::NeedsValue(letter)) => {
            output::complain(&format!("ab: option requires an argument -- {letter}"));
        }
        None => {}
    }
    let [url] = letters.operands.as_slice() else {
        return misused("wrong number of arguments");
    };
    match ab::run(&flags, url, results) {
        Ok(code) => code,
        Err(Quit::Usage(what)) => misused(what),
        Err(Quit::Told { code, text }) => {
            output::complain(&text);
            code
        }
    }
}

/// Says what is wrong with the command line, and how it goes.
fn misused(what: &str) -> u8 {
    output::complain(&format!("ab: {what}\n{}", usage()));
    USAGE
}

/// How the command line goes.
#[must_use]
pub(crate) fn usage() -> String {
    let mut text =
        "Usage: ab [options] [http[s]://]hostname[:port]/path\nOptions are:\n".to_owned();
    for flag in AB {
        let left = format!("-{} {}", flag.row.name, flag.row.kind.placeholder());
        text.push_str(&format!("    {left:<16}{}\n", flag.row.docs));
    }
    text.truncate(text.trim_end().len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_names_every_flag_in_its_column() {
        let text = usage();
        assert_eq!(text.lines().count(), AB.len() + 2);
        assert!(text.contains("\n    -n requests     Requests to make."), "{text}");
        assert!(text.contains("\n    -k              Keep"), "{text}");
    }
}
