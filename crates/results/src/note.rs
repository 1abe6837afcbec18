//! The generator's record as JSON, for the `note` column. Unknown keys are skipped and missing ones are zero, so that
//! older and newer files read. Its histograms grow with the run, and a copy of them each second was nine tenths of a long file:
//! whole records have a `NoteWriter` write once a minute, and in between what came since the record before.

use metrics::{
    Generator, IterationCounts, IterationCourse, Landing, LogLinear, REDIRECT_HOSTS_MAX,
};
use serde_json::{Value, json};
use stdx::Nanos;

/// How often a stream has a whole record: of what is damaged or cut off, no more is lost.
const WHOLE_EVERY: Nanos = Nanos::from_secs(60);
/// What a record of changes begins with: `wall` of the record that it follows.
const CHANGES: &str = "{\"base\":";

/// The records of one stream, as they are written.
#[derive(Debug, Default)]
pub(crate) struct NoteWriter {
    last: Option<Generator>,
    /// `wall` of the last whole one.
    whole_at: Nanos,
}

impl NoteWriter {
    /// The next record: whole where a minute is over, where it is the last, and where it does not continue the one before.
    pub(crate) fn encode(&mut self, generator: &Generator) -> String {
        let is_whole = generator.finished || generator.wall >= self.whole_at + WHOLE_EVERY;
        let last = self.last.as_ref().filter(|_| !is_whole);
        let changes = last.and_then(|last| encode_changes(last, generator));
        let text = changes.unwrap_or_else(|| {
            self.whole_at = generator.wall;
            encode(generator)
        });
        self.last = Some(generator.clone());
        text
    }
}

/// The records of one stream, as they are read. A whole one replaces those before it, so that texts wait until a record is
/// asked for.
#[derive(Debug, Default)]
pub(crate) struct NoteReader {
    last: Option<Generator>,
    waiting: Vec<String>,
}

/// Records of changes that wait at most: many more than lie between two whole ones.
const WAITING_MAX: usize = 256;

impl NoteReader {
    /// Takes in the next record.
    ///
    /// # Errors
    /// As [`decode`].
    pub(crate) fn add(&mut self, text: String) -> Result<(), String> {
        if !text.starts_with(CHANGES) {
            self.waiting.clear();
        } else if self.waiting.len() >= WAITING_MAX {
            self.read_waiting()?;
        }
        self.waiting.push(text);
        Ok(())
    }

