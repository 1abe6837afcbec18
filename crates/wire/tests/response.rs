//! Responses: every seed of the corpus, the pair of template and server, any cut of the bytes, and random bytes.

#![expect(clippy::unwrap_used, reason = "a test says by a panic that it failed")]

use std::fmt::Write as _;
use std::path::Path;

use proptest::prelude::*;
use wire::h1::request::{HeadStyle, RequestSpec, RequestTemplate, TargetForm};
use wire::h1::response::{
    DecodeError, HEAD_MAX, Head, RequestMethod, ResponseDecoder, ResponseSink,
};
use wire::h1::server::{
    Connection, Framing, RequestDecoder, RequestHead, RequestSink, ResponseHead, encode_chunk,
    encode_last_chunk,
};
use wire::h1::{HeadMemo, Header, Progress};
use wire::url::Url;

/// What a decoder said, the body's pieces joined.
#[derive(Debug, Default, PartialEq, Eq)]
struct Log {
    heads: String,
    body: Vec<u8>,
    trailers: String,
}

impl ResponseSink for Log {
    fn head(&mut self, head: &Head<'_>) {
        let Head { status, reason, version, headers } = head;
        write!(self.heads, "{version:?} {status} {reason:?} {} fields", headers.len()).unwrap();
    }
    fn body(&mut self, bytes: &[u8]) {
        assert!(!bytes.is_empty(), "an empty piece of body");
        self.body.extend_from_slice(bytes);
    }
    fn trailers(&mut self, fields: &[Header<'_>]) {
        for field in fields {
            write!(self.trailers, "{}={};", field.name, field.value.escape_ascii()).unwrap();
        }
    }
}

impl RequestSink for Log {
    fn head(&mut self, head: &RequestHead<'_>) {
        write!(self.heads, "{} {} {:?};", head.method, head.target, head.connection).unwrap();
        for header in head.headers {
            write!(self.heads, " {}={}", header.name, header.value.escape_ascii()).unwrap();
        }
    }
    fn body(&mut self, bytes: &[u8]) {
        self.body.extend_from_slice(bytes);
    }
}

/// Feeds a decoder piece by piece, then the end, and gives all its events as one line.
fn outcome<'b>(method: RequestMethod, pieces: impl Iterator<Item = &'b [u8]>) -> String {
    let (mut decoder, mut log) = (ResponseDecoder::new(), Log::default());
    decoder.begin(method);
    let result = feed(&mut decoder, pieces, &mut log);
    let result = match &result {
        // The excerpt depends on how much of the line had come.
        Err(DecodeError::Malformed(_)) => "Malformed".to_owned(),
        Err(fault) => format!("{fault:?}"),
        Ok(end) => (*end).to_owned(),
    };
    let reuse = if decoder.can_reuse() { "keep" } else { "close" };
    let Log { heads, body, .. } = log;
    let codings: Vec<_> = decoder.content_encoding().iter().collect();
    format!(
        "{heads} {:?} {codings:?} {:?}: {result}, {reuse}",
        decoder.location(),
        body.escape_ascii().to_string()
    )
}

fn feed<'b>(
    decoder: &mut ResponseDecoder,
    pieces: impl Iterator<Item = &'b [u8]>,
    log: &mut Log,
) -> Result<&'static str, DecodeError> {
    let mut end = None;
    for piece in pieces {
        let Progress { consumed, done } = decoder.handle_bytes(piece, log)?;
        assert!(consumed == piece.len() || done, "bytes were left without an end");
        if consumed < piece.len() {
            return Ok("done, bytes left");
        }
        if done {
            end = Some("done");
        }
    }
    match end {
        Some(end) => Ok(end),
        None => decoder.handle_eof(log).map(|()| "done at the end"),
    }
}

fn whole(method: RequestMethod, bytes: &[u8]) -> String {
    outcome(method, std::iter::once(bytes))
}

/// The pieces of `bytes` between the cuts, which are taken modulo its length.
fn pieces<'b>(bytes: &'b [u8], cuts: &[usize]) -> Vec<&'b [u8]> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    cuts.extend([0, bytes.len()]);
    cuts.sort_unstable();
    cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

