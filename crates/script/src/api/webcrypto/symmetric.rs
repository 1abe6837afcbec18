//! AES in its modes, HMAC and PBKDF2.

use aes::cipher::block_padding::Pkcs7;
use aes::cipher::generic_array::GenericArray;
use aes::cipher::{BlockDecryptMut as _, BlockEncrypt as _, BlockEncryptMut as _, KeyIvInit as _};
use aes::{Aes128, Aes192, Aes256, Block};

use pbkdf2::hmac::digest::KeyInit;
use pbkdf2::hmac::{Hmac, Mac};

use super::super::hash::Digest;
use super::error::{CryptoError, CryptoResult, plain};

pub(super) fn mac(hash: &str, key: &[u8], data: &[u8]) -> CryptoResult<Vec<u8>> {
    let mut digest =
        Digest::keyed(plain(hash)?, key).ok_or_else(|| CryptoError::operation("hash"))?;
    digest.update(data);
    Ok(digest.digest())
}

/// AES of one of three key lengths.
enum Aes {
    Short(Box<Aes128>),
    Middle(Box<Aes192>),
    Long(Box<Aes256>),
}

impl Aes {
    fn new(key: &[u8]) -> CryptoResult<Self> {
        let wrong = |_| CryptoError::operation("invalid key length");
        Ok(match key.len() {
            16 => Self::Short(Box::new(Aes128::new_from_slice(key).map_err(wrong)?)),
            24 => Self::Middle(Box::new(Aes192::new_from_slice(key).map_err(wrong)?)),
            _ => Self::Long(Box::new(Aes256::new_from_slice(key).map_err(wrong)?)),
        })
    }

    fn encrypt(&self, block: &mut Block) {
        match self {
            Self::Short(aes) => aes.encrypt_block(block),
            Self::Middle(aes) => aes.encrypt_block(block),
            Self::Long(aes) => aes.encrypt_block(block),
        }
    }
}

/// CBC with the padding of PKCS #7.
pub(super) fn cbc(encrypts: bool, key: &[u8], iv: &[u8], data: &[u8]) -> CryptoResult<Vec<u8>> {
    macro_rules! with {
        ($aes:ty) => {{
            let wrong = |_| CryptoError::operation("iv length is not 16 bytes");
            if encrypts {
                let mode = cbc::Encryptor::<$aes>::new_from_slices(key, iv).map_err(wrong)?;
                Ok(mode.encrypt_padded_vec_mut::<Pkcs7>(data))
            } else {
                let mode = cbc::Decryptor::<$aes>::new_from_slices(key, iv).map_err(wrong)?;
                mode.decrypt_padded_vec_mut::<Pkcs7>(data)
                    .map_err(|_| CryptoError::operation("could not decrypt"))
            }
        }};
    }
    match key.len() {
        16 => with!(Aes128),
        24 => with!(Aes192),
        _ => with!(Aes256),
    }
}

/// CTR; the last `bits` of the counter count, and turn over without touching the rest.
pub(super) fn ctr(key: &[u8], counter: &[u8], bits: u32, data: &[u8]) -> CryptoResult<Vec<u8>> {
    let Ok(start) = <[u8; 16]>::try_from(counter) else {
        return Err(CryptoError::operation("counter length is not 16 bytes"));
    };
    if !(1..=128).contains(&bits) {
        return Err(CryptoError::operation("the counter's length is 1 to 128 bits"));
    }
    let aes = Aes::new(key)?;
    let start = u128::from_be_bytes(start);
    let mask = if bits == 128 { u128::MAX } else { (1 << bits) - 1 };
    if bits < 64 && data.len().div_ceil(16) as u128 > mask + 1 {
        return Err(CryptoError::operation("the data is longer than the counter allows"));
    }
    let mut out = Vec::with_capacity(data.len());
    for (at, chunk) in data.chunks(16).enumerate() {
        let value = (start & !mask) | (start.wrapping_add(at as u128) & mask);
        let mut block = Block::from(value.to_be_bytes());
        aes.encrypt(&mut block);
        out.extend(chunk.iter().zip(block).map(|(byte, key)| byte ^ key));
    }
    Ok(out)
}

