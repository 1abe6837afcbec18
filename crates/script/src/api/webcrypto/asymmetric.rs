//! RSA: RSASSA-PKCS1-v1_5, RSA-PSS, RSA-OAEP.

use base64::Engine as _;
use rsa::pkcs8::{DecodePrivateKey, DecodePublicKey, EncodePrivateKey, EncodePublicKey};
use rsa::rand_core::OsRng;
use rsa::traits::{PrivateKeyParts as _, PublicKeyParts as _};
use rsa::{BigUint, Oaep, Pkcs1v15Sign, Pss, RsaPrivateKey, RsaPublicKey};

use super::super::bytes::{Base64, base64};
use super::super::hash::hash as hashed;
use super::error::{CryptoError, CryptoResult, plain};
use super::key::Key;

/// The lengths of keys that are made: longer ones take minutes.
const BITS: std::ops::RangeInclusive<usize> = 512..=4096;

pub(super) type Fields = Vec<(&'static str, String)>;

pub(super) fn generate(bits: usize, exponent: &[u8]) -> CryptoResult<(Key, Key)> {
    if !BITS.contains(&bits) {
        return Err(CryptoError::operation("the modulus has 512 to 4096 bits"));
    }
    let exponent = BigUint::from_bytes_be(exponent);
    // Verifiers refuse an exponent of more than 33 bits (the `rsa` crate's limit), and an even one has no private key.
    if exponent.bits() > 33 || exponent.to_bytes_le().first().is_none_or(|low| low & 1 == 0) {
        return Err(CryptoError::operation("the public exponent is odd, and of 33 bits at most"));
    }
    let private = RsaPrivateKey::new_with_exp(&mut OsRng, bits, &exponent)
        .map_err(|error| CryptoError::operation(&error.to_string()))?;
    let public = private.to_public_key();
    Ok((Key::RsaPrivate(Box::new(private)), Key::RsaPublic(Box::new(public))))
}

/// Calls a generic function with the hash of a name.
macro_rules! by_hash {
    ($name:expr, $make:ident) => {
        match plain($name)? {
            "sha1" => $make!(sha1::Sha1),
            "sha256" => $make!(sha2::Sha256),
            "sha384" => $make!(sha2::Sha384),
            _ => $make!(sha2::Sha512),
        }
    };
}

fn pkcs1(hash: &str) -> CryptoResult<Pkcs1v15Sign> {
    macro_rules! make {
        ($hash:ty) => {
            Pkcs1v15Sign::new::<$hash>()
        };
    }
    Ok(by_hash!(hash, make))
}

fn pss(hash: &str, salt: usize) -> CryptoResult<Pss> {
    macro_rules! make {
        ($hash:ty) => {
            Pss::new_with_salt::<$hash>(salt)
        };
    }
    Ok(by_hash!(hash, make))
}

fn oaep(hash: &str, label: &[u8]) -> CryptoResult<Oaep> {
    let Ok(label) = std::str::from_utf8(label) else {
        return Err(CryptoError::unsupported("a label that is not UTF-8"));
    };
    macro_rules! make {
        ($hash:ty) => {
            if label.is_empty() {
                Oaep::new::<$hash>()
            } else {
                Oaep::new_with_label::<$hash, _>(label)
            }
        };
    }
    Ok(by_hash!(hash, make))
}

pub(super) fn sign(
    key: &RsaPrivateKey,
    name: &str,
    hash: &str,
    salt: usize,
    data: &[u8],
) -> CryptoResult<Vec<u8>> {
    let digest = hashed(plain(hash)?, data).unwrap_or_default();
    let done = match name {
        "RSA-PSS" => key.sign_with_rng(&mut OsRng, pss(hash, salt)?, &digest),
        _ => key.sign_with_rng(&mut OsRng, pkcs1(hash)?, &digest),
    };
    done.map_err(|error| CryptoError::operation(&error.to_string()))
}

/// Data and the signature to verify.
pub(super) struct Signed<'a> {
    pub(super) data: &'a [u8],
    pub(super) signature: &'a [u8],
}

pub(super) fn verify(
    key: &RsaPublicKey,
    name: &str,
    hash: &str,
    salt: usize,
    signed: &Signed<'_>,
) -> CryptoResult<bool> {
    let digest = hashed(plain(hash)?, signed.data).unwrap_or_default();
    Ok(match name {
        "RSA-PSS" => key.verify(pss(hash, salt)?, &digest, signed.signature),
        _ => key.verify(pkcs1(hash)?, &digest, signed.signature),
    }
    .is_ok())
}

