//! Strangers' texts as JavaScript: the one place that makes strings, parts of templates, comments and names of them.
//! Nothing that passes through here can end the string, the template or the comment it stands in.

use std::fmt::Write as _;

/// The text as a string of JavaScript, in single quotes; in double quotes if that spares escapes.
pub(crate) fn string(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::with_capacity(text.len() + 2);
    out.push(quote);
    text.chars().for_each(|char| match char {
        char if char == quote => out.extend(['\\', char]),
        '\n' => out.push_str("\\n"),
        char => push_escaped(&mut out, char),
    });
    out.push(quote);
    out
}

/// The text as the literal part of a template. Line ends stay, as a JSON body reads best.
pub(crate) fn template_part(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '`' => out.push_str("\\`"),
            '$' if matches!(chars.peek(), None | Some('{')) => out.push_str("\\$"),
            '\n' => out.push('\n'),
            char => push_escaped(&mut out, char),
        }
    }
    out
}

/// The text as what follows `// ` in one line.
pub(crate) fn comment(text: &str) -> String {
    text.chars()
        .map(|char| if is_unsafe(char) { ' ' } else { char })
        .collect::<String>()
        .trim()
        .to_owned()
}

/// The text as the title of a check or a group, a string in which k6 allows no `::`.
pub(crate) fn title(text: &str) -> String {
    string(&text.replace("::", ": :"))
}

/// The text as a name: `camelCase`, letters and digits of ASCII, never a word of the language or of the script itself.
pub(crate) fn identifier(text: &str) -> String {
    let mut out = String::new();
    let mut upper = false;
    for char in text.chars().take(60) {
        if !char.is_ascii_alphanumeric() {
            upper = !out.is_empty();
        } else if out.is_empty() && char.is_ascii_digit() {
            out.extend(['n', char]);
        } else if out.is_empty() {
            out.push(char.to_ascii_lowercase());
        } else {
            out.push(if upper { char.to_ascii_uppercase() } else { char });
            upper = false;
        }
    }
    match out.as_str() {
        "" => "value".to_owned(),
        word if WORDS.contains(&word) => format!("{word}_"),
        _ => out,
    }
}

/// The text as the name of a constant: `CAPITALS_WITH_UNDERSCORES`.
pub(crate) fn constant(text: &str) -> String {
    let name: String = text
        .chars()
        .take(60)
        .map(|char| if char.is_ascii_alphanumeric() { char.to_ascii_uppercase() } else { '_' })
        .collect();
    let name = name.trim_matches('_');
    if name.is_empty() || name.starts_with(|char: char| char.is_ascii_digit()) {
        format!("VALUE_{name}")
    } else {
        name.to_owned()
    }
}

/// The text as the key of an object: bare if it may be, else a string.
pub(crate) fn key(text: &str) -> String {
    if is_name(text) && text != "__proto__" { text.to_owned() } else { computed_key(text) }
}

/// `__proto__` sets an object's prototype unless it is computed.
fn computed_key(text: &str) -> String {
    if text == "__proto__" { "['__proto__']".to_owned() } else { string(text) }
}

/// What follows an object to get at a member: `.name` or `['a name']`.
pub(crate) fn member(text: &str) -> String {
    if is_name(text) { format!(".{text}") } else { format!("[{}]", string(text)) }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_')
        && text.chars().all(|char| char.is_ascii_alphanumeric() || char == '_')
}

fn push_escaped(out: &mut String, char: char) {
    match char {
        '\\' => out.push_str("\\\\"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        char if is_unsafe(char) => {
            let mut units = [0; 2];
            for unit in char.encode_utf16(&mut units) {
                write!(out, "\\u{unit:04x}").expect("a String takes all that is written");
            }
        }
        char => out.push(char),
    }
}

/// Controls, line ends of JavaScript, and what turns the direction of text around.
fn is_unsafe(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Words of JavaScript, and names that every script has.
const WORDS: &[&str] = &[
    "arguments",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "eval",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "undefined",
    "var",
    "void",
    "while",
    "with",
    "yield",
    "async",
    "http",
    "check",
    "group",
    "sleep",
    "options",
    "encoding",
    "crypto",
    "found",
    "res",
    "open",
    "ws",
    "setup",
    "teardown",
    "formEncode",
    "multipart",
    "bytesOf",
    "between",
    "fromHtml",
    "fromJson",
    "inJson",
    "signed",
    "signedV4",
    "converse",
    "cookie",
    "follow",
    "withUser",
    "fileOfSize",
    "uuid",
    "handleSummary",
    "prototype",
    "constructor",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_what_it_stands_in() {
        assert_eq!(string("it's"), "\"it's\"");
        assert_eq!(string("';evil()//"), "\"';evil()//\"");
        assert_eq!(string("'\";evil()//"), "'\\'\";evil()//'");
        assert_eq!(string("a\\'\n\r\u{2028}\0"), "\"a\\\\'\\n\\r\\u2028\\u0000\"");
        assert_eq!(template_part("`${evil()}`"), "\\`\\${evil()}\\`");
        assert_eq!(template_part("5$"), "5\\$");
        assert_eq!(template_part("\\${x}\\"), "\\\\\\${x}\\\\");
        assert_eq!(comment("a\nevil()\u{2028}evil()\r\u{202e}x"), "a evil() evil()  x");
    }

    #[test]
    fn names_are_names() {
        assert_eq!(identifier("csrf-token"), "csrfToken");
        assert_eq!(identifier("user[name]"), "userName");
        assert_eq!(identifier("42 things"), "n42Things");
        assert_eq!(identifier("delete"), "delete_");
        assert_eq!(identifier("größe"), "grE");
        assert_eq!(identifier("…"), "value");
        assert_eq!(constant("api.shop.example"), "API_SHOP_EXAMPLE");
        assert_eq!(key("__proto__"), "['__proto__']");
        assert_eq!(key("a-b"), "'a-b'");
        assert_eq!(member("a b"), "['a b']");
    }
}
