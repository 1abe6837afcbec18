//! Results of JMeter (JTL): CSV with the columns that its header names, and XML. It is read, never written here.
//!
//! A row is a sample. Transactions repeat the samples below them, and so do samples the ones they are made of (redirects,
//! embedded resources): each request counts once.

mod columns;
mod csv;
mod judge;
mod moment;
mod row;
mod split;
mod sub_results;
mod tags;
mod xml;

pub(crate) use csv::JtlRecords;
pub(crate) use xml::JtlXmlRecords;

use columns::Columns;

/// Whether the first line is JMeter's header, or a row of its default columns; `None` where it is not whole yet.
pub(crate) fn is_csv(text: &[u8], ended: bool) -> Option<bool> {
    let first = text.iter().position(|byte| *byte == b'\n');
    let line = match first {
        Some(end) => &text[..end],
        // No header is so long.
        None if text.len() > HEADER_MAX || ended => text,
        None => return None,
    };
    Some(Columns::of_first_line(line).is_some())
}

/// Whether it is XML with JMeter's root; `None` where that cannot be said yet.
pub(crate) fn is_xml(text: &[u8], ended: bool) -> Option<bool> {
    let front = &text[..text.len().min(HEADER_MAX)];
    let at = |tag: &[u8]| front.windows(tag.len()).any(|window| window == tag);
    if at(b"<testResults") {
        return Some(true);
    }
    let may_follow = front.starts_with(b"<?xml") || b"<?xml".starts_with(front) || at(b"<!--");
    let is_over = ended || front.len() == HEADER_MAX;
    (is_over || !may_follow && front.len() >= ROOT.len()).then_some(false)
}

const ROOT: &[u8] = b"<testResults";
/// Bytes of a first line, and of what stands before a root, at most.
const HEADER_MAX: usize = 16 << 10;
