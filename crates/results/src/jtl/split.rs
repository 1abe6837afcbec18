//! `Split`: one record of CSV as its fields. Fields stay where they are, but for those in quotes.

/// The fields of one record.
#[derive(Debug, Default)]
pub(super) struct Split {
    fields: Vec<Field>,
    /// Fields that stood in quotes, without them.
    unquoted: Vec<u8>,
    /// Line ends within the record, its own included.
    pub(super) lines: u64,
}

/// Where a field is.
#[derive(Clone, Copy, Debug)]
struct Field {
    start: usize,
    end: usize,
    is_unquoted: bool,
}

impl Split {
    /// Splits the first record; returns its length with the line's end, or `None` where it is incomplete.
    pub(super) fn record(&mut self, bytes: &[u8], delimiter: u8, ended: bool) -> Option<usize> {
        self.fields.clear();
        self.unquoted.clear();
        self.lines = 0;
        let mut at = 0;
        loop {
            let end = match bytes.get(at) {
                Some(b'"') => self.quoted(bytes, at, delimiter)?,
                _ => self.plain(bytes, at, delimiter),
            };
            match bytes.get(end) {
                Some(b'\n') => {
                    self.lines += 1;
                    return Some(end + 1);
                }
                Some(_) => at = end + 1,
                None => return ended.then_some(end),
            }
        }
    }

    /// A field up to its delimiter or the line's end; returns the place of that.
    fn plain(&mut self, bytes: &[u8], start: usize, delimiter: u8) -> usize {
        let rest = &bytes[start..];
        let len = rest.iter().position(|byte| *byte == delimiter || *byte == b'\n');
        let stop = start + len.unwrap_or(rest.len());
        let is_last = bytes.get(stop).is_none_or(|byte| *byte == b'\n');
        let has_return = is_last && stop > start && bytes[stop - 1] == b'\r';
        let end = stop - usize::from(has_return);
        self.fields.push(Field { start, end, is_unquoted: false });
        stop
    }

    /// A field in quotes, doubled ones inside of it stand for one; `None` where it does not end.
    fn quoted(&mut self, bytes: &[u8], from: usize, delimiter: u8) -> Option<usize> {
        let start = self.unquoted.len();
        let mut at = from + 1;
        loop {
            let len = bytes[at..].iter().position(|byte| *byte == b'"')?;
            self.take(&bytes[at..at + len]);
            at += len + 1;
            match bytes.get(at) {
                Some(b'"') => self.unquoted.push(b'"'),
                _ => break,
            }
            at += 1;
        }
        let rest = &bytes[at..];
        let len = rest.iter().position(|byte| *byte == delimiter || *byte == b'\n');
        let stop = at + len.unwrap_or(rest.len());
        self.take(bytes[at..stop].trim_ascii_end());
        self.fields.push(Field { start, end: self.unquoted.len(), is_unquoted: true });
        Some(stop)
    }

    fn take(&mut self, piece: &[u8]) {
        self.lines += piece.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.unquoted.extend_from_slice(piece);
    }

    /// How many fields it has.
    pub(super) fn len(&self) -> usize {
        self.fields.len()
    }

    /// The field of this place; `bytes` are those that were split.
    pub(super) fn field<'a>(&'a self, bytes: &'a [u8], place: usize) -> &'a [u8] {
        match self.fields.get(place) {
            Some(Field { start, end, is_unquoted: true }) => &self.unquoted[*start..*end],
            Some(Field { start, end, .. }) => &bytes[*start..*end],
            None => b"",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_hold_delimiters_line_ends_and_quotes() {
        let cases: [(&[u8], &[&[u8]], u64); 5] = [
            (b"a;b,c;\n", &[b"a", b"b,c", b""], 1),
            (b"a;\"b;\"\"c\"\"\nd\";e\r\nnext", &[b"a", b"b;\"c\"\nd", b"e"], 2),
            (b"\"\";\"\"\n", &[b"", b""], 1),
            (b"a;\r\n", &[b"a", b""], 1),
            (b"a\";b\n", &[b"a\"", b"b"], 1),
        ];
        for (bytes, expect, lines) in cases {
            let mut split = Split::default();
            let len = split.record(bytes, b';', false).expect("it is whole");
            assert!(bytes[..len].ends_with(b"\n"));
            let found: Vec<&[u8]> = (0..split.len()).map(|at| split.field(bytes, at)).collect();
            assert_eq!((found.as_slice(), split.lines), (expect, lines));
        }
    }

    #[test]
    fn a_record_without_its_end_is_incomplete() {
        let mut split = Split::default();
        assert_eq!(split.record(b"a;b", b';', false), None);
        assert_eq!(split.record(b"a;b", b';', true), Some(3));
        assert_eq!(split.record(b"a;\"b\n", b';', true), None);
    }
}
