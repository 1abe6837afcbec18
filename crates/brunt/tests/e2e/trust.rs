//! What strangers must not get: servers no credentials that are another's, scripts no files that are the user's, pages of the
//! web no control, files no memory without end.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use crate::{Ran, Scratch, Started, brunt, feed, free_port, run, start, text, until};

/// A server that records the heads of its requests, and answers each as configured.
struct Recorder {
    address: String,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Recorder {
    fn new(answer: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let (seen, answer) = (Arc::clone(&heads), Arc::new(answer));
        std::thread::spawn(move || {
            for conn in listener.incoming().flatten() {
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                std::thread::spawn(move || serve(&conn, &seen, &*answer));
            }
        });
        Self { address, heads }
    }

    fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

fn serve(conn: &TcpStream, seen: &Mutex<Vec<String>>, answer: &dyn Fn(&str) -> String) {
    let mut reader = BufReader::new(conn);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            match reader.read_line(&mut head) {
                Ok(1..) => {}
                Ok(0) | Err(_) => return,
            }
        }
        let said = answer(&head);
        seen.lock().unwrap().push(head);
        let mut writer = conn;
        if writer.write_all(said.as_bytes()).is_err() {
            return;
        }
    }
}

fn redirect_to(address: &str) -> String {
    format!("HTTP/1.1 302 Found\r\nLocation: http://{address}/\r\nContent-Length: 0\r\n\r\n")
}

/// What a redirect may lead to: a server at another address, counted and named, or not at all; never to a cloud's metadata.
#[test]
fn a_load_that_redirects_take_elsewhere_is_reported() {
    let elsewhere = Recorder::new(|_| OK.to_owned());
    let port = elsewhere.address.rsplit_once(':').unwrap().1.to_owned();
    // Every address of this network is this machine.
    let to = format!("localhost:{port}");
    let asked = Recorder::new(move |_| redirect_to(&to));
    let scratch = Scratch::new("redirected");
    let targets = scratch.file("targets", format!("GET http://{}/\n", asked.address));
    let attack = |flags: &str| {
        run(&format!("attack -targets={targets} -rate=50 -duration=200ms -output=none {flags}"))
            .with_code(0)
    };
    let report = attack("");
    let line =
        "10 requests were sent to hosts that no target names, where redirects led (localhost)";
    assert!(report.stdout.contains(line), "{}", report.stdout);
    let json = attack("-json").json();
    assert_eq!(json["brunt"]["generator"]["redirected"], 10, "{json}");
    assert_eq!(json["brunt"]["generator"]["redirect_hosts"], serde_json::json!(["localhost"]));
    let before = elsewhere.heads().len();
    let stayed = attack("-json -redirects=same-host").json();
    assert_eq!(stayed["status_codes"], serde_json::json!({ "302": 10 }));
    assert_eq!(stayed["brunt"]["generator"]["redirected"], 0);
    assert_eq!(elsewhere.heads().len(), before, "no request came");
    // A script's redirects are counted as well.
    let script = format!(
        "import http from 'k6/http'; export default () => {{ http.get('http://{}/'); }}",
        asked.address
    );
    let (script, results) = (scratch.file("s.js", script), scratch.path("r.arrow"));
    run(&format!("run -q -i 3 -o {} {script}", results.display())).with_code(0);
    let json = run(&format!("report -json {}", results.display())).json();
    assert_eq!(json["brunt"]["generator"]["redirected"], 3, "{json}");
}

