//! Sockets of scripts against a server with configured behaviour, good or bad: what scripts see of it, what is counted,
//! and that nothing is left open.

use std::collections::HashMap;

use metrics::tally::Value;
use script::VuStats;
use stdx::Nanos;
use wire::ws::{Agreed, DeflateAnswer, Event, Limits, Protocols, Role, WsSession, accept};
use workload::{
    Backpressure, Commands, EngineResponse, Pipe, PipeCommand, PipeEvent, RequestCommand,
};

use super::{Test, sum};

/// A connection as its server has it.
struct Line {
    session: WsSession,
    /// What goes to the client: by `session`, or raw.
    out: Vec<u8>,
    /// The server goes away after `out`.
    vanishes: bool,
}

/// What the server receives.
#[derive(Clone, Copy)]
enum Received<'a> {
    Opened,
    Text(&'a str),
    Close,
}

/// Counts of a test's connections at its end.
#[derive(Debug, Default)]
struct Left {
    opened: usize,
    open: usize,
    /// The most at once.
    open_max: usize,
    holds: usize,
    resumes: usize,
}

/// Runs a script against a server that does this with what it receives; every attempt to open gets this status.
fn talk(
    source: &str,
    status: u16,
    server: impl FnMut(&mut Line, Received<'_>),
) -> (Vec<String>, VuStats, Left) {
    talk_for(1, source, status, server)
}

/// The same for so many iterations.
fn talk_for(
    iterations: u64,
    source: &str,
    status: u16,
    mut server: impl FnMut(&mut Line, Received<'_>),
) -> (Vec<String>, VuStats, Left) {
    let source = format!(
        "import ws from 'k6/ws'; import {{ WebSocket }} from 'k6/websockets'; import cable from 'k6/x/cable'; const URL = 'ws://127.0.0.1:1/x'; {source}"
    );
    let options = format!(
        r#"{{"scenarios":{{"s":{{"executor":"shared-iterations","vus":1,"iterations":{iterations},"maxDuration":"60s"}}}}}}"#
    );
    let mut test = Test::new(&source, &options, 1);
    let (mut commands, mut lines) = (Commands::default(), HashMap::<Pipe, Line>::new());
    let (mut left, mut serial) = (Left::default(), 0);
    let end = Nanos::from_secs(120);
    while test.now <= end && !test.crews[0].is_over() {
        test.clock.store(test.now.0, std::sync::atomic::Ordering::Relaxed);
        let wake = test.crews[0].poll(test.now, &mut commands);
        let mut busy = !commands.requests.is_empty() || !commands.pipe_commands.is_empty();
        for ask in commands.requests.drain(..) {
            serial += 1;
            let (pipe, agreed) = answer(&mut test, &ask, status, serial);
            if status == 101 {
                left.opened += 1;
                let session = WsSession::new(Role::Server, &agreed, Limits::default(), 0);
                let mut line = Line { session, out: Vec::new(), vanishes: false };
                server(&mut line, Received::Opened);
                lines.insert(pipe, line);
                left.open_max = left.open_max.max(lines.len());
            }
        }
        let mut from = 0;
        for (pipe, order) in commands.pipe_commands.drain(..) {
            match order {
                PipeCommand::Send(len) => {
                    let bytes = &commands.bytes[from..from + len];
                    from += len;
                    if let Some(line) = lines.get_mut(&pipe) {
                        receive(line, bytes, &mut server);
                    }
                }
                PipeCommand::Close => drop(lines.remove(&pipe)),
                PipeCommand::Resume => left.resumes += 1,
            }
        }
        commands.bytes.clear();
        for (pipe, line) in &mut lines {
            if !line.out.is_empty() {
                busy = true;
                let out = std::mem::take(&mut line.out);
                let flow = test.crews[0].handle_pipe_event(*pipe, test.now, PipeEvent::Bytes(&out));
                left.holds += usize::from(flow == Backpressure::Pause);
            }
            if line.vanishes {
                busy = true;
                test.crews[0].handle_pipe_event(*pipe, test.now, PipeEvent::End);
            }
        }
        lines.retain(|_, line| !line.vanishes);
        let later = wake.unwrap_or(test.now.saturating_add(Nanos::MILLI));
        let soon = test.now.saturating_add(Nanos(1_000));
        test.now = if busy { soon } else { later.max(soon) };
    }
    assert!(test.crews[0].is_over(), "it never ends");
    left.open = lines.len();
    drop(std::mem::take(&mut test.crews));
    let lines = std::mem::take(&mut *test.lines.lock().expect("nobody panics with it"));
    let outcome = std::mem::take(&mut *test.outcome.lock().expect("nobody panics with it"));
    (lines, outcome, left)
}

/// Answers a request for a socket; gives its pipe and the extensions agreed on.
fn answer(test: &mut Test, ask: &RequestCommand, status: u16, serial: u32) -> (Pipe, Agreed) {
    assert!(ask.kind.is_upgrade(), "these scripts only open sockets");
    let pipe = Pipe { place: serial, serial };
    let fields = ask.target.headers.iter();
    let fields = fields.map(|(name, value)| (name.as_bytes(), value.as_bytes()));
    let (response, agreed) =
        accept(fields, Protocols::Any, DeflateAnswer::Accept).expect("a handshake");
    let text = String::from_utf8(response).expect("a head is text");
    let text = text.replace("101 Switching", &format!("{status} Switching"));
    let head = text.trim_end_matches("\r\n").to_owned() + "\r\n";
    let reply = EngineResponse {
        done: test.now,
        status,
        head: Some(head.into_bytes().into()),
        failure: (status == 0).then(|| ("refused", "connection refused".to_owned())),
        pipe: (status == 101).then_some(pipe),
        ..EngineResponse::default()
    };
    test.crews[0].handle_response(ask.user, &reply);
    (pipe, agreed)
}

fn receive(line: &mut Line, bytes: &[u8], server: &mut impl FnMut(&mut Line, Received<'_>)) {
    let mut events = Vec::new();
    let mut out = std::mem::take(&mut line.out);
    line.session
        .handle_bytes(bytes, &mut out, &mut |event| match event {
            Event::Text(text) => events.push(Some(text.to_owned())),
            Event::Close { .. } => events.push(None),
            _ => {}
        })
        .expect("our client breaks no rule");
    line.out = out;
    for text in events {
        match text {
            Some(text) => server(line, Received::Text(&text)),
            None => server(line, Received::Close),
        }
    }
}

fn send_text(line: &mut Line, text: &str) {
    // A client that goes first is no error.
    line.session.send_text(text, &mut line.out).ok();
}

fn echo(line: &mut Line, received: Received<'_>) {
    if let Received::Text(text) = received {
        send_text(line, text);
    }
}

const LOGS: &str = "const url = URL; const open = (setup) => ws.connect(url, (s) => { s.on('error', (e) => log('error', e.error())); s.on('close', (code) => log('close', code)); setup(s); });";

#[test]
fn a_blocking_socket_has_its_messages_and_its_timers() {
    let source = format!(
        "{LOGS} export default () => {{ const r = open((s) => {{ s.on('open', () => s.send('a')); s.on('message', (m) => log(m)); s.setTimeout(() => s.send('b'), 500); s.setInterval(() => log('tick'), 400); s.setTimeout(() => s.close(1000), 1000); }}); log(r.status); }}"
    );
    let (lines, outcome, left) = talk(&source, 101, echo);
    assert_eq!(lines, ["a", "tick", "b", "tick", "close 1000", "101"]);
    assert_eq!((left.opened, left.open), (1, 0));
    assert_eq!((sum(&outcome, "ws_msgs_sent"), sum(&outcome, "ws_msgs_received")), (2.0, 2.0));
    assert!(matches!(outcome.tally.value("ws_session_duration"), Some(Value::Trend(_))));
}

/// Timers that are due at once are called in the order in which they were set. A timer that another one sets is called when it is due,
/// also before those that were set earlier.
#[test]
fn a_blocking_socket_has_its_timers_in_order() {
    let source = format!(
        "{LOGS} export default () => {{ const r = open((s) => {{ s.setTimeout(() => log('third'), 20); s.setTimeout(() => {{ log('first'); s.setTimeout(() => log('fourth'), 12); s.setTimeout(() => log('in between'), 1); }}, 10); s.setTimeout(() => log('second'), 10); s.setInterval(() => log('tick'), 40); s.setTimeout(() => s.close(1000), 90); }}); log(r.status); }}"
    );
    let (lines, _, left) = talk(&source, 101, echo);
    let expected = ["first", "second", "in between", "third", "fourth", "tick", "tick"];
    assert_eq!(lines, [&expected[..], &["close 1000", "101"]].concat());
    assert_eq!((left.opened, left.open), (1, 0));
}

/// What a script may do with a socket beside the usual: methods by themselves, handlers that add handlers, and anything once it is over.
#[test]
fn a_blocking_socket_is_used_in_odd_ways() {
    let source = format!(
        "{LOGS} let held; export default () => {{ open((s) => {{ held = s; const {{ on, send, close, setTimeout }} = s; \
         on('message', function add(m) {{ log(m); on('message', add); on('message', (m) => {{ log('again', m); close(); close(); send('late'); }}); send('b'); }}); \
         on('nothing', () => log('no')); on('open', 7); on(); \
         on('open', function () {{ log(arguments.length, typeof this); send(7); }}); }}); \
         held.on('message', () => held); held.setTimeout(() => held, 1); held.setInterval(() => held, 1); held.send('no'); held.ping(); held.close(); log('over'); }}"
    );
    let (lines, outcome, left) = talk_for(2, &source, 101, echo);
    let once = ["0 undefined", "7", "b", "b", "again b", "close 1001", "over"];
    assert_eq!(lines, once.repeat(2));
    assert_eq!((sum(&outcome, "ws_msgs_sent"), left.open), (8.0, 0));
}

/// A handler may open a socket of its own; what throws in that one ends that one alone.
#[test]
fn a_blocking_socket_opens_another() {
    let source = format!(
        "{LOGS} export default () => {{ open((outer) => {{ outer.on('message', (m) => {{ log('outer', m); \
         try {{ ws.connect(url, (inner) => {{ inner.setInterval(() => inner, 1000); inner.on('open', () => inner.send('x')); inner.on('message', () => {{ throw new Error('inner ' + inner.send.name); }}); }}); }} catch (e) {{ log(e.message); }} \
         outer.close(1000); }}); outer.send('a'); }}); log('after'); }}"
    );
    let (lines, _, left) = talk(&source, 101, echo);
    assert_eq!(lines, ["outer a", "inner ", "close 1000", "after"]);
    assert_eq!((left.opened, left.open), (2, 0));
}

/// A VU that ends in the midst of its socket leaves nothing, although its handlers hold the socket.
#[test]
fn a_blocking_socket_is_cut_off() {
    let source = "export default () => { ws.connect(URL, (s) => { s.on('message', () => s.ping()); s.setInterval(() => s.send('x'), 100); s.setTimeout(() => exec.test.abort(), 450); s.setTimeout(() => s, 9000); }); log('after'); }";
    let (lines, outcome, left) = talk(source, 101, echo);
    assert_eq!((lines.len(), left.opened, left.open), (0, 1, 0), "{lines:?}");
    assert_eq!(sum(&outcome, "ws_sessions"), 1.0);
}

/// An interval that was missed while the script did something else runs once, and then in step.
#[test]
fn a_blocking_socket_drops_missed_ticks() {
    let source = format!(
        "{LOGS} export default () => {{ open((s) => {{ s.setInterval(() => log('tick'), 100); s.setTimeout(() => {{ sleep(0.45); log('slept'); }}, 150); s.setTimeout(() => log('in step'), 690); s.setTimeout(() => s.close(1000), 710); }}); }}"
    );
    let (lines, _, left) = talk(&source, 101, echo);
    assert_eq!(lines, ["tick", "slept", "tick", "in step", "tick", "close 1000"]);
    assert_eq!((left.opened, left.open), (1, 0));
}

/// What is no use of a socket throws, and the socket goes on.
#[test]
fn a_blocking_socket_says_what_it_does_not_take() {
    let cases = [
        ("ws.connect(url)", "last argument to ws.connect must be a function"),
        ("ws.connect(url, {}, 7)", "last argument to ws.connect must be a function"),
        ("ws.connect(url, 7, () => {})", "invalid ws.connect() parameters"),
        ("s.sendBinary()", "missing argument, expected ArrayBuffer"),
        ("s.sendBinary(null)", "expected ArrayBuffer as argument, received: null"),
        ("s.sendBinary('x')", "expected ArrayBuffer as argument, received: String"),
        ("s.sendBinary(7)", "expected ArrayBuffer as argument, received: Number"),
        ("s.sendBinary({})", "expected ArrayBuffer as argument, received: Object"),
        (
            "s.sendBinary(new Uint8Array(2))",
            "expected ArrayBuffer as argument, received: Uint8Array",
        ),
        ("s.setTimeout(7, 7)", "socket.setTimeout() needs a function"),
        ("s.setTimeout(() => {}, 0)", "setTimeout requires a >0 timeout parameter, received 0.00"),
        (
            "s.setInterval(() => {}, -1.5)",
            "setInterval requires a >0 timeout parameter, received -1.50",
        ),
        (
            "s.setTimeout(() => {}, 1e-7)",
            "setTimeout requires a >0 timeout parameter, received 0.00",
        ),
        ("s.setInterval(() => {})", "setInterval requires a >0 timeout parameter, received NaN"),
        ("for (;;) s.on('ping', () => {})", "a socket has at most 10000 handlers"),
    ];
    let tried: Vec<_> = cases.iter().map(|(call, _)| format!("() => {{ {call}; }}")).collect();
    let source = format!(
        "{LOGS} export default () => {{ open((s) => {{ s.on('message', (m) => {{ log(m); s.close(1000); }}); \
         for (const call of [{}]) try {{ call(); log('no exception'); }} catch (e) {{ log(e.message); }} s.send('a'); }}); }}",
        tried.join(", ")
    );
    let (lines, _, left) = talk(&source, 101, echo);
    let words = cases.map(|(_, words)| words);
    assert_eq!(lines, [&words[..], &["a", "close 1000"]].concat());
    assert_eq!((left.opened, left.open), (1, 0));
}

/// What a hostile server sends is a counted failure with a reason, and ends the socket.
#[test]
fn hostile_servers_end_their_sockets() {
    let huge = [&[0x82, 127][..], &u64::MAX.to_be_bytes()].concat();
    let cases: [(&[u8], &str, u16); 5] = [
        (&huge, "websocket: ", 1002),
        (&[0x81, 0x81, 1, 2, 3, 4, 5], "websocket: ", 1002),
        (&[0x81, 0x02, 0xff, 0xfe], "websocket: ", 1007),
        (&[0xf1, 0x00], "websocket: ", 1002),
        (&[0x88, 0x02, 0x0f, 0xa2], "websocket: close 4002", 4002),
    ];
    for (bytes, error, code) in cases {
        let source = format!("{LOGS} export default () => {{ open(() => {{}}); log('after'); }}");
        let (lines, outcome, left) = talk(&source, 101, |line, received| {
            if matches!(received, Received::Opened) {
                line.out.extend_from_slice(bytes);
            }
        });
        assert!(lines[0].starts_with(&format!("error {error}")), "{bytes:?}: {lines:?}");
        assert_eq!(lines[1..], [format!("close {code}"), "after".to_owned()], "{bytes:?}");
        assert_eq!(
            (left.open, outcome.iterations, outcome.interrupted),
            (0, 1, 0),
            "{lines:?} {bytes:?} {:?}",
            outcome.exception
        );
    }
}

#[test]
fn a_server_that_vanishes_is_reported() {
    let source = format!(
        "{LOGS} export default () => {{ open((s) => s.on('open', () => s.send('go'))); const w = new WebSocket(URL); w.onerror = (e) => log('event', e.error); w.onclose = (e) => log('event', e.code); w.onopen = () => w.send('go'); }}"
    );
    let (lines, _, left) = talk(&source, 101, |line, received| {
        line.vanishes |= matches!(received, Received::Text("go"));
    });
    let abnormal = "websocket: close 1006 (abnormal closure): unexpected EOF";
    let expect = [
        format!("error {abnormal}"),
        "close 1006".to_owned(),
        format!("event {abnormal}"),
        "event 1006".to_owned(),
    ];
    assert_eq!((lines, left.open), (expect.into(), 0));
}

#[test]
fn who_refuses_is_named_and_no_vu_waits() {
    for status in [0, 200, 403] {
        let source = "export default () => { const r = ws.connect(URL, () => log('set up')); log(r.status, r.error); log(cable.connect(URL)); }";
        let (lines, outcome, left) = talk(source, status, echo);
        let why = if status == 0 { "connection refused" } else { "websocket: bad handshake" };
        assert!(lines.contains(&format!("{status} {why}")), "{lines:?}");
        assert!(lines.contains(&"null".to_owned()), "{lines:?}");
        assert_eq!((left.opened, sum(&outcome, "ws_sessions")), (0, 2.0));
        // As k6 has it, that of k6/ws was a session that lasted as long as it took to be refused.
        let lasted = outcome.tally.value("ws_session_duration").map(metrics::tally::Value::count);
        assert_eq!(lasted, Some(1), "{status}");
    }
}

/// A VU that looks elsewhere is not flooded: its socket stalls, and goes on once it has caught up.
#[test]
fn a_flood_waits_at_the_server() {
    let source = "export default () => { let n = 0; ws.connect(URL, (s) => { s.on('message', (m) => { if (n++ === 0) sleep(1); if (m === 'last') s.close(); }); s.on('open', () => s.send('go')); }); log(n); }";
    let (lines, _, left) = talk(source, 101, |line, received| {
        if matches!(received, Received::Text("go")) {
            (0..5_000).for_each(|_| send_text(line, "x"));
            send_text(line, "last");
        }
    });
    assert_eq!(lines, ["5001"]);
    assert!(left.holds > 0 && left.resumes == left.holds, "{left:?}");
}

/// A socket ends with its iteration, whatever its script left behind.
#[test]
fn a_script_that_throws_leaves_no_socket() {
    for source in [
        "export default () => { ws.connect(URL, (s) => s.on('open', () => { throw new Error('x'); })); }",
        "export default () => { const w = new WebSocket(URL); w.onopen = () => { throw new Error('x'); }; }",
        "export default () => { const w = new WebSocket(URL); w.onopen = () => exec.test.abort(); }",
        "export default () => { const c = cable.connect(URL); throw new Error('x'); }",
    ] {
        let (_, outcome, left) = talk(source, 101, |line, received| {
            if matches!(received, Received::Opened) {
                send_text(line, r#"{"type":"welcome"}"#);
            }
        });
        assert_eq!((left.opened, left.open), (1, 0), "{source}");
        assert_eq!(sum(&outcome, "ws_sessions"), 1.0, "{source}");
    }
}

/// Action Cable's server in a few lines: confirms all but `No…`, says nothing to `Mute…`, echoes what is performed.
fn rails(line: &mut Line, received: Received<'_>) {
    let text = match received {
        Received::Opened => return send_text(line, r#"{"type":"welcome"}"#),
        Received::Text(text) => text,
        Received::Close => return,
    };
    let command: serde_json::Value = serde_json::from_str(text).expect("a command");
    let identifier = command["identifier"].as_str().unwrap_or_default();
    let kind = match command["command"].as_str() {
        Some("message") => {
            let data: serde_json::Value =
                serde_json::from_str(command["data"].as_str().unwrap_or_default()).expect("data");
            send_text(line, r#"{"type":"ping","message":1}"#);
            let message = serde_json::json!({ "identifier": identifier, "message": data });
            return send_text(line, &message.to_string());
        }
        Some("subscribe") if identifier.contains("Mute") => return,
        Some("subscribe") if identifier.contains("No") => "reject_subscription",
        Some("subscribe") => "confirm_subscription",
        _ => return,
    };
    let reply = serde_json::json!({ "type": kind, "identifier": identifier });
    send_text(line, &reply.to_string());
}

#[test]
fn a_cable_subscribes_performs_and_receives() {
    let source = "export default () => { const c = cable.connect(URL, { receiveTimeoutMs: 300 }); const a = c.subscribe('A', { z: 1, b: 2 }); \
        for (const n of [1, 2, 3]) a.perform('do', { n, deep: { x: [n] } }); \
        log(a.receive((m) => m.n === 2).n, a.receive({ deep: { x: [3] } }).action, a.receive()); \
        try { c.subscribe('No'); } catch (e) { log(e.message.includes('rejected')); } \
        try { c.subscribe('Mute'); } catch (e) { log(e.message.includes('timeout')); } \
        try { cable.connect(URL, { nonsense: 1 }); } catch (e) { log(e.message); } \
        a.perform('do', { n: 4 }); a.perform('do', { n: 5 }); log(a.receiveN(2).map((m) => m.n).join(), a.receiveAll(0.1).length); \
        c.disconnect(); c.disconnect(); log(a.receive()); }";
    let (lines, outcome, left) = talk(source, 101, rails);
    let logged: Vec<&String> = lines.iter().filter(|line| !line.contains("exceeded;")).collect();
    let expect = [
        "2 do null",
        "true",
        "true",
        "cable.connect(): unknown option: nonsense",
        "4,5 0",
        "the connection is closed: nothing is received any more",
        "null",
    ];
    assert_eq!(logged, expect);
    assert_eq!((left.opened, left.open), (1, 0));
    assert_eq!(sum(&outcome, "ws_msgs_sent"), 8.0, "three subscriptions and five actions");
    assert_eq!(sum(&outcome, "ws_msgs_received"), 7.0, "pings and the welcome are not counted");
}

/// A client may be kept from one iteration to the next; it is closed with its VU's work.
#[test]
fn a_cable_outlives_its_iteration() {
    let source = "let kept; export default () => { kept ??= cable.connect(URL).subscribe('A'); kept.perform('do', { i: __ITER }); log(kept.receive().i); }";
    let (lines, outcome, left) = talk_for(3, source, 101, rails);
    assert_eq!((lines, outcome.iterations), (["0", "1", "2"].map(str::to_owned).into(), 3));
    assert_eq!((left.opened, left.open), (1, 0));
}

/// The last message is sent, although the iteration does not wait for it.
#[test]
fn the_last_words_of_an_iteration_are_sent() {
    let source = "export default () => { const c = cable.connect(URL); const a = c.subscribe('A'); a.perform('bye', {}); c.disconnect(); }";
    let mut events = Vec::new();
    let (_, outcome, left) = talk_for(4, source, 101, |line, received| {
        match &received {
            Received::Text(text) if text.contains("bye") => events.push("bye"),
            Received::Close => events.push("close"),
            _ => {}
        }
        rails(line, received);
    });
    assert_eq!(events, ["bye", "close"].repeat(4));
    // One closes in the turn in which the next one opens.
    assert_eq!((left.opened, left.open_max), (4, 2));
    assert_eq!(sum(&outcome, "ws_msgs_sent"), 8.0);
    let source = "export default () => ws.connect(URL, (s) => s.on('open', () => { s.send('x'); s.close(3000); }))";
    let mut events = Vec::new();
    talk_for(2, source, 101, |_, received| match received {
        Received::Text(text) => events.push(text.to_owned()),
        Received::Close => events.push("close".to_owned()),
        Received::Opened => {}
    });
    assert_eq!(events, ["x", "close", "x", "close"]);
}

/// A client whose iteration failed is not in the way of the next one's, however much its server sends.
#[test]
fn a_failed_iteration_leaves_no_client() {
    let source = "export default () => { const c = cable.connect(URL); const a = c.subscribe('A'); for (let i = 0; i < 50; i++) a.perform('do', { i }); log(a.receive().i); throw new Error('x'); }";
    let (lines, outcome, left) = talk_for(4, source, 101, rails);
    assert_eq!(lines.iter().filter(|line| *line == "0").count(), 4, "{lines:?}");
    assert_eq!((outcome.iterations, left.opened, left.open_max), (4, 4, 2));
}

/// More than one turn's worth of messages keep their order, though new ones come while old ones wait.
#[test]
fn events_keep_their_order() {
    let source = "export default () => { const w = new WebSocket(URL); let n = 0; w.onopen = () => w.send('go'); w.onmessage = (e) => { if (n === 0) sleep(1); if (Number(e.data) !== n++) log('order', e.data, n); if (n % 100 === 0) { w.send('more'); sleep(0.01); } }; w.onclose = () => log('closed after', n); }";
    let mut next = 0;
    let (lines, _, _) = talk(source, 101, |line, received| {
        let Received::Text(text) = received else { return };
        let many = if text == "go" { 400 } else { 100 };
        if next < 900 {
            (next..next + many).for_each(|n| send_text(line, &n.to_string()));
            next += many;
        } else if !line.session.sent_close() {
            line.session.close(Some(1000), "", &mut line.out);
        }
    });
    assert_eq!(lines, ["closed after 900"]);
}

#[test]
fn pings_find_their_pongs_and_ignored_messages_are_counted() {
    let source = "export default () => { ws.connect(URL, (s) => { s.on('open', () => { s.ping(); s.ping(); }); let n = 0; s.on('pong', () => { if (++n === 2) s.close(); }); }); \
        const c = cable.connect(URL, { handshakeTimeoutS: 1 }); }";
    let (_, outcome, _) = talk(source, 101, echo);
    assert!(matches!(outcome.tally.value("ws_ping"), Some(Value::Trend(_))));
    let source = "export default () => { const c = cable.connect(URL); const a = c.subscribe('A'); a.ignoreReads(); for (let i = 0; i < 3_000; i++) a.perform('do', { i }); sleep(1); log(a.receive()); }";
    let (lines, outcome, left) = talk(source, 101, rails);
    assert!(lines.contains(&"null".to_owned()), "{lines:?}");
    assert_eq!((sum(&outcome, "ws_msgs_received"), left.holds), (3_001.0, 0));
}

#[test]
fn a_cable_without_a_welcome_is_none() {
    let source = "export default () => { log(cable.connect(URL, { handshakeTimeoutS: 2 })); }";
    let (lines, _, left) = talk(source, 101, echo);
    assert_eq!(lines, ["failed to connect: no welcome within 2s", "null"]);
    assert_eq!(left.open, 0);
}
