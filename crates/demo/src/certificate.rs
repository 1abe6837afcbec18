//! A throw-away certificate, so that TLS needs no files. Clients must disable verification, or trust it explicitly.

use thiserror::Error;

use crate::Identity;

/// Why no certificate could be made.
#[derive(Debug, Error)]
#[error("making a self-signed certificate: {0}")]
pub struct CertificateError(#[from] rcgen::Error);

/// A new certificate, signed by its own key, for `localhost`, `127.0.0.1` and `::1`. Each call makes another one.
///
/// # Errors
/// The system gave no random numbers for the key.
pub fn self_signed() -> Result<Identity, CertificateError> {
    let names = ["localhost", "127.0.0.1", "::1"].map(String::from);
    let made = rcgen::generate_simple_self_signed(names)?;
    Ok(Identity { certificate_pem: made.cert.pem(), key_pem: made.signing_key.serialize_pem() })
}
