//! Private keys in PEM that a password protects, in the older form: `DEK-Info` names the cipher, and the password is hashed with MD5.
//! RFC 1421, 4.6.1.3, as OpenSSL has extended it. It refuses PKCS#8, as k6 does.

use base64::Engine as _;
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockDecryptMut as _, KeyIvInit as _};
use md5::{Digest as _, Md5};

/// Why a key cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum KeyError {
    /// The password is another.
    #[error("x509: decryption password incorrect")]
    Password,
    /// It is no such key, or is protected by a cipher that is not known.
    #[error("failed to append certificate from PEM: tls: failed to parse private key")]
    Malformed,
}

/// The bytes of the vector that a cipher begins with.
const VECTOR_BYTES: usize = 16;
/// The bytes of it that salt the password.
const SALT_BYTES: usize = 8;

/// The key in PEM without its protection; itself where it has none.
pub(super) fn unprotected(pem: &str, password: &str) -> Result<String, KeyError> {
    let Some((before, info)) = pem.split_once("DEK-Info:") else { return Ok(pem.to_owned()) };
    let label = before.split_once("-----BEGIN ").and_then(|(_, rest)| rest.split_once("-----"));
    let (label, _) = label.ok_or(KeyError::Malformed)?;
    let (line, rest) = info.split_once('\n').ok_or(KeyError::Malformed)?;
    let (cipher, vector) = line.trim().split_once(',').ok_or(KeyError::Malformed)?;
    let vector = unhex(vector).ok_or(KeyError::Malformed)?;
    let body: String = rest.lines().take_while(|line| !line.starts_with("-----")).collect();
    let bytes = base64::engine::general_purpose::STANDARD.decode(body.trim());
    let bytes = bytes.map_err(|_| KeyError::Malformed)?;
    let der = decrypted(cipher, &vector, password, &bytes)?;
    // A wrong password may look padded all the same.
    if der.first() != Some(&SEQUENCE) {
        return Err(KeyError::Password);
    }
    let text = base64::engine::general_purpose::STANDARD.encode(der);
    Ok(format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n"))
}

/// How every key in DER begins.
const SEQUENCE: u8 = 0x30;

fn decrypted(
    cipher: &str,
    vector: &[u8; VECTOR_BYTES],
    password: &str,
    bytes: &[u8],
) -> Result<Vec<u8>, KeyError> {
    let key = derived(password, &vector[..SALT_BYTES]);
    let plain = match cipher {
        "AES-128-CBC" => cbc::Decryptor::<aes::Aes128>::new_from_slices(&key[..16], vector)
            .map_err(|_| KeyError::Malformed)?
            .decrypt_padded_vec_mut::<Pkcs7>(bytes),
        "AES-192-CBC" => cbc::Decryptor::<aes::Aes192>::new_from_slices(&key[..24], vector)
            .map_err(|_| KeyError::Malformed)?
            .decrypt_padded_vec_mut::<Pkcs7>(bytes),
        "AES-256-CBC" => cbc::Decryptor::<aes::Aes256>::new_from_slices(&key, vector)
            .map_err(|_| KeyError::Malformed)?
            .decrypt_padded_vec_mut::<Pkcs7>(bytes),
        _ => return Err(KeyError::Malformed),
    };
    plain.map_err(|_| KeyError::Password)
}

/// A key of a password: each half is the hash of the half before it, the password and the salt.
fn derived(password: &str, salt: &[u8]) -> [u8; 32] {
    let hash = |before: &[u8]| {
        Md5::new().chain_update(before).chain_update(password).chain_update(salt).finalize()
    };
    let first = hash(&[]);
    let mut key = [0; 32];
    key[..16].copy_from_slice(&first);
    key[16..].copy_from_slice(&hash(&first));
    key
}

fn unhex(text: &str) -> Option<[u8; VECTOR_BYTES]> {
    let mut bytes = [0; VECTOR_BYTES];
    if text.len() != 2 * VECTOR_BYTES || !text.is_ascii() {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made by `openssl ec -aes256 -passout pass:secret` for this test.
    const PLAIN: &str = "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIAltzRjTdKgkiCLPfvn54UhrNxBQW+nvwMb/slA+0ptnoAoGCCqGSM49AwEHoUQDQgAEsD5Tp30q7SwrraQmhbjAiWRu9RGTqI2ognir8pN68FkuIu+Qj0KHmNLxWzloA2wx4TA1QqRr0eokLNrRo+/ypg==\n-----END EC PRIVATE KEY-----\n";
    const PROTECTED: &str = "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,73E2F0E6F49D5C827E448345B7EF46C5\n\ne5TKlxj/gV1ZiSN3mRAYT22pfODHQg6xoX/w1REwqalT4oCkU9dk+Hq/pRnF/zbt\nBItaK78hWTemE2TK5pfahwLOuzXO5tbCSUE2UQQbTfvq9YLdt7rZnsh4yUjc+bXN\nxdvevElQ5/sUQumkt3m1Gajwlvbaz7I+U8gxAk+ExWI=\n-----END EC PRIVATE KEY-----\n";

    #[test]
    fn passwords_are_taken_off() {
        assert_eq!(unprotected(PROTECTED, "secret").as_deref(), Ok(PLAIN));
        assert_eq!(unprotected(PROTECTED, "other"), Err(KeyError::Password));
        assert_eq!(unprotected(PLAIN, "any").as_deref(), Ok(PLAIN));
        let unknown = PROTECTED.replace("AES-256-CBC", "SEED-CBC");
        assert_eq!(unprotected(&unknown, "secret"), Err(KeyError::Malformed));
        assert_eq!(unprotected("DEK-Info: AES-256-CBC,00", "x"), Err(KeyError::Malformed));
    }
}
