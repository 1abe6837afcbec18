//! The report of `-g`: made of a file of results that a run has written, CSV as JMeter's dashboard reads it.

use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};

use anyhow::{Context as _, bail, ensure};
use jmeter::{SampleResult, Statistics};

use super::dashboard;

/// Makes a report of a file of results.
///
/// # Errors
/// The file cannot be read or is none of results; the folder is not empty, or cannot be written.
pub(super) fn carry_out(results: &str, folder: &str) -> anyhow::Result<()> {
    let file = File::open(results).with_context(|| format!("flag -g: opening {results}"))?;
    let statistics =
        statistics(BufReader::new(file)).with_context(|| format!("flag -g: reading {results}"))?;
    dashboard::prepare(folder)?;
    dashboard::write(folder, &statistics)
}

/// Where a file has what the report needs, by the names in its first line.
struct Columns {
    start: usize,
    elapsed: usize,
    label: usize,
    success: usize,
    message: Option<usize>,
    bytes: Option<usize>,
    sent: Option<usize>,
}

impl Columns {
    fn of(names: &[String]) -> anyhow::Result<Self> {
        let at = |name: &str| names.iter().position(|one| one == name);
        let needed = |name: &str| {
            at(name).with_context(|| {
                format!("its first line has no {name} (CSV with a header is read)")
            })
        };
        Ok(Self {
            start: needed("timeStamp")?,
            elapsed: needed("elapsed")?,
            label: needed("label")?,
            success: needed("success")?,
            message: at("responseMessage"),
            bytes: at("bytes"),
            sent: at("sentBytes"),
        })
    }

    /// The sample of a row.
    fn sample(&self, fields: &[String]) -> anyhow::Result<SampleResult> {
        let text = |at: usize| fields.get(at).map_or("", String::as_str);
        let number = |at: usize, name: &str| {
            text(at).parse::<i64>().with_context(|| format!("{name} is no number: {:?}", text(at)))
        };
        let count = |at: Option<usize>| at.and_then(|at| text(at).parse().ok()).unwrap_or(0);
        let sample = SampleResult {
            label: text(self.label).to_owned(),
            start_ms: number(self.start, "timeStamp")?,
            elapsed_ms: number(self.elapsed, "elapsed")?.max(0) as u64,
            is_success: text(self.success).eq_ignore_ascii_case("true"),
            body_bytes: count(self.bytes),
            sent_bytes: count(self.sent),
            ..SampleResult::default()
        };
        let is_transaction = self.message.is_some_and(|at| text(at).starts_with(TRANSACTION));
        Ok(if is_transaction { sample.into_transaction() } else { sample })
    }
}

/// The first words of what a transaction says in place of a message.
const TRANSACTION: &str = "Number of samples in transaction : ";
/// Bytes of a row at most: 1 MiB.
const ROW_MAX: u64 = 1 << 20;

/// What is known of each label of a file.
fn statistics(mut input: impl BufRead) -> anyhow::Result<Statistics> {
    let head = row(&mut input)?.context("it is empty")?;
    let delimiter = delimiter_of(&head);
    let columns = Columns::of(&fields(&head, delimiter))?;
    let mut statistics = Statistics::default();
    let mut number = 1_u64;
    while let Some(text) = row(&mut input)? {
        number += 1;
        if !text.trim().is_empty() {
            let sample = columns.sample(&fields(&text, delimiter));
            statistics.add(&sample.with_context(|| format!("row {number}"))?);
        }
    }
    Ok(statistics)
}

/// What stands between the first two names.
fn delimiter_of(head: &str) -> char {
    head.chars()
        .find(|letter| !letter.is_ascii_alphanumeric() && !"_\u{feff}\"".contains(*letter))
        .unwrap_or(',')
}

/// The next row: a line, and those that its quotes go on in.
fn row(input: &mut impl BufRead) -> anyhow::Result<Option<String>> {
    let (mut bytes, mut quotes) = (Vec::new(), 0);
    loop {
        let before = bytes.len();
        let room = ROW_MAX.saturating_sub(before as u64);
        let read = input.by_ref().take(room).read_until(b'\n', &mut bytes)?;
        quotes += bytes[before..].iter().filter(|byte| **byte == b'"').count();
        let is_open = quotes % 2 == 1;
        match read {
            0 if bytes.len() as u64 >= ROW_MAX => bail!("a row of more than 1 MiB"),
            0 => break,
            _ if bytes.ends_with(b"\n") && !is_open => break,
            _ => {}
        }
    }
    ensure!(!bytes.contains(&0), "it is no text");
    Ok((!bytes.is_empty()).then(|| String::from_utf8_lossy(&bytes).into_owned()))
}

/// The fields of a row; in quotes a quote is two.
fn fields(row: &str, delimiter: char) -> Vec<String> {
    let (mut all, mut field, mut is_quoted) = (Vec::new(), String::new(), false);
    let text = row.trim_start_matches('\u{feff}').trim_end_matches(['\r', '\n']);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => field.extend(letters.next()),
            '"' => is_quoted = !is_quoted,
            letter if letter == delimiter && !is_quoted => all.push(std::mem::take(&mut field)),
            letter => field.push(letter),
        }
    }
    all.push(field);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> anyhow::Result<Statistics> {
        statistics(text.as_bytes())
    }

    #[test]
    fn a_file_has_its_labels_and_their_sum() {
        let text = "timeStamp,elapsed,label,responseMessage,success,bytes,sentBytes\n\
            1000,10,a,OK,true,100,5\n1010,30,\"b, \"\"c\"\"\nd\",OK,false,50,5\r\n\
            1000,40,tx,\"Number of samples in transaction : 2, number of failing samples : 1\",false,150,10\n";
        let statistics = of(text).unwrap();
        let rows: Vec<(String, f64, f64)> = statistics
            .rows()
            .map(|(name, fields)| {
                let of = |wanted: &str| fields.iter().find(|(name, _)| *name == wanted).unwrap().1;
                (name.to_owned(), of("sampleCount"), of("errorPct"))
            })
            .collect();
        let expect = [
            ("Total", 2.0, 50.0),
            ("a", 1.0, 0.0),
            ("b, \"c\"\nd", 1.0, 100.0),
            ("tx", 1.0, 100.0),
        ];
        assert_eq!(rows, expect.map(|(name, count, errors)| (name.to_owned(), count, errors)));
        assert!(of("timeStamp;elapsed;label;success\n1;2;a;true\n").is_ok());
    }

    #[test]
    fn what_is_no_file_of_results_is_refused() {
        for (text, expect) in [
            ("", "it is empty"),
            ("a,b\n1,2\n", "no timeStamp"),
            ("<testResults>", "no timeStamp"),
            ("timeStamp,elapsed,label,success\nx,1,a,true\n", "row 2: timeStamp is no number"),
        ] {
            let error = format!("{:#}", of(text).unwrap_err());
            assert!(error.contains(expect), "{text:?}: {error}");
        }
        let long = format!("timeStamp,elapsed,label,success\n1,2,\"{}", "x".repeat(2 << 20));
        assert!(of(&long).is_err());
    }
}
