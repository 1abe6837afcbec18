//! `report`: results in, a report out, once or every so often.

use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow};
use cli::{
    CommandError, Dialect, Document, ExitCode, ExitError, Interrupts, Invocation, Output,
    ParsedArgs, usage_error,
};
use metrics::{Batch, By, GateFigures, Gates, TargetRows, Verdict};
use recordings::{ClockShift, clock_shift};
use report::perfer::PerferStyle;
use report::wrk::WrkStyle;
use report::{Buckets, BucketsError, Input, Measurement, Offered};
use results::{Item, ReadAhead, Reader};
use session::OnInvalid;
use stdx::Nanos;

use super::figures::{FigureOptions, Figures};
use super::flags::{REPORT, ReportFlags};
use super::parts;
use crate::dialect::ReadRules;

/// What a report looks like.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Json(Option<Buckets>),
    Hist(Buckets),
    Hdrplot,
    Html,
    Markdown,
    Junit,
    OpenMetrics,
    LoadPerformance,
    Ab,
    ToolLayout(ToolLayout),
}

impl Kind {
    /// The bounds between which response times are counted, if any were given.
    const fn buckets(&self) -> Option<&Buckets> {
        match self {
            Self::Json(buckets) => buckets.as_ref(),
            Self::Hist(buckets) => Some(buckets),
            _ => None,
        }
    }
}

/// Another tool's layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ToolLayout {
    Wrk,
    Perfer,
    Hey,
    K6Like,
}

/// What a report's command line means.
#[derive(Debug)]
struct ReportConfig {
    dialect: Dialect,
    kind: Kind,
    by: Option<By>,
    selector: metrics::Selector,
    /// The selector as it was typed.
    selected: String,
    every: Option<Duration>,
    place: Output,
    title: String,
    /// The inputs, as they were named; empty: standard input.
    inputs: Vec<String>,
    on_invalid: OnInvalid,
    gates: Gates,
    /// By how much the server's times are moved.
    server_shift: ClockShift,
}

/// Vegeta's words for a report that its plot command makes.
const DEPRECATED: &str =
    "The plot reporter has been deprecated and succeeded by the vegeta plot command";

/// What clears the screen before a report of `-every`.
const CLEAR: &str = "\u{1b}[2J\u{1b}[0;0H";

/// Reports.
pub(crate) fn run(invocation: &Invocation) -> Result<ExitCode, CommandError> {
    let typed = invocation.parse(REPORT)?;
    let meant = resolve(&typed)?;
    let interrupts = Interrupts::watch()?;
    let rules = ReadRules::of(meant.dialect);
    let inputs = cli::open_results(&typed.operands, &interrupts, cli::INTERRUPT_GRACE)?;
    let reader = Reader::open(inputs);
    let reader = match reader {
        Ok(reader) => reader,
        // Interrupted before the first row: there is nothing to report.
        Err(_) if interrupts.seen() > 0 => interrupts.end_by_signal(),
        Err(error) => return Err((rules.unreadable)(&error).into()),
    };
    let mut figures = Figures::new(meant.figure_options(&reader));
    let reader = ReadAhead::start(reader).context("starting a thread that reads");
    let mut reader = reader.map_err(ExitError::from)?;
    let read = read(&mut reader, &mut figures, &meant)?;
    figures.losses.extend(reader.losses().iter().cloned());
    figures.warn_of_nothing(&meant.selected);
    if let Err(failed) = &read
        && interrupts.seen() == 0
    {
        figures.losses.push(failed.to_string());
    }
    if read.is_err() && figures.summary.requests == 0 && interrupts.seen() == 0 {
        return Ok(read.map(|()| ExitCode::Ok)?);
    }
    figures.keep_what_was_measured(&reader);
    figures.name_agents();
    if meant.has_conclusion() && interrupts.seen() == 0 {
        figures.parts = parts::read(&meant.inputs, &meant.selector, &interrupts);
    }
    if figures.asserted.more() > 0 {
        let more = stdx::counted(figures.asserted.more(), "row");
        cli::eprint_line(&format!(
            "brunt report: {more} of gates, thresholds, checks and metrics are left out"
        ));
    }
    let outcomes = figures.judge_gates();
    let verdict = figures.verdict();
    meant.place.write(meant.document(&figures, &verdict).as_bytes())?;
    // These have no room for a verdict, and no figure goes out without a bad one.
    if matches!(meant.kind, Kind::Hist(_) | Kind::Hdrplot | Kind::Ab | Kind::ToolLayout(_))
        && meant.dialect == Dialect::Native
        && !verdict.is_valid()
    {
        cli::eprint_line(&format!("brunt report: {verdict}"));
    }
    if interrupts.seen() == 0 {
        read?;
    }
    Ok(meant.on_invalid.conclude(session::conclude_gates(&outcomes), &verdict))
}

