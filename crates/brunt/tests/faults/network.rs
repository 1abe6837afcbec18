//! Name servers that never answer, and a machine without ports.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use crate::case::{Case, run_all};
use crate::stage::{Stage, no_bug};
use crate::{signal, until};

/// Loads on a name, with the name server given.
#[rustfmt::skip]
const LOADS: &[(&str, &str, i32)] = &[
    ("attack", "attack -targets=named -rate=10 -duration=1s -timeout=1s -resolvers={dns} -output=out.arrow", 0),
    ("bench", "bench -c 2 -d 1s -timeout=1s -resolvers={dns} -output=out.arrow http://silent.example/", 0),
    ("seek", "seek -objective=p99<2s -max-steps=1 -step=500ms -warmup=0s -timeout=1s -resolvers={dns} http://silent.example/", 6),
    ("cable", "cable echo ws://silent.example/cable -channel EchoChannel -perform echo:{\"x\":\"{token}\"} -users 2 -rate 50 -d 1s -timeout=1s -resolvers={dns}", 9),
    ("vegeta attack", "vegeta attack -targets=named -rate=10 -duration=1s -timeout=1s -resolvers={dns} -output=out.gob", 0),
];

#[test]
fn name_servers_that_are_silent_cost_a_time_limit() {
    let case = |&(name, line, code): &'static (&'static str, &'static str, i32)| {
        Case::new(name, move || {
            let (stage, _socket, line) = silent(name, line);
            let begin = Instant::now();
            let ran = stage.run(&line);
            no_bug(&ran);
            assert!(begin.elapsed() < Duration::from_secs(15), "{:?}", begin.elapsed());
            assert!(ran.code == Some(code) || name == "cable", "{ran:#?}");
            if line.contains("out.") {
                let file = line.split("-output=").nth(1).unwrap().split(' ').next().unwrap();
                let json = stage.report(file).with_code(0).json();
                assert_eq!(json["success"], 0, "{json}");
                assert!(json["errors"].to_string().contains("silent.example"), "{json}");
            }
        })
    };
    run_all("silent name server", LOADS.iter().map(case).collect());
}

/// What waits for a name ends at signals all the same.
#[test]
fn who_waits_for_a_name_can_be_stopped() {
    let case = |&(name, line, code): &'static (&'static str, &'static str, i32)| {
        Case::new(name, move || {
            let line =
                line.replace("-timeout=1s", "").replace("=1s", "=60s").replace("-d 1s", "-d 60s");
            let (stage, socket, line) = silent(&format!("stop-{name}"), &line);
            let started = stage.start(&line);
            socket.recv(&mut [0; 512]).unwrap();
            let asked = Instant::now();
            signal("INT", started.pid());
            until("the first is seen", || caught_all(started.pid()));
            signal("TERM", started.pid());
            let ran = started.wait();
            no_bug(&ran);
            assert!(asked.elapsed() < Duration::from_secs(8), "{:?} {ran:#?}", asked.elapsed());
            assert!([Some(code), Some(0)].contains(&ran.code), "{ran:#?}");
        })
    };
    run_all("silent name server, stopped", LOADS.iter().map(case).collect());
}

/// No signal waits for its handler. A process that has ended has none.
fn caught_all(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let pending = status.lines().find_map(|line| line.strip_prefix("ShdPnd:"));
    pending.is_none_or(|bits| bits.trim().chars().all(|bit| bit == '0'))
}

/// A name server that takes questions and answers none.
fn silent(name: &str, line: &str) -> (Stage, UdpSocket, String) {
    let stage = Stage::new(&format!("dns-{name}"));
    stage.scratch.file("named", "GET http://silent.example/\n");
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let line = line.replace("{dns}", &socket.local_addr().unwrap().to_string());
    (stage, socket, line)
}

/// A namespace whose system has twenty ports to give.
#[test]
fn without_ports_a_load_goes_on_and_says_so() {
    let lines = [
        ("bench", "bench -c 40 -d 1s -keepalive=false -output=out.arrow http://127.0.0.1:18080/"),
        (
            "attack",
            "attack -targets=local -rate=200 -duration=1s -keepalive=false -output=out.arrow",
        ),
        ("run", "run --no-connection-reuse -u 40 -d 1s -o out.arrow local.js"),
    ];
    // More connections than ports are open at a time. A port is free again at once where the server closes first, which is chance.
    let case = |(name, line): (&'static str, &'static str)| {
        Case::new(name, move || {
            let stage = Stage::new(&format!("ports-{name}"));
            stage.scratch.file("local", "GET http://127.0.0.1:18080/\n");
            let script = "import http from 'k6/http'; export default function () { http.get('http://127.0.0.1:18080/'); }";
            stage.scratch.file("local.js", script);
            let inside = format!(
                "ip link set lo up && echo 40000 40019 > /proc/sys/net/ipv4/ip_local_port_range || exit 99
                 $BRUNT serve -listen 127.0.0.1:18080 -workers=100 -service=fixed:300ms > served & server=$!
                 until grep -q listening served; do :; done
                 $BRUNT {line}; code=$?; kill $server; wait $server; exit $code"
            );
            stage.scratch.file("inside.sh", inside);
            let ran = stage.shell("unshare -rn bash inside.sh");
            assert_ne!(ran.code, Some(99), "apt-get install -y iproute2, and namespaces: {ran:#?}");
            no_bug(&ran);
            assert_eq!(ran.code, Some(0), "{ran:#?}");
            let json = stage.report("out.arrow").with_code(0).json();
            assert_eq!(json["brunt"]["verdict"], "INVALID", "{json}");
            assert!(json["brunt"]["generator"]["ports_exhausted"].as_u64().unwrap() > 0, "{json}");
        })
    };
    run_all("no ports", lines.map(case).into());
}
