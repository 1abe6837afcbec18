//! The load of other tools' command lines: what they ask for becomes a plan and settings like any other, is carried out by the
//! same engine, and told in their layout.

pub(crate) mod ab;
pub(crate) mod command_line;
mod hey;
mod oha;
mod perfer;
#[cfg(test)]
mod tests;
mod wrk;

use std::io;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::sync::Arc;
use std::time::Duration;

use engine::{HeadStyle, HttpVersion, Protocol, Redirects, Settings};
use metrics::{Batch, Generator};
use report::{Offered, PerferStyle, Seen, WrkStyle};
use session::{
    Deadline, DeadlineKind, Observer, ObserverError, OnCutOff, ResultsFile, RunFigures, Session,
    SessionOptions, StopPolicy,
};
use stdx::{Distribution, Nanos};
use wire::url::Url;
use workload::arrival::{Rate, Shape};
use workload::{Load, Plan, Target, Targets};

use crate::command::attack::WORKERS_MAX;
use crate::dialect::ResultsOption;
use crate::exit_code::Failed;
use crate::input::{self, Interrupts};
use crate::output::{self, Outlet, Place};

/// What a command line asks for.
#[derive(Debug)]
pub(crate) struct Asked {
    /// What to offer.
    pub(crate) plan: Plan,
    /// How to carry it out.
    pub(crate) settings: Settings,
    /// How long after the plan's end, or an interrupt, requests under way are waited for; `None` waits for them.
    pub(crate) grace: Option<Duration>,
    /// How to tell of it.
    pub(crate) layout: Layout,
    /// Where.
    pub(crate) place: Place,
    /// What to say on standard error before it begins, a line each.
    pub(crate) notes: Vec<String>,
    /// The server must take a connection, or nothing is begun; says how that is told, and with which code it ends.
    pub(crate) probe: Option<Probe>,
}

/// How a server that takes no connection is told of: host, service, what is wrong.
pub(crate) type Probe = fn(&str, &str, &io::Error) -> Refusal;

/// How a run is told of.
#[derive(Debug)]
pub(crate) enum Layout {
    /// As wrk, and wrk2, tell.
    Wrk(Offered, WrkStyle),
    /// As perfer tells.
    Perfer(Offered, PerferStyle),
    /// As hey tells.
    Hey,
    /// As hey does with `-o csv`, while it goes on.
    HeyCsv,
    /// Our own text.
    Text,
    /// Our own JSON.
    Json,
    /// Not at all.
    Quiet,
}

impl Layout {
    /// Those of wrk and perfer know what was cut off; ours would call it failed.
    fn on_cut_off(&self) -> OnCutOff {
        match self {
            Self::Wrk(..) | Self::Perfer(..) | Self::Hey | Self::HeyCsv => OnCutOff::Counted,
            Self::Text | Self::Json | Self::Quiet => OnCutOff::LeftOut,
        }
    }
}

/// Why nothing is sent: the process ends with this code after these words.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The exit code.
    pub(crate) code: u8,
    /// For standard output, its last line ended.
    pub(crate) stdout: String,
    /// For standard error.
    pub(crate) stderr: String,
}

/// Reads a command line of the tool of this name.
///
/// # Errors
/// It is wrong, or asks for help.
///
/// # Panics
/// No such tool is spoken.
pub(crate) fn ask(name: &str, args: &[String]) -> Result<Asked, Refusal> {
    (tool(name).ask)(args)
}

/// Whether such a command line would be taken, as far as its words tell: no file is read.
///
/// # Errors
/// It is wrong, or asks for help.
///
/// # Panics
/// No such tool is spoken.
pub(crate) fn check(name: &str, args: &[String]) -> Result<(), Refusal> {
    (tool(name).check)(args)
}

fn tool(name: &str) -> &'static Tool {
    TOOLS.iter().find(|tool| tool.name == name).expect("a dialect has a reader")
}

/// The tools that are spoken.
#[cfg(test)]
pub(crate) fn names() -> Vec<&'static str> {
    TOOLS.iter().map(|tool| tool.name).collect()
}

/// A tool that is spoken.
struct Tool {
    name: &'static str,
    /// Reads its command line.
    ask: fn(&[String]) -> Result<Asked, Refusal>,
    /// The same as far as the words tell.
    check: fn(&[String]) -> Result<(), Refusal>,
}

/// The tools, by name.
const TOOLS: [Tool; 5] = [
    Tool { name: "hey", ask: hey::ask, check: hey::check },
    Tool { name: "oha", ask: oha::ask, check: oha::check },
    Tool { name: "perfer", ask: perfer::ask, check: perfer::check },
    // Theirs name no files.
    Tool { name: "wrk", ask: wrk::ask, check: |args| wrk::ask(args).map(drop) },
    Tool { name: "wrk2", ask: wrk::ask_two, check: |args| wrk::ask_two(args).map(drop) },
];

/// How long a probe waits for a connection.
const PROBE: Duration = Duration::from_secs(10);

/// Takes a connection and drops it, where the tool does so before it begins.
///
/// # Errors
/// There is none to be had.
pub(crate) fn probe(asked: &Asked) -> Result<(), Refusal> {
    let Some(told) = asked.probe else { return Ok(()) };
    let target = &asked.plan.targets.list()[0];
    let Ok(url) = Url::parse(&target.url) else { return Ok(()) };
    let service = match url.authority.rsplit_once(':') {
        Some((_, port)) if !port.ends_with(']') => port.to_owned(),
        _ => target.url.split(':').next().unwrap_or_default().to_owned(),
    };
    let connect = |url: &Url| -> io::Result<()> {
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        for address in (url.host.as_str(), url.port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, PROBE) {
                Ok(_) => return Ok(()),
                Err(error) => last = error,
            }
        }
        Err(last)
    };
    connect(&url).map_err(|error| told(&url.host, &service, &error))
}

