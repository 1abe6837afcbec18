//! Why an output cannot be opened.

use thiserror::Error;

/// Why an output cannot be opened; who called is at fault.
#[derive(Debug, Error)]
pub enum OutputError {
    /// A variable of the environment has a value that cannot be used.
    #[error("{variable}=\"{value}\": {wanted}")]
    Variable {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: String,
        /// What it takes.
        wanted: &'static str,
    },
    /// What stands behind the output's name is no address.
    #[error("\"{0}\": not an address that this output can send to")]
    Address(String),
    /// A feature of k6 that is not here.
    #[error("{0}")]
    Unsupported(&'static str),
    /// A file that a variable names cannot be read.
    #[error("{variable}: {path}: {error}")]
    File {
        /// The variable.
        variable: &'static str,
        /// The file.
        path: String,
        /// Why.
        error: String,
    },
    /// A variable of the environment names a proxy that is not spoken.
    #[error("the environment's proxy: {0}")]
    Proxy(#[from] wire::proxy::ProxyError),
    /// The trusted roots, a certificate or a key is missing or broken.
    #[error("tls: {0}")]
    Tls(String),
    /// A socket or a thread cannot be made.
    #[error("{0}")]
    Io(#[from] std::io::Error),
}
