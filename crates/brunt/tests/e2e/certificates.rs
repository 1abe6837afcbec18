//! Certificates that prove nothing: each is a failed request that says why, counted, and never the end of a run or a wait for it.

use std::process::{Command, Stdio};

use demo::{Config, Identity, Server};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};

use crate::{Scratch, Started, free_port, run, server, start, until};

/// An authority of the test's own.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    /// The file of its certificate.
    pub(crate) roots: String,
}

impl Authority {
    pub(crate) fn new(scratch: &Scratch) -> Self {
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "an authority of a test");
        let key = KeyPair::generate().unwrap();
        let roots = scratch.file("ca.pem", params.self_signed(&key).unwrap().pem());
        Self { issuer: Issuer::new(params, key), roots }
    }

    /// A certificate for `localhost` and 127.0.0.1, changed before it is signed.
    pub(crate) fn sign(&self, change: fn(&mut CertificateParams)) -> Identity {
        let (mut params, key) = leaf();
        change(&mut params);
        let certificate_pem = params.signed_by(&key, &self.issuer).unwrap().pem();
        Identity { certificate_pem, key_pem: key.serialize_pem() }
    }
}

fn leaf() -> (CertificateParams, KeyPair) {
    let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
    (CertificateParams::new(names).unwrap(), KeyPair::generate().unwrap())
}

/// A server with this certificate, and its URL.
fn serve(identity: Identity) -> (Server, String) {
    let (server, url) = server(Config { tls: Some(identity), ..Config::default() });
    (server, url.replace("http://", "https://"))
}

/// Every request of an open and of a closed loop fails with these words.
#[track_caller]
fn check_refused(scratch: &Scratch, flags: &str, url: &str, words: &str) {
    let targets = scratch.file("targets", format!("GET {url}/\n"));
    let loops = [
        format!("attack -targets={targets} -rate=20 -duration=250ms -output=none -json"),
        format!("bench -c 2 -n 5 -cpus 1 -json {url}/"),
    ];
    for line in loops {
        let (command, rest) = line.split_once(' ').unwrap();
        let ran = run(&format!("{command} -timeout=5s {flags} {rest}")).with_code(0);
        let json = ran.json();
        assert_eq!(json["requests"], 5, "{words}: {json}");
        assert_eq!(json["status_codes"], serde_json::json!({ "0": 5 }), "{words}: {json}");
        assert_eq!(json["brunt"]["failures"]["tls"], 5, "{words}: {json}");
        let errors = json["errors"].as_array().unwrap();
        assert_eq!(errors.len(), 1, "one text, whenever it happened: {json}");
        assert!(errors[0].as_str().unwrap().contains(words), "{words}: {json}");
    }
}

#[test]
fn certificates_that_prove_nothing_are_counted_failures() {
    let scratch = Scratch::new("certificates");
    let authority = Authority::new(&scratch);
    let trusted = format!("-root-certs={}", authority.roots);
    let (_server, url) = serve(authority.sign(|_| {}));
    let sound = run(&format!("bench -c 1 -n 5 -cpus 1 {trusted} -json {url}/")).with_code(0);
    assert_eq!(sound.json()["status_codes"]["200"], 5, "{sound:#?}");

    let cases: [(fn(&mut CertificateParams), &str); 3] = [
        (|params| params.not_after = date_time_ymd(2020, 1, 1), "certificate expired"),
        (|params| params.not_before = date_time_ymd(2090, 1, 1), "certificate not valid yet"),
        (
            |params| {
                let names = vec!["elsewhere.example".to_owned()];
                params.subject_alt_names = CertificateParams::new(names).unwrap().subject_alt_names;
            },
            "not valid for name",
        ),
    ];
    for (change, words) in cases {
        let (_server, url) = serve(authority.sign(change));
        check_refused(&scratch, &trusted, &url, words);
        // Without verification there is an answer.
        let bench = format!("bench -c 1 -n 5 -cpus 1 -insecure -json {url}/");
        assert_eq!(run(&bench).with_code(0).json()["status_codes"]["200"], 5, "{words}");
    }
}

#[test]
fn a_certificate_of_no_authority_is_a_counted_failure() {
    let scratch = Scratch::new("self-signed");
    let authority = Authority::new(&scratch);
    let trusted = format!("-root-certs={}", authority.roots);
    let (params, key) = leaf();
    let certificate_pem = params.self_signed(&key).unwrap().pem();
    let (_server, url) = serve(Identity { certificate_pem, key_pem: key.serialize_pem() });
    check_refused(&scratch, &trusted, &url, "UnknownIssuer");
    let other = Authority::new(&Scratch::new("other-authority")).sign(|_| {});
    let (_server, url) = serve(other);
    check_refused(&scratch, &trusted, &url, "invalid peer certificate");
}

/// What the demo server would not load: openssl's own server, which has all but its last scruples taken away.
struct Weak {
    _server: Started,
    url: String,
}

impl Weak {
    /// A key of RSA of so many bits, signed with this digest by an authority of 2,048 bits.
    fn new(scratch: &Scratch, bits: &str, digest: &str) -> Self {
        scratch.file("san", "subjectAltName=IP:127.0.0.1,DNS:localhost\n");
        let authority = "req -x509 -newkey rsa:2048 -sha256 -nodes -subj /CN=weak-ca -days 2 \
             -keyout weak-ca.key -out weak-ca.pem";
        let request = format!(
            "req -newkey rsa:{bits} -nodes -subj /CN=localhost -keyout weak.key -out weak.csr"
        );
        let sign = format!(
            "x509 -req -in weak.csr -CA weak-ca.pem -CAkey weak-ca.key -CAcreateserial -days 2 \
             -{digest} -extfile san -out weak.pem"
        );
        for line in [authority, &request, &sign] {
            let ran = openssl(scratch, line).output().unwrap();
            assert!(ran.status.success(), "{line}: {}", String::from_utf8_lossy(&ran.stderr));
        }
        let port = free_port();
        let mut command = openssl(
            scratch,
            &format!(
                "s_server -accept 127.0.0.1:{port} -cert weak.pem -key weak.key -www -quiet \
                 -cipher ALL:@SECLEVEL=0"
            ),
        );
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let _server = start(command);
        let address = format!("127.0.0.1:{port}");
        until("openssl serves", || std::net::TcpStream::connect(&address).is_ok());
        Self { _server, url: format!("https://{address}") }
    }
}

fn openssl(scratch: &Scratch, line: &str) -> Command {
    let mut command = Command::new("openssl");
    command.args(line.split_whitespace()).current_dir(&scratch.0);
    command
}

#[test]
fn weak_certificates_are_counted_failures() {
    let cases = [("1024", "sha256", "too weak"), ("2048", "sha1", "SHA-1")];
    for (bits, digest, words) in cases {
        let scratch = Scratch::new(&format!("weak-{bits}-{digest}"));
        let weak = Weak::new(&scratch, bits, digest);
        let roots = scratch.path("weak-ca.pem");
        check_refused(&scratch, &format!("-root-certs={}", roots.display()), &weak.url, words);
    }
    // The same server is believed where nothing is weak.
    let scratch = Scratch::new("weak-not");
    let sound = Weak::new(&scratch, "2048", "sha256");
    let roots = scratch.path("weak-ca.pem");
    let bench =
        format!("bench -c 1 -n 3 -cpus 1 -root-certs={} -json {}/", roots.display(), sound.url);
    let json = run(&bench).with_code(0).json();
    assert_eq!(json["status_codes"]["200"], 3, "{json}");
}
