//! Rows to test with, and rows as they can be compared whatever batch they lie in.

use std::io::{self, Cursor, Write};
use std::sync::{Arc, Mutex};

use metrics::server::Row;
use metrics::tally::Assertion;
use metrics::{
    Batch, FailureKind, Generator, NO_TARGET, Outcome, Sample, TargetLabel, TargetTable,
};
use proptest::prelude::*;
use results::{Detail, Encoding, InputForm, Item, ReadError, Reader, StreamInfo, writer};
use stdx::Nanos;

/// 2023-11-14T22:13:20Z.
pub(crate) const EPOCH: i64 = 1_700_000_000_000_000_000;

/// Everything a row says, free of its batch and table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flat {
    pub(crate) seq: u64,
    pub(crate) intended: i128,
    pub(crate) offsets: [u64; 3],
    pub(crate) parts: [u64; 3],
    pub(crate) sizes: [u64; 3],
    pub(crate) outcome: Outcome,
    pub(crate) failure: FailureKind,
    pub(crate) reused: bool,
    pub(crate) conn: u32,
    pub(crate) asked: [String; 5],
    pub(crate) texts: [Vec<u8>; 3],
}

impl Flat {
    fn of(sample: &Sample, batch: &Batch, targets: &TargetTable) -> Self {
        let label = targets.get(sample.target).unwrap_or_default().to_label();
        let mut asked = [label.attack, label.method, label.url, label.name, label.tags];
        if sample.tags.len > 0 {
            asked[4] = String::from_utf8(batch.text(sample.tags).to_vec()).unwrap();
        }
        if sample.line.len > 0 {
            let line = String::from_utf8(batch.text(sample.line).to_vec()).unwrap();
            let (method, url) = line.split_once(' ').unwrap();
            (asked[1], asked[2]) = (method.to_owned(), url.to_owned());
        }
        let since = |time: Nanos| time.0 - sample.intended.0;
        Self {
            seq: sample.seq,
            intended: i128::from(batch.epoch) + i128::from(sample.intended.0),
            offsets: [since(sample.sent), since(sample.first_byte), since(sample.done)],
            parts: [sample.dns.0, sample.dial.0, sample.tls.0],
            sizes: [sample.bytes_out, sample.bytes_in, sample.wire_in],
            outcome: sample.outcome,
            failure: sample.failure,
            reused: sample.reused,
            conn: sample.conn,
            asked,
            texts: [sample.error, sample.body, sample.headers].map(|s| batch.text(s).to_vec()),
        }
    }

    /// What Vegeta's encodings can hold of it.
    pub(crate) fn vegeta(&self) -> Self {
        let done = self.offsets[2];
        let mut asked = self.asked.clone();
        asked[3].clear();
        asked[4].clear();
        Self {
            offsets: [0, done, done],
            parts: [0; 3],
            sizes: [self.sizes[0], self.sizes[1], 0],
            outcome: Outcome::http(self.outcome.code()),
            failure: FailureKind::None,
            reused: false,
            conn: 0,
            asked,
            ..self.clone()
        }
    }
}

pub(crate) fn flatten(batch: &Batch, targets: &TargetTable) -> Vec<Flat> {
    batch.samples.iter().map(|sample| Flat::of(sample, batch, targets)).collect()
}

