//! `serve` and `demo`.

use crate::{Scratch, brunt, first_line, pipe, signal, start, text};

#[test]
fn serve_says_where_and_counts_what() {
    let scratch = Scratch::new("serve");
    let socket = text(&scratch.path("socket"));
    let args = format!(
        "serve --listen 127.0.0.1:0 --listen unix:{socket} --workers 2 --service fixed:5ms --body 1KB"
    );
    let mut server = start(brunt(&args));
    let line = first_line(server.child().stdout.as_mut().unwrap());
    let url = line
        .strip_prefix("listening on ")
        .and_then(|rest| rest.split(' ').next())
        .unwrap()
        .to_owned();
    assert!(line.ends_with(&format!(" unix:{socket}")), "{line}");
    let (_, ran) =
        pipe("attack -rate=20 -duration=500ms", &format!("GET {url}/\n"), "report -type=json");
    let json = ran.json();
    assert_eq!((&json["requests"], &json["bytes_in"]["total"]), (&10.into(), &(10 * 1024).into()));
    assert!(json["latencies"]["min"].as_u64().unwrap() >= 5_000_000, "{json}");
    signal("TERM", server.pid());
    let ran = server.wait().with_code(0);
    assert!(ran.stderr.contains("\"requests\":10"), "{}", ran.stderr);
}

#[test]
fn serve_speaks_tls() {
    let mut server = start(brunt("serve --listen=127.0.0.1:0 --tls"));
    let line = first_line(server.child().stdout.as_mut().unwrap());
    let url = line.strip_prefix("listening on ").unwrap();
    assert!(url.starts_with("https://"), "{url}");
    let (_, ran) = pipe(
        "attack -insecure -rate=20 -duration=500ms",
        &format!("GET {url}/\n"),
        "report -type=json",
    );
    assert_eq!(ran.json()["status_codes"]["200"], 10);
    signal("INT", server.pid());
    server.wait().with_code(0);
}

#[test]
fn an_address_that_is_taken_is_named() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let ran = start(brunt(&format!("serve --listen {address}"))).wait().with_code(1);
    ran.complains_once(&[&address, "address already in use"]);
    let ran = start(brunt("serve --listen nonsense")).wait().with_code(2);
    ran.complains_once(&["-listen", "nonsense", "expected ADDR:PORT"]);
}

#[test]
fn the_demo_shows_saturation() {
    let scratch = Scratch::new("demo");
    let mut command = brunt("demo");
    command.current_dir(&scratch.0);
    let ran = start(command).wait().with_code(0);
    let requests: Vec<&str> =
        ran.stdout.lines().filter(|line| line.starts_with("Requests")).collect();
    assert_eq!(requests.len(), 2, "{}", ran.stdout);
    assert!(requests[0].contains("560, ") && requests[1].contains("1040, "), "{requests:?}");
    assert!(ran.stdout.contains("Below saturation") && ran.stdout.contains("Above saturation"));
    let page = scratch.path("brunt-demo.html");
    assert!(ran.stdout.contains("brunt-demo.html") && page.exists());
    assert!(ran.stdout.contains("brunt help attack"), "what to try next");
    assert_eq!(ran.stderr, "", "no live progress where it is no terminal");
}
