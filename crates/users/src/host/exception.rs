//! `Exception`: why a user's iteration failed, in the words of what the user runs.

use std::fmt;

/// What a user's program threw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    /// What it is: of a script name and message, `TypeError: not a function`.
    pub text: String,
    /// Where, a line a frame, innermost first: `at name (file:line:column)`. Below the first the line of the source stands, with
    /// a mark below its column, where it is known.
    pub stack: String,
    /// A promise was rejected without a handler.
    pub in_promise: bool,
    /// There was no memory for what the program made, and it did not catch that.
    pub out_of_memory: bool,
}

impl Exception {
    /// What is no program's fault, in our own words.
    #[must_use]
    pub const fn internal(text: String) -> Self {
        Self { text, stack: String::new(), in_promise: false, out_of_memory: false }
    }

    /// No memory was left.
    #[must_use]
    pub fn out_of_memory() -> Self {
        Self { out_of_memory: true, ..Self::internal(OUT_OF_MEMORY.to_owned()) }
    }
}

/// The words where memory is short: QuickJS's.
pub const OUT_OF_MEMORY: &str = "out of memory";

impl fmt::Display for Exception {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        self.stack.lines().try_for_each(|line| write!(f, "\n\t{line}"))
    }
}
