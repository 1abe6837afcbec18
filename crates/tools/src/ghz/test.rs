//! `GhzTest`: the calls that a command line asks for, with its files read and the server asked for definitions where none has them.

use std::collections::VecDeque;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use calls::{
    CallData, CallPlan, CallTargets, Coding, DefinitionSource, Server, Template, parse_metadata,
};
use cli::input;
use engine::{
    AllProxy, AnswerForm, Capture, CapturedHeaders, HeadStyle, LazyTargets, ProxySettings,
    Settings, TlsSettings,
};
use serde_json::Value;
use session::{Deadline, DeadlineKind, StopPolicy, WORKERS_MAX, go_words};
use stdx::Nanos;
use workload::{Plan, Targets};

use super::options::GhzOptions;
use super::schedule;
use super::workers::{WorkerSchedule, Workers};
use crate::config::cores;

/// ghz's defaults.
const TOTAL: u64 = 200;
const TIMEOUT: Nanos = Nanos::from_secs(20);

/// The calls that a command line asks for.
pub(super) struct GhzTest {
    pub(super) plan: Plan,
    pub(super) settings: Settings,
    pub(super) lazy: Option<LazyTargets>,
    pub(super) stop: StopPolicy,
    /// The data and the metadata as documents, for the report.
    pub(super) data: Value,
    pub(super) metadata: Value,
    /// The numbers of workers after the start.
    pub(super) workers: VecDeque<Workers>,
}

impl GhzTest {
    /// Reads what the options name.
    ///
    /// # Errors
    /// An option or a file is wrong, or the server does not describe itself.
    pub(super) fn new(options: &GhzOptions) -> Result<Self> {
        let (host, call) = needed(options)?;
        let schedule = WorkerSchedule::of(options)?;
        let load = schedule::load(options, &schedule)?;
        let server = server(host, options)?;
        let mut settings = settings(options, &schedule)?;
        server.apply(&mut settings);
        let definitions = calls::load(&source(options)?, &server, &settings)?;
        let method = calls::find_method(&definitions, call)?;
        if method.is_server_stream() {
            settings.answers = AnswerForm::Messages;
        }
        let data = text_of(options, "data", "data-file")?.unwrap_or_default();
        let metadata = text_of(options, "metadata", "metadata-file")?.unwrap_or_default();
        let plan = CallPlan {
            server,
            method,
            data: call_data(options, &data)?,
            metadata: templates(options, &metadata)?,
            timeout: Some(options.time("timeout").unwrap_or(TIMEOUT)),
            workers: schedule.most(),
            seed: 1,
            stream_messages: Some(options.count("stream-call-count", 0)).filter(|n| *n > 0),
            coding: match options.is_on("enable-compression") {
                true => Coding::Gzip,
                false => Coding::Identity,
            },
        };
        let (list, lazy) = match plan.targets()? {
            CallTargets::InTurn(list) => (list, None),
            CallTargets::Own(own) => (Vec::new(), Some(own)),
        };
        let duration = options.time("duration").or(options.time("max-duration"));
        let total = options.count("total", TOTAL);
        let hits_max = options.time("duration").is_none().then_some(total);
        let plan = Plan { duration, hits_max, ..Plan::new(load, Targets::new(list), 1) };
        let (data, metadata) = (document(&data), document(&metadata));
        let (stop, workers) = (stop(options), schedule.later().into());
        Ok(Self { plan, settings, lazy, stop, data, metadata, workers })
    }
}

/// The host and the method, which must be there.
pub(super) fn needed(options: &GhzOptions) -> Result<(&str, &str)> {
    let Some(call) = options.text("call") else {
        bail!("\"call\" is required (--call pkg.Svc/Method)")
    };
    let Some(host) = options.text("host") else { bail!("host is required (HOST:PORT)") };
    Ok((host, call))
}

fn server(host: &str, options: &GhzOptions) -> Result<Server> {
    let with_port = match host.rsplit_once(':') {
        Some(_) => host.to_owned(),
        // Go's client takes the port of the scheme.
        None => format!("{host}:443"),
    };
    let plaintext = options.is_on("insecure");
    let name = options.text("cname").filter(|_| !plaintext);
    let authority = options.text("authority").or(name).map(str::to_owned);
    Ok(Server { plaintext, authority, ..Server::parse(&with_port)? })
}

fn source(options: &GhzOptions) -> Result<DefinitionSource> {
    let list = |name: &str| options.text(name).map(str::to_owned).into_iter().collect();
    let metadata = options.text("reflect-metadata").map(parse_metadata).transpose()?;
    Ok(DefinitionSource {
        protos: list("proto"),
        import_paths: import_paths(options),
        protosets: list("protoset"),
        reflect_metadata: metadata.unwrap_or_default(),
    })
}

