//! Rust source text, split into code and comments by a small lexer. It knows strings, raw strings, characters, lifetimes and
//! nested comments; it does not parse.

/// A source text in two layers of the same lines and columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layers {
    /// The code; comments and the insides of strings and characters are blank.
    pub(crate) code: String,
    /// The comments; all else is blank.
    pub(crate) comments: String,
}

/// Splits a source text.
pub(crate) fn split(text: &str) -> Layers {
    let chars: Vec<char> = text.chars().collect();
    let mut layers = Layers::default();
    let mut at = 0;
    while at < chars.len() {
        let (end, kind) = token(&chars, at);
        for &char in &chars[at..end] {
            let blank = if char == '\n' { '\n' } else { ' ' };
            layers.code.push(if kind == Kind::Code { char } else { blank });
            layers.comments.push(if kind == Kind::Comment { char } else { blank });
        }
        at = end;
    }
    layers
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Code,
    Comment,
    Text,
}

/// Where the token that begins at `at` ends, and what it is. Code goes one identifier or one sign at a time.
fn token(chars: &[char], at: usize) -> (usize, Kind) {
    let next = |ahead: usize| chars.get(at + ahead).copied().unwrap_or('\0');
    match (next(0), next(1)) {
        ('/', '/') => (until(chars, at, |c| c == '\n'), Kind::Comment),
        ('/', '*') => (end_of_block_comment(chars, at), Kind::Comment),
        ('"', _) => (end_of_quoted(chars, at + 1, '"'), Kind::Text),
        ('\'', '\\') => (end_of_quoted(chars, at + 1, '\''), Kind::Text),
        ('\'', _) if next(2) == '\'' => (at + 3, Kind::Text),
        (first, _) if first.is_alphanumeric() || first == '_' => {
            let end = until(chars, at, |c| !(c.is_alphanumeric() || c == '_'));
            raw_string(chars, at, end).map_or((end, Kind::Code), |end| (end, Kind::Text))
        }
        _ => (at + 1, Kind::Code),
    }
}

/// The end of the raw string whose prefix (`r`, `br`, `cr`) lies at `at..end`, if that is what it is.
fn raw_string(chars: &[char], at: usize, end: usize) -> Option<usize> {
    let prefix: String = chars[at..end].iter().collect();
    if !matches!(prefix.as_str(), "r" | "br" | "cr") {
        return None;
    }
    let quote = until(chars, end, |c| c != '#');
    if chars.get(quote) != Some(&'"') {
        return None;
    }
    let hashes = quote - end;
    let closes = |from: usize| chars[from + 1..].iter().take(hashes).filter(|c| **c == '#').count();
    let mut at = quote + 1;
    while at < chars.len() && !(chars[at] == '"' && closes(at) == hashes) {
        at += 1;
    }
    Some((at + 1 + hashes).min(chars.len()))
}

fn until(chars: &[char], at: usize, stop: impl Fn(char) -> bool) -> usize {
    chars[at..].iter().position(|c| stop(*c)).map_or(chars.len(), |found| at + found)
}

fn end_of_quoted(chars: &[char], mut at: usize, quote: char) -> usize {
    while at < chars.len() && chars[at] != quote {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(chars.len())
}

fn end_of_block_comment(chars: &[char], mut at: usize) -> usize {
    let mut depth = 0;
    while at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('/', Some('*')) => (depth, at) = (depth + 1, at + 2),
            ('*', Some('/')) => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    chars.len()
}

/// Whether a file is compiled for tests alone.
pub(crate) fn is_test_file(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("/tests.rs")
}

/// The lines (from 0) of code that are compiled for tests alone: each `#[cfg(test)]` with the braces that follow it.
pub(crate) fn test_lines(code: &str) -> Vec<bool> {
    let lines: Vec<&str> = code.lines().collect();
    let mut marked = vec![false; lines.len()];
    let mut at = 0;
    while at < lines.len() {
        if !lines[at].contains("#[cfg(test)]") {
            at += 1;
            continue;
        }
        let end = end_of_item(&lines, at);
        marked[at..end].fill(true);
        at = end;
    }
    marked
}

/// The line after the item that begins at line `at`: after its closing brace, or its semicolon.
fn end_of_item(lines: &[&str], at: usize) -> usize {
    let mut depth = 0_i64;
    for (offset, line) in lines[at..].iter().enumerate() {
        for char in line.chars() {
            match char {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            if depth == 0 && matches!(char, '}' | ';') {
                return at + offset + 1;
            }
        }
    }
    lines.len()
}

/// Whether `code` has `word` as a whole word (letters, digits and `_` are what words are made of).
pub(crate) fn has_word(code: &str, word: &str) -> bool {
    let in_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    code.match_indices(word).any(|(at, _)| {
        !in_word(code[..at].chars().next_back()) && !in_word(code[at + word.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, code: &str, comments: &str) {
        let layers = split(text);
        let words = |layer: &str| layer.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!((words(&layers.code), words(&layers.comments)), (code.into(), comments.into()));
        assert_eq!(layers.code.lines().count(), text.lines().count());
        assert_eq!(layers.code.chars().count(), text.chars().count());
    }

    #[test]
    fn code_and_comments_part() {
        check("let a = 1; // why", "let a = 1;", "// why");
        check("a /* b /* c */ d */ e", "a e", "/* b /* c */ d */");
        check("f(\"// no \\\" comment\") // yes", "f( )", "// yes");
        check("f(r#\"a \" // b\"#, br\"\\\");", "f( , );", "");
        check("let c = '\"'; let d = '\\''; x", "let c = ; let d = ; x", "");
        check("fn f<'a>(a: &'a str) {} // end", "fn f<'a>(a: &'a str) {}", "// end");
        check("let r = 1; number(r)", "let r = 1; number(r)", "");
        check("\"never closed", "", "");
        check("/* never closed", "", "/* never closed");
    }

    #[test]
    fn test_modules_are_marked_to_their_last_brace() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n  fn b() {}\n}\nfn c() {}\n#[cfg(test)]\nmod far;\nfn d() {}\n";
        assert_eq!(test_lines(text), [false, true, true, true, true, false, true, true, false]);
    }

    #[test]
    fn words_are_whole() {
        assert!(has_word("unsafe { a }", "unsafe"));
        assert!(!has_word("deny(unsafe_code)", "unsafe"));
        assert!(has_word("a(todo!())", "todo!"));
    }
}
