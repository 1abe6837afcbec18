//! A recording as a HAR, as Chrome writes it: pages, requests with bodies, answers decoded, messages of WebSockets.

mod content;
mod entry;
mod secrets;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use serde_json::{Value, json};
use stdx::Nanos;

use crate::exchange::Mark;
use crate::recording::Record;
use entry::time;
use secrets::Cover;

/// The program that a HAR names as its writer. Crate `import` knows by it that the titles of pages are people's marks.
const CREATOR: &str = "brunt record";
/// The title of the page that has the requests before the first mark.
const START: &str = "start";

/// Whether a HAR has the secrets that passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Secrets {
    /// Cookies, credentials, passwords and tokens are replaced, each by a text of its own wherever it stands.
    #[default]
    Hidden,
    /// Everything is as it passed.
    Shown,
}

/// Writes a recording as HAR 1.2. `version` is that of this program.
///
/// # Errors
/// It cannot be written.
pub fn write_har(
    record: &Record,
    secrets: Secrets,
    version: &str,
    out: &mut impl Write,
) -> io::Result<()> {
    let cover = match secrets {
        Secrets::Hidden => Cover::of(record),
        Secrets::Shown => Cover::default(),
    };
    let creator = json!({ "name": CREATOR, "version": version });
    write!(out, "{{\"log\":{{\"version\":\"1.2\",\"creator\":{creator},\"pages\":")?;
    write!(out, "{},\"entries\":[", pages(record, &cover))?;
    for (at, exchange) in record.exchanges.iter().enumerate() {
        let mut value = entry::value(record, exchange, &cover);
        value["pageref"] = page_of(&record.marks, exchange.started);
        out.write_all(if at > 0 { b",\n" } else { b"\n" })?;
        serde_json::to_writer(&mut *out, &value)?;
    }
    out.write_all(b"\n]}}\n")
}

/// A page for each mark, and one for what came before the first.
fn pages(record: &Record, cover: &Cover) -> Value {
    let begin = Mark { at: Nanos::ZERO, name: START.to_owned() };
    let marks: &[Mark] = &record.marks;
    let all = if marks.is_empty() { None } else { Some(begin) }.into_iter().chain(marks.to_vec());
    all.enumerate()
        .map(|(number, mark)| {
            json!({
                "id": page_id(number),
                "title": cover.text(&mark.name),
                "startedDateTime": time(record, mark.at),
                "pageTimings": {},
            })
        })
        .collect()
}

/// The page of what began at this time; none where there are no marks.
fn page_of(marks: &[Mark], started: Nanos) -> Value {
    let passed = marks.iter().take_while(|mark| mark.at <= started).count();
    if marks.is_empty() { Value::Null } else { page_id(passed).into() }
}

fn page_id(number: usize) -> String {
    format!("page_{number}")
}
