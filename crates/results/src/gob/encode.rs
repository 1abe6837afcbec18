//! Writes Vegeta's gob: the four type descriptions once, before the first row, then a message per row.

use std::io::Write;

use metrics::server;
use metrics::{Batch, Generator, Sample, TargetTable};

use super::YEAR_1_TO_1970_S;
use crate::headers::grouped;
use crate::labels::TargetRef;
use crate::write::{Output, unix_ns};
use crate::zone::Zone;
use crate::{WriteError, Writer};

/// What Go writes for the types `Result` (64), `Time` (65), `Header` (67) and `[]string` (66).
const TYPES: &[u8] = b"\
\xff\x96\x7f\x03\x01\x01\x06Result\x01\xff\x80\x00\x01\x0c\
\x01\x06Attack\x01\x0c\x00\
\x01\x03Seq\x01\x06\x00\
\x01\x04Code\x01\x06\x00\
\x01\x09Timestamp\x01\xff\x82\x00\
\x01\x07Latency\x01\x04\x00\
\x01\x08BytesOut\x01\x06\x00\
\x01\x07BytesIn\x01\x06\x00\
\x01\x05Error\x01\x0c\x00\
\x01\x04Body\x01\x0a\x00\
\x01\x06Method\x01\x0c\x00\
\x01\x03URL\x01\x0c\x00\
\x01\x07Headers\x01\xff\x86\x00\x00\x00\
\x10\xff\x81\x05\x01\x01\x04Time\x01\xff\x82\x00\x00\x00\
\x17\xff\x85\x04\x01\x01\x06Header\x01\xff\x86\x00\x01\x0c\x01\xff\x84\x00\x00\
\x0c\xff\x83\x02\x01\x02\xff\x84\x00\x01\x0c\x00\x00";

/// The int 64 (`Result`), which every row's message begins with.
const RESULT_ID: [u8; 2] = [0xff, 0x80];

/// Writes Vegeta's gob.
pub(crate) struct GobWriter {
    output: Output,
    attack: String,
    zone: Zone,
    message: Message,
    begun: bool,
}

impl GobWriter {
    pub(crate) fn new(output: Output, attack: &str, zone: Zone) -> Self {
        let message = Message::default();
        Self { output, attack: attack.to_owned(), zone, message, begun: false }
    }
}

impl Writer for GobWriter {
    fn batch(&mut self, batch: &Batch, targets: &TargetTable) -> Result<(), WriteError> {
        if !self.begun && !batch.samples.is_empty() {
            self.output.write_all(TYPES)?;
            self.begun = true;
        }
        for sample in &batch.samples {
            let target = TargetRef::of(sample, batch, targets, &self.attack);
            self.message.row(sample, batch, target, &mut self.zone);
            let mut head = Message::default();
            head.uint(self.message.bytes.len() as u64);
            self.output.write_all(&head.bytes)?;
            self.output.write_all(&self.message.bytes)?;
        }
        Ok(())
    }

    fn generator(&mut self, _generator: &Generator) -> Result<(), WriteError> {
        Ok(())
    }

    fn server(&mut self, _row: &server::Row) -> Result<(), WriteError> {
        Ok(())
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        Ok(self.output.flush()?)
    }

    fn finish(mut self: Box<Self>) -> Result<u64, WriteError> {
        Ok(self.output.finish()?)
    }
}

/// One message, without its length.
#[derive(Default)]
struct Message {
    bytes: Vec<u8>,
    /// The number of the field written last, counted from 1; 0 before the first.
    field: u8,
}

impl Message {
    fn row(&mut self, sample: &Sample, batch: &Batch, target: TargetRef<'_>, zone: &mut Zone) {
        self.bytes.clear();
        self.bytes.extend_from_slice(&RESULT_ID);
        self.field = 0;
        let unix_ns = unix_ns(batch, sample);
        self.text_field(1, target.attack.as_bytes());
        self.uint_field(2, sample.seq);
        self.uint_field(3, u64::from(sample.outcome.code()));
        self.begin(4);
        self.time(unix_ns, zone.offset_s(unix_ns));
        // An int of Go's: shifted left by one, since it is never negative here.
        self.uint_field(5, sample.response().0.min(i64::MAX as u64) << 1);
        self.uint_field(6, sample.bytes_out);
        self.uint_field(7, sample.bytes_in);
        self.text_field(8, batch.text(sample.error));
        self.text_field(9, batch.text(sample.body));
        self.text_field(10, target.method.as_bytes());
        self.text_field(11, target.url.as_bytes());
        self.headers_field(12, batch.text(sample.headers));
        self.bytes.push(0);
    }

    fn begin(&mut self, field: u8) {
        self.bytes.push(field - self.field);
        self.field = field;
    }

    fn uint(&mut self, value: u64) {
        if value < 0x80 {
            return self.bytes.push(value as u8);
        }
        let skip = value.leading_zeros() as usize / 8;
        self.bytes.push((8 - skip as u8).wrapping_neg());
        self.bytes.extend_from_slice(&value.to_be_bytes()[skip..]);
    }

    fn text(&mut self, text: &[u8]) {
        self.uint(text.len() as u64);
        self.bytes.extend_from_slice(text);
    }

    fn uint_field(&mut self, field: u8, value: u64) {
        if value > 0 {
            self.begin(field);
            self.uint(value);
        }
    }

    fn text_field(&mut self, field: u8, text: &[u8]) {
        if !text.is_empty() {
            self.begin(field);
            self.text(text);
        }
    }

    /// Go's `time.MarshalBinary`, version 1. Local time has offset 0 where it is UTC; only Go's `UTC` itself is -1.
    fn time(&mut self, unix_ns: i64, offset_s: i32) {
        let seconds = unix_ns.div_euclid(1_000_000_000) + YEAR_1_TO_1970_S;
        let nanos = unix_ns.rem_euclid(1_000_000_000) as u32;
        self.uint(15);
        self.bytes.push(1);
        self.bytes.extend_from_slice(&seconds.to_be_bytes());
        self.bytes.extend_from_slice(&nanos.to_be_bytes());
        self.bytes.extend_from_slice(&((offset_s / 60) as i16).to_be_bytes());
    }

    fn headers_field(&mut self, field: u8, lines: &[u8]) {
        let groups = grouped(lines);
        if groups.is_empty() {
            return;
        }
        self.begin(field);
        self.uint(groups.len() as u64);
        for (name, values) in groups {
            self.text(&name);
            self.uint(values.len() as u64);
            for value in values {
                self.text(value);
            }
        }
    }
}
