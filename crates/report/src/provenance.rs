//! How a run was made, in lines below what was attacked: the command line, its beginning with the zone, the method, the machine, the
//! versions. Of several runs each has its own.

use metrics::tally::Assertion;
use metrics::{Generator, Provenance};

use crate::figure::shortened;
use crate::number::{counted, rfc3339};
use crate::object::json_list;
use crate::run_name::{json_of_run, of_run};
use crate::{Input, escape};

/// Runs whose making is shown; the rest is counted.
const RUNS_SHOWN: usize = 3;
/// Characters of a command line that are shown; more are cut.
const COMMAND_MAX: usize = 500;
/// Characters of a commit's hash that are shown.
const COMMIT_LEN: usize = 12;
const SECOND: i64 = 1_000_000_000;

/// The lines, not escaped; none where results do not record it.
fn lines(input: &Input<'_>) -> Vec<String> {
    let began = (input.summary.requests > 0).then_some(input.summary.earliest);
    lines_of(input.assertions, began, input.generator)
}

/// The same of a test whose report has no figures of requests.
pub(crate) fn lines_of(
    assertions: &[Assertion],
    began: Option<i64>,
    generator: Option<&Generator>,
) -> Vec<String> {
    let all: Vec<&Provenance> = Assertion::provenances(assertions).collect();
    let is_alone = all.len() == 1;
    let mut lines = Vec::new();
    for one in all.iter().take(RUNS_SHOWN) {
        let line = format!("Command: {}", shortened(&command(one), COMMAND_MAX));
        lines.push(of_run(&line, &one.run));
        // Of several runs neither the first request nor the generator is one's own.
        lines.push(made(one, began.filter(|_| is_alone), generator.filter(|_| is_alone)));
    }
    let more = all.len().saturating_sub(RUNS_SHOWN);
    if more > 0 {
        lines.push(format!("Commands of {} more are in the results.", counted(more as u64, "run")));
    }
    lines
}

/// The command line without what is to be redacted now, whatever was when it was recorded.
fn command(one: &Provenance) -> String {
    stdx::redacted_message(&one.command).unwrap_or_else(|| one.command.clone())
}

/// `Began 2026-11-27 22:50:14 +01:00: open loop on web1 (2 cores, Linux 6.1.0), brunt 0.1.0, commit 05f3bc9b1c2d`.
fn made(one: &Provenance, began: Option<i64>, generator: Option<&Generator>) -> String {
    let cores = (one.cores > 0).then(|| counted(one.cores, "core"));
    let about = cores.into_iter().chain([one.kernel.clone()]).filter(|part| !part.is_empty());
    let about: Vec<String> = about.collect();
    let machine = match (one.host.as_str(), about.is_empty()) {
        ("", true) => String::new(),
        ("", false) => about.join(", "),
        (host, true) => host.to_owned(),
        (host, false) => format!("{host} ({})", about.join(", ")),
    };
    let method = generator.map(method);
    let way = match (method, machine.as_str()) {
        (Some(method), "") => method,
        (Some(method), machine) => format!("{method} on {machine}"),
        (None, machine) => machine.to_owned(),
    };
    let way = if began.is_none() && !way.is_empty() { format!("a run on {way}") } else { way };
    let version = if one.brunt.is_empty() { String::new() } else { format!("brunt {}", one.brunt) };
    let commit = match one.commit.is_empty() {
        true => String::new(),
        false => format!("commit {}", one.commit.chars().take(COMMIT_LEN).collect::<String>()),
    };
    let parts: Vec<String> =
        [way, version, commit].into_iter().filter(|part| !part.is_empty()).collect();
    match began {
        Some(at) => format!("Began {}: {}", local(at, one.zone_s), parts.join(", ")),
        None => format!("Made by {}", parts.join(", ")),
    }
}

/// The machine, the versions and the commit in a line, for a page that has the command line.
#[must_use]
pub fn made_by(one: &Provenance) -> String {
    made(one, None, None)
}

