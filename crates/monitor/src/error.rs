//! Why something cannot be watched, or was not answered.

use std::io;

use thiserror::Error;
use wire::h1::response::DecodeError;
use wire::url::UrlError;

use crate::log::KindError;

/// Why something can never be watched; reported before the first sample.
#[derive(Debug, Error)]
pub enum WatchError {
    /// An endpoint is not one we can ask.
    #[error("\"{url}\": {reason}")]
    Endpoint {
        /// The endpoint as given.
        url: String,
        /// What is wrong with it.
        reason: FetchError,
    },
    /// There is no such kind of log.
    #[error("\"{path}\": {reason}")]
    Log {
        /// The log.
        path: String,
        /// What is wrong with its kind.
        reason: KindError,
    },
    /// The system refuses a thread.
    #[error("a thread to scrape with: {0}")]
    Thread(io::Error),
}

/// Why an endpoint gave no answer that is of use.
#[derive(Debug, Error)]
pub enum FetchError {
    /// It is no address.
    #[error(transparent)]
    Url(#[from] UrlError),
    /// Its scheme is https.
    #[error("https is not understood here (expected http)")]
    Https,
    /// It has a name and a password.
    #[error("a user and a password in the URL are not understood here")]
    Userinfo,
    /// Its name leads nowhere.
    #[error("no address of this name")]
    NoAddress,
    /// The connection failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The answer was not whole in time.
    #[error("no whole answer within {0} s")]
    Late(u64),
    /// The answer is no HTTP.
    #[error("{0}")]
    Decode(#[from] DecodeError),
    /// The answer is too large.
    #[error("an answer of more than {0} bytes")]
    TooLarge(usize),
    /// The answer is another than 200.
    #[error("status {0}")]
    Status(u16),
}
