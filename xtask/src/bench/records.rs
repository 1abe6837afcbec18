//! How fast `report` reads results: about five million records, made by giving the same results file many times. brunt reads its
//! own format and Vegeta's gob; Vegeta, where it is here, its gob.

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
    let said = process::capture(&setting.dir, brunt, &["report", "-type=json", &native])?;
    let once = parse::report(&said).context("brunt report -type=json")?.requests.max(1);
    let gob = setting.dir.join("written.gob").to_string_lossy().into_owned();
    let output = format!("-output={gob}");
    process::capture(&setting.dir, brunt, &["encode", "-to=gob", &output, &native])?;

    let copies = usize::try_from(RECORDS.div_ceil(once)).unwrap_or(1);
    let vegeta = process::find("vegeta").map(|path| path.to_string_lossy().into_owned());
    let mut readers = vec![("brunt, native", brunt, &native), ("brunt, gob", brunt, &gob)];
    readers.extend(vegeta.as_deref().map(|program| ("vegeta, gob", program, &gob)));

    let mut table = format!(
        "## Reading {:.1} million records ({copies} × {once})\n\n\
         | reader | million records/s | CPU s | peak RSS MiB | file bytes/record |\n|---|--:|--:|--:|--:|\n",
        (once * copies as u64) as f64 / 1e6
    );
    for (name, program, file) in readers {
        let bytes = fs::metadata(file)?.len() as f64 / once as f64;
        table += &row(name, setting, (program, file), (copies, once), bytes)?;
    }
    Ok(table)
}

fn row(
    name: &str,
    setting: &Setting,
    (program, file): (&str, &str),
    (copies, once): (usize, u64),
    bytes: f64,
) -> Result<String> {
    let mut words = vec![program.to_owned(), "report".to_owned(), "-type=json".to_owned()];
    words.extend(std::iter::repeat_n(file.to_owned(), copies));
    let (mut speeds, mut cpus, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let measured = measure::run(&setting.dir, &words, LIMIT)?;
        let records = parse::report(&measured.output).context("report -type=json")?.requests;
        anyhow::ensure!(records == once * copies as u64, "{name} read {records} records");
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
