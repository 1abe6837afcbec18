//! `k6/crypto/x509`: what scripts read in certificates of openssl (`x509/*.pem`) and in odd ones, which `Certificate` writes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::modules::ran;

const RSA: &str = include_str!("x509/rsa.pem");
const EC: &str = include_str!("x509/ec.pem");
const ED25519: &str = include_str!("x509/ed25519.pem");

/// What `body` returns, or the exception it throws; `pem` is the certificate.
fn read(pem: &str, body: &str) -> String {
    let main = format!(
        "import x509 from 'k6/crypto/x509'; import encoding from 'k6/encoding'; const pem = open('./c.pem');
        const plain = (key, it) => typeof it == 'bigint' ? it.toString(16) : it instanceof ArrayBuffer ? it.byteLength : it;
        const text = it => typeof it == 'string' ? it : JSON.stringify(it, plain);
        function body() {{ {body} }}
        export default function () {{ try {{ console.log(text(body())) }} catch (error) {{ console.log(error.message) }} }}"
    );
    let lines = ran(&[("/main.js", &main), ("/c.pem", pem)]);
    assert_eq!(lines.len(), 2, "one line a VU: {lines:?}");
    lines[0].clone()
}

fn pem(der: &[u8]) -> String {
    format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", STANDARD.encode(der))
}

/// One element of DER: its tag, its length in the shortest form, what it holds.
fn der(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let content = parts.concat();
    let mut all = vec![tag];
    match content.len() {
        short @ 0..0x80 => all.push(short as u8),
        long => {
            let bytes = long.to_be_bytes();
            let bytes = &bytes[long.leading_zeros() as usize / 8..];
            all.push(0x80 | bytes.len() as u8);
            all.extend(bytes);
        }
    }
    all.extend(content);
    all
}

fn sequence(parts: &[&[u8]]) -> Vec<u8> {
    der(0x30, parts)
}

/// A name of one attribute: the bytes of its type, the tag and the bytes of its value.
fn name(kind: &[u8], tag: u8, value: &[u8]) -> Vec<u8> {
    let attribute = sequence(&[&der(6, &[kind]), &der(tag, &[value])]);
    sequence(&[&der(0x31, &[&attribute])])
}

/// The key of `EC`, as `openssl x509 -text` prints it too.
const EC_KEY: &str = r#"{"algorithm":"ECDSA","key":{"x":"89ebc8a5566224b4c09ce57f1c26624a8b8f86726b0f236217c0bade623007b6","y":"61b3b12004f11b7b478c69313f2edfdcd9d4612de27d662458f17af32677d95a","raw":65}}"#;

const COMMON_NAME: &[u8] = &[0x55, 4, 3];
const UTF8: u8 = 0x0c;
const ED25519_OID: &[u8] = &[0x2b, 0x65, 0x70];
const RSA_OID: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1];
const DSA_OID: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x38, 4, 1];

/// The fields of a certificate, each as DER.
struct Certificate {
    version: Vec<u8>,
    serial: Vec<u8>,
    subject: Vec<u8>,
    times: [Vec<u8>; 2],
    key: Vec<u8>,
    extensions: Vec<u8>,
}

impl Certificate {
    /// One of version 3 without extensions, with an RSA key of one byte.
    fn plain() -> Self {
        let key = sequence(&[&der(2, &[&[0, 0xc1]]), &der(2, &[&[3]])]);
        Self {
            version: der(0xa0, &[&der(2, &[&[2]])]),
            serial: der(2, &[&[1]]),
            subject: name(COMMON_NAME, UTF8, b"odd"),
            times: [der(0x17, &[b"240229235959Z"]), der(0x17, &[b"300101000000Z"])],
            key: Self::key_of(RSA_OID, &key),
            extensions: Vec::new(),
        }
    }

    fn key_of(algorithm: &[u8], key: &[u8]) -> Vec<u8> {
        sequence(&[&sequence(&[&der(6, &[algorithm])]), &der(3, &[&[0], key])])
    }

