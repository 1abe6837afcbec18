//! The targets of a test: a URL on the command line, a file read before the first request, or one read during the test
//! (`-lazy`).

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::anyhow;
use cli::{CommandError, ExitCode, ExitError, input, reason, usage_error};
use engine::LazyTargets;
use session::go_words;
use workload::targets::{Defaults, Grammar, Options, Problem, ProblemKind, http, json};
use workload::{Target, TargetList, TargetRef};

use super::cookies;
use super::flags::{HttpFlags, TargetFlags};
use crate::dialect::LoadRules;

/// An input of targets.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// The file's path, or `stdin`.
    pub(crate) name: String,
    /// The format of the targets.
    pub(super) format: Format,
    /// What targets without a body or headers of their own have.
    pub(super) defaults: Defaults,
}

/// The format of targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Blocks of lines.
    Http,
    /// A JSON object per line.
    Json,
}

impl Format {
    /// The format of this name.
    #[must_use]
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "http" => Some(Self::Http),
            "json" => Some(Self::Json),
            _ => None,
        }
    }
}

/// The input of targets that the flags name, with the body that targets without one get.
///
/// # Errors
/// The format is unknown, or the body cannot be read.
pub(super) fn source(rules: &LoadRules, flags: &TargetFlags) -> Result<Source, CommandError> {
    check_values(rules, &flags.headers)?;
    Ok(Source {
        name: flags.targets.clone().unwrap_or_else(|| "stdin".to_owned()),
        format: format(rules, flags)?,
        defaults: Defaults { body: body(flags)?, headers: flags.headers.clone() },
    })
}

/// Vegeta refuses header fields with an empty value.
fn check_values(rules: &LoadRules, headers: &[(String, String)]) -> Result<(), CommandError> {
    let mut empty = headers.iter().filter(|(_, value)| value.is_empty());
    match empty.next().filter(|_| rules.grammar == Grammar::Vegeta) {
        Some((name, _)) => Err(usage_error(format!(
            "invalid value \"{name}:\" for flag -header: header '{name}:' has a wrong format"
        ))),
        None => Ok(()),
    }
}

/// The format that the flags name.
///
/// # Errors
/// It is unknown.
pub(super) fn format(rules: &LoadRules, flags: &TargetFlags) -> Result<Format, CommandError> {
    Format::named(&flags.format).ok_or_else(|| (rules.unknown_format)(&flags.format))
}

/// The body of targets without one.
fn body(flags: &TargetFlags) -> Result<Arc<[u8]>, ExitError> {
    let Some(path) = &flags.body else { return Ok(Arc::from([])) };
    if input::is_stdin(path) {
        input::announce_stdin("the body");
    }
    input::read_whole(path).map(Arc::from)
}

/// Checks that a file has the targets, where standard input is empty.
///
/// # Errors
/// Standard input has them.
pub(super) fn check_file(flags: &TargetFlags) -> Result<(), CommandError> {
    if flags.targets.as_deref().is_none_or(input::is_stdin) {
        return Err(usage_error("-targets=FILE is needed: standard input is empty"));
    }
    Ok(())
}

/// The targets: the URL among the operands, or a file.
///
/// # Errors
/// There is neither, there are both, or a target is wrong.
pub(super) fn list(operands: &[String], flags: &TargetFlags) -> Result<TargetList, CommandError> {
    let source = source(&LoadRules::NATIVE, flags)?;
    let mut list = match url(operands, flags)? {
        None => read_all(&source, &LoadRules::NATIVE)?,
        Some(url) => one(url, flags, source.defaults)?,
    };
    cookies::add(&mut list, flags.cookies.as_ref())?;
    Ok(list)
}

/// The targets as far as they are known without a file: the URL, or none. Standard input counts as empty.
///
/// # Errors
/// As of [`list`], but for what is wrong with a file.
pub(super) fn list_without_files(
    operands: &[String],
    flags: &TargetFlags,
) -> Result<TargetList, CommandError> {
    match url(operands, flags)? {
        None => check_file(flags).map(|()| TargetList::default()),
        Some(url) => one(url, flags, Defaults::default()),
    }
}

