//! The load test that a command line of `grpc` asks for: calls at a rate, or a closed loop of workers.

use anyhow::Context as _;
use calls::{CallData, CallPlan, CallTargets, Coding, DefinitionSource, Server, Template};
use cli::{CommandError, ExitCode, ExitError, OrExit, ParsedArgs, input, usage_error};
use engine::{AnswerForm, Capture, CapturedHeaders, HeadStyle, Settings};
use grpc::Method;
use stdx::Nanos;
use workload::arrival::{ParsedRate, Rate, Shape, ShapeSpec};
use workload::{Load, Plan, Targets};

use super::flags::GrpcFlags;
use crate::dialect::LoadRules;
use crate::load::environment::Environment;
use crate::load::load_test::{LazySource, LoadTest};
use crate::load::outputs::{self, OutputFlags, Outputs};
use crate::load::{attack, fleet, gates, settings};

/// How long a test runs that is given neither a time nor a number of calls.
const DURATION: Nanos = Nanos::from_secs(10);

/// The server that an operand names.
///
/// # Errors
/// It is no address.
pub(crate) fn server(address: &str, flags: &GrpcFlags) -> Result<Server, CommandError> {
    let server = Server::parse(address).map_err(|error| usage_error(error.to_string()))?;
    let authority = flags.authority.clone();
    Ok(Server { plaintext: flags.plaintext, authority, ..server })
}

/// Where the definitions come from.
///
/// # Errors
/// Metadata is none.
pub(crate) fn source(flags: &GrpcFlags) -> Result<DefinitionSource, CommandError> {
    Ok(DefinitionSource {
        protos: flags.protos.clone(),
        import_paths: flags.import_paths.clone(),
        protosets: flags.protosets.clone(),
        reflect_metadata: metadata("-reflect-metadata", &flags.reflect_metadata)?,
    })
}

fn metadata(flag: &str, texts: &[String]) -> Result<Vec<(String, String)>, CommandError> {
    let mut all = Vec::new();
    for text in texts {
        let fields = calls::parse_metadata(text);
        all.extend(fields.map_err(|error| usage_error(format!("flag {flag}: {error}")))?);
    }
    Ok(all)
}

/// The settings of calls to a server.
///
/// # Errors
/// A certificate or key cannot be read.
pub(crate) fn call_settings(
    args: &ParsedArgs<GrpcFlags>,
    server: &Server,
    environment: &Environment<'_>,
) -> Result<Settings, CommandError> {
    let flags = &args.flags;
    settings::check_client(&LoadRules::NATIVE, &flags.client)?;
    let mut settings =
        settings::client_settings(args, &flags.client, &LoadRules::NATIVE, environment)?;
    settings.head = HeadStyle::Plain;
    settings.timeout = Some(flags.timeout).filter(|timeout| *timeout > Nanos::ZERO);
    server.apply(&mut settings);
    Ok(settings)
}

/// Validates a command line, reads the files that it names, and asks the server for its definitions where no file has them.
///
/// # Errors
/// A flag or a file is wrong, or the server does not describe itself.
pub(crate) fn resolve(
    args: &ParsedArgs<GrpcFlags>,
    environment: &Environment<'_>,
) -> Result<LoadTest, CommandError> {
    let flags = &args.flags;
    check(args)?;
    let load = load(flags, attack::config::replay)?;
    gates::check_load(&flags.display.gates, &load)?;
    let server = server(operand(args)?, flags)?;
    let mut settings = call_settings(args, &server, environment)?;
    let call = flags.call.as_deref().unwrap_or_default();
    let definitions = calls::load(&source(flags)?, &server, &settings).or_exit(ExitCode::Input)?;
    let method = calls::find_method(&definitions, call).or_exit(ExitCode::Input)?;
    apply(flags, &method, &mut settings);
    let seed = flags.client.engine.seed.unwrap_or(environment.seed);
    let targets = targets(flags, server, method, seed)?;
    let GrpcFlags { results, display, watched, saving, .. } = flags;
    let flags_of_outputs = OutputFlags { results, display, watched, saving };
    let outputs = Outputs::resolve(&LoadRules::NATIVE, &flags_of_outputs, environment)?;
    let (list, lazy) = match targets {
        CallTargets::InTurn(list) => (list, None),
        CallTargets::Own(own) => (Vec::new(), Some(LazySource::Made(own))),
    };
    let list = Targets::new(list);
    if lazy.is_none() {
        gates::check_names(&flags.display.gates, &list)?;
    }
    let plan = Plan {
        name: results.name.clone(),
        duration: duration(flags, &load),
        warmup: flags.warmup,
        think: flags.think.clone(),
        hits_max: flags.total,
        ..Plan::new(load, list, seed)
    };
    let fleet = fleet::resolve(&flags.fleet, args.global.cpus)?;
    if fleet.is_some() && lazy.is_some() {
        let text = "-fleet: templates make each call on this machine, and -fleet calls from others";
        return Err(usage_error(text));
    }
    Ok(LoadTest { lazy, fleet, ..LoadTest::new(plan, settings, outputs) })
}

/// Sets what follows from the method and the load.
fn apply(flags: &GrpcFlags, method: &Method, settings: &mut Settings) {
    settings.answers = match method.is_server_stream() {
        true => AnswerForm::Messages,
        false => AnswerForm::Message,
    };
    let capture = (LoadRules::NATIVE.capture)(flags.results.max_body, false);
    settings.capture = Capture { headers: CapturedHeaders::Call, ..capture };
    settings.connections = settings::as_usize(flags.connections);
    settings.max_connections = Some(settings.connections);
    let share = flags.workers.map(|workers| workers.div_ceil(flags.connections));
    settings.streams = flags.streams.or(share).map_or(usize::MAX, settings::as_usize);
}