#[test]
fn no_redirect_leads_to_link_local_addresses() {
    let places = [
        ("169.254.169.254", "169.254.169.254"),
        ("168.63.129.16", "168.63.129.16"),
        ("192.0.0.192", "192.0.0.192"),
        ("[::ffff:169.254.169.254]", "::ffff:169.254.169.254"),
        ("[64:ff9b::a9fe:a9fe]", "64:ff9b::a9fe:a9fe"),
        ("[fd00:ec2::254]", "fd00:ec2::254"),
    ];
    let scratch = Scratch::new("metadata");
    for (host, address) in places {
        let asked = Recorder::new(move |_| redirect_to(host));
        let targets = scratch.file("targets", format!("GET http://{}/\n", asked.address));
        let ran = run(&format!(
            "attack -targets={targets} -rate=50 -duration=100ms -timeout=2s -output=none -json"
        ));
        let json = ran.with_code(0).json();
        let errors = json["errors"].to_string();
        let reason = format!("{address} is a link-local address that only a redirect named");
        assert!(errors.contains(&reason), "{host}: {errors}");
        assert_eq!(json["status_codes"], serde_json::json!({ "0": 5 }), "{host}");
        assert_eq!(json["brunt"]["generator"]["redirected"], 0, "{host}: nothing was sent there");
    }
}

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Runs a script in a folder of its own, which is its project as well.
fn script(scratch: &Scratch, words: &str, source: &str) -> Ran {
    let path = scratch.file("script.js", source);
    let mut command = brunt(&format!("{words} {path}"));
    command.current_dir(&scratch.0);
    start(command).wait()
}

#[test]
fn credentials_stay_with_the_port_they_are_for() {
    let other = Recorder::new(|_| OK.to_owned());
    let to = other.address.clone();
    let asked = Recorder::new(move |_| redirect_to(&to));
    let mut command = brunt("attack -rate=1 -duration=1s -json");
    for field in
        ["Authorization: Bearer t", "Proxy-Authorization: Basic x", "Cookie: c=1", "X-A: b"]
    {
        command.args(["-header", field]);
    }
    feed(command, format!("GET http://{}/\n", asked.address)).with_code(0);
    let (first, second) = (asked.heads().remove(0), other.heads().remove(0));
    for field in ["Authorization: Bearer", "Proxy-Authorization", "Cookie", "X-A: b"] {
        assert!(first.contains(field), "{field}: {first}");
    }
    assert!(second.contains("X-A: b"), "{second}");
    assert!(!second.contains("uthorization") && !second.contains("Cookie"), "{second}");
}

/// Another origin learns neither the path and query that led to it, nor a key that a header names.
#[test]
fn issue_19_redirects_take_no_secrets_elsewhere() {
    let other = Recorder::new(|_| OK.to_owned());
    let to = other.address.clone();
    // The first redirect stays, the second leaves.
    let asked = Recorder::new(move |head| match head.starts_with("GET /first") {
        true => {
            "HTTP/1.1 302 F\r\nLocation: /second?q=SEKRET\r\nContent-Length: 0\r\n\r\n".to_owned()
        }
        false => redirect_to(&to),
    });
    let url = format!("http://{}/first?q=SEKRET", asked.address);
    let mut command = brunt("attack -rate=1 -duration=1s -json");
    for field in ["X-Api-Key: SEKRET", "X-Auth-Token: SEKRET", "X-A: b"] {
        command.args(["-header", field]);
    }
    feed(command, format!("GET {url}\n")).with_code(0);
    let scratch = Scratch::new("trust-referer");
    let headers = "'X-Api-Key': 'SEKRET', 'X-Auth-Token': 'SEKRET', 'X-A': 'b'";
    for more in ["", ", Referer: 'http://mine/?q=SEKRET'"] {
        let source = format!(
            "import http from 'k6/http';
            export default () => {{ http.get('{url}', {{ headers: {{ {headers}{more} }} }}); }}"
        );
        script(&scratch, "run -q", &source).with_code(0);
        script(&scratch, "k6 run -q", &source).with_code(0);
    }
    let (asked_heads, other_heads) = (asked.heads(), other.heads());
    assert_eq!((asked_heads.len(), other_heads.len()), (10, 5));
    for second in asked_heads.iter().filter(|head| head.starts_with("GET /second")) {
        let full = format!("\r\nReferer: {url}\r\n");
        let own = "\r\nReferer: http://mine/?q=SEKRET\r\n";
        assert!(second.contains(&full) || second.contains(own), "the same origin: {second}");
        assert!(second.contains("X-Api-Key: SEKRET"), "{second}");
    }
    for third in &other_heads {
        assert!(third.contains(&format!("\r\nReferer: http://{}/\r\n", asked.address)), "{third}");
        assert!(third.contains("X-A: b") && !third.contains("SEKRET"), "{third}");
    }
}

