//! Many connections, and the two ways to wait for them.

use std::io::{Read, Write};
use std::net::{IpAddr, TcpListener};
use std::process::{Command, Stdio};

use demo::Config;
use stdx::Bytes;

use crate::{Ran, Scratch, run, server, start, text, until};

/// Runs brunt where the shell allows so many descriptors.
fn limited(limits: &str, args: &str) -> Ran {
    let mut command = Command::new("sh");
    let line = format!("{limits}; exec {} {args}", env!("CARGO_BIN_EXE_brunt"));
    command.args(["-c", &line]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    start(command).wait()
}

#[test]
fn the_limit_of_descriptors_is_raised_and_said_where_it_is_too_low() {
    let (_server, url) = server(Config::default());
    let bench = format!("bench -cpus 1 -c 150 -n 600 -json {url}/");
    let raised = limited("ulimit -Sn 100", &bench).with_code(0);
    assert_eq!((raised.stderr.as_str(), &raised.json()["success"]), ("", &1.into()));
    let low = limited("ulimit -n 100", &bench).with_code(0);
    low.complains_once(&[
        "150 connections were asked for and about 64 can be open (limit of descriptors: 100)",
        "ulimit -Hn",
    ]);
    let failed = low.json()["brunt"]["generator"]["descriptors_exhausted"].as_u64().unwrap();
    assert!(failed > 0, "those beyond the limit fail, and are counted: {}", low.stdout);
}

#[test]
fn two_thousand_connections_either_way() {
    let (server, url) = server(Config::default());
    for io in ["poll", "uring"] {
        let before = server.stats().requests;
        let json =
            run(&format!("bench -c 2000 -n 10000 -io {io} -json {url}/")).with_code(0).json();
        assert_eq!((&json["requests"], &json["success"]), (&10_000.into(), &1.into()), "{json}");
        assert_eq!(json["brunt"]["generator"]["connections"], 2000, "{io}");
        // It counts at the end of a turn, in which it may have answered hundreds.
        until("all are counted", || server.stats().requests - before >= 10_000);
        assert_eq!(server.stats().requests - before, 10_000, "{io}");
    }
}

#[test]
fn the_report_says_how_sockets_were_waited_for() {
    let (_server, url) = server(Config::default());
    let poll = if cfg!(target_os = "linux") { "epoll" } else { "kqueue" };
    for (io, name) in [("poll", poll), ("uring", "io_uring")] {
        let json = run(&format!("bench -n 100 --io={io} -json {url}/")).with_code(0).json();
        assert_eq!(json["brunt"]["generator"]["io"], name);
    }
    let wrong = run("bench --io=best http://127.0.0.1:1/").with_code(2);
    assert!(wrong.stderr.contains("flag -io: \"best\" is not one of auto, poll, uring"));
}

/// Scripts and cables know both ways as well, and take io_uring from 8 users on by themselves.
#[test]
fn scripts_and_cables_are_waited_for_either_way() {
    let (_server, url) =
        server(Config { cable: Some(demo::Cable::default()), ..Config::default() });
    let scratch = Scratch::new("many-io");
    let source =
        format!("import http from 'k6/http'; export default function () {{ http.get('{url}/') }}");
    let script = scratch.file("get.js", source);
    let (poll, uring) =
        if cfg!(target_os = "linux") { ("epoll", "io_uring") } else { ("kqueue", "kqueue") };
    let cable = format!("{}/cable", url.replace("http://", "ws://"));
    for (flags, users, name) in
        [("", 7, poll), ("", 8, uring), ("-io poll", 20, poll), ("-io uring", 2, "io_uring")]
    {
        let rows = text(&scratch.path("rows.arrow"));
        run(&format!("run -q --no-summary -u {users} -i 40 {flags} -o {rows} {script}"))
            .with_code(0);
        let json = run(&format!("report -type=json {rows}")).with_code(0).json();
        assert_eq!(json["brunt"]["generator"]["io"], name, "run {flags} -u {users}");
        assert_eq!((&json["requests"], &json["success"]), (&40.into(), &1.into()), "{json}");
        let line = format!(
            "cable echo {cable} -channel EchoChannel -perform echo:{{\"x\":\"{{token}}\"}} -users {users} -rate 50 -d 200ms -q -o {rows} {flags}"
        );
        run(&line).with_code(0);
        let json = run(&format!("report -type=json {rows}")).with_code(0).json();
        assert_eq!(json["brunt"]["generator"]["io"], name, "cable {flags} -users {users}");
    }
}

/// Issue 14: 4,000 connections, and as many users of a script, were dialled in one go, and nothing else was done meanwhile.
#[test]
fn thousands_begin_without_standing_still() {
    let (_server, url) = server(Config::default());
    let scratch = Scratch::new("many-begin");
    let json = run(&format!("bench -c 4000 -d 5s -json {url}/")).with_code(0).json();
    let generator = &json["brunt"]["generator"];
    assert_eq!((&generator["connections"], &json["success"]), (&4000.into(), &1.into()), "{json}");
    let source =
        format!("import http from 'k6/http'; export default function () {{ http.get('{url}/') }}");
    let script = scratch.file("get.js", source);
    let rows = text(&scratch.path("rows.arrow"));
    run(&format!("run -q --no-summary -u 2000 -d 5s -o {rows} {script}")).with_code(0);
    let json = run(&format!("report -type=json {rows}")).with_code(0).json();
    assert_eq!(json["brunt"]["generator"]["connections"], 2000, "{json}");
    assert_eq!(json["success"], 1, "{json}");
}

/// Issue 14, N5: 200 users with 40 descriptors failed 100,000 times a second and did nothing else.
#[test]
fn users_without_descriptors_do_not_spin() {
    let (_server, url) = server(Config::default());
    let line = format!("bench -cpus 1 -c 200 -d 1s -timeout 1s -json {url}/hang");
    let json = limited("ulimit -n 60", &line).with_code(0).json();
    let generator = &json["brunt"]["generator"];
    let failed = generator["descriptors_exhausted"].as_u64().unwrap();
    assert!((1..=1_100).contains(&failed), "{failed} a second");
    let pauses = generator["pauses"].as_u64().unwrap();
    // One more may fail once nothing is begun any more.
    assert!((pauses..=pauses + 1).contains(&failed), "{json}");
    assert!(generator["cpu_busiest"].as_f64().unwrap() < 0.7, "{json}");
    let text = limited("ulimit -n 60", &line.replace(" -json", "")).with_code(0);
    assert!(text.stdout.contains("[pauses of 1ms for them]"), "{}", text.stdout);
}

#[test]
fn large_bodies_and_short_connections_either_way() {
    let (_large, large) = server(Config { body: Bytes(3_000_000), ..Config::default() });
    let (_small, small) = server(Config::default());
    for io in ["poll", "uring"] {
        let json = run(&format!("bench -n 40 -c 4 -io {io} -json {large}/")).with_code(0).json();
        assert_eq!(
            (&json["success"], &json["bytes_in"]["total"]),
            (&1.into(), &120_000_000.into())
        );
        let short = format!("bench -n 2000 -c 20 -k=false -io {io} -json {small}/");
        let json = run(&short).with_code(0).json();
        assert_eq!((&json["requests"], &json["success"]), (&2000.into(), &1.into()), "{json}");
        assert_eq!(json["brunt"]["generator"]["connections"], 2000, "{io}");
    }
}

/// Every address of 127.0.0.0/8 is ours on Linux alone.
#[cfg(target_os = "linux")]
#[test]
fn several_local_addresses_share_the_connections() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let peers = std::thread::spawn(move || {
        let answer = |(mut conn, from): (std::net::TcpStream, std::net::SocketAddr)| -> IpAddr {
            assert!(conn.read(&mut [0; 4096]).unwrap() > 0);
            conn.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
            from.ip()
        };
        (0..30).map(|_| answer(listener.accept().unwrap())).collect::<Vec<IpAddr>>()
    });
    let flags = "-c 1 -n 30 -k=false -laddr 127.0.0.2,127.0.0.3 -laddr 127.0.0.4";
    let json = run(&format!("bench {flags} -json {url}")).with_code(0).json();
    assert_eq!(json["success"], 1, "{json}");
    let peers = peers.join().unwrap();
    for local in ["127.0.0.2", "127.0.0.3", "127.0.0.4"] {
        let local: IpAddr = local.parse().unwrap();
        assert_eq!(peers.iter().filter(|peer| **peer == local).count(), 10, "{local}");
    }
}