/// Reads to the end, or to the first damage, which is the inner error.
fn read(
    reader: &mut ReadAhead,
    figures: &mut Figures,
    meant: &ReportConfig,
) -> Result<Result<(), ExitError>, ExitError> {
    let mut batch = Batch::default();
    let mut due = meant.every.map(|every| Instant::now() + every);
    loop {
        match reader.next(&mut batch) {
            Ok(Some(Item::Hits)) => figures.add(&mut batch, reader.targets()),
            Ok(Some(Item::Generator { input, generator })) => figures.note(input, *generator),
            Ok(Some(Item::Server(row))) => figures.server.add(*row),
            // The results of a script are of the whole run.
            Ok(Some(Item::Assertion { assertion, .. })) if figures.leaves_out(&assertion) => {}
            Ok(Some(Item::Assertion { input, mut assertion, .. })) => {
                if meant.inputs.len() > 1 {
                    assertion.name_run(meant.inputs.get(input).map_or("", String::as_str));
                }
                figures.asserted.add(*assertion);
            }
            Ok(None) => return Ok(Ok(())),
            Err(error) => return Ok(Err((ReadRules::of(meant.dialect).unreadable)(&error))),
        }
        if let (Some(every), Some(at)) = (meant.every, due)
            && Instant::now() >= at
        {
            figures.keep_what_was_measured(reader);
            let verdict = figures.verdict_so_far();
            let document = format!("{CLEAR}{}", meant.document(figures, &verdict));
            meant.place.write(document.as_bytes())?;
            // Kept to the beat: rows come in beats too, and a late one must not cost the next report.
            due = Some((at + every).max(Instant::now()));
        }
    }
}

impl ReportConfig {
    /// What is counted of a reader's rows.
    fn figure_options(&self, reader: &Reader) -> FigureOptions<'_> {
        let gates = (!self.gates.is_empty()).then(|| self.gates.clone());
        FigureOptions {
            selector: &self.selector,
            by: self.by.as_ref(),
            timeline: self.has_conclusion(),
            ab: self.kind == Kind::Ab,
            traffic: self.shows_traffic(),
            phases: matches!(self.kind, Kind::ToolLayout(_)),
            server_shift: self.server_shift,
            gates: gates.map(|gates| match reader.has_tags() {
                true => GateFigures::of_tagged_rows(gates),
                false => GateFigures::new(gates),
            }),
            buckets: self.kind.buckets(),
            detail: reader.detail(),
            is_native: self.dialect == Dialect::Native,
        }
    }

    /// What is made of the rows has a conclusion, which needs to know how response times went over the run.
    fn has_conclusion(&self) -> bool {
        let has = matches!(self.kind, Kind::Text | Kind::Json(_) | Kind::Html | Kind::Markdown);
        has && self.dialect == Dialect::Native
    }

    /// What is made of the rows shows the load generator's traffic.
    fn shows_traffic(&self) -> bool {
        let shown = matches!(self.kind, Kind::Text | Kind::Json(_) | Kind::Html);
        shown && self.dialect == Dialect::Native
    }

    /// The report as text.
    fn document(&self, figures: &Figures, verdict: &Verdict) -> String {
        let summary = &figures.summary;
        if self.dialect == Dialect::Vegeta {
            match &self.kind {
                Kind::Text => return report::vegeta::text(summary),
                Kind::Json(_) => return report::vegeta::json(summary, figures.buckets.as_ref()),
                _ => {}
            }
        }
        let input = Input {
            title: &self.title,
            summary,
            verdict,
            generator: figures.merged.as_ref(),
            losses: &figures.losses,
            groups: figures.groups.as_ref(),
            by_target: figures.target_rows.as_ref().and_then(TargetRows::groups),
            attacked: figures.attacked.as_ref(),
            timeline: figures.timeline.as_ref(),
            traffic: figures.traffic.as_ref(),
            buckets: figures.buckets.as_ref(),
            server: figures.server_side(),
            selected: &self.selected,
            parts: &figures.parts,
            assertions: figures.asserted.list(),
        };
        match &self.kind {
            Kind::Text => report::text(&input),
            Kind::Json(_) => report::json(&input),
            Kind::Hist(_) => figures.buckets.as_ref().map_or_else(String::new, report::hist),
            Kind::Hdrplot if self.dialect == Dialect::Vegeta => report::vegeta::hdrplot(summary),
            Kind::Hdrplot => report::hdrplot(summary),
            Kind::Html => report::html(&input),
            Kind::Markdown => report::markdown(&input),
            Kind::Junit => report::junit(&input),
            Kind::OpenMetrics => report::open_metrics(&input),
            Kind::LoadPerformance => report::load_performance(&input),
            Kind::Ab => figures.ab.as_ref().map_or_else(String::new, |ab| ab.text(&input)),
            Kind::ToolLayout(peer) => peer.document(figures),
        }
    }
}

impl ToolLayout {
    /// The report in this layout.
    fn document(self, figures: &Figures) -> String {
        let Some(phases) = &figures.phases else { return String::new() };
        let (summary, generator) = (&figures.summary, figures.merged.as_ref());
        let seen = Measurement { summary, phases, generator };
        let offered = Offered::guessed(&figures.url, &seen);
        match self {
            Self::Wrk => {
                let style = WrkStyle { latency: true, ..WrkStyle::default() };
                report::wrk::head(&offered) + &report::wrk::text(&seen, &offered, style)
            }
            Self::Perfer => report::perfer::text(&seen, &offered, &PerferStyle::default()),
            Self::Hey => report::hey::text(&seen),
            Self::K6Like => report::k6_like::text(&seen),
        }
    }
}