/// The target of a URL.
fn one(url: &str, flags: &TargetFlags, defaults: Defaults) -> Result<TargetList, CommandError> {
    of_urls(&[url.to_owned()], flags, defaults)
}

/// The targets of URLs.
///
/// # Errors
/// One is wrong.
pub(super) fn of_urls(
    urls: &[String],
    flags: &TargetFlags,
    defaults: Defaults,
) -> Result<TargetList, CommandError> {
    let lines: String = urls.iter().map(|url| format!("{} {url}\n\n", flags.method)).collect();
    let source = Source { name: "URL".to_owned(), format: Format::Http, defaults };
    Ok(parse(lines.as_bytes(), &source, &LoadRules::NATIVE)?)
}

/// Checks the operands of a command that takes URLs, a file, or standard input.
///
/// # Errors
/// One is no URL, or a file has the targets too.
pub(super) fn check_urls(operands: &[String], flags: &TargetFlags) -> Result<(), CommandError> {
    if let Some(extra) = operands.iter().find(|operand| !operand.contains("://")) {
        return Err(usage_error(format!(
            "unexpected \"{extra}\" (targets are URLs such as http://localhost:8080/, or come from standard input or -targets=FILE)"
        )));
    }
    if !operands.is_empty() && flags.targets.is_some() {
        return Err(usage_error("a URL and -targets exclude each other (give one of them)"));
    }
    Ok(())
}

/// The URL among the operands; `None` where a file has the targets.
fn url<'a>(operands: &'a [String], flags: &TargetFlags) -> Result<Option<&'a str>, CommandError> {
    match (operands, &flags.targets) {
        ([], Some(_)) => Ok(None),
        ([url], None) => Ok(Some(url)),
        ([], None) => Err(usage_error("a URL or -targets=FILE is needed")),
        ([_], Some(_)) => {
            Err(usage_error("a URL and -targets exclude each other (give one of them)"))
        }
        ([_, extra, ..], _) => Err(usage_error(format!("unexpected \"{extra}\""))),
    }
}

/// Refuses several streams on a connection where a target is not asked over HTTP/2.
///
/// # Errors
/// There is such a target.
pub(super) fn check_streams(http: &HttpFlags, list: &TargetList) -> Result<(), CommandError> {
    let offers_http2 = |target: TargetRef<'_>| target.url.starts_with("https:") && http.http2;
    let several = http.streams.is_some_and(|streams| streams > 1);
    if several && !http.h2c && !list.iter().all(offers_http2) {
        return Err(usage_error("flag -m: streams need HTTP/2 (give an https URL, or -h2c)"));
    }
    Ok(())
}

/// The problem that ended lazy targets, once there was one.
pub(crate) type FirstProblem = Arc<Mutex<Option<Problem>>>;

/// Reads all targets. The error lists every wrong line, and nothing is sent.
///
/// # Errors
/// The input cannot be read, a line is wrong, or there is no target.
pub(super) fn read_all(source: &Source, rules: &LoadRules) -> Result<TargetList, ExitError> {
    if input::is_stdin(&source.name) {
        input::announce_stdin("targets");
    }
    parse(&input::read_text(&source.name)?, source, rules)
}

/// Parses targets.
///
/// # Errors
/// A line is wrong, or there is no target.
pub(super) fn parse(
    bytes: &[u8],
    source: &Source,
    rules: &LoadRules,
) -> Result<TargetList, ExitError> {
    let options = options(source, rules);
    let (targets, problems) = match source.format {
        Format::Http => http::parse(bytes, &options, &mut read_body),
        Format::Json => json::parse(bytes, &options),
    };
    if problems.is_empty() {
        return match unsendable(&targets) {
            Some(problem) if rules.checks_first => {
                let error = anyhow!("{}: {problem} (nothing was sent)", source.name);
                Err(ExitError { code: ExitCode::Input, error })
            }
            _ => Ok(targets),
        };
    }
    let error = anyhow!(problems_text(&problems, &source.name, rules));
    Err(ExitError { code: ExitCode::Input, error })
}

