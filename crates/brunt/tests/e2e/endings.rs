//! The ending of a document's file says what is written into it, in every command that writes documents.

use crate::{Scratch, run, text};

const ROWS: &str = "1700000000000000000,200,5000000,0,0,,,a,0,GET,http://h/,\n\
                    1700000001000000000,200,10000000,0,0,,,a,1,GET,http://h/,\n";

#[test]
fn documents_are_what_their_endings_say() {
    let scratch = Scratch::new("endings");
    let csv = scratch.file("r.csv", ROWS);
    let two = format!("a={csv} b={csv}");
    let cases = [
        (format!("report {csv}"), "html", "<!DOCTYPE html>"),
        (format!("report {csv}"), "json", "{\"latencies\""),
        (format!("report {csv}"), "md", "### "),
        (format!("report {csv}"), "xml", "<?xml"),
        (format!("plot {csv}"), "svg", "<svg"),
        (format!("plot {csv}"), "html", "<!DOCTYPE html>"),
        (format!("plot -overlay {two}"), "json", "{"),
        (format!("plot -overlay {two}"), "md", "```\n"),
        (format!("plot -overlay {two}"), "txt", ""),
        (format!("compare {two}"), "md", "### "),
        (format!("compare {two}"), "json", "{"),
    ];
    for (command, ending, begin) in cases {
        let file = text(&scratch.path(&format!("out.{ending}")));
        run(&format!("{command} -output={file}")).with_code(0);
        let written = std::fs::read_to_string(&file).unwrap();
        assert!(written.starts_with(begin), "{command} .{ending}: {written}");
    }
    // Its conclusion comes first, in words that depend on the run.
    let report = text(&scratch.path("report.txt"));
    run(&format!("report {csv} -output={report}")).with_code(0);
    assert!(std::fs::read_to_string(&report).unwrap().contains("\nRequests      [total"));
    let png = text(&scratch.path("out.png"));
    run(&format!("plot {csv} -output={png}")).with_code(0);
    assert!(std::fs::read(&png).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn unknown_endings_are_refused_and_a_given_type_wins() {
    let scratch = Scratch::new("endings-unknown");
    let csv = scratch.file("r.csv", ROWS);
    let out = |name: &str| text(&scratch.path(name));
    let (pdf, gz, jpg) = (out("x.pdf"), out("x.html.gz"), out("x.jpg"));
    let cases = [
        (format!("report -output={pdf} {csv}"), ".html, .json, .md, .txt or .xml (or give -type)"),
        (format!("plot -output={gz} {csv}"), ".html, .svg, .png, .json, .md or .txt"),
        (
            format!("compare -output={jpg} a={csv} b={csv}"),
            ".html, .json, .md, .txt or .xml (or give -type)",
        ),
        (format!("fit -point=1:X=33,mean=485ms -plot={jpg}"), ".html, .svg or .png"),
        (format!("fit -point=1:X=33,mean=485ms -output={pdf}"), ".json or .txt"),
        (format!("seek -objective=p99<1s -plot={pdf} http://127.0.0.1:1/"), ".html, .svg or .png"),
    ];
    for (line, known) in cases {
        let ran = run(&line).with_code(2);
        assert!(ran.stderr.contains(&format!("does not end in {known}")), "{line}: {}", ran.stderr);
    }
    for file in [&pdf, &gz, &jpg] {
        assert!(!std::path::Path::new(file).exists(), "nothing was written");
    }
    run(&format!("report -type=html -output={pdf} {csv}")).with_code(0);
    assert!(std::fs::read_to_string(&pdf).unwrap().starts_with("<!DOCTYPE html>"));
    let named = out("x.html");
    run(&format!("report -type=text -output={named} {csv}")).with_code(0);
    assert!(std::fs::read_to_string(&named).unwrap().contains("\nRequests      [total"));
    let vegeta = out("v.html");
    run(&format!("vegeta report -output={vegeta} {csv}")).with_code(0);
    assert!(std::fs::read_to_string(&vegeta).unwrap().starts_with("Requests"), "as Vegeta does");
}
