//! HTTP/1: what the demo server says to each path, mutated.

use demo::{Config, ServerMachine};
use engine::{Protocol, Settings, TlsSettings};
use stdx::Nanos;
use workload::{Load, Plan};

use crate::frames::LINES;
use crate::trial::{Trial, run_all};
use crate::world::{constant, plan};

const PATHS: [&str; 12] = [
    "/",
    "/gzip",
    "/br",
    "/zstd",
    "/deflate",
    "/chunked",
    "/trailers",
    "/eof",
    "/1xx",
    "/redirect/3",
    "/bytes/5000",
    "/truncate",
];

/// Hits of a run.
pub(crate) const HITS: u64 = 48;

/// What is the same for every protocol over HTTP: an open loop or a closed one, with each way to use connections.
pub(crate) fn load(seed: u64, paths: &[&str]) -> (Plan, Settings) {
    let load =
        if seed.is_multiple_of(2) { Load::Closed { users: 1 + seed % 7 } } else { constant(200) };
    let plan = Plan { hits_max: Some(HITS), seed, ..plan(load, 60, paths) };
    let settings = Settings {
        timeout: Some(Nanos::from_millis(400)),
        keepalive: !seed.is_multiple_of(5),
        max_connections: seed.is_multiple_of(3).then_some(4),
        // A redirect may lead to https: nothing of the machine's certificates is wanted here.
        tls: TlsSettings { insecure: true, ..TlsSettings::default() },
        ..Settings::default()
    };
    (plan, settings)
}

#[test]
fn no_mutated_answer_of_http1_stops_a_run() {
    run_all("http1", |seed| {
        let (plan, settings) = load(seed, &PATHS);
        let pipeline = if seed % 4 == 0 { 1 + (seed % 9) as usize } else { 1 };
        let settings = Settings { protocol: Protocol::Http1, pipeline, ..settings };
        let server = ServerMachine::new(Config { seed, ..Config::default() }).expect("a server");
        (Trial { grammar: LINES, server: Box::new(server), plan, settings }, Box::new(String::new))
    });
}
