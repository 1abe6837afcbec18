//! The load test that a command line of `attack` asks for.

use anyhow::anyhow;
use cli::{CommandError, ExitCode, ExitError, ParsedArgs, input, usage_error};
use stdx::Nanos;
use workload::arrival::{ParsedRate, Rate, Replay, Shape, ShapeSpec};
use workload::targets::Defaults;
use workload::{Load, Plan, TargetList, Targets};

use super::flags::AttackFlags;
use crate::dialect::LoadRules;
use crate::load::environment::Environment;
use crate::load::load_test::{LazySource, LoadTest};
use crate::load::outputs::{self, OutputFlags, Outputs};
use crate::load::{cookies, fleet, gates, settings, targets};

/// Validates a command line, and reads the files that it names.
///
/// # Errors
/// A flag or a file is wrong.
pub(crate) fn resolve(
    args: &ParsedArgs<AttackFlags>,
    rules: &LoadRules,
    environment: &Environment<'_>,
) -> Result<LoadTest, CommandError> {
    let flags = &args.flags;
    check(args, rules)?;
    settings::check_client(rules, &flags.client)?;
    let load = load(flags, rules, replay)?;
    gates::check_load(&flags.display.gates, &load)?;
    let source = targets::source(rules, &flags.target)?;
    let (mut list, lazy) = match urls(args, rules) {
        [] if flags.lazy => (TargetList::default(), Some(LazySource::Read(source))),
        [] => (targets::read_all(&source, rules)?, None),
        urls => (targets::of_urls(urls, &flags.target, source.defaults)?, None),
    };
    cookies::add(&mut list, flags.target.cookies.as_ref())?;
    let list = Targets::new(list);
    if lazy.is_none() {
        gates::check_names(&flags.display.gates, &list)?;
    }
    let AttackFlags { results, display, watched, saving, .. } = flags;
    let outputs =
        Outputs::resolve(rules, &OutputFlags { results, display, watched, saving }, environment)?;
    let mut settings = settings::client_settings(args, &flags.client, rules, environment)?;
    settings::apply_http(&flags.http, &mut settings);
    settings.tick = flags.tick;
    settings.chunked = flags.target.chunked;
    settings.capture = (rules.capture)(results.max_body, results.keep_headers);
    settings.connections = settings::as_usize(flags.connections);
    settings.max_connections =
        Some(settings::as_usize(flags.max_connections)).filter(|&max| max > 0);
    let seed = flags.client.engine.seed.unwrap_or(environment.seed);
    let plan = Plan {
        name: results.name.clone(),
        duration: duration(flags),
        hits_max: is_over_at_once(flags, rules).then_some(0),
        ..Plan::new(load, list, seed)
    };
    let fleet = fleet::resolve(&flags.fleet, args.global.cpus)?;
    Ok(LoadTest { lazy, fleet, ..LoadTest::new(plan, settings, outputs) })
}

/// Checks as much of a command line as needs no file and no look at the machine. Standard input counts as empty.
///
/// # Errors
/// A flag is wrong.
pub(crate) fn validate(
    args: &ParsedArgs<AttackFlags>,
    rules: &LoadRules,
) -> Result<(), CommandError> {
    check(args, rules)?;
    targets::format(rules, &args.flags.target)?;
    outputs::check_watched(&args.flags.watched)?;
    settings::check_key(rules, &args.flags.client.tls)?;
    let load = load(&args.flags, rules, |_| Ok(Shape::constant(Rate::per_second(1))))?;
    gates::check_load(&args.flags.display.gates, &load)?;
    match urls(args, rules) {
        [] => targets::check_file(&args.flags.target),
        urls => targets::of_urls(urls, &args.flags.target, Defaults::default()).map(drop),
    }
}

/// The URLs on the command line. Vegeta looks at no operand.
fn urls<'a>(args: &'a ParsedArgs<AttackFlags>, rules: &LoadRules) -> &'a [String] {
    if rules.checks_first { &args.operands } else { &[] }
}

/// How long requests begin; `None` is until something ends them.
fn duration(flags: &AttackFlags) -> Option<Nanos> {
    Some(flags.duration).filter(|duration| *duration > Nanos::ZERO)
}

/// Whether the attack ends before its first request.
fn is_over_at_once(flags: &AttackFlags, rules: &LoadRules) -> bool {
    flags.duration > Nanos::ZERO && flags.duration < rules.duration_min
}

/// Refuses what makes no sense, alone or together.
fn check(args: &ParsedArgs<AttackFlags>, rules: &LoadRules) -> Result<(), CommandError> {
    let urls = urls(args, rules);
    targets::check_urls(urls, &args.flags.target)?;
    if args.flags.lazy && !urls.is_empty() {
        return Err(usage_error("-lazy reads targets while attacking, and a URL is known before"));
    }
    if args.flags.lazy && args.flags.target.cookies.is_some() {
        return Err(usage_error(
            "-cookies needs targets that are known before the attack, and -lazy reads them meanwhile (give -header)",
        ));
    }
    if args.flags.max_workers == Some(0) {
        return Err((rules.no_workers)());
    }
    fleet::resolve(&args.flags.fleet, None)?;
    if args.flags.lazy && args.flags.fleet.dir.is_some() {
        return Err(usage_error(
            "-lazy reads targets on this machine, and -fleet sends from others",
        ));
    }
    let AttackFlags { tick, duration, .. } = args.flags;
    if duration > Nanos::ZERO && tick > duration {
        return Err(usage_error(format!("flag -tick: {tick} is longer than -duration")));
    }
    Ok(())
}

/// When requests begin; `replay` gives the moments of a file.
fn load(
    flags: &AttackFlags,
    rules: &LoadRules,
    replay: impl Fn(&str) -> Result<Shape, CommandError>,
) -> Result<Load, CommandError> {
    let rate = match flags.rate {
        ParsedRate::Rate(rate) => Some(rate),
        ParsedRate::Infinity => rules.infinite_rate,
        ParsedRate::AsFastAsPossible => None,
    };
    let max_in_flight = flags.max_workers;
    if let Some(text) = &flags.shape {
        let shape = match Shape::parse(text, rate) {
            Ok(ShapeSpec::Shape(shape)) => shape,
            Ok(ShapeSpec::ReplayFile { path, scale }) => replay(&path)?.scaled(scale),
            Err(error) => return Err(usage_error(format!("flag -shape: {error}"))),
        };
        if matches!(shape, Shape::Linear { .. }) && flags.duration == Nanos::ZERO {
            return Err(usage_error("-shape=linear needs a -duration"));
        }
        return Ok(Load::Open { shape, max_in_flight });
    }
    match (rate, max_in_flight) {
        (Some(rate), _) => Ok(Load::Open { shape: Shape::constant(rate), max_in_flight }),
        (None, Some(users)) => Ok(Load::Closed { users }),
        (None, None) => Err(usage_error("-rate=0 requires setting -max-workers")),
    }
}

/// The moments of a file.
///
/// # Errors
/// The file cannot be read, or a line of it is none.
pub(crate) fn replay(path: &str) -> Result<Shape, CommandError> {
    let bytes = input::read_text(path)?;
    let (shape, problems) = Replay::from_lines(&String::from_utf8_lossy(&bytes));
    match problems.first() {
        None => Ok(shape),
        Some(first) => {
            let more = match problems.len() {
                1 => String::new(),
                n => format!(" (and {} more)", n - 1),
            };
            Err(ExitError { code: ExitCode::Input, error: anyhow!("{path}: {first}{more}") }.into())
        }
    }
}
