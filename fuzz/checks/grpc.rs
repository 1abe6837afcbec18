//! What a server, a script and a file may bring to gRPC: responses in pieces, messages, JSON, protosets, a server's account of itself.

use std::sync::{Arc, LazyLock};

use grpc::json::{decode, decode_bytes, encode, encode_bytes};
use grpc::{
    CallOutcome, Definitions, ProtoSource, Reflection, Reply, ReplyHead, ResponseReader,
    details_json,
};

/// No message of a response is larger than this, in bytes.
const MESSAGE_MAX: usize = 1 << 12;

/// The types that messages are read as.
const TYPES: &str = r#"syntax = "proto3"; package p;
import "google/protobuf/any.proto"; import "google/protobuf/struct.proto"; import "google/protobuf/wrappers.proto";
import "google/protobuf/timestamp.proto"; import "google/protobuf/duration.proto"; import "google/protobuf/field_mask.proto";
enum E { A = 0; B = 1; }
message M {
  int32 a = 1; sint64 b = 2; fixed32 c = 3; double d = 4; float e = 5; bool f = 6; string g = 7; bytes h = 8; E i = 9;
  M j = 10; repeated M k = 11; map<string, M> l = 12; map<int32, E> m = 13; repeated uint64 n = 14; optional int32 o = 15;
  oneof x { string p = 16; M q = 17; google.protobuf.NullValue r = 18; }
  google.protobuf.Any s = 19; google.protobuf.Struct t = 20; google.protobuf.Value u = 21; google.protobuf.Timestamp v = 22;
  google.protobuf.Duration w = 23; google.protobuf.FieldMask y = 24; google.protobuf.Int64Value z = 25;
}
service S { rpc Do(M) returns (M); }"#;

struct Text;

impl ProtoSource for Text {
    fn read(&self, name: &str) -> Result<Option<String>, std::io::Error> {
        Ok((name == "t.proto").then(|| TYPES.to_owned()))
    }
}

static DEFINITIONS: LazyLock<Definitions> = LazyLock::new(|| {
    let mut all = Definitions::default();
    let source: Arc<dyn ProtoSource> = Arc::new(Text);
    all.load(&["t.proto".to_owned()], &source).expect("the types are sound");
    all
});

/// What the bytes came to, in a word. The first byte says what they are.
///
/// # Panics
/// The pieces of a response make a difference, a limit is passed, or what was written cannot be read.
pub(crate) fn check(bytes: &[u8]) -> String {
    let Some((kind, rest)) = bytes.split_first() else { return "nothing".to_owned() };
    match kind {
        b'r' => response(rest),
        b'j' => json(rest),
        b'm' => message(rest),
        b'f' => reflection(rest),
        _ => protoset(rest),
    }
}

/// Two lengths, header lines, trailer lines and a body: it is read whole, and in pieces.
fn response(bytes: &[u8]) -> String {
    let [head, trailers, rest @ ..] = bytes else { return "cut".to_owned() };
    let (lines, rest) = rest.split_at((*head as usize).min(rest.len()));
    let (trailers, body) = rest.split_at((*trailers as usize).min(rest.len()));
    let (http_status, http_reason) = (200, "OK");
    let reply = Reply { http_status, http_reason, head: lines, body, trailers };
    let whole = CallOutcome::of(&reply, MESSAGE_MAX);
    let head = ReplyHead { http_status, http_reason, lines };
    for len in [1, 7] {
        let mut reader = ResponseReader::new(&head, MESSAGE_MAX);
        let mut messages = Vec::new();
        for piece in body.chunks(len) {
            reader.push(piece);
            messages.extend(std::iter::from_fn(|| reader.next_message()));
        }
        let mut cut = reader.finish(trailers);
        messages.append(&mut cut.messages);
        // A whole response gives no more than shows that it has too many.
        assert_eq!(messages.get(..whole.messages.len()), Some(&whole.messages[..]));
        assert!(messages.len() == whole.messages.len() || whole.messages.len() == 2);
        // A second message is a fault of a whole response alone: a stream may have any number.
        if messages.len() <= 1 {
            assert_eq!(cut.status, whole.status);
        }
    }
    assert!(whole.messages.iter().all(|message| message.len() <= MESSAGE_MAX));
    // A status may have details of any kind.
    let _ = details_json(&whole.status, &DEFINITIONS);
    format!("{} {}", whole.status.code.0, whole.messages.len())
}

fn json(bytes: &[u8]) -> String {
    let Ok(text) = std::str::from_utf8(bytes) else { return "no text".to_owned() };
    let method = DEFINITIONS.method("p.S/Do").expect("it is there");
    match decode(text, &method.input()) {
        Ok(message) => {
            std::hint::black_box(encode_bytes(&message));
            "read".to_owned()
        }
        Err(_) => "refused".to_owned(),
    }
}

fn message(bytes: &[u8]) -> String {
    let method = DEFINITIONS.method("p.S/Do").expect("it is there");
    let Some(message) = decode_bytes(&method.output(), bytes) else { return "refused".to_owned() };
    match encode(&message) {
        Ok(text) => {
            decode(&text, &method.output()).unwrap_or_else(|error| panic!("{error}: {text}"));
            "read".to_owned()
        }
        Err(_) => "not for JSON".to_owned(),
    }
}

fn reflection(bytes: &[u8]) -> String {
    let mut reflection = Reflection::default();
    let (first, second) = bytes.split_at(bytes.len() / 2);
    for response in [first, second] {
        reflection.next_requests();
        if reflection.handle_responses([response]).is_err() {
            return "refused".to_owned();
        }
    }
    let finished = reflection.finish(&mut Definitions::default());
    if finished.is_ok() { "read" } else { "not sound" }.to_owned()
}

fn protoset(bytes: &[u8]) -> String {
    let mut all = Definitions::default();
    match all.load_protoset(bytes) {
        Ok(methods) => {
            assert!(methods.iter().all(|method| all.method(&method.full_method).is_some()));
            "read".to_owned()
        }
        Err(_) => "refused".to_owned(),
    }
}
