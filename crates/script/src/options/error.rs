//! Why options are wrong.

use thiserror::Error;

/// Why options are no options: k6's exit code 104.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct OptionsError(pub(super) String);

/// What reading options gives.
pub(super) type Result<T> = std::result::Result<T, OptionsError>;

/// An error of this text.
pub(super) fn wrong<T>(text: impl Into<String>) -> Result<T> {
    Err(OptionsError(text.into()))
}
