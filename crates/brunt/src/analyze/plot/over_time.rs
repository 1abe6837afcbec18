//! Latency over time, read batch by batch.

use cli::{
    CommandError, ExitError, Interrupts, ParsedArgs, eprint_line, open_results, usage_error,
};
use metrics::Batch;
use report::{BandBuilder, PlotBuilder};
use results::{Item, Reader, Selection};

use super::chart::{Chart, ChartAndDamage, title};
use super::flags::PlotFlags;
use super::operand::Operand;
use crate::dialect::ReadRules;

/// Latency over time, a series per attack and outcome.
pub(super) fn over_time(
    typed: &ParsedArgs<PlotFlags>,
    operands: &[Operand],
) -> Result<ChartAndDamage, CommandError> {
    if let Some(operand) = operands.iter().find(|operand| operand.column.is_some()) {
        return Err(usage_error(format!(
            "{operand}: a plot over time takes response times only (give -percentiles, -histogram, -overlay or -bars)"
        )));
    }
    let threshold = usize::try_from(typed.flags.threshold).unwrap_or(usize::MAX);
    let rules = ReadRules::of(typed.dialect);
    let mut builder = PlotBuilder::new(threshold).map_err(|error| (rules.bad_threshold)(&error))?;
    let title = title(&typed.flags, rules.plot_title);
    if operands.len() >= rules.bands_from {
        return bands(rules, title, operands);
    }
    let take = |batch: &Batch, reader: &Reader, number: usize| {
        builder.add(batch, reader.targets(), &operands[number].label);
    };
    let damage = for_each_input(rules, operands, take)?;
    Ok((Chart::Figure(builder.finish(title)), damage))
}

/// Many runs: a band for each label.
fn bands(
    rules: &ReadRules,
    title: &str,
    operands: &[Operand],
) -> Result<ChartAndDamage, CommandError> {
    let mut builder = BandBuilder::default();
    let take = |batch: &Batch, reader: &Reader, number: usize| {
        let Operand { label, file, .. } = &operands[number];
        // A file without a label has its name for one.
        let label = (label != file).then_some(label.as_str());
        builder.add(number, label, batch, reader.targets());
    };
    let damage = for_each_input(rules, operands, take)?;
    Ok((Chart::Figure(builder.finish(title)), damage))
}

/// Reads one input after the other, each with its number. What came before damage counts; the first damage is given back,
/// unless nothing came at all.
fn for_each_input(
    rules: &ReadRules,
    operands: &[Operand],
    mut take: impl FnMut(&Batch, &Reader, usize),
) -> Result<Option<ExitError>, CommandError> {
    let interrupts = Interrupts::watch()?;
    let (mut batch, mut rows, mut damage) = (Batch::default(), 0, None);
    for (number, Operand { file, selector, .. }) in operands.iter().enumerate() {
        let file = std::slice::from_ref(file);
        let inputs = open_results(file, &interrupts, cli::INTERRUPT_GRACE)?;
        let unreadable = |error| (rules.unreadable)(&error);
        let mut reader = Reader::open(inputs).map_err(unreadable)?;
        let mut selection = Selection::of(selector);
        loop {
            match reader.next(&mut batch) {
                Ok(Some(Item::Hits)) => {
                    rows += batch.samples.len();
                    if let Some(selection) = &mut selection {
                        selection.retain(&mut batch, reader.targets());
                    }
                    take(&batch, &reader, number);
                }
                Ok(Some(Item::Generator { .. } | Item::Server(_) | Item::Assertion { .. })) => {}
                Ok(None) => break,
                Err(error) => {
                    damage = damage.or(Some(unreadable(error)));
                    break;
                }
            }
        }
        for loss in reader.losses() {
            eprint_line(&format!("brunt plot: {loss}"));
        }
    }
    match damage {
        Some(failed) if rows == 0 => Err(failed.into()),
        damage => Ok(damage),
    }
}
