//! `-memory-limit`: what servers and scripts make of memory fails where it does not fit, and nothing else does.

use std::io::{BufRead as _, BufReader, Write};
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

/// The worst that a server can make a client hold, as far as we know: windows of codings, heads, cookies, bodies, redirects.
const WORST: [&str; 9] =
    ["br", "zstd", "zstd frames", "zstd block", "gzip", "head", "cookies", "body", "redirect"];

/// Writes the answer of a kind, none of which ends but a whole body.
fn write_worst(kind: &str, conn: &mut impl Write) -> std::io::Result<()> {
    let coded = |conn: &mut dyn Write| {
        let coding = kind.split(' ').next().unwrap_or_default();
        write!(
            conn,
            "HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nContent-Length: 50000000\r\n\r\n"
        )
    };
    let piece = vec![b'a'; 1 << 20];
    match kind {
        // A window of 16 MiB and a block as long, as it is. RFC 7932, 9.
        "br" => {
            coded(conn)?;
            conn.write_all(&[0xcf, 0xff, 0xff, 0xff])?;
            (0..15).try_for_each(|_| conn.write_all(&piece))
        }
        // A window of 8 MiB and blocks of one byte, 128 KiB each. RFC 8878, 3.1.1.
        "zstd" => {
            coded(conn)?;
            conn.write_all(&[0x28, 0xb5, 0x2f, 0xfd, 0, 13 << 3])?;
            conn.write_all(&[0x02, 0, 0x10, 0].repeat(80))
        }
        // A whole frame as above, and the header of one with a window of 1 KiB.
        "zstd frames" => {
            coded(conn)?;
            conn.write_all(&[0x28, 0xb5, 0x2f, 0xfd, 0, 13 << 3])?;
            conn.write_all(&[0x02, 0, 0x10, 0].repeat(99))?;
            conn.write_all(&[0x03, 0, 0x10, 0])?;
            conn.write_all(&[0x28, 0xb5, 0x2f, 0xfd, 0, 0])
        }
        // A window of 128 KiB; eight bytes, 43,690 sequences in a block of nine, and all but the last byte of a block as it is.
        "zstd block" => {
            coded(conn)?;
            conn.write_all(&[0x28, 0xb5, 0x2f, 0xfd, 0, 7 << 3, 66, 0, 0, b'a'])?;
            conn.write_all(&[76, 0, 0, 0, 255, 0xaa, 0x2b, 0x54, 0, 0, 0, 1])?;
            conn.write_all(&[0, 0, 0x10])?;
            conn.write_all(&piece[..(128 << 10) - 1])
        }
        // Blocks as they are. RFC 1951, 3.2.4.
        "gzip" => {
            coded(conn)?;
            conn.write_all(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3])?;
            let block = [&[0, 0xff, 0xff, 0, 0][..], &piece[..0xffff]].concat();
            (0..16).try_for_each(|_| conn.write_all(&block))
        }
        "head" => write!(conn, "HTTP/1.1 200 OK\r\nX: {}", "a".repeat(255 << 10)),
        "cookies" => {
            let cookies: String =
                (0..100).map(|i| format!("Set-Cookie: c{i}={}\r\n", "a".repeat(2000))).collect();
            write!(conn, "HTTP/1.1 200 OK\r\n{cookies}Content-Length: 9\r\n\r\n")
        }
        "body" => {
            write!(conn, "HTTP/1.1 200 OK\r\nContent-Length: 50000000\r\n\r\n")?;
            (0..16).try_for_each(|_| conn.write_all(&piece))
        }
        "whole body" => {
            write!(conn, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", 20 << 20)?;
            (0..20).try_for_each(|_| conn.write_all(&piece))
        }
        _ => {
            let to = "r".repeat(200_000);
            write!(conn, "HTTP/1.1 302 F\r\nLocation: /{to}\r\nContent-Length: 0\r\n\r\n")
        }
    }
}

/// A server whose every answer is the worst of its turn, or always of one kind. Gives its URL.
fn worst_server(only: Option<&'static str>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for (number, conn) in listener.incoming().flatten().enumerate() {
            let kind = only.unwrap_or(WORST[number % WORST.len()]);
            let serve = move || {
                let (mut reader, mut line) = (BufReader::new(&conn), String::new());
                while reader.read_line(&mut line).is_ok_and(|len| len > 0) {
                    let is_head_over = line.trim().is_empty();
                    line.clear();
                    if is_head_over && write_worst(kind, &mut &conn).is_err() {
                        return;
                    }
                }
            };
            std::thread::Builder::new().stack_size(256 << 10).spawn(serve).unwrap();
        }
    });
    url
}

