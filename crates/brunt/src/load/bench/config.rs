//! The load test that a command line of `bench` asks for: a closed loop over connections.

use cli::{CommandError, ParsedArgs, usage_error};
use stdx::Nanos;
use workload::{Load, Plan, Targets};

use super::flags::BenchFlags;
use crate::dialect::LoadRules;
use crate::load::environment::Environment;
use crate::load::flags::HttpFlags;
use crate::load::load_test::LoadTest;
use crate::load::outputs::{self, OutputFlags, Outputs};
use crate::load::{fleet, gates, settings, targets};

/// How long a bench runs that is given neither a time nor a number of requests.
const DURATION: Nanos = Nanos::from_secs(10);

/// Validates a command line, and reads the files that it names.
///
/// # Errors
/// A flag or a file is wrong.
pub(crate) fn resolve(
    args: &ParsedArgs<BenchFlags>,
    environment: &Environment<'_>,
) -> Result<LoadTest, CommandError> {
    let flags = &args.flags;
    settings::check_client(&LoadRules::NATIVE, &flags.client)?;
    check_pipeline(flags)?;
    gates::check_load(&flags.display.gates, &load(flags))?;
    let http = http(flags);
    let list = targets::list(&args.operands, &flags.target)?;
    targets::check_streams(&http, &list)?;
    let list = Targets::new(list);
    gates::check_names(&flags.display.gates, &list)?;
    let BenchFlags { results, display, watched, saving, .. } = flags;
    let flags_of_outputs = OutputFlags { results, display, watched, saving };
    let outputs = Outputs::resolve(&LoadRules::NATIVE, &flags_of_outputs, environment)?;
    let mut settings =
        settings::client_settings(args, &flags.client, &LoadRules::NATIVE, environment)?;
    settings::apply_http(&http, &mut settings);
    settings.pipeline = settings::as_usize(flags.pipeline);
    settings.chunked = flags.target.chunked;
    settings.capture = (LoadRules::NATIVE.capture)(results.max_body, results.keep_headers);
    // No user needs a connection that another user does not hold.
    settings.connections = settings::as_usize(flags.connections);
    settings.max_connections = Some(settings.connections);
    let plan = Plan {
        name: results.name.clone(),
        duration: duration(flags),
        warmup: flags.warmup,
        think: flags.think.clone(),
        hits_max: flags.requests,
        ..Plan::new(load(flags), list, flags.client.engine.seed.unwrap_or(environment.seed))
    };
    let per_connection = flags.per_connection;
    let fleet = fleet::resolve(&flags.fleet, args.global.cpus)?;
    Ok(LoadTest { per_connection, fleet, ..LoadTest::new(plan, settings, outputs) })
}

/// Checks as much of a command line as needs no file and no look at the machine. Standard input counts as empty.
///
/// # Errors
/// A flag is wrong.
pub(crate) fn validate(args: &ParsedArgs<BenchFlags>) -> Result<(), CommandError> {
    let flags = &args.flags;
    targets::format(&LoadRules::NATIVE, &flags.target)?;
    outputs::check_watched(&flags.watched)?;
    settings::check_key(&LoadRules::NATIVE, &flags.client.tls)?;
    check_pipeline(flags)?;
    fleet::resolve(&flags.fleet, None)?;
    gates::check_load(&flags.display.gates, &load(flags))?;
    let list = targets::list_without_files(&args.operands, &flags.target)?;
    targets::check_streams(&flags.http, &list)
}

/// The flags of HTTP, with one stream on a connection unless more are asked for. A server that chose HTTP/2 would give all
/// requests of a pipeline one stream to share: pipelining keeps to HTTP/1.1.
fn http(flags: &BenchFlags) -> HttpFlags {
    HttpFlags {
        streams: Some(flags.http.streams.unwrap_or(1)),
        http2: flags.http.http2 && flags.pipeline == 1,
        ..flags.http.clone()
    }
}

/// A user for each request that may be in flight.
fn load(flags: &BenchFlags) -> Load {
    let streams = flags.http.streams.unwrap_or(1);
    let users = flags.connections.saturating_mul(flags.pipeline).saturating_mul(streams);
    Load::Closed { users }
}

/// How long requests begin, the warm-up included; `None` until all are sent.
fn duration(flags: &BenchFlags) -> Option<Nanos> {
    match (flags.duration, flags.requests) {
        (Nanos::ZERO, None) => Some(DURATION + flags.warmup),
        (Nanos::ZERO, Some(_)) => None,
        (duration, _) => Some(duration + flags.warmup),
    }
}

/// Refuses what does not go with pipelining.
fn check_pipeline(flags: &BenchFlags) -> Result<(), CommandError> {
    if flags.pipeline == 1 {
        return Ok(());
    }
    if !flags.http.keepalive {
        return Err(usage_error(
            "flag -pipeline needs keep-alive: without it each connection has one request",
        ));
    }
    if flags.http.streams > Some(1) || flags.http.h2c {
        let other = if flags.http.h2c { "-h2c" } else { "-m" };
        let words = "one is for HTTP/1.1, the other for HTTP/2";
        return Err(usage_error(format!("flags -pipeline and {other}: {words}")));
    }
    Ok(())
}