#[test]
fn a_script_proves_who_it_is_to_whom_it_asked_alone() {
    let challenge = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\nContent-Length: 0\r\n\r\n";
    let other = Recorder::new(move |_| challenge.to_owned());
    let to = other.address.clone();
    let asked = Recorder::new(move |_| redirect_to(&to));
    let scratch = Scratch::new("trust-digest");
    let source = format!(
        "import http from 'k6/http';
        export default function () {{
            const params = {{ auth: 'digest', cookies: {{ own: '1' }}, headers: {{ Authorization: 'Bearer t', 'Proxy-Authorization': 'x' }} }};
            const r = http.get('http://u:secretpw@{}/', params);
            console.log(r.status);
        }}",
        asked.address
    );
    let ran = script(&scratch, "run -q", &source).with_code(0);
    assert!(ran.stderr.contains("msg=401"), "{}", ran.stderr);
    assert!(asked.heads()[0].contains("Cookie: own=1"), "{:?}", asked.heads());
    let heads = other.heads();
    assert_eq!(heads.len(), 1, "it is not answered: {heads:?}");
    assert!(!heads[0].contains("uthorization") && !heads[0].contains("Cookie"), "{heads:?}");
}

#[test]
fn passwords_are_in_no_text() {
    let url = format!("http://u:secretpw@127.0.0.1:{}/", free_port());
    let scratch = Scratch::new("trust-passwords");
    let targets = format!("GET {url}\n");
    let rows = feed(brunt("attack -rate=1 -duration=1s -to json"), &targets).with_code(0);
    assert_eq!(rows.stdout.matches("u:***@").count(), 2, "{}", rows.stdout);
    let report = feed(brunt("report"), &rows.stdout).with_code(0);
    let foreign = rows.stdout.replace("u:***@", "u:secretpw@");
    let read = feed(brunt("encode -to csv"), &foreign).with_code(0);
    let bench = run(&format!("bench -n 1 -c 1 {url}"));
    let wrong = feed(brunt("attack -rate=1 -duration=1s"), "GET http://u:secretpw@a b/\n");
    let source = format!(
        "import http from 'k6/http'; import {{ WebSocket }} from 'k6/websockets';
        export default function () {{ http.get('{url}'); new WebSocket('{}').onerror = () => {{}}; }}",
        url.replace("http:", "ws:")
    );
    let samples = scratch.path("samples.json");
    let words = format!("run -o json={}", text(&samples));
    let warned = script(&scratch, &words, &source).with_code(0);
    let samples = std::fs::read_to_string(samples).unwrap();
    assert!(samples.contains("ws://****:****@") && !samples.contains("secretpw"), "{samples}");
    assert!(warned.stderr.contains("u:***@"), "{}", warned.stderr);
    assert!(!read.stdout.contains(",http://u:secretpw@"), "{}", read.stdout);
    for ran in [rows, report, bench, wrong, warned] {
        assert!(!ran.stdout.contains("secretpw") && !ran.stderr.contains("secretpw"), "{ran:?}");
    }
}

