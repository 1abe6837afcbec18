//! `Part`: what one of several results says of the server by itself, as data.

/// What one of several results says by itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    pub(crate) name: String,
    /// The first sentence of its conclusion.
    pub(crate) sentence: String,
    /// The outcome's name in JSON.
    pub(crate) outcome: &'static str,
    pub(crate) is_valid: bool,
}
