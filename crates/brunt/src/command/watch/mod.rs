//! `watch`: the server's side, once a second, to a file, as lines or as JSON, until it is interrupted.

mod clock;
mod lines;
mod tables;

use std::time::{Duration, Instant};

use anyhow::anyhow;
use cli::{
    ExitCode, ExitError, INTERRUPT_CHECK_INTERVAL, Interrupts, OpenOutput, Output, eprint_line,
    stdout_is_terminal,
};
use metrics::TargetTable;
use metrics::server::{Incident, Row};
use results::{Encoding, Sink, StreamInfo};
use session::SampleTicker;
use session::monitor_flags::monitor_config;

use self::clock::Measuring;
use self::tables::Table;
use super::{CommandError, usage_error};
use crate::dialect::Invocation;
use crate::flags::watch::{WATCH, WatchFlags};

/// What `brunt help watch` says besides the flags.
pub(super) const ABOUT: &str = "Run it on the server, or on the machine that generates the load. Samples go to -output as rows of results, which
report and plot merge by time with the results of a load test. Without -output each sample prints a line. Processes
are monitored with their descendants; a new one is found within five samples, and the end of one is reported.
Ctrl-C ends it; all samples are written by then. In attack, bench, cable and run the flags -watch, -watch-pid, …
write the same rows into the run's own results.";

/// Watches until interrupted, or for a while.
pub(super) fn run(invocation: &Invocation) -> Result<ExitCode, CommandError> {
    let typed = invocation.parse(WATCH)?;
    if let Some(extra) = typed.operands.first() {
        return Err(usage_error(format!("unexpected \"{extra}\"")));
    }
    let flags = typed.flags;
    let watching = monitor_config(&flags.watched);
    let interrupts = Interrupts::watch()?;
    let watcher = watching.watcher()?;
    let clock = flags.date.as_ref().map(|url| Measuring::start(url, &watching.settings.host));
    let mut out = Outputs::open(&flags, clock.transpose()?)?;
    let duration = flags.duration.map(Duration::from);
    let watched =
        watch(SampleTicker::new(watcher, watching.every), duration, &interrupts, &mut out);
    // What was seen is written, whatever else failed.
    let finished = out.finish();
    watched?;
    Ok(finished?)
}

/// Samples until it is interrupted, the time is over, or all readers are gone.
fn watch(
    mut ticker: SampleTicker,
    duration: Option<Duration>,
    interrupts: &Interrupts,
    out: &mut Outputs,
) -> Result<(), ExitError> {
    let until = duration.and_then(|duration| ticker.due.checked_add(duration));
    let is_over = || until.is_some_and(|until| Instant::now() >= until);
    loop {
        out.take(ticker.sample())?;
        out.load()?;
        wait(until.into_iter().fold(ticker.due, Instant::min), interrupts);
        if interrupts.seen() > 0 || is_over() || out.is_closed() {
            break;
        }
    }
    out.take(ticker.finish())
}

/// Sleeps until then, or until an interrupt is seen.
fn wait(until: Instant, interrupts: &Interrupts) {
    while interrupts.seen() == 0 {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        std::thread::sleep(left.min(INTERRUPT_CHECK_INTERVAL));
    }
}

/// Where what is seen goes.
struct Outputs {
    sink: Option<(Output, Sink)>,
    printed: Option<(Form, OpenOutput)>,
    loadavg: Option<Table>,
    requests: Option<Table>,
    /// The other machine's clock, once it is measured.
    clock: Option<Measuring>,
    /// Nothing is to be said beside what is written.
    quiet: bool,
}

/// What is printed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Lines,
    Json,
}

impl Outputs {
    /// Opens every place, before there is anything to lose.
    fn open(flags: &WatchFlags, clock: Option<Measuring>) -> Result<Self, CommandError> {
        let sink = flags.output.as_deref().map(|name| sink(name, flags)).transpose()?;
        let takes_stdout = sink.as_ref().is_some_and(|(place, _)| *place == Output::Stdout);
        if takes_stdout && flags.json {
            return Err(usage_error(
                "-json and the output cannot both go to standard output (give -output=FILE)",
            ));
        }
        let form = match flags.json {
            true => Some(Form::Json),
            false => (sink.is_none() && !flags.quiet).then_some(Form::Lines),
        };
        let outlet = |form| Ok::<_, ExitError>((form, Output::Stdout.open_for_documents()?));
        let table = |name: &Option<String>, head| {
            name.as_deref().map(|name| Table::new(name, head)).transpose()
        };
        Ok(Self {
            sink,
            printed: form.map(outlet).transpose()?,
            loadavg: table(&flags.loadavg, tables::LOADAVG)?,
            requests: table(&flags.requests, tables::REQUESTS)?,
            clock,
            quiet: flags.quiet,
        })
    }

