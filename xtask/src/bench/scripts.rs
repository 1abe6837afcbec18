//! The k6 scripts that brunt and k6 run.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// One request an iteration, and nothing looked at.
pub(super) const GET: &str = "get.js";
/// One request an iteration, and its status checked.
pub(super) const CHECK: &str = "check.js";
/// A socket whose messages are echoed, and sent again until its time is over.
pub(super) const ECHO: &str = "echo.js";
/// One request a second.
pub(super) const SLEEP: &str = "sleep.js";

/// A call of gRPC an iteration, and its status checked.
pub(super) const CALL: &str = "call.js";
/// The definitions of such calls.
pub(super) const PROTO: &str = "bench.proto";

const TEXTS: [(&str, &str); 6] = [
    (
        GET,
        "import http from 'k6/http';
export const options = { discardResponseBodies: true };
export default function () { http.get(__ENV.BENCH_URL); }
",
    ),
    (
        CHECK,
        "import http from 'k6/http';
import { check } from 'k6';
export default function () {
    const res = http.get(__ENV.BENCH_URL);
    check(res, { 'status is 200': (r) => r.status === 200 });
}
",
    ),
    (
        ECHO,
        "import ws from 'k6/ws';
export default function () {
    ws.connect(__ENV.BENCH_URL, {}, (socket) => {
        socket.on('open', () => socket.send('message'));
        socket.on('message', (text) => socket.send(text));
        socket.setTimeout(() => socket.close(), 1000 * __ENV.BENCH_SECONDS);
    });
}
",
    ),
    (
        SLEEP,
        "import http from 'k6/http';
import { sleep } from 'k6';
export default function () { http.get(__ENV.BENCH_URL); sleep(1); }
",
    ),
    (
        CALL,
        "import grpc from 'k6/net/grpc';
import { check } from 'k6';
const client = new grpc.Client();
client.load([], 'bench.proto');
export default function () {
    if (__ITER === 0) client.connect(__ENV.BENCH_URL, { plaintext: true });
    const res = client.invoke('bench.Bench/Get', {});
    check(res, { 'status is OK': (r) => r.status === grpc.StatusOK });
}
",
    ),
    (
        PROTO,
        "syntax = \"proto3\";
package bench;
message Nothing {}
service Bench { rpc Get(Nothing) returns (Nothing); }
",
    ),
];

/// Writes all of them into this folder.
///
/// # Errors
/// One cannot be written.
pub(super) fn write(dir: &Path) -> Result<()> {
    for (name, text) in TEXTS {
        fs::write(dir.join(name), text).with_context(|| format!("writing {name}"))?;
    }
    Ok(())
}
