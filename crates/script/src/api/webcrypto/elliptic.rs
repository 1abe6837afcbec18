//! ECDSA and ECDH on P-256, P-384 and P-521.

use base64::Engine as _;
use p256::elliptic_curve::sec1::ToEncodedPoint as _;
use p256::pkcs8::{
    DecodePrivateKey as _, DecodePublicKey as _, EncodePrivateKey as _, EncodePublicKey as _,
};
use rsa::rand_core::OsRng;
use rsa::signature::hazmat::{PrehashSigner as _, PrehashVerifier as _};

use super::super::bytes::{Base64, base64};
use super::super::hash::hash as hashed;
use super::asymmetric::Fields;
use super::error::{CryptoError, CryptoResult, plain};
use super::key::{Key, Private, Public};

/// The same for each curve; `$variant` and the crate `$curve` are its own.
macro_rules! by_curve {
    ($name:expr, $make:ident) => {
        match $name {
            "P-256" => $make!(P256, p256),
            "P-384" => $make!(P384, p384),
            "P-521" => $make!(P521, p521),
            other => {
                Err(CryptoError::unsupported(&format!("elliptic curve {other} is not supported")))
            }
        }
    };
}

fn wrong(error: impl std::fmt::Display) -> CryptoError {
    CryptoError::data(&error.to_string())
}

pub(super) fn generate(curve: &str) -> CryptoResult<(Key, Key)> {
    macro_rules! make {
        ($variant:ident, $curve:ident) => {{
            let private = $curve::SecretKey::random(&mut OsRng);
            let public = private.public_key();
            Ok((
                Key::EcPrivate(Private::$variant(private)),
                Key::EcPublic(Public::$variant(public)),
            ))
        }};
    }
    by_curve!(curve, make)
}

pub(super) fn read(format: &str, curve: &str, bytes: &[u8]) -> CryptoResult<Key> {
    macro_rules! make {
        ($variant:ident, $curve:ident) => {
            match format {
                "pkcs8" => $curve::SecretKey::from_pkcs8_der(bytes)
                    .map(|key| Key::EcPrivate(Private::$variant(key)))
                    .map_err(wrong),
                "spki" => $curve::PublicKey::from_public_key_der(bytes)
                    .map(|key| Key::EcPublic(Public::$variant(key)))
                    .map_err(wrong),
                "raw" => $curve::PublicKey::from_sec1_bytes(bytes)
                    .map(|key| Key::EcPublic(Public::$variant(key)))
                    .map_err(wrong),
                _ => Err(CryptoError::unsupported("unsupported format")),
            }
        };
    }
    by_curve!(curve, make)
}

pub(super) fn of_jwk(curve: &str, field: impl Fn(&str) -> Option<String>) -> CryptoResult<Key> {
    if field("kty").as_deref() != Some("EC") || field("crv").as_deref() != Some(curve) {
        return Err(CryptoError::data("the key is of another type or curve"));
    }
    let part = |name: &str| {
        let text = field(name).ok_or_else(|| CryptoError::data("a field is missing"))?;
        base64(Base64::RawUrl)
            .decode(text)
            .map_err(|_| CryptoError::data("a field is no base64url"))
    };
    if field("d").is_some() {
        let d = part("d")?;
        macro_rules! make {
            ($variant:ident, $curve:ident) => {
                $curve::SecretKey::from_slice(&d)
                    .map(|key| Key::EcPrivate(Private::$variant(key)))
                    .map_err(wrong)
            };
        }
        return by_curve!(curve, make);
    }
    read("raw", curve, &[&[4], part("x")?.as_slice(), part("y")?.as_slice()].concat())
}

/// The hash as long as the curve's numbers at least, as ECDSA takes it: the same number with zeros before it.
fn digest(hash: &str, data: &[u8], len: usize) -> CryptoResult<Vec<u8>> {
    let digest = hashed(plain(hash)?, data).unwrap_or_default();
    let zeros = len.saturating_sub(digest.len());
    Ok([vec![0; zeros], digest].concat())
}

/// The lengths of the curves' numbers in bytes.
const LENS: [usize; 3] = [32, 48, 66];

impl Private {
    pub(super) fn sign(&self, hash: &str, data: &[u8]) -> CryptoResult<Vec<u8>> {
        let failed = |_| CryptoError::operation("could not sign");
        match self {
            Self::P256(key) => {
                let key = p256::ecdsa::SigningKey::from(key);
                let made: Result<p256::ecdsa::Signature, _> =
                    key.sign_prehash(&digest(hash, data, LENS[0])?);
                made.map(|made| made.to_bytes().to_vec()).map_err(failed)
            }
            Self::P384(key) => {
                let key = p384::ecdsa::SigningKey::from(key);
                let made: Result<p384::ecdsa::Signature, _> =
                    key.sign_prehash(&digest(hash, data, LENS[1])?);
                made.map(|made| made.to_bytes().to_vec()).map_err(failed)
            }
            Self::P521(key) => {
                let key = p521::ecdsa::SigningKey::from_slice(&key.to_bytes()).map_err(wrong)?;
                let made: Result<p521::ecdsa::Signature, _> =
                    key.sign_prehash(&digest(hash, data, LENS[2])?);
                made.map(|made| made.to_bytes().to_vec()).map_err(failed)
            }
        }
    }

