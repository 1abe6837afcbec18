//! JSONPath as the steps that `jsonValues` takes.

use crate::quote;

/// The steps of a path as an array of JavaScript; `None` of one with filters, slices or several names at once.
pub(super) fn steps(path: &str) -> Option<String> {
    let mut rest = path.trim().strip_prefix('$')?;
    let mut steps: Vec<String> = Vec::new();
    while !rest.is_empty() {
        let (step, left) = step(rest)?;
        steps.extend(step);
        rest = left;
    }
    Some(format!("[{}]", steps.join(", ")))
}

/// The steps at the front, and what is left.
fn step(rest: &str) -> Option<(Vec<String>, &str)> {
    if let Some(rest) = rest.strip_prefix("..") {
        let mut steps = vec!["'..'".to_owned()];
        let (more, left) = if rest.starts_with('[') { bracket(rest)? } else { name(rest)? };
        steps.push(more);
        return Some((steps, left));
    }
    let (step, left) = match rest.strip_prefix('.') {
        Some(rest) if rest.starts_with('[') => bracket(rest)?,
        Some(rest) => name(rest)?,
        None => bracket(rest)?,
    };
    Some((vec![step], left))
}

fn name(rest: &str) -> Option<(String, &str)> {
    let end = rest.find(['.', '[']).unwrap_or(rest.len());
    let (name, left) = rest.split_at(end);
    let is_plain = !name.is_empty() && !name.contains(['(', '$', '?', '@', ' ']);
    is_plain.then(|| (quote::string(name), left))
}

fn bracket(rest: &str) -> Option<(String, &str)> {
    let inner = rest.strip_prefix('[')?;
    let mark = inner.chars().next().filter(|first| matches!(first, '\'' | '"'));
    if let Some(mark) = mark {
        let text = &inner[1..];
        let end = text.find(mark)?;
        let left = text[end + 1..].strip_prefix(']')?;
        return Some((quote::string(&text[..end]), left));
    }
    let (text, left) = inner.split_once(']')?;
    match text.trim() {
        "*" => Some(("'*'".to_owned(), left)),
        number => number.parse::<i64>().ok().map(|index| (index.to_string(), left)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_paths_are_steps() {
        for (path, expect) in [
            ("$.a.b", Some("['a', 'b']")),
            ("$['a b'][0]", Some("['a b', 0]")),
            ("$.a[*].id", Some("['a', '*', 'id']")),
            ("$..id", Some("['..', 'id']")),
            ("$.*", Some("['*']")),
            ("$", Some("[]")),
            ("$.a[?(@.b==1)]", None),
            ("$.a[0:2]", None),
            ("a.b", None),
        ] {
            assert_eq!(steps(path).as_deref(), expect, "{path}");
        }
    }
}
