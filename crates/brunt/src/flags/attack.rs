//! The flags of `attack`.

use std::net::{IpAddr, SocketAddr};

use cli::{EmptyValue, Flag, ValueKind, value};
use engine::IoChoice;
use results::Encoding;
use stdx::{Distribution, Nanos};
use workload::arrival::{ParsedRate, Rate};

use super::cable::CableFlags;
use super::load_value;
use super::seek::SeekFlags;
use super::watch::{self, Watched, Watches};

/// The flags of `attack` as typed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AttackFlags {
    pub(crate) name: String,
    pub(crate) targets: Option<String>,
    pub(crate) format: String,
    pub(crate) output: Option<String>,
    pub(crate) body: Option<String>,
    pub(crate) chunked: bool,
    pub(crate) cert: Option<String>,
    pub(crate) key: Option<String>,
    pub(crate) root_certs: Vec<String>,
    pub(crate) insecure: bool,
    pub(crate) http2: bool,
    pub(crate) h2c: bool,
    pub(crate) lazy: bool,
    pub(crate) duration: Nanos,
    pub(crate) timeout: Nanos,
    pub(crate) rate: ParsedRate,
    pub(crate) workers: u64,
    pub(crate) max_workers: Option<u64>,
    pub(crate) connections: u64,
    pub(crate) max_connections: u64,
    pub(crate) keepalive: bool,
    pub(crate) redirects: i64,
    /// `None` is -1.
    pub(crate) max_body: Option<Option<u64>>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) proxy_headers: Vec<(String, String)>,
    pub(crate) local_addrs: Vec<IpAddr>,
    pub(crate) unix_socket: Option<String>,
    pub(crate) connect_to: Vec<(String, String)>,
    pub(crate) resolvers: Vec<SocketAddr>,
    /// `None` is -1.
    pub(crate) dns_ttl: Option<Nanos>,
    pub(crate) session_tickets: bool,
    pub(crate) prometheus_addr: Option<String>,
    pub(crate) shape: Option<String>,
    pub(crate) tick: Nanos,
    pub(crate) seed: Option<u64>,
    pub(crate) io: IoChoice,
    pub(crate) pin: bool,
    pub(crate) real_time: bool,
    pub(crate) to: Option<String>,
    pub(crate) keep_headers: bool,
    pub(crate) json: bool,
    pub(crate) progress: Option<bool>,
    pub(crate) quiet: bool,
    /// Streams on one HTTP/2 connection.
    pub(crate) streams: Option<u64>,
    /// `bench` alone: what is not counted at the begin.
    pub(crate) warmup: Nanos,
    /// `bench` alone: how long users wait after an answer.
    pub(crate) think: Distribution,
    /// `bench` alone: unanswered requests on one connection.
    pub(crate) pipeline: Option<u64>,
    /// `bench` alone: the most requests.
    pub(crate) requests: Option<u64>,
    /// `bench` alone: rows by connection in the report.
    pub(crate) per_connection: bool,
    /// `bench` alone: the method for its URL.
    pub(crate) method: String,
    /// `seek` alone: what it seeks, and how.
    pub(crate) seek: SeekFlags,
    /// `cable` alone: what it tests, and how.
    pub(crate) cable: CableFlags,
    /// What is watched beside the run.
    pub(crate) watched: Watched,
}

impl Watches for AttackFlags {
    fn watched(&mut self) -> &mut Watched {
        &mut self.watched
    }
}

impl Default for AttackFlags {
    fn default() -> Self {
        Self {
            name: String::new(),
            targets: None,
            format: "http".to_owned(),
            output: None,
            body: None,
            chunked: false,
            cert: None,
            key: None,
            root_certs: Vec::new(),
            insecure: false,
            http2: true,
            h2c: false,
            lazy: false,
            duration: Nanos::ZERO,
            timeout: Nanos::from_secs(30),
            rate: ParsedRate::Rate(Rate::per_second(50)),
            workers: 10,
            max_workers: None,
            connections: 10_000,
            max_connections: 0,
            keepalive: true,
            per_connection: false,
            redirects: 10,
            max_body: None,
            headers: Vec::new(),
            proxy_headers: Vec::new(),
            local_addrs: Vec::new(),
            unix_socket: None,
            connect_to: Vec::new(),
            resolvers: Vec::new(),
            dns_ttl: Some(Nanos::ZERO),
            session_tickets: false,
            prometheus_addr: None,
            shape: None,
            tick: Nanos::ZERO,
            seed: None,
            io: IoChoice::Auto,
            pin: false,
            real_time: false,
            to: None,
            keep_headers: false,
            json: false,
            progress: None,
            quiet: false,
            streams: None,
            warmup: Nanos::ZERO,
            think: Distribution::None,
            pipeline: None,
            requests: None,
            method: "GET".to_owned(),
            seek: SeekFlags::default(),
            cable: CableFlags::default(),
            watched: Watched::default(),
        }
    }
}