    /// The secret that two have in common (ECDH): the point's x.
    pub(super) fn shared(&self, public: &Public) -> CryptoResult<Vec<u8>> {
        macro_rules! make {
            ($curve:ident, $own:expr, $other:expr) => {{
                let secret =
                    $curve::ecdh::diffie_hellman($own.to_nonzero_scalar(), $other.as_affine());
                Ok(secret.raw_secret_bytes().to_vec())
            }};
        }
        match (self, public) {
            (Self::P256(own), Public::P256(other)) => make!(p256, own, other),
            (Self::P384(own), Public::P384(other)) => make!(p384, own, other),
            (Self::P521(own), Public::P521(other)) => make!(p521, own, other),
            _ => Err(CryptoError(
                "InvalidAccessError",
                "the keys are of different curves".to_owned(),
            )),
        }
    }

    pub(super) fn write(&self) -> CryptoResult<Vec<u8>> {
        let der = match self {
            Self::P256(key) => key.to_pkcs8_der(),
            Self::P384(key) => key.to_pkcs8_der(),
            Self::P521(key) => key.to_pkcs8_der(),
        };
        der.map(|der| der.as_bytes().to_vec()).map_err(wrong)
    }

    pub(super) fn jwk(&self) -> CryptoResult<Fields> {
        let (public, d) = match self {
            Self::P256(key) => (Public::P256(key.public_key()), key.to_bytes().to_vec()),
            Self::P384(key) => (Public::P384(key.public_key()), key.to_bytes().to_vec()),
            Self::P521(key) => (Public::P521(key.public_key()), key.to_bytes().to_vec()),
        };
        let mut fields = public.jwk()?;
        fields.push(("d", base64(Base64::RawUrl).encode(d)));
        Ok(fields)
    }
}

impl Public {
    /// The point, uncompressed.
    fn point(&self) -> Vec<u8> {
        match self {
            Self::P256(key) => key.to_encoded_point(false).as_bytes().to_vec(),
            Self::P384(key) => key.to_encoded_point(false).as_bytes().to_vec(),
            Self::P521(key) => key.to_encoded_point(false).as_bytes().to_vec(),
        }
    }

    pub(super) fn verify(&self, hash: &str, data: &[u8], signature: &[u8]) -> CryptoResult<bool> {
        Ok(match self {
            Self::P256(key) => {
                let key = p256::ecdsa::VerifyingKey::from(key);
                let given = p256::ecdsa::Signature::from_slice(signature);
                let digest = digest(hash, data, LENS[0])?;
                given.is_ok_and(|given| key.verify_prehash(&digest, &given).is_ok())
            }
            Self::P384(key) => {
                let key = p384::ecdsa::VerifyingKey::from(key);
                let given = p384::ecdsa::Signature::from_slice(signature);
                let digest = digest(hash, data, LENS[1])?;
                given.is_ok_and(|given| key.verify_prehash(&digest, &given).is_ok())
            }
            Self::P521(_) => {
                let key =
                    p521::ecdsa::VerifyingKey::from_sec1_bytes(&self.point()).map_err(wrong)?;
                let given = p521::ecdsa::Signature::from_slice(signature);
                let digest = digest(hash, data, LENS[2])?;
                given.is_ok_and(|given| key.verify_prehash(&digest, &given).is_ok())
            }
        })
    }

    pub(super) fn write(&self, format: &str) -> CryptoResult<Vec<u8>> {
        if format == "raw" {
            return Ok(self.point());
        }
        let der = match self {
            Self::P256(key) => key.to_public_key_der(),
            Self::P384(key) => key.to_public_key_der(),
            Self::P521(key) => key.to_public_key_der(),
        };
        der.map(|der| der.as_bytes().to_vec()).map_err(wrong)
    }

    pub(super) fn jwk(&self) -> CryptoResult<Fields> {
        let point = self.point();
        let (x, y) = point[1..].split_at(point.len() / 2);
        let curve = match self {
            Self::P256(_) => "P-256",
            Self::P384(_) => "P-384",
            Self::P521(_) => "P-521",
        };
        let text = |bytes: &[u8]| base64(Base64::RawUrl).encode(bytes);
        Ok(vec![
            ("kty", "EC".to_owned()),
            ("crv", curve.to_owned()),
            ("x", text(x)),
            ("y", text(y)),
        ])
    }
}