pub(super) fn encrypt(
    key: &RsaPublicKey,
    hash: &str,
    label: &[u8],
    data: &[u8],
) -> CryptoResult<Vec<u8>> {
    key.encrypt(&mut OsRng, oaep(hash, label)?, data)
        .map_err(|error| CryptoError::operation(&error.to_string()))
}

pub(super) fn decrypt(
    key: &RsaPrivateKey,
    hash: &str,
    label: &[u8],
    data: &[u8],
) -> CryptoResult<Vec<u8>> {
    key.decrypt_blinded(&mut OsRng, oaep(hash, label)?, data)
        .map_err(|_| CryptoError::operation("could not decrypt"))
}

pub(super) fn read(format: &str, bytes: &[u8]) -> CryptoResult<Key> {
    let wrong = |text: String| CryptoError::data(&text);
    match format {
        "pkcs8" => RsaPrivateKey::from_pkcs8_der(bytes)
            .map(|key| Key::RsaPrivate(Box::new(key)))
            .map_err(|error| wrong(error.to_string())),
        "spki" => RsaPublicKey::from_public_key_der(bytes)
            .map(|key| Key::RsaPublic(Box::new(key)))
            .map_err(|error| wrong(error.to_string())),
        _ => Err(CryptoError::unsupported("RSA keys are spki, pkcs8 or jwk")),
    }
}

pub(super) fn write_private(key: &RsaPrivateKey) -> CryptoResult<Vec<u8>> {
    let der = key.to_pkcs8_der().map_err(|error| CryptoError::operation(&error.to_string()))?;
    Ok(der.as_bytes().to_vec())
}

pub(super) fn write_public(key: &RsaPublicKey) -> CryptoResult<Vec<u8>> {
    let der =
        key.to_public_key_der().map_err(|error| CryptoError::operation(&error.to_string()))?;
    Ok(der.as_bytes().to_vec())
}

/// A field of a JWK as a number.
fn number(text: Option<String>) -> CryptoResult<BigUint> {
    let text = text.ok_or_else(|| CryptoError::data("a field is missing"))?;
    let bytes = base64(Base64::RawUrl).decode(text);
    bytes
        .map(|bytes| BigUint::from_bytes_be(&bytes))
        .map_err(|_| CryptoError::data("a field is no base64url"))
}

pub(super) fn of_jwk(field: impl Fn(&str) -> Option<String>) -> CryptoResult<Key> {
    if field("kty").as_deref() != Some("RSA") {
        return Err(CryptoError::data("the key's type is not RSA"));
    }
    let (n, e) = (number(field("n"))?, number(field("e"))?);
    let wrong = |error: rsa::Error| CryptoError::data(&error.to_string());
    if field("d").is_none() {
        return RsaPublicKey::new(n, e).map(|key| Key::RsaPublic(Box::new(key))).map_err(wrong);
    }
    let primes = vec![number(field("p"))?, number(field("q"))?];
    RsaPrivateKey::from_components(n, e, number(field("d"))?, primes)
        .map(|key| Key::RsaPrivate(Box::new(key)))
        .map_err(wrong)
}

fn text(number: &BigUint) -> String {
    base64(Base64::RawUrl).encode(number.to_bytes_be())
}

pub(super) fn public_jwk(key: &RsaPublicKey) -> Fields {
    vec![("kty", "RSA".to_owned()), ("n", text(key.n())), ("e", text(key.e()))]
}

pub(super) fn private_jwk(key: &RsaPrivateKey) -> CryptoResult<Fields> {
    let mut fields = public_jwk(&key.to_public_key());
    fields.push(("d", text(key.d())));
    let ([p, q], Some(dp), Some(dq)) = (key.primes(), key.dp(), key.dq()) else {
        return Err(CryptoError::unsupported("a key of more than two primes"));
    };
    let qi = key.crt_coefficient().ok_or_else(|| CryptoError::operation("the key is not whole"))?;
    let all = [("p", p), ("q", q), ("dp", dp), ("dq", dq), ("qi", &qi)];
    fields.extend(all.map(|(name, value)| (name, text(value))));
    Ok(fields)
}
