//! `JtlXmlRecords`: JMeter's XML. A record is a sample with all that stands below it.

use std::borrow::Cow;

use super::judge::Ending;
use super::moment::{Moments, whole};
use super::row::JtlRow;
use super::sub_results::is_transaction;
use super::tags::{Tag, Tags, attributes, unescape};
use crate::fill::Filler;
use crate::source::Records;

/// Reads JMeter's XML.
#[derive(Default)]
pub(crate) struct JtlXmlRecords {
    moments: Moments,
    lines: u64,
    samples: u64,
    /// The root was opened and not closed.
    is_open: bool,
    /// Why reading has ended within a sample, of which some rows were taken: they must not be taken once more.
    fault: Option<String>,
}

/// Elements that stand in one another at most.
const DEPTH_MAX: usize = 64;

impl Records for JtlXmlRecords {
    fn take(
        &mut self,
        bytes: &[u8],
        _ended: bool,
        filler: &mut Filler<'_>,
    ) -> Result<Option<usize>, String> {
        if let Some(reason) = &self.fault {
            return Err(reason.clone());
        }
        let blank = bytes.len() - bytes.trim_ascii_start().len();
        if blank == bytes.len() {
            return Ok(Some(self.pass(bytes, blank)));
        }
        let mut tags = Tags::new(bytes);
        let Some((text, tag)) = tags.next() else { return Ok(None) };
        if !text.trim_ascii().is_empty() {
            return Err(format!("line {}: text between samples", self.lines + 1));
        }
        let line = self.lines + 1 + lines_in(&bytes[..blank]);
        let of_line = |reason: String| format!("line {line}: {reason}");
        match tag {
            Tag::Aside | Tag::Empty { name: ROOT, .. } => {}
            Tag::Open { name: ROOT, .. } => self.is_open = true,
            Tag::Close(ROOT) => self.is_open = false,
            Tag::Open { name, .. } | Tag::Empty { name, .. } if is_sample(name) => {
                let Some(len) = extent(bytes).map_err(of_line)? else { return Ok(None) };
                if let Err(reason) = self.sample(&bytes[..len], filler).map_err(of_line) {
                    return Err(self.fault.insert(reason).clone());
                }
                return Ok(Some(self.pass(bytes, len)));
            }
            other => return Err(of_line(format!("{} is no sample", shown(other)))),
        }
        Ok(Some(self.pass(bytes, tags.at)))
    }

    fn lost(&mut self, bytes: usize) -> Option<String> {
        let is_cut = std::mem::take(&mut self.is_open) || bytes > 0;
        let bytes = stdx::counted(bytes as u64, "byte");
        is_cut.then(|| {
            format!(
                "cut off: it does not end with </testResults> (line {}, {bytes} lost)",
                self.lines + 1
            )
        })
    }
}

const ROOT: &[u8] = b"testResults";

fn is_sample(name: &[u8]) -> bool {
    matches!(name, b"httpSample" | b"sample")
}

fn lines_in(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}

/// A tag for a message.
fn shown(tag: Tag<'_>) -> String {
    let name = |name: &[u8]| stdx::cut_text(&String::from_utf8_lossy(name), 40).to_string();
    match tag {
        Tag::Open { name: of, .. } | Tag::Empty { name: of, .. } => format!("<{}>", name(of)),
        Tag::Close(of) => format!("</{}>", name(of)),
        Tag::Aside => "a comment".to_owned(),
    }
}

/// The length of the element at the front; `None` where it is not whole.
fn extent(bytes: &[u8]) -> Result<Option<usize>, String> {
    let mut tags = Tags::new(bytes);
    let mut open: Vec<&[u8]> = Vec::new();
    while let Some((_, tag)) = tags.next() {
        match tag {
            Tag::Open { name, .. } => open.push(name),
            Tag::Close(name) if open.pop() != Some(name) => {
                return Err(format!("{} closes another element", shown(tag)));
            }
            Tag::Close(_) | Tag::Empty { .. } | Tag::Aside => {}
        }
        if open.is_empty() && tag != Tag::Aside {
            return Ok(Some(tags.at));
        }
        if open.len() > DEPTH_MAX {
            return Err(format!("more than {DEPTH_MAX} elements in one another"));
        }
    }
    Ok(None)
}

impl JtlXmlRecords {
    /// Counts the lines of what is done with; returns its length.
    fn pass(&mut self, bytes: &[u8], len: usize) -> usize {
        self.lines += lines_in(&bytes[..len]);
        len
    }

