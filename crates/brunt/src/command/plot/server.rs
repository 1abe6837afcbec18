//! `-server`: client and server in one picture, from a run's file and a watcher's, or one that has both.

use metrics::{Batch, Summary, Timeline};
use recordings::{ServerRows, clock_shift};
use results::{Item, Reader};

use super::operand::Operand;
use super::{Damaged, Drawn, title};
use crate::command::{CommandError, encode, usage_error};
use crate::dialect::ParsedArgs;
use crate::flags::results::PlotFlags;
use crate::input::{self, Interrupts};
use crate::output;

/// What the files say together.
struct Both {
    summary: Summary,
    timeline: Timeline,
    server: ServerRows,
}

/// Reads all operands as one and draws them.
pub(super) fn draw(
    typed: &ParsedArgs<PlotFlags>,
    operands: &[Operand],
) -> Result<Damaged, CommandError> {
    if let Some(operand) = operands.iter().find(|operand| operand.column.is_some()) {
        return Err(usage_error(format!(
            "{operand}: -server draws files as they are, without a column"
        )));
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
                "{}: nothing of a server's side is in there (brunt watch writes it, and attack -watch)",
                files.join(", ")
            ))),
        };
    }
    let side = &both.server.side;
    let drawn = match typed.flags.server.as_deref() {
        Some("time") => {
            let title = title(typed, "", "Client and server over time");
            Drawn::Sheet(report::server_over_time(title, Some(&both.timeline), side))
        }
        _ => {
            if side.application().is_none() {
                output::complain(&untimed(&files));
            }
            let client = Some(&both.summary.response);
            let title = title(typed, "", "Time within which requests were served");
            Drawn::Figure(report::server_percentiles(title, client, side))
        }
    };
    Ok((drawn, damage))
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
    ) -> Result<Option<crate::exit_code::Failed>, CommandError> {
        let interrupts = Interrupts::watch()?;
        let inputs = input::open_results(files, &interrupts, typed.dialect.interrupt_grace())?;
        let unreadable = |error| encode::unreadable(&error, typed.dialect);
        let mut reader = Reader::open(inputs).map_err(unreadable)?;
        let mut batch = Batch::default();
        let damage = loop {
            match reader.next(&mut batch) {
                Ok(Some(Item::Hits)) => {
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
            output::complain(&format!("brunt plot: {loss}"));
        }
        Ok(damage)
    }
}
