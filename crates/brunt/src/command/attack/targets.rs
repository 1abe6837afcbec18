//! Where an attack's targets come from: read whole before the first request, or one by one (`-lazy`).

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::anyhow;
use engine::LazyTargets;
use workload::Target;
use workload::targets::{Grammar, Options, Problem, ProblemKind, http, json};

use crate::dialect::Dialect;
use crate::exit_code::{ExitCode, Failed};
use crate::input;

pub(super) use workload::targets::Defaults;

/// Where targets come from, and how they are written.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// A file's path, or `stdin`.
    pub(super) name: String,
    /// How they are written.
    pub(super) format: Format,
    /// What they have in common.
    pub(super) defaults: Defaults,
}

/// How targets are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
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

/// The problem that ended lazy targets, once there was one.
pub(super) type FirstProblem = Arc<Mutex<Option<Problem>>>;

/// Reads all targets. Every wrong line is told, and one is enough to send nothing.
///
/// # Errors
/// The input cannot be read, a line is wrong, or there is no target.
pub(super) fn read_all(source: &Source, dialect: Dialect) -> Result<Vec<Target>, Failed> {
    if input::is_stdin(&source.name) {
        input::announce_stdin("targets");
    }
    parse(&input::read_whole(&source.name)?, source, dialect)
}

/// Targets that were read.
///
/// # Errors
/// A line is wrong, or there is no target.
pub(super) fn parse(
    bytes: &[u8],
    source: &Source,
    dialect: Dialect,
) -> Result<Vec<Target>, Failed> {
    let options = options(source, dialect);
    let (targets, problems) = match source.format {
        Format::Http => http::parse(bytes, &options, &mut read_body),
        Format::Json => json::parse(bytes, &options),
    };
    if problems.is_empty() {
        return match unsendable(&targets) {
            Some(problem) if dialect == Dialect::Native => {
                let error = anyhow!("{}: {problem} (nothing was sent)", source.name);
                Err(Failed { code: ExitCode::Input, error })
            }
            _ => Ok(targets),
        };
    }
    let error = anyhow!(told(&problems, &source.name, dialect));
    Err(Failed { code: ExitCode::Input, error })
}

/// What is wrong with the first URL that no request can be sent to. Vegeta lets each of its hits fail.
fn unsendable(targets: &[Target]) -> Option<String> {
    targets.iter().enumerate().find_map(|(index, target)| {
        let error = wire::url::Url::parse(&target.url).err()?;
        let url = stdx::without_password(&target.url);
        Some(format!("target {}: {} {url}: {error}", index + 1, target.method))
    })
}

/// The problems in the dialect's words: natively each with its file and line, in Vegeta's the first alone.
#[must_use]
pub(super) fn told(problems: &[Problem], name: &str, dialect: Dialect) -> String {
    match dialect {
        Dialect::Vegeta => problems[0].to_string(),
        Dialect::Native => {
            let lines: Vec<String> = problems
                .iter()
                .take(TOLD_MAX)
                .map(|problem| format!("{name}: {problem}"))
                .collect();
            let more = match problems.len().saturating_sub(TOLD_MAX) {
                0 => String::new(),
                n => format!("\n  and {n} more"),
            };
            format!("{}{more} (nothing was sent)", lines.join("\n  "))
        }
    }
}

/// Wrong lines told at once.
const TOLD_MAX: usize = 10;

/// Opens targets to be read while attacking. The first wrong line ends them and is left in the slot given back.
///
/// # Errors
/// The file cannot be opened.
pub(super) fn stream(
    source: &Source,
    dialect: Dialect,
) -> Result<(LazyTargets, FirstProblem), Failed> {
    let options = options(source, dialect);
    let reader: Box<dyn BufRead + Send> = if input::is_stdin(&source.name) {
        input::announce_stdin("targets");
        Box::new(BufReader::new(io::stdin()))
    } else {
        let file = File::open(&source.name).map_err(|error| Failed {
            code: ExitCode::Input,
            error: anyhow!("error opening {0}: open {0}: {1}", source.name, input::reason(&error)),
        })?;
        Box::new(BufReader::new(file))
    };
    let problem = FirstProblem::default();
    let items: Items = match source.format {
        Format::Http => Box::new(http::Stream::new(reader, options, read_body)),
        Format::Json => Box::new(json::Stream::new(reader, options)),
    };
    let targets: LazyTargets = match dialect {
        Dialect::Native => Box::new(until_wrong(items, Arc::clone(&problem)).map(Ok)),
        Dialect::Vegeta => Box::new(with_the_end(items)),
    };
    Ok((targets, problem))
}

/// Targets and problems as they are read.
type Items = Box<dyn Iterator<Item = Result<Target, Problem>> + Send>;

/// The targets before the first problem or the end, which make a last hit, as in Vegeta: it fails with their words.
fn with_the_end(items: Items) -> impl Iterator<Item = Result<Target, String>> + Send {
    let grammar = Grammar::Vegeta;
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

fn options(source: &Source, dialect: Dialect) -> Options {
    let grammar = match dialect {
        Dialect::Native => Grammar::Native,
        Dialect::Vegeta => Grammar::Vegeta,
    };
    Options { grammar, defaults: source.defaults.clone() }
}

/// Reads a body file that a target names.
fn read_body(path: &str) -> Result<Vec<u8>, String> {
    // A folder can be opened, and not be read.
    if std::path::Path::new(path).is_dir() {
        return Err(format!("read {path}: is a directory"));
    }
    input::read_regular(path).map_err(|reason| format!("open {path}: {reason}"))
}
