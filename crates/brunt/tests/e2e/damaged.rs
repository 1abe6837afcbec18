//! Damaged and cut results: no copy of them passes for a whole one, and no command that reads them ends as if they were whole.

use std::fs;
use std::process::Stdio;

use demo::Config;

use crate::{Scratch, brunt, run, server, start, text};

const ROW: &str = "1600000000000000000,200,1000000,0,10,,,x,0,GET,http://h/,\n";

/// Five rows, a broken one, and five more.
fn damaged(scratch: &Scratch) -> String {
    let good = ROW.repeat(5);
    scratch.file("damaged.csv", format!("{good}what is this,doing here\n{good}"))
}

/// Five rows and the half of one.
fn cut(scratch: &Scratch) -> String {
    scratch.file("cut.csv", ROW.repeat(5) + &ROW[..40])
}

fn verdict(file: &str) -> String {
    let json = run(&format!("report -type=json {file}")).with_code(0).json();
    assert_eq!(json["requests"], 5, "{json}");
    json["brunt"]["verdict"].as_str().unwrap().to_owned()
}

#[test]
fn a_damaged_input_replaces_no_copy() {
    let scratch = Scratch::new("damaged-encode");
    let damaged = damaged(&scratch);
    let good = scratch.file("good.csv", ROW.repeat(5));
    for to in ["arrow", "parquet", "csv", "json", "gob"] {
        let copy = text(&scratch.path(&format!("copy.{to}")));
        run(&format!("encode -output={copy} {good}")).with_code(0);
        let before = fs::read(&copy).unwrap();
        let ran = run(&format!("encode -output={copy} {damaged}")).with_code(4);
        assert!(ran.stderr.contains(&format!("copy.{to} is not written")), "{ran:?}");
        assert!(ran.stderr.contains("damaged.csv"), "{ran:?}");
        assert_eq!(fs::read(&copy).unwrap(), before, "{to}");
        let new = scratch.path(&format!("new.{to}"));
        run(&format!("encode -output={} {damaged}", text(&new))).with_code(4);
        assert!(!new.exists(), "{to}");
    }
    // Nothing is left beside them.
    assert_eq!(fs::read_dir(scratch.path(".")).unwrap().count(), 7);
}

#[test]
fn a_copy_of_a_part_is_invalid() {
    let scratch = Scratch::new("cut-encode");
    let (damaged, cut) = (damaged(&scratch), cut(&scratch));
    let (_server, url) = server(Config::default());
    let whole = text(&scratch.path("whole.arrow"));
    run(&format!("bench -c 1 -n 5 -q -output={whole} {url}/")).with_code(0);
    for to in ["arrow", "parquet"] {
        let copy = text(&scratch.path(&format!("cut.{to}")));
        run(&format!("encode -output={copy} {cut}")).with_code(0).complains_once(&["cut.csv"]);
        assert_eq!(verdict(&copy), "INVALID", "{to}");
        // Nor does a whole run beside it make it one.
        let json = run(&format!("report -type=json {copy} {whole}")).with_code(0).json();
        assert_eq!(json["brunt"]["verdict"], "INVALID", "{json}");
        // What goes out as it is read says at its end that it is a part.
        let copy = scratch.path(&format!("damaged.{to}"));
        let mut encode = brunt(&format!("encode -to={to} {damaged}"));
        encode.stdout(fs::File::create(&copy).unwrap()).stderr(Stdio::piped());
        let ran = start(encode).wait().with_code(4);
        ran.complains_once(&["damaged.csv"]);
        assert_eq!(verdict(&text(&copy)), "INVALID", "{to}");
    }
    let copy = text(&scratch.path("copy.csv"));
    let ran = run(&format!("encode -output={copy} {cut}")).with_code(0);
    ran.complains_once(&["csv cannot hold the verdict", "INVALID: ", "cut.csv"]);
}

#[test]
fn a_bad_verdict_is_printed_where_a_format_cannot_hold_it() {
    let scratch = Scratch::new("verdict-encode");
    let (_server, url) = server(Config::default());
    let [whole, cut] = ["whole.arrow", "cut.arrow"].map(|name| text(&scratch.path(name)));
    // Of five hits on a busy machine one late wake-up is too much.
    let valid = (0..20).any(|_| {
        run(&format!("bench -c 1 -n 5 -q -output={whole} {url}/")).with_code(0);
        verdict(&whole) == "VALID"
    });
    assert!(valid, "twenty runs of five hits, and none is VALID");
    let bytes = fs::read(&whole).unwrap();
    // Without its end mark.
    fs::write(&cut, &bytes[..bytes.len() - 8]).unwrap();
    let ran = run(&format!("encode -to=json {whole}")).with_code(0);
    assert_eq!(ran.stderr, "");
    let ran = run(&format!("encode -to=json {cut}")).with_code(0);
    ran.complains_once(&["json cannot hold the verdict", "INVALID: ", "cut.arrow"]);
    assert_eq!(ran.stdout.lines().count(), 5);
}

#[test]
fn whoever_reads_damage_says_so_with_its_code() {
    let scratch = Scratch::new("damaged-read");
    let damaged = damaged(&scratch);
    let good = scratch.file("good.csv", ROW.repeat(5));
    let store = text(&scratch.path("store"));
    let ran = run(&format!("compare -store={store} {good} {damaged}")).with_code(4);
    assert!(ran.stdout.contains("damaged.csv"), "the comparison is printed: {ran:?}");
    ran.complains_once(&["damaged.csv"]);
    let ran = run(&format!("runs import -store={store} {damaged}")).with_code(4);
    ran.complains_once(&["damaged.csv"]);
    let listed = run(&format!("runs list -json -store={store}")).with_code(0).json();
    assert_eq!(listed["runs"], serde_json::json!([]), "a part is no run");
    let ran = run(&format!("fit -by=users 1={good} 2={damaged} 3={good}")).with_code(4);
    ran.complains_once(&["damaged.csv"]);
}

#[test]
fn no_file_counts_twice() {
    let scratch = Scratch::new("twice");
    let good = scratch.file("good.csv", ROW.repeat(5));
    for command in ["report", "encode", "vegeta report"] {
        let ran = run(&format!("{command} {good} {good}"));
        assert_ne!(ran.code, Some(0), "{ran:?}");
        ran.complains_once(&["good.csv is named twice"]);
    }
}

/// `fit` opened a pipe twice, and waited for a second writer for ever.
#[test]
fn a_pipe_is_fitted_like_a_file() {
    let scratch = Scratch::new("fit-pipe");
    let pipe = scratch.path("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let fit = start(brunt(&format!("fit 4={}", text(&pipe))));
    fs::write(&pipe, ROW.repeat(5)).unwrap();
    // One load suffices for no model.
    fit.wait().with_code(8);
}

/// A redirection that appends was replaced with what it appended.
#[test]
fn a_redirection_is_written_where_it_is() {
    let scratch = Scratch::new("dev-stdout");
    let good = scratch.file("good.csv", ROW.repeat(5));
    let log = scratch.file("log", "before\n");
    for words in ["encode -to=csv -output=/dev/stdout", "report -output=/dev/stdout"] {
        let mut command = brunt(&format!("{words} {good}"));
        command.stdout(fs::File::options().append(true).open(&log).unwrap()).stderr(Stdio::piped());
        start(command).wait().with_code(0);
    }
    let text = fs::read_to_string(&log).unwrap();
    assert!(
        text.starts_with("before\n1600000000000000000,") && text.contains("Requests"),
        "{text}"
    );
}
