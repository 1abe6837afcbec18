//! `deny`: licences, sources and known vulnerabilities of the dependencies, by cargo-deny and `deny.toml`. An advisory that
//! `deny.toml` ignores has a date by which it must be reviewed; the command fails after that day. `--offline` leaves out what needs
//! the network, which is the advisories, and without cargo-deny looks at licences and sources itself.

use std::fs;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::{licences, process, workspace};

/// How to get the program.
const INSTALL: &str = "cargo install --locked cargo-deny";

/// What stands before the date in the reason of an ignored advisory.
const REVIEW: &str = "review by ";

/// The command.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    match arguments {
        [] => check(),
        [option] if option == "--offline" => check_offline(),
        _ => bail!("deny takes --offline or nothing"),
    }
}

/// What needs no network: each problem on a line.
fn check_offline() -> Result<ExitCode> {
    let root = workspace::root();
    if process::find("cargo-deny").is_some() {
        let arguments =
            ["deny", "--offline", "--workspace", "check", "bans", "licenses", "sources"];
        process::stream(&root, "cargo", &arguments)?;
        return Ok(ExitCode::SUCCESS);
    }
    let problems = licences::problems(&root)?;
    problems.iter().for_each(|problem| println!("deny: {problem}"));
    Ok(if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// All of it.
fn check() -> Result<ExitCode> {
    let root = workspace::root();
    let config = fs::read_to_string(root.join("deny.toml")).context("reading deny.toml")?;
    let today = process::capture(&root, "date", &["-u", "+%F"])?;
    let overdue = overdue(&config, today.trim())?;
    for advisory in &overdue {
        println!("deny: deny.toml ignores {advisory}: look whether a fixed release is there");
    }
    if process::find("cargo-deny").is_none() {
        bail!("cargo-deny is not installed; {INSTALL}");
    }
    process::stream(&root, "cargo", &["deny", "--workspace", "check"])?;
    Ok(if overdue.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The ignored advisories whose date is before `today` (`YYYY-MM-DD`), each with its date.
///
/// # Errors
/// An ignored advisory has no date.
fn overdue(config: &str, today: &str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for ignored in config.split("id = \"").skip(1) {
        let id = ignored.split('"').next().unwrap_or_default();
        let date = ignored.split(REVIEW).nth(1).and_then(|rest| rest.get(..10));
        let date = date.filter(|date| is_date(date));
        let Some(date) = date else {
            bail!("deny.toml ignores {id} without `{REVIEW}YYYY-MM-DD`");
        };
        if date < today {
            found.push(format!("{id} until {date}"));
        }
    }
    Ok(found)
}

/// Whether the text has the form `YYYY-MM-DD`.
fn is_date(text: &str) -> bool {
    text.bytes().enumerate().all(|(at, byte)| match at {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = "ignore = [\n { id = \"A-1\", reason = \"why. review by 2027-05-22\" },\n { id = \"A-2\", reason = \"review by 2026-01-02\" },\n]\n";

    fn check(today: &str, expect: &[&str]) {
        assert_eq!(overdue(CONFIG, today).unwrap(), expect, "{today}");
    }

    #[test]
    fn ignored_advisories_come_up_again_after_their_day() {
        check("2026-01-02", &[]);
        check("2026-01-03", &["A-2 until 2026-01-02"]);
        check("2027-05-23", &["A-1 until 2027-05-22", "A-2 until 2026-01-02"]);
    }

    #[test]
    fn an_ignored_advisory_needs_a_date() {
        for reason in ["why", "why. review by next year"] {
            let config = format!("{{ id = \"A-1\", reason = \"{reason}\" }}");
            let error = overdue(&config, "2026-01-01").unwrap_err().to_string();
            assert!(error.contains("A-1"), "{error}");
        }
    }

    #[test]
    fn our_own_advisories_have_dates() {
        let config = fs::read_to_string(workspace::root().join("deny.toml")).unwrap();
        assert_eq!(overdue(&config, "0000-00-00").unwrap(), [""; 0]);
    }
}
