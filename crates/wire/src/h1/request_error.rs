//! `RequestError`: why a request cannot be sent, and the check of its fields.

use thiserror::Error;

use super::fields::is_field_value;

/// Why a request cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RequestError {
    /// The method is not a token.
    #[error("invalid method \"{0}\"")]
    Method(String),
    /// A field name is not a token.
    #[error("invalid header field name \"{0}\"")]
    FieldName(String),
    /// The address has characters that no request line takes.
    #[error("invalid request target \"{0}\"")]
    Target(String),
    /// A field value holds a control character; the name is given.
    #[error("invalid header field value for \"{0}\"")]
    FieldValue(String),
}

/// Another tool's bytes may have a name that is no token, even an empty one; none of all begins another line.
pub(super) fn check_fields(
    headers: &[(String, String)],
    is_name: fn(&str) -> bool,
) -> Result<(), RequestError> {
    for (name, value) in headers {
        if !is_name(name) {
            return Err(RequestError::FieldName(name.clone()));
        }
        if !is_field_value(value) {
            return Err(RequestError::FieldValue(name.clone()));
        }
    }
    Ok(())
}
