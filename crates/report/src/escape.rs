//! Escaping: one place that turns foreign text (URLs, error texts, labels) into text that cannot break out of XML, HTML,
//! a script element or a Markdown table. It decides nothing about layout.

/// Text for XML or HTML, between tags or in a quoted attribute. Characters XML 1.0 forbids become U+FFFD.
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
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
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
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Text for a terminal: control characters (a hostile server's status line may hold escape sequences) become U+FFFD.
pub(crate) fn terminal(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\t' { '\u{fffd}' } else { c }).collect()
}

/// A text of several lines for a terminal, from a script or a server: escaped as by `terminal`, except for line breaks and
/// colours (`ESC [ 1;31 m`). A colour ends with the text.
#[must_use]
pub fn terminal_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut is_coloured) = (text, false);
    while let Some(c) = rest.chars().next() {
        let colour = colour_len(rest);
        let len = colour.unwrap_or(c.len_utf8());
        let is_break = c == '\r' && rest.starts_with("\r\n");
        if colour.is_some() || matches!(c, '\n' | '\t') || !c.is_control() {
            out.push_str(&rest[..len]);
        } else if !is_break {
            out.push('\u{fffd}');
        }
        is_coloured |= colour.is_some();
        rest = &rest[len..];
    }
    if is_coloured {
        out.push_str("\x1b[0m");
    }
    out
}

/// The length of the colour that a text begins with: ECMA-48, 8.3.117.
fn colour_len(text: &str) -> Option<usize> {
    let rest = text.strip_prefix("\x1b[")?;
    let digits =
        rest.bytes().take_while(|b| b.is_ascii_digit() || matches!(b, b';' | b':')).count();
    rest[digits..].starts_with('m').then_some(digits + 3)
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
        assert_eq!(terminal("a\u{1b}[2Jb\r\n"), "a\u{fffd}[2Jb\u{fffd}\u{fffd}");
    }

    #[test]
    fn a_terminal_gets_lines_and_colours_and_nothing_else() {
        for (text, expect) in [
            ("a\tb\r\nc\n", "a\tb\nc\n"),
            ("a\rb", "a\u{fffd}b"),
            ("\x1b]0;owned\x07", "\u{fffd}]0;owned\u{fffd}"),
            ("\x1b]52;c;eA==\x1b\\", "\u{fffd}]52;c;eA==\u{fffd}\\"),
            ("\x1b[2J\x1b[6n\u{9b}2J", "\u{fffd}[2J\u{fffd}[6n\u{fffd}2J"),
            ("\x1b[1;31mred", "\x1b[1;31mred\x1b[0m"),
            ("\x1b[1;31", "\u{fffd}[1;31"),
            ("\x1b", "\u{fffd}"),
        ] {
            assert_eq!(terminal_lines(text), expect, "{text:?}");
        }
    }
}
