//! How this process' run is made, for its results and reports: command line, machine, versions.

use std::path::Path;
use std::sync::OnceLock;

use metrics::Provenance;
use metrics::tally::Assertion;
use store::{Git, Machine, without_secrets};

use crate::clock::unix_ns;

/// What is to be known of a run that this process makes. The first call asks git for a commit, so it belongs before the first
/// request; results and reports of a run take what it found.
#[must_use]
pub fn provenance() -> Provenance {
    static FOUND: OnceLock<Provenance> = OnceLock::new();
    FOUND.get_or_init(find).clone()
}

fn find() -> Provenance {
    let machine = Machine::here();
    let args: Vec<String> =
        std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect();
    Provenance {
        command: command_line(&args),
        zone_s: results::zone_offset_s(unix_ns()),
        host: machine.host,
        cores: machine.cores as u64,
        kernel: machine.kernel,
        processor: machine.processor,
        brunt: env!("CARGO_PKG_VERSION").to_owned(),
        commit: Git::commit_here().unwrap_or_default(),
        run: String::new(),
    }
}

/// The same as a report takes it.
#[must_use]
pub fn provenance_row() -> Assertion {
    Assertion::Provenance(Box::new(provenance()))
}

/// As one would type it, with the program's name alone and without secrets.
fn command_line(args: &[String]) -> String {
    let Some((program, args)) = args.split_first() else { return String::new() };
    let name = Path::new(program).file_name().map_or("", |name| name.to_str().unwrap_or_default());
    let args = without_secrets(args);
    let words: Vec<String> =
        std::iter::once(name).chain(args.iter().map(String::as_str)).map(quoted).collect();
    words.join(" ")
}

/// Between quotes where a shell would take it for something else.
fn quoted(word: &str) -> String {
    let is_plain = |one: char| one.is_alphanumeric() || "-_=+.,:/@%…{}".contains(one);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_can_be_typed_again_and_has_no_secrets() {
        let args =
            ["/usr/bin/brunt", "attack", "-rate=50", "-header", "Authorization: Bearer s3cret"];
        let args = args.into_iter().chain(["http://h/?a=1&b=2", "it's"]).map(str::to_owned);
        let args: Vec<String> = args.collect();
        assert_eq!(
            command_line(&args),
            r"brunt attack -rate=50 -header 'Authorization: …' 'http://h/?a=1&b=2' 'it'\''s'"
        );
        assert_eq!(command_line(&[]), "");
    }
}