    /// Whether there is a record that was not yet asked for.
    pub(crate) fn has_new(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// The last record; `None` where there is none.
    ///
    /// # Errors
    /// It is no record, or continues one that is not there.
    pub(crate) fn last(&mut self) -> Result<Option<&Generator>, String> {
        self.read_waiting()?;
        Ok(self.last.as_ref())
    }

    /// The same, of a stream that is over.
    pub(crate) fn take(&mut self) -> Option<Generator> {
        self.last.take()
    }

    fn read_waiting(&mut self) -> Result<(), String> {
        for text in std::mem::take(&mut self.waiting) {
            self.last = Some(match text.starts_with(CHANGES) {
                true => decode_changes(self.last.take(), &text)?,
                false => decode(&text)?,
            });
        }
        Ok(())
    }
}

/// The record with its histograms, as one JSON object. Times are in nanoseconds.
#[must_use]
pub fn encode(g: &Generator) -> String {
    let mut record = encode_scalars(g);
    record["lag"] = encode_histogram(&g.lag, &g.lag.to_pairs());
    record["on_time"] = encode_histogram(&g.on_time, &g.on_time.to_pairs());
    record["iterations"] = encode_iterations(&g.iterations);
    record.to_string()
}

/// The record as what came since the `last` one; `None` where it does not continue it.
fn encode_changes(last: &Generator, g: &Generator) -> Option<String> {
    let (lag, on_time) = (g.lag.pairs_since(&last.lag)?, g.on_time.pairs_since(&last.on_time)?);
    let mut record = encode_scalars(g);
    record["lag_since"] = encode_histogram(&g.lag, &lag);
    record["on_time_since"] = encode_histogram(&g.on_time, &on_time);
    // The last record has all of it, and those before it need none.
    if g.finished {
        record["iterations"] = encode_iterations(&g.iterations);
    }
    let text = record.to_string();
    // In front, where a reader finds it without reading all of the text.
    Some(format!("{CHANGES}{},{}", last.wall.0, &text[1..]))
}

fn encode_scalars(g: &Generator) -> Value {
    json!({
        "workers": g.workers,
        "io": g.io,
        "real_time": g.real_time,
        "server_here": g.server_here,
        "tick": g.tick.0,
        "max_in_flight": g.max_in_flight,
        "users": g.users,
        "self_paced": g.self_paced,
        "rate_per_s": g.rate_per_s,
        "seed": g.seed,
        "planned": g.planned,
        "sent": g.sent,
        "warmup_hits": g.warmup_hits,
        "not_sent": g.not_sent,
        "held": g.held,
        "starved": g.starved,
        "cpu": g.cpu.0,
        "cpu_busiest": g.cpu_busiest,
        "wall": g.wall.0,
        "stalls": g.stalls,
        "stall_longest": g.stall_longest.0,
        "throttled": g.throttled.0,
        "neighbour": g.neighbour,
        "neighbour_cpu": g.neighbour_cpu.0,
        "descriptors_exhausted": g.descriptors_exhausted,
        "ports_exhausted": g.ports_exhausted,
        "pauses": g.pauses,
        "redirected": g.redirected,
        "redirect_hosts": g.redirect_hosts,
        "sent_again": g.sent_again,
        "landings": landings(&g.landings),
        "never_answered": g.never_answered,
        "connections": g.connections,
        "rows_dropped": g.rows_dropped,
        "lost_at_end": g.lost_at_end,
        "texts_cut": g.texts_cut,
        "kernel_times": g.kernel_times,
        "interrupted": g.interrupted,
        "finished": g.finished,
    })
}

/// Its bounds, its sum and these buckets of it, as `[number, count]`.
fn encode_histogram<const BITS: u32>(histogram: &LogLinear<BITS>, pairs: &[(u32, u64)]) -> Value {
    json!({
        "min": histogram.min().0,
        "max": histogram.max().0,
        // A sum of times may pass 64 bits, which JSON readers cannot be trusted with.
        "sum": histogram.sum().to_string(),
        "buckets": pairs,
    })
}

/// The record of such a text.
///
/// # Errors
/// The text is no JSON object, or its histogram is corrupt; the reason.
pub fn decode(text: &str) -> Result<Generator, String> {
    let value = parse(text)?;
    let (lag, on_time) = (decode_histogram(&value["lag"])?, decode_histogram(&value["on_time"])?);
    Ok(Generator { lag, on_time, ..decode_scalars(&value) })
}

/// The record of a text with what came since the `last` one.
fn decode_changes(last: Option<Generator>, text: &str) -> Result<Generator, String> {
    let value = parse(text)?;
    let base = value["base"].as_u64().map(Nanos);
    let last = last.filter(|last| Some(last.wall) == base);
    let Some(Generator { mut lag, mut on_time, .. }) = last else {
        return Err("a record of changes without the one before it".to_owned());
    };
    advance(&mut lag, &value["lag_since"])?;
    advance(&mut on_time, &value["on_time_since"])?;
    Ok(Generator { lag, on_time, ..decode_scalars(&value) })
}

fn parse(text: &str) -> Result<Value, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    match value.is_object() {
        true => Ok(value),
        false => Err("a generator record that is no object".to_owned()),
    }
}

/// All but the histograms.
fn decode_scalars(value: &Value) -> Generator {
    let number = |key: &str| value[key].as_u64().unwrap_or(0);
    let real = |key: &str| value[key].as_f64().unwrap_or(0.0);
    let flag = |key: &str| value[key].as_bool().unwrap_or(false);
    Generator {
        workers: u32::try_from(number("workers")).unwrap_or(u32::MAX),
        io: value["io"].as_str().unwrap_or_default().to_owned(),
        real_time: flag("real_time"),
        server_here: flag("server_here"),
        tick: Nanos(number("tick")),
        max_in_flight: number("max_in_flight"),
        users: number("users"),
        self_paced: flag("self_paced"),
        rate_per_s: real("rate_per_s"),
        seed: number("seed"),
        planned: number("planned"),
        sent: number("sent"),
        warmup_hits: number("warmup_hits"),
        not_sent: number("not_sent"),
        held: number("held"),
        starved: number("starved"),
        cpu: Nanos(number("cpu")),
        cpu_busiest: real("cpu_busiest"),
        wall: Nanos(number("wall")),
        stalls: number("stalls"),
        stall_longest: Nanos(number("stall_longest")),
        throttled: Nanos(number("throttled")),
        neighbour: process_name(&value["neighbour"]),
        neighbour_cpu: Nanos(number("neighbour_cpu")),
        descriptors_exhausted: number("descriptors_exhausted"),
        ports_exhausted: number("ports_exhausted"),
        pauses: number("pauses"),
        redirected: number("redirected"),
        redirect_hosts: redirect_hosts(&value["redirect_hosts"]),
        sent_again: number("sent_again"),
        landings: decode_landings(&value["landings"]),
        iterations: decode_iterations(&value["iterations"]),
        never_answered: number("never_answered"),
        connections: number("connections"),
        rows_dropped: number("rows_dropped"),
        lost_at_end: number("lost_at_end"),
        texts_cut: number("texts_cut"),
        kernel_times: number("kernel_times"),
        interrupted: flag("interrupted"),
        finished: flag("finished"),
        ..Generator::default()
    }
}

