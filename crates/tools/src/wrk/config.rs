//! `wrk` and `wrk2`: a closed loop, and an open one, over so many connections for so long.

use std::io;
use std::time::Duration;

use cli::getopt_long::{self, OptionError};
use cli::{Flag, Output};
use report::Offered;
use report::wrk::WrkStyle;
use wire::url::Url;
use workload::Load;

use super::flags::{FLAGS, WrkFlags, wrk2_flags};
use crate::config::{self, Layout, ToolConfig};
use crate::error::ToolError;
use crate::probe::reason;
use crate::tool::LoadTool;

/// wrk.
pub const WRK: LoadTool = LoadTool {
    name: "wrk",
    parse: wrk_config,
    // Its command line names no files.
    validate: |args| wrk_config(args).map(drop),
};

/// wrk2.
pub const WRK2: LoadTool = LoadTool {
    name: "wrk2",
    parse: wrk2_config,
    // Its command line names no files.
    validate: |args| wrk2_config(args).map(drop),
};

/// Reads a command line of wrk's.
///
/// # Errors
/// It is wrong, or asks for help.
fn wrk_config(args: &[String]) -> Result<ToolConfig, ToolError> {
    read(args, FLAGS, Tool::Wrk)
}

/// Reads a command line of wrk2's.
///
/// # Errors
/// It is wrong, or asks for help.
fn wrk2_config(args: &[String]) -> Result<ToolConfig, ToolError> {
    read(args, &wrk2_flags(), Tool::Wrk2)
}

/// The tool that a command line is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tool {
    Wrk,
    Wrk2,
}

fn read(args: &[String], table: &[Flag<WrkFlags>], tool: Tool) -> Result<ToolConfig, ToolError> {
    let mut flags = WrkFlags::default();
    let operands = getopt_long::parse(table, args, &mut flags);
    let refuse = |words: &str| usage(table, &flags, words);
    let operands = operands.map_err(|error| refuse(&getopt_words(&error)))?;
    let Some(url) = operands.first().filter(|_| !flags.help) else { return Err(refuse("")) };
    if flags.threads == 0 || flags.duration.0 == 0 {
        return Err(refuse(""));
    }
    let Ok(parsed) = Url::parse(url) else {
        return Err(refuse(&format!("invalid URL: {}", stdx::shown_url(url))));
    };
    if flags.connections == 0 || flags.connections < flags.threads {
        return Err(refuse("number of connections must be >= threads"));
    }
    if tool == Tool::Wrk2 && flags.rate == 0 {
        return Err(refuse("Throughput MUST be specified with the --rate or -R option"));
    }
    if let Some(script) = &flags.script {
        let stderr = format!("{script}: {NO_SCRIPTS}");
        return Err(ToolError { code: 1, stderr, ..ToolError::default() });
    }
    Ok(resolve(&flags, url, &parsed, tool))
}

/// The error for `-s`.
const NO_SCRIPTS: &str = "Lua scripts are not run here. Scripts are what `brunt run` will be for, which is not built yet.\n\
    Today: one request with `brunt bench -X METHOD -body FILE -H 'NAME: VALUE' URL`, several in turn or by weight\n\
    with `brunt bench -targets=FILE`, pipelining with `brunt bench -pipeline=N`.";

fn resolve(flags: &WrkFlags, url: &str, parsed: &Url, tool: Tool) -> ToolConfig {
    let target = config::target("GET", url, headers(flags, parsed), Vec::new());
    let load = match tool {
        Tool::Wrk => Load::Closed { users: flags.connections },
        Tool::Wrk2 => config::open_load(flags.rate as f64, flags.connections),
    };
    let mut settings = config::settings(flags.threads, flags.connections);
    settings.tls.insecure = true;
    let offered = Offered {
        url: stdx::shown_url(url).into_owned(),
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
    ToolConfig {
        plan: config::plan(target, load, Some(flags.duration), None),
        settings,
        grace: Some(GRACE),
        layout: Layout::Wrk(offered, style),
        place: Output::Stdout,
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

/// The error if no connection can be made.
fn unreachable(host: &str, service: &str, error: &io::Error) -> ToolError {
    let what = match error.raw_os_error() {
        Some(_) => "connect to",
        None => "resolve",
    };
    let stderr = format!("unable to {what} {host}:{service} {}", reason(error));
    ToolError { code: 1, stderr, ..ToolError::default() }
}

/// The usage, after what is wrong.
fn usage(table: &[Flag<WrkFlags>], flags: &WrkFlags, words: &str) -> ToolError {
    let version = if flags.version { version() } else { String::new() };
    let stdout = format!(
        "{version}Usage: wrk <options> <url>\n  Options:\n{}\n  Numbers may end with k, M or G, times with s, m or h.\n",
        getopt_long::usage_lines(table)
    );
    ToolError { code: 1, stdout, stderr: words.to_owned() }
}

fn version() -> String {
    format!("wrk, spoken by brunt {}\n", env!("CARGO_PKG_VERSION"))
}

/// The C library's error text.
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
