//! The payload of a delta: rows one after the other, each whole in itself, and from time to time the agent's record of its load
//! generator. In postcard, whose numbers are as short as they are small; a row takes 30 to 40 bytes. What another machine sent is
//! checked before it is used.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use metrics::{Batch, FailureKind, Generator, NO_TARGET, Outcome, Sample, Span};
use serde::{Deserialize, Serialize};
use stdx::Nanos;

/// Rows are sent on once they take so many bytes.
pub(crate) const ROWS_BYTES: usize = 320 << 10;
/// The longest text of a row (body, headers, error) that travels; the rest is cut.
const TEXT_MAX: usize = 24 << 10;
/// The longest record of a generator that is read, in bytes of JSON.
const RECORD_MAX: u64 = 4 << 20;

/// Counts of one agent stay below this: those of all agents come to less than 2^64.
const COUNT_MAX: u64 = 1 << 50;
/// The most CPU time of an agent, in nanoseconds: some 500 cores for a month.
const CPU_MAX: Nanos = Nanos(1 << 60);
/// The most worker threads of an agent.
const WORKERS_MAX: u32 = 1 << 16;

/// What an agent says of its load generator, beside rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct OwnRecord {
    /// Its measurements of itself so far.
    pub(crate) generator: Generator,
    /// Why its figures may not be believed, so far.
    pub(crate) reasons: Vec<String>,
    /// What it says of its part of a script or a test of Action Cable, in a form of its own; may be empty.
    pub(crate) part: Vec<u8>,
}

/// A payload in its bytes.
#[derive(Serialize, Deserialize)]
struct Envelope<'a> {
    /// The generator's record, as results have it, deflated; empty where there is none.
    record: &'a [u8],
    reasons: Vec<String>,
    /// What the agent says of its part, in a form of its own; empty where it says nothing.
    part: &'a [u8],
    rows: &'a [u8],
}

/// A row. Each time counts from the one before it, so that none can run backwards.
#[derive(Serialize, Deserialize)]
struct Row<'a> {
    seq: u64,
    intended: u64,
    /// Since `intended`, `sent` and `first_byte`.
    sent: u64,
    first_byte: u64,
    done: u64,
    dns: u64,
    dial: u64,
    tls: u64,
    bytes_out: u64,
    bytes_in: u64,
    wire_in: u64,
    conn: u32,
    target: u32,
    code: u16,
    /// Its outcome beside the code.
    outcome: u8,
    failure: u8,
    reused: bool,
    /// `error`, `line`, `name`, `tags`, `body`, `headers`.
    #[serde(borrow)]
    texts: Option<[&'a [u8]; 6]>,
}

/// Rows on their way into a payload.
#[derive(Debug, Default)]
pub(crate) struct Packer {
    bytes: Vec<u8>,
    /// Texts that were cut since the begin.
    pub(crate) texts_cut: u64,
    /// How long after the engine's start the run began, from which times count.
    pub(crate) shift: Nanos,
}

impl Packer {
    /// Adds a row of this batch.
    pub(crate) fn add(&mut self, sample: &Sample, batch: &Batch) {
        let Sample { error, line, name, tags, body, headers, .. } = *sample;
        let spans = [error, line, name, tags, body, headers];
        self.texts_cut += spans.iter().filter(|span| span.len as usize > TEXT_MAX).count() as u64;
        let text = |span: Span| {
            let text = batch.text(span);
            &text[..text.len().min(TEXT_MAX)]
        };
        let has_text = spans.iter().any(|span| span.len > 0);
        let row = Row {
            seq: sample.seq,
            intended: sample.intended.saturating_sub(self.shift).0,
            sent: sample.sent.saturating_sub(sample.intended).0,
            first_byte: sample.first_byte.saturating_sub(sample.sent).0,
            done: sample.done.saturating_sub(sample.first_byte).0,
            dns: sample.dns.0,
            dial: sample.dial.0,
            tls: sample.tls.0,
            bytes_out: sample.bytes_out,
            bytes_in: sample.bytes_in,
            wire_in: sample.wire_in,
            conn: sample.conn,
            target: sample.target,
            code: sample.outcome.code(),
            outcome: sample.outcome.number(),
            failure: sample.failure as u8,
            reused: sample.reused,
            texts: has_text.then(|| spans.map(text)),
        };
        // Writing numbers and bytes to memory cannot fail.
        self.bytes = postcard::to_extend(&row, std::mem::take(&mut self.bytes)).unwrap_or_default();
    }

    /// They are to be sent on.
    pub(crate) fn is_full(&self) -> bool {
        self.bytes.len() >= ROWS_BYTES
    }

