//! How the parts of a request are read: an error becomes a failed request of the script, or is thrown.

/// What keeps a request from being asked for.
pub(super) enum ReadError {
    /// The request fails with this code (k6's; 0 for none) and this text.
    Refused(u16, String),
    /// JavaScript has thrown.
    Thrown(rquickjs::Error),
}

impl From<rquickjs::Error> for ReadError {
    fn from(error: rquickjs::Error) -> Self {
        Self::Thrown(error)
    }
}

/// What the parts of a request are read with.
pub(super) type ReadResult<T> = std::result::Result<T, ReadError>;

pub(super) fn refuse<T>(text: impl Into<String>) -> ReadResult<T> {
    Err(ReadError::Refused(0, text.into()))
}