/// What GCM takes besides key and data.
pub(super) struct Gcm {
    pub(super) iv: Vec<u8>,
    pub(super) extra: Vec<u8>,
    /// The tag's length in bits.
    pub(super) tag: u32,
}

/// GCM (NIST SP 800-38D), with any length of the initial value and of the tag.
pub(super) fn gcm(encrypts: bool, key: &[u8], with: &Gcm, data: &[u8]) -> CryptoResult<Vec<u8>> {
    if ![32, 64, 96, 104, 112, 120, 128].contains(&with.tag) {
        return Err(CryptoError::operation(
            "the tag's length is 32, 64, 96, 104, 112, 120 or 128 bits",
        ));
    }
    let tag_len = with.tag as usize / 8;
    let aes = Aes::new(key)?;
    let mut subkey = Block::default();
    aes.encrypt(&mut subkey);
    let first = if let Ok(iv) = <[u8; 12]>::try_from(with.iv.as_slice()) {
        let mut block = [0; 16];
        block[..12].copy_from_slice(&iv);
        block[15] = 1;
        block
    } else {
        ghash(&subkey, &[], &with.iv)
    };
    let next = u128::from_be_bytes(first);
    let next = (next & !0xffff_ffff) | u128::from((next as u32).wrapping_add(1));
    let keyed = |text: &[u8]| ctr(key, &next.to_be_bytes(), 32, text);
    let tagged = |text: &[u8]| {
        let mut mask = Block::from(first);
        aes.encrypt(&mut mask);
        let hash = ghash(&subkey, &with.extra, text);
        hash.iter().zip(mask).map(|(byte, key)| byte ^ key).take(tag_len).collect::<Vec<u8>>()
    };
    if encrypts {
        let mut out = keyed(data)?;
        let tag = tagged(&out);
        out.extend(tag);
        return Ok(out);
    }
    let Some(split) = data.len().checked_sub(tag_len) else {
        return Err(CryptoError::operation("the data is shorter than its tag"));
    };
    let (text, tag) = data.split_at(split);
    if tagged(text) != tag {
        return Err(CryptoError::operation("could not decrypt: the tag does not fit"));
    }
    keyed(text)
}

/// GHASH over what is only signed and what is encrypted as well.
fn ghash(key: &Block, extra: &[u8], text: &[u8]) -> [u8; 16] {
    use ghash::universal_hash::UniversalHash as _;
    let mut hash = ghash::GHash::new(GenericArray::from_slice(key));
    hash.update_padded(extra);
    hash.update_padded(text);
    let mut lengths = [0; 16];
    lengths[..8].copy_from_slice(&(extra.len() as u64 * 8).to_be_bytes());
    lengths[8..].copy_from_slice(&(text.len() as u64 * 8).to_be_bytes());
    hash.update(&[*GenericArray::from_slice(&lengths)]);
    hash.finalize().into()
}

/// The most bytes that are derived at once: 1 MiB.
const DERIVED_MAX: usize = 1 << 20;
/// After so many rounds it is asked whether the script is to end.
const ROUNDS_BETWEEN_LOOKS: u32 = 1024;

/// What PBKDF2 takes besides the key.
pub(super) struct Pbkdf2<'a> {
    pub(super) hash: &'a str,
    pub(super) salt: &'a [u8],
    pub(super) rounds: u32,
    /// How many bytes it gives.
    pub(super) len: usize,
}

/// PBKDF2 (RFC 8018, 5.2). It ends early, with an error, where `stops` says so.
pub(super) fn pbkdf2(
    key: &[u8],
    with: &Pbkdf2<'_>,
    stops: &dyn Fn() -> bool,
) -> CryptoResult<Vec<u8>> {
    match plain(with.hash)? {
        "sha1" => derived::<Hmac<sha1::Sha1>>(key, with, stops),
        "sha256" => derived::<Hmac<sha2::Sha256>>(key, with, stops),
        "sha384" => derived::<Hmac<sha2::Sha384>>(key, with, stops),
        _ => derived::<Hmac<sha2::Sha512>>(key, with, stops),
    }
}

