//! `brunt run` with scripts that make calls of gRPC.

use crate::http2::{frame, serve_frames};
use crate::{Scratch, run};

const PROTO: &str = "syntax = \"proto3\"; package p; service S { rpc M(Ask) returns (Reply); } message Ask { string text = 1; } message Reply { string text = 1; }";

const SCRIPT: &str = "import grpc from 'k6/net/grpc';
import { check } from 'k6';
const c = new grpc.Client();
c.load(['protos'], 't.proto');
export const options = { iterations: 3, thresholds: { 'grpc_req_duration{method:M,status:5}': ['max>=0'], checks: ['rate==1'] } };
export default function () {
  c.connect(__ENV.ADDRESS, { plaintext: true });
  const r = c.invoke('p.S/M', { text: 'a' });
  check(r, { refused: () => r.status === grpc.StatusNotFound && r.error.message === 'gone away' && r.message.text === '' });
  c.close();
}
";

/// A field as HPACK has it without any table.
fn field(name: &str, value: &str) -> Vec<u8> {
    [&[0, name.len() as u8], name.as_bytes(), &[value.len() as u8], value.as_bytes()].concat()
}

/// An answer that has a status and nothing else.
fn refused(stream: u32) -> Option<Vec<u8>> {
    let fields = [
        vec![0x88],
        field("content-type", "application/grpc"),
        field("grpc-status", "5"),
        field("grpc-message", "gone%20away"),
    ];
    Some(frame(1, 5, stream, &fields.concat()))
}

/// Issue 45: calls are made over HTTP/2 without TLS, counted under k6's names, and fail by their own status.
#[test]
fn a_script_makes_calls() {
    let scratch = Scratch::new("grpc-calls");
    std::fs::create_dir(scratch.path("protos")).unwrap();
    scratch.file("protos/t.proto", PROTO);
    let script = scratch.file("script.js", SCRIPT);
    let results = crate::text(&scratch.path("results.bin"));
    let url = serve_frames(refused);
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    run(&format!("run -q --no-summary -e ADDRESS={address} -o {results} {script}")).with_code(0);
    let json = run(&format!("report -type=json {results}")).with_code(0).json();
    assert_eq!((&json["requests"], &json["success"]), (&3.into(), &0.into()), "{json}");
    assert_eq!(json["errors"][0], "NOT_FOUND", "{json}");
}