/// Validates what was typed.
fn resolve(typed: &ParsedArgs<ReportFlags>) -> Result<ReportConfig, CommandError> {
    let flags = &typed.flags;
    let place = Output::named(flags.output.as_deref());
    place.spares("-output", &typed.operands)?;
    let kind = kind(typed)?;
    Ok(ReportConfig {
        dialect: typed.dialect,
        kind,
        by: flags.by.clone(),
        selector: flags.selector.clone(),
        selected: flags.selector.to_string(),
        every: Some(flags.every).filter(|every| *every > Nanos::ZERO).map(Duration::from),
        place,
        title: typed.operands.join(", "),
        inputs: typed.operands.clone(),
        on_invalid: flags.on_invalid,
        gates: flags.gates.clone(),
        server_shift: clock_shift(flags.server_offset, &typed.operands)?,
    })
}

/// What a report may be written as by its file's ending.
const DOCUMENTS: [(Document, &str); 5] = [
    (Document::Html, "html"),
    (Document::Json, "json"),
    (Document::Markdown, "markdown"),
    (Document::Text, "text"),
    (Document::Junit, "junit"),
];

/// The type's name: `-type`, else `-json`, else natively what the output's ending stands for, else text.
fn type_name(typed: &ParsedArgs<ReportFlags>) -> Result<&str, CommandError> {
    let flags = &typed.flags;
    match flags.kind.as_str() {
        "" if flags.json => return Ok("json"),
        "" => {}
        name => return Ok(name),
    }
    if typed.dialect != Dialect::Native {
        return Ok("text");
    }
    let known = DOCUMENTS.map(|(document, _)| document);
    let found = Document::by_ending("-output", flags.output.as_deref(), &known)
        .map_err(|wrong| usage_error(format!("{wrong} (or give -type)")))?;
    let named = DOCUMENTS.into_iter().find(|(document, _)| Some(*document) == found);
    Ok(named.map_or("text", |(_, name)| name))
}

/// The report's kind, in Vegeta's words where it is none.
fn kind(typed: &ParsedArgs<ReportFlags>) -> Result<Kind, CommandError> {
    let flags = &typed.flags;
    let name = type_name(typed)?;
    let wrong = |text: String| match typed.dialect {
        Dialect::Native => usage_error(text),
        Dialect::Vegeta => ExitError::from(anyhow!(text)).into(),
    };
    let native = typed.dialect == Dialect::Native;
    let buckets = |text: &str| {
        let words = |error: BucketsError| if native { error.to_string() } else { error.go() };
        Buckets::parse(text).map_err(|error| wrong(words(error)))
    };
    match name {
        "text" => Ok(Kind::Text),
        "json" => Ok(Kind::Json(flags.buckets.as_deref().map(buckets).transpose()?)),
        "hist" => match &flags.buckets {
            Some(text) => Ok(Kind::Hist(buckets(text)?)),
            None if native => {
                Err(wrong("bad buckets: give -type='hist[0,1ms,10ms]' or -buckets".to_owned()))
            }
            None => Err(wrong("bad buckets: ''".to_owned())),
        },
        "hdrplot" => Ok(Kind::Hdrplot),
        "html" if native => Ok(Kind::Html),
        "markdown" if native => Ok(Kind::Markdown),
        "junit" if native => Ok(Kind::Junit),
        "metrics" if native => Ok(Kind::OpenMetrics),
        "load-performance" if native => Ok(Kind::LoadPerformance),
        "ab" if native => Ok(Kind::Ab),
        "wrk" if native => Ok(Kind::ToolLayout(ToolLayout::Wrk)),
        "perfer" if native => Ok(Kind::ToolLayout(ToolLayout::Perfer)),
        "hey" if native => Ok(Kind::ToolLayout(ToolLayout::Hey)),
        "k6-like" if native => Ok(Kind::ToolLayout(ToolLayout::K6Like)),
        "plot" if native => Err(wrong("plot reports are made by the plot command".to_owned())),
        "plot" => Err(wrong(DEPRECATED.to_owned())),
        "hist[" if !native => Err(wrong("bad buckets: '['".to_owned())),
        _ if name.starts_with("hist[") || !native && name.starts_with("hist") => {
            Ok(Kind::Hist(buckets(&name[4..])?))
        }
        _ if native => Err(wrong(format!(
            "flag -type: unknown report type \"{name}\" (expected text, json, hist[0,1ms,…], hdrplot, html, \
             markdown, junit, metrics, load-performance, ab, wrk, perfer, hey or k6-like)"
        ))),
        _ if name.len() < 4 => Err(wrong(format!("invalid report type: {name}"))),
        _ => Err(wrong(format!("unknown report type: \"{name}\""))),
    }
}
