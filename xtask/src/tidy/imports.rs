//! The imports and paths of a source text: `use` trees taken apart, and paths written out in code. It reads code whose
//! comments and texts are blank, and does not know what the names stand for.

/// One name that a `use` brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Import {
    /// The name in this file; `*` for all names.
    pub(super) name: String,
    /// What it stands for, part by part.
    pub(super) path: Vec<String>,
    /// Whether others may take it from here.
    pub(super) is_public: bool,
}

/// The imports of a text, and the text without them (and without `mod name;`).
pub(super) fn take(code: &str) -> (Vec<Import>, String) {
    let mut imports = Vec::new();
    let mut left = String::new();
    let mut lines = code.lines();
    while let Some(line) = lines.next() {
        let Some((is_public, tree)) = use_of(line) else {
            if !line.trim_end().ends_with(';') || !line.contains("mod ") {
                left.push_str(line);
            }
            left.push('\n');
            continue;
        };
        let mut tree = tree.to_owned();
        while !tree.contains(';') {
            let Some(more) = lines.next() else { break };
            tree.push_str(more);
        }
        let tree: String = tree.split(';').next().unwrap_or("").to_owned();
        expand(&[], tree.trim(), is_public, &mut imports);
    }
    (imports, left)
}

/// What follows `use` on a line that begins with it, however visible.
fn use_of(line: &str) -> Option<(bool, &str)> {
    let line = line.trim_start();
    if let Some(tree) = line.strip_prefix("use ") {
        return Some((false, tree));
    }
    let rest = line.strip_prefix("pub")?;
    let rest = match rest.strip_prefix('(') {
        Some(inside) => inside.split_once(')')?.1,
        None => rest,
    };
    rest.trim_start().strip_prefix("use ").map(|tree| (true, tree))
}

/// Adds the names of one tree below `above`.
fn expand(above: &[String], tree: &str, is_public: bool, into: &mut Vec<Import>) {
    if let Some((before, inside)) = tree.split_once('{') {
        let path = join(above, before.trim().trim_end_matches("::"));
        let inside = inside.trim_end().strip_suffix('}').unwrap_or(inside);
        for part in split_at_commas(inside) {
            expand(&path, part, is_public, into);
        }
        return;
    }
    if tree.is_empty() {
        return;
    }
    let (path, name) = match tree.split_once(" as ") {
        Some((path, name)) => (join(above, path.trim()), name.trim().to_owned()),
        None => {
            let path = join(above, tree);
            let name = path.last().cloned().unwrap_or_default();
            (path, name)
        }
    };
    // `use a::{self}` brings `a`.
    let is_self = path.len() > 1 && path.last().is_some_and(|part| part == "self");
    let path = if is_self { path[..path.len() - 1].to_vec() } else { path };
    let name = if name == "self" { path.last().cloned().unwrap_or_default() } else { name };
    into.push(Import { name, path, is_public });
}

fn join(above: &[String], path: &str) -> Vec<String> {
    let parts = path.split("::").map(str::trim).filter(|part| !part.is_empty());
    above.iter().cloned().chain(parts.map(String::from)).collect()
}

/// The parts between the commas that stand outside of braces.
fn split_at_commas(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut from) = (0_i32, 0);
    for (at, char) in text.char_indices() {
        match char {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[from..].trim());
    parts
}

/// The paths of two parts or more that code writes out.
pub(super) fn paths(code: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut rest = code;
    while let Some(at) = rest.find("::") {
        let begin = rest[..at]
            .rfind(|c| !is_word(c))
            .map_or(0, |before| before + rest[before..].chars().next().map_or(1, char::len_utf8));
        // A path that begins with its colons (`::std`), or that follows a type (`<T>::new`), names no module here.
        let path = if begin < at { parts(&rest[begin..]) } else { Vec::new() };
        let end = begin + path.iter().map(|part| part.len() + 2).sum::<usize>();
        if path.len() > 1 {
            found.push(path);
        }
        rest = &rest[end.saturating_sub(2).max(at + 2)..];
    }
    found
}

/// The parts of the path at the begin of a text.
fn parts(text: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut rest = text;
    loop {
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        parts.push(rest[..end].to_owned());
        match rest[end..].strip_prefix("::") {
            Some(more) if more.starts_with(is_word) => rest = more,
            _ => return parts,
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_imports(code: &str, expect: &[(&str, &str, bool)], left: &str) {
        let (imports, rest) = take(code);
        let found: Vec<(String, String, bool)> =
            imports.into_iter().map(|one| (one.name, one.path.join("::"), one.is_public)).collect();
        let expect: Vec<(String, String, bool)> =
            expect.iter().map(|(name, path, is)| ((*name).into(), (*path).into(), *is)).collect();
        assert_eq!(found, expect);
        assert_eq!(rest.split_whitespace().collect::<Vec<_>>().join(" "), left);
    }

    #[test]
    fn use_trees_are_taken_apart() {
        check_imports("use a::b;\nlet c;", &[("b", "a::b", false)], "let c;");
        check_imports("pub(crate) use a::B as C;", &[("C", "a::B", true)], "");
        check_imports(
            "pub use a::{\n  self, b::{c, D}, e::*,\n};\nmod f;\nfn g() {}",
            &[
                ("a", "a", true),
                ("c", "a::b::c", true),
                ("D", "a::b::D", true),
                ("*", "a::e::*", true),
            ],
            "fn g() {}",
        );
        check_imports("    use super::A;\nuser();", &[("A", "super::A", false)], "user();");
    }

    #[test]
    fn paths_are_found_in_code() {
        let found =
            |code| -> Vec<String> { paths(code).iter().map(|path| path.join("::")).collect() };
        assert_eq!(found("a(crate::b::C::new(), d) + e"), ["crate::b::C::new"]);
        assert_eq!(found("Vec::<A>::new(); x::y"), ["x::y"]);
        assert_eq!(found("<T as a::B>::c(::std::d)"), ["a::B", "std::d"]);
        assert!(found("a: b, c").is_empty());
    }
}
