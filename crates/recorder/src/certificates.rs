//! `Certificates`: a certificate for each host that a client connects to, signed by the authority, with one key for the process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair, KeyUsagePurpose,
    PublicKeyData as _,
};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use sha2::{Digest as _, Sha256};

use crate::authority::{Authority, CLOCK_ERROR_MAX};
use crate::error::AuthorityError;
use crate::limits::CERTIFICATES_MAX;

/// How long a host's certificate lasts: what browsers take at most, and a little less.
const LIFETIME: Duration = Duration::from_secs(360 * 86_400);
/// How long a name may be as the common name of a certificate, in bytes. RFC 5280, A.1.
const COMMON_NAME_BYTES_MAX: usize = 64;

/// The certificates of hosts.
#[derive(Debug)]
pub(crate) struct Certificates {
    authority: Authority,
    key: KeyPair,
    /// By the host's name in lower case.
    configs: Mutex<HashMap<String, Arc<ServerConfig>>>,
}

impl Certificates {
    pub(crate) fn new(authority: Authority) -> Result<Self, AuthorityError> {
        Ok(Self { authority, key: KeyPair::generate()?, configs: Mutex::default() })
    }

    pub(crate) fn authority(&self) -> &Authority {
        &self.authority
    }

    /// The hash of the hosts' key as Chromium is given it, to trust this process and no other: base64 of SHA-256.
    pub(crate) fn key_hash(&self) -> String {
        STANDARD.encode(Sha256::digest(self.key.subject_public_key_info()))
    }

    /// The server's side of TLS for a host: a name, or an address without brackets.
    pub(crate) fn config(&self, host: &str) -> Result<Arc<ServerConfig>, AuthorityError> {
        let host = host.to_ascii_lowercase();
        let mut configs = self.configs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(config) = configs.get(&host) {
            return Ok(Arc::clone(config));
        }
        // A client that makes up names has them made anew.
        if configs.len() >= CERTIFICATES_MAX {
            configs.clear();
        }
        let config = Arc::new(self.make(&host)?);
        configs.insert(host, Arc::clone(&config));
        Ok(config)
    }

    fn make(&self, host: &str) -> Result<ServerConfig, AuthorityError> {
        let leaf = params(host)?.signed_by(&self.key, self.authority.issuer())?;
        let chain = vec![leaf.der().clone(), self.authority.certificate().clone()];
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(self.key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key));
        let mut config = config.map_err(|_| rcgen::Error::CouldNotParseKeyPair)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(config)
    }
}

fn params(host: &str) -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::new(vec![host.to_owned()])?;
    params.distinguished_name = rcgen::DistinguishedName::new();
    if host.len() <= COMMON_NAME_BYTES_MAX {
        params.distinguished_name.push(DnType::CommonName, host);
    }
    let now = SystemTime::now();
    (params.not_before, params.not_after) =
        ((now - CLOCK_ERROR_MAX).into(), (now + LIFETIME).into());
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.use_authority_key_identifier_extension = true;
    Ok(params)
}

#[cfg(test)]
mod tests {
    use wire::tls::{ClientSetup, TlsSession, client_config};

    use super::*;

    fn certificates() -> (tempfile::TempDir, Certificates) {
        let folder = tempfile::tempdir().unwrap();
        let certificates = Certificates::new(Authority::open(folder.path()).unwrap()).unwrap();
        (folder, certificates)
    }

    /// Whether a client that trusts this authority alone takes the certificate.
    fn is_taken(certificates: &Certificates, pem: &str, signed: &str, expected: &str) -> bool {
        let setup =
            ClientSetup { roots_pem: vec![pem.as_bytes().to_vec()], ..ClientSetup::default() };
        let client = client_config(&setup).unwrap();
        let mut client = TlsSession::client(&client, expected).unwrap();
        let mut server = TlsSession::server(&certificates.config(signed).unwrap()).unwrap();
        for _ in 0..10 {
            let (mut to_server, mut to_client) = (Vec::new(), Vec::new());
            client.poll_transmit(&mut to_server);
            server.handle_bytes(&to_server, &mut Vec::new()).ok();
            server.poll_transmit(&mut to_client);
            if client.handle_bytes(&to_client, &mut Vec::new()).is_err() {
                return false;
            }
        }
        !client.is_handshaking()
    }

    #[test]
    fn a_client_that_trusts_the_authority_takes_names_and_addresses() {
        let (_folder, certificates) = certificates();
        let pem = certificates.authority().pem();
        let long = format!("{}.example", ["a"; 40].join("."));
        for host in ["shop.example", "127.0.0.1", "::1", "xn--mnchen-3ya.example", &long] {
            assert!(is_taken(&certificates, pem, host, host), "{host}");
        }
        assert!(!is_taken(&certificates, pem, "shop.example", "other.example"));
        let (_folder, other) = self::certificates();
        assert!(!is_taken(&certificates, other.authority().pem(), "shop.example", "shop.example"));
        assert_ne!(certificates.key_hash(), other.key_hash());
        assert_eq!(certificates.key_hash().len(), 44);
    }

    #[test]
    fn hostile_names_make_no_certificate_or_one_of_that_name() {
        let (_folder, certificates) = certificates();
        for host in ["a\0b", "münchen.example", "*", " ", "a b", &"x".repeat(70_000)] {
            certificates.config(host).ok();
        }
        for number in 0..CERTIFICATES_MAX + 10 {
            if number % 200 == 0 {
                assert!(certificates.config(&format!("h{number}.test")).is_ok());
            }
        }
        assert!(certificates.configs.lock().unwrap().len() <= CERTIFICATES_MAX);
    }
}
