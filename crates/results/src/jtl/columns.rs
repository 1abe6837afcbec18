//! `Columns`: what the header of a JTL names, its delimiter, and where each column stands.

use super::split::Split;

/// A column that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    TimeStamp,
    Elapsed,
    Label,
    ResponseCode,
    ResponseMessage,
    ThreadName,
    Success,
    FailureMessage,
    Bytes,
    SentBytes,
    Url,
    Latency,
    Connect,
}

/// The names of the columns that are read, in the order of [`Column`].
const READ: [&str; 13] = [
    "timeStamp",
    "elapsed",
    "label",
    "responseCode",
    "responseMessage",
    "threadName",
    "success",
    "failureMessage",
    "bytes",
    "sentBytes",
    "URL",
    "Latency",
    "Connect",
];

/// Further columns of JMeter's.
const OTHER: [&str; 9] = [
    "dataType",
    "grpThreads",
    "allThreads",
    "Filename",
    "Encoding",
    "SampleCount",
    "ErrorCount",
    "Hostname",
    "IdleTime",
];

/// The columns of a file without a header: JMeter's defaults.
const DEFAULT: &[u8] = b"timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,\
    sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect";

/// Where each column stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Columns {
    pub(super) delimiter: u8,
    /// How many columns a row has.
    pub(super) count: usize,
    /// Whether the first line names them, and is no row.
    pub(super) is_named: bool,
    places: [Option<usize>; READ.len()],
}

impl Columns {
    /// What the first line says, without its end; `None` where it is none of JMeter's.
    pub(super) fn of_first_line(line: &[u8]) -> Option<Self> {
        Self::of_header(line).or_else(|| Self::of_row(line))
    }

    /// The columns that a header names.
    fn of_header(line: &[u8]) -> Option<Self> {
        let delimiter = delimiter_of(line)?;
        let mut split = Split::default();
        split.record(line, delimiter, true)?;
        let count = split.len();
        let mut columns = Self { delimiter, count, is_named: true, places: [None; READ.len()] };
        for place in 0..count {
            let name = split.field(line, place).trim_ascii();
            if let Some(at) = READ.iter().position(|known| known.as_bytes() == name) {
                columns.places[at].get_or_insert(place);
            }
        }
        let speaks = [Column::Label, Column::ResponseCode, Column::Success, Column::TimeStamp];
        let is_jtl = columns.place(Column::Elapsed).is_some()
            && speaks.into_iter().any(|column| columns.place(column).is_some());
        is_jtl.then_some(columns)
    }

    /// The default columns, where a row fits them.
    fn of_row(line: &[u8]) -> Option<Self> {
        let columns = Self { is_named: false, ..Self::of_header(DEFAULT)? };
        let mut split = Split::default();
        split.record(line, columns.delimiter, true)?;
        let field = |column| columns.place(column).map_or(&b""[..], |at| split.field(line, at));
        let is_number = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
        let fits = split.len() == columns.count
            && is_number(field(Column::Elapsed))
            && is_number(field(Column::Latency))
            && matches!(field(Column::Success), b"true" | b"false");
        fits.then_some(columns)
    }

    /// The place of a column, from 0; `None` where the file has none.
    pub(super) const fn place(&self, column: Column) -> Option<usize> {
        self.places[column as usize]
    }
}

/// The byte behind the first name.
fn delimiter_of(line: &[u8]) -> Option<u8> {
    let is_quoted = line.first() == Some(&b'"');
    let name = if is_quoted { &line[1..] } else { line };
    let len = name.iter().position(|byte| !byte.is_ascii_alphanumeric())?;
    let first = std::str::from_utf8(&name[..len]).ok()?;
    if !READ.contains(&first) && !OTHER.contains(&first) {
        return None;
    }
    let after = if is_quoted { name[len..].strip_prefix(b"\"")?.first() } else { name.get(len) };
    after.copied().filter(|byte| !b"\r\n\"".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_say_columns_and_delimiters() {
        for (line, delimiter, elapsed) in [
            ("timeStamp,elapsed,label", b',', 1),
            ("label;elapsed;timeStamp;\"my var\"\r", b';', 1),
            ("\"timeStamp\"\t\"label\"\t\"elapsed\"", b'\t', 2),
            ("elapsed|success", b'|', 0),
        ] {
            let columns = Columns::of_first_line(line.as_bytes()).expect(line);
            assert_eq!(
                (columns.delimiter, columns.place(Column::Elapsed)),
                (delimiter, Some(elapsed))
            );
            assert!(columns.is_named);
        }
        for line in ["metric_name,timestamp,elapsed", "timeStamp", "label,success", "", "bytes;x"] {
            assert_eq!(Columns::of_first_line(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn a_row_of_the_default_columns_needs_no_header() {
        let row = b"1700000000000,12,a,200,OK,T 1-1,text,true,,10,20,1,1,http://h/,11,0,1";
        assert!(Columns::of_first_line(row).is_some_and(|columns| !columns.is_named));
        for other in
            ["1,200,1,0,0,,,bmFtZQ==,0,GET,http://h/,", "1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8"]
        {
            assert_eq!(Columns::of_first_line(other.as_bytes()), None);
        }
    }
}
