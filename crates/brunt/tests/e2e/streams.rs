//! Results from one form into another, and results that are no good.

use crate::process::{Folder, report, run, server, text};

#[test]
fn every_encoding_tells_the_same_story() {
    let folder = Folder::new();
    let (_server, url) = server("none");
    let attack = run(
        &folder,
        &["attack", "-duration=1s", "-rate=40"],
        format!("GET {url}/\nGET {url}/status/404\n").as_bytes(),
    );
    let native = folder.file("native");
    std::fs::write(&native, &attack.stdout).expect("results");
    let expected = report(&folder, &native);
    for encoding in ["gob", "csv", "json", "parquet", "arrow"] {
        let (to, file) = (format!("-to={encoding}"), folder.file(encoding));
        let output = format!("-output={file}");
        let encoded = run(&folder, &["encode", &to, &output, &native], b"");
        assert!(encoded.status.success(), "{encoding}: {}", text(&encoded.stderr));
        let told = report(&folder, &file);
        for key in ["requests", "status_codes", "latencies", "bytes_in", "success", "errors"] {
            assert_eq!(told[key], expected[key], "{encoding}: {key}");
        }
    }
    assert_eq!(expected["status_codes"]["404"], 20);
}

#[test]
fn foreign_and_empty_input_is_one_clear_line() {
    let folder = Folder::new();
    for input in [&b""[..], b"\x00\x01\x02 this is no result"] {
        let output = run(&folder, &["report"], input);
        assert!(!output.status.success());
        let said = text(&output.stderr);
        assert_eq!(said.trim_end().lines().count(), 1, "{said}");
        assert!(said.contains("stdin"), "{said}");
    }
}

#[test]
fn a_full_disk_is_said() {
    let folder = Folder::new();
    let (_server, url) = server("none");
    let output = run(
        &folder,
        &["attack", "-duration=2s", "-rate=50", "-output=/dev/full"],
        format!("GET {url}/\n").as_bytes(),
    );
    assert!(!output.status.success());
    assert!(text(&output.stderr).contains("/dev/full"), "{}", text(&output.stderr));
}