/// As `[from, to, requests, whether the redirects were the answers, first, last]`; the last two may be missing, or the last three.
fn landings(list: &[Landing]) -> Value {
    let one = |one: &Landing| match (one.first, one.is_redirect) {
        (0, true) => json!([one.from, one.to, one.requests, true]),
        (0, false) => json!([one.from, one.to, one.requests]),
        _ => json!([one.from, one.to, one.requests, one.is_redirect, one.first, one.last]),
    };
    list.iter().map(one).collect()
}

/// As many as a record has; what is no landing is left out.
fn decode_landings(value: &Value) -> Vec<Landing> {
    let mut list = Vec::new();
    for one in value.as_array().into_iter().flatten() {
        if let (Some(from), Some(to), Some(requests)) =
            (one[0].as_str(), one[1].as_str(), one[2].as_u64())
        {
            let (from, to) = (from.to_owned(), to.to_owned());
            let is_redirect = one[3].as_bool().unwrap_or(false);
            let [first, last] = [4, 5].map(|at| one[at].as_i64().unwrap_or(0));
            let landing = Landing { from, to, requests, is_redirect, first, last };
            Landing::add(&mut list, landing);
        }
    }
    list
}

/// Its width, and its cells as `[due, ended]`.
fn encode_iterations(course: &IterationCourse) -> Value {
    let cells = course.cells().iter().map(|cell| json!([cell.due, cell.ended]));
    match course.is_empty() {
        true => Value::Null,
        false => json!({ "width": course.width().0, "cells": cells.collect::<Value>() }),
    }
}

/// Empty where it is none.
fn decode_iterations(value: &Value) -> IterationCourse {
    let cell =
        |cell: &Value| Some(IterationCounts { due: cell[0].as_u64()?, ended: cell[1].as_u64()? });
    let cells = value["cells"].as_array().and_then(|cells| cells.iter().map(cell).collect());
    let course = value["width"].as_u64().zip(cells);
    let course = course.and_then(|(width, cells)| IterationCourse::from_cells(Nanos(width), cells));
    course.unwrap_or_default()
}

/// The name of a process, no longer than one can be: the kernel keeps 15 bytes of it, and a number follows.
fn process_name(value: &Value) -> String {
    let name = value.as_str().filter(|name| name.len() <= PROCESS_NAME_MAX);
    name.unwrap_or_default().to_owned()
}

/// The names of hosts, as many as a record has, each no longer than a name can be (RFC 1035, 2.3.4).
fn redirect_hosts(value: &Value) -> Vec<String> {
    let hosts = value.as_array().into_iter().flatten().filter_map(Value::as_str);
    let hosts = hosts.filter(|host| host.len() <= 255).take(REDIRECT_HOSTS_MAX);
    hosts.map(str::to_owned).collect()
}

fn decode_histogram<const BITS: u32>(value: &Value) -> Result<LogLinear<BITS>, String> {
    let Parts { pairs, bounds: (min, max), sum } = parts(value)?;
    LogLinear::from_parts(&pairs, min, max, sum).map_err(|error| error.to_string())
}

/// Adds what came since.
fn advance<const BITS: u32>(histogram: &mut LogLinear<BITS>, value: &Value) -> Result<(), String> {
    let Parts { pairs, bounds, sum } = parts(value)?;
    histogram.advance(&pairs, bounds, sum).map_err(|error| error.to_string())
}

/// What a text has of a histogram.
struct Parts {
    pairs: Vec<(u32, u64)>,
    bounds: (Nanos, Nanos),
    sum: u128,
}