    /// Takes what a look saw.
    fn take(&mut self, mut rows: Vec<Row>) -> Result<(), ExitError> {
        if let Some(incident) = self.clock.as_ref().and_then(Measuring::take) {
            self.clock = None;
            rows.push(offset(incident));
        }
        let shown = self.show(&rows);
        if self.printed.is_none() && !self.quiet {
            let incidents = rows.iter().filter_map(session::incident_line);
            incidents.for_each(|text| eprint_line(&format!("brunt watch: {text}")));
        }
        if let Some((_, sink)) = &self.sink {
            rows.into_iter().for_each(|row| sink.observe(row));
        }
        shown
    }

    /// Prints rows, and adds the requests among them to their table.
    fn show(&mut self, rows: &[Row]) -> Result<(), ExitError> {
        if rows.is_empty() {
            return Ok(());
        }
        if let Some(table) = &mut self.requests {
            rows.iter().filter_map(tables::request).try_for_each(|line| table.add(&line))?;
        }
        if let Some((form, outlet)) = &mut self.printed {
            let text = match form {
                Form::Lines => {
                    lines::line(&jiff::Zoned::now().strftime("%H:%M:%S").to_string(), rows)
                }
                Form::Json => rows.iter().map(|row| format!("{}\n", lines::json(row))).collect(),
            };
            outlet.write(text.as_bytes())?;
        }
        Ok(())
    }

    /// Adds the load averages of now.
    fn load(&mut self) -> Result<(), ExitError> {
        let Some(table) = &mut self.loadavg else { return Ok(()) };
        tables::loadavg(&jiff::Zoned::now()).map_or(Ok(()), |line| table.add(&line))
    }

    /// Whether writing failed, or all readers are gone.
    fn is_closed(&self) -> bool {
        let is_unread = || self.printed.as_ref().is_some_and(|(_, outlet)| outlet.is_closed());
        match &self.sink {
            Some((_, sink)) => sink.broken().is_some(),
            None => self.loadavg.is_none() && self.requests.is_none() && is_unread(),
        }
    }

    /// Writes the offset of the other machine's clock as far as it is known, and waits until all rows are written.
    fn finish(mut self) -> Result<ExitCode, ExitError> {
        let shown = match self.clock.take() {
            Some(clock) => self.take(vec![offset(clock.finish())]),
            None => Ok(()),
        };
        let Some((place, sink)) = self.sink else { return shown.map(|()| ExitCode::Ok) };
        let report = sink.finish();
        if report.observed_dropped > 0 && report.error.is_none() {
            let rows = report.observed_dropped;
            eprint_line(&format!(
                "brunt watch: {} lost: they came faster than they could be written",
                stdx::counted(rows, "row")
            ));
        }
        match report.error {
            // The reader of a pipe has seen what it wanted.
            None | Some(results::WriteError::ClosedPipe) => shown.map(|()| ExitCode::Ok),
            Some(error) => Err(anyhow!("{place}: {error}").into()),
        }
    }
}

/// Prints the clocks' offset on standard error; gives it as a row.
fn offset(incident: Incident) -> Row {
    eprint_line(&format!("brunt watch: {}: {}", incident.source, incident.what));
    Row::Incident(incident)
}

/// A sink into this file.
fn sink(name: &str, flags: &WatchFlags) -> Result<(Output, Sink), CommandError> {
    let place = Output::named(Some(name));
    let named = flags.to.as_deref().and_then(Encoding::parse);
    let format = session::format_of("-output", &place, named, Encoding::Arrow)?;
    if !format.encoding.is_native() {
        let format = format.encoding.name();
        return Err(usage_error(format!(
            "flag -output: {format} cannot hold rows of the server's side (give a .arrow or .parquet file)"
        )));
    }
    if place == Output::Stdout && stdout_is_terminal() {
        return Err(usage_error(
            "flag -output: the output is binary and cannot go to a terminal (give -output=FILE)",
        ));
    }
    let info = StreamInfo {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        epoch: session::unix_ns(),
        attack: "watch".to_owned(),
        ..StreamInfo::default()
    };
    let sink = results::writer(format, place.open()?, &info)
        .and_then(|writer| Ok(Sink::start(writer, TargetTable::default(), Sink::CAPACITY)?))
        .map_err(|error| ExitError::from(anyhow!("{place}: {error}")))?;
    Ok((place, sink))
}