    /// The payload of the rows so far, with this record. The rows go first where both are too much for one.
    pub(crate) fn take(&mut self, record: Option<&OwnRecord>) -> Vec<Vec<u8>> {
        let rows = std::mem::take(&mut self.bytes);
        let Some(record) = record else { return vec![envelope(&[], &OwnRecord::default(), &rows)] };
        let deflated = deflate(results::encode_generator(&record.generator).as_bytes());
        if rows.len() + deflated.len() + record.part.len() < fleet::PAYLOAD_MAX / 4 * 3 {
            return vec![envelope(&deflated, record, &rows)];
        }
        vec![envelope(&[], &OwnRecord::default(), &rows), envelope(&deflated, record, &[])]
    }
}

fn envelope(deflated: &[u8], own: &OwnRecord, rows: &[u8]) -> Vec<u8> {
    let reasons = own.reasons.iter().map(|reason| fleet::cut_text(reason)).collect();
    let envelope = Envelope { record: deflated, reasons, part: &own.part, rows };
    // Writing numbers, texts and bytes to memory cannot fail.
    postcard::to_allocvec(&envelope).unwrap_or_default()
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    // Writing to memory cannot fail.
    encoder.write_all(bytes).and_then(|()| encoder.finish()).unwrap_or_default()
}

/// A payload that was read.
#[derive(Debug, Default)]
pub(crate) struct Unpacked {
    /// The rows, with times from the start of the run.
    pub(crate) batch: Batch,
    /// The record of the load generator, where it has one.
    pub(crate) record: Option<OwnRecord>,
}

/// Reads a payload of an agent with this number; the plan has so many targets.
///
/// # Errors
/// The bytes are no payload of this version: what is wrong.
pub(crate) fn unpack(bytes: &[u8], agent: u16, targets: usize) -> Result<Unpacked, &'static str> {
    if bytes.is_empty() {
        return Ok(Unpacked::default());
    }
    let envelope: Envelope<'_> = postcard::from_bytes(bytes).map_err(|_| "it is no payload")?;
    let mut unpacked = Unpacked::default();
    let mut rest = envelope.rows;
    while !rest.is_empty() {
        let (row, more) = postcard::take_from_bytes::<Row<'_>>(rest).map_err(|_| "a bad row")?;
        let sample = sample(&row, agent, targets, &mut unpacked.batch)?;
        unpacked.batch.samples.push(sample);
        rest = more;
    }
    if !envelope.record.is_empty() {
        let (generator, part) = (generator(envelope.record)?, envelope.part.to_vec());
        unpacked.record = Some(OwnRecord { generator, reasons: envelope.reasons, part });
    }
    Ok(unpacked)
}

fn generator(deflated: &[u8]) -> Result<Generator, &'static str> {
    let mut text = String::new();
    let read = DeflateDecoder::new(deflated).take(RECORD_MAX).read_to_string(&mut text);
    read.map_err(|_| "a record that cannot be inflated")?;
    let generator = results::decode_generator(&text).map_err(|_| "a bad record of a generator")?;
    if is_possible(&generator) { Ok(generator) } else { Err("a record that no generator makes") }
}

/// Counts that can be added up over all agents; larger ones are false.
fn is_possible(generator: &Generator) -> bool {
    let Generator { planned, sent, not_sent, held, stalls, connections, .. } = *generator;
    let counts = [
        planned,
        sent,
        not_sent,
        held,
        stalls,
        connections,
        generator.pauses,
        generator.redirected,
        generator.iterations.total().due,
        generator.iterations.total().ended,
        generator.sent_again,
        generator.never_answered,
        generator.warmup_hits,
        generator.rows_dropped,
        generator.texts_cut,
        generator.kernel_times,
        generator.descriptors_exhausted,
        generator.ports_exhausted,
        generator.lag.count(),
        generator.on_time.count(),
    ];
    counts.into_iter().all(|count| count < COUNT_MAX)
        && generator.landings.iter().all(|landing| landing.requests < COUNT_MAX)
        && generator.workers <= WORKERS_MAX
        && generator.cpu < CPU_MAX
        && generator.neighbour_cpu < CPU_MAX
}

