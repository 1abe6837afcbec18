//! What goes wrong with keys and ciphers, by the names that the standard gives it.

/// What went wrong: the name of the exception and its message.
pub(super) struct CryptoError(pub(super) &'static str, pub(super) String);

impl CryptoError {
    pub(super) fn operation(text: &str) -> Self {
        Self("OperationError", text.to_owned())
    }

    pub(super) fn data(text: &str) -> Self {
        Self("DataError", text.to_owned())
    }

    pub(super) fn unsupported(text: &str) -> Self {
        Self("NotSupportedError", text.to_owned())
    }
}

/// The result of a computation.
pub(super) type CryptoResult<T> = std::result::Result<T, CryptoError>;

/// What a hash is called outside of the standard.
pub(super) fn plain(name: &str) -> CryptoResult<&'static str> {
    match name {
        "SHA-1" => Ok("sha1"),
        "SHA-256" => Ok("sha256"),
        "SHA-384" => Ok("sha384"),
        "SHA-512" => Ok("sha512"),
        other => Err(CryptoError::unsupported(&format!("unsupported hash algorithm: {other}"))),
    }
}
