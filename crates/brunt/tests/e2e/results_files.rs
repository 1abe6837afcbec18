//! Results as files: every format in and out, cut-off and damaged ones, several at once.

use demo::Config;

use crate::{Scratch, brunt, feed, run, server, signal, start, text, until};

/// The totals that every format keeps.
fn totals(file: &str) -> (u64, u64, u64, String) {
    let json = run(&format!("report -type=json {file}")).with_code(0).json();
    let number = |value: &serde_json::Value| value.as_u64().unwrap();
    (
        number(&json["requests"]),
        number(&json["bytes_in"]["total"]),
        number(&json["latencies"]["total"]),
        json["status_codes"].to_string(),
    )
}

#[test]
fn every_format_keeps_the_totals() {
    let (_server, url) = server(Config::default());
    let scratch = Scratch::new("formats");
    let targets = scratch.file("targets", format!("GET {url}/\nGET {url}/status/503\n"));
    let first = text(&scratch.path("r.arrow"));
    run(&format!("attack -targets={targets} -rate=100 -duration=1s -output={first}")).with_code(0);
    let expected = totals(&first);
    assert_eq!((expected.0, expected.3.as_str()), (100, "{\"200\":50,\"503\":50}"));
    let mut from = first;
    for format in ["gob", "csv", "json", "parquet", "arrow"] {
        let to = text(&scratch.path(&format!("r2.{format}")));
        run(&format!("encode -to={format} -output={to} {from}")).with_code(0);
        assert_eq!(totals(&to), expected, "{format}");
        let by_content = text(&scratch.path("no-ending"));
        std::fs::copy(&to, &by_content).unwrap();
        assert_eq!(totals(&by_content), expected, "{format} by content");
        from = to;
    }
}

/// Ten hits into a file of this name.
fn ten_hits(scratch: &Scratch, targets: &str, name: &str) -> String {
    let file = text(&scratch.path(name));
    run(&format!("attack -targets={targets} -rate=20 -duration=500ms -output={file}")).with_code(0);
    file
}

#[test]
fn several_files_are_one_report() {
    let (_server, url) = server(Config::default());
    let scratch = Scratch::new("several");
    let targets = scratch.file("targets", format!("GET {url}/\n"));
    let files = ["a.arrow", "b.gob", "c.csv"].map(|name| ten_hits(&scratch, &targets, name));
    assert_eq!(totals(&files.join(" ")).0, 30);
    // One input that does not know when requests were sent is enough.
    let all = files.join(" ");
    for (files, knows_sends) in [(&files[0], true), (&files[1], false), (&all, false)] {
        let json = run(&format!("report -type=json {files}")).with_code(0).json();
        assert!(!json["brunt"]["in_flight"].is_null(), "{json}");
        assert_eq!(!json["brunt"]["sends"].is_null(), knows_sends, "{json}");
    }
    let json = run(&format!("report -type=json {all}")).with_code(0).json();
    let parts = json["brunt"]["parts"].as_array().unwrap();
    let names: Vec<&str> = parts.iter().filter_map(|part| part["name"].as_str()).collect();
    assert_eq!(names, [&files[0], &files[1], &files[2]], "{json}");
    let gob = std::fs::read(&files[1]).unwrap();
    let twice = [gob.clone(), gob].concat();
    let ran = feed(brunt("report -type=json"), twice).with_code(0);
    assert_eq!(ran.json()["requests"], 20, "gob streams one after the other");
}

#[test]
fn a_killed_run_keeps_all_but_its_last_second() {
    // Also where the second that is lost is the second one, or the third.
    for sent in [390, 490, 600] {
        killed_after(sent);
    }
}

/// Kills an attack of 200 requests a second when so many were answered.
fn killed_after(sent: u64) {
    let (server, url) = server(Config::default());
    let scratch = Scratch::new(&format!("killed-{sent}"));
    let targets = scratch.file("targets", format!("GET {url}/\n"));
    let file = text(&scratch.path("r.arrow"));
    let attack = start(brunt(&format!("attack -targets={targets} -rate=200 -output={file}")));
    until("some seconds' worth", || server.stats().requests > sent);
    signal("KILL", attack.pid());
    let ran = attack.wait();
    let seen = server.stats().requests;
    assert_eq!(ran.code, None);
    let json = run(&format!("report -type=json {file}")).with_code(0).json();
    let kept = json["requests"].as_u64().unwrap();
    // A second's worth, and a quarter of one for a machine that is busy with other tests.
    assert!(kept + 250 >= seen && kept > 0, "{kept} kept of {seen}");
    assert_eq!(json["brunt"]["verdict"], "INVALID", "{json}");
    let cut = std::fs::read(&file).unwrap();
    let half = scratch.file("half.arrow", &cut[..cut.len() - 7]);
    let ran = run(&format!("report {half}")).with_code(0);
    assert!(ran.stdout.contains("INVALID: "), "{}", ran.stdout);
}

