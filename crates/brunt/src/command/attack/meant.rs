//! `Meant`: what an attack's command line means, with its files read and its plan validated. Nothing was sent yet.

use std::net::{IpAddr, UdpSocket};
use std::sync::Arc;

use anyhow::{Context, anyhow};
use engine::{
    Capture, CapturedHeaders, DnsTtl, HeadStyle, Protocol, ProxySettings, Redirects, Settings,
    TlsSettings,
};
use results::Encoding;
use stdx::Nanos;
use workload::arrival::{ParsedRate, Rate, Replay, Shape, ShapeSpec};
use workload::{Load, Plan, Target, Targets};

use session::MonitorConfig;

use super::targets::{self, Defaults, Source};
use crate::command::watch;
use crate::command::{CommandError, usage_error};
use crate::dialect::{Dialect, ParsedArgs};
use crate::exit_code::{ExitCode, Failed, OrExit};
use crate::flags::attack::AttackFlags;
use crate::input;
use crate::output::Place;

/// What an attack's command line means.
#[derive(Debug)]
pub(super) struct Meant {
    /// What to offer.
    pub(super) plan: Plan,
    /// How to carry it out.
    pub(super) settings: Settings,
    /// Where targets come from while attacking (`-lazy`).
    pub(super) lazy: Option<Source>,
    /// Where results go; `None` keeps none.
    pub(super) results: Option<Place>,
    /// In which form.
    pub(super) encoding: Encoding,
    /// What to print at the end.
    pub(super) report: Closing,
    /// With rows by connection.
    pub(super) per_connection: bool,
    /// Show live progress on standard error.
    pub(super) progress: bool,
    /// Serve live metrics here.
    pub(super) prometheus: Option<String>,
    /// What is watched beside the run.
    pub(super) watching: Option<MonitorConfig>,
}

/// What to print on standard output at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::command) enum Closing {
    /// Nothing.
    Nothing,
    /// The text report.
    Text,
    /// The JSON report.
    Json,
}

/// What the command line does not say: the world it is typed in.
pub(super) struct World<'a> {
    /// Standard output is a terminal.
    pub(super) stdout_is_terminal: bool,
    /// Standard error is a terminal.
    pub(super) stderr_is_terminal: bool,
    /// The environment.
    pub(super) variable: &'a dyn Fn(&str) -> Option<String>,
    /// Cores of this machine that we may use.
    pub(super) cores: u64,
    /// The seed where none is given.
    pub(super) seed: u64,
}

/// Reads what the command line names and validates it.
pub(super) fn meant(
    typed: &ParsedArgs<AttackFlags>,
    world: &World<'_>,
) -> Result<Meant, CommandError> {
    let flags = &typed.flags;
    check(typed)?;
    check_connections(typed)?;
    let load = load(typed, replay)?;
    let source = source(typed)?;
    let (list, lazy) = if flags.lazy {
        (Vec::new(), Some(source))
    } else {
        (targets::read_all(&source, typed.dialect)?, None)
    };
    assemble(typed, world, (load, list, lazy))
}

/// As much of [`meant`] as the words alone tell: no file is read, and no address looked for. Standard input is empty.
pub(super) fn check_words(typed: &ParsedArgs<AttackFlags>) -> Result<(), CommandError> {
    check(typed)?;
    check_flags(typed)?;
    load(typed, |_| Ok(Shape::constant(Rate::per_second(1))))?;
    check_targets(typed)
}

/// Targets are in a file. Standard input is empty.
pub(super) fn check_targets(typed: &ParsedArgs<AttackFlags>) -> Result<(), CommandError> {
    if typed.flags.targets.as_deref().is_none_or(input::is_stdin) {
        return Err(usage_error("-targets=FILE is needed: standard input is empty"));
    }
    Ok(())
}

/// The same as [`check_words`] of flags that `bench` and `seek` have too.
pub(super) fn check_flags(typed: &ParsedArgs<AttackFlags>) -> Result<(), CommandError> {
    format(typed)?;
    if typed.flags.watched.is_stray() {
        return Err(usage_error(watch::STRAY));
    }
    check_key(typed)
}

fn format(typed: &ParsedArgs<AttackFlags>) -> Result<targets::Format, CommandError> {
    targets::Format::named(&typed.flags.format).ok_or_else(|| unknown_format(typed))
}

