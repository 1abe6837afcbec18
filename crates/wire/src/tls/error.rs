//! Why TLS cannot be set up, and why a session failed.

use rustls::{CertificateError, InvalidMessage};
use thiserror::Error;

/// Why TLS cannot be set up.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum TlsSetupError {
    /// The bytes hold no certificate, or a broken one.
    #[error("failed to find any PEM certificate in the input")]
    NoCertificate,
    /// The bytes hold no private key, or a broken one.
    #[error("failed to find any PEM private key in the input")]
    NoKey,
    /// A private key is given without a certificate.
    #[error("a private key is given without a certificate")]
    KeyWithoutCertificate,
    /// No certificate is trusted.
    #[error("no root certificate is trusted")]
    NoRoots,
    /// rustls does not take them.
    #[error("{0}")]
    Rustls(#[from] rustls::Error),
}

/// What is known of a certificate that was refused, or of a peer that speaks no TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Its issuer is unknown.
    UnknownAuthority,
    /// It is for another name.
    OtherName,
    /// What came was no TLS record.
    NotTls,
}

impl TlsError {
    /// What is known of it, where it is one of those.
    #[must_use]
    pub fn refusal(&self) -> Option<Refusal> {
        let Self::Rustls(error) = self else { return None };
        match error {
            rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
                Some(Refusal::UnknownAuthority)
            }
            rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            ) => Some(Refusal::OtherName),
            // A root that serves itself. The error is of a crate that rustls does not show.
            rustls::Error::InvalidCertificate(CertificateError::Other(other))
                if other.to_string().contains("CaUsedAsEndEntity") =>
            {
                Some(Refusal::UnknownAuthority)
            }
            rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
                Some(Refusal::NotTls)
            }
            _ => None,
        }
    }
}

/// Why a session failed. Send what [`TlsSession::poll_transmit`](super::TlsSession::poll_transmit) still gives (the alert), then close.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum TlsError {
    /// The server's name is neither a DNS name nor an address.
    #[error("invalid server name \"{0}\"")]
    ServerName(String),
    /// A record or handshake message is larger than TLS allows.
    #[error("oversized record received")]
    RecordTooLarge,
    /// The handshake or a record failed.
    #[error("{}", in_words(.0))]
    Rustls(#[from] rustls::Error),
}

/// As rustls says it, but for certificates where it says less than the reason, or another text each second.
fn in_words(error: &rustls::Error) -> String {
    use CertificateError as Certificate;
    let rustls::Error::InvalidCertificate(certificate) = error else { return error.to_string() };
    let reason = match certificate {
        Certificate::ExpiredContext { not_after, .. } => {
            format!("certificate expired: it is not valid after {} (UNIX)", not_after.as_secs())
        }
        Certificate::NotValidYetContext { not_before, .. } => {
            let from = not_before.as_secs();
            format!("certificate not valid yet: it is not valid before {from} (UNIX)")
        }
        Certificate::UnsupportedSignatureAlgorithmContext { .. }
        | Certificate::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => {
            "it is signed in a way that is not accepted, such as with SHA-1".to_owned()
        }
        Certificate::BadSignature => {
            "a signature does not verify: it is forged, or its key is too weak (RSA below 2048 bits)"
                .to_owned()
        }
        Certificate::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => {
            "it is that of an authority, and no server's (openssl req -x509 makes it so without basicConstraints=CA:FALSE)"
                .to_owned()
        }
        _ => return error.to_string(),
    };
    format!("invalid peer certificate: {reason}")
}

#[cfg(test)]
mod tests {
    use rustls::pki_types::UnixTime;

    use super::*;

    #[test]
    fn certificates_are_refused_in_words_that_stay() {
        let at = |seconds| UnixTime::since_unix_epoch(std::time::Duration::from_secs(seconds));
        let cases = [
            (
                CertificateError::ExpiredContext { time: at(9), not_after: at(7) },
                "certificate expired: it is not valid after 7 (UNIX)",
            ),
            (
                CertificateError::NotValidYetContext { time: at(5), not_before: at(7) },
                "certificate not valid yet: it is not valid before 7 (UNIX)",
            ),
            (
                CertificateError::BadSignature,
                "a signature does not verify: it is forged, or its key is too weak (RSA below 2048 bits)",
            ),
            (CertificateError::UnknownIssuer, "UnknownIssuer"),
        ];
        for (certificate, expect) in cases {
            let error = TlsError::Rustls(rustls::Error::InvalidCertificate(certificate));
            assert_eq!(error.to_string(), format!("invalid peer certificate: {expect}"));
        }
    }
}
