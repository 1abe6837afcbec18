//! `-memory-limit`: what servers and scripts make of memory fails where it does not fit, and nothing else does.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::process::{Command, Stdio};

use demo::Config;
use wire::ws::{DeflateAnswer, Protocols, accept};

use crate::{Ran, Scratch, server, start};

/// Runs a script within 256 MiB for what it makes, and 4 GiB of address space for the process: beyond it memory is refused, which
/// would abort.
fn limited(scratch: &Scratch, script: &str, flags: &str) -> Ran {
    let script = scratch.file("script.js", script);
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v 4194304; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_brunt")]);
    command.args(["run", "-q", "-cpus=1", "-memory-limit=256MB"]);
    command.args(flags.split_whitespace()).arg(script);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    start(command).wait()
}

/// A server of WebSockets that begins a message of 64 MiB on each, and never ends it. Gives its address.
fn endless_messages() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for conn in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut reader = BufReader::new(&conn);
                let mut fields = Vec::new();
                loop {
                    let mut line = String::new();
                    if reader.read_line(&mut line).is_err() || line.trim().is_empty() {
                        break;
                    }
                    if let Some((name, value)) = line.split_once(':') {
                        fields.push((name.to_owned(), value.trim().to_owned()));
                    }
                }
                let fields = fields.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
                let (answer, _) = accept(fields, Protocols::Any, DeflateAnswer::Refuse).unwrap();
                let mut conn = &conn;
                // A binary message in one frame of 64 MiB, without its last byte.
                let mut frame = vec![0x82, 127];
                frame.extend((64u64 << 20).to_be_bytes());
                let piece = vec![0; 1 << 20];
                let sent = conn.write_all(&answer).and_then(|()| conn.write_all(&frame));
                let all = sent.and_then(|()| (0..63).try_for_each(|_| conn.write_all(&piece)));
                // Who has closed the connection reads no more.
                if all.is_ok() {
                    std::thread::park();
                }
            });
        }
    });
    format!("ws://{address}/")
}

#[test]
fn messages_that_do_not_fit_end_their_sockets_alone() {
    let scratch = Scratch::new("memory-ws");
    let url = endless_messages();
    let script = format!(
        "import ws from 'k6/ws';
         export const options = {{ scenarios: {{ s: {{ executor: 'per-vu-iterations', vus: 24, iterations: 1, maxDuration: '20s' }} }} }};
         export default function () {{
           let closed = 0;
           ws.connect('{url}', {{}}, (s) => {{
             s.on('error', (e) => {{ console.log(e.error()); closed = 1; s.close(); }});
             s.setTimeout(() => s.close(), 6000);
           }});
         }}"
    );
    let ran = limited(&scratch, &script, "");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let refused =
        ran.stderr.matches("message too large: no memory is left (-memory-limit)").count();
    // Three of 64 MiB fit beside what a vector takes while it grows, and no more than four.
    assert!((20..24).contains(&refused), "{refused}: {}", ran.stderr);
    assert!(ran.stderr.contains("no memory was left"), "{}", ran.stderr);
}

#[test]
fn what_a_script_makes_fails_where_it_does_not_fit() {
    let scratch = Scratch::new("memory-script");
    let (_server, url) = server(Config::default());
    let address = url.strip_prefix("http://").unwrap();
    let pages = "import { parseHTML } from 'k6/html';
         export const options = { vus: 1, iterations: 2 };
         export default function () { const all = []; for (;;) all.push(parseHTML('<p>x</p>'.repeat(1000))); }";
    let ran = limited(&scratch, pages, "");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let failed = ran.stderr.matches("no memory is left for the page (-memory-limit)").count();
    assert_eq!(failed, 2, "an iteration each: {}", ran.stderr);

    let messages = format!(
        "import ws from 'k6/ws';
         export const options = {{ vus: 1, iterations: 1 }};
         export default function () {{
           ws.connect('ws://{address}/ws-echo', {{}}, (s) => {{
             s.on('open', () => {{ for (let i = 0; i < 3000; i++) s.send('x'.repeat(1e6)); }});
           }});
         }}"
    );
    let ran = limited(&scratch, &messages, "");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("too many messages wait to be sent"), "{}", ran.stderr);

    let tags = "import { Counter } from 'k6/metrics';
         const counter = new Counter('counted');
         export const options = { vus: 1, iterations: 1 };
         export default function () { for (let i = 0; i < 10000; i++) counter.add(1, { t: ('v' + i).repeat(20000) }); }";
    let json = scratch.path("samples.json");
    let ran = limited(&scratch, tags, &format!("-o json={}", json.display()));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("samples"), "those that were left out are counted: {}", ran.stderr);
    let written = std::fs::metadata(json).unwrap().len();
    assert!((8 << 20..64 << 20).contains(&written), "{written}");
}