    fn subject(subject: Vec<u8>) -> String {
        pem(&Self { subject, ..Self::plain() }.encode())
    }

    fn times(tag: u8, from: &str, to: &str) -> String {
        let times = [der(tag, &[from.as_bytes()]), der(tag, &[to.as_bytes()])];
        pem(&Self { times, ..Self::plain() }.encode())
    }

    fn key(algorithm: &[u8], key: &[u8]) -> String {
        pem(&Self { key: Self::key_of(algorithm, key), ..Self::plain() }.encode())
    }

    /// With one extension for alternative names for each of `values`.
    fn alternatives(values: &[Vec<u8>]) -> String {
        let each = values.iter().map(|value| {
            sequence(&[&der(6, &[&[0x55, 0x1d, 0x11]]), &der(1, &[&[1]]), &der(4, &[value])])
        });
        let all: Vec<u8> = each.flatten().collect();
        let extensions = der(0xa3, &[&sequence(&[&all])]);
        pem(&Self { extensions, ..Self::plain() }.encode())
    }

    fn encode(&self) -> Vec<u8> {
        let algorithm = sequence(&[&der(6, &[ED25519_OID])]);
        let issuer = name(COMMON_NAME, 0x13, b"issuer");
        let validity = sequence(&[&self.times[0], &self.times[1]]);
        let signed = [
            &self.version,
            &self.serial,
            &algorithm,
            &issuer,
            &validity,
            &self.subject,
            &self.key,
            &self.extensions,
        ];
        let signed = sequence(&signed.map(Vec::as_slice));
        sequence(&[&signed, &algorithm, &der(3, &[&[0, 0xff]])])
    }
}

#[test]
fn a_certificate_of_openssl_is_read_in_full() {
    let whole = include_str!("x509/rsa.json").trim_end();
    assert_eq!(read(RSA, "return x509.parse(pem)"), whole);
    let part = |name: &str| read(RSA, &format!("return x509.parse(pem).{name}"));
    assert_eq!(read(RSA, "return x509.getSubject(pem)"), part("subject"));
    assert_eq!(read(RSA, "return x509.getIssuer(pem)"), part("issuer"));
    assert_eq!(read(RSA, "return x509.getAltNames(pem)"), part("altNames"));
}

