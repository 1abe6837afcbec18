//! Frames of a script's stack, as the author of the script knows them.

use users::Exception;

/// The innermost place of the script that threw, `at name (file:line:column)`.
pub(crate) fn innermost(exception: &Exception) -> Option<&str> {
    exception.stack.lines().find(|line| frame(line).is_some())
}

/// A frame's parts: what stands before the file, the file, line, column, and what stands after.
pub(super) fn frame(line: &str) -> Option<(&str, &str, u32, u32, &str)> {
    let (line, after) = match line.strip_suffix(')') {
        Some(line) => (line, ")"),
        None => (line, ""),
    };
    let mut parts = line.rsplitn(3, ':');
    let column = parts.next()?.parse().ok()?;
    let row = parts.next()?.parse().ok()?;
    let rest = parts.next()?;
    let start = rest.rfind(" (").map(|at| at + 2).or_else(|| Some(rest.find("at ")? + 3))?;
    Some((&rest[..start], &rest[start..], row, column, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_taken_apart() {
        for (line, expect) in [
            ("at f (file:///a b.js:3:5)", Some(("at f (", "file:///a b.js", 3, 5, ")"))),
            ("at file:///a.js:3:5", Some(("at ", "file:///a.js", 3, 5, ""))),
            (
                "at <anonymous> (https://h:1/a.js:3:5)",
                Some(("at <anonymous> (", "https://h:1/a.js", 3, 5, ")")),
            ),
            ("at map (native)", None),
            ("3 | const a = b ? c : d", None),
        ] {
            assert_eq!(frame(line), expect, "{line}");
        }
    }
}
