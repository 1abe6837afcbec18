//! Labelled runs, read from results and from other programs' tables of times.

use std::fs::File;
use std::io::{Read, Seek};

use anyhow::anyhow;
use cli::{CommandError, ExitCode, ExitError, Interrupts, usage_error};
use metrics::{Batch, Histogram, Summary};
use results::{Detail, Item, Reader, Selection, Table, names_column};

use super::operand::{Column, Operand, RowTime};
use crate::dialect::ReadRules;

/// All runs of a label, in the order given.
#[derive(Debug)]
pub(super) struct Label {
    /// The label.
    pub(super) label: String,
    /// The runs, one a file.
    pub(super) runs: Vec<Run>,
}

/// One file.
#[derive(Debug)]
pub(super) struct Run {
    /// Its name with the column.
    pub(super) name: String,
    /// The times asked for.
    pub(super) times: Histogram,
    /// The figures of a results file; another program's table has none.
    pub(super) summary: Option<Box<Summary>>,
}

impl Label {
    /// What it is called in a picture of bars: the only file needs no label, its bar does.
    pub(super) fn shown(&self) -> &str {
        if self.label.is_empty() { &self.runs[0].name } else { &self.label }
    }

    /// The times of its runs.
    pub(super) fn times(&self) -> Vec<Histogram> {
        self.runs.iter().map(|run| run.times.clone()).collect()
    }
}

/// Bytes of a file in which its header line is looked for.
const HEADER_MAX: u64 = 64 << 10;

/// Reads every operand, and gives the labels in the order they were first named, with the first damage of an input, which
/// ended the reading of that input. What came before damage counts.
pub(super) fn load(operands: &[Operand]) -> Result<(Vec<Label>, Option<ExitError>), CommandError> {
    let interrupts = Interrupts::watch()?;
    let mut labels: Vec<Label> = Vec::new();
    let mut damage = None;
    for operand in operands {
        let run = match table_of(operand)? {
            Some((file, column)) => read_table(file, column, operand)?,
            None => read_results(operand, &interrupts, &mut damage)?,
        };
        match labels.iter_mut().find(|label| label.label == operand.label) {
            Some(label) => label.runs.push(run),
            None => labels.push(Label { label: operand.label.clone(), runs: vec![run] }),
        }
    }
    let none = labels.iter().all(|label| label.runs.iter().all(|run| run.times.count() == 0));
    match damage {
        Some(failed) if none => Err(failed.into()),
        damage => Ok((labels, damage)),
    }
}

/// The file, rewound, where its first line names the column asked for.
fn table_of(operand: &Operand) -> Result<Option<(impl Read + use<>, &Column)>, CommandError> {
    let Some(column) = operand.column.as_ref().filter(|_| !cli::input::is_stdin(&operand.file))
    else {
        return Ok(None);
    };
    // A file that cannot be opened is reported where results are opened.
    let Ok(mut file) = File::open(&operand.file) else { return Ok(None) };
    let mut begin = Vec::new();
    let looked = file
        .try_clone()
        .and_then(|first| stdx::decompressed(first).take(HEADER_MAX).read_to_end(&mut begin));
    if looked.is_err() || !names_column(&begin, &column.name) {
        return Ok(None);
    }
    if column.unit.is_none() {
        let (file, name) = (&operand.file, &column.name);
        return Err(usage_error(format!(
            "{file}:{name} needs its unit: {name}[s], {name}[ms], {name}[us] or {name}[ns]"
        )));
    }
    file.rewind().map_err(|error| unread(operand, &error))?;
    Ok(Some((stdx::decompressed(file), column)))
}

fn unread(operand: &Operand, error: &dyn std::fmt::Display) -> ExitError {
    ExitError { code: ExitCode::Results, error: anyhow!("{operand}: {error}") }
}

fn read_table(file: impl Read, column: &Column, operand: &Operand) -> Result<Run, CommandError> {
    let unit = column.unit.expect("it was asked for with its unit");
    let failed = |error| unread(operand, &error);
    let mut table = Table::open(file, &column.name, unit).map_err(failed)?;
    let mut times = Histogram::default();
    while let Some(time) = table.next_time().map_err(failed)? {
        times.record(time);
    }
    if table.skipped() > 0 {
        let skipped = table.skipped();
        cli::eprint_line(&format!(
            "brunt plot: {operand}: {} without a time left out",
            stdx::counted(skipped, "row")
        ));
    }
    Ok(Run { name: operand.to_string(), times, summary: None })
}

fn read_results(
    operand: &Operand,
    interrupts: &Interrupts,
    damage: &mut Option<ExitError>,
) -> Result<Run, CommandError> {
    let files = std::slice::from_ref(&operand.file);
    let inputs = cli::open_results(files, interrupts, cli::INTERRUPT_GRACE)?;
    let name = operand.column.as_ref().map_or("response", |column| column.name.as_str());
    let Some(time) = RowTime::parse(name) else {
        return Err(usage_error(format!(
            "{operand}: \"{name}\" is neither a column in its first line nor a time of a request (expected {})",
            RowTime::NAMES
        )));
    };
    let unreadable = |error| (ReadRules::NATIVE.unreadable)(&error);
    let mut reader = Reader::open(inputs).map_err(unreadable)?;
    let mut selection = Selection::of(&operand.selector);
    let (mut batch, mut times, mut summary) =
        (Batch::default(), Histogram::default(), Box::new(Summary::new()));
    loop {
        match reader.next(&mut batch) {
            Ok(Some(Item::Hits)) => {
                if let Some(selection) = &mut selection {
                    selection.retain(&mut batch, reader.targets());
                }
                summary.add(&batch);
                batch.samples.iter().for_each(|sample| times.record(time.of(sample)));
            }
            Ok(Some(Item::Generator { .. } | Item::Server(_) | Item::Assertion { .. })) => {}
            Ok(None) => break,
            Err(error) => {
                damage.get_or_insert(unreadable(error));
                break;
            }
        }
    }
    for loss in reader.losses() {
        cli::eprint_line(&format!("brunt plot: {loss}"));
    }
    if time != RowTime::Response && reader.detail() == Detail::StartAndEnd {
        return Err(
            unread(operand, &"this format records only when requests began and ended").into()
        );
    }
    Ok(Run { name: operand.to_string(), times, summary: Some(summary) })
}
