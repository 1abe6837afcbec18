//! A recording as a HAR, as Chrome writes it: pages, requests with bodies, answers decoded, messages of WebSockets.

mod content;
mod entry;
mod places;
mod search;
mod secrets;
mod spelling;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use serde_json::{Map, Value, json};
use stdx::Nanos;

use crate::exchange::{Exchange, Mark};
use crate::recording::Record;
use content::Budget;
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

/// What a HAR has in another form than it should.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HarLosses {
    /// Bodies that are as they came, or in part, since they cannot be decoded or become too long.
    pub undecoded: u64,
    /// Secrets that are hidden in their own places, and not looked for in other texts: there are too many, or they are too long.
    pub unsearched: u64,
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
) -> io::Result<HarLosses> {
    let cover = match secrets {
        Secrets::Hidden => Cover::of(record),
        Secrets::Shown => Cover::default(),
    };
    let creator = json!({ "name": CREATOR, "version": version });
    write!(out, "{{\"log\":{{\"version\":\"1.2\",\"creator\":{creator},\"pages\":")?;
    write!(out, "{},\"entries\":[", pages(record, &cover))?;
    let decoding = Budget::default();
    for (at, exchange) in record.exchanges.iter().enumerate() {
        let mut members = entry::members(record, exchange, &cover, &decoding);
        members.insert("pageref".into(), page_of(&record.marks, exchange.started));
        out.write_all(if at > 0 { b",\n{" } else { b"\n{" })?;
        write_members(out, &members)?;
        write_messages(out, record, exchange, &cover)?;
        out.write_all(b"}")?;
    }
    out.write_all(b"\n]}}\n")?;
    Ok(HarLosses { undecoded: decoding.cut(), unsearched: cover.unsearched() })
}

fn write_members(out: &mut impl Write, members: &Map<String, Value>) -> io::Result<()> {
    for (at, (name, value)) in members.iter().enumerate() {
        out.write_all(if at > 0 { b"," } else { b"" })?;
        serde_json::to_writer(&mut *out, name)?;
        out.write_all(b":")?;
        serde_json::to_writer(&mut *out, value)?;
    }
    Ok(())
}

/// Writes the messages one by one: as one value, a million small ones take a gigabyte.
fn write_messages(
    out: &mut impl Write,
    record: &Record,
    exchange: &Exchange,
    cover: &Cover,
) -> io::Result<()> {
    if exchange.messages.is_empty() {
        return Ok(());
    }
    out.write_all(b",\"_webSocketMessages\":[")?;
    for (at, message) in exchange.messages.iter().enumerate() {
        out.write_all(if at > 0 { b",\n" } else { b"" })?;
        serde_json::to_writer(&mut *out, &entry::message(record, message, cover))?;
    }
    out.write_all(b"]")
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
