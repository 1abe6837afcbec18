//! Bad input: one clear line, the documented code, nothing sent, results so far kept.

use std::fs::File;

use demo::Config;

use crate::{Scratch, brunt, feed, run, server, start, text, until};

#[test]
fn a_wrong_target_line_is_named_and_nothing_is_sent() {
    let (server, url) = server(Config::default());
    let scratch = Scratch::new("wrong-line");
    let targets = scratch.file("targets", format!("GET {url}/\n\nget {url}/\n"));
    let ran = run(&format!("attack -targets={targets} -duration=1s")).with_code(3);
    ran.complains_once(&["targets", "line 3", "expected a method", "nothing was sent"]);
    assert_eq!(ran.stdout, "");
    assert_eq!(server.stats().requests, 0);
    let ran = run(&format!("vegeta attack -targets={targets} -duration=1s")).with_code(1);
    ran.complains_once(&["bad method: get"]);
    let stamp = ran.stderr.split(' ').take(2).collect::<Vec<_>>().join(" ");
    let shape: String = stamp.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    assert_eq!(shape, "0000/00/00 00:00:00");
    let ran = feed(brunt("attack -duration=1s"), "").with_code(3);
    ran.complains_once(&["no targets to attack"]);
    let ran =
        feed(brunt("attack -format=json -duration=1s"), "{\"method\":\"GET\"}\n").with_code(3);
    ran.complains_once(&["stdin", "line 1", "url is missing"]);
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let (server, url) = server(Config::default());
    let scratch = Scratch::new("unreadable");
    let targets = scratch.file("targets", format!("GET {url}/\n"));
    let body = scratch.file("with-body", format!("POST {url}/\n@/nowhere/body\n"));
    let cert = scratch.file("cert.pem", "this is no certificate\n");
    let cases = [
        ("-targets=/nowhere/targets".to_owned(), "/nowhere/targets"),
        (format!("-targets={targets} -body=/nowhere/body"), "/nowhere/body"),
        (format!("-targets={body}"), "/nowhere/body"),
        (format!("-targets={targets} -cert=/nowhere/cert"), "-cert"),
        (format!("-targets={targets} -cert={cert}"), "cert"),
        (format!("-targets={targets} -root-certs={cert}"), "root-certs"),
    ];
    for (flags, word) in cases {
        let ran = run(&format!("attack {flags} -duration=1s -output=none")).with_code(3);
        ran.complains_once(&[word]);
        assert_eq!(ran.stdout, "");
    }
    assert_eq!(server.stats().requests, 0);
}

#[test]
fn wrong_flags_are_named_with_what_was_expected() {
    let cases: [(&str, &[&str]); 13] = [
        ("attack -duraton=5s", &["unknown flag -duraton", "did you mean -duration?"]),
        ("attack -duration 5", &["-duration", "\"5\"", "missing unit"]),
        ("attack -rate=2000000000", &["-rate", "2000000000", "the highest is"]),
        ("attack -rate=0", &["-rate=0 requires setting -max-workers"]),
        ("attack -shape=circle -targets=/dev/null", &["-shape", "circle", "expected"]),
        ("attack -cpus=0", &["-cpus", "1 or more"]),
        ("attack -header=nonsense", &["-header", "Name: value"]),
        ("report -by=colour", &["-by", "colour", "target, status, name"]),
        ("demo fast", &["unexpected", "fast"]),
        ("man attack", &["unexpected", "attack"]),
        ("attack -rate=1e3", &["-rate", "\"1e3\"", "expected requests, or requests per time"]),
        ("version", &["unknown command \"version\"", "did you mean --version?"]),
        ("atack", &["unknown command \"atack\"", "did you mean attack?"]),
    ];
    for (line, words) in cases {
        let ran = run(line).with_code(2);
        for word in words {
            assert!(ran.stderr.contains(word), "{line}: {word:?} is not in {:?}", ran.stderr);
        }
        assert_eq!(ran.stdout, "", "{line}");
    }
    let ran = run("attack -header=nonsense").with_code(2);
    assert!(!ran.stderr.contains("nonsense"), "it may be a secret: {ran:?}");
}

#[test]
fn vegetas_errors_are_in_vegetas_words() {
    let cases = [
        ("attack -duration 5", 2, "invalid value \"5\" for flag -duration: parse error\nUsage of"),
        ("attack -nope", 2, "flag provided but not defined: -nope\nUsage of"),
        ("attack -rate", 2, "flag needs an argument: -rate\nUsage of"),
        (
            "attack -lazy=maybe",
            2,
            "invalid boolean value \"maybe\" for -lazy: parse error\nUsage of",
        ),
        ("attack -shape=poisson", 2, "flag provided but not defined: -shape\nUsage of"),
        ("attack -rate=0", 1, " -rate=0 requires setting -max-workers\n"),
        ("attack -format=xml", 1, " format \"xml\" isn't one of [http, json]\n"),
        (
            "attack -targets=/nowhere",
            1,
            " error opening /nowhere: open /nowhere: no such file or directory\n",
        ),
        ("report -type=xx", 1, " invalid report type: xx\n"),
        ("report -type=abcd", 1, " unknown report type: \"abcd\"\n"),
        ("dump", 1, "deprecated"),
        ("frobnicate", 1, " Unknown command: frobnicate\n"),
        ("", 1, "Usage: vegeta [global flags] <command> [command flags]"),
    ];
    for (line, code, words) in cases {
        let ran = run(&format!("vegeta {line}")).with_code(code);
        assert!(ran.stderr.contains(words), "{line}: {words:?} is not in {:?}", ran.stderr);
        assert_eq!(ran.stdout, "", "{line}");
    }
    run("vegeta attack -h").with_code(0);
    assert_eq!(run("vegeta -version").with_code(0).stdout.lines().count(), 4);
}