#[test]
fn a_parquet_file_without_its_end_was_cut_off() {
    let (_server, url) = server(Config::default());
    let scratch = Scratch::new("parquet-cut");
    let file = text(&scratch.path("r.parquet"));
    run(&format!("bench -c 1 -n 5 -q -to parquet -output={file} {url}/")).with_code(0);
    run(&format!("report {file}")).with_code(0);
    let whole = std::fs::read(&file).unwrap();
    for left in [5, whole.len() - 1] {
        let cut = scratch.file("cut.parquet", &whole[..left]);
        let ran = run(&format!("report {cut}")).with_code(4);
        ran.complains_once(&["its writer was cut off before it wrote the footer"]);
    }
}

#[test]
fn foreign_and_damaged_files_give_one_line() {
    let scratch = Scratch::new("damaged");
    let cases = [
        ("empty", &b""[..]),
        ("foreign", b"\x7fELF\x02\x01\x01 nothing we know"),
        ("text", b"hello, world\nthis is no results file\n"),
    ];
    for (name, content) in cases {
        let file = scratch.file(name, content);
        for command in ["report", "plot", "encode"] {
            let ran = run(&format!("{command} {file}")).with_code(4);
            ran.complains_once(&[name]);
            assert_eq!(ran.stdout, "", "{command} {name}");
        }
        let ran = run(&format!("vegeta report {file}")).with_code(1);
        ran.complains_once(&["encode: can't detect encoding of "]);
    }
    let ran = run(&format!("report {}", text(&scratch.path("missing")))).with_code(3);
    ran.complains_once(&["missing: no such file or directory"]);
}

#[test]
fn a_corrupt_message_is_one_line() {
    let (_server, url) = server(Config::default());
    let scratch = Scratch::new("corrupt");
    let targets = scratch.file("targets", format!("GET {url}/\n"));
    let whole = text(&scratch.path("r.arrow"));
    run(&format!("attack -targets={targets} -rate=20 -duration=200ms -output={whole}"))
        .with_code(0);
    let whole = std::fs::read(whole).unwrap();
    // Enough places that some make the Arrow library panic.
    for at in (8..whole.len()).step_by(whole.len() / 60) {
        let mut bytes = whole.clone();
        bytes[at..(at + 8).min(whole.len())].fill(0x7f);
        let ran = run(&format!("report {}", scratch.file("bad.arrow", bytes)));
        assert!(matches!(ran.code, Some(0 | 4)), "{at}: {ran:#?}");
        assert!(ran.stderr.lines().count() <= 1, "{at}: {ran:#?}");
    }
}

#[test]
fn what_every_generator_saw_is_kept() {
    let (_server, url) = server(Config::default());
    let scratch = Scratch::new("generators");
    let targets = scratch.file("targets", format!("GET {url}/\n"));
    let files = ["a.arrow", "b.arrow"].map(|name| ten_hits(&scratch, &targets, name));
    let both = text(&scratch.path("both.arrow"));
    run(&format!("encode -output={both} {}", files.join(" "))).with_code(0);
    let one_after_the_other = files.iter().flat_map(|file| std::fs::read(file).unwrap());
    let joined = scratch.file("joined.arrow", one_after_the_other.collect::<Vec<u8>>());
    for file in [files.join(" "), both, joined] {
        let json = run(&format!("report -type=json {file}")).with_code(0).json();
        assert_eq!(
            (&json["requests"], &json["brunt"]["generator"]["sent"]),
            (&20.into(), &20.into())
        );
    }
}

#[test]
fn damage_in_the_middle_keeps_what_came_before() {
    let scratch = Scratch::new("middle");
    let row = "1600000000000000000,200,1000000,0,10,,,x,0,GET,http://h/,\n";
    let good = row.repeat(5);
    let file = scratch.file("r.csv", format!("{good}what is this,doing here\n{good}"));
    let ran = run(&format!("report {file}"));
    assert_eq!(ran.code, Some(4), "{ran:#?}");
    assert!(ran.line("Requests").contains(" 5, "), "{}", ran.stdout);
    assert!(ran.stdout.contains("INVALID: "));
    ran.complains_once(&["r.csv"]);
    let ran = run(&format!("encode -to=csv {file}")).with_code(4);
    assert_eq!(ran.stdout.lines().count(), 5);
    let ran = run(&format!("plot -type=svg {file}")).with_code(4);
    assert!(ran.stdout.contains("<svg"), "{ran:#?}");
    ran.complains_once(&["r.csv"]);
}