/// The values of named headers and query keys stand in nothing that brunt writes, whatever server they come from; servers and
/// scripts get them as they are.
#[test]
fn redacted_values_are_in_no_text() {
    let server = Recorder::new(|head| {
        match head.starts_with("GET /login") {
            true => "HTTP/1.1 302 F\r\nLocation: /in?x=1&token=SEKRET\r\nContent-Length: 0\r\n\r\n",
            false => "HTTP/1.1 500 F\r\nX-Session: SEKRET\u{e9}\r\nContent-Length: 2\r\n\r\nok",
        }
        .to_owned()
    });
    let scratch = Scratch::new("trust-redact");
    let file = text(&scratch.path("rows.arrow"));
    let targets = format!(
        "GET http://{0}/login?token=SEKRET\n\nGET http://127.0.0.1:{1}/?token=SEKRET&page=2\n\n\
         GET http://{0}/?token=SEKRET\nAuthorization: SEKRET\n",
        server.address,
        free_port()
    );
    let words = "-redact token,x-session -rate=30 -duration=100ms -keep-headers";
    let mut ran =
        vec![feed(brunt(&format!("attack {words} -output {file}")), &targets).with_code(0)];
    for words in ["encode -to csv", "encode -to json", "report", "report -type=html", "plot"] {
        ran.push(run(&format!("{words} {file}")).with_code(0));
    }
    assert!(ran[2].stdout.contains("token=***\\u0026page=2"), "{}", ran[2].stdout);
    assert!(ran[2].stdout.contains("\"X-Session\":[\"***\"]"), "{}", ran[2].stdout);
    // A file that was written without: what is read is redacted.
    let plain = feed(brunt("attack -rate=30 -duration=100ms -keep-headers -to json"), &targets);
    assert!(plain.stdout.contains("SEKRET"));
    ran.push(feed(brunt("encode -redact secrets -to json"), &plain.stdout).with_code(0));
    ran.push(feed(brunt("report --redact=token"), &plain.stdout).with_code(0));
    // k6 names a request after its URL: the stream of a script has it three times.
    let (raw, masked) = (text(&scratch.path("raw.arrow")), scratch.path("masked.arrow"));
    let source = format!(
        "import http from 'k6/http';
        export default function () {{ http.get('http://{}/?token=SEKRET'); }}",
        server.address
    );
    ran.push(script(&scratch, &format!("run -o {raw}"), &source).with_code(0));
    let words = format!("encode -redact=token -to arrow -output {} {raw}", text(&masked));
    ran.push(run(&words).with_code(0));
    let holds = |path: &str, what: &str| {
        std::fs::read(path).unwrap().windows(what.len()).any(|part| part == what.as_bytes())
    };
    assert!(holds(&raw, "token=SEKRET") && holds(&text(&masked), "token=***"));
    assert!(!holds(&text(&masked), "SEKRET"), "names and tags");
    let source = format!(
        "import http from 'k6/http';
        export default function () {{
            const res = http.get('http://{}/login?token=SEKRET', {{headers: {{'X-Session': 'SEKRET'}}}});
            if (!res.headers['X-Session'].startsWith('SEKRET')) throw new Error('the script gets what was sent');
            http.get('http://127.0.0.1:{}/?token=SEKRET', {{tags: {{name: '/a?token=SEKRET', foo: '?token=SEKRET'}}}});
            try {{ http.get('http://[::1/?token=SEKRET'); }} catch (error) {{ console.log(error); }}
        }}",
        server.address,
        free_port()
    );
    let samples = text(&scratch.path("samples.json"));
    let words = format!("run --redact token,x-session --http-debug -o json={samples}");
    ran.push(script(&scratch, &words, &source).with_code(0));
    assert!(ran.last().unwrap().stderr.contains("X-Session: ***"), "{ran:?}");
    ran.push(Ran { stdout: std::fs::read_to_string(samples).unwrap(), ..run("version") });
    for ran in &ran {
        assert!(!ran.stdout.contains("SEKRET") && !ran.stderr.contains("SEKRET"), "{ran:?}");
    }
    let heads = server.heads().concat();
    assert!(heads.contains("Authorization: SEKRET") && heads.contains("/in?x=1&token=SEKRET"));
}