#[test]
fn a_full_disk_ends_the_attack_with_one_line() {
    let (server, url) = server(Config::default());
    let scratch = Scratch::new("full");
    let targets = scratch.file("targets", format!("GET {url}/\n"));
    let ran = run(&format!("attack -targets={targets} -rate=100 -output=/dev/full")).with_code(1);
    ran.complains_once(&["/dev/full", "no space left"]);
    assert!(server.stats().requests < 1000, "it did not go on");
    let results =
        scratch.file("r.csv", "1600000000000000000,200,1000000,0,10,,,x,0,GET,http://h/,\n");
    let mut report = brunt(&format!("report {results}"));
    report.stdout(File::options().write(true).open("/dev/full").unwrap());
    start(report).wait().with_code(1).complains_once(&["standard output", "o space left"]);
}

#[test]
fn a_closed_pipe_ends_an_attack_and_does_not_fail_a_report() {
    let (server, url) = server(Config::default());
    let scratch = Scratch::new("closed-pipe");
    let targets = scratch.file("targets", format!("GET {url}/\n"));
    let mut attack = start(brunt(&format!("attack -targets={targets} -rate=100")));
    drop(attack.child().stdout.take());
    let ran = attack.wait().with_code(1);
    ran.complains_once(&["closed the pipe"]);
    assert!(server.stats().requests < 1000, "it did not go on");
    let results = scratch
        .file("r.csv", "1600000000000000000,200,1000000,0,10,,,x,0,GET,http://h/,\n".repeat(5000));
    for command in ["report", "encode", "plot", "report -type=html"] {
        let mut reader = start(brunt(&format!("{command} {results}")));
        drop(reader.child().stdout.take());
        let ran = reader.wait().with_code(0);
        assert_eq!(ran.stderr, "", "{command}");
    }
}

#[test]
fn a_wrong_lazy_target_ends_the_attack_and_keeps_the_results() {
    let (server, url) = server(Config::default());
    let scratch = Scratch::new("lazy-wrong");
    let targets =
        scratch.file("targets", format!("GET {url}/\n\nGET {url}/\n\nnonsense\n\nGET {url}/\n"));
    let file = text(&scratch.path("r.arrow"));
    let ran =
        run(&format!("attack -lazy -targets={targets} -rate=100 -output={file}")).with_code(3);
    ran.complains_once(&["targets: line 5", "the attack ended there"]);
    until("both requests were answered", || server.stats().answers == 2);
    assert!(run(&format!("report {file}")).line("Requests").contains(" 2, "));
}

#[test]
fn an_output_that_is_an_input_is_refused() {
    let scratch = Scratch::new("overwrite");
    let row = "1600000000000000000,200,1000000,0,10,,,x,0,GET,http://h/,\n";
    let file = scratch.file("r.csv", row);
    let link = crate::text(&scratch.path("link.csv"));
    std::fs::hard_link(&file, &link).unwrap();
    for command in ["encode", "report", "plot"] {
        for output in [&file, &link] {
            let ran = run(&format!("{command} -output={output} {file}")).with_code(2);
            ran.complains_once(&["-output", "would overwrite the input", "r.csv"]);
        }
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), row);
    run(&format!("report -output=/dev/null {file}")).with_code(0);
}

#[test]
fn what_cannot_be_sent_at_all_is_refused() {
    let scratch = Scratch::new("unsendable");
    let targets = scratch.file("t", "GET http://127.0.0.1:1/\n\nGET http://127.0.0.1:99999/\n");
    let ran = run(&format!("attack -targets={targets} -duration=1s")).with_code(3);
    ran.complains_once(&["target 2", ":99999", "nothing was sent"]);
    let good = scratch.file("good", "GET http://127.0.0.1:1/\n");
    let ran = run(&format!("attack -targets={good} -laddr=192.0.2.1 -duration=1s")).with_code(3);
    ran.complains_once(&["-laddr", "192.0.2.1", "not an address of this machine"]);
    run("report /nowhere/r.bin").with_code(3).complains_once(&["/nowhere/r.bin"]);
    run("report").with_code(4).complains_once(&["\"stdin\" is empty"]);
}

#[test]
fn a_service_time_that_was_not_recorded_is_not_invented() {
    let scratch = Scratch::new("no-service");
    let row = "1600000000000000000,200,1000000,0,10,,,x,0,GET,http://h/,\n";
    let file = scratch.file("r.csv", row);
    assert!(run(&format!("report {file}")).line("Service").ends_with("not recorded"));
    let json = run(&format!("report -type=json {file}")).json();
    assert!(json["brunt"]["service"].is_null(), "{json}");
    assert_eq!(json["brunt"]["response"]["count"], 1);
    let page = run(&format!("report -type=html {file}")).with_code(0);
    assert!(!page.stdout.contains("Service (from sent)"));
    assert!(!run(&format!("report -type=markdown {file}")).stdout.contains("| service"));
}
