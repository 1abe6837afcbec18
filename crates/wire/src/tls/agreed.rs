//! `Agreed`: what a handshake agreed on, in OpenSSL's words, and its names of the cipher suites we have.

use rustls::{CipherSuite, CommonState, NamedGroup, ProtocolVersion};

/// What a handshake agreed on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agreed {
    /// `TLSv1.2` or `TLSv1.3`.
    pub version: &'static str,
    /// The cipher suite by OpenSSL's name.
    pub suite: &'static str,
    /// Bits of the suite's cipher.
    pub suite_bits: u32,
    /// Bits of the server certificate's key; 0 where its kind is not known here.
    pub key_bits: u32,
    /// The key exchange and its bits; empty where it is not known here.
    pub key_exchange: &'static str,
}

/// Suite, OpenSSL's name, bits.
const SUITES: [(CipherSuite, &str, u32); 9] = [
    (CipherSuite::TLS13_AES_256_GCM_SHA384, "TLS_AES_256_GCM_SHA384", 256),
    (CipherSuite::TLS13_AES_128_GCM_SHA256, "TLS_AES_128_GCM_SHA256", 128),
    (CipherSuite::TLS13_CHACHA20_POLY1305_SHA256, "TLS_CHACHA20_POLY1305_SHA256", 256),
    (CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, "ECDHE-RSA-AES256-GCM-SHA384", 256),
    (CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, "ECDHE-RSA-AES128-GCM-SHA256", 128),
    (CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256, "ECDHE-RSA-CHACHA20-POLY1305", 256),
    (CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, "ECDHE-ECDSA-AES256-GCM-SHA384", 256),
    (CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, "ECDHE-ECDSA-AES128-GCM-SHA256", 128),
    (
        CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
        "ECDHE-ECDSA-CHACHA20-POLY1305",
        256,
    ),
];

/// The suites we have of a list of OpenSSL's names, separated by colons; unknown names are left out.
#[must_use]
pub fn suites_named(list: &str) -> Vec<CipherSuite> {
    let named = |name: &str| SUITES.iter().find(|(_, known, _)| *known == name);
    list.split(':').filter_map(named).map(|(suite, ..)| *suite).collect()
}

/// A suite's name as IANA lists it and Go prints it.
pub(super) fn iana_name(suite: CipherSuite) -> &'static str {
    // rustls marks those of TLS 1.3.
    match suite {
        CipherSuite::TLS13_AES_128_GCM_SHA256 => "TLS_AES_128_GCM_SHA256",
        CipherSuite::TLS13_AES_256_GCM_SHA384 => "TLS_AES_256_GCM_SHA384",
        CipherSuite::TLS13_CHACHA20_POLY1305_SHA256 => "TLS_CHACHA20_POLY1305_SHA256",
        other => other.as_str().unwrap_or(""),
    }
}

/// The suite that IANA lists under this name, where it is one of ours.
#[must_use]
pub fn suite_of_iana(name: &str) -> Option<CipherSuite> {
    SUITES.iter().map(|(suite, ..)| *suite).find(|suite| iana_name(*suite) == name)
}

impl Agreed {
    /// What a connection's finished handshake agreed on.
    pub(super) fn of(conn: &CommonState) -> Self {
        let version = match conn.protocol_version() {
            Some(ProtocolVersion::TLSv1_3) => "TLSv1.3",
            _ => "TLSv1.2",
        };
        let suite = conn.negotiated_cipher_suite().map(|suite| suite.suite());
        let known = SUITES.iter().find(|(known, ..)| Some(*known) == suite);
        let (suite, suite_bits) = known.map_or(("", 0), |(_, name, bits)| (*name, *bits));
        let group = conn.negotiated_key_exchange_group().map(|group| group.name());
        let certificate = conn.peer_certificates().and_then(<[_]>::first);
        Self {
            version,
            suite,
            suite_bits,
            key_bits: certificate.and_then(|der| key_bits(der)).unwrap_or(0),
            key_exchange: match group {
                Some(NamedGroup::X25519) => "X25519 253 bits",
                Some(NamedGroup::secp256r1) => "ECDH prime256v1 256 bits",
                Some(NamedGroup::secp384r1) => "ECDH secp384r1 384 bits",
                _ => "",
            },
        }
    }
}