/// Where the targets come from.
pub(super) fn source(typed: &ParsedArgs<AttackFlags>) -> Result<Source, CommandError> {
    let flags = &typed.flags;
    Ok(Source {
        name: flags.targets.clone().unwrap_or_else(|| "stdin".to_owned()),
        format: format(typed)?,
        defaults: Defaults { body: body(flags)?, headers: flags.headers.clone() },
    })
}

/// The rest of what was typed, around a load and its targets.
pub(super) fn assemble(
    typed: &ParsedArgs<AttackFlags>,
    world: &World<'_>,
    (load, list, lazy): (Load, Vec<Target>, Option<Source>),
) -> Result<Meant, CommandError> {
    let flags = &typed.flags;
    let (results, report) = outlets(typed, world)?;
    if flags.watched.is_stray() {
        return Err(usage_error(watch::STRAY));
    }
    let watching = watch::monitor_beside(&flags.watched);
    if watching.is_some() && results.is_none() {
        return Err(usage_error("-watch needs a file for what is seen (give -output=FILE)"));
    }
    let mut settings = settings(typed, world)?;
    settings.rows =
        results.is_some() || report != Closing::Nothing || flags.prometheus_addr.is_some();
    Ok(Meant {
        plan: Plan {
            name: flags.name.clone(),
            load,
            duration: duration(typed),
            warmup: flags.warmup,
            think: flags.think.clone(),
            hits_max: flags.requests,
            targets: Targets::new(list),
            seed: flags.seed.unwrap_or(world.seed),
        },
        settings,
        lazy,
        encoding: encoding(typed),
        results,
        report,
        per_connection: flags.per_connection,
        progress: typed.dialect == Dialect::Native
            && flags.progress.unwrap_or(world.stderr_is_terminal && !flags.quiet),
        prometheus: flags.prometheus_addr.clone(),
        watching,
    })
}

/// How long hits begin; `None` is until something ends them. Vegeta looks at the clock before its first hit, and finds less than
/// a microsecond over already: only a hit that is due in its first nanosecond is left of it here.
fn duration(typed: &ParsedArgs<AttackFlags>) -> Option<Nanos> {
    match (typed.dialect, typed.flags.duration) {
        (_, Nanos::ZERO) => None,
        (Dialect::Vegeta, duration) if duration < Nanos::MICRO => Some(Nanos(1)),
        (_, duration) => Some(duration),
    }
}

/// What cannot be done, or not together.
fn check(typed: &ParsedArgs<AttackFlags>) -> Result<(), CommandError> {
    if let (Dialect::Native, Some(extra)) = (typed.dialect, typed.operands.first()) {
        return Err(usage_error(format!(
            "unexpected \"{extra}\" (targets come from standard input or -targets=FILE)"
        )));
    }
    if typed.flags.max_workers == Some(0) {
        return Err(match typed.dialect {
            Dialect::Native => usage_error("flag -max-workers: with 0 nothing is ever sent"),
            Dialect::Vegeta => Failed::from(anyhow!("-max-workers=0 sends nothing")).into(),
        });
    }
    let (tick, duration) = (typed.flags.tick, typed.flags.duration);
    if duration > Nanos::ZERO && tick > duration {
        return Err(usage_error(format!("flag -tick: {tick} is longer than the whole -duration")));
    }
    Ok(())
}

/// What no connection can be made with, for `bench` too.
pub(super) fn check_connections(typed: &ParsedArgs<AttackFlags>) -> Result<(), CommandError> {
    if let Some(foreign) = foreign_address(&typed.flags.local_addrs)
        && typed.dialect == Dialect::Native
    {
        let error = anyhow!("flag -laddr: {foreign} is not an address of this machine");
        return Err(Failed { code: ExitCode::Input, error }.into());
    }
    check_key(typed)
}

fn check_key(typed: &ParsedArgs<AttackFlags>) -> Result<(), CommandError> {
    if typed.flags.cert.is_none() && typed.flags.key.is_some() && typed.dialect == Dialect::Native {
        return Err(usage_error("-key needs a -cert"));
    }
    Ok(())
}

/// The first address that no socket of ours can have.
fn foreign_address(local_addrs: &[IpAddr]) -> Option<&IpAddr> {
    local_addrs.iter().find(|ip| UdpSocket::bind((**ip, 0)).is_err())
}