#[test]
fn plots_are_drawn_from_several_files() {
    let (_server, url) = server(Config::default());
    let scratch = Scratch::new("plots");
    let targets = scratch.file("targets", format!("GET {url}/\n"));
    for name in ["a.bin", "b.bin"] {
        let file = text(&scratch.path(name));
        run(&format!("attack -targets={targets} -rate=50 -duration=500ms -output={file}"))
            .with_code(0);
    }
    let (a, b) = (text(&scratch.path("a.bin")), text(&scratch.path("b.bin")));
    let html = run(&format!("plot -title=Both before={a} after={b}")).with_code(0).stdout;
    assert!(html.contains("Both") && html.contains("before") && html.contains("after"));
    assert!(!html.contains("src=\"http"), "no network");
    for (flags, name, magic) in [
        ("-percentiles", "p.svg", &b"<svg"[..]),
        ("-histogram", "h.svg", b"<svg"),
        ("", "t.png", b"\x89PNG"),
    ] {
        let picture = text(&scratch.path(name));
        run(&format!("plot {flags} -output={picture} before={a} after={b}")).with_code(0);
        let bytes = std::fs::read(&picture).unwrap();
        assert!(bytes.windows(4).take(200).any(|window| window == magic), "{name}");
    }
    run(&format!("plot -threshold=2 {a}")).with_code(2).stderr.contains("-threshold");
}

#[test]
fn reports_have_every_form() {
    let scratch = Scratch::new("forms");
    let rows: String = (0..10)
        .map(|n| format!("160000000{n}000000000,200,{n}000000,0,10,,,x,{n},GET,http://h/,\n"))
        .collect();
    let file = scratch.file("r.csv", rows);
    for (kind, words) in [
        ("text", "Requests      [total, rate, throughput]         10, 1.11, "),
        ("json", "\"requests\":10"),
        ("hist[0,5ms]", "[5ms,   +Inf]  5  50.00%"),
        ("hdrplot", "Value(ms)  Percentile  TotalCount  1/(1-Percentile)"),
        ("html", "<!DOCTYPE html>"),
        ("markdown", "| requests |"),
        ("junit", "<testsuite"),
        ("metrics", "brunt_requests_total 10"),
    ] {
        let ran = run(&format!("report -type={kind} {file}")).with_code(0);
        assert!(ran.stdout.contains(words), "{kind}: {}", ran.stdout);
    }
    let page = text(&scratch.path("page.html"));
    let ran = run(&format!("report -type html -output {page} {file}")).with_code(0);
    assert_eq!(ran.stdout, "");
    assert!(std::fs::read_to_string(&page).unwrap().len() > 1000);
    let ran = run(&format!("report -every=1ms {file}")).with_code(0);
    assert!(ran.stdout.contains("Requests"));
    let ran = run(&format!("report -type=xml {file}")).with_code(2);
    assert!(ran.stderr.contains("expected text, json"));
}

#[test]
fn issue_41_endings_of_results_are_kept_or_refused() {
    let (_server, url) = server(Config::default());
    let scratch = Scratch::new("endings-of-results");
    let targets = scratch.file("targets", format!("GET {url}/\n"));
    let packed = ten_hits(&scratch, &targets, "r.arrow.zst");
    assert!(std::fs::read(&packed).unwrap().starts_with(&[0x28, 0xb5, 0x2f, 0xfd]));
    let expected = totals(&packed);
    let csv = text(&scratch.path("r.csv.gz"));
    run(&format!("encode -output={csv} {packed}")).with_code(0);
    assert!(std::fs::read(&csv).unwrap().starts_with(&[0x1f, 0x8b]));
    assert_eq!(totals(&csv), expected);
    let page = text(&scratch.path("page.html"));
    let attack = format!("attack -duration=1s -rate=1 -targets={targets}");
    for line in [&attack, "watch", &format!("encode {packed}")] {
        let (command, operands) = line.split_once(' ').unwrap_or((line, ""));
        let refused = run(&format!("{command} -output={page} {operands}")).with_code(2);
        assert!(
            refused.stderr.contains("\"csv\"") || refused.stderr.contains(".csv"),
            "{}",
            refused.stderr
        );
        assert!(!std::path::Path::new(&page).exists(), "{line}");
    }
    let near = text(&scratch.path("e.cvs.gz"));
    let refused = run(&format!("encode -output={near} {packed}")).with_code(2);
    assert!(refused.stderr.contains("did you mean"), "{}", refused.stderr);
}
