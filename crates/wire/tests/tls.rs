//! A TLS client and a TLS server over two buffers: handshake, plaintext both ways, refusals, any cut of the records.

#![expect(clippy::unwrap_used, reason = "a test says by a panic that it failed")]

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use wire::tls::{
    Agreed, ClientSetup, Resumption, ServerSetup, TlsError, TlsSession, TlsSetupError,
    Verification, Versions, client_config, server_config, suites_named,
};

/// A throw-away authority and a certificate of its own for `localhost`, `127.0.0.1` and `::1`.
struct Pki {
    ca_pem: Vec<u8>,
    server: ServerSetup,
}

fn pki() -> Pki {
    let ca_key = KeyPair::generate().unwrap();
    let mut ca = CertificateParams::new(Vec::new()).unwrap();
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let ca_pem = ca.self_signed(&ca_key).unwrap().pem().into_bytes();
    let issuer = Issuer::new(ca, ca_key);
    let key = KeyPair::generate().unwrap();
    let names = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
    let cert = CertificateParams::new(names).unwrap().signed_by(&key, &issuer).unwrap();
    let server = ServerSetup {
        cert_pem: cert.pem().into_bytes(),
        key_pem: key.serialize_pem().into_bytes(),
    };
    Pki { ca_pem, server }
}

/// Both ends and what each of them read.
struct Pair {
    client: TlsSession,
    server: TlsSession,
    client_got: Vec<u8>,
    server_got: Vec<u8>,
}

impl Pair {
    fn new(setup: &ClientSetup, server: &ServerSetup, name: &str) -> Self {
        let client = TlsSession::client(&client_config(setup).unwrap(), name).unwrap();
        let server = TlsSession::server(&server_config(server).unwrap()).unwrap();
        Self { client, server, client_got: Vec::new(), server_got: Vec::new() }
    }

    /// Carries records to and fro, `size` bytes at a time, until neither end has any.
    fn run(&mut self, size: usize) -> Result<(), TlsError> {
        loop {
            let (mut up, mut down) = (Vec::new(), Vec::new());
            self.client.poll_transmit(&mut up);
            self.server.poll_transmit(&mut down);
            if up.is_empty() && down.is_empty() {
                return Ok(());
            }
            for piece in up.chunks(size) {
                self.server.handle_bytes(piece, &mut self.server_got)?;
            }
            for piece in down.chunks(size) {
                self.client.handle_bytes(piece, &mut self.client_got)?;
            }
        }
    }
}

fn trusting(pki: &Pki) -> ClientSetup {
    ClientSetup { roots_pem: vec![pki.ca_pem.clone()], ..ClientSetup::default() }
}

#[test]
fn plaintext_goes_both_ways_however_records_are_cut() {
    let pki = pki();
    let body: Vec<u8> = (0..100_000u32).map(|n| n as u8).collect();
    for (name, size) in [("localhost", 1), ("127.0.0.1", 1000), ("::1", usize::MAX)] {
        let mut pair = Pair::new(&trusting(&pki), &pki.server, name);
        assert!(pair.client.is_handshaking());
        assert_eq!(pair.client.send(b"early"), 5);
        pair.run(size).unwrap();
        assert!(!pair.client.is_handshaking() && !pair.server.is_handshaking());
        assert_eq!(pair.server.send(&body), body.len());
        pair.server.close_notify();
        pair.run(size).unwrap();
        assert_eq!(pair.server_got, b"early");
        assert_eq!(pair.client_got, body);
        assert!(pair.client.peer_closed() && !pair.server.peer_closed());
    }
}

#[test]
fn sending_is_bounded() {
    let pki = pki();
    let mut pair = Pair::new(&trusting(&pki), &pki.server, "localhost");
    pair.run(usize::MAX).unwrap();
    let body = vec![7; 2 * TlsSession::SEND_MAX];
    let mut sent = 0;
    while sent < body.len() {
        let n = pair.client.send(&body[sent..]);
        assert!(n > 0 && n <= TlsSession::SEND_MAX);
        sent += n;
        pair.run(1 << 16).unwrap();
    }
    assert_eq!(pair.server_got, body);
}

#[test]
fn the_server_is_verified_unless_the_setup_forbids_it() {
    let pki = pki();
    let stranger = Pair::new(&ClientSetup::default(), &pki.server, "localhost").run(100);
    let message = stranger.unwrap_err().to_string();
    assert!(message.contains("UnknownIssuer"), "{message}");
    let other_name = Pair::new(&trusting(&pki), &pki.server, "other.example").run(100);
    assert!(other_name.unwrap_err().to_string().contains("not valid for name"));
    let insecure = ClientSetup { verification: Verification::None, ..ClientSetup::default() };
    Pair::new(&insecure, &pki.server, "other.example").run(100).unwrap();
}