/// Vegeta's words for a format it does not know.
fn unknown_format(typed: &ParsedArgs<AttackFlags>) -> CommandError {
    let format = &typed.flags.format;
    match typed.dialect {
        Dialect::Native => {
            usage_error(format!("flag -format: \"{format}\" is not one of http, json"))
        }
        Dialect::Vegeta => {
            Failed::from(anyhow!("format \"{format}\" isn't one of [http, json]")).into()
        }
    }
}

/// When hits begin; `replay` gives the moments of a file.
fn load(
    typed: &ParsedArgs<AttackFlags>,
    replay: impl Fn(&str) -> Result<Shape, CommandError>,
) -> Result<Load, CommandError> {
    let flags = &typed.flags;
    let rate = match (flags.rate, typed.dialect) {
        (ParsedRate::Rate(rate), _) => Some(rate),
        // Vegeta takes the word and goes on with its default.
        (ParsedRate::Infinity, Dialect::Vegeta) => Some(Rate::per_second(50)),
        (ParsedRate::Infinity | ParsedRate::AsFastAsPossible, _) => None,
    };
    let max_in_flight = flags.max_workers;
    if let Some(text) = &flags.shape {
        let shape = match Shape::parse(text, rate) {
            Ok(ShapeSpec::Shape(shape)) => shape,
            Ok(ShapeSpec::ReplayFile(path)) => replay(&path)?,
            Err(error) => return Err(usage_error(format!("flag -shape: {error}"))),
        };
        if matches!(shape, Shape::Linear { .. }) && flags.duration == Nanos::ZERO {
            return Err(usage_error("-shape=linear needs a -duration to ramp over"));
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
fn replay(path: &str) -> Result<Shape, CommandError> {
    let bytes = input::read_whole(path)?;
    let (shape, problems) = Replay::from_lines(&String::from_utf8_lossy(&bytes));
    match problems.first() {
        None => Ok(shape),
        Some(first) => {
            let more = match problems.len() {
                1 => String::new(),
                n => format!(" (and {} more)", n - 1),
            };
            Err(Failed { code: ExitCode::Input, error: anyhow!("{path}: {first}{more}") }.into())
        }
    }
}

/// The body of targets without one.
fn body(flags: &AttackFlags) -> Result<Arc<[u8]>, Failed> {
    match &flags.body {
        Some(path) => {
            if input::is_stdin(path) {
                input::announce_stdin("the body");
            }
            input::read_whole(path).map(Arc::from)
        }
        None => Ok(Arc::from([])),
    }
}

/// Where results go, and what is printed at the end.
fn outlets(
    typed: &ParsedArgs<AttackFlags>,
    world: &World<'_>,
) -> Result<(Option<Place>, Closing), CommandError> {
    let flags = &typed.flags;
    let output = flags.output.as_deref();
    if typed.dialect == Dialect::Vegeta {
        return Ok((Some(Place::named(output)), Closing::Nothing));
    }
    let results = match output {
        Some("none") => None,
        // Binary results are no use on a terminal, and JSON has the place to itself.
        None if world.stdout_is_terminal || flags.json => None,
        output => Some(Place::named(output)),
    };
    let taken = results == Some(Place::Stdout);
    let report = match (flags.json, taken) {
        (true, true) => {
            return Err(usage_error(
                "-json prints the report where the results go (give -output=FILE)",
            ));
        }
        (true, false) => Closing::Json,
        (false, true) => Closing::Nothing,
        (false, false) if flags.quiet => Closing::Nothing,
        (false, false) if results.is_none() || world.stdout_is_terminal => Closing::Text,
        (false, false) => Closing::Nothing,
    };
    Ok((results, report))
}

/// The form of the results.
fn encoding(typed: &ParsedArgs<AttackFlags>) -> Encoding {
    if typed.dialect == Dialect::Vegeta {
        return Encoding::Gob;
    }
    let named = typed.flags.to.as_deref().and_then(Encoding::parse);
    let by_path = || typed.flags.output.as_deref().and_then(Encoding::from_path);
    named.or_else(by_path).unwrap_or(Encoding::Arrow)
}

/// How to carry the plan out.
fn settings(typed: &ParsedArgs<AttackFlags>, world: &World<'_>) -> Result<Settings, Failed> {
    let flags = &typed.flags;
    let workers = typed.global.cpus.unwrap_or(world.cores).min(session::WORKERS_MAX);
    Ok(Settings {
        workers: as_usize(workers),
        io: flags.io,
        pin: flags.pin,
        real_time: flags.real_time,
        tick: flags.tick,
        timeout: Some(flags.timeout).filter(|timeout| *timeout > Nanos::ZERO),
        keepalive: flags.keepalive,
        protocol: match (flags.h2c, flags.http2) {
            (true, _) => Protocol::PriorKnowledge,
            (false, true) => Protocol::Alpn,
            (false, false) => Protocol::Http1,
        },
        streams: flags.streams.map_or(usize::MAX, as_usize),
        pipeline: as_usize(flags.pipeline.unwrap_or(1)),
        redirects: u32::try_from(flags.redirects).map_or(Redirects::Keep, Redirects::Follow),
        chunked: flags.chunked,
        capture: capture(typed),
        head: match typed.dialect {
            Dialect::Native => HeadStyle::Native,
            Dialect::Vegeta => HeadStyle::Go,
        },
        head_bytes: None,
        connections: as_usize(flags.connections),
        max_connections: Some(as_usize(flags.max_connections)).filter(|&max| max > 0),
        local_addrs: flags.local_addrs.clone(),
        unix_socket: flags.unix_socket.as_ref().map(Into::into),
        connect_to: flags.connect_to.clone(),
        resolvers: flags.resolvers.clone(),
        dns_ttl: match flags.dns_ttl {
            None => DnsTtl::Never,
            Some(Nanos::ZERO) => DnsTtl::Forever,
            Some(ttl) => DnsTtl::For(ttl),
        },
        tls: tls(typed)?,
        proxy: proxy(flags, world),
        rows: true,
        report_first_failure: false,
        ..Settings::default()
    })
}

fn as_usize(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

/// What of a response is kept. Vegeta keeps everything and counts what it kept.
fn capture(typed: &ParsedArgs<AttackFlags>) -> Capture {
    let flags = &typed.flags;
    match (typed.dialect, flags.max_body) {
        (Dialect::Native, given) => Capture {
            body_max: given
                .map_or(0, |size| size.unwrap_or(Capture::BODY_MAX))
                .min(Capture::BODY_MAX),
            count_kept_only: false,
            headers: if flags.keep_headers {
                CapturedHeaders::All
            } else {
                CapturedHeaders::Nothing
            },
        },
        (Dialect::Vegeta, Some(Some(size))) => Capture {
            body_max: size.min(Capture::BODY_MAX),
            count_kept_only: true,
            headers: CapturedHeaders::All,
        },
        (Dialect::Vegeta, _) => Capture {
            body_max: Capture::BODY_MAX,
            count_kept_only: false,
            headers: CapturedHeaders::All,
        },
    }
}

fn tls(typed: &ParsedArgs<AttackFlags>) -> Result<TlsSettings, Failed> {
    let flags = &typed.flags;
    let read = |flag: &str, path: &String| match typed.dialect {
        Dialect::Native => input::read_whole(path)
            .map_err(|failed| failed.error)
            .with_context(|| format!("flag -{flag}"))
            .or_exit(ExitCode::Input),
        Dialect::Vegeta if path.is_empty() => Err(anyhow!("bad certificate").into()),
        Dialect::Vegeta => input::read_whole(path).map_err(|failed| {
            let (text, before) = (failed.to_string(), format!("error opening {path}: "));
            anyhow!(text.strip_prefix(&before).unwrap_or(&text).to_owned()).into()
        }),
    };
    let key = flags.key.as_ref().or(flags.cert.as_ref());
    Ok(TlsSettings {
        root_certs_pem: flags
            .root_certs
            .iter()
            .map(|path| read("root-certs", path))
            .collect::<Result<_, _>>()?,
        cert_pem: flags.cert.as_ref().map(|path| read("cert", path)).transpose()?,
        key_pem: key.map(|path| read("key", path)).transpose()?,
        insecure: flags.insecure,
        session_tickets: flags.session_tickets,
        ..TlsSettings::default()
    })
}

/// The proxies the environment names; capital letters first.
fn proxy(flags: &AttackFlags, world: &World<'_>) -> ProxySettings {
    let variable = |name: &str| {
        let lower = || (world.variable)(&name.to_lowercase());
        (world.variable)(name).filter(|value| !value.is_empty()).or_else(lower)
    };
    ProxySettings {
        http: variable("HTTP_PROXY").filter(|value| !value.is_empty()),
        https: variable("HTTPS_PROXY").filter(|value| !value.is_empty()),
        no_proxy: variable("NO_PROXY").unwrap_or_default(),
        headers: Arc::new(flags.proxy_headers.clone()),
    }
}
