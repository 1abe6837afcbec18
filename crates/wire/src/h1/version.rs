//! `Version`: the minor version of HTTP/1.

use serde::{Deserialize, Serialize};

/// The minor version of HTTP/1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Version {
    /// HTTP/1.0.
    Http10,
    /// HTTP/1.1.
    Http11,
}

impl Version {
    /// The version of this minor number, as httparse gives it.
    pub(super) const fn from_minor(minor: Option<u8>) -> Self {
        match minor {
            Some(1) => Self::Http11,
            _ => Self::Http10,
        }
    }
}
