//! The server's side of a real Rails application on a real Puma: its log beside what the client saw, in reports and pictures.

use std::fs::File;

use metrics::server::{Reading, Row};
use results::{Detail, Encoding, StreamInfo, writer};
use serde_json::Value;

use crate::rails::Rails;
use crate::{Ran, Scratch, brunt, run, signal, start, text, until};

/// Pages with a database and views, pages that only wait, and failures.
const TARGETS: &str = "GET {}/items/1\nGET {}/items/2?page=3\nGET {}/wait?ms=20\nGET {}/fail\n";

/// Attacks the application; gives the results' file.
fn attack(rails: &Rails, scratch: &Scratch, flags: &str) -> String {
    let targets = TARGETS.replace("{}", &format!("http://127.0.0.1:{}", rails.port));
    let targets = scratch.file("targets.txt", targets);
    let file = text(&scratch.path("run.arrow"));
    run(&format!("attack -rate=40 -duration=3s -targets={targets} -output={file} {flags}"))
        .with_code(0);
    file
}

/// What a watcher would have written: the rows of the application's log, and a machine read each second.
fn watched(rails: &Rails, scratch: &Scratch) -> String {
    let log = std::fs::read(rails.folder().path("rails.log")).unwrap();
    let mut parser = monitor::log::parser("rails", None, "web1").unwrap();
    let (mut rows, now) = (Vec::new(), now());
    for line in log.split(|byte| *byte == b'\n') {
        parser.line(line, now, &mut rows);
    }
    parser.finish(now, &mut rows);
    let first = rows.iter().map(Row::at).min().unwrap_or(now);
    for second in 0..4 {
        let values = [("load1", 1.5), ("cpu", 0.75), ("cores", 2.0)]
            .map(|(name, value)| (name.to_owned(), value));
        let (at, host, source) =
            (first + second * 1_000_000_000, "web1".to_owned(), "machine".to_owned());
        rows.push(Row::Reading(Reading { at, host, source, values: values.into() }));
    }
    rows.sort_by_key(Row::at);
    let path = scratch.path("watch.arrow");
    let info = StreamInfo {
        version: "0.1.0".into(),
        epoch: first,
        attack: String::new(),
        seed: 0,
        has_tags: false,
        detail: Detail::Full,
        ..StreamInfo::default()
    };
    let mut writer =
        writer(Encoding::Arrow, Box::new(File::create(&path).unwrap()), &info).unwrap();
    rows.iter().for_each(|row| writer.server(row).unwrap());
    writer.finish().unwrap();
    text(&path)
}

fn now() -> i64 {
    let since = std::time::UNIX_EPOCH.elapsed().unwrap();
    i64::try_from(since.as_nanos()).unwrap()
}

/// The report of a run with tags in its log, as JSON; and both files.
fn reported(name: &str, variables: &[(&str, &str)], flags: &str) -> (Value, String, Rails) {
    let rails = Rails::start_app("pages.ru", name, &["-t", "1:4"], variables);
    let scratch = rails.folder();
    let files = format!("{} {}", attack(&rails, scratch, flags), watched(&rails, scratch));
    let json = run(&format!("report -json {files}")).with_code(0).json();
    (json["brunt"]["server"].clone(), files, rails)
}

/// How many lines of the log hold this text.
fn logged(rails: &Rails, what: &str) -> u64 {
    rails.logged(what)
}