/// What the system says, without the number; of a name that nobody knows, why.
fn reason(error: &io::Error) -> String {
    let text = input::system_text(error);
    text.trim_start_matches("failed to lookup address information: ").to_owned()
}

/// Carries it out and tells of it; the results go to a file as well, where one is named.
///
/// # Errors
/// It could not be started, or its report or results not be written.
pub(crate) fn carry_out(asked: &Asked, results: Option<ResultsOption>) -> Result<(), Failed> {
    let results = results.map(ResultsFile::of_option).transpose()?;
    let mut outlet = asked.place.open_for_documents()?;
    let interrupts = Interrupts::watch()?;
    asked.notes.iter().for_each(|note| output::complain(note));
    if let Layout::Wrk(offered, _) = &asked.layout {
        outlet.write(report::wrk_head(offered).as_bytes())?;
    }
    let mut figures = RunFigures::new(asked.layout.on_cut_off()).with_phases();
    let mut rows = matches!(asked.layout, Layout::HeyCsv).then(HeyCsv::start).transpose()?;
    let options = SessionOptions { results, stop: stop(asked), ..SessionOptions::new(&interrupts) };
    let outcome = Session::start(asked.plan.clone(), &asked.settings, None, options)
        .and_then(|session| session.run(&mut [&mut figures, &mut rows]))?;
    outlet.write(document(asked, &figures, &outcome.generator).as_bytes())?;
    if figures.left_out > 0 {
        let hits = figures.left_out;
        session::warn(&format!("requests under way at the end, in no figure: {hits}"));
    }
    let verdict = figures.verdict(&outcome.generator);
    if !verdict.is_valid() && !matches!(asked.layout, Layout::Text | Layout::Json) {
        session::warn(&verdict.to_string());
    }
    Ok(())
}

/// When it ends: at the end of its plan, so long as requests under way may take.
fn stop(asked: &Asked) -> StopPolicy {
    let after = asked.plan.duration.map(Duration::from);
    let kind = DeadlineKind::Planned;
    let deadline = asked.grace.map(|grace| Deadline { after, grace, kind });
    StopPolicy { deadline, ..StopPolicy::default() }
}

/// The report.
fn document(asked: &Asked, figures: &RunFigures, generator: &Generator) -> String {
    let Some(phases) = &figures.phases else { return String::new() };
    let seen = Seen { summary: &figures.summary, phases, generator: Some(generator) };
    let verdict = figures.verdict(generator);
    let input = figures.input("", generator, &verdict);
    match &asked.layout {
        Layout::Wrk(offered, style) => report::wrk(&seen, offered, *style),
        Layout::Perfer(offered, style) => report::perfer(&seen, offered, style),
        Layout::Hey => report::hey(&seen),
        Layout::Text => report::text(&input),
        Layout::Json => report::json(&input),
        Layout::HeyCsv | Layout::Quiet => String::new(),
    }
}

/// Writes rows to standard output in hey's format, as they come.
struct HeyCsv {
    outlet: Outlet,
    text: String,
}

impl HeyCsv {
    /// Writes the head.
    fn start() -> Result<Self, Failed> {
        let mut outlet = Place::Stdout.open_for_documents()?;
        outlet.write(report::HEY_CSV_HEAD.as_bytes())?;
        Ok(Self { outlet, text: String::new() })
    }
}

impl Observer for HeyCsv {
    fn rows(&mut self, batch: &Batch) -> Result<(), ObserverError> {
        self.text.clear();
        report::hey_csv_rows(batch, &mut self.text);
        self.outlet.write(self.text.as_bytes()).map_err(|failed| failed.error.into())
    }
}

/// A target with exactly these header fields.
fn target(method: &str, url: &str, headers: Vec<(String, String)>, body: Vec<u8>) -> Target {
    Target {
        method: method.to_owned(),
        url: url.to_owned(),
        headers,
        body: Arc::from(body),
        weight: 1,
        name: String::new(),
    }
}

/// A plan for one target.
fn plan(target: Target, load: Load, duration: Option<Nanos>, requests: Option<u64>) -> Plan {
    Plan {
        name: String::new(),
        load,
        duration,
        warmup: Nanos::ZERO,
        think: Distribution::None,
        hits_max: requests,
        targets: Targets::new(vec![target]),
        seed: 1,
    }
}

/// `rate` requests a second, of which no more than `connections` are under way.
fn open(rate: f64, connections: u64) -> Load {
    let rate = rate.clamp(1e-6, 1e9);
    let (hits, per) = if rate.fract() == 0.0 {
        (rate as u64, Nanos::SECOND)
    } else {
        (1000, Nanos::from_secs_f64(1000.0 / rate))
    };
    let shape = Shape::constant(Rate { hits, per });
    Load::Open { shape, max_in_flight: Some(connections) }
}

/// Settings that send what the target says and nothing else, over so many kept-alive connections.
fn settings(workers: u64, connections: u64) -> Settings {
    let connections = usize::try_from(connections).unwrap_or(usize::MAX);
    Settings {
        workers: workers.clamp(1, WORKERS_MAX) as usize,
        keepalive: true,
        protocol: Protocol::Http1,
        streams: 1,
        head: HeadStyle::Exact(HttpVersion::Http11),
        timeout: None,
        redirects: Redirects::Keep,
        connections,
        max_connections: Some(connections),
        ..Settings::default()
    }
}

/// The cores of this machine that we may use.
fn cores() -> u64 {
    std::thread::available_parallelism().map_or(1, |n| n.get() as u64)
}