#[test]
fn keys_are_numbers_and_points() {
    for (pem, expect) in [
        (EC.to_owned(), EC_KEY),
        (ED25519.to_owned(), "unsupported public key algorithm"),
        (pem(&Certificate::plain().encode()), r#"{"algorithm":"RSA","key":{"n":"c1","e":3}}"#),
        (
            Certificate::key(DSA_OID, &der(2, &[&[0x12, 0x34]])),
            r#"{"algorithm":"DSA","key":{"y":"1234"}}"#,
        ),
        (Certificate::key(DSA_OID, &der(4, &[&[0x12, 0x34]])), "unsupported public key algorithm"),
        (Certificate::key(RSA_OID, b"no key"), "unsupported public key algorithm"),
        (
            Certificate::key(RSA_OID, &sequence(&[&der(2, &[&[0, 1]]), &der(2, &[&[3]])])),
            "unsupported public key algorithm",
        ),
        (
            Certificate::key(RSA_OID, &sequence(&[&der(2, &[&[5]]), &der(2, &[&[0x81]])])),
            r#"{"algorithm":"RSA","key":{"n":"5","e":0}}"#,
        ),
        (
            Certificate::key(RSA_OID, &sequence(&[&der(2, &[&[5]])])),
            "unsupported public key algorithm",
        ),
    ] {
        assert_eq!(read(&pem, "return x509.parse(pem).publicKey"), expect);
    }
    assert_eq!(read(ED25519, "return x509.getSubject(pem).commonName"), "ed");
    let expect = r#"[{"type":"2.5.4.3","value":"ec"},{"type":"2.5.4.11","value":"two"},{"type":"2.5.4.10","value":"E"}]"#;
    assert_eq!(read(EC, "return x509.parse(pem).subject.names"), expect);
}

#[test]
fn names_are_of_several_kinds_of_strings() {
    for (tag, value, expect) in [
        (0x0c, &b"Pr\xc3\xbcfung"[..], "Prüfung"),
        (0x0c, b"\xff", ""),
        (0x12, b"12 34", "12 34"),
        (0x13, b"plain", "plain"),
        (0x13, b"a*b@c", "a*b@c"),
        (0x13, b"\xff", ""),
        (0x14, b"T61", ""),
        (0x16, b"ia5@example.test", "ia5@example.test"),
        (0x1a, b"visible", ""),
        (0x1c, b"\0\0\0u", ""),
        (0x1e, b"\0b\0m\0p", ""),
        (0x30, b"", ""),
        (0x0c, b"", ""),
    ] {
        let pem = Certificate::subject(name(COMMON_NAME, tag, value));
        assert_eq!(read(&pem, "return x509.getSubject(pem).commonName"), expect, "tag {tag:#x}");
    }
}

#[test]
fn attributes_stay_in_their_order() {
    let attribute = |kind: u8, value: &str| {
        sequence(&[&der(6, &[&[0x55, 4, kind]]), &der(UTF8, &[value.as_bytes()])])
    };
    // A set out of DER's order, an empty name, and one of no attributes.
    let set = der(0x31, &[&attribute(11, "z"), &attribute(3, "a"), &attribute(11, "b")]);
    let pem = Certificate::subject(sequence(&[&set, &der(0x31, &[&attribute(3, "c")])]));
    let expect = r#"[{"type":"2.5.4.11","value":"z"},{"type":"2.5.4.3","value":"a"},{"type":"2.5.4.11","value":"b"},{"type":"2.5.4.3","value":"c"}]"#;
    assert_eq!(read(&pem, "return x509.getSubject(pem).names"), expect);
    let empty = Certificate::subject(sequence(&[]));
    let expect = r#"{"commonName":"","country":"","localityName":"","names":[],"organizationName":"","organizationalUnitName":[],"postalCode":"","stateOrProvinceName":"","streetAddress":""}"#;
    assert_eq!(read(&empty, "return x509.getSubject(pem)"), expect);
}

#[test]
fn types_of_attributes_are_dotted() {
    for (kind, expect) in [
        (
            &[0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 0x19][..],
            "0.9.2342.19200300.100.1.25",
        ),
        (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 1], "1.2.840.113549.1.9.1"),
        (&[0x2b, 6, 1, 4, 1, 0x82, 0x37, 0x3c, 2, 1, 3], "1.3.6.1.4.1.311.60.2.1.3"),
        (&[0x69, 0xff, 0xff, 0xff, 0x7f], "2.25.268435455"),
        (&[0x88, 0x37, 3], "2.999.3"),
    ] {
        let pem = Certificate::subject(name(kind, UTF8, b"it"));
        assert_eq!(read(&pem, "return x509.getSubject(pem).names[0].type"), expect);
    }
}

#[test]
fn times_are_of_two_kinds() {
    let both = "const it = x509.parse(pem); return it.notBefore + ' ' + it.notAfter";
    for (tag, from, to, expect) in [
        (0x17, "500101000000Z", "491231235959Z", "1950-01-01T00:00:00Z 2049-12-31T23:59:59Z"),
        (0x17, "2402291200Z", "240229120001Z", "2024-02-29T12:00:00Z 2024-02-29T12:00:01Z"),
        (0x18, "20500101000000Z", "99991231235959Z", "2050-01-01T00:00:00Z 9999-12-31T23:59:59Z"),
        (0x18, "00010101000000Z", "19491231235959Z", "0001-01-01T00:00:00Z 1949-12-31T23:59:59Z"),
        (
            0x18,
            "20500101000000.5Z",
            "20500101000000.123Z",
            "2050-01-01T00:00:00Z 2050-01-01T00:00:00Z",
        ),
    ] {
        assert_eq!(read(&Certificate::times(tag, from, to), both), expect);
    }
    for (tag, wrong) in [
        (0x17, "240230000000Z"),
        (0x17, "230229000000Z"),
        (0x17, "241301000000Z"),
        (0x17, "240001000000Z"),
        (0x17, "240100000000Z"),
        (0x17, "240101240000Z"),
        (0x17, "240101006000Z"),
        (0x17, "240101000060Z"),
        (0x17, "240101000000"),
        (0x17, "24010100Z"),
        (0x17, "2401010000\u{e9}Z"),
        (0x17, "20240101000000Z"),
        (0x18, "240101000000Z"),
        (0x18, "19000229000000Z"),
        (0x0c, "240101000000Z"),
        (0x17, ""),
    ] {
        let text = read(&Certificate::times(tag, wrong, wrong), both);
        assert!(text.starts_with("failed to parse certificate: "), "{wrong}: {text}");
    }
}