/// A header whose name was forgotten, and URLs with a slash too few, are shown without what may be a secret.
#[test]
fn issue_19_errors_repeat_no_secret() {
    let scratch = Scratch::new("trust-errors");
    let targets = |url: &str| scratch.file("targets", format!("GET {url}\n"));
    for words in ["bench -n 1 -H SEKRET http://127.0.0.1:9/", "wrk -H SEKRET http://127.0.0.1:9/"] {
        let ran = run(words);
        assert!(ran.code != Some(0) && ran.stderr.contains("header"), "{words}: {ran:?}");
        assert!(
            !ran.stdout.contains("SEKRET") && !ran.stderr.contains("SEKRET"),
            "{words}: {ran:?}"
        );
    }
    for url in ["http:/u:SEKRET@h", "http://u:SEKRET/x@h/", "http://u:SEKRET#x@h/"] {
        let from_file = format!("attack -rate=1 -duration=1s -targets {}", targets(url));
        for words in [format!("bench -n 1 {url}"), from_file] {
            let ran = run(&words);
            assert!(
                !ran.stdout.contains("SEKRET") && !ran.stderr.contains("SEKRET"),
                "{words}: {ran:?}"
            );
        }
    }
}

/// A `handleSummary` that never ends is no success; k6's command line says so, and ends as k6 does.
#[test]
fn issue_19_a_summary_without_end_has_a_code() {
    let scratch = Scratch::new("trust-endless-summary");
    let source = "export const options = { handleSummaryTimeout: '300ms' };
        export default function () {}
        export function handleSummary() { for (;;) {} }";
    for (words, code) in [("run -q", 102), ("k6 run -q", 0)] {
        let ran = script(&scratch, words, source).with_code(code);
        assert!(ran.stderr.contains("handleSummary() execution timed out after 300ms"), "{ran:?}");
    }
}

/// A stored run is shown without what is redacted now.
#[test]
fn issue_19_a_stored_run_is_redacted_when_it_is_shown() {
    let server = Recorder::new(|_| OK.to_owned());
    let scratch = Scratch::new("trust-runs-show");
    let at = |words: &str| {
        let mut command = brunt(words);
        command.current_dir(&scratch.0).env("BRUNT_STORE", scratch.path("store"));
        start(command).wait()
    };
    at(&format!("bench -n 1 -c 1 -save=it http://{}/?page=SEKRET", server.address)).with_code(0);
    assert!(at("runs show it").with_code(0).stdout.contains("SEKRET"));
    for words in
        ["runs show -redact page it", "-redact page runs show it", "-redact page runs list"]
    {
        let ran = at(words).with_code(0);
        assert!(
            !ran.stdout.contains("SEKRET") && !ran.stderr.contains("SEKRET"),
            "{words}: {ran:?}"
        );
    }
}

fn hides_secret(ran: &Ran) -> bool {
    !ran.stdout.contains("SEKRET") && !ran.stderr.contains("SEKRET")
}

/// Names of checks and groups that held a URL with a password were shown as the script wrote them, and thresholds select them
/// without it.
#[test]
fn issue_19_names_of_checks_hide_passwords() {
    let scratch = Scratch::new("trust-names");
    let source = "import { check, group } from 'k6';
        export const options = { thresholds: {
            'checks{check:http://u:SEKRET@h/ is up}': ['rate>=1'],
        } };
        export default function () {
            group('of http://u:SEKRET@h/', () => check(1, { 'http://u:SEKRET@h/ is up': true }));
        }";
    let words = format!("run -o {}", scratch.path("rows.arrow").display());
    let ran = script(&scratch, &words, source).with_code(0);
    assert!(hides_secret(&ran), "{ran:?}");
    assert!(ran.stdout.contains("checks{check:http://u:***@h/ is up}"), "{ran:?}");
    let rows =
        String::from_utf8_lossy(&std::fs::read(scratch.path("rows.arrow")).unwrap()).into_owned();
    assert!(rows.contains("of http://u:***@h/") && !rows.contains("SEKRET"), "{rows}");
}

