//! Headers in results: lines as they were received.

/// The value of the first header line of this name, which is in lower case.
pub(crate) fn header<'a>(lines: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    lines.split(|byte| *byte == b'\n').find_map(|line| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let (found, value) = (&line[..colon], &line[colon + 1..]);
        found.eq_ignore_ascii_case(name).then(|| value.trim_ascii())
    })
}
