//! `wrk` and `wrk2`: a closed loop, and an open one, over so many connections for so long.

use std::io;
use std::time::Duration;

use cli::Flag;
use cli::getopt_long::{self, OptionError};
use report::{Offered, WrkStyle};
use wire::url::Url;
use workload::Load;

use super::flags::{WRK, WrkFlags, wrk2};
use crate::output::Place;
use crate::tools::{self, Asked, Layout, Refusal};

/// Reads a command line of wrk's.
///
/// # Errors
/// It is wrong, or asks for help.
pub(crate) fn ask(args: &[String]) -> Result<Asked, Refusal> {
    read(args, WRK, Tool::Wrk)
}

/// Reads a command line of wrk2's.
///
/// # Errors
/// It is wrong, or asks for help.
pub(crate) fn ask_two(args: &[String]) -> Result<Asked, Refusal> {
    read(args, &wrk2(), Tool::Wrk2)
}

/// Whose line it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tool {
    Wrk,
    Wrk2,
}

fn read(args: &[String], table: &[Flag<WrkFlags>], tool: Tool) -> Result<Asked, Refusal> {
    let mut flags = WrkFlags::default();
    let operands = getopt_long::parse(table, args, &mut flags);
    let refuse = |words: &str| usage(table, &flags, words);
    let operands = operands.map_err(|error| refuse(&getopt_words(&error)))?;
    let Some(url) = operands.first().filter(|_| !flags.help) else { return Err(refuse("")) };
    if flags.threads == 0 || flags.duration.0 == 0 {
        return Err(refuse(""));
    }
    let Ok(parsed) = Url::parse(url) else {
        return Err(refuse(&format!("invalid URL: {}", stdx::without_password(url))));
    };
    if flags.connections == 0 || flags.connections < flags.threads {
        return Err(refuse("number of connections must be >= threads"));
    }
    if tool == Tool::Wrk2 && flags.rate == 0 {
        return Err(refuse("Throughput MUST be specified with the --rate or -R option"));
    }
    if let Some(script) = &flags.script {
        let stderr = format!("{script}: {NO_SCRIPTS}");
        return Err(Refusal { code: 1, stderr, ..Refusal::default() });
    }
    Ok(asked(&flags, url, &parsed, tool))
}

/// What is said of `-s`.
const NO_SCRIPTS: &str = "Lua scripts are not run here. Scripts are what `brunt run` will be for, which is not built yet.\n\
    Today: one request with `brunt bench -X METHOD -body FILE -H 'NAME: VALUE' URL`, several in turn or by weight\n\
    with `brunt bench -targets=FILE`, pipelining with `brunt bench -pipeline=N`.";

fn asked(flags: &WrkFlags, url: &str, parsed: &Url, tool: Tool) -> Asked {
    let target = tools::target("GET", url, headers(flags, parsed), Vec::new());
    let load = match tool {
        Tool::Wrk => Load::Closed { users: flags.connections },
        Tool::Wrk2 => tools::open(flags.rate as f64, flags.connections),
    };
    let mut settings = tools::settings(flags.threads, flags.connections);
    settings.tls.insecure = true;
    let offered = Offered {
        url: stdx::without_password(url).into_owned(),
        threads: flags.threads,
        connections: flags.connections,
        duration: flags.duration,
        keepalive: true,
    };
    let style = WrkStyle {
        from_due: tool == Tool::Wrk2,
        latency: flags.latency,
        uncorrected: flags.uncorrected,
        timeout: flags.timeout,
    };
    let notes = flags.version.then(|| version().trim_end().to_owned());
    Asked {
        plan: tools::plan(target, load, Some(flags.duration), None),
        settings,
        grace: Some(GRACE),
        layout: Layout::Wrk(offered, style),
        place: Place::Stdout,
        notes: notes.into_iter().collect(),
        probe: Some(unreachable),
    }
}

/// wrk's threads look every so often whether they are to stop.
const GRACE: Duration = Duration::from_millis(100);

/// wrk's fields: `Host`, then those given, of which the last of a name counts.
fn headers(flags: &WrkFlags, url: &Url) -> Vec<(String, String)> {
    let mut fields = vec![("Host".to_owned(), url.authority.clone())];
    for (name, value) in &flags.headers {
        match fields.iter_mut().find(|(known, _)| known == name) {
            Some(field) => field.1.clone_from(value),
            None => fields.push((name.clone(), value.clone())),
        }
    }
    fields
}

/// What is said where no connection is to be had.
fn unreachable(host: &str, service: &str, error: &io::Error) -> Refusal {
    let what = match error.raw_os_error() {
        Some(_) => "connect to",
        None => "resolve",
    };
    let stderr = format!("unable to {what} {host}:{service} {}", tools::reason(error));
    Refusal { code: 1, stderr, ..Refusal::default() }
}

/// The usage, after what is wrong.
fn usage(table: &[Flag<WrkFlags>], flags: &WrkFlags, words: &str) -> Refusal {
    let version = if flags.version { version() } else { String::new() };
    let stdout = format!(
        "{version}Usage: wrk <options> <url>\n  Options:\n{}\n  Numbers may end with k, M or G, times with s, m or h.\n",
        getopt_long::usage_lines(table)
    );
    Refusal { code: 1, stdout, stderr: words.to_owned() }
}

fn version() -> String {
    format!("wrk, spoken by brunt {}\n", env!("CARGO_PKG_VERSION"))
}

/// What the C library says.
fn getopt_words(error: &OptionError) -> String {
    match error {
        OptionError::Unknown(name) if name.chars().count() == 1 => {
            format!("wrk: invalid option -- '{name}'")
        }
        OptionError::Unknown(name) => format!("wrk: unrecognized option '--{name}'"),
        OptionError::Ambiguous(name) => format!("wrk: option '--{name}' is ambiguous"),
        OptionError::NeedsValue(name) if name.chars().count() == 1 => {
            format!("wrk: option requires an argument -- '{name}'")
        }
        OptionError::NeedsValue(name) => format!("wrk: option '--{name}' requires an argument"),
        OptionError::TakesNone(name) => format!("wrk: option '--{name}' doesn't allow an argument"),
        // wrk itself says nothing of a wrong number.
        OptionError::Value(_, wrong) => wrong.native.clone(),
    }
}
