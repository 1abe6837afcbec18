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

const DEEP: &str =
    "syntax = \"proto3\"; package p; import \"dep.proto\"; service S { rpc M(Dep) returns (Dep); }";
const DEP: &str = "syntax = \"proto3\"; package p; message Dep { string text = 1; }";

/// A script whose definitions come from a .proto, from what that imports in another folder, and from a protoset.
const LOADING: &str = "import grpc from 'k6/net/grpc';
import { check } from 'k6';
const c = new grpc.Client();
c.load(['nowhere', 'protos', 'protos/deep'], 't.proto');
const d = new grpc.Client();
const set = d.loadProtoset('./t.protoset');
export const options = { iterations: 4, vus: 2, thresholds: { checks: ['rate==1'] } };
export default function () {
  for (const [client, path] of [[c, 'p.S/M'], [d, 'q.S/M']]) {
    client.connect(__ENV.ADDRESS, { plaintext: true });
    const r = client.invoke(path, { text: 'a' });
    check(r, { ok: () => r.status === grpc.StatusOK && r.message.text === 'a' && set.length === 1 });
    client.close();
  }
}
";

/// A file descriptor with one message, and a service that takes and gives it.
fn described(package: &str) -> Vec<u8> {
    let bytes = crate::grpc_command::bytes;
    let field = [bytes(1, b"text"), vec![3 << 3, 1, 4 << 3, 1, 5 << 3, 9]].concat();
    let message = [bytes(1, b"Dep"), bytes(2, &field)].concat();
    let of = format!(".{package}.Dep");
    let method = [bytes(1, b"M"), bytes(2, of.as_bytes()), bytes(3, of.as_bytes())].concat();
    let service = [bytes(1, b"S"), bytes(2, &method)].concat();
    let file = [
        bytes(1, b"set.proto"),
        bytes(2, package.as_bytes()),
        bytes(4, &message),
        bytes(6, &service),
        bytes(12, b"proto3"),
    ];
    file.concat()
}

/// Writes the script and its definitions into a folder; gives the script.
pub(crate) fn loading_script(scratch: &Scratch) -> String {
    std::fs::create_dir_all(scratch.path("project/protos/deep")).unwrap();
    scratch.file("project/protos/t.proto", DEEP);
    scratch.file("project/protos/deep/dep.proto", DEP);
    std::fs::write(
        scratch.path("project/t.protoset"),
        crate::grpc_command::bytes(1, &described("q")),
    )
    .unwrap();
    scratch.file("project/script.js", LOADING)
}

/// Issue 45: what a script's clients load goes into its archive: it runs where none of the files are.
#[test]
fn definitions_are_in_archives() {
    let scratch = Scratch::new("grpc-archive");
    let script = loading_script(&scratch);
    let tar = crate::text(&scratch.path("test.tar"));
    run(&format!("archive -O {tar} {script}")).with_code(0);
    std::fs::remove_dir_all(scratch.path("project")).unwrap();
    let address = crate::grpc_command::address(crate::grpc_command::one);
    let ran = run(&format!("run -e ADDRESS={address} {tar}")).with_code(0);
    assert!(ran.stdout.contains("8 out of 8"), "{ran:#?}");
}