#[test]
fn alternative_names_may_be_odd() {
    let names = |parts: &[&[u8]]| Certificate::alternatives(&[sequence(parts)]);
    let cut = [0x30, 9, 0x82, 1, b'a', 0x82, 4, b'b'];
    for (pem, expect) in [
        (names(&[]), "[]"),
        (
            names(&[
                &der(0x86, &[b"u:x"]),
                &der(0x82, &[b"b"]),
                &der(0x81, &[b"m@x"]),
                &der(0x82, &[b"a"]),
            ]),
            r#"["b","a","m@x","u:x"]"#,
        ),
        (names(&[&der(0x82, &["ü".as_bytes()]), &der(0x82, &[b"\xff"])]), r#"["ü"]"#),
        (
            names(&[
                &der(0x87, &[&[1, 2, 3, 4, 5]]),
                &der(0x87, &[&[127, 0, 0, 1]]),
                &der(0x87, &[&[0; 16]]),
            ]),
            r#"["127.0.0.1","::"]"#,
        ),
        (
            names(&[&der(0x87, &[&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 1, 2, 3, 4]])]),
            r#"["::ffff:1.2.3.4"]"#,
        ),
        (names(&[&der(0x82, &[b"a"]), &der(0x16, &[b"b"])]), "[]"),
        (
            names(&[
                &der(0xa4, &[b"?"]),
                &der(0x88, &[&[0x2a]]),
                &der(0x8f, &[b"?"]),
                &der(0x82, &[b"a"]),
            ]),
            r#"["a"]"#,
        ),
        (Certificate::alternatives(&[cut.to_vec()]), "[]"),
        (Certificate::alternatives(&[der(0x31, &[&der(0x82, &[b"a"])])]), "[]"),
        (
            Certificate::alternatives(&[
                sequence(&[&der(0x82, &[b"a"])]),
                sequence(&[&der(0x82, &[b"b"])]),
            ]),
            r#"["a","b"]"#,
        ),
    ] {
        assert_eq!(read(&pem, "return x509.getAltNames(pem)"), expect);
    }
}

#[test]
fn versions_and_serial_numbers_are_not_judged() {
    let plain = Certificate::plain;
    for certificate in [
        Certificate { version: Vec::new(), ..plain() },
        Certificate { version: der(0xa0, &[&der(2, &[&[0]])]), ..plain() },
        Certificate { version: der(0xa0, &[&der(2, &[&[9]])]), ..plain() },
        Certificate { serial: der(2, &[&[0xff; 40]]), ..plain() },
        Certificate { serial: der(2, &[]), ..plain() },
    ] {
        let body = "const it = x509.parse(pem); return it.subject.commonName + it.altNames.length + it.signatureAlgorithm";
        assert_eq!(read(&pem(&certificate.encode()), body), "odd0Ed25519");
    }
}

