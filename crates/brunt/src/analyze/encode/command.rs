//! `encode`: results in any format in, one format out, row by row as they come.

use anyhow::anyhow;
use cli::{CommandError, ExitCode, ExitError, Interrupts, Invocation, Output, usage_error};
use metrics::Batch;
use recordings::Generators;
use results::{Encoding, Item, ReadError, Reader, StreamInfo, WriteError, Writer};

use super::flags::{ENCODE, EncodeFlags};
use crate::dialect::ReadRules;

/// Encodes the inputs.
pub(crate) fn run(invocation: &Invocation) -> Result<ExitCode, CommandError> {
    let typed = invocation.parse(ENCODE)?;
    let rules = ReadRules::of(typed.dialect);
    let encoding = encoding(&typed.flags, rules)?;
    let interrupts = Interrupts::watch()?;
    let inputs = cli::open_results(&typed.operands, &interrupts, rules.interrupt_grace)?;
    let mut reader = Reader::open(inputs).map_err(|error| (rules.unreadable)(&error))?;
    let place = Output::named(typed.flags.output.as_deref());
    place.spares(&typed.operands)?;
    let info = StreamInfo {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        detail: reader.detail(),
        has_tags: reader.has_tags(),
        ..StreamInfo::default()
    };
    if encoding == Encoding::Parquet && place == Output::Stdout && cli::stdout_is_terminal() {
        return Err(usage_error(
            "parquet is binary and cannot go to a terminal (give -output=FILE)",
        ));
    }
    let opened = results::writer(encoding, place.open()?, &info);
    let mut left_out = LeftOut::default();
    let done = opened.and_then(|writer| copy(&mut reader, writer, &mut left_out));
    match done {
        Ok(read) => read.map_err(|error| (rules.unreadable)(&error))?,
        // The reader of a pipe has seen what it wanted.
        Err(WriteError::ClosedPipe) => return Ok(ExitCode::Ok),
        Err(error) => return Err(ExitError::from(anyhow!("{place}: {error}")).into()),
    }
    for loss in reader.losses() {
        cli::eprint_line(&format!("brunt encode: {loss}"));
    }
    if !encoding.is_native() {
        left_out.warn(encoding.name());
    }
    Ok(ExitCode::Ok)
}

/// The format to write: `-to`, else the output's ending where it may choose, else JSON.
fn encoding(flags: &EncodeFlags, rules: &ReadRules) -> Result<Encoding, CommandError> {
    if let Some(name) = flags.to.as_deref() {
        return (rules.encoding)(name);
    }
    let output = flags.output.as_deref().filter(|_| rules.ending_chooses);
    Ok(output.and_then(Encoding::from_path).unwrap_or(Encoding::Json))
}

/// Rows that only native formats keep.
#[derive(Debug, Default)]
struct LeftOut {
    /// Rows of the server's side.
    observed: u64,
    /// Gates, and a script's thresholds, checks and metrics.
    assertions: u64,
}

impl LeftOut {
    /// Prints how many there are.
    fn warn(&self, format: &str) {
        let asserted = "gates, thresholds, checks and metrics";
        let kinds = [(self.observed, "the server's side"), (self.assertions, asserted)];
        for (count, what) in kinds.into_iter().filter(|(count, _)| *count > 0) {
            let rows = stdx::counted(count, "row");
            cli::eprint_line(&format!(
                "brunt encode: {rows} of {what} left out: {format} cannot hold them"
            ));
        }
    }
}

/// Copies every row; a read error ends the copy after what came before it was written. `left_out` counts the rows that only
/// native formats keep.
fn copy(
    reader: &mut Reader,
    mut writer: Box<dyn Writer>,
    left_out: &mut LeftOut,
) -> Result<Result<(), ReadError>, WriteError> {
    let mut batch = Batch::default();
    // One stream has one generator: later records replace earlier ones, so those of several inputs are added up.
    let mut generators = Generators::default();
    let read = loop {
        match reader.next(&mut batch) {
            Ok(Some(Item::Hits)) => {
                writer.batch(&batch, reader.targets())?;
                // Every batch at once, so that `attack | encode | jq` is live.
                writer.flush()?;
            }
            Ok(Some(Item::Generator { input, generator })) => {
                generators.note(input, *generator);
                if let Some(merged) = generators.merged() {
                    writer.generator(&merged)?;
                }
            }
            Ok(Some(Item::Server(row))) => {
                left_out.observed += 1;
                writer.server(&row)?;
            }
            Ok(Some(Item::Assertion { assertion, at, .. })) => {
                left_out.assertions += 1;
                writer.assertion(&assertion, at)?;
            }
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    writer.finish()?;
    Ok(read)
}