pub(crate) fn targets() -> TargetTable {
    let label = |url: &str, name: &str, tags: &str| TargetLabel {
        attack: "first, \"so\"".into(),
        method: "GET".into(),
        url: url.into(),
        name: name.into(),
        tags: tags.into(),
    };
    TargetTable::from(vec![
        label("http://h/a?b=1&c=<2>", "", ""),
        label("http://h/é", "group", r#"{"scenario":"é"}"#),
        label("", "", ""),
    ])
}

pub(crate) fn info() -> StreamInfo {
    StreamInfo {
        version: "0.1.0".into(),
        epoch: EPOCH,
        attack: "lazy".into(),
        seed: 7,
        detail: Detail::Full,
        has_tags: true,
        metadata: vec![("host".into(), "here".into())],
        ..StreamInfo::default()
    }
}

/// An output with bytes that a test can inspect.
#[derive(Clone, Default)]
pub(crate) struct Shared(pub(crate) Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The stream of these batches, one flush after each, and of the generator's record.
pub(crate) fn encode(
    encoding: Encoding,
    batches: &[Batch],
    generator: Option<&Generator>,
) -> Vec<u8> {
    let out = Shared::default();
    let mut writer = writer(encoding, Box::new(out.clone()), &info()).unwrap();
    for batch in batches {
        writer.batch(batch, &targets()).unwrap();
        writer.flush().unwrap();
    }
    if let Some(generator) = generator {
        writer.generator(generator).unwrap();
    }
    let bytes = writer.finish().unwrap();
    let out = std::mem::take(&mut *out.0.lock().unwrap());
    assert_eq!(bytes, out.len() as u64);
    out
}

/// What a reader found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) rows: Vec<Flat>,
    pub(crate) generators: Vec<Generator>,
    pub(crate) observed: Vec<Row>,
    pub(crate) losses: Vec<String>,
    pub(crate) forms: Vec<InputForm>,
    pub(crate) detail: Option<Detail>,
    pub(crate) assertions: Vec<(Assertion, i64)>,
    pub(crate) error: Option<ReadError>,
}

/// Reads everything; an error ends it.
pub(crate) fn decode(inputs: &[&[u8]]) -> Found {
    let named = |(i, bytes): (usize, &&[u8])| -> results::Input {
        (format!("in{i}"), Box::new(Cursor::new(bytes.to_vec())))
    };
    let mut found = Found::default();
    let mut reader = match Reader::open(inputs.iter().enumerate().map(named).collect()) {
        Ok(reader) => reader,
        Err(error) => return Found { error: Some(error), ..found },
    };
    let mut batch = Batch::default();
    loop {
        match reader.next(&mut batch) {
            Ok(Some(Item::Hits)) => {
                assert!(!batch.samples.is_empty());
                found.rows.extend(flatten(&batch, reader.targets()));
            }
            Ok(Some(Item::Generator { generator, .. })) => found.generators.push(*generator),
            Ok(Some(Item::Server(row))) => {
                assert!(batch.samples.is_empty());
                found.observed.push(*row);
            }
            Ok(Some(Item::Assertion { assertion, at, .. })) => {
                assert!(batch.samples.is_empty());
                found.assertions.push((*assertion, at));
            }
            Ok(None) => break,
            Err(error) => {
                found.error = Some(error);
                break;
            }
        }
    }
    found.losses = reader.losses().to_vec();
    found.forms = reader.forms();
    found.detail = Some(reader.detail());
    found
}

prop_compose! {
    fn times()(
        intended in 0..10_000_000_000u64,
        latency in 0..3_000_000_000u64,
        sent in 0.0..1.0,
        first in 0.0..1.0,
    ) -> [Nanos; 4] {
        let sent = (latency as f64 * sent) as u64;
        let first = sent + ((latency - sent) as f64 * first) as u64;
        [0, sent, first, latency].map(|offset| Nanos(intended + offset))
    }
}

/// A row with its texts: error, line, body, headers.
type Drawn = (Sample, [Vec<u8>; 5]);

prop_compose! {
    fn row()(
        times in times(),
        numbers in any::<[u32; 6]>(),
        conn in any::<u32>(),
        seq in prop_oneof![0..300u64, any::<u64>()],
        (status, failure) in (0..600u16, 0..18u8),
        number in prop_oneof![Just(0), 1..2u8, 100..117u8],
        (target, lazy) in (0..3u32, prop::bool::weighted(0.1)),
        reused in any::<bool>(),
        error in prop_oneof![Just(String::new()), "[ -~]{0,30}", "[\"\\\\,\r\n\t&<>é\u{2028}]{1,6}"],
        body in prop_oneof![Just(Vec::new()), prop::collection::vec(any::<u8>(), 0..40)],
        headers in prop_oneof![Just(""), Just("A: 1\r\nX-Bc: two, \"2\"\r\nX-Bc: é\r\n")],
    ) -> Drawn {
        let [intended, sent, first_byte, done] = times;
        let n = numbers.map(u64::from);
        let sample = Sample {
            seq, intended, sent, first_byte, done,
            dns: Nanos(n[0]), dial: Nanos(n[1]), tls: Nanos(n[2]),
            bytes_out: n[3], bytes_in: n[4] << 20, wire_in: n[5],
            conn,
            target: if lazy { NO_TARGET } else { target },
            outcome: Outcome::from_numbers(number, status),
            failure: FailureKind::from_number(failure).unwrap(),
            reused,
            ..Sample::default()
        };
        let line = if lazy { format!("POST http://lazy/{status}") } else { String::new() };
        let tags = if lazy && reused { r#"{"group":"::a"}"# } else { "" };
        (sample, [error.into_bytes(), line.into_bytes(), tags.into(), body, headers.into()])
    }
}

/// A batch of up to `rows` rows.
pub(crate) fn batch(rows: usize) -> impl Strategy<Value = Batch> {
    prop::collection::vec(row(), 1..rows).prop_map(|drawn| {
        let mut batch = Batch { epoch: EPOCH, ..Batch::default() };
        for (mut sample, texts) in drawn {
            let spans = texts.map(|text| batch.add_text(&text));
            [sample.error, sample.line, sample.tags, sample.body, sample.headers] = spans;
            batch.samples.push(sample);
        }
        batch
    })
}

/// A few plain rows, one a millisecond from `start_ms`.
pub(crate) fn plain(rows: u64, start_ms: u64) -> Batch {
    let mut batch = Batch { epoch: EPOCH, ..Batch::default() };
    for seq in 0..rows {
        let intended = Nanos::from_millis(start_ms + seq);
        let error = if seq % 3 == 2 { batch.add_text(b"500 Oops") } else { Default::default() };
        batch.samples.push(Sample {
            seq,
            intended,
            sent: intended + Nanos(10),
            first_byte: intended + Nanos(500_000),
            done: intended + Nanos(600_000),
            outcome: Outcome::Http(if seq % 3 == 2 { 500 } else { 200 }),
            target: (seq % 3) as u32,
            bytes_in: 12,
            error,
            ..Sample::default()
        });
    }
    batch
}
