//! How fast `report` reads results: about five million records of one attack. brunt reads its own format and Vegeta's gob;
//! Vegeta, where it is here, its gob. Readers take turns.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::process;

use super::figures::{Spread, ratios};
use super::tools::Setting;
use super::{measure, parse};

/// Runs of each reader.
const RUNS: usize = 5;
/// What one run may take.
const LIMIT: Duration = Duration::from_secs(120);
/// The reader that the others are compared with.
const BASE: &str = "vegeta, gob";

/// A program and the file that it reads.
struct Reader {
    name: &'static str,
    words: Vec<String>,
    file: String,
    /// Wall time and CPU time in seconds, and the peak of memory in MiB, run by run.
    runs: Vec<[f64; 3]>,
}

impl Reader {
    fn new(name: &'static str, program: &str, file: &str) -> Self {
        let words = [program, "report", "-type=json", file].map(str::to_owned).to_vec();
        Self { name, words, file: file.to_owned(), runs: Vec::new() }
    }

    fn read(&mut self, setting: &Setting, expected: u64) -> Result<()> {
        let measured = measure::run(&setting.dir, &self.words, LIMIT)?;
        let records = parse::report(&measured.output).context("report -type=json")?.requests;
        anyhow::ensure!(records == expected, "{} read {records} records", self.name);
        let (wall, cpu) = (measured.wall.as_secs_f64(), measured.cpu.as_secs_f64());
        self.runs.push([wall, cpu, measured.rss_bytes as f64 / f64::from(1 << 20)]);
        Ok(())
    }

    fn column(&self, at: usize) -> Vec<(usize, f64)> {
        self.runs.iter().map(|run| run[at]).enumerate().collect()
    }
}

/// Makes the records, and measures the readers; gives a table in Markdown.
///
/// # Errors
/// The records cannot be made, read or encoded.
pub(super) fn run(setting: &Setting) -> Result<String> {
    let brunt = setting.brunt.as_str();
    let path = |to: &str| setting.dir.join(format!("records.{to}")).to_string_lossy().into_owned();
    let (native, gob) = (path("arrow"), path("gob"));
    let attack = setting.many_records(&native);
    measure::run(&setting.dir, &attack, LIMIT)?;
    let text = process::capture(&setting.dir, brunt, &["report", "-type=json", &native])?;
    let records = parse::report(&text).context("brunt report -type=json")?.requests;
    process::capture(&setting.dir, brunt, &["encode", "-to=gob", "-output", &gob, &native])?;
    let vegeta = process::find("vegeta").map(|path| path.to_string_lossy().into_owned());
    let mut readers =
        vec![Reader::new("brunt, native", brunt, &native), Reader::new("brunt, gob", brunt, &gob)];
    readers.extend(vegeta.as_deref().map(|program| Reader::new(BASE, program, &gob)));
    for round in 0..RUNS {
        let len = readers.len();
        for step in 0..len {
            readers[(round + step) % len].read(setting, records)?;
        }
    }
    table(&readers, records)
}

fn table(readers: &[Reader], records: u64) -> Result<String> {
    let mut table = format!(
        "## Reading {:.1} million records from one file\n\nMedian (min–max) of {RUNS} rounds; the ratios are taken within each round, against {BASE}.\n\n\
         | reader | wall s | ratio | CPU s | ratio | peak RSS MiB | file bytes/record |\n|---|--:|--:|--:|--:|--:|--:|\n",
        records as f64 / 1e6
    );
    let base = readers.iter().find(|reader| reader.name == BASE);
    for reader in readers {
        let show = |at: usize| {
            let values: Vec<f64> = reader.runs.iter().map(|run| run[at]).collect();
            Spread::of(&values).map_or_else(String::new, |spread| spread.show(2))
        };
        let ratio = |at: usize| {
            let ratios = base.map(|base| ratios(&reader.column(at), &base.column(at)));
            let spread = ratios.and_then(|ratios| Spread::of(&ratios));
            spread.map_or_else(|| "–".to_owned(), |spread| spread.show(3))
        };
        let bytes = fs::metadata(&reader.file)?.len() as f64 / records as f64;
        let cells = [show(0), ratio(0), show(1), ratio(1), show(2), format!("{bytes:.0}")];
        table += &format!("| {} | {} |\n", reader.name, cells.join(" | "));
    }
    Ok(table)
}

/// Encodes the results file `native` in each encoding, and has it read once.
///
/// # Errors
/// The results cannot be read or encoded.
pub(super) fn read_once(setting: &Setting, native: &Path) -> Result<()> {
    let native = native.to_string_lossy().into_owned();
    for encoding in ["arrow", "gob", "json", "csv"] {
        let file = setting.dir.join(format!("once.{encoding}")).to_string_lossy().into_owned();
        let flags = [format!("-to={encoding}"), format!("-output={file}")];
        process::capture(&setting.dir, &setting.brunt, &["encode", &flags[0], &flags[1], &native])?;
        process::capture(&setting.dir, &setting.brunt, &["report", &file])?;
    }
    Ok(())
}