/// A sink that wants to know each head's status only, and remembers the last head.
#[derive(Debug, Default)]
struct Remembering {
    statuses: Vec<u16>,
    body: Vec<u8>,
    memo: HeadMemo,
    again: u32,
}

impl ResponseSink for Remembering {
    fn head(&mut self, head: &Head<'_>) {
        self.statuses.push(head.status);
    }
    fn body(&mut self, bytes: &[u8]) {
        self.body.extend_from_slice(bytes);
    }
    fn memo(&mut self) -> Option<&mut HeadMemo> {
        Some(&mut self.memo)
    }
    fn head_again(&mut self, status: u16) {
        self.again += 1;
        self.statuses.push(status);
    }
}

/// The outcome of a response, for a sink with a memo that may hold its head or another's.
fn remembered(method: RequestMethod, bytes: &[u8], sink: &mut Remembering) -> String {
    let mut decoder = ResponseDecoder::new();
    decoder.begin(method);
    sink.statuses.clear();
    sink.body.clear();
    let step = decoder.handle_bytes(bytes, sink);
    let end = matches!(step, Ok(Progress { done: false, .. })).then(|| decoder.handle_eof(sink));
    let (reuse, codings) = (decoder.can_reuse(), decoder.content_encoding());
    let (statuses, body) = (&sink.statuses, &sink.body);
    let place = decoder.location();
    format!("{step:?} {end:?} {statuses:?} {body:?} {reuse} {codings:?} {place:?}")
}

/// A response has the same outcome, whatever the memo holds.
#[test]
#[expect(clippy::disallowed_methods, reason = "the corpus is files, for the fuzzer's sake")]
fn a_remembered_head_means_the_same() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let paths = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let seeds: Vec<_> = paths.map(|path| std::fs::read(path).unwrap()).collect();
    let mut again = 0;
    for (before, after) in seeds.iter().flat_map(|seed| seeds.iter().map(move |next| (seed, next)))
    {
        for method in [RequestMethod::Other, RequestMethod::Head, RequestMethod::Connect] {
            let expect = remembered(method, after, &mut Remembering::default());
            let mut sink = Remembering::default();
            remembered(RequestMethod::Other, before, &mut sink);
            assert_eq!(remembered(method, after, &mut sink), expect);
            assert_eq!(remembered(method, after, &mut sink), expect);
            again += sink.again;
        }
    }
    assert!(again > 1000, "only {again} heads were remembered");
}

/// Every seed's outcome is as written beside it (`UPDATE=1` writes it anew), whole and byte by byte.
#[test]
#[expect(clippy::disallowed_methods, reason = "the corpus is files, for the fuzzer's sake")]
fn corpus() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut seeds: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "http"))
        .collect();
    seeds.sort();
    assert!(seeds.len() > 40, "the corpus is gone");
    let mut got = String::new();
    for seed in seeds {
        let bytes = std::fs::read(&seed).unwrap();
        let name = seed.file_stem().unwrap().to_string_lossy();
        for method in [RequestMethod::Other, RequestMethod::Head, RequestMethod::Connect] {
            let outcome_whole = whole(method, &bytes);
            assert_eq!(outcome(method, bytes.chunks(1)), outcome_whole, "{name}");
            writeln!(got, "{name} {method:?}: {outcome_whole}").unwrap();
        }
    }
    let path = folder.join("outcomes.txt");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &got).unwrap();
    }
    let expect = std::fs::read_to_string(&path).unwrap();
    assert_eq!(got, expect);
}

#[test]
fn an_endless_head_ends() {
    let endless_value = [b"HTTP/1.1 200 OK\r\nX: ".to_vec(), vec![b'y'; 2 * HEAD_MAX]].concat();
    let too_large = "HeadTooLarge(262144), close";
    for size in [endless_value.len(), 4096, 1] {
        let got = outcome(RequestMethod::Other, endless_value.chunks(size));
        assert!(got.ends_with(too_large), "{got}");
    }
    let endless_fields = [b"HTTP/1.1 200 OK\r\n".to_vec(), b"X: y\r\n".repeat(10_000)].concat();
    for size in [1 << 20, 4096, 1] {
        let got = outcome(RequestMethod::Other, endless_fields.chunks(size));
        assert!(got.ends_with("TooManyHeaders(128), close"), "{got}");
    }
}

