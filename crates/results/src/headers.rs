//! Header lines as Vegeta keeps them: names in Go's canonical case, grouped and sorted by name.

/// Names with their values, sorted by name; values in their order of arrival.
pub(crate) fn grouped(lines: &[u8]) -> Vec<(Vec<u8>, Vec<&[u8]>)> {
    let mut groups: Vec<(Vec<u8>, Vec<&[u8]>)> = Vec::new();
    for line in lines.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let (name, value) = (canonical(&line[..colon]), line[colon + 1..].trim_ascii());
        match groups.iter_mut().find(|group| group.0 == name) {
            Some(group) => group.1.push(value),
            None => groups.push((name, vec![value])),
        }
    }
    groups.sort_by(|a, b| a.0.cmp(&b.0));
    groups
}

/// Go's `textproto.CanonicalMIMEHeaderKey`: a capital first and after each hyphen; left alone where it is no token.
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
    fn a_value_cannot_smuggle_a_line() {
        let mut lines = Vec::new();
        add_line(&mut lines, b"A", b"1\r\nB: 2");
        assert_eq!(lines, b"A: 1  B: 2\r\n");
    }
}