#[test]
fn counts_are_the_logs_and_the_time_between_is_known_by_request() {
    let (server, files, rails) = reported("side-tags", &[("LOG_TAGS", "1")], "-keep-headers");
    let log = &server["logs"][0];
    let completed = logged(&rails, "Completed ");
    assert_eq!((log["requests"].as_u64(), completed), (Some(completed), 120), "{log}");
    for (code, line) in [("200", "Completed 200"), ("500", "Completed 500")] {
        assert_eq!(log["status_codes"][code].as_u64(), Some(logged(&rails, line)), "{log}");
    }
    let endpoint = |name: &str| {
        let all = log["endpoints"].as_array().unwrap();
        let found = all.iter().find(|one| one["endpoint"] == name);
        found.unwrap_or_else(|| panic!("{name}: {log}"))["requests"].as_u64()
    };
    assert_eq!((endpoint("GET /items/:id"), endpoint("GET /wait")), (Some(60), Some(30)));
    let between = &server["network_and_queue"];
    assert_eq!((&between["by"], &between["requests"]), (&"request".into(), &120.into()));
    assert!(between["50th"].as_i64().is_some_and(|ns| ns > 0), "{between}");
    assert!(log["database"]["count"].as_u64().is_some_and(|count| count >= 60));
    let ran = run(&format!("report {files}")).with_code(0);
    for part in
        ["Machine web1", "rails total", "rails database", "network and queue", "GET /items/:id"]
    {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
    for kind in ["html", "markdown"] {
        let ran = run(&format!("report -type={kind} {files}")).with_code(0);
        assert!(ran.stdout.contains("GET /items/:id"), "{kind}: {}", ran.stdout);
    }
    let csv = run(&format!("encode -to=csv {files}")).with_code(0);
    assert_eq!(csv.stdout.lines().count(), 120, "Vegeta's form has no place for a server's rows");
}

#[test]
fn bare_lines_of_one_worker_join_by_their_order() {
    let (server, ..) = reported("side-plain", &[("LOG_PLAIN", "1")], "-max-workers=1");
    let log = &server["logs"][0];
    assert_eq!(log["requests"], 120);
    assert_eq!(server["network_and_queue"]["by"], "quantile");
    let endpoint = |name: &str| {
        let all = log["endpoints"].as_array().unwrap();
        let one = all.iter().find(|one| one["endpoint"] == name);
        let one = one.unwrap_or_else(|| panic!("{name}: {log}"));
        ["requests", "errors", "database", "mean"].map(|key| one[key].as_u64().unwrap())
    };
    // Each has what its action alone does: only items ask the database, only failures fail, only waiting takes 20 ms.
    let [requests, errors, database, _] = endpoint("GET /items/:id");
    assert_eq!((requests, errors, database > 0), (60, 0, true), "{log}");
    let [requests, errors, database, mean] = endpoint("GET /wait");
    assert_eq!((requests, errors, database, mean >= 20_000_000), (30, 0, 0, true), "{log}");
    let [requests, errors, database, _] = endpoint("GET /fail");
    assert_eq!((requests, errors, database), (30, 30, 0), "{log}");
    assert_eq!(server["incidents"].as_array().map(Vec::len), Some(0), "{server}");
}

#[test]
fn both_sides_are_drawn_together() {
    let (_, files, rails) = reported("side-drawn", &[], "");
    let path = |name: &str| text(&rails.folder().path(name));
    let drawn = |flags: &str, file: &str| -> Ran {
        run(&format!("plot {flags} -output={file} {files}")).with_code(0)
    };
    for (kind, ending) in
        [("percentiles", "svg"), ("time", "svg"), ("percentiles", "png"), ("time", "html")]
    {
        let file = path(&format!("{kind}.{ending}"));
        drawn(&format!("-server={kind}"), &file);
        let bytes = std::fs::read(&file).unwrap();
        let drawn = String::from_utf8_lossy(&bytes);
        match (kind, ending) {
            ("percentiles", "svg") => {
                for curve in ["Client", "Server, total", "Server, views", "Server, database"] {
                    assert!(drawn.contains(&format!(">{curve}</text>")), "{curve}");
                }
            }
            (_, "png") => assert!(bytes.starts_with(b"\x89PNG")),
            _ => assert!(drawn.contains("Processors") && drawn.contains("Times")),
        }
    }
    let first = files.split(' ').next().unwrap();
    run(&format!("plot -server=time {first}"))
        .with_code(2)
        .complains_once(&["no rows of the server's side"]);
    let moved = run(&format!("report -server-offset=-2s {files}")).with_code(0);
    assert!(moved.stdout.contains("moved by 2s to earlier ones"), "{moved:#?}");
}

/// As the guide has it: a watcher of the application's port and log in a file of its own, and beside the run.
#[test]
fn a_watcher_gives_capacity_and_the_logs_counts() {
    let rails = Rails::start_app("pages.ru", "side-watch", &["-t", "1:4"], &[("LOG_TAGS", "1")]);
    let (scratch, log) = (rails.folder(), text(&rails.folder().path("rails.log")));
    let out = text(&scratch.path("server.arrow"));
    let what = format!("port={} WATCHlog=rails:{log} WATCHevery=200ms", rails.port);
    let flags = what.replace("WATCH", "-");
    let watching = start(brunt(&format!("watch -{flags} -output={out}")));
    until("the watcher writes", || std::fs::metadata(&out).is_ok_and(|file| file.len() > 0));
    let beside = format!("-watch -watch-{}", what.replace("WATCH", "-watch-"));
    let file = attack(&rails, scratch, &beside);
    signal("TERM", watching.pid());
    watching.wait().with_code(0);
    let alone = run(&format!("report -json {out}")).with_code(0).json();
    let own = run(&format!("report -json {file}")).with_code(0).json();
    for (told, server) in
        [("alone", &alone["brunt"]["server"]), ("beside", &own["brunt"]["server"])]
    {
        assert_eq!(server["logs"][0]["requests"], 120, "{told}: {server}");
        let capacity = &server["capacity"];
        let number =
            |name: &str| capacity[name].as_f64().unwrap_or_else(|| panic!("{name}: {capacity}"));
        assert!(number("cores") >= 1.0 && number("cores_busy") > 0.0, "{told}: {capacity}");
        assert!((1e-4..0.5).contains(&number("cpu_per_request_s")), "{told}: {capacity}");
        // Four targets in turn, 40 a second.
        assert!((20.0..60.0).contains(&number("requests_per_s")), "{told}: {capacity}");
        assert!((0.9..1.1).contains(&number("processes")), "{told}: {capacity}");
    }
    assert_eq!(own["requests"], 120);
    assert_eq!(
        (&alone["requests"], &alone["brunt"]["server"]["network_and_queue"]),
        (&0.into(), &Value::Null)
    );
}