/// The targets of the calls.
fn targets(
    flags: &GrpcFlags,
    server: Server,
    method: Method,
    seed: u64,
) -> Result<CallTargets, CommandError> {
    let mut fields = Vec::new();
    for (name, value) in metadata("-metadata", &flags.metadata)? {
        let template = Template::parse(&value).context("flag -metadata");
        fields.push((name, template.or_exit(ExitCode::Usage)?));
    }
    let plan = CallPlan {
        server,
        method,
        data: data(flags)?,
        metadata: fields,
        timeout: Some(flags.timeout).filter(|timeout| *timeout > Nanos::ZERO),
        workers: flags.workers.unwrap_or(1),
        seed,
        stream_messages: None,
        coding: Coding::Identity,
    };
    Ok(plan.targets().or_exit(ExitCode::Input)?)
}

/// The messages.
fn data(flags: &GrpcFlags) -> Result<CallData, CommandError> {
    if let Some(path) = &flags.data_binary {
        return Ok(CallData::Binary(input::read_whole(path)?));
    }
    let text = match flags.data.as_deref() {
        None => "{}".to_owned(),
        Some(given) => match (given, given.strip_prefix('@')) {
            ("-" | "@" | "@-", _) => {
                input::announce_stdin("the message");
                text_of("-")?
            }
            (_, Some(path)) => text_of(path)?,
            (given, None) => given.to_owned(),
        },
    };
    Ok(CallData::json(&text).context("flag -data").or_exit(ExitCode::Usage)?)
}

fn text_of(path: &str) -> Result<String, ExitError> {
    let bytes = input::read_text(path)?;
    String::from_utf8(bytes).with_context(|| format!("{path} is no UTF-8")).or_exit(ExitCode::Input)
}

/// Checks as much of a command line as needs no file and no look at the machine.
///
/// # Errors
/// A flag is wrong.
pub(crate) fn validate(args: &ParsedArgs<GrpcFlags>) -> Result<(), CommandError> {
    let flags = &args.flags;
    check(args)?;
    server(operand(args)?, flags)?;
    source(flags)?;
    outputs::check_watched(&flags.watched)?;
    settings::check_key(&LoadRules::NATIVE, &flags.client.tls)?;
    fleet::resolve(&flags.fleet, None)?;
    let load = load(flags, |_| Ok(Shape::constant(Rate::per_second(1))))?;
    gates::check_load(&flags.display.gates, &load)
}

/// The server's address.
fn operand(args: &ParsedArgs<GrpcFlags>) -> Result<&str, CommandError> {
    match args.operands.as_slice() {
        [address] => Ok(address),
        [] => Err(usage_error(
            "a server is missing: give for example brunt grpc localhost:50051 -call pkg.Service/Method -plaintext",
        )),
        [_, extra, ..] => Err(usage_error(format!("unexpected \"{extra}\""))),
    }
}

/// Refuses what makes no sense together.
fn check(args: &ParsedArgs<GrpcFlags>) -> Result<(), CommandError> {
    let flags = &args.flags;
    operand(args)?;
    let refuse = |text: &str| Err(usage_error(text));
    if flags.call.is_none() {
        return refuse(
            "-call=PKG.SERVICE/METHOD is needed (brunt grpc list HOST:PORT shows what there is)",
        );
    }
    if flags.data.is_some() && flags.data_binary.is_some() {
        return refuse("-data and -data-binary exclude each other (give one of them)");
    }
    if flags.workers.is_some() && (flags.rate.is_some() || flags.shape.is_some()) {
        return refuse("-workers is a closed loop, without -rate or -shape (give one of them)");
    }
    if flags.rate.is_some() && flags.shape.as_deref().is_some_and(|shape| shape != "poisson") {
        return refuse("-rate and -shape exclude each other, but for -shape=poisson");
    }
    if flags.plaintext && (flags.client.tls.insecure || flags.client.tls.cert.is_some()) {
        return refuse("-plaintext speaks without TLS, which -insecure and -cert are for");
    }
    if flags.template {
        return refuse("-template is for brunt grpc describe HOST:PORT SYMBOL");
    }
    Ok(())
}

/// When calls begin; `replay` gives the moments of a file.
fn load(
    flags: &GrpcFlags,
    replay: impl Fn(&str) -> Result<Shape, CommandError>,
) -> Result<Load, CommandError> {
    if let Some(users) = flags.workers {
        return Ok(Load::Closed { users });
    }
    let rate = match flags.rate {
        Some(ParsedRate::Rate(rate)) => rate,
        _ => Rate::per_second(50),
    };
    let shape = match &flags.shape {
        None => Shape::constant(rate),
        Some(text) => match Shape::parse(text, Some(rate)) {
            Ok(ShapeSpec::Shape(shape)) => shape,
            Ok(ShapeSpec::ReplayFile { path, scale }) => replay(&path)?.scaled(scale),
            Err(error) => return Err(usage_error(format!("flag -shape: {error}"))),
        },
    };
    if matches!(shape, Shape::Linear { .. }) && flags.duration == Nanos::ZERO {
        return Err(usage_error("-shape=linear needs a -duration"));
    }
    Ok(Load::Open { shape, max_in_flight: None })
}

/// How long calls begin, the warm-up included; `None` until all are made, or the shape ends.
fn duration(flags: &GrpcFlags, load: &Load) -> Option<Nanos> {
    let ends = matches!(load, Load::Open { shape, .. } if shape.natural_duration().is_some());
    match flags.duration {
        Nanos::ZERO if ends || flags.total.is_some() => None,
        Nanos::ZERO => Some(DURATION + flags.warmup),
        duration => Some(duration + flags.warmup),
    }
}