/// What is wrong with the first URL that no request can be sent to. In Vegeta each of its hits fails.
fn unsendable(targets: &TargetList) -> Option<String> {
    targets.iter().enumerate().find_map(|(index, target)| {
        let error = wire::url::Url::parse(target.url).err()?;
        let url = stdx::shown_url(target.url);
        let reason = go_words::url(&error);
        Some(format!("target {}: {} {url}: {reason}", index + 1, target.method))
    })
}

/// The problems: each with its file and line, or the first alone.
#[must_use]
fn problems_text(problems: &[Problem], name: &str, rules: &LoadRules) -> String {
    if !rules.lists_problems {
        return problems[0].to_string();
    }
    let lines: Vec<String> = problems
        .iter()
        .take(PROBLEMS_SHOWN_MAX)
        .map(|problem| format!("{name}: {problem}"))
        .collect();
    let more = match problems.len().saturating_sub(PROBLEMS_SHOWN_MAX) {
        0 => String::new(),
        n => format!("\n  and {n} more"),
    };
    format!("{}{more} (nothing was sent)", lines.join("\n  "))
}

/// The most wrong lines in an error.
const PROBLEMS_SHOWN_MAX: usize = 10;

/// Opens targets to be read during the test. The first wrong line ends them, and is left in the slot that is returned.
///
/// # Errors
/// The file cannot be opened.
pub(crate) fn stream(
    source: &Source,
    rules: &LoadRules,
) -> Result<(LazyTargets, FirstProblem), ExitError> {
    let options = options(source, rules);
    let reader: Box<dyn BufRead + Send> = if input::is_stdin(&source.name) {
        input::announce_stdin("targets");
        Box::new(BufReader::new(stdx::decompressed(io::stdin())))
    } else {
        let file = File::open(&source.name).map_err(|error| ExitError {
            code: ExitCode::Input,
            error: anyhow!("error opening {0}: open {0}: {1}", source.name, reason(&error)),
        })?;
        Box::new(BufReader::new(stdx::decompressed(file)))
    };
    let problem = FirstProblem::default();
    let items: Items = match source.format {
        Format::Http => Box::new(http::Stream::new(reader, options, read_body)),
        Format::Json => Box::new(json::Stream::new(reader, options)),
    };
    let targets: LazyTargets = if rules.fails_last_hit {
        Box::new(with_the_end(items, rules.grammar))
    } else {
        Box::new(until_wrong(items, Arc::clone(&problem)).map(Ok))
    };
    Ok((targets, problem))
}

/// Targets and problems as they are read.
type Items = Box<dyn Iterator<Item = Result<Target, Problem>> + Send>;

/// The targets before the first problem or the end, which make a last hit, as in Vegeta: it fails with their words.
fn with_the_end(
    items: Items,
    grammar: Grammar,
) -> impl Iterator<Item = Result<Target, String>> + Send {
    let end = Problem { line: 0, grammar, kind: ProblemKind::NoTargets };
    let mut is_over = false;
    items.chain(std::iter::once(Err(end))).map_while(move |item| {
        let goes_on = !std::mem::replace(&mut is_over, item.is_err());
        goes_on.then(|| item.map_err(|problem| problem.to_string()))
    })
}

/// The targets before the first problem.
fn until_wrong(items: Items, slot: FirstProblem) -> impl Iterator<Item = Target> + Send {
    items.map_while(move |item| match item {
        Ok(target) => Some(target),
        Err(problem) => {
            slot.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(problem);
            None
        }
    })
}

fn options(source: &Source, rules: &LoadRules) -> Options {
    Options { grammar: rules.grammar, defaults: source.defaults.clone() }
}

/// Reads a body file that a target names.
fn read_body(path: &str) -> Result<Vec<u8>, String> {
    // A folder can be opened, and not be read.
    if std::path::Path::new(path).is_dir() {
        return Err(format!("read {path}: is a directory"));
    }
    input::read_regular(path).map_err(|reason| format!("open {path}: {reason}"))
}
