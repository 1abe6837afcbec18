//! Header lines in Vegeta's form: names in Go's canonical case, grouped and sorted by name. Those of a record are bounded on
//! read: a file may name a field once and give it a million values, each of which would be a line with that name.

/// The most bytes that the header lines of one record may take.
pub(crate) const HEADERS_MAX: usize = 1 << 20;

/// The header lines of a record that is read.
#[derive(Debug, Default)]
pub(crate) struct HeaderLines {
    lines: Vec<u8>,
    is_too_large: bool,
}

impl HeaderLines {
    /// Makes ready for the next record.
    pub(crate) fn clear(&mut self) {
        self.lines.clear();
        self.is_too_large = false;
    }

    /// Adds a line, as long as there is room for it.
    pub(crate) fn add(&mut self, name: &[u8], value: &[u8]) {
        let len = name.len() + value.len() + ": \r\n".len();
        self.is_too_large |= self.lines.len() + len > HEADERS_MAX;
        if !self.is_too_large {
            add_line(&mut self.lines, name, value);
        }
    }

    /// The lines; `seq` is the record's number.
    ///
    /// # Errors
    /// There was no room for all of them.
    pub(crate) fn whole(&self, seq: u64) -> Result<&[u8], String> {
        match self.is_too_large {
            true => Err(format!("the headers of record {seq} take more than {HEADERS_MAX} bytes")),
            false => Ok(&self.lines),
        }
    }
}

/// Names with their values, sorted by name; values in their order of arrival.
pub(crate) fn grouped(lines: &[u8]) -> Vec<(Vec<u8>, Vec<&[u8]>)> {
    let mut fields: Vec<(Vec<u8>, &[u8])> = Vec::new();
    for line in lines.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        fields.push((canonical(&line[..colon]), line[colon + 1..].trim_ascii()));
    }
    fields.sort_by(|a, b| a.0.cmp(&b.0));
    let mut groups: Vec<(Vec<u8>, Vec<&[u8]>)> = Vec::new();
    for (name, value) in fields {
        match groups.last_mut() {
            Some(group) if group.0 == name => group.1.push(value),
            _ => groups.push((name, vec![value])),
        }
    }
    groups
}

/// Go's `textproto.CanonicalMIMEHeaderKey`: a capital first and after each hyphen; a name that is not a token is unchanged.
fn canonical(name: &[u8]) -> Vec<u8> {
    let is_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    if !name.iter().all(is_token) {
        return name.to_vec();
    }
    let mut upper = true;
    let case = |byte: &u8| {
        let cased = if upper { byte.to_ascii_uppercase() } else { byte.to_ascii_lowercase() };
        upper = *byte == b'-';
        cased
    };
    name.iter().map(case).collect()
}

/// Adds the line `Name: value\r\n`. A line break inside would make two lines of it and becomes a space.
pub(crate) fn add_line(lines: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    let flat = |byte: &u8| if matches!(byte, b'\r' | b'\n') { b' ' } else { *byte };
    lines.extend(name.iter().map(flat));
    lines.extend_from_slice(b": ");
    lines.extend(value.iter().map(flat));
    lines.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_and_sorts() {
        let lines = b"x-b: 1\r\nContent-type:text/plain\r\nX-B: 2\r\nno colon\r\n\r\n";
        let groups = grouped(lines);
        let expect: Vec<(Vec<u8>, Vec<&[u8]>)> = vec![
            (b"Content-Type".to_vec(), vec![b"text/plain"]),
            (b"X-B".to_vec(), vec![b"1", b"2"]),
        ];
        assert_eq!(groups, expect);
    }

    #[test]
    fn the_lines_of_a_record_are_bounded() {
        let mut lines = HeaderLines::default();
        for _ in 0..1_000_000 {
            lines.add(&[b'a'; 1_000], b"");
        }
        assert!(lines.lines.len() <= HEADERS_MAX && lines.lines.capacity() <= 2 * HEADERS_MAX);
        let error = lines.whole(7).expect_err("too large");
        assert_eq!(error, "the headers of record 7 take more than 1048576 bytes");
        lines.clear();
        lines.add(b"A", b"1");
        assert_eq!(lines.whole(8), Ok(&b"A: 1\r\n"[..]));
    }

    #[test]
    fn a_value_cannot_smuggle_a_line() {
        let mut lines = Vec::new();
        add_line(&mut lines, b"A", b"1\r\nB: 2");
        assert_eq!(lines, b"A: 1  B: 2\r\n");
    }
}
