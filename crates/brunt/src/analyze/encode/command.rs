//! `encode`: results in any format in, one format out, row by row as they come.

use std::io::Write;

use anyhow::anyhow;
use cli::{
    CommandError, ExitCode, ExitError, Interrupts, Invocation, Output, Replacement, TerminalWriter,
    usage_error,
};
use metrics::tally::Assertion;
use metrics::{Batch, Generator, Summary, Verdict};
use recordings::Generators;
use results::{Bodies, Encoding, Format, Item, ReadError, Reader, StreamInfo, WriteError, Writer};

use super::flags::{ENCODE, EncodeFlags};
use crate::dialect::ReadRules;

/// Whether the rows of inputs may have no body. Vegeta too makes an empty one of CSV's empty column.
fn bodies_of(reader: &Reader) -> Bodies {
    let are_csv = reader.forms().iter().all(|form| *form == Encoding::Csv);
    if are_csv { Bodies::Present } else { Bodies::MayBeMissing }
}

/// Encodes the inputs.
pub(crate) fn run(invocation: &Invocation) -> Result<ExitCode, CommandError> {
    let typed = invocation.parse(ENCODE)?;
    let rules = ReadRules::of(typed.dialect);
    let format = format(&typed.flags, rules)?;
    let encoding = format.encoding;
    let interrupts = Interrupts::watch()?;
    let inputs = cli::open_results(&typed.operands, &interrupts, cli::INTERRUPT_GRACE)?;
    let mut reader = Reader::open(inputs).map_err(|error| (rules.unreadable)(&error))?;
    let place = Output::named(typed.flags.output.as_deref());
    place.spares("-output", &typed.operands)?;
    let info = StreamInfo {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        detail: reader.detail(),
        has_tags: reader.has_tags(),
        bodies: bodies_of(&reader),
        ..StreamInfo::default()
    };
    let to_terminal = place == Output::Stdout && cli::stdout_is_terminal();
    if to_terminal && !is_text(encoding) {
        return Err(usage_error(format!(
            "{} is binary and cannot go to a terminal (give -output=FILE)",
            encoding.name()
        )));
    }
    let destination = Destination::open(&place, &typed.operands)?;
    let sink = destination.sink(&place)?;
    // A server chose part of what the rows hold.
    let sink = if to_terminal { Box::new(TerminalWriter::new(sink)) } else { sink };
    let opened = results::writer(format, sink, &info);
    let mut copied = CopySummary::of(encoding);
    let done = opened.and_then(|writer| copy(&mut reader, writer, &mut copied));
    match done {
        Ok(Err(error)) => {
            destination.discard(&place, "an input is damaged");
            return Err((rules.unreadable)(&error).into());
        }
        // Of a file it was read as far as the signal.
        Ok(Ok(())) if interrupts.seen() > 0 && destination.is_whole() => {
            destination.discard(&place, "it was interrupted");
            return Ok(ExitCode::Failure);
        }
        Ok(Ok(())) => {}
        // The reader of a pipe has seen what it wanted.
        Err(WriteError::ClosedPipe) => return Ok(ExitCode::Ok),
        Err(error) => return Err(ExitError::from(anyhow!("{place}: {error}")).into()),
    }
    destination.publish(&place)?;
    copied.warn(encoding);
    Ok(ExitCode::Ok)
}

/// How the copy gets its name.
enum Destination {
    /// It is written as it comes: to standard output, or while the inputs come from pipes (`attack | encode`).
    AsItComes,
    /// It has its name when it is whole: a damaged input costs no file that was there.
    Whole(Replacement),
}

impl Destination {
    fn open(place: &Output, inputs: &[String]) -> Result<Self, ExitError> {
        let is_file = |path: &String| std::fs::metadata(path).is_ok_and(|meta| meta.is_file());
        let are_files = !inputs.is_empty() && inputs.iter().all(is_file);
        let replacement = if are_files { place.replacement()? } else { None };
        Ok(replacement.map_or(Self::AsItComes, Self::Whole))
    }

    fn sink(&self, place: &Output) -> Result<Box<dyn Write + Send>, ExitError> {
        match self {
            Self::AsItComes => place.open(),
            Self::Whole(replacement) => {
                Ok(Box::new(replacement.handle().map_err(|error| place.unwritten(&error))?))
            }
        }
    }

    fn publish(self, place: &Output) -> Result<(), ExitError> {
        match self {
            Self::AsItComes => Ok(()),
            Self::Whole(file) => file.publish().map_err(|error| place.unwritten(&error)),
        }
    }

    const fn is_whole(&self) -> bool {
        matches!(self, Self::Whole(_))
    }

