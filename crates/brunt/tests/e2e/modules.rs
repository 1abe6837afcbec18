//! `vendor`: modules of the network are fetched once, pinned by their hash, and read from disk alone after that.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use demo::Identity;

use crate::certificates::Authority;
use crate::tls_server::{TlsConn, serve_tls};
use crate::{Ran, Scratch, brunt, start};

/// The modules that the server has.
const MODULES: [(&str, &str); 2] = [
    ("/lib/1.0.0/index.js", "import { two } from './two.js'; export const three = two + 1;"),
    ("/lib/1.0.0/two.js", "export const two = 2;"),
];

/// A server of modules: its address, and how many requests it had.
struct Registry {
    url: String,
    requests: Arc<AtomicUsize>,
}

impl Registry {
    fn start(identity: Identity) -> Self {
        let requests = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&requests);
        let url = serve_tls(identity, move |conn| answer(conn, &seen));
        Self { url, requests }
    }
}

/// Answers one request, and closes.
fn answer(mut conn: TlsConn, seen: &AtomicUsize) {
    seen.fetch_add(1, Ordering::Relaxed);
    let head = String::from_utf8_lossy(&conn.head);
    let path = head.split(' ').nth(1).unwrap().split('?').next().unwrap();
    let module = MODULES.iter().find(|(name, _)| *name == path);
    let (status, body) = module.map_or(("404 Not Found", ""), |(_, text)| ("200 OK", *text));
    let text = format!(
        "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    assert_eq!(conn.session.send(text.as_bytes()), text.len());
    conn.session.close_notify();
    let out = conn.records();
    conn.socket.write_all(&out).ok();
}

/// What `brunt ARGS` does in the folder of the script, where this authority is trusted.
fn ran(scratch: &Scratch, roots: &str, args: &str) -> Ran {
    let mut command = brunt(args);
    command.current_dir(&scratch.0).env("SSL_CERT_FILE", roots);
    start(command).wait()
}

#[test]
fn modules_are_fetched_once_and_pinned() {
    let scratch = Scratch::new("vendor");
    let authority = Authority::new(&scratch);
    let registry = Registry::start(authority.sign(|_| {}));
    let roots = authority.roots.as_str();
    let url = format!("{}/lib/1.0.0/index.js", registry.url);
    let script = format!(
        "import {{ three }} from '{url}'; export default function () {{ console.log('three', three); }}"
    );
    scratch.file("script.js", script);

    let refused = ran(&scratch, roots, "run -offline script.js").with_code(107);
    assert!(refused.stderr.contains("(-offline)"), "{refused:#?}");
    assert!(refused.stderr.contains("brunt vendor"), "{refused:#?}");
    assert_eq!(registry.requests.load(Ordering::Relaxed), 0);

    let added = ran(&scratch, roots, "vendor script.js").with_code(0);
    assert!(added.stdout.contains(&url) && added.stdout.contains("2 modules"), "{added:#?}");
    let fetched = registry.requests.load(Ordering::Relaxed);
    assert_eq!(fetched, 2, "each once");

    for line in ["run script.js", "run -offline script.js"] {
        let run = ran(&scratch, roots, line).with_code(0);
        assert!(run.stderr.contains("three 3"), "{run:#?}");
    }
    let again = ran(&scratch, roots, "vendor script.js").with_code(0);
    assert_eq!(again.stdout.matches("as before").count(), 2, "{again:#?}");
    assert_eq!(registry.requests.load(Ordering::Relaxed), fetched, "nothing was fetched");

    // Another text under the same name ends the run.
    let modules = std::fs::read_dir(scratch.path("brunt_modules")).unwrap();
    for entry in modules {
        std::fs::write(entry.unwrap().path(), "export const three = 4; export const two = 3;")
            .unwrap();
    }
    let changed = ran(&scratch, roots, "run script.js").with_code(107);
    assert!(changed.stderr.contains("is not what brunt.lock says"), "{changed:#?}");
    ran(&scratch, roots, "vendor -update script.js").with_code(0);
    let mended = ran(&scratch, roots, "run script.js").with_code(0);
    assert!(mended.stderr.contains("three 3"), "{mended:#?}");

    // A module that the lock lacks is named, and not fetched.
    scratch.file(
        "other.js",
        format!("import '{}/other.js'; export default function () {{}}", registry.url),
    );
    let before = registry.requests.load(Ordering::Relaxed);
    let lacking = ran(&scratch, roots, "run other.js").with_code(107);
    assert!(lacking.stderr.contains("brunt.lock does not have it"), "{lacking:#?}");
    assert_eq!(registry.requests.load(Ordering::Relaxed), before);
}
