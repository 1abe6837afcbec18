//! `Authority`: who signs the certificates that clients of the proxy see. It is made once, and its key never leaves its folder.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use stdx::private_file;

use crate::error::AuthorityError;

/// The file of the certificate, which people have their browsers trust.
const CERTIFICATE: &str = "authority.pem";
/// The file of the key, of mode 0600.
const KEY: &str = "authority.key";
/// Held while an authority is made, so that two recorders make one.
const LOCK: &str = ".lock";
/// The name that browsers show.
const NAME: &str = "brunt record, made on this machine";
/// How large a file of it may be, in bytes.
const FILE_BYTES_MAX: u64 = 64 << 10;
/// How long it lasts: ten years.
const LIFETIME: Duration = Duration::from_secs(3650 * 86_400);
/// How far its begin lies back, for clocks that are late.
pub(crate) const CLOCK_ERROR_MAX: Duration = Duration::from_secs(2 * 86_400);

/// An authority, and where its certificate lies.
#[derive(Debug)]
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: CertificateDer<'static>,
    pem: String,
    path: PathBuf,
}

/// The folder of the authority: `brunt/record` among the user's data.
#[must_use]
pub fn folder() -> PathBuf {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let data = variable("XDG_DATA_HOME").map(PathBuf::from);
    let home = || Some(PathBuf::from(variable("HOME")?).join(".local/share"));
    let data = data.or_else(home).unwrap_or_else(|| PathBuf::from(".brunt"));
    data.join("brunt").join("record")
}

impl Authority {
    /// The authority of a folder, made there where it has none.
    ///
    /// # Errors
    /// The folder or a file of it belongs to another user, or holds something else: it stays as it is.
    pub fn open(folder: &Path) -> Result<Self, AuthorityError> {
        private_file::make_folder(folder).map_err(AuthorityError::file(folder))?;
        let lock = folder.join(LOCK);
        let held = private_file::open_lock(&lock).and_then(|file: File| file.lock().map(|()| file));
        let held = held.map_err(AuthorityError::file(lock))?;
        let (key_path, path) = (folder.join(KEY), folder.join(CERTIFICATE));
        if !key_path.exists() {
            make(&key_path, &path)?;
        }
        let read = Self::read(&key_path, path);
        drop(held);
        read
    }

    fn read(key_path: &Path, path: PathBuf) -> Result<Self, AuthorityError> {
        let key = KeyPair::from_pem(&text(key_path)?);
        let key = key.map_err(|error| content(key_path, error))?;
        let pem = text(&path)?;
        let certificate = CertificateDer::from_pem_slice(pem.as_bytes());
        let certificate =
            certificate.map_err(|_| content(&path, rcgen::Error::CouldNotParseCertificate))?;
        Ok(Self { issuer: Issuer::new(params(), key), certificate, pem, path })
    }

    /// The file of its certificate.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its certificate.
    #[must_use]
    pub fn pem(&self) -> &str {
        &self.pem
    }

    pub(crate) fn certificate(&self) -> &CertificateDer<'static> {
        &self.certificate
    }

    pub(crate) fn issuer(&self) -> &Issuer<'static, KeyPair> {
        &self.issuer
    }
}

/// Makes key and certificate. The certificate comes first: without a key it is made anew.
fn make(key_path: &Path, path: &Path) -> Result<(), AuthorityError> {
    let key = KeyPair::generate()?;
    let mut params = params();
    let now = SystemTime::now();
    (params.not_before, params.not_after) =
        ((now - CLOCK_ERROR_MAX).into(), (now + LIFETIME).into());
    let pem = params.self_signed(&key)?.pem();
    private_file::write(path, pem.as_bytes()).map_err(AuthorityError::file(path))?;
    private_file::write(key_path, key.serialize_pem().as_bytes())
        .map_err(AuthorityError::file(key_path))
}

/// What its certificate says but for the time.
fn params() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, NAME);
    params.distinguished_name.push(DnType::OrganizationName, "brunt");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

fn text(path: &Path) -> Result<String, AuthorityError> {
    let bytes = private_file::read(path, FILE_BYTES_MAX).map_err(AuthorityError::file(path))?;
    String::from_utf8(bytes).map_err(|_| content(path, rcgen::Error::CouldNotParseKeyPair))
}

fn content(path: &Path, error: rcgen::Error) -> AuthorityError {
    AuthorityError::Content { path: path.to_owned(), error }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn it_is_made_once_and_its_key_is_its_owners() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("data/record");
        let first = Authority::open(&folder).unwrap();
        let again = Authority::open(&folder).unwrap();
        assert_eq!(first.pem(), again.pem());
        assert_eq!(first.issuer().key().serialize_pem(), again.issuer().key().serialize_pem());
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&folder.join(KEY))), (0o700, 0o600));
        assert_eq!(first.path(), folder.join(CERTIFICATE));
    }

    #[test]
    fn what_others_could_have_written_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("record");
        Authority::open(&folder).unwrap();
        let key = folder.join(KEY);
        fs::set_permissions(&key, Permissions::from_mode(0o644)).unwrap();
        let error = Authority::open(&folder).unwrap_err().to_string();
        assert!(error.contains("authority.key") && error.contains("chmod 600"), "{error}");
        fs::set_permissions(&key, Permissions::from_mode(0o600)).unwrap();
        fs::write(&key, "no key").unwrap();
        let error = Authority::open(&folder).unwrap_err();
        assert!(matches!(error, AuthorityError::Content { .. }), "{error}");
        fs::set_permissions(&folder, Permissions::from_mode(0o777)).unwrap();
        assert!(matches!(Authority::open(&folder), Err(AuthorityError::File { .. })));
    }

    #[test]
    fn a_certificate_without_its_key_is_made_anew() {
        let root = tempfile::tempdir().unwrap();
        let first = Authority::open(root.path()).unwrap().pem().to_owned();
        fs::remove_file(root.path().join(KEY)).unwrap();
        assert_ne!(Authority::open(root.path()).unwrap().pem(), first);
    }
}