/// The most memory that a process ever had, in bytes; 0 once it is gone.
fn peak(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok()).unwrap_or(0) << 10
}

/// Runs a command to its end. Gives its code, and the most memory that it ever had, in bytes.
fn peak_of(mut command: Command) -> (Option<i32>, u64) {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    let mut most = 0;
    crate::until("the run ends", || {
        most = most.max(peak(child.id()));
        child.try_wait().unwrap().is_some()
    });
    (child.wait().unwrap().code(), most)
}

/// A line of targets takes no more than 150 bytes: as it is written, and what is known of it.
#[test]
fn regression_issue_41_many_targets_take_little_memory() {
    let scratch = Scratch::new("memory-targets");
    let (_server, url) = server(Config::default());
    let most_of = |lines: usize| {
        let list: String = (0..lines)
            .map(|line| format!("GET {url}/a/path/of/some/letters/{line:07}\n"))
            .collect();
        let path = scratch.file("targets", list);
        let mut command = Command::new(env!("CARGO_BIN_EXE_brunt"));
        let results = scratch.path("results").display().to_string();
        command.args(["attack", "-cpus=1", "-rate=20", "-duration=200ms"]);
        command.args([format!("-targets={path}"), format!("-output={results}")]);
        let (code, most) = peak_of(command);
        assert_eq!(code, Some(0));
        most
    };
    const LINES: usize = 200_000;
    let (one, many) = (most_of(1), most_of(LINES));
    let each = many.saturating_sub(one) / LINES as u64;
    assert!(each <= 150, "{each} bytes a target: {one} and {many}");
}