fn parts(value: &Value) -> Result<Parts, String> {
    let none = Vec::new();
    let mut pairs = Vec::new();
    let mut total = 0u64;
    for pair in value["buckets"].as_array().unwrap_or(&none) {
        let bucket = pair[0].as_u64().and_then(|bucket| u32::try_from(bucket).ok());
        let (Some(bucket), Some(count)) = (bucket, pair[1].as_u64()) else {
            return Err("a bucket that is no pair of numbers".to_owned());
        };
        total = total.checked_add(count).ok_or("counts that do not fit into 64 bits")?;
        pairs.push((bucket, count));
    }
    let number = |key: &str| Nanos(value[key].as_u64().unwrap_or(0));
    let sum = value["sum"].as_str().and_then(|sum| sum.parse().ok()).unwrap_or(0);
    Ok(Parts { pairs, bounds: (number("min"), number("max")), sum })
}

/// Bytes of a process' name and number.
const PROCESS_NAME_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leads_back() {
        let mut generator = Generator {
            workers: 2,
            io: "epoll".into(),
            self_paced: true,
            rate_per_s: 50.25,
            seed: u64::MAX,
            planned: 250,
            sent: 250,
            warmup_hits: 7,
            redirected: 2,
            sent_again: 4,
            never_answered: 5,
            throttled: Nanos(8),
            neighbour: "node (1)".into(),
            neighbour_cpu: Nanos(9),
            iterations: IterationCourse::from_cells(
                Nanos::from_millis(200),
                vec![IterationCounts { due: 3, ended: 1 }],
            )
            .unwrap(),
            landings: [false, true]
                .map(|is_redirect| Landing {
                    from: "a".into(),
                    to: "/login".into(),
                    requests: 2,
                    is_redirect,
                    // The records of older versions have no moments.
                    first: if is_redirect { 1_764_000_000_000_000_000 } else { 0 },
                    last: if is_redirect { 1_764_000_000_500_000_000 } else { 0 },
                })
                .into(),
            redirect_hosts: vec!["other.test".into()],
            cpu_busiest: 0.125,
            wall: Nanos::from_secs(5),
            finished: true,
            ..Generator::default()
        };
        for lag in [3, 1_000, 4_000_000_000_000] {
            generator.lag.record(Nanos(lag));
            generator.on_time.record(Nanos(lag + 7));
        }
        assert_eq!(decode(&encode(&generator)), Ok(generator));
    }

    #[test]
    fn tolerates_what_is_missing_and_refuses_what_is_wrong() {
        assert_eq!(decode("{\"later\":1}"), Ok(Generator::default()));
        for text in
            ["", "[]", "{\"lag\":{\"buckets\":[[1]]}}", "{\"on_time\":{\"buckets\":[[9999999,1]]}}"]
        {
            assert!(decode(text).is_err(), "{text}");
        }
    }

    /// A generator after so many seconds, each of which has other lags.
    fn after(seconds: u64) -> Generator {
        let mut generator = Generator { workers: 1, ..Generator::new() };
        for second in 0..seconds {
            generator.wall = Nanos::from_secs(second + 1);
            for n in 0..100 {
                generator.sent += 1;
                generator.lag.record(Nanos((second * 100 + n) * 977));
                generator.on_time.record(Nanos((second * 100 + n) * 9_770));
            }
        }
        generator
    }

    /// Issue 41: of 75 MB of results at 100/s, 74.6 were copies of the generator's histograms.
    #[test]
    fn what_came_since_is_small_and_leads_back() {
        let (mut writer, mut reader) = (NoteWriter::default(), NoteReader::default());
        let mut wholes = Vec::new();
        for second in 1..=150 {
            let generator = Generator { finished: second == 150, ..after(second) };
            let text = writer.encode(&generator);
            match text.starts_with(CHANGES) {
                true => assert!(text.len() < 3_500, "{} bytes", text.len()),
                false => wholes.push(second),
            }
            reader.add(text).unwrap();
            if second % 50 == 0 {
                assert_eq!(reader.last(), Ok(Some(&generator)), "second {second}");
                assert!(!reader.has_new());
            }
        }
        assert_eq!(wholes, [1, 61, 121, 150]);
    }

    #[test]
    fn changes_to_a_record_that_is_missing_are_refused() {
        let mut writer = NoteWriter::default();
        let [first, second, third] = [1, 2, 3].map(|second| writer.encode(&after(second)));
        let mut reader = NoteReader::default();
        reader.add(first).unwrap();
        reader.add(third).unwrap();
        assert!(reader.last().is_err());
        reader.add(second).unwrap();
        assert!(reader.last().is_err(), "nothing is left that it continues");
        reader.add(encode(&after(3))).unwrap();
        assert_eq!(reader.last(), Ok(Some(&after(3))));
        // A generator that counted from its start again.
        reader.add(writer.encode(&after(1))).unwrap();
        assert_eq!(reader.last(), Ok(Some(&after(1))));
    }
}
