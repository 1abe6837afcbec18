//! How the parts of a request are read: what is wrong is told to the script as a failed request, or thrown.

/// What keeps a request from being asked for.
pub(super) enum Trouble {
    /// The script is told.
    Refused(u16, String),
    /// JavaScript has thrown.
    Thrown(rquickjs::Error),
}

impl From<rquickjs::Error> for Trouble {
    fn from(error: rquickjs::Error) -> Self {
        Self::Thrown(error)
    }
}

/// What the parts of a request are read with.
pub(super) type Read<T> = std::result::Result<T, Trouble>;

pub(super) fn refuse<T>(text: impl Into<String>) -> Read<T> {
    Err(Trouble::Refused(0, text.into()))
}