/// The folders that the .proto is looked for in: those given, its own, and this one.
pub(super) fn import_paths(options: &GhzOptions) -> Vec<String> {
    let Some(proto) = options.text("proto") else { return Vec::new() };
    let given = options.text("import-paths").unwrap_or_default();
    let mut paths: Vec<String> = given
        .split(',')
        .map(str::trim)
        .filter(|path| !path.is_empty())
        .map(str::to_owned)
        .collect();
    let own = Path::new(proto).parent().map(|folder| folder.to_string_lossy().into_owned());
    paths.extend(own.filter(|folder| !folder.is_empty()));
    paths.push(".".to_owned());
    paths
}

fn settings(options: &GhzOptions, schedule: &WorkerSchedule) -> Result<Settings> {
    let read = |name: &str| {
        let path = options.text(name);
        path.map(|path| input::read_whole(path).map_err(|failed| anyhow!("--{name}: {failed}")))
            .transpose()
    };
    let users = schedule.most();
    let connections = options.count("connections", 1).clamp(1, users);
    let share = usize::try_from(users.div_ceil(connections)).unwrap_or(usize::MAX);
    let connections = usize::try_from(connections).unwrap_or(usize::MAX);
    // Calls that are counted are shared among threads; users come and go within one.
    let threads = if schedule.changes() { 1 } else { threads(options) };
    Ok(Settings {
        workers: threads,
        load_may_change: schedule.changes(),
        head: HeadStyle::Plain,
        answers: AnswerForm::Message,
        capture: Capture { headers: CapturedHeaders::Call, ..Capture::default() },
        timeout: Some(options.time("timeout").unwrap_or(TIMEOUT)),
        failure_text: go_words::FAILURE_TEXT,
        // Connections that are as many as may stay open would come and go with users.
        connections: connections.saturating_add(usize::from(schedule.changes())),
        max_connections: Some(connections),
        streams: if options.is_on("async") { usize::MAX } else { share },
        proxy: ProxySettings::of_environment(AllProxy::Ignored, |name| std::env::var(name).ok()),
        tls: TlsSettings {
            root_certs_pem: read("cacert")?.into_iter().collect(),
            cert_pem: read("cert")?,
            key_pem: read("key")?,
            insecure: options.is_on("skipTLS"),
            ..TlsSettings::default()
        },
        ..Settings::default()
    })
}

/// The threads that make the calls: as many as there are cores, or as `--cpus` allows.
fn threads(options: &GhzOptions) -> usize {
    let most = cores().clamp(1, WORKERS_MAX);
    match options.count("cpus", 0) {
        0 => most as usize,
        cpus => cpus.min(most) as usize,
    }
}

/// When the run is cut: with `close` and `ignore` at the end of its time, else never.
fn stop(options: &GhzOptions) -> StopPolicy {
    let waits = options.text("duration-stop") == Some("wait");
    let after = options.time("duration").or(options.time("max-duration")).filter(|_| !waits);
    let kind = DeadlineKind::Planned;
    let deadline =
        after.map(|after| Deadline { after: Some(after.into()), grace: Duration::ZERO, kind });
    StopPolicy { deadline, ..StopPolicy::default() }
}

/// The text of an option, or of the file that another names.
fn text_of(options: &GhzOptions, name: &str, file: &str) -> Result<Option<String>> {
    let path = match (options.text(name), options.text(file)) {
        (Some("@"), _) => "-",
        (Some(text), _) => return Ok(Some(text.to_owned())),
        (None, Some(path)) => path,
        (None, None) => return Ok(None),
    };
    let bytes = input::read_text(path).map_err(|failed| anyhow!("--{file}: {failed}"))?;
    Ok(Some(String::from_utf8(bytes).with_context(|| format!("{path} is no UTF-8"))?))
}

fn call_data(options: &GhzOptions, text: &str) -> Result<CallData> {
    if let Some(path) = options.text("binary-file") {
        return Ok(CallData::Binary(
            input::read_whole(path).map_err(|failed| anyhow!("{failed}"))?,
        ));
    }
    if options.is_on("binary") {
        return Ok(CallData::Binary(text.as_bytes().to_vec()));
    }
    let text = if text.is_empty() { "{}" } else { text };
    Ok(CallData::Json(template(options, text)?))
}

fn templates(options: &GhzOptions, text: &str) -> Result<Vec<(String, Template)>> {
    let fields = if text.is_empty() { Vec::new() } else { parse_metadata(text)? };
    let with = |(name, value): (String, String)| Ok((name, template(options, &value)?));
    fields.into_iter().map(with).collect()
}

fn template(options: &GhzOptions, text: &str) -> Result<Template> {
    match options.is_on("disable-template-data") {
        true => Ok(Template::literal(text)),
        false => Template::parse(text),
    }
}

/// A text as a document; the text itself where it is none.
fn document(text: &str) -> Value {
    match text {
        "" => Value::Null,
        text => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
    }
}
