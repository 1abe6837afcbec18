//! Certificates and keys out of PEM text.

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::error::TlsSetupError;

pub(super) fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsSetupError> {
    let list: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    list.ok().filter(|list| !list.is_empty()).ok_or(TlsSetupError::NoCertificate)
}

pub(super) fn private_key(pem: &[u8]) -> Result<PrivateKeyDer<'static>, TlsSetupError> {
    PrivateKeyDer::from_pem_slice(pem).map_err(|_| TlsSetupError::NoKey)
}
