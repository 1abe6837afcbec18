//! `Verifier`: which server a client takes for the one it asked for.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{DigitallySignedStruct, SignatureScheme};

/// Decides whether a certificate proves that the peer is the server.
#[derive(Debug)]
pub(super) struct Verifier {
    pub(super) provider: Arc<CryptoProvider>,
    /// What its certificate must lead to. Without one any certificate is taken. The handshake has to be signed by its key still,
    /// as Go's `InsecureSkipVerify` wants it, where we can read the certificate and know the kind of signature.
    pub(super) chain: Option<Arc<WebPkiServerVerifier>>,
}

impl ServerCertVerifier for Verifier {
    /// Looks at the server's name before the chain of its certificate, as Go does: one that is wrong in both is another's.
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
        chain.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        self.judge(verify_tls12_signature(message, cert, dss, known))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        self.judge(verify_tls13_signature(message, cert, dss, known))
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let mut schemes = self.provider.signature_verification_algorithms.supported_schemes();
        if self.chain.is_none() {
            schemes.extend(
                UNREAD
                    .iter()
                    .filter(|scheme| !schemes.contains(scheme))
                    .copied()
                    .collect::<Vec<_>>(),
            );
        }
        schemes
    }
}

impl Verifier {
    /// Where any certificate is taken, so is one that we cannot read (X.509 version 1, keys of P-521), whose signatures cannot
    /// be checked here. A signature that is wrong is wrong.
    fn judge(
        &self,
        checked: Result<HandshakeSignatureValid, rustls::Error>,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        use rustls::{CertificateError, Error};
        match checked {
            Err(Error::InvalidCertificate(CertificateError::BadSignature)) => checked,
            Err(Error::InvalidCertificate(_) | Error::PeerMisbehaved(_))
                if self.chain.is_none() =>
            {
                Ok(HandshakeSignatureValid::assertion())
            }
            _ => checked,
        }
    }
}

/// Signatures that are offered where nothing is checked, so that servers with such keys answer.
const UNREAD: [SignatureScheme; 6] = [
    SignatureScheme::ECDSA_NISTP521_SHA512,
    SignatureScheme::ED448,
    SignatureScheme::RSA_PSS_SHA256,
    SignatureScheme::RSA_PKCS1_SHA256,
    SignatureScheme::RSA_PKCS1_SHA1,
    SignatureScheme::ECDSA_SHA1_Legacy,
];