/// Tags of requests, metrics, users, scenarios and runs, and metadata, are in every output.
#[test]
fn issue_19_tags_hide_passwords() {
    let scratch = Scratch::new("trust-tags");
    let server = Recorder::new(|_| OK.to_owned());
    let url = format!("http://{}/", server.address);
    let source = format!(
        "import http from 'k6/http';
         import exec from 'k6/execution';
         import {{ check }} from 'k6';
         import {{ Counter }} from 'k6/metrics';
         const counter = new Counter('mine');
         const [secret, query] = ['http://u:SEKRET@h/', '/x?token=SEKRET'];
         export const options = {{ tags: {{ o: secret, p: query }}, scenarios: {{ s: {{
           executor: 'shared-iterations', iterations: 1, vus: 1, tags: {{ sc: secret, sq: query }} }} }} }};
         export default function () {{
           exec.vu.tags.vt = secret;
           exec.vu.metrics.tags.vq = query;
           exec.vu.metrics.metadata.md = secret;
           check(1, {{ up: true }}, {{ ck: secret, cq: query }});
           counter.add(1, {{ m: secret, mq: query }});
           http.get('{url}', {{ tags: {{ name: 'http://u:SEKRET@h/a', t: secret, q: query }} }});
           http.get('{url}', {{ tags: {{ t: secret }} }});
         }}"
    );
    let mut shown = String::new();
    // The command line's tags stand in place of the script's.
    let own = "--tag g=http://u:SEKRET@h/";
    for (output, own) in [("json=rows.json", own), ("csv=rows.csv", own), ("rows.arrow", "")] {
        let file = scratch.path(output.rsplit('=').next().unwrap());
        let output = output.replace("rows.", &scratch.path("rows.").display().to_string());
        let words = format!("-redact secrets run -o {output} {own}");
        let ran = script(&scratch, &words, &source).with_code(0);
        assert!(hides_secret(&ran), "{ran:?}");
        let rows = String::from_utf8_lossy(&std::fs::read(file).unwrap()).into_owned();
        assert!(rows.contains("u:***@h") && !rows.contains("SEKRET"), "{output}: {rows}");
        shown += &rows;
    }
    for name in ["o", "p", "sc", "sq", "vt", "vq", "md", "ck", "cq", "m", "mq", "t", "q", "g"] {
        let value = if name.len() == 2 && name.ends_with('q') || name == "p" || name == "q" {
            "/x?token=***"
        } else {
            "http://u:***@h/"
        };
        assert!(shown.contains(&format!("\"{name}\":\"{value}\"")), "{name}: {shown}");
    }
}

/// The flags of every command stand before the name of another tool, too.
#[test]
fn issue_19_global_flags_stand_before_tools() {
    let server = Recorder::new(|_| OK.to_owned());
    let url = format!("http://{}/?token=SEKRET", server.address);
    let closed = format!("http://127.0.0.1:{}/?token=SEKRET", free_port());
    for words in ["hey -n 1 -c 1", "ab -n 1", "wrk -d 1 -t 1 -c 1", "oha -n 1 -c 1 --no-tui"] {
        for before in ["-redact secrets", "-memory-limit 512M --redact=secrets"] {
            let ran = run(&format!("{before} {words} {url}")).with_code(0);
            assert!(hides_secret(&ran), "{before} {words}: {ran:?}");
        }
    }
    // Two of them print the URL, or its path.
    for words in ["ab -n 1", "wrk -d 1 -t 1 -c 1"] {
        let [plain, redacted] =
            ["", "-redact secrets "].map(|before| run(&format!("{before}{words} {url}")).stdout);
        assert!(plain.contains("/?token=SEKRET"), "{words}: {plain}");
        assert!(redacted.contains("/?token=***"), "{words}: {redacted}");
    }
    let ran = run(&format!("-redact secrets hey -n 1 -c 1 {closed}"));
    assert!(hides_secret(&ran), "{ran:?}");
    let targets = format!("GET {url}\n");
    let vegeta = brunt("-cpus 1 -redact secrets vegeta attack -rate=1 -duration=1s");
    assert!(hides_secret(&feed(vegeta, &targets).with_code(0)), "vegeta");
    let scratch = Scratch::new("trust-tools");
    let source = format!(
        "import http from 'k6/http'; export default function () {{ http.get('{closed}'); }}"
    );
    let ran = script(&scratch, "-cpus 1 -redact secrets k6 run -q", &source).with_code(0);
    assert!(hides_secret(&ran) && ran.stderr.contains("/?token=***"), "{ran:?}");
    for (words, expect) in [
        ("-redact= hey http://h/", "flag -redact: \"\" names nothing"),
        ("-cpus 1 hey http://h/", "flag -cpus: not before hey"),
        ("-redact x heyy", "unknown command \"heyy\""),
    ] {
        let ran = run(words).with_code(2);
        assert!(ran.stderr.contains(expect), "{words}: {ran:?}");
    }
}