    /// The copy is not whole: what was there stays.
    fn discard(self, place: &Output, reason: &str) {
        if self.is_whole() {
            cli::eprint_line(&format!(
                "brunt encode: {place} is not written: {reason} (without -output, rows go to standard output as they are read)"
            ));
        }
    }
}

/// The format to write: `-to`, else the output's ending where it may choose, else JSON.
fn format(flags: &EncodeFlags, rules: &ReadRules) -> Result<Format, CommandError> {
    let named = flags.to.as_deref().map(rules.encoding).transpose()?;
    if !rules.ending_chooses {
        return Ok(named.unwrap_or(Encoding::Json).into());
    }
    let output = Output::named(flags.output.as_deref());
    Ok(session::format_of("-output", &output, named, Encoding::Json)?)
}

const fn is_text(encoding: Encoding) -> bool {
    matches!(encoding, Encoding::Csv | Encoding::Json)
}

/// What was copied, as far as not every format keeps it.
#[derive(Debug, Default)]
struct CopySummary {
    /// Rows of the server's side.
    observed: u64,
    /// Gates, and a script's thresholds, checks and metrics.
    assertions: u64,
    /// One stream has one generator: later records replace earlier ones, so those of several inputs are added up.
    generators: Generators,
    /// The rows, for the verdict, where the format cannot hold what it is made from.
    summary: Option<Box<Summary>>,
    /// What is missing in the inputs.
    losses: Vec<String>,
}

impl CopySummary {
    fn of(encoding: Encoding) -> Self {
        let summary = (!encoding.is_native()).then(|| Box::new(Summary::new()));
        Self { summary, ..Self::default() }
    }

    /// Prints what is missing in the inputs, and what the format has no room for: rows, and a bad verdict.
    fn warn(&self, encoding: Encoding) {
        let Some(summary) = &self.summary else {
            for loss in &self.losses {
                cli::eprint_line(&format!("brunt encode: {loss}"));
            }
            return;
        };
        let format = encoding.name();
        let asserted = "gates, thresholds, checks and metrics";
        let kinds = [(self.observed, "the server's side"), (self.assertions, asserted)];
        for (count, what) in kinds.into_iter().filter(|(count, _)| *count > 0) {
            let rows = stdx::counted(count, "row");
            cli::eprint_line(&format!(
                "brunt encode: {rows} of {what} left out: {format} cannot hold them"
            ));
        }
        let generator = self.generators.merged();
        let verdict = Verdict::new(summary, generator.as_ref(), &self.losses);
        if !verdict.is_valid() {
            cli::eprint_line(&format!(
                "brunt encode: {format} cannot hold the verdict, and a report of the copy will not know it: {verdict}"
            ));
        }
    }

    /// The last word of a native copy: inputs that are not whole make none that is.
    fn last_record(&self) -> Option<Generator> {
        if self.losses.is_empty() {
            return None;
        }
        let merged = self.generators.merged().unwrap_or_default();
        // Of a record without workers it counts for nothing that it has not finished.
        Some(Generator { finished: false, workers: merged.workers.max(1), ..merged })
    }
}

/// Copies every row; a read error ends the copy after what came before it was written.
fn copy(
    reader: &mut Reader,
    mut writer: Box<dyn Writer>,
    copied: &mut CopySummary,
) -> Result<Result<(), ReadError>, WriteError> {
    let mut batch = Batch::default();
    let read = loop {
        match reader.next(&mut batch) {
            Ok(Some(Item::Hits)) => {
                if let Some(summary) = &mut copied.summary {
                    summary.add(&batch);
                }
                writer.batch(&batch, reader.targets())?;
                // Every batch at once, so that `attack | encode | jq` is live.
                writer.flush()?;
            }
            Ok(Some(Item::Generator { input, generator })) => {
                copied.generators.note(input, *generator);
                if let Some(merged) = copied.generators.merged() {
                    writer.generator(&merged)?;
                }
            }
            Ok(Some(Item::Server(row))) => {
                copied.observed += 1;
                writer.server(&row)?;
            }
            Ok(Some(Item::Assertion { assertion, at, .. })) => {
                // How the run was made is no figure of it.
                let is_result = !matches!(*assertion, Assertion::Provenance(_));
                copied.assertions += u64::from(is_result);
                writer.assertion(&assertion, at)?;
            }
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    copied.losses.extend(reader.losses().iter().cloned());
    copied.losses.extend(read.as_ref().err().map(ToString::to_string));
    if let Some(record) = copied.last_record() {
        writer.generator(&record)?;
    }
    writer.finish()?;
    Ok(read)
}
