//! How deep lists and mappings in brackets stand in one another in a text of YAML. Its reader looks through all that are open at each
//! word, so that a text of brackets alone would take hours; it is refused before that.

/// Brackets that are open at most. The reader itself refuses a tree that is deeper than 128.
const OPEN_MAX: usize = 1_000;

/// Whether more brackets are open at some place than any document that can be read has. What stands in quotation marks, comments and
/// the midst of a text is not counted.
pub(super) fn is_too_deep(text: &str) -> bool {
    let (bytes, mut at, mut before, mut open) = (text.as_bytes(), 0, b'\n', 0_usize);
    while let Some(byte) = bytes.get(at).copied() {
        let begins = b"\n:,[{-?".contains(&before);
        match byte {
            b'"' | b'\'' if begins => at = quoted(bytes, at),
            b'#' if at == 0 || bytes[at - 1].is_ascii_whitespace() => at = line_end(bytes, at),
            b'[' | b'{' if begins => open += 1,
            b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        if open > OPEN_MAX {
            return true;
        }
        if !matches!(byte, b' ' | b'\t' | b'\r' | b'#') {
            before = byte;
        }
        at += 1;
    }
    false
}

/// Where a text in quotation marks ends: at its closing one, or at the end of all.
fn quoted(bytes: &[u8], begin: usize) -> usize {
    let (quote, mut at) = (bytes[begin], begin + 1);
    while at < bytes.len() && bytes[at] != quote {
        at += if bytes[at] == b'\\' && quote == b'"' { 2 } else { 1 };
    }
    at
}

/// The last place of a line before its end.
fn line_end(bytes: &[u8], begin: usize) -> usize {
    let rest = &bytes[begin..];
    begin + rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()).max(1) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issue_42_brackets_without_end_are_refused_at_once() {
        for deep in [
            format!("openapi: 3.0.0\npaths: {}", "[".repeat(200_000)),
            format!("a: {}", "{a: ".repeat(2_000)),
            format!("a:\n - {}", "[ # ]\n".repeat(2_000)),
            format!("a: {}", "[\"]]\", ".repeat(2_000)),
            "[\n".repeat(2_000),
        ] {
            assert!(is_too_deep(&deep), "{}", &deep[..40]);
        }
        let half_open = "  description: a value of [0, 1) or of {x\n".repeat(5_000);
        let lists = "  - [a, \"[\", '[[', {b: c}] # [[[\n".repeat(5_000);
        for sound in [half_open, lists, format!("a: '{}'", "[".repeat(5_000)), String::new()] {
            assert!(!is_too_deep(&sound), "{}", &sound[..sound.len().min(40)]);
        }
        let document = super::super::document::Document::parse(&"[\n".repeat(2_000));
        assert!(document.is_err_and(|error| error.to_string().contains("brackets")));
    }
}