#[test]
fn a_refused_server_receives_the_alert() {
    let pki = pki();
    let mut pair = Pair::new(&ClientSetup::default(), &pki.server, "localhost");
    assert!(pair.run(usize::MAX).is_err());
    let mut alert = Vec::new();
    pair.client.poll_transmit(&mut alert);
    assert!(!alert.is_empty());
    assert!(pair.server.handle_bytes(&alert, &mut Vec::new()).is_err());
}

#[test]
fn sessions_resume_only_where_asked_for() {
    let pki = pki();
    for (resumption, resumes) in [(Resumption::On, true), (Resumption::Off, false)] {
        let setup = ClientSetup { resumption, ..trusting(&pki) };
        let (client, server) =
            (client_config(&setup).unwrap(), server_config(&pki.server).unwrap());
        let mut lens = Vec::new();
        for _ in 0..2 {
            let mut pair = Pair {
                client: TlsSession::client(&client, "localhost").unwrap(),
                server: TlsSession::server(&Arc::clone(&server)).unwrap(),
                client_got: Vec::new(),
                server_got: Vec::new(),
            };
            let (mut hello, mut flight) = (Vec::new(), Vec::new());
            pair.client.poll_transmit(&mut hello);
            pair.server.handle_bytes(&hello, &mut Vec::new()).unwrap();
            pair.server.poll_transmit(&mut flight);
            pair.client.handle_bytes(&flight, &mut Vec::new()).unwrap();
            pair.run(usize::MAX).unwrap();
            lens.push(flight.len());
        }
        // A resumed handshake carries no certificate.
        assert_eq!(lens[1] < lens[0] - 100, resumes, "{lens:?}");
    }
}

#[test]
fn the_agreed_parameters_have_openssls_words() {
    let pki = pki();
    let cases = [
        (Versions::Both, "", "TLSv1.3", "TLS_AES_256_GCM_SHA384", 256),
        (Versions::Only12, "", "TLSv1.2", "ECDHE-ECDSA-AES256-GCM-SHA384", 256),
        (Versions::Both, "TLS_AES_128_GCM_SHA256", "TLSv1.3", "TLS_AES_128_GCM_SHA256", 128),
        (
            Versions::Only12,
            "x:ECDHE-ECDSA-AES128-GCM-SHA256",
            "TLSv1.2",
            "ECDHE-ECDSA-AES128-GCM-SHA256",
            128,
        ),
    ];
    for (versions, names, version, suite, suite_bits) in cases {
        let suites = suites_named(names);
        let setup = ClientSetup { versions, suites, ..trusting(&pki) };
        let client = client_config(&setup).unwrap();
        let mut pair = Pair {
            client: TlsSession::client(&client, "localhost").unwrap(),
            server: TlsSession::server(&server_config(&pki.server).unwrap()).unwrap(),
            client_got: Vec::new(),
            server_got: Vec::new(),
        };
        assert_eq!(client.agreed(), None);
        pair.run(usize::MAX).unwrap();
        let agreed = client.agreed().unwrap().clone();
        let key_exchange = "X25519 253 bits";
        assert_eq!(agreed, Agreed { version, suite, suite_bits, key_bits: 256, key_exchange });
    }
}

#[test]
fn setups_that_cannot_work_are_refused() {
    let pki = pki();
    let pem = |cert: &[u8], key: Option<&[u8]>| ClientSetup {
        cert_pem: Some(cert.to_vec()),
        key_pem: key.map(<[u8]>::to_vec),
        ..ClientSetup::default()
    };
    let ServerSetup { cert_pem, key_pem } = &pki.server;
    let both = [cert_pem.as_slice(), key_pem.as_slice()].concat();
    assert!(client_config(&pem(cert_pem, Some(key_pem))).is_ok());
    assert!(client_config(&pem(&both, None)).is_ok());
    assert!(matches!(client_config(&pem(cert_pem, None)), Err(TlsSetupError::NoKey)));
    assert!(matches!(client_config(&pem(b"x", Some(key_pem))), Err(TlsSetupError::NoCertificate)));
    let key_alone = ClientSetup { key_pem: Some(key_pem.clone()), ..ClientSetup::default() };
    assert!(matches!(client_config(&key_alone), Err(TlsSetupError::KeyWithoutCertificate)));
    let no_root = ClientSetup { roots_pem: vec![b"junk".to_vec()], ..ClientSetup::default() };
    assert!(matches!(client_config(&no_root), Err(TlsSetupError::NoCertificate)));
    let cfg = client_config(&ClientSetup::default()).unwrap();
    assert!(matches!(TlsSession::client(&cfg, "a b"), Err(TlsError::ServerName(_))));
}

#[test]
fn what_is_not_tls_is_an_error() {
    let cfg = client_config(&ClientSetup::default()).unwrap();
    let mut client = TlsSession::client(&cfg, "localhost").unwrap();
    let answer = b"HTTP/1.1 400 Bad Request\r\n\r\n";
    assert!(client.handle_bytes(answer, &mut Vec::new()).is_err());
}