fn derived<P: Mac + KeyInit + Clone>(
    key: &[u8],
    with: &Pbkdf2<'_>,
    stops: &dyn Fn() -> bool,
) -> CryptoResult<Vec<u8>> {
    if with.len > DERIVED_MAX {
        return Err(CryptoError::operation("at most 8388608 bits can be derived at once"));
    }
    let keyed = <P as KeyInit>::new_from_slice(key)
        .map_err(|_| CryptoError::operation("invalid key length"))?;
    let mut out = vec![0; with.len];
    let mut left = 0;
    for (at, block) in (1_u32..).zip(out.chunks_mut(P::output_size())) {
        let mut last = keyed
            .clone()
            .chain_update(with.salt)
            .chain_update(at.to_be_bytes())
            .finalize()
            .into_bytes();
        block.copy_from_slice(&last[..block.len()]);
        for _ in 1..with.rounds {
            if left == 0 {
                left = ROUNDS_BETWEEN_LOOKS;
                if stops() {
                    return Err(CryptoError::operation("interrupted"));
                }
            }
            left -= 1;
            last = keyed.clone().chain_update(&last).finalize().into_bytes();
            block.iter_mut().zip(&last).for_each(|(to, by)| *to ^= by);
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::super::super::bytes::hex;
    use super::*;

    #[test]
    fn gcm_is_nists() {
        // Test cases 2 and 6 of the GCM specification (McGrew and Viega): an initial value of 96 bits, and a longer one.
        let with = |iv: Vec<u8>, extra: Vec<u8>| Gcm { iv, extra, tag: 128 };
        let out =
            gcm(true, &[0; 16], &with(vec![0; 12], vec![]), &[0; 16]).ok().expect("it encrypts");
        assert_eq!(hex(&out), "0388dace60b6a392f328c2b971b2fe78ab6e47d42cec13bdf53a67b21257bddf");
        for (iv, len) in [(12, 0), (12, 33), (1, 16), (60, 100)] {
            let data: Vec<u8> = (0..len).map(|n| n as u8).collect();
            let with = with(vec![7; iv], b"extra".to_vec());
            let mut out = gcm(true, &[9; 32], &with, &data).ok().expect("it encrypts");
            assert_eq!(gcm(false, &[9; 32], &with, &out).ok(), Some(data));
            out[0] ^= 1;
            assert!(gcm(false, &[9; 32], &with, &out).is_err());
        }
    }

    #[test]
    fn pbkdf2_is_rfc_6070s() {
        let derive = |rounds, len, stops: &dyn Fn() -> bool| {
            let with = Pbkdf2 { hash: "SHA-1", salt: b"salt", rounds, len };
            pbkdf2(b"password", &with, stops).map(|out| hex(&out)).map_err(|failed| failed.1)
        };
        for (rounds, len, expect) in [
            (1, 20, "0c60c80f961f0e71f3a9b524af6012062fe037a6"),
            (2, 20, "ea6c014dc72d6f8ccd1ed92ace1d41f0d8de8957"),
            (4096, 20, "4b007901b765489abead49d926f721d065a429c1"),
            // Longer than a block: hashlib.pbkdf2_hmac('sha1', b'password', b'salt', 2, 25).
            (2, 25, "ea6c014dc72d6f8ccd1ed92ace1d41f0d8de8957cae9313626"),
        ] {
            let out = derive(rounds, len, &|| false).expect("it derives");
            assert!(out.starts_with(expect), "{rounds} rounds: {out}");
            assert_eq!(out.len(), 2 * len);
        }
        let long = derive(1, DERIVED_MAX + 1, &|| false);
        assert_eq!(long, Err("at most 8388608 bits can be derived at once".to_owned()));
        assert_eq!(derive(u32::MAX, 20, &|| true), Err("interrupted".to_owned()));
    }

    #[test]
    fn counters_turn_over_alone() {
        let start = [0xff; 16];
        let long = ctr(&[1; 16], &start, 8, &[0; 32]).ok().expect("it encrypts");
        let mut second = start;
        second[15] = 0;
        let alone = ctr(&[1; 16], &second, 8, &[0; 16]).ok().expect("it encrypts");
        assert_eq!(long[16..], alone[..]);
        assert!(ctr(&[1; 16], &start, 4, &[0; 300]).is_err());
    }
}