/// An empty variable of CI takes no limit away and shows nothing.
#[test]
fn limits_and_redactions_of_nothing_are_refused() {
    for value in ["0", "1KB"] {
        let ran = run(&format!("bench -n 1 -memory-limit {value} http://127.0.0.1:9/"));
        let stderr = ran.with_code(2).stderr;
        assert!(stderr.contains("-memory-limit: \"") && stderr.contains("16MB"), "{stderr}");
    }
    for value in ["", ",", "*"] {
        let ran = run(&format!("bench -n 1 -redact={value} http://127.0.0.1:9/")).with_code(2);
        assert!(
            ran.stderr.contains("flag -redact") && ran.stderr.contains("names nothing"),
            "{ran:?}"
        );
    }
}

/// All threads of a script share the limit: one thread's realm may not have all of it.
#[test]
fn scripts_of_all_threads_share_the_memory_limit() {
    let scratch = Scratch::new("trust-threads");
    let source = "const kept = [];
        export const options = { vus: 4, iterations: 4 };
        export default function () { for (let i = 0; i < 1000; i++) kept.push('x'.repeat(1 << 20) + i); }";
    let file = scratch.file("keep.js", source);
    let mut started = start(brunt(&format!("-memory-limit 256MB run -q -cpus 2 {file}")));
    let peak = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", started.pid())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.to_owned();
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    let mut most = 0;
    while let Some(kib) = peak() {
        most = most.max(kib);
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    started.child().wait().unwrap();
    assert!(most > 100 << 10 && most < 400 << 10, "{most} KiB");
}

#[test]
fn a_summary_is_written_where_reports_belong() {
    let scratch = Scratch::new("trust-summary");
    std::fs::create_dir_all(scratch.path("project/load")).unwrap();
    std::fs::create_dir_all(scratch.path("allowed")).unwrap();
    std::fs::write(scratch.path("project/package.json"), "{}").unwrap();
    // As CI has it, where what its next steps run lies there.
    let temp = scratch.path("allowed").display().to_string();
    std::fs::write(scratch.path("allowed/set_env"), "").unwrap();
    let source = "export default function () {}
        export function handleSummary() {
            return { 'in.bin': 'a', '../up.bin': 'b', '../../report.html': 'd',
                '../../start.sh': 'e', '../../.bashrc': 'f', '../../allowed/set_env': 'g' };
        }";
    std::fs::write(scratch.path("project/load/script.js"), source).unwrap();
    let folder = scratch.path("project/load");
    let go = |words: &str| {
        let mut command = brunt(words);
        command.current_dir(&folder).env("TMPDIR", &temp);
        start(command).wait()
    };
    let ran = go("run -q script.js").with_code(0);
    let is_there = |name: &str| scratch.path(name).exists();
    assert!(is_there("project/load/in.bin") && is_there("project/up.bin"), "{}", ran.stderr);
    assert!(is_there("report.html") && !is_there("start.sh") && !is_there(".bashrc"), "{ran:?}");
    assert_eq!(std::fs::read(scratch.path("allowed/set_env")).unwrap(), b"");
    for name in ["'../../start.sh'", "'../../.bashrc'", "'../../allowed/set_env'"] {
        let line = ran.stderr.lines().find(|line| line.contains(name)).unwrap_or_default();
        assert!(line.contains("--allow-write") && line.contains("level=error"), "{name}: {line}");
    }
    // Another user's file may end like a report: the second time it is there, and stays.
    let mine = "mine";
    std::fs::write(scratch.path("report.html"), mine).unwrap();
    let again = go("run -q script.js").with_code(0);
    let line = again.stderr.lines().find(|line| line.contains("'../../report.html'"));
    assert!(line.is_some_and(|line| line.contains("it is there already")), "{again:?}");
    assert_eq!(std::fs::read_to_string(scratch.path("report.html")).unwrap(), mine);
    let allowed = format!("run -q --allow-write {} script.js", text(&scratch.0));
    go(&allowed).with_code(0);
    assert!(is_there("start.sh") && is_there(".bashrc"));
    std::fs::remove_file(scratch.path("start.sh")).unwrap();
    go("k6 run -q script.js").with_code(0);
    assert!(is_there("start.sh"), "k6 writes any file");
}

#[test]
fn body_files_end() {
    let scratch = Scratch::new("trust-bodies");
    let fifo = text(&scratch.path("fifo"));
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo {fifo}");
    for path in ["/dev/zero", &fifo] {
        let targets = scratch.file("targets", format!("POST http://127.0.0.1:1/\n@{path}\n"));
        let ran = run(&format!("attack -rate=1 -duration=1s -targets {targets}")).with_code(3);
        let words = [targets.as_str(), "line 2", path, "no regular file"];
        ran.complains_once(&words);
    }
}

#[test]
fn a_small_file_does_not_become_a_large_record() {
    let name = "a".repeat(100_000);
    let values = vec!["\"\""; 100_000].join(",");
    let row = |headers: &str| {
        format!(
            "{{\"seq\":7,\"code\":200,\"timestamp\":\"2024-01-01T00:00:00Z\",\"latency\":1,\"headers\":{{{headers}}}}}\n"
        )
    };
    let ran = feed(brunt("report"), row(&format!("\"{name}\":[{values}]"))).with_code(4);
    assert!(ran.stderr.contains("the headers of record 7 take more than 1048576 bytes"), "{ran:?}");
    feed(brunt("report"), row("\"A\":[\"1\",\"2\"],\"B\":null")).with_code(0);
}

#[test]
fn a_page_of_the_web_controls_no_test() {
    let scratch = Scratch::new("trust-rest");
    let path = scratch.file(
        "script.js",
        "import { sleep } from 'k6'; export const options = { vus: 1, duration: '60s', gracefulStop: '0s' };
        export default function () { sleep(0.1) }",
    );
    let port = free_port();
    let running = start(brunt(&format!("run -q --address :{port} {path}")));
    let connect = || TcpStream::connect(("127.0.0.1", port));
    until("it listens", || connect().is_ok());
    let ask = |head: &str| {
        let body = r#"{"data":{"type":"status","id":"default","attributes":{"stopped":true}}}"#;
        let mut client = connect().unwrap();
        let request = format!(
            "PATCH /v1/status HTTP/1.1\r\n{head}Content-Type: text/plain\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        client.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        answer
    };
    let evil = ask("Host: evil.example\r\nOrigin: http://evil.example\r\n");
    assert!(evil.starts_with("HTTP/1.1 403 "), "{evil}");
    let stopped = ask(&format!("Host: localhost:{port}\r\n"));
    assert!(stopped.starts_with("HTTP/1.1 200 "), "{stopped}");
    let ran = Started::wait(running).with_code(103);
    assert!(ran.stderr.contains("for this machine only"), "{}", ran.stderr);
}
