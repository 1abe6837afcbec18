//! Many connections, and the two ways to wait for them.

use std::process::{Command, Stdio};

use demo::Config;
use stdx::Bytes;

use crate::{Ran, run, server, start};

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
    for io in ["mio", "uring"] {
        let before = server.stats().requests;
        let json =
            run(&format!("bench -c 2000 -n 10000 -io {io} -json {url}/")).with_code(0).json();
        assert_eq!((&json["requests"], &json["success"]), (&10_000.into(), &1.into()), "{json}");
        assert_eq!(json["brunt"]["generator"]["connections"], 2000, "{io}");
        assert_eq!(server.stats().requests - before, 10_000, "{io}");
    }
}

#[test]
fn the_report_says_how_sockets_were_waited_for() {
    let (_server, url) = server(Config::default());
    let mio = if cfg!(target_os = "linux") { "epoll" } else { "kqueue" };
    for (io, name) in [("mio", mio), ("uring", "io_uring")] {
        let json = run(&format!("bench -n 100 --io={io} -json {url}/")).with_code(0).json();
        assert_eq!(json["brunt"]["generator"]["io"], name);
    }
    let wrong = run("bench --io=best http://127.0.0.1:1/").with_code(2);
    assert!(wrong.stderr.contains("flag -io: \"best\" is not one of auto, mio, uring"));
}

#[test]
fn large_bodies_and_short_connections_either_way() {
    let (_large, large) = server(Config { body: Bytes(3_000_000), ..Config::default() });
    let (_small, small) = server(Config::default());
    for io in ["mio", "uring"] {
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
