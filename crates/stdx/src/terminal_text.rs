//! Foreign text for a terminal: what a server, a script or a file says can neither move the cursor nor name the window.

/// Whether a character does something to what stands beside it instead of being shown: control characters, and those that order a
/// text from right to left or tag it (Unicode 16, 23.2 and 23.9), by which a label may read backwards. What joins letters and emoji
/// stays.
#[must_use]
pub fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Text for a terminal: what [`steers`] (a hostile server's status line may hold escape sequences) becomes U+FFFD.
#[must_use]
pub fn terminal_line(text: &str) -> String {
    text.chars().map(|c| if steers(c) && c != '\t' { '\u{fffd}' } else { c }).collect()
}

/// A text of several lines for a terminal, from a script or a server: escaped as by [`terminal_line`], except for line breaks and
/// colours (`ESC [ 1;31 m`). A colour ends with the text.
#[must_use]
pub fn terminal_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut is_coloured) = (text, false);
    while let Some(c) = rest.chars().next() {
        let colour = colour_len(rest);
        let len = colour.unwrap_or(c.len_utf8());
        let is_break = c == '\r' && rest.starts_with("\r\n");
        if colour.is_some() || matches!(c, '\n' | '\t') || !steers(c) {
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
            // Issue 42: a name that reads backwards.
            ("a\u{202e}gpj.exe\u{2069}", "a\u{fffd}gpj.exe\u{fffd}"),
            (
                "\u{200f}\u{61c}\u{feff}\u{e0041}\u{2028}",
                "\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}",
            ),
            (
                "\u{1f469}\u{200d}\u{1f680} \u{5e9}\u{5dc}\u{5d5}\u{5dd} \u{645}\u{6cc}\u{200c}\u{62e}",
                "\u{1f469}\u{200d}\u{1f680} \u{5e9}\u{5dc}\u{5d5}\u{5dd} \u{645}\u{6cc}\u{200c}\u{62e}",
            ),
        ] {
            assert_eq!(terminal_lines(text), expect, "{text:?}");
        }
    }
}
