//! `Exception`: what a script threw, with its stack as the author of the script knows it.

use std::fmt;

/// What a script threw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    /// Name and message, `TypeError: not a function`.
    pub text: String,
    /// Where, a line a frame, innermost first: `at name (file:line:column)`. Below the first the line of the source stands, with
    /// a mark below its column, where it is known.
    pub stack: String,
    /// A promise was rejected without a handler.
    pub in_promise: bool,
    /// There was no memory for what the script made, and it did not catch that.
    pub out_of_memory: bool,
}

impl Exception {
    /// What is no script's fault, in our own words.
    pub(crate) fn internal(text: String) -> Self {
        Self { text, stack: String::new(), in_promise: false, out_of_memory: false }
    }

    /// No memory was left.
    pub(crate) fn out_of_memory() -> Self {
        Self { out_of_memory: true, ..Self::internal(OUT_OF_MEMORY.to_owned()) }
    }

    /// The innermost place of the script, `at name (file:line:column)`.
    pub(crate) fn innermost(&self) -> Option<&str> {
        self.stack.lines().find(|line| frame(line).is_some())
    }
}

/// QuickJS's words where memory is short.
pub(super) const OUT_OF_MEMORY: &str = "out of memory";

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

impl fmt::Display for Exception {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        self.stack.lines().try_for_each(|line| write!(f, "\n\t{line}"))
    }
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
