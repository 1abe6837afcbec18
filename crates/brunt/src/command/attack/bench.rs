//! What the command line of `bench` means: the same plan as an attack's, with a closed loop for its load.

use stdx::Nanos;
use study::seek::By;
use workload::{Load, Target};

use super::meant::{self, Meant, World};
use super::targets::{self, Defaults, Source};
use crate::command::{CommandError, usage_error};
use crate::dialect::{Dialect, ParsedArgs};
use crate::flags::attack::AttackFlags;

/// Connections where none are asked for.
const CONNECTIONS: u64 = 10;
/// How long, where neither a time nor a number of requests is given.
const DURATION: Nanos = Nanos::from_secs(10);

/// Reads what the command line names and validates it.
pub(super) fn meant(
    mut typed: ParsedArgs<AttackFlags>,
    world: &World<'_>,
) -> Result<Meant, CommandError> {
    meant::check_connections(&typed)?;
    let flags = &mut typed.flags;
    if flags.duration == Nanos::ZERO && flags.requests.is_none() {
        flags.duration = DURATION;
    }
    if flags.duration > Nanos::ZERO {
        flags.duration += flags.warmup;
    }
    let connections = flags.max_workers.unwrap_or(CONNECTIONS);
    let streams = flags.streams.unwrap_or(1);
    flags.streams = Some(streams);
    let depth = flags.pipeline.unwrap_or(1);
    if depth > 1 {
        check_pipeline(flags)?;
        // A server that took HTTP/2 would give the pipeline's users one stream to share.
        flags.http2 = false;
    }
    let users = connections.saturating_mul(depth).saturating_mul(streams);
    // A connection is never needed that another user does not hold.
    (flags.connections, flags.max_connections) = (connections, connections);
    let list = list(&typed)?;
    check_streams(&typed.flags, &list)?;
    meant::assemble(&typed, world, (Load::Closed { users }, list, None))
}

/// As much of [`meant()`] as the words alone tell.
pub(super) fn check_words(typed: &ParsedArgs<AttackFlags>) -> Result<(), CommandError> {
    meant::check_flags(typed)?;
    if typed.flags.pipeline.unwrap_or(1) > 1 {
        check_pipeline(&typed.flags)?;
    }
    check_streams(&typed.flags, &list_in_words(typed)?)
}

/// As much of [`offer`] as the words alone tell.
pub(super) fn check_offer(typed: &ParsedArgs<AttackFlags>) -> Result<(), CommandError> {
    meant::check_flags(typed)?;
    let list = list_in_words(typed)?;
    match typed.flags.seek.by {
        By::Connections => check_streams(&typed.flags, &list),
        By::Rate => Ok(()),
    }
}

/// What does not go with pipelining.
fn check_pipeline(flags: &AttackFlags) -> Result<(), CommandError> {
    if !flags.keepalive {
        return Err(usage_error("flag -pipeline: without keep-alive a connection has one request"));
    }
    if flags.streams > Some(1) || flags.h2c {
        let other = if flags.h2c { "-h2c" } else { "-m" };
        let words = "one is for HTTP/1.1, the other for HTTP/2";
        return Err(usage_error(format!("flags -pipeline and {other}: {words}")));
    }
    Ok(())
}

/// What `seek` means: the targets and settings of a bench, whose load is yet to be said. Where connections are sought, each
/// has one stream unless more are asked for: else an HTTP/2 server would get them all on the first.
pub(super) fn offer(
    mut typed: ParsedArgs<AttackFlags>,
    world: &World<'_>,
) -> Result<Meant, CommandError> {
    meant::check_connections(&typed)?;
    let list = list(&typed)?;
    if typed.flags.seek.by == By::Connections {
        check_streams(&typed.flags, &list)?;
        typed.flags.streams.get_or_insert(1);
    }
    meant::assemble(&typed, world, (Load::Closed { users: 1 }, list, None))
}

/// Several streams want HTTP/2 for every target.
fn check_streams(flags: &AttackFlags, list: &[Target]) -> Result<(), CommandError> {
    let offers_http2 = |target: &Target| target.url.starts_with("https:") && flags.http2;
    let several = flags.streams.is_some_and(|streams| streams > 1);
    if several && !flags.h2c && !list.iter().all(offers_http2) {
        return Err(usage_error("flag -m: streams want HTTP/2 (https, or -h2c for http)"));
    }
    Ok(())
}

/// The targets: one URL, or a file.
fn list(typed: &ParsedArgs<AttackFlags>) -> Result<Vec<Target>, CommandError> {
    let source = meant::source(typed)?;
    match url(typed)? {
        None => Ok(targets::read_all(&source, Dialect::Native)?),
        Some(url) => one(typed, url, source.defaults),
    }
}

/// The same, without reading a file; of a file's targets it knows nothing. Standard input is empty.
fn list_in_words(typed: &ParsedArgs<AttackFlags>) -> Result<Vec<Target>, CommandError> {
    match url(typed)? {
        None => meant::check_targets(typed).map(|()| Vec::new()),
        Some(url) => one(typed, url, Defaults::default()),
    }
}

/// The target of this URL.
fn one(
    typed: &ParsedArgs<AttackFlags>,
    url: &str,
    defaults: Defaults,
) -> Result<Vec<Target>, CommandError> {
    let line = format!("{} {url}\n", typed.flags.method);
    let source = Source { name: "URL".to_owned(), format: targets::Format::Http, defaults };
    Ok(targets::parse(line.as_bytes(), &source, Dialect::Native)?)
}

/// The URL; `None` where a file has the targets.
fn url(typed: &ParsedArgs<AttackFlags>) -> Result<Option<&str>, CommandError> {
    match (typed.operands.as_slice(), &typed.flags.targets) {
        ([], Some(_)) => Ok(None),
        ([url], None) => Ok(Some(url)),
        ([], None) => Err(usage_error("a URL or -targets=FILE is needed")),
        ([_], Some(_)) => Err(usage_error("a URL and -targets: one of them is enough")),
        ([_, extra, ..], _) => Err(usage_error(format!("unexpected \"{extra}\""))),
    }
}