/// 1,000 users at once, each with such an answer, within 512 MB: the run ends by itself, every request is counted, and the process
/// stays within the limit.
#[test]
fn the_worst_answers_stay_within_the_limit() {
    let scratch = Scratch::new("memory-worst");
    let path = scratch.file(
        "script.js",
        "import http from 'k6/http';
         export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 1000, iterations: 1, maxDuration: '30s' } } };
         export default function () { http.get(__ENV.URL, { timeout: '6s', responseType: __ENV.TYPE }); }",
    );
    let kinds = ["body", "br", "zstd frames", "zstd block", "cookies"];
    for only in [None].into_iter().chain(kinds.map(Some)) {
        // A body that is not asked for leaves the memory to the window.
        let is_zstd = only.is_some_and(|kind| kind.starts_with("zstd"));
        let body = if is_zstd { "none" } else { "text" };
        let url = worst_server(only);
        let (summary, log) = (scratch.path("summary.json"), scratch.path("log.txt"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_brunt"));
        command
            .args(["run", "-q", "--memory-limit=512MB", "--summary-export"])
            .arg(&summary)
            .args(["-e", &format!("URL={url}"), "-e", &format!("TYPE={body}"), &path])
            .stderr(std::fs::File::create(&log).unwrap());
        let (code, most) = peak_of(command);
        let log = std::fs::read_to_string(&log).unwrap();
        assert_eq!(code, Some(0), "{only:?}: {log}");
        assert!(most < 512_000_000, "{only:?}: {most}");
        assert!(most > 100_000_000, "it was no trial, {only:?}: {most}");
        let summary = std::fs::read_to_string(&summary).unwrap();
        let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
        let count = summary["metrics"]["http_reqs"]["count"].as_u64().unwrap();
        assert!(count >= 1000, "{only:?}: {count}");
        assert_eq!(summary["metrics"]["iterations"]["count"], 1000, "{only:?}");
    }
}

/// Captured bodies, batches of rows and the encoders' groups added up: 282 MB within 64, 426 with Parquet. Below 100 MB the program
/// itself is most of what is left for what is not counted.
#[test]
fn bodies_on_their_way_into_results_stay_within_the_limit() {
    let scratch = Scratch::new("memory-bodies");
    let targets = scratch.file("targets", format!("GET {}\n", worst_server(Some("whole body"))));
    for format in ["arrow", "parquet", "csv"] {
        let results = scratch.path(&format!("r.{format}"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_brunt"));
        command.args(["-memory-limit=128MB", "attack", "-max-body=-1", "-rate=30", "-duration=2s"]);
        command.arg(format!("-targets={targets}")).arg(format!("-output={}", results.display()));
        let (code, most) = peak_of(command);
        assert_eq!(code, Some(0), "{format}");
        assert!((20_000_000..128_000_000).contains(&most), "{format}: {most}");
        let json = crate::run(&format!("report -json {}", results.display())).with_code(0).json();
        assert_eq!(json["requests"], 60, "{format}: {json}");
        std::fs::remove_file(results).unwrap();
    }
}

/// The realms of scripts and all that comes for them were two sums, each within the limit.
#[test]
fn what_scripts_keep_and_what_comes_for_them_is_one_sum() {
    let scratch = Scratch::new("memory-sum");
    let url = endless_messages();
    let script = format!(
        "import ws from 'k6/ws';
         const kept = [];
         export const options = {{ scenarios: {{ s: {{ executor: 'per-vu-iterations', vus: 12, iterations: 1, maxDuration: '20s' }} }} }};
         export default function () {{
           try {{ for (let i = 0; i < 240; i++) kept.push('x'.repeat(1 << 20) + i); }} catch (e) {{ console.log(`kept ${{kept.length}}`); }}
           ws.connect('{url}', {{}}, (s) => {{
             s.on('error', (e) => {{ console.log(e.error()); s.close(); }});
             s.setTimeout(() => s.close(), 3000);
           }});
         }}"
    );
    let script = scratch.file("script.js", script);
    let log = scratch.path("log.txt");
    let mut command = Command::new(env!("CARGO_BIN_EXE_brunt"));
    command.args(["run", "-q", "-cpus=1", "-memory-limit=256MB"]).arg(script);
    command.stderr(std::fs::File::create(&log).unwrap());
    let (code, most) = peak_of(command);
    let log = std::fs::read_to_string(log).unwrap();
    assert_eq!(code, Some(0), "{log}");
    assert!(log.contains("no memory is left (-memory-limit)"), "{log}");
    assert!((150_000_000..256_000_000).contains(&most), "{most}: {log}");
}

/// Eight users that send 3 GB without waiting took 541 MB within 256, and four that parse a page of NULs 2 GB within 256: each
/// byte is a parse error, which was kept.
#[test]
fn issue_19_what_is_sent_and_parsed_at_once_stays_within_the_limit() {
    let scratch = Scratch::new("memory-at-once");
    let sends = format!(
        "import {{ WebSocket }} from 'k6/websockets';
         export const options = {{ scenarios: {{ s: {{ executor: 'per-vu-iterations', vus: 8, iterations: 1, maxDuration: '9s' }} }} }};
         export default function () {{
           const s = new WebSocket('{}');
           s.onerror = (e) => console.log('E ' + e.error);
           s.onopen = () => {{ setTimeout(() => s.close(), 1000); for (let i = 0; i < 3000; i++) s.send('x'.repeat(1e6)); }};
         }}",
        endless_messages()
    );
    let asks = "import http from 'k6/http';
         export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 8, iterations: 1, maxDuration: '9s' } } };
         export default function () {
           for (let i = 0; i < 500; i++) http.asyncRequest('POST', 'http://127.0.0.1:1/', 'x'.repeat(1e6)).catch(() => {});
         }";
    let parses = |part: &str, bytes: usize| {
        format!(
            "import {{ parseHTML }} from 'k6/html';
             export const options = {{ scenarios: {{ s: {{ executor: 'per-vu-iterations', vus: 4, iterations: 1, maxDuration: '30s' }} }} }};
             export default function () {{ console.log(parseHTML({part}.repeat({bytes})).text().length) }}"
        )
    };
    // Each group has figures of its own for each metric, since they are in the full summary.
    let groups = "import { group } from 'k6'; import { Trend } from 'k6/metrics';
         const trends = Array.from({ length: 1000 }, (_, n) => new Trend('t' + n));
         export const options = { iterations: 1 };
         export default function () { for (let n = 0; n < 1000; n++) group('g' + n, () => trends[n].add(1)) }";
    for (name, script, most_allowed) in [
        ("sends", sends, 256),
        ("asks", asks.to_owned(), 256),
        ("NULs", parses("'\\0'", 8 << 20), 256),
        ("attributes", parses("'<p a b c d>'", 700_000), 256),
        ("broken tags", parses("'<\\u0001'", 4 << 20), 256),
        ("metrics of groups", groups.to_owned(), 256),
    ] {
        let script = scratch.file("script.js", script);
        let log = scratch.path("log.txt");
        let mut command = Command::new(env!("CARGO_BIN_EXE_brunt"));
        command.args(["run", "-q", "--summary-mode=full"]);
        command.arg(format!("-memory-limit={most_allowed}MB")).arg(script);
        command.stderr(std::fs::File::create(&log).unwrap());
        let (code, most) = peak_of(command);
        let log = std::fs::read_to_string(log).unwrap();
        let log = log.get(..2000).unwrap_or(&log);
        assert_eq!(code, Some(0), "{name}: {log}");
        assert!((20_000_000..most_allowed * 1_000_000).contains(&most), "{name}: {most}: {log}");
    }
}
