//! `Thrown`: the exception that a function ends with, in JMeter's words.

/// An exception of Java's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{class}: {message}")]
pub struct Thrown {
    /// Its class: `java.lang.NumberFormatException`.
    pub class: &'static str,
    /// Its message.
    pub message: String,
}

impl Thrown {
    /// An argument that is refused.
    pub(crate) fn argument(message: String) -> Self {
        Self { class: "java.lang.IllegalArgumentException", message }
    }

    /// A text that is no number.
    pub(crate) fn number(text: &str) -> Self {
        let message = format!("For input string: \"{text}\"");
        Self { class: "java.lang.NumberFormatException", message }
    }
}
