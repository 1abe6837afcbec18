//! `encode`: results in any format in, one format out, row by row as they come.

use anyhow::anyhow;
use cli::{
    CommandError, Dialect, ExitCode, ExitError, Interrupts, Invocation, OrExit, Output, ParsedArgs,
    usage_error,
};
use metrics::Batch;
use recordings::Generators;
use results::{Encoding, Item, ReadError, Reader, StreamInfo, WriteError, Writer};

use super::flags::{ENCODE, EncodeFlags};
use crate::analyze::unreadable::unreadable;

/// Encodes the inputs.
pub(crate) fn run(invocation: &Invocation) -> Result<ExitCode, CommandError> {
    let typed = invocation.parse(ENCODE)?;
    let encoding = encoding(&typed)?;
    let interrupts = Interrupts::watch()?;
    let inputs = cli::open_results(&typed.operands, &interrupts, typed.dialect.interrupt_grace())?;
    let mut reader = Reader::open(inputs).map_err(|error| unreadable(&error, typed.dialect))?;
    let place = Output::named(typed.flags.output.as_deref());
    place.spares(&typed.operands)?;
    let info = StreamInfo {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        detail: reader.detail(),
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
        Ok(read) => read.map_err(|error| unreadable(&error, typed.dialect))?,
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

/// The format to write: `-to`, else natively the output's ending, else JSON.
fn encoding(typed: &ParsedArgs<EncodeFlags>) -> Result<Encoding, CommandError> {
    let (to, output) = (typed.flags.to.as_deref(), typed.flags.output.as_deref());
    match (to, typed.dialect) {
        (None, Dialect::Native) => {
            Ok(output.and_then(Encoding::from_path).unwrap_or(Encoding::Json))
        }
        (None, Dialect::Vegeta) => Ok(Encoding::Json),
        (Some(name), Dialect::Native) => Encoding::parse(name).ok_or_else(|| {
            usage_error(format!(
                "flag -to: \"{name}\" is not one of arrow, parquet, csv, json, gob"
            ))
        }),
        (Some(name), Dialect::Vegeta) => {
            let known = Encoding::parse(name).filter(|encoding| !encoding.is_native());
            let unknown = || anyhow!("encode: unknown encoding {name:?}");
            Ok(known.ok_or_else(unknown).or_exit(ExitCode::Failure)?)
        }
    }
}

/// Rows that only native formats keep.
#[derive(Debug, Default)]
struct LeftOut {
    /// Rows of the server's side.
    observed: u64,
    /// Thresholds and checks.
    assertions: u64,
}

impl LeftOut {
    /// Says how many there are.
    fn warn(&self, format: &str) {
        let kinds =
            [(self.observed, "the server's side"), (self.assertions, "thresholds and checks")];
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
            Ok(Some(Item::Assertion { assertion, at })) => {
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
