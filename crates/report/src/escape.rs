//! Escaping: one place that turns foreign text (URLs, error texts, labels) into text that cannot break out of XML, HTML,
//! a script element or a Markdown table. It decides nothing about layout.

pub(crate) use stdx::terminal_line as terminal;
pub use stdx::terminal_lines;

/// Text for XML or HTML, between tags or in a quoted attribute. Characters XML 1.0 forbids, and those by which a text
/// would read backwards, become U+FFFD.
#[must_use]
pub fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if stdx::steers(c) || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A JSON string literal that is also safe inside a `<script>` element, as Go's encoder writes it: `&`, `<`, `>`, U+2028 and
/// U+2029 are escaped.
pub(crate) fn json(text: &str) -> String {
    let plain = serde_json::Value::from(text).to_string();
    let mut out = String::with_capacity(plain.len());
    for c in plain.chars() {
        match c {
            '&' | '<' | '>' | '\u{2028}' | '\u{2029}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out
}

/// Text for one cell of a Markdown table: one line, no markup of its own.
pub(crate) fn markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '~' | '@' => {
                out.push('\\');
                out.push(c);
            }
            c if stdx::steers(c) => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_breaks_out() {
        let evil = "</script><b>\"'&\u{2028}\u{1b}[2J|`";
        let xml = xml(evil);
        assert!(!xml.contains(['<', '>', '"', '\'', '\u{1b}']), "{xml}");
        let json = json(evil);
        assert!(!json[1..json.len() - 1].contains(['<', '>', '&', '\u{2028}', '\u{1b}']), "{json}");
        let back: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(back, evil);
        assert_eq!(markdown("a|b\n<c>"), "a\\|b &lt;c&gt;");
        let backwards = "a\u{202e}b\u{2066}c";
        assert_eq!(super::xml(backwards), "a\u{fffd}b\u{fffd}c");
        assert_eq!(markdown(backwards), "a b c");
        assert_eq!(terminal("a\u{1b}[2Jb\r\n"), "a\u{fffd}[2Jb\u{fffd}\u{fffd}");
    }
}
