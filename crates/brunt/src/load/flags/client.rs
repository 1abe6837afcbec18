//! The client's side, which every command with load has: addresses, names, TLS, and the engine's threads.

use std::net::{IpAddr, SocketAddr};

use cli::value::FixedAddresses;
use cli::{EmptyValue, Flag, ValueKind, value};
use engine::{AnswerClock, IoChoice, Renewal};
use stdx::Nanos;

use session::{CLOCK_CHOICES, IO_CHOICES, clock_choice, io_choice};

/// The flags of the client's side.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ClientFlags {
    /// Where connections go, and where they come from.
    pub(crate) connection: ConnectionFlags,
    /// How names are resolved.
    pub(crate) dns: DnsFlags,
    /// Certificates and sessions.
    pub(crate) tls: TlsFlags,
    /// How the engine runs.
    pub(crate) engine: EngineFlags,
}

/// Where connections go, and where they come from.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ConnectionFlags {
    /// Local addresses, taken in turn.
    pub(crate) local_addrs: Vec<IpAddr>,
    /// The Unix socket that is connected to, whatever a URL says.
    pub(crate) unix_socket: Option<String>,
    /// Pairs of `host:port`: the URL's, and the one that is connected to.
    pub(crate) connect_to: Vec<(String, String)>,
    /// Addresses of names.
    pub(crate) fixed: Vec<FixedAddresses>,
    /// Header fields of CONNECT requests to a proxy.
    pub(crate) proxy_headers: Vec<(String, String)>,
    /// When connections are replaced.
    pub(crate) renewal: Renewal,
}

/// How names are resolved.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DnsFlags {
    /// The name servers; none are the system's.
    pub(crate) resolvers: Vec<SocketAddr>,
    /// How long an address is used: 0 for the whole run, `None` (-1) not at all.
    pub(crate) ttl: Option<Nanos>,
}

impl Default for DnsFlags {
    fn default() -> Self {
        Self { resolvers: Vec::new(), ttl: Some(Nanos::ZERO) }
    }
}

/// Certificates and sessions.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TlsFlags {
    /// Whether servers' certificates are not verified.
    pub(crate) insecure: bool,
    /// The file of the client's certificate.
    pub(crate) cert: Option<String>,
    /// The file of its key.
    pub(crate) key: Option<String>,
    /// Files of the certificates that are trusted; none are the system's.
    pub(crate) root_certs: Vec<String>,
    /// Whether TLS sessions are resumed.
    pub(crate) session_tickets: bool,
}

/// How the engine runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct EngineFlags {
    /// The seed of every random choice; `None` draws one.
    pub(crate) seed: Option<u64>,
    /// The mechanism that waits for sockets.
    pub(crate) io: IoChoice,
    /// By whose clock answers end in an open loop.
    pub(crate) answer_clock: AnswerClock,
    /// Whether each worker is pinned to a core.
    pub(crate) pin: bool,
    /// Whether real-time scheduling is asked for.
    pub(crate) real_time: bool,
}

/// The rows on how a connection reaches its server, but for `-laddr`.
pub(crate) const fn route<T: AsMut<ClientFlags>>() -> [Flag<T>; 6] {
    [unix_socket(), connect_to(), resolve(), resolvers(), dns_ttl(), proxy_header()]
}

/// The rows on when connections are replaced.
pub(crate) const fn renewal<T: AsMut<ClientFlags>>() -> [Flag<T>; 2] {
    [conn_max_age(), conn_max_requests()]
}

/// The rows on certificates and sessions, but for `-insecure`.
pub(crate) const fn certificates<T: AsMut<ClientFlags>>() -> [Flag<T>; 4] {
    [cert(), key(), root_certs(), session_tickets()]
}

/// The rows on the engine's threads.
pub(crate) const fn threads<T: AsMut<ClientFlags>>() -> [Flag<T>; 4] {
    [io(), answer_clock(), pin(), real_time()]
}

