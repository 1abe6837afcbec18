//! Keys: they lie outside of JavaScript, and are never held in clear by it unless exported.

/// A key.
pub(super) enum Key {
    /// Of AES, HMAC or PBKDF2.
    Secret(Vec<u8>),
    RsaPrivate(Box<rsa::RsaPrivateKey>),
    RsaPublic(Box<rsa::RsaPublicKey>),
    EcPrivate(Private),
    EcPublic(Public),
}

/// A private key.
pub(super) enum Private {
    P256(p256::SecretKey),
    P384(p384::SecretKey),
    P521(p521::SecretKey),
}

/// A public key.
pub(super) enum Public {
    P256(p256::PublicKey),
    P384(p384::PublicKey),
    P521(p521::PublicKey),
}