    /// Adds a whole sample, or where it is a transaction those below it.
    fn sample(&mut self, element: &[u8], filler: &mut Filler<'_>) -> Result<(), String> {
        let mut tags = Tags::new(element);
        let mut open: Vec<XmlSample<'_>> = Vec::new();
        while let Some((text, tag)) = tags.next() {
            match tag {
                Tag::Open { name, attributes } if is_sample(name) => {
                    open.push(XmlSample::new(attributes, open.last()));
                }
                Tag::Empty { name, attributes } if is_sample(name) => {
                    let sample = XmlSample::new(attributes, open.last());
                    self.push(&sample, filler)?;
                }
                Tag::Close(name) if is_sample(name) => {
                    if let Some(sample) = open.pop() {
                        self.push(&sample, filler)?;
                    }
                }
                Tag::Close(name) => {
                    if let Some(sample) = open.last_mut() {
                        sample.note(name, text);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn push(&mut self, sample: &XmlSample<'_>, filler: &mut Filler<'_>) -> Result<(), String> {
        if sample.may_count && !sample.is_transaction {
            sample.row(&mut self.moments)?.push(self.samples, filler);
            self.samples += 1;
        }
        Ok(())
    }
}

/// A sample under way.
#[derive(Default)]
struct XmlSample<'a> {
    values: [Cow<'a, [u8]>; ATTRIBUTES.len()],
    url: Cow<'a, [u8]>,
    method: Cow<'a, [u8]>,
    /// The words of the first assertion that failed.
    failure: Option<Cow<'a, [u8]>>,
    /// The assertion that is read has failed.
    has_failed: bool,
    is_transaction: bool,
    /// Nothing above it was counted.
    may_count: bool,
}

/// The attributes that are read, in the order of [`Attribute`].
const ATTRIBUTES: [&[u8]; 10] =
    [b"ts", b"t", b"lt", b"ct", b"by", b"sby", b"lb", b"rc", b"rm", b"s"];

/// An attribute of a sample.
#[derive(Clone, Copy)]
enum Attribute {
    Start,
    Elapsed,
    Latency,
    Connect,
    Bytes,
    SentBytes,
    Label,
    Code,
    Message,
    Success,
}

impl<'a> XmlSample<'a> {
    fn new(all: &'a [u8], above: Option<&Self>) -> Self {
        let mut new = Self {
            may_count: above.is_none_or(|above| above.may_count && above.is_transaction),
            ..Self::default()
        };
        for (name, value) in attributes(all) {
            if let Some(at) = ATTRIBUTES.iter().position(|known| *known == name) {
                new.values[at] = unescape(value);
            }
        }
        new.is_transaction = is_transaction(new.value(Attribute::Message));
        new
    }

    fn value(&self, attribute: Attribute) -> &[u8] {
        &self.values[attribute as usize]
    }

    /// Takes in the text of an element that has closed.
    fn note(&mut self, name: &[u8], text: &'a [u8]) {
        match name {
            b"java.net.URL" => self.url = unescape(text),
            b"method" => self.method = unescape(text),
            b"failure" | b"error" => self.has_failed |= text == b"true",
            b"failureMessage" if self.has_failed && self.failure.is_none() => {
                self.failure = Some(unescape(text));
            }
            b"assertionResult" => self.has_failed = false,
            _ => {}
        }
    }

    fn row<'b>(&'b self, moments: &mut Moments) -> Result<JtlRow<'b>, String> {
        let start = self.value(Attribute::Start);
        let start = moments
            .unix_ns(start)
            .ok_or_else(|| format!("ts: \"{}\" is no time", String::from_utf8_lossy(start)))?;
        Ok(JtlRow {
            start,
            elapsed_ms: self.number(Attribute::Elapsed)?,
            latency_ms: self.number(Attribute::Latency)?,
            connect_ms: self.number(Attribute::Connect)?,
            bytes: self.number(Attribute::Bytes)?,
            sent_bytes: self.number(Attribute::SentBytes)?,
            label: self.value(Attribute::Label),
            method: &self.method,
            url: &self.url,
            said: Ending {
                code: self.value(Attribute::Code),
                message: self.value(Attribute::Message),
                success: self.success(),
                failure_message: self.failure.as_deref().unwrap_or_default(),
            },
        })
    }

    /// A number; 0 where the sample has no such attribute.
    fn number(&self, attribute: Attribute) -> Result<u64, String> {
        let text = self.value(attribute);
        if text.is_empty() && !matches!(attribute, Attribute::Elapsed) {
            return Ok(0);
        }
        whole(text).ok_or_else(|| {
            let name = String::from_utf8_lossy(ATTRIBUTES[attribute as usize]);
            format!("{name}: \"{}\" is no number that fits", String::from_utf8_lossy(text))
        })
    }

    fn success(&self) -> Option<bool> {
        match self.value(Attribute::Success) {
            b"true" => Some(true),
            b"false" => Some(false),
            _ => None,
        }
    }
}
