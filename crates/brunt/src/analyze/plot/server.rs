//! `-server`: client and server in one picture, from a run's file and a watcher's, or one that has both.

use cli::{CommandError, Interrupts, ParsedArgs, usage_error};
use metrics::{Batch, Summary, Timeline};
use recordings::{ServerRows, clock_shift};
use results::{Item, Reader, Selection};

use super::chart::{Chart, ChartAndDamage, title};
use super::flags::PlotFlags;
use super::operand::Operand;
use crate::dialect::ReadRules;

/// The figures of client and server, from all files.
struct Both {
    summary: Summary,
    timeline: Timeline,
    server: ServerRows,
}

/// Reads all operands as one and draws them.
pub(super) fn draw(
    typed: &ParsedArgs<PlotFlags>,
    operands: &[Operand],
) -> Result<ChartAndDamage, CommandError> {
    if let Some(operand) = operands.iter().find(|operand| operand.column.is_some()) {
        return Err(usage_error(format!("{operand}: -server takes files without :COLUMN")));
    }
    let files: Vec<String> = operands.iter().map(|operand| operand.file.clone()).collect();
    let mut both = Both {
        summary: Summary::new(),
        timeline: Timeline::new(),
        server: ServerRows::new(clock_shift(typed.flags.server_offset, &files)?),
    };
    let damage = both.read(typed, &files)?;
    if both.server.side.is_empty() {
        return match damage {
            Some(failed) => Err(failed.into()),
            None => Err(usage_error(format!(
                "{}: no rows of the server's side (brunt watch and brunt attack -watch write them)",
                files.join(", ")
            ))),
        };
    }
    let side = &both.server.side;
    let chart = match typed.flags.server.as_deref() {
        Some("time") => {
            let title = title(&typed.flags, "Client and server over time");
            Chart::Sheet(report::server::over_time(title, Some(&both.timeline), side))
        }
        _ => {
            if side.application().is_none() {
                cli::eprint_line(&untimed(&files));
            }
            let client = Some(&both.summary.response);
            let title = title(&typed.flags, "Time within which requests were served");
            Chart::Figure(report::server::percentiles(title, client, side))
        }
    };
    Ok((chart, damage))
}

/// Why the server has no curves.
fn untimed(files: &[String]) -> String {
    let files = files.join(", ");
    format!(
        "brunt plot: no log in {files} says how long requests took: only the client's times are drawn"
    )
}

impl Both {
    /// Reads to the end or to the first damage, which is given back: what came before it counts.
    fn read(
        &mut self,
        typed: &ParsedArgs<PlotFlags>,
        files: &[String],
    ) -> Result<Option<cli::ExitError>, CommandError> {
        let interrupts = Interrupts::watch()?;
        let rules = ReadRules::of(typed.dialect);
        let inputs = cli::open_results(files, &interrupts, cli::INTERRUPT_GRACE)?;
        let unreadable = |error| (rules.unreadable)(&error);
        let mut reader = Reader::open(inputs).map_err(unreadable)?;
        let mut selection = Selection::of(&typed.flags.selector);
        let mut batch = Batch::default();
        let damage = loop {
            match reader.next(&mut batch) {
                Ok(Some(Item::Hits)) => {
                    if let Some(selection) = &mut selection {
                        selection.retain(&mut batch, reader.targets());
                    }
                    self.summary.add(&batch);
                    self.timeline.add(&batch);
                }
                Ok(Some(Item::Server(row))) => self.server.add(*row),
                Ok(Some(Item::Generator { .. } | Item::Assertion { .. })) => {}
                Ok(None) => break None,
                Err(error) => break Some(unreadable(error)),
            }
        };
        for loss in reader.losses() {
            cli::eprint_line(&format!("brunt plot: {loss}"));
        }
        Ok(damage)
    }
}