#[test]
fn a_decoder_serves_response_after_response() {
    let mut decoder = ResponseDecoder::new();
    let mut log = Log::default();
    let unsolicited = decoder.handle_bytes(b"HTTP/1.1 200 OK\r\n\r\n", &mut log);
    assert_eq!(unsolicited, Err(DecodeError::Unsolicited));
    decoder.begin(RequestMethod::Other);
    let redirect =
        b"HTTP/1.1 301 Moved\r\nLocation: /x\r\nContent-Encoding: br\r\nContent-Length: 0\r\n\r\n";
    assert!(decoder.handle_bytes(redirect, &mut log).unwrap().done);
    assert_eq!((decoder.status(), decoder.location()), (301, Some("/x")));
    assert!(decoder.can_reuse() && decoder.started());
    decoder.begin(RequestMethod::Other);
    assert_eq!((decoder.status(), decoder.location()), (0, None));
    assert!(!decoder.started() && decoder.content_encoding().is_identity());
    assert_eq!(decoder.handle_eof(&mut log), Err(DecodeError::Eof));
}

#[test]
fn errors_say_what_came() {
    let cases: [(&[u8], &str); 5] = [
        (b"", "the connection ended before the response"),
        (b"HTTP/1.1 2", "the connection ended within the response's head"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx",
            "the connection ended within the response's body",
        ),
        (b"SSH-2.0-\"x\"\r\n", "malformed HTTP response \"SSH-2.0-\\\"x\\\"\""),
        (
            &[b"HTTP/1.1 200 OK\r\nX: ".as_slice(), &[b'x'; HEAD_MAX]].concat(),
            "a response head of more than 262144 bytes",
        ),
    ];
    for (bytes, message) in cases {
        let mut decoder = ResponseDecoder::new();
        decoder.begin(RequestMethod::Other);
        let got = feed(&mut decoder, std::iter::once(bytes), &mut Log::default());
        assert_eq!(got.unwrap_err().to_string(), message);
    }
}

/// How the server's side frames a body in [`exchange`].
fn respond(status: u16, framing: Framing, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let headers = [("Server", "demo"), ("X-Long", "0123456789012345678901234567890123456789")];
    ResponseHead { status, headers: &headers, framing, connection: Connection::Keep }
        .encode(&mut out);
    match framing {
        Framing::Chunked => {
            body.chunks(7).for_each(|piece| encode_chunk(piece, &mut out));
            encode_last_chunk(&mut out);
        }
        _ => out.extend_from_slice(body),
    }
    out
}

fn any_framing() -> impl Strategy<Value = (Framing, Vec<u8>)> {
    (prop::collection::vec(any::<u8>(), 0..200), 0..3).prop_map(|(body, kind)| {
        let framing = match kind {
            0 => Framing::Length(body.len() as u64),
            1 => Framing::Chunked,
            _ => Framing::UntilClose,
        };
        (framing, body)
    })
}

