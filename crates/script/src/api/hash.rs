//! Hashes by name, and HMAC over any of them (RFC 2104).

use sha2::digest::DynDigest;

/// A hash that has seen nothing yet.
pub(super) fn hasher(name: &str) -> Option<Box<dyn DynDigest>> {
    Some(match name {
        "md4" => Box::new(md4::Md4::default()),
        "md5" => Box::new(md5::Md5::default()),
        "sha1" => Box::new(sha1::Sha1::default()),
        "sha256" => Box::new(sha2::Sha256::default()),
        "sha384" => Box::new(sha2::Sha384::default()),
        "sha512" => Box::new(sha2::Sha512::default()),
        "sha512_224" => Box::new(sha2::Sha512_224::default()),
        "sha512_256" => Box::new(sha2::Sha512_256::default()),
        "ripemd160" => Box::new(ripemd::Ripemd160::default()),
        _ => return None,
    })
}

/// The hash of bytes.
pub(super) fn hash(name: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    let mut hasher = hasher(name)?;
    hasher.update(bytes);
    Some(hasher.finalize().into_vec())
}

/// A hash with a key, or without one.
#[derive(Clone)]
pub(super) struct Digest {
    inner: Box<dyn DynDigest>,
    /// The key as the outer hash takes it, and the hash's name.
    outer: Option<(Vec<u8>, String)>,
}

impl Digest {
    /// A plain hash.
    pub(super) fn new(name: &str) -> Option<Self> {
        hasher(name).map(|inner| Self { inner, outer: None })
    }

    /// `H(key ^ opad, H(key ^ ipad, text))`.
    pub(super) fn keyed(name: &str, key: &[u8]) -> Option<Self> {
        let block = match name {
            "sha384" | "sha512" | "sha512_224" | "sha512_256" => 128,
            _ => 64,
        };
        let mut key = if key.len() > block { hash(name, key)? } else { key.to_vec() };
        key.resize(block, 0);
        let mut inner = hasher(name)?;
        inner.update(&key.iter().map(|byte| byte ^ 0x36).collect::<Vec<_>>());
        let outer = key.iter().map(|byte| byte ^ 0x5c).collect();
        Some(Self { inner, outer: Some((outer, name.to_owned())) })
    }

    /// Takes more of the text.
    pub(super) fn update(&mut self, bytes: &[u8]) {
        self.inner.update(bytes);
    }

    /// The hash of the text so far; more may follow.
    pub(super) fn digest(&self) -> Vec<u8> {
        let inner = self.inner.clone().finalize().into_vec();
        let Some((outer, name)) = &self.outer else { return inner };
        hash(name, &[outer.as_slice(), &inner].concat()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::bytes::hex;

    #[test]
    fn hashes_and_hmacs_are_right() {
        let hash = |name: &str| hex(&hash(name, b"hello").expect("it is known"));
        assert_eq!(hash("md4"), "866437cb7a794bce2b727acc0362ee27");
        assert_eq!(hash("sha512_224"), "fe8509ed1fb7dcefc27e6ac1a80eddbec4cb3d2c6fe565244374061c");
        assert_eq!(hash("ripemd160"), "108f07b8382412612c048d07d13f814118445acd");
        let mut hmac = Digest::keyed("sha256", b"key").expect("it is known");
        hmac.update(b"da");
        hmac.update(b"ta");
        assert_eq!(
            hex(&hmac.digest()),
            "5031fe3d989c6d1537a013fa6e739da23463fdaec3b70137d828e36ace221bd0"
        );
        // RFC 4231, test case 6: a key longer than a block.
        let mut hmac = Digest::keyed("sha512", &[0xaa; 131]).expect("it is known");
        hmac.update(b"Test Using Larger Than Block-Size Key - Hash Key First");
        assert!(hex(&hmac.digest()).starts_with("80b24263c7c1a3ebb71493c1dd7be8b4"));
    }
}