/// Bits of the key in a certificate: an RSA key's modulus, or the size of its curve. RFC 5280, 4.1; RFC 8017, A.1.1.
fn key_bits(certificate: &[u8]) -> Option<u32> {
    let (_, body, _) = element(certificate)?;
    let (_, mut fields, _) = element(body)?;
    // Version (where it is not the first one), serial number, signature, issuer, validity, subject.
    let skipped = if fields.first() == Some(&CONTEXT_0) { 6 } else { 5 };
    for _ in 0..skipped {
        fields = element(fields)?.2;
    }
    let (_, key_info, _) = element(fields)?;
    let (_, algorithm, rest) = element(key_info)?;
    let (_, bits, _) = element(rest)?;
    let (_, oid, parameters) = element(algorithm)?;
    match oid {
        RSA => {
            let (_, pair, _) = element(bits.get(1..)?)?;
            let (_, modulus, _) = element(pair)?;
            let zeros = modulus.iter().position(|&byte| byte != 0)?;
            let lead = modulus[zeros].leading_zeros();
            u32::try_from((modulus.len() - zeros) * 8).ok().map(|bits| bits - lead)
        }
        EC => match element(parameters)?.1 {
            P256 => Some(256),
            P384 => Some(384),
            _ => None,
        },
        ED25519 => Some(253),
        _ => None,
    }
}

/// Tag, content and what follows of the first element of DER. ITU-T X.690, 8.1.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = der.split_first()?;
    let (&short, rest) = rest.split_first()?;
    let (len, rest) = match short {
        0..=0x7f => (usize::from(short), rest),
        // Three bytes say 16 MiB; no certificate is larger.
        0x81..=0x83 => {
            let (digits, rest) = rest.split_at_checked(usize::from(short & 0x7f))?;
            (digits.iter().fold(0, |len, &byte| len << 8 | usize::from(byte)), rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(len)?;
    Some((tag, content, rest))
}

const CONTEXT_0: u8 = 0xa0;
/// 1.2.840.113549.1.1.1
const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
/// 1.2.840.10045.2.1
const EC: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
/// 1.2.840.10045.3.1.7
const P256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
/// 1.3.132.0.34
const P384: &[u8] = &[0x2b, 0x81, 0x04, 0x00, 0x22];
/// 1.3.101.112
const ED25519: &[u8] = &[0x2b, 0x65, 0x70];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suites_are_known_by_openssls_names() {
        let list = "foo:ECDHE-RSA-AES128-GCM-SHA256:TLS_AES_256_GCM_SHA384";
        let expect = [
            CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
            CipherSuite::TLS13_AES_256_GCM_SHA384,
        ];
        assert_eq!(suites_named(list), expect);
        assert!(suites_named("foo").is_empty());
    }

    /// An element of DER.
    fn der(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
        let content = parts.concat();
        let len = u16::try_from(content.len()).expect("a short one").to_be_bytes();
        [&[tag, 0x82], len.as_slice(), &content].concat()
    }

    /// A certificate with nothing in it but a key.
    fn certificate(begin: &[u8], algorithm: &[&[u8]], key: &[u8]) -> Vec<u8> {
        let key_info = der(0x30, &[&der(0x30, algorithm), &der(0x03, &[&[0], key])]);
        let empty = der(0x30, &[]);
        let fields = [begin, &empty, &empty, &empty, &empty, &empty, &key_info];
        der(0x30, &[&der(0x30, &fields), &empty])
    }

    #[test]
    fn keys_have_their_bits() {
        let version = der(CONTEXT_0, &[]);
        let rsa = |modulus: &[u8]| der(0x30, &[&der(0x02, &[modulus]), &der(0x02, &[&[3]])]);
        let mut modulus = vec![0, 0x80];
        modulus.resize(257, 7);
        let named = |oid: &[u8]| der(0x06, &[oid]);
        let cases = [
            (certificate(&version, &[&named(RSA)], &rsa(&modulus)), Some(2048)),
            (certificate(&[], &[&named(RSA)], &rsa(&[0x01, 0xff])), Some(9)),
            (certificate(&version, &[&named(EC), &named(P256)], &[4]), Some(256)),
            (certificate(&version, &[&named(EC), &named(P384)], &[4]), Some(384)),
            (certificate(&version, &[&named(ED25519)], &[]), Some(253)),
            (certificate(&version, &[&named(&[1])], &[]), None),
        ];
        for (certificate, bits) in cases {
            assert_eq!(key_bits(&certificate), bits);
            for cut in 0..certificate.len() {
                key_bits(&certificate[..cut]);
            }
        }
    }

    #[test]
    fn broken_der_has_no_bits_and_does_no_harm() {
        let hostile: [&[u8]; 5] =
            [b"", b"\x30", b"\x30\x84\xff\xff\xff\xff", b"\x30\x83\xff\xff\xff\x00", b"\x30\x80"];
        for der in hostile {
            assert_eq!(key_bits(der), None, "{der:?}");
        }
    }
}
