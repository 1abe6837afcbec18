//! How fast `report` reads results: one file of about five million records, made of many copies of one. brunt reads
//! its own format and Vegeta's gob; Vegeta, where it is here, its gob.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::process;

use super::figures::Spread;
use super::tools::Setting;
use super::{measure, parse};

/// Records to read in each run.
const RECORDS: u64 = 5_000_000;
/// Runs of each reader.
const RUNS: usize = 3;
/// What one run may take.
const LIMIT: Duration = Duration::from_secs(120);

/// Measures the readers over the results file `native`; gives a table in Markdown.
///
/// # Errors
/// The results cannot be read or encoded.
pub(super) fn run(setting: &Setting, native: &Path) -> Result<String> {
    let native = native.to_string_lossy().into_owned();
    let brunt = setting.brunt.as_str();
    let text = process::capture(&setting.dir, brunt, &["report", "-type=json", &native])?;
    let once = parse::report(&text).context("brunt report -type=json")?.requests.max(1);
    let copies = usize::try_from(RECORDS.div_ceil(once)).unwrap_or(1);
    let records = once * copies as u64;
    let encode = |to: &str, inputs: &[&str]| -> Result<String> {
        let file = setting.dir.join(format!("records.{to}")).to_string_lossy().into_owned();
        let flags = [format!("-to={to}"), format!("-output={file}")];
        let mut words = vec!["encode", &flags[0], &flags[1]];
        words.extend(inputs);
        process::capture(&setting.dir, brunt, &words)?;
        Ok(file)
    };
    let native = encode("arrow", &vec![native.as_str(); copies])?;
    let gob = encode("gob", &[&native])?;

    let vegeta = process::find("vegeta").map(|path| path.to_string_lossy().into_owned());
    let mut readers = vec![("brunt, native", brunt, &native), ("brunt, gob", brunt, &gob)];
    readers.extend(vegeta.as_deref().map(|program| ("vegeta, gob", program, &gob)));

    let mut table = format!(
        "## Reading {:.1} million records from one file\n\n\
         | reader | million records/s | CPU s | peak RSS MiB | file bytes/record |\n|---|--:|--:|--:|--:|\n",
        records as f64 / 1e6
    );
    for (name, program, file) in readers {
        let bytes = fs::metadata(file)?.len() as f64 / records as f64;
        table += &row(name, setting, (program, file), records, bytes)?;
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

fn row(
    name: &str,
    setting: &Setting,
    (program, file): (&str, &str),
    expected: u64,
    bytes: f64,
) -> Result<String> {
    let words = ["report", "-type=json", file].map(str::to_owned);
    let words: Vec<String> = std::iter::once(program.to_owned()).chain(words).collect();
    let (mut speeds, mut cpus, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let measured = measure::run(&setting.dir, &words, LIMIT)?;
        let records = parse::report(&measured.output).context("report -type=json")?.requests;
        anyhow::ensure!(records == expected, "{name} read {records} records");
        speeds.push(records as f64 / 1e6 / measured.wall.as_secs_f64());
        cpus.push(measured.cpu.as_secs_f64());
        sizes.push(measured.rss_bytes as f64 / f64::from(1 << 20));
    }
    let show = |values: &[f64]| Spread::of(values).map_or(String::new(), |spread| spread.show(2));
    Ok(format!(
        "| {name} | {} | {} | {} | {bytes:.0} |\n",
        show(&speeds),
        show(&cpus),
        show(&sizes)
    ))
}