/// How load was offered.
fn method(generator: &Generator) -> String {
    match (generator.self_paced, generator.users) {
        (true, users) => format!("script with up to {}", counted(users, "user")),
        (false, 0) => "open loop".to_owned(),
        (false, users) => format!("closed loop of {}", counted(users, "user")),
    }
}

/// `2026-11-27 22:50:14 +01:00`.
fn local(unix_ns: i64, zone_s: i32) -> String {
    let local = unix_ns.saturating_add(i64::from(zone_s) * SECOND);
    let second = rfc3339(local.div_euclid(SECOND).saturating_mul(SECOND));
    let (sign, minutes) = (if zone_s < 0 { '-' } else { '+' }, zone_s.abs() / 60);
    let zone = format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60);
    format!("{} {zone}", second.replace('T', " ").trim_end_matches('Z'))
}

/// Lines of a text.
pub(crate) fn text(input: &Input<'_>) -> String {
    lines(input).iter().map(|line| escape::terminal(line) + "\n").collect()
}

/// The same of a test whose report has no figures of requests.
pub(crate) fn text_of(assertions: &[Assertion]) -> String {
    let lines = lines_of(assertions, None, None);
    lines.iter().map(|line| escape::terminal(line) + "\n").collect()
}

/// Paragraphs of a page.
pub(crate) fn html(input: &Input<'_>) -> String {
    let line = |line: String| format!("<p class=\"faint\">{}</p>\n", escape::xml(&line));
    lines(input).into_iter().map(line).collect()
}

/// Paragraphs of Markdown.
pub(crate) fn markdown(input: &Input<'_>) -> String {
    lines(input).iter().map(|line| escape::markdown(line) + "\n\n").collect()
}

/// A list of objects; `None` where results do not record it.
pub(crate) fn json(input: &Input<'_>) -> Option<String> {
    json_of(input.assertions)
}

/// The same of a test whose report has no figures of requests.
pub(crate) fn json_of(assertions: &[Assertion]) -> Option<String> {
    let all: Vec<&Provenance> = Assertion::provenances(assertions).collect();
    (!all.is_empty()).then(|| json_list(all.into_iter().map(object)))
}

/// One of them as an object.
pub(crate) fn object(one: &Provenance) -> String {
    json_of_run(&one.run)
        .text("command", &command(one))
        .put("zone_s", one.zone_s.to_string())
        .text("host", &one.host)
        .number("cores", one.cores)
        .text("kernel", &one.kernel)
        .text("processor", &one.processor)
        .text("brunt", &one.brunt)
        .text("commit", &one.commit)
        .end()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn provenance() -> Provenance {
        Provenance {
            command: "brunt attack -rate=50 http://h/".to_owned(),
            zone_s: -5400,
            host: "web1".to_owned(),
            cores: 2,
            kernel: "Linux 6.1.0".to_owned(),
            brunt: "0.1.0".to_owned(),
            commit: "05f3bc9b1c2d3e4f".to_owned(),
            ..Provenance::default()
        }
    }

    #[test]
    fn a_run_says_how_it_was_made() {
        let generator = Generator { users: 4, ..Generator::default() };
        assert_eq!(
            made(&provenance(), Some(1_000_000_000_500_000_000), Some(&generator)),
            "Began 2001-09-09 00:16:40 -01:30: closed loop of 4 users on web1 (2 cores, Linux 6.1.0), brunt 0.1.0, \
             commit 05f3bc9b1c2d"
        );
        let bare = Provenance { brunt: "0.1.0".to_owned(), ..Provenance::default() };
        assert_eq!(made(&bare, Some(0), None), "Began 1970-01-01 00:00:00 +00:00: brunt 0.1.0");
        assert_eq!(made(&bare, None, None), "Made by brunt 0.1.0");
    }

    #[test]
    fn a_zone_beyond_all_time_is_no_panic() {
        assert!(local(i64::MAX, i32::MAX).contains('+'));
        assert!(local(i64::MIN, i32::MIN + 1).contains('-'));
    }
}