/// Sets an optional text.
fn text(slot: &mut Option<String>, value: &str) {
    *slot = Some(value.to_owned());
}

/// The flags of `attack`: what to send, when, over what, and where the results go.
pub(crate) const FLAGS: &[Flag<AttackFlags>] = &[
    // What to send.
    Flag::new("targets", ValueKind::Path, "stdin", "File of targets.", |t: &mut AttackFlags, v| {
        text(&mut t.targets, v);
        Ok(())
    }),
    Flag::new(
        "format",
        ValueKind::Choice(&["http", "json"]),
        "http",
        "Format of the targets: a request per block of lines, or a JSON object per line.",
        |t: &mut AttackFlags, v| {
            v.clone_into(&mut t.format);
            Ok(())
        },
    ),
    Flag::new(
        "lazy",
        ValueKind::Switch,
        "",
        "Read targets while attacking; each is used once, in order, and the last one ends the attack.",
        |t: &mut AttackFlags, v| value::switch(v).map(|on| t.lazy = on),
    ),
    Flag::new(
        "body",
        ValueKind::Path,
        "",
        "File used as the body of targets without one.",
        |t: &mut AttackFlags, v| {
            text(&mut t.body, v);
            Ok(())
        },
    )
    .vegeta_empty(EmptyValue::Absent),
    Flag::new(
        "chunked",
        ValueKind::Switch,
        "",
        "Send request bodies chunked.",
        |t: &mut AttackFlags, v| value::switch(v).map(|on| t.chunked = on),
    ),
    Flag::new(
        "header",
        ValueKind::Text("'NAME: VALUE'"),
        "",
        "Header field for every request; repeat for more.",
        |t: &mut AttackFlags, v| value::header(v).map(|header| t.headers.push(header)),
    )
    .also(&["H"]),
    Flag::new(
        "name",
        ValueKind::Text("NAME"),
        "",
        "Name of the attack, kept in every result.",
        |t: &mut AttackFlags, v| {
            v.clone_into(&mut t.name);
            Ok(())
        },
    ),
    // When.
    Flag::new(
        "rate",
        ValueKind::Text("N/DURATION"),
        "50/1s",
        "Requests per time: 50, 120/m, 1/10s. 0 is a closed loop of -max-workers users.",
        |t: &mut AttackFlags, v| load_value::rate(v).map(|rate| t.rate = rate),
    ),
    Flag::new(
        "duration",
        ValueKind::Duration,
        "0",
        "How long requests are begun; 0 goes on until stopped.",
        |t: &mut AttackFlags, v| value::duration(v).map(|d| t.duration = d),
    ),
    Flag::new(
        "shape",
        ValueKind::Text("SHAPE"),
        "",
        "Rate over time, in place of -rate: see `brunt help attack`.",
        |t: &mut AttackFlags, v| {
            text(&mut t.shape, v);
            Ok(())
        },
    )
    .native(),
    Flag::new(
        "workers",
        ValueKind::Text("N"),
        "10",
        "Vegeta's initial workers: accepted; requests under way need no worker here.",
        |t: &mut AttackFlags, v| value::number(v).map(|n| t.workers = n),
    ),
    Flag::new(
        "max-workers",
        ValueKind::Text("N"),
        "unlimited",
        "Requests under way at most; those due beyond it wait, and the wait counts.",
        |t: &mut AttackFlags, v| value::number(v).map(|n| t.max_workers = Some(n)),
    ),
    Flag::new(
        "tick",
        ValueKind::Duration,
        "0",
        "Send together what falls due within this time: less CPU, coarser pacing.",
        |t: &mut AttackFlags, v| value::duration(v).map(|d| t.tick = d),
    )
    .native(),
    Flag::new(
        "seed",
        ValueKind::Text("N"),
        "random",
        "Seed of every random choice.",
        |t: &mut AttackFlags, v| value::number(v).map(|n| t.seed = Some(n)),
    )
    .native(),
    Flag::new(
        "timeout",
        ValueKind::Duration,
        "30s",
        "Limit of a whole exchange, redirects and body included; 0 is none.",
        |t: &mut AttackFlags, v| value::duration(v).map(|d| t.timeout = d),
    ),
    Flag::new(
        "redirects",
        ValueKind::Text("N"),
        "10",
        "Redirects to follow; -1 takes a redirect as the answer.",
        |t: &mut AttackFlags, v| value::number_or_minus_one(v).map(|n| t.redirects = n),
    ),
    // Connections.
    Flag::new(
        "keepalive",
        ValueKind::Switch,
        "true",
        "Keep connections alive.",
        |t: &mut AttackFlags, v| value::switch(v).map(|on| t.keepalive = on),
    ),
    Flag::new(
        "connections",
        ValueKind::Text("N"),
        "10000",
        "Idle connections kept per host.",
        |t: &mut AttackFlags, v| value::number(v).map(|n| t.connections = n),
    ),
    Flag::new(
        "max-connections",
        ValueKind::Text("N"),
        "unlimited",
        "Connections per host at most; waiting for one counts.",
        |t: &mut AttackFlags, v| value::number(v).map(|n| t.max_connections = n),
    ),
    Flag::new(
        "laddr",
        ValueKind::Text("IP,…"),
        "0.0.0.0",
        "Local addresses to connect from, in turn; may be given several times.",
        |t: &mut AttackFlags, v| value::addresses(v).map(|list| t.local_addrs.extend(list)),
    )
    .vegeta_empty(EmptyValue::Absent),
    Flag::new(
        "unix-socket",
        ValueKind::Path,
        "",
        "Connect to this socket, whatever the URL says.",
        |t: &mut AttackFlags, v| {
            text(&mut t.unix_socket, v);
            Ok(())
        },
    ),
    Flag::new(
        "connect-to",
        ValueKind::Text("FROM:PORT:TO:PORT"),
        "",
        "Connect elsewhere than the URL says; repeat to add or to take turns.",
        |t: &mut AttackFlags, v| value::connect_to(v).map(|pair| t.connect_to.push(pair)),
    ),
    Flag::new(
        "resolvers",
        ValueKind::Text("IP[:PORT],…"),
        "system",
        "Name servers to ask.",
        |t: &mut AttackFlags, v| value::resolvers(v).map(|list| t.resolvers = list),
    ),
    Flag::new(
        "dns-ttl",
        ValueKind::Duration,
        "0",
        "How long a resolved name is kept: 0 for the whole run, -1 not at all.",
        |t: &mut AttackFlags, v| value::duration_or_minus_one(v).map(|ttl| t.dns_ttl = ttl),
    ),
    Flag::new(
        "proxy-header",
        ValueKind::Text("'NAME: VALUE'"),
        "",
        "Header field for the proxy's CONNECT; repeat for more.",
        |t: &mut AttackFlags, v| value::header(v).map(|header| t.proxy_headers.push(header)),
    ),
    Flag::new(
        "http2",
        ValueKind::Switch,
        "true",
        "Offer HTTP/2 over TLS; false keeps to HTTP/1.1.",
        |t: &mut AttackFlags, v| value::switch(v).map(|on| t.http2 = on),
    ),
    Flag::new(
        "h2c",
        ValueKind::Switch,
        "",
        "Speak HTTP/2 without TLS (prior knowledge).",
        |t: &mut AttackFlags, v| value::switch(v).map(|on| t.h2c = on),
    ),
    Flag::new(
        "m",
        ValueKind::Text("N"),
        "",
        "Streams on one HTTP/2 connection, at most; as many as the server allows unless given.",
        |t: &mut AttackFlags, v| value::count(v).map(|n| t.streams = Some(n)),
    )
    .native()
    .also(&["streams"]),
    // TLS.
    Flag::new(
        "insecure",
        ValueKind::Switch,
        "",
        "Do not verify the server's certificate.",
        |t: &mut AttackFlags, v| value::switch(v).map(|on| t.insecure = on),
    )
    .also(&["k"]),
    Flag::new("cert", ValueKind::Path, "", "PEM client certificate.", |t: &mut AttackFlags, v| {
        text(&mut t.cert, v);
        Ok(())
    })
    .vegeta_empty(EmptyValue::Absent),
    Flag::new("key", ValueKind::Path, "the -cert file", "PEM private key.", |t: &mut AttackFlags, v| {
        text(&mut t.key, v);
        Ok(())
    })
    .vegeta_empty(EmptyValue::Absent),
    Flag::new(
        "root-certs",
        ValueKind::Text("FILE,…"),
        "system",
        "PEM certificates that replace the trusted ones.",
        |t: &mut AttackFlags, v| {
            t.root_certs = v.split(',').map(str::to_owned).collect();
            Ok(())
        },
    ),
    Flag::new(
        "session-tickets",
        ValueKind::Switch,
        "",
        "Resume TLS sessions.",
        |t: &mut AttackFlags, v| value::switch(v).map(|on| t.session_tickets = on),
    ),
    // Results.
    Flag::new(
        "output",
        ValueKind::Path,
        "stdout",
        "File for the results; `none` keeps none.",
        |t: &mut AttackFlags, v| {
            text(&mut t.output, v);
            Ok(())
        },
    )
    .also(&["o"]),
    Flag::new(
        "to",
        ValueKind::Choice(Encoding::NAMES),
        "arrow",
        "Format of the results; by default the output's ending decides.",
        |t: &mut AttackFlags, v| value::word(v, Encoding::NAMES).map(|word| t.to = Some(word)),
    )
    .native(),
    Flag::new(
        "max-body",
        ValueKind::Text("SIZE"),
        "0 (vegeta: -1)",
        "Bytes of each response body kept in its result (-1: all); the rest is read and counted.",
        |t: &mut AttackFlags, v| value::size_or_minus_one(v).map(|size| t.max_body = Some(size)),
    )
    .vegeta_empty(EmptyValue::Means("0")),
    Flag::new(
        "keep-headers",
        ValueKind::Switch,
        "",
        "Keep response headers in the results.",
        |t: &mut AttackFlags, v| value::switch(v).map(|on| t.keep_headers = on),
    )
    .native(),
    Flag::new(
        "prometheus-addr",
        ValueKind::Text("ADDR:PORT"),
        "",
        "Serve live metrics here.",
        |t: &mut AttackFlags, v| {
            text(&mut t.prometheus_addr, v);
            Ok(())
        },
    ),
    // Around.
    Flag::new(
        "json",
        ValueKind::Switch,
        "",
        "Print the report as JSON when done.",
        |t: &mut AttackFlags, v| value::switch(v).map(|on| t.json = on),
    )
    .native(),
    Flag::new(
        "progress",
        ValueKind::Switch,
        "on a terminal",
        "Show live progress on stderr.",
        |t: &mut AttackFlags, v| value::switch(v).map(|on| t.progress = Some(on)),
    )
    .native(),
    Flag::new(
        "q",
        ValueKind::Switch,
        "",
        "Quiet: no progress and no report.",
        |t: &mut AttackFlags, v| value::switch(v).map(|on| t.quiet = on),
    )
    .native()
    .also(&["quiet"]),
    Flag::new(
        "io",
        ValueKind::Choice(&["auto", "mio", "uring"]),
        "auto",
        "How sockets are waited for: mio (epoll, kqueue) or uring (Linux 6.1); auto: uring from 192 users on.",
        |t: &mut AttackFlags, v| load_value::io_choice(v).map(|io| t.io = io),
    )
    .native(),
    Flag::new("pin", ValueKind::Switch, "", "Pin each worker to a core.", |t: &mut AttackFlags, v| {
        value::switch(v).map(|on| t.pin = on)
    })
    .native(),
    Flag::new("rt", ValueKind::Switch, "", "Ask for real-time scheduling.", |t: &mut AttackFlags, v| {
        value::switch(v).map(|on| t.real_time = on)
    })
    .native(),
    // The server beside it.
    watch::machine(),
    watch::pid("watch-pid"),
    watch::name("watch-name"),
    watch::port("watch-port"),
    watch::cgroup("watch-cgroup"),
    watch::scrape("watch-scrape"),
    watch::log("watch-log"),
    watch::pattern("watch-log-pattern"),
    watch::every("watch-every"),
];