#[test]
fn a_pem_file_may_hold_more() {
    let der = Certificate::plain().encode();
    let (whole, text) = (pem(&der), STANDARD.encode(&der));
    let common_name = "return x509.getSubject(pem).commonName";
    for good in [
        format!("Subject: odd\n\n{whole}"),
        format!("{whole}{RSA}"),
        whole.replace('\n', "\r\n"),
        whole.replace("CERTIFICATE", "ANYTHING ELSE"),
        format!("-----BEGIN X-----\n{}\n\n{}  \n-----END Y-----", &text[..8], &text[8..]),
        format!(
            "-----BEGIN X-----\n{}\n-----END X-----",
            STANDARD.encode([&der[..], b"more"].concat())
        ),
    ] {
        assert_eq!(read(&good, common_name), "odd", "{good}");
    }
    for bad in [
        String::new(),
        "nope".to_owned(),
        text.clone(),
        format!("-----BEGIN X-----\n{text}\n"),
        format!("-----BEGIN X\n{text}\n-----END X-----"),
        format!(" -----BEGIN X-----\n{text}\n-----END X-----"),
        format!("-----BEGIN X-----\nProc-Type: 4\n\n{text}\n-----END X-----"),
        format!("-----BEGIN X-----\n{}\n-----END X-----", &text[..text.len() - 1]),
        format!("-----BEGIN X-----\n{}é\n-----END X-----", &text[..text.len() - 1]),
    ] {
        assert_eq!(read(&bad, common_name), "failed to decode certificate PEM file", "{bad}");
    }
}

/// The fingerprint is of the certificate alone, whatever follows it.
#[test]
fn a_fingerprint_is_of_the_certificate_alone() {
    let der = Certificate::plain().encode();
    let print = "return x509.parse(pem).fingerPrint.join()";
    let expect = read(&pem(&der), print);
    assert_eq!(expect.split(',').count(), 20, "SHA-1: {expect}");
    assert_eq!(read(&pem(&[&der[..], b"more"].concat()), print), expect);
}

#[test]
fn what_is_no_certificate_throws() {
    let nested = (0..10_000).fold(Vec::new(), |inner, _| der(0x30, &[&inner]));
    for bad in [
        vec![],
        vec![0x30],
        vec![0x30, 0x80, 0, 0],
        vec![0x30, 0x84, 0xff, 0xff, 0xff, 0xff],
        vec![0x30, 0x88, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
        vec![0x30, 0x89, 1, 0, 0, 0, 0, 0, 0, 0, 0],
        vec![0x30, 0xff],
        vec![0x1f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
        nested,
        vec![0x30; 10_000],
        sequence(&[]),
        sequence(&[&sequence(&[]), &sequence(&[]), &der(3, &[&[0]])]),
        der(0x31, &[&Certificate::plain().encode()]),
    ] {
        let text = read(&pem(&bad), "return x509.getSubject(pem)");
        assert!(text.starts_with("failed to parse certificate: "), "{text}");
    }
}

/// No prefix of a certificate is one, and a change of any byte is read or refused.
#[test]
fn damaged_certificates_throw_or_are_read() {
    let all = "const der = new Uint8Array(encoding.b64decode(pem.split('-----')[2].replaceAll('\\n', '')));
        const attempt = bytes => {
            const text = `-----BEGIN X-----\\n${encoding.b64encode(bytes.buffer)}\\n-----END X-----`;
            try { return x509.parse(text) && 'read' } catch (error) { return error.message.slice(0, 27) }
        };";
    let cut = format!(
        "{all} const found = new Set(); for (let n = 0; n < der.length; n++) found.add(attempt(der.slice(0, n))); return [...found]"
    );
    assert_eq!(read(RSA, &cut), r#"["failed to parse certificate"]"#);
    let changed = format!(
        "{all} const found = new Set();
        for (let n = 0; n < der.length; n++) for (const mask of [1, 0x20, 0x80, 0xff]) {{
            const bytes = der.slice(); bytes[n] ^= mask; found.add(attempt(bytes));
        }}
        return [...found].sort()"
    );
    let expect = r#"["failed to parse certificate","read","unsupported public key algo"]"#;
    assert_eq!(read(RSA, &changed), expect);
}
