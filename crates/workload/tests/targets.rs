//! The targets parsers against a corpus and against random bytes: nothing panics, a stream and a whole file read the same,
//! and what the native grammar lets through can be sent. A fuzz target feeds the same `check_http` and `check_json`.

use proptest::prelude::*;
use workload::targets::{Grammar, Options, PROBLEMS_MAX, Problem, http, json};
use workload::{Target, TargetList, TargetRef};

fn body(path: &str) -> Result<Vec<u8>, String> {
    if path.len() > 20 { Err("too long".to_owned()) } else { Ok(path.as_bytes().to_vec()) }
}

fn check_http(input: &[u8]) {
    for grammar in [Grammar::Native, Grammar::Vegeta] {
        let options = Options { grammar, ..Options::default() };
        let whole = http::parse(input, &options, &mut body);
        check(input, &options, &whole, http::Stream::new(input, options.clone(), body));
    }
}

fn check_json(input: &[u8]) {
    for grammar in [Grammar::Native, Grammar::Vegeta] {
        let options = Options { grammar, ..Options::default() };
        let whole = json::parse(input, &options);
        check(input, &options, &whole, json::Stream::new(input, options.clone()));
    }
}

fn check(
    input: &[u8],
    options: &Options,
    (targets, problems): &(TargetList, Vec<Problem>),
    stream: impl Iterator<Item = Result<Target, Problem>>,
) {
    assert!(!targets.is_empty() || !problems.is_empty(), "nothing is said of {input:?}");
    let lines = input.iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
    for problem in problems {
        assert!(problem.line <= lines, "{problem:?}");
        assert!(!problem.to_string().is_empty());
    }
    if problems.is_empty() {
        let streamed: Result<TargetList, Problem> = stream.collect();
        assert_eq!(streamed.as_ref(), Ok(targets));
    } else {
        assert!(stream.take(PROBLEMS_MAX * 100).count() >= targets.len());
    }
    if options.grammar == Grammar::Native {
        targets.iter().map(TargetRef::to_target).for_each(|target| check_sendable(&target));
    }
}

/// No line break can get from a file into a request's head but by the parser's will.
fn check_sendable(target: &Target) {
    let lower = target.url.to_ascii_lowercase();
    assert!(lower.starts_with("http://") || lower.starts_with("https://"), "{target:?}");
    assert!(!target.url.contains(char::is_whitespace), "{target:?}");
    assert!(!target.method.is_empty() && target.weight > 0, "{target:?}");
    let fields = target.headers.iter().flat_map(|(name, value)| [name, value]);
    assert!(fields.chain([&target.method]).all(|text| !text.contains(['\r', '\n', '\0'])));
}

#[expect(clippy::disallowed_methods, reason = "a test reads its corpus")]
fn corpus(folder: &str) -> Vec<Vec<u8>> {
    let folder = format!("{}/tests/corpus/{folder}", env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(folder).expect("the corpus is there");
    let read = |path| std::fs::read(path).expect("a file of the corpus");
    files.map(|file| read(file.expect("an entry of the folder").path())).collect()
}

#[test]
fn the_corpus_is_read() {
    let (http, json) = (corpus("http"), corpus("json"));
    assert!(http.len() >= 6 && json.len() >= 3);
    http.iter().chain(&json).for_each(|input| {
        check_http(input);
        check_json(input);
    });
}

/// Pieces that mean something to the grammars, and some that do not.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let known = prop::sample::select(vec![
        "GET ",
        "http://a/",
        "\n",
        "\r\n",
        "X: 1",
        "#",
        "#brunt ",
        "weight=2",
        "name=\"",
        "@f",
        ":",
        " ",
        "*",
        "{\"method\":\"GET\"",
        ",\"url\":\"http://a/\"",
        ",\"body\":\"",
        "}",
        "\"",
        "[",
        "é",
        "%",
    ]);
    prop_oneof![
        6 => known.prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..4),
    ]
}

proptest! {
    #[test]
    fn random_bytes_never_panic(input in prop::collection::vec(any::<u8>(), 0..300)) {
        check_http(&input);
        check_json(&input);
    }

    #[test]
    fn random_pieces_never_panic(pieces in prop::collection::vec(piece(), 0..40)) {
        let input = pieces.concat();
        check_http(&input);
        check_json(&input);
    }
}