fn config() -> ProptestConfig {
    ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    /// The server's response reaches the client as it was, however its bytes are cut.
    #[test]
    fn responses_survive_any_cut(
        (framing, body) in any_framing(),
        cuts in prop::collection::vec(any::<usize>(), 0..20),
    ) {
        let bytes = respond(200, framing, &body);
        let (mut decoder, mut log) = (ResponseDecoder::new(), Log::default());
        decoder.begin(RequestMethod::Other);
        let end = feed(&mut decoder, pieces(&bytes, &cuts).into_iter(), &mut log);
        let expect = if framing == Framing::UntilClose { "done at the end" } else { "done" };
        prop_assert_eq!(end, Ok(expect));
        prop_assert_eq!(log.body, body);
        prop_assert_eq!(decoder.can_reuse(), framing != Framing::UntilClose);
    }

    /// The template's request reaches the server as it was, however its bytes are cut.
    #[test]
    fn requests_survive_any_cut(
        body in prop::collection::vec(any::<u8>(), 0..300),
        chunked in any::<bool>(),
        vegeta in any::<bool>(),
        hit in any::<u64>(),
        cuts in prop::collection::vec(any::<usize>(), 0..20),
    ) {
        let url = Url::parse("http://host:81/path?query=%20").unwrap();
        let spec = RequestSpec {
            method: "PUT",
            url: &url,
            headers: &[("X-Mine".into(), "yes".into())],
            body: body.clone().into(),
            style: if vegeta { HeadStyle::Go } else { HeadStyle::Native },
            keepalive: true,
            chunked,
            attack_name: "",
            target_form: TargetForm::Origin,
            proxy_authorization: None,
            user_agent: "brunt/0",
        };
        let mut bytes = Vec::new();
        RequestTemplate::new(&spec).unwrap().render(hit, &mut bytes);
        let (mut decoder, mut log) = (RequestDecoder::new(), Log::default());
        let mut done = false;
        for piece in pieces(&bytes, &cuts) {
            prop_assert!(!done || piece.is_empty());
            let step = decoder.handle_bytes(piece, &mut log).unwrap();
            prop_assert_eq!(step.consumed, piece.len());
            done |= step.done;
        }
        prop_assert!(done && decoder.is_idle());
        prop_assert_eq!(log.body, body);
        prop_assert!(log.heads.starts_with("PUT /path?query=%20 Keep; Host=host:81 User-Agent="));
        prop_assert!(log.heads.contains(" X-Mine=yes"));
        let seq = format!(" X-Vegeta-Seq={hit}");
        prop_assert_eq!(log.heads.contains(&seq), vegeta);
    }

    /// Damaged responses come to the same end however they are cut, and never to a panic.
    #[test]
    fn damage_is_the_same_in_any_cut(
        (framing, body) in any_framing(),
        damage in prop::collection::vec((any::<usize>(), any::<u8>()), 0..4),
        cuts in prop::collection::vec(any::<usize>(), 0..20),
    ) {
        let mut bytes = respond(200, framing, &body);
        for (at, byte) in damage {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        let cut = pieces(&bytes, &cuts);
        prop_assert_eq!(
            outcome(RequestMethod::Other, cut.into_iter().filter(|piece| !piece.is_empty())),
            whole(RequestMethod::Other, &bytes)
        );
    }

    /// Random bytes cause no panic, on either side.
    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..2000), size in 1..50usize) {
        let with_head = [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec(), bytes.clone()].concat();
        for bytes in [&bytes, &with_head] {
            whole(RequestMethod::Other, bytes);
            outcome(RequestMethod::Other, bytes.chunks(size));
        }
        let (mut decoder, mut log) = (RequestDecoder::new(), Log::default());
        for piece in bytes.chunks(size) {
            if decoder.handle_bytes(piece, &mut log).is_err() {
                break;
            }
        }
    }
}

/// Issue 43: trailers arrive, whatever the cuts; fields of a head among them are passed over, and floods are failures.
#[test]
fn trailers_arrive_and_are_bounded() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n";
    let decode = |section: &str, piece: usize| {
        let bytes = format!("{head}{section}\r\n").into_bytes();
        let (mut decoder, mut log) = (ResponseDecoder::new(), Log::default());
        decoder.begin(RequestMethod::Other);
        let mut fed = bytes.chunks(piece).map(|bytes| decoder.handle_bytes(bytes, &mut log));
        let fault = fed.find_map(Result::err);
        (fault, log.trailers)
    };
    for piece in 1..40 {
        let section = "Grpc-Status: 14\r\nContent-Length: 7\r\nX:  y \r\n";
        assert_eq!(decode(section, piece), (None, "Grpc-Status=14;X=y;".to_owned()), "{piece}");
        assert_eq!(decode("", piece), (None, String::new()));
        let (fault, trailers) = decode(":status: 500\r\n", piece);
        assert_eq!((fault, trailers.as_str()), (Some(DecodeError::MalformedField), ""));
    }
    let many = "a: b\r\n".repeat(129);
    assert_eq!(decode(&many, 1 << 20).0, Some(DecodeError::TooManyHeaders(128)));
    let long = format!("a: {}\r\n", "b".repeat(64 << 10));
    assert_eq!(decode(&long, 1 << 10).0, Some(DecodeError::ChunkTooLarge));
}
