//! The flags of `bench`: its own, and those of `attack` that have a meaning in a closed loop.

use cli::{Flag, ValueError, ValueKind, value};

use super::attack::{AttackFlags, FLAGS};
use super::watch;

/// The flags of `bench`.
pub(crate) fn table() -> Vec<Flag<AttackFlags>> {
    let is_shared = |name| SHARED.contains(&name) || watch::BESIDE.contains(&name);
    let shared = FLAGS.iter().filter(|flag| is_shared(flag.row.name));
    OWN.iter().copied().chain(shared.map(|flag| adapted(*flag))).collect()
}

/// A shared flag as `bench` has it: `-k` is taken, and results go nowhere unless sent there.
fn adapted(mut flag: Flag<AttackFlags>) -> Flag<AttackFlags> {
    match flag.row.name {
        "insecure" => flag.row.aliases = &[],
        "m" => {
            flag.row.default = "1";
            flag.row.docs = "Streams on one HTTP/2 connection, each with one request; over HTTP/1.1 they stand in line.";
        }
        "output" => flag.row.default = "none",
        "targets" => flag.row.default = "",
        _ => {}
    }
    flag
}

/// What `attack` has as well.
const SHARED: &[&str] = &[
    "targets",
    "format",
    "body",
    "chunked",
    "header",
    "name",
    "timeout",
    "redirects",
    "max-body",
    "laddr",
    "unix-socket",
    "connect-to",
    "resolvers",
    "dns-ttl",
    "root-certs",
    "cert",
    "key",
    "insecure",
    "session-tickets",
    "proxy-header",
    "http2",
    "h2c",
    "m",
    "output",
    "to",
    "keep-headers",
    "seed",
    "prometheus-addr",
    "json",
    "progress",
    "q",
    "io",
    "pin",
    "rt",
];

/// Its own.
const OWN: &[Flag<AttackFlags>] = &[
    Flag::new(
        "c",
        ValueKind::Text("N"),
        "10",
        "Connections: each sends a request as soon as its last one was answered.",
        |t: &mut AttackFlags, v| value::count(v).map(|n| t.max_workers = Some(n)),
    )
    .native()
    .also(&["connections"]),
    Flag::new(
        "n",
        ValueKind::Text("N"),
        "",
        "Requests in all; without -d this alone ends the bench.",
        |t: &mut AttackFlags, v| value::count(v).map(|n| t.requests = Some(n)),
    )
    .native()
    .also(&["requests"]),
    Flag::new(
        "d",
        ValueKind::Duration,
        "10s",
        "How long requests are begun; without -d and with -n, until all are.",
        |t: &mut AttackFlags, v| value::duration(v).map(|d| t.duration = d),
    )
    .native()
    .also(&["duration", "z"]),
    Flag::new(
        "pipeline",
        ValueKind::Text("N"),
        "1",
        "Requests that may be unanswered on one connection (pipelining, over HTTP/1.1 alone).",
        |t: &mut AttackFlags, v| value::count(v).map(|n| t.pipeline = Some(n)),
    )
    .native(),
    Flag::new(
        "think",
        ValueKind::Text("LAW"),
        "none",
        "How long a user waits after an answer: fixed:1s, uniform:1s,3s, exp:1s, lognormal:1s,0.5 or 1s.",
        |t: &mut AttackFlags, v| value::law(v).map(|law| t.think = law),
    )
    .native(),
    Flag::new(
        "warmup",
        ValueKind::Duration,
        "0s",
        "Requests due in this time, before -d and -n begin, are sent and not counted.",
        |t: &mut AttackFlags, v| value::duration(v).map(|d| t.warmup = d),
    )
    .native(),
    Flag::new(
        "k",
        ValueKind::Switch,
        "on",
        "Keep connections alive; -k=false opens one for each request.",
        |t: &mut AttackFlags, v| value::switch(v).map(|on| t.keepalive = on),
    )
    .native()
    .also(&["keepalive"]),
    Flag::new(
        "no-keepalive",
        ValueKind::Switch,
        "",
        "The same as -k=false.",
        |t: &mut AttackFlags, v| value::switch(v).map(|on| t.keepalive = !on),
    )
    .native(),
    Flag::new(
        "per-connection",
        ValueKind::Switch,
        "",
        "Rows per connection in the report as well.",
        |t: &mut AttackFlags, v| value::switch(v).map(|on| t.per_connection = on),
    )
    .native(),
    Flag::new(
        "X",
        ValueKind::Text("METHOD"),
        "GET",
        "Method of the requests to the URL.",
        |t: &mut AttackFlags, v| {
            t.method = method(v)?;
            Ok(())
        },
    )
    .native()
    .also(&["method"]),
];

/// A method: a token of letters, RFC 9110, 9.1.
fn method(text: &str) -> Result<String, ValueError> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return Ok(text.to_ascii_uppercase());
    }
    Err(ValueError::new("a method like GET or POST is needed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shared_flag_is_there() {
        let shared = SHARED.len() + watch::BESIDE.len();
        assert_eq!(table().len(), OWN.len() + shared);
    }
}