fn sample(
    row: &Row<'_>,
    agent: u16,
    targets: usize,
    batch: &mut Batch,
) -> Result<Sample, &'static str> {
    if row.target != NO_TARGET && row.target as usize >= targets {
        return Err("a target that the plan has not");
    }
    let intended = Nanos(row.intended);
    let sent = intended.saturating_add(Nanos(row.sent));
    let first_byte = sent.saturating_add(Nanos(row.first_byte));
    let texts = row.texts.unwrap_or_default();
    let [error, line, name, tags, body, headers] = texts.map(|text| batch.add_text(text));
    Ok(Sample {
        seq: row.seq,
        intended,
        sent,
        first_byte,
        done: first_byte.saturating_add(Nanos(row.done)),
        dns: Nanos(row.dns),
        dial: Nanos(row.dial),
        tls: Nanos(row.tls),
        bytes_out: row.bytes_out,
        bytes_in: row.bytes_in,
        wire_in: row.wire_in,
        conn: row.conn,
        target: row.target,
        agent,
        outcome: Outcome::from_numbers(row.outcome, row.code),
        failure: FailureKind::from_number(row.failure).ok_or("an unknown failure")?,
        reused: row.reused,
        error,
        line,
        name,
        tags,
        body,
        headers,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch() -> Batch {
        let mut batch = Batch::default();
        let error = batch.add_text(b"connection refused");
        let body = batch.add_text(&vec![b'x'; TEXT_MAX + 1]);
        let answered = Sample {
            seq: 7,
            intended: Nanos(1_000_000_007),
            sent: Nanos(1_000_010_000),
            first_byte: Nanos(1_000_400_000),
            done: Nanos(1_000_410_000),
            bytes_in: 512,
            wire_in: 700,
            conn: 3,
            target: 1,
            outcome: Outcome::Http(200),
            reused: true,
            ..Sample::default()
        };
        let failed =
            Sample { seq: 8, failure: FailureKind::Refused, error, body, ..Sample::default() };
        batch.samples = vec![answered, failed];
        batch
    }

    fn packed(batch: &Batch, record: Option<&OwnRecord>) -> (Vec<Vec<u8>>, u64) {
        let mut packer = Packer::default();
        batch.samples.iter().for_each(|sample| packer.add(sample, batch));
        (packer.take(record), packer.texts_cut)
    }

    #[test]
    fn rows_and_record_arrive_as_they_were() {
        let batch = batch();
        let (reasons, part) = (vec!["late".to_owned()], b"counts".to_vec());
        let mut own = OwnRecord { reasons, part, ..OwnRecord::default() };
        own.generator.lag.record(Nanos(99));
        own.generator.sent = 2;
        let (payloads, cut) = packed(&batch, Some(&own));
        let [payload] = payloads.as_slice() else { panic!("one is enough") };
        let unpacked = unpack(payload, 4, 2).unwrap();
        assert_eq!(unpacked.record, Some(own));
        assert_eq!(cut, 1, "the long body");
        let [answered, failed] = unpacked.batch.samples.as_slice() else { panic!("two rows") };
        assert_eq!(*answered, Sample { agent: 4, ..batch.samples[0] });
        assert_eq!(unpacked.batch.text(failed.error), b"connection refused");
        assert_eq!(unpacked.batch.text(failed.body).len(), TEXT_MAX);
    }

    #[test]
    fn a_row_is_small() {
        let mut packer = Packer::default();
        let batch = batch();
        (0..100).for_each(|_| packer.add(&batch.samples[0], &batch));
        assert!(packer.bytes.len() < 100 * 40, "{} bytes a row", packer.bytes.len() / 100);
    }

    #[test]
    fn false_payloads_are_refused() {
        let batch = batch();
        let payload = &packed(&batch, None).0[0];
        assert_eq!(unpack(payload, 1, 1).unwrap_err(), "a target that the plan has not");
        assert_eq!(unpack(b"\xff\xff", 1, 2).unwrap_err(), "it is no payload");
        let (mut refused, mut read) = (0, 0);
        for at in 0..payload.len() {
            let mut changed = payload.clone();
            changed[at] ^= 0x55;
            match unpack(&changed, 1, 2) {
                Ok(unpacked) => {
                    read += 1;
                    let texts = &unpacked.batch;
                    for sample in &texts.samples {
                        assert!(sample.intended <= sample.sent && sample.sent <= sample.done);
                        assert!(texts.text(sample.error).len() <= payload.len());
                    }
                }
                Err(_) => refused += 1,
            }
        }
        assert!(refused > 0 && read > 0);
        assert!(unpack(b"", 1, 2).unwrap().batch.samples.is_empty(), "a spool without room");
        let mut own = OwnRecord::default();
        own.generator.sent = u64::MAX;
        let payload = Packer::default().take(Some(&own)).pop().unwrap();
        assert_eq!(unpack(&payload, 1, 1).unwrap_err(), "a record that no generator makes");
    }

    #[test]
    fn much_goes_into_two() {
        let batch = batch();
        let mut packer = Packer::default();
        while !packer.is_full() {
            packer.add(&batch.samples[0], &batch);
        }
        let mut own = OwnRecord::default();
        (0..200_000_u64).for_each(|n| own.generator.lag.record(Nanos(n * n * 7919)));
        let payloads = packer.take(Some(&own));
        assert!(payloads.iter().all(|payload| payload.len() <= fleet::PAYLOAD_MAX));
        let last = unpack(payloads.last().unwrap(), 1, 2).unwrap();
        assert_eq!(last.record, Some(own));
    }
}