row!(
    ClientFlags,
    laddr,
    "laddr",
    ValueKind::Text("IP,…"),
    "0.0.0.0",
    "Local addresses to connect from, in turn; may be given several times.",
    |values, text| value::addresses(text).map(|list| values.connection.local_addrs.extend(list));
    .vegeta_empty(EmptyValue::Absent)
);
row!(
    ClientFlags,
    unix_socket,
    "unix-socket",
    ValueKind::Path,
    "",
    "Connect to this socket instead of the URL's host.",
    |values, text| {
        // As with Vegeta, whose default is an empty text.
        values.connection.unix_socket = (!text.is_empty()).then(|| text.to_owned());
        Ok(())
    }
);
row!(
    ClientFlags,
    connect_to,
    "connect-to",
    ValueKind::Text("FROM:PORT:TO:PORT"),
    "",
    "Connect to another host and port than the URL's; repeat for other hosts, or to alternate between several.",
    |values, text| value::connect_to(text).map(|pair| values.connection.connect_to.push(pair))
);
row!(
    ClientFlags,
    resolve,
    "resolve",
    ValueKind::Text("HOST:PORT:ADDRESS,…"),
    "",
    "Addresses of a name at a port, as in curl; several take turns. Repeat for other names.",
    |values, text| value::fixed_addresses(text).map(|fixed| values.connection.fixed.push(fixed));
    .native()
);
row!(
    ClientFlags,
    proxy_header,
    "proxy-header",
    ValueKind::Text("'NAME: VALUE'"),
    "",
    "Header field for the proxy's CONNECT; repeat for more.",
    |values, text| value::header(text).map(|field| values.connection.proxy_headers.push(field))
);
row!(
    ClientFlags,
    conn_max_age,
    "conn-max-age",
    ValueKind::Duration,
    "none",
    "Replace a connection that is so old, once it is idle: a load balancer may choose anew.",
    |values, text| value::duration(text).map(|age| {
        values.connection.renewal.age_max = Some(age).filter(|age| *age > Nanos::ZERO);
    });
    .native()
);
row!(
    ClientFlags,
    conn_max_requests,
    "conn-max-requests",
    ValueKind::Text("N"),
    "none",
    "Replace a connection that had so many requests.",
    |values, text| {
        value::count(text).map(|n| values.connection.renewal.requests_max = Some(n))
    };
    .native()
);
row!(
    ClientFlags,
    resolvers,
    "resolvers",
    ValueKind::Text("IP[:PORT],…"),
    "system",
    "Name servers to query.",
    |values, text| value::resolvers(text).map(|list| values.dns.resolvers = list)
);
row!(
    ClientFlags,
    dns_ttl,
    "dns-ttl",
    ValueKind::Duration,
    "0",
    "How long a resolved name is cached; 0: for the whole run, -1: not at all.",
    |values, text| value::duration_or_minus_one(text).map(|ttl| values.dns.ttl = ttl)
);
row!(
    ClientFlags,
    insecure,
    "insecure",
    ValueKind::Switch,
    "",
    "Do not verify the server's certificate.",
    |values, text| value::switch(text).map(|on| values.tls.insecure = on);
    .also(&["k"])
);
row!(ClientFlags, cert, "cert", ValueKind::Path, "", "PEM client certificate.", |values, text| {
    values.tls.cert = Some(text.to_owned());
    Ok(())
}; .vegeta_empty(EmptyValue::Absent));
row!(
    ClientFlags,
    key,
    "key",
    ValueKind::Path,
    "the -cert file",
    "PEM private key.",
    |values, text| {
        values.tls.key = Some(text.to_owned());
        Ok(())
    };
    .vegeta_empty(EmptyValue::Absent)
);
row!(
    ClientFlags,
    root_certs,
    "root-certs",
    ValueKind::Text("FILE,…"),
    "system",
    "PEM certificates of the authorities to trust, instead of the system's.",
    |values, text| {
        values.tls.root_certs = text.split(',').map(str::to_owned).collect();
        Ok(())
    }
);
row!(
    ClientFlags,
    session_tickets,
    "session-tickets",
    ValueKind::Switch,
    "",
    "Resume TLS sessions.",
    |values, text| value::switch(text).map(|on| values.tls.session_tickets = on)
);
row!(
    ClientFlags,
    seed,
    "seed",
    ValueKind::Text("N"),
    "random",
    "Seed of every random choice.",
    |values, text| value::number(text).map(|n| values.engine.seed = Some(n));
    .native()
);
row!(
    ClientFlags,
    io,
    "io",
    ValueKind::Choice(IO_CHOICES),
    "auto",
    "How to wait: poll (epoll, kqueue) or uring (Linux 6.1); auto: uring in closed loops from 192 users on.",
    |values, text| io_choice(text).map(|io| values.engine.io = io);
    .native()
);
row!(
    ClientFlags,
    answer_clock,
    "answer-clock",
    ValueKind::Choice(CLOCK_CHOICES),
    "auto",
    "Clock of an answer's end in open loops: auto (the kernel's, where it stamps) or worker (when it was read).",
    |values, text| clock_choice(text).map(|clock| values.engine.answer_clock = clock);
    .native()
);
row!(
    ClientFlags,
    pin,
    "pin",
    ValueKind::Switch,
    "",
    "Pin each worker to a core.",
    |values, text| value::switch(text).map(|on| values.engine.pin = on);
    .native()
);
row!(
    ClientFlags,
    real_time,
    "rt",
    ValueKind::Switch,
    "",
    "Ask for real-time scheduling.",
    |values, text| value::switch(text).map(|on| values.engine.real_time = on);
    .native()
);
