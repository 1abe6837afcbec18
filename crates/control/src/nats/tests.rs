//! A real nats-server in operator mode: users that an account has signed.

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use nkeys::KeyPair;
use serde_json::{Value, json};

use super::store::LEASES;
use super::{NatsAccess, NatsTransport};
use crate::scratch::Scratch;
use crate::tests::LIMIT;
use crate::transport::{Transport, TransportError};

/// A claim, signed as NATS's tokens are (JWT with Ed25519).
fn token(issuer: &KeyPair, subject: &KeyPair, claim: &Value) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let body = json!({
        "jti": "a", "iat": 1, "iss": issuer.public_key(), "sub": subject.public_key(),
        "name": "a", "nats": claim,
    });
    let text = format!("{}.{}", part(&json!({ "typ": "JWT", "alg": "ed25519-nkey" })), part(&body));
    let signature = URL_SAFE_NO_PAD.encode(issuer.sign(text.as_bytes()).unwrap());
    format!("{text}.{signature}")
}

/// The text of a file of credentials.
fn credentials(token: &str, user: &KeyPair) -> String {
    let seed = user.seed().unwrap();
    format!(
        "-----BEGIN NATS USER JWT-----\n{token}\n------END NATS USER JWT------\n\n\
         -----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n"
    )
}

/// Below those that the system hands out, so that no connection takes it before the server does.
fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let offset = std::process::id().wrapping_mul(97);
    let ports = (0..20_000).map(|_| offset.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)));
    let mut ports = ports.map(|number| 12_000 + (number % 20_000) as u16);
    ports.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).expect("a free port")
}

/// A nats-server that ends with this.
struct Server(Child);

impl Server {
    fn start(config: &Path, port: u16) -> Self {
        let mut command = Command::new("nats-server");
        command.arg("-c").arg(config).stdout(Stdio::null()).stderr(Stdio::null());
        let server = Self(command.spawn().expect("apt-get install -y nats-server"));
        let until = Instant::now() + LIMIT;
        while TcpStream::connect(("127.0.0.1", port)).is_err() && Instant::now() < until {
            std::thread::park_timeout(Duration::from_millis(20));
        }
        server
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn a_user_signs_in_with_signed_credentials() {
    let dir = Scratch::new("nats-credentials");
    let operator = KeyPair::new_operator();
    let (account, system) = (KeyPair::new_account(), KeyPair::new_account());
    let all = json!({
        "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true, "conn": -1, "leaf": -1,
        "mem_storage": -1, "disk_storage": -1, "streams": -1, "consumer": -1,
    });
    let own = token(&operator, &operator, &json!({ "type": "operator", "version": 2 }));
    let claim = json!({ "limits": all, "type": "account", "version": 2 });
    let of_account = token(&operator, &account, &claim);
    let bare = json!({ "subs": -1, "data": -1, "payload": -1, "exports": -1, "conn": -1 });
    let of_system = json!({ "limits": bare, "type": "account", "version": 2 });
    let of_system = token(&operator, &system, &of_system);
    let port = free_port();
    let path = dir.path().join("nats.conf");
    let store = dir.path().join("store");
    let text = format!(
        "listen: \"127.0.0.1:{port}\"\njetstream {{ store_dir: \"{}\" }}\noperator: {own}\nsystem_account: {system}\n\
         resolver: MEMORY\nresolver_preload: {{ {account}: \"{of_account}\", {system}: \"{of_system}\" }}\n",
        store.display(),
        account = account.public_key(),
        system = system.public_key(),
    );
    std::fs::write(&path, text).unwrap();
    let server = Server::start(&path, port);
    let user = KeyPair::new_user();
    let claim = json!({ "subs": -1, "data": -1, "payload": -1, "type": "user", "version": 2 });
    let signed = token(&account, &user, &claim);
    let url = format!("nats://127.0.0.1:{port}");
    let connect = |token: &str| {
        NatsTransport::connect(
            &NatsAccess::of_server(&url, Some(credentials(token, &user))),
            |_| (),
        )
    };
    let transport = connect(&signed);
    let run = fleet::Name::new("r").unwrap();
    let taken = transport.as_ref().map(|transport| transport.take_lease(&run));
    let forged = connect(&token(&KeyPair::new_account(), &user, &claim)).map(drop);
    drop(server);
    taken.unwrap().unwrap();
    assert!(matches!(forged, Err(TransportError::UnknownKey(_))), "{forged:?}");
    let none = NatsAccess::of_server(&url, Some("no credentials".to_owned()));
    assert!(NatsTransport::connect(&none, |_| ()).is_err());
}

#[test]
fn a_server_that_has_just_begun_is_asked_again_for_the_stream() {
    let dir = Scratch::new("nats-begun");
    let port = free_port();
    let path = dir.path().join("nats.conf");
    std::fs::write(&path, format!("listen: \"127.0.0.1:{port}\"\n")).unwrap();
    let server = Server::start(&path, port);
    let access = NatsAccess::of_server(&format!("nats://127.0.0.1:{port}"), None);
    let connect = || Arc::new(NatsTransport::connect(&access, |_| ()).unwrap());
    let (storage, asking) = (connect(), connect());
    let answers = ["10039", "10039", "0", "10025", "0"].map(|code| match code {
        "0" => "{}".to_owned(),
        code => format!(r#"{{"error":{{"err_code":{code},"description":"no"}}}}"#),
    });
    let mut answers = answers.into_iter();
    let answering = Arc::clone(&storage);
    let answer = move |message: async_nats::Message| {
        answering.send_to(message.reply.unwrap().to_string(), answers.next().unwrap().into());
    };
    storage.subscribe(format!("$JS.API.STREAM.CREATE.{LEASES}"), answer).unwrap();
    let made = [(); 3].map(|()| asking.make_stream().map_err(|error| error.to_string()));
    drop(server);
    let [begun, refused, again] = made;
    begun.unwrap();
    assert!(refused.unwrap_err().contains("no (10025)"));
    again.unwrap();
}
