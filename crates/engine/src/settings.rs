//! `Settings`: how a plan is carried out: workers, connections, names, TLS, what is kept of a response.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use crate::failure_reason::FailureText;
use crate::host_policy::HostPolicy;
use serde::{Deserialize, Serialize};
use stdx::Nanos;
pub use wire::h1::Version as HttpVersion;
pub use wire::h1::request::HeadStyle;
use wire::proxy::ProxyVariables;
use wire::tls::Versions;
use wire::tls::rustls::CipherSuite;

/// How a plan is carried out. Written by serde, it has not what only scripts and the layouts of other tools set: fixed heads and
/// texts, and client certificates by domain.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Settings {
    /// Worker threads (`-cpus`); at least 1. Fewer run where limits (users, connections) are below it.
    pub workers: usize,
    /// Which of the system's ways to wait for sockets is used (`--io`).
    pub io: IoChoice,
    /// By whose clock the end of an answer is taken in an open loop.
    pub answer_clock: AnswerClock,
    /// Pin worker `i` to the `i`-th core this process may use (`--pin`).
    pub pin: bool,
    /// Ask for the real-time scheduling class (`--rt`); the run says so where it is refused.
    pub real_time: bool,
    /// Send together what falls due within this time (`--tick`); 0 is exact pacing.
    pub tick: Nanos,
    /// Hits of an open loop that fell due while a worker stood still for longer than this are not sent, and counted so: several
    /// machines share the load, and one that was paused must not send all at once. `None` sends them late.
    pub stall_max: Option<Nanos>,
    /// Limit of a whole hit from its start, redirects and body included (`-timeout`); `None` is no limit.
    pub timeout: Option<Nanos>,
    /// Keep connections alive (`-keepalive`).
    pub keepalive: bool,
    /// Requests that may be unanswered on one HTTP/1.1 connection (`--pipeline`), at least 1; past 1 without `keepalive` has
    /// no effect.
    pub pipeline: usize,
    /// The version of HTTP spoken (`-http2`, `-h2c`).
    pub protocol: Protocol,
    /// Streams open on one HTTP/2 connection, at most (`-m`); the server may allow fewer.
    pub streams: usize,
    /// The load may be changed while the run goes on: workers stay until its end, also those that have nothing left to do under
    /// the load of the plan.
    pub load_may_change: bool,
    /// What to do with redirects (`-redirects`).
    pub redirects: Redirects,
    /// Request bodies are sent chunked (`-chunked`).
    pub chunked: bool,
    /// What of a response is kept in its row.
    pub capture: Capture,
    /// What the responses to the plan's targets are.
    #[serde(default)]
    pub answers: AnswerForm,
    /// The header fields we add ourselves.
    pub head: HeadStyle,
    /// The head of every request, byte for byte up to and with its empty line, whatever the targets say; `None` renders
    /// each target's own. For dialects of tools that send what no rule allows.
    #[serde(skip)]
    pub head_bytes: Option<Arc<[u8]>>,
    /// Idle connections kept per host (`-connections`).
    pub connections: usize,
    /// Connections per host, at most (`-max-connections`); `None` is no limit.
    pub max_connections: Option<usize>,
    /// When a connection is replaced though its server would go on with it.
    #[serde(default)]
    pub renewal: Renewal,
    /// Local addresses to connect from, in turn (`-laddr`).
    pub local_addrs: Vec<IpAddr>,
    /// Dial this path, whatever the URL says (`-unix-socket`).
    pub unix_socket: Option<PathBuf>,
    /// `from host:port` to `to host:port` (`-connect-to`); several of the same origin take turns.
    pub connect_to: Vec<(String, String)>,
    /// Name servers to ask instead of the system's (`-resolvers`).
    pub resolvers: Vec<SocketAddr>,
    /// How long a resolved name is kept (`-dns-ttl`).
    pub dns_ttl: DnsTtl,
    /// Which of a name's addresses are asked, and in which order.
    pub dns_pick: DnsPick,
    /// Blocked names and addresses, and fixed addresses of names (`-resolve`).
    pub host_policy: HostPolicy,
    /// Where users decide: each has connections of its own.
    pub own_connections: bool,
    /// TLS.
    pub tls: TlsSettings,
    /// Proxies.
    pub proxy: ProxySettings,
    /// Produce a row for each hit. Without it only counts and histograms are kept.
    pub rows: bool,
    /// The words of a failed hit's row, and of what a user is given.
    #[serde(skip)]
    pub failure_text: FailureText,
    /// Send the row of each worker's first failed hit at once, not with the second's other rows, so that the run can be ended
    /// for it.
    pub report_first_failure: bool,
    /// When rows are sent on.
    #[serde(skip)]
    pub row_delivery: RowDelivery,
}

/// When a connection is replaced though its server would go on with it. Behind a load balancer, one that is never dialled again
/// stays where it was, whatever is added there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Renewal {
    /// Once it is so old, since its dial (`-conn-max-age`). What is under way on it ends first.
    pub age_max: Option<Nanos>,
    /// Once it had so many requests (`-conn-max-requests`); at least 1.
    pub requests_max: Option<u64>,
}

impl Renewal {
    /// Whether a connection takes no further request: its age, and the requests that it had and has.
    #[must_use]
    pub fn is_due(self, age: Nanos, requests: u64) -> bool {
        self.age_max.is_some_and(|most| age >= most)
            || self.requests_max.is_some_and(|most| requests >= most)
    }
}

/// When rows are sent on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowDelivery {
    /// With the counts, once a second.
    #[default]
    EverySecond,
    /// Within 50 ms, for a reader who may end at any moment, and takes with it what it was not yet given.
    Prompt,
}

/// The version of HTTP spoken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Protocol {
    /// HTTP/1.1, or 1.0 where the head says so.
    Http1,
    /// HTTP/2 where the server takes it over TLS, else HTTP/1.1. RFC 9113, 3.2.
    #[default]
    Alpn,
    /// HTTP/2 over plain TCP without asking; over TLS as [`Protocol::Alpn`]. RFC 9113, 3.3.
    PriorKnowledge,
}

/// Which of the system's ways to wait for sockets is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum IoChoice {
    /// `io_uring` where it costs less, if it can be used: for closed loops of 192 users and more, and for 8 users and more that
    /// decide for themselves; else the reactor.
    #[default]
    Auto,
    /// epoll or kqueue; every system has one.
    Reactor,
    /// `io_uring`, on Linux from 6.1 on; where it cannot be used the run does not start.
    Uring,
}

/// By whose clock the end of an answer is taken in an open loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum AnswerClock {
    /// By the kernel's, which stamps what comes, where it does (Linux, TCP, without `io_uring`); else by the worker's.
    #[default]
    Auto,
    /// By the worker's, when it has read the answer.
    Worker,
}

/// What to do with redirects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Redirects {
    /// Follow at most so many; one more fails the hit.
    Follow(u32),
    /// The same to the host that redirects, over `http` or `https` and at any port; another host's 3xx is the answer.
    SameHost(u32),
    /// Do not follow; a 3xx is the answer.
    Keep,
}

/// What the responses to the plan's targets are. Users say it of each of their requests ([`workload::RequestKind`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum AnswerForm {
    /// Responses of HTTP: their outcome is HTTP's status.
    #[default]
    Http,
    /// Answers to calls of gRPC, of one message each: their outcome is the status in the trailers, and their error its text.
    Message,
    /// The same, of any number of messages.
    Messages,
}

impl AnswerForm {
    /// Whether the targets are calls of gRPC.
    #[must_use]
    pub const fn is_grpc(self) -> bool {
        matches!(self, Self::Message | Self::Messages)
    }
}

/// What of a response is kept in its row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capture {
    /// Body bytes kept (decoded), at most [`Capture::BODY_MAX`], which says more.
    pub body_max: u64,
    /// Count as `bytes_in` only what was kept, as Vegeta does.
    pub count_kept_only: bool,
    /// Which header lines are kept.
    pub headers: CapturedHeaders,
}

/// Which header lines of a response are kept in its row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum CapturedHeaders {
    /// None.
    #[default]
    Nothing,
    /// All.
    All,
    /// All, after the status line.
    WholeHead,
    /// Those that a call of gRPC ends with, of the head and of the trailers; none is in a row.
    Call,
    /// Those of these names, in any spelling. It stands last: serde numbers the variants after one that is skipped differently when
    /// it writes and when it reads.
    #[serde(skip)]
    Named(&'static [&'static str]),
}

/// A body on its way into a row has the limit of the process by this number, at most.
const BODY_PARTS: usize = 64;

impl Capture {
    /// The most body bytes kept of one response, whatever is asked for: 16 MiB. Of a body on its way into a row, which is copied a few
    /// times, also no more than the limit of the process by 64 (`-memory-limit`).
    pub const BODY_MAX: u64 = 16 << 20;

    /// The most that is kept here, in bytes.
    pub(crate) fn most(&self) -> u64 {
        match self.headers {
            // The body is for a script.
            CapturedHeaders::WholeHead => Self::BODY_MAX,
            _ => stdx::within_memory(Self::BODY_MAX as usize, BODY_PARTS) as u64,
        }
    }
}

/// How long a resolved name is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DnsTtl {
    /// Resolved once for the whole run (`0`).
    Forever,
    /// Resolved anew after this time.
    For(Nanos),
    /// Resolved for every connection (`-1`).
    Never,
}

/// Which of a name's addresses are asked, and in which order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DnsPick {
    /// With which address a connection begins.
    pub first: FirstAddress,
    /// Which families of addresses are asked.
    pub family: AddressFamily,
}

/// With which of a name's addresses a connection begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum FirstAddress {
    /// The next one.
    #[default]
    InTurn,
    /// The first, always.
    First,
    /// Any.
    Random,
}

/// Which families of addresses are asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum AddressFamily {
    /// All there are, in the resolver's order.
    #[default]
    Any,
    /// IPv4 alone, where there is one.
    PreferV4,
    /// IPv6 alone, where there is one.
    PreferV6,
    /// IPv4 alone.
    OnlyV4,
    /// IPv6 alone.
    OnlyV6,
}

/// A client certificate, for the hosts of some names.
#[derive(Clone, Debug, Default)]
pub struct ClientIdentity {
    /// `name` or `*.name`; any host, where there is none.
    pub domains: Vec<String>,
    /// PEM certificate chain.
    pub cert_pem: Vec<u8>,
    /// PEM private key.
    pub key_pem: Vec<u8>,
}

/// TLS.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct TlsSettings {
    /// PEM certificates that replace the system's and the bundled roots (`-root-certs`); empty for none.
    pub root_certs_pem: Vec<Vec<u8>>,
    /// PEM client certificate chain (`-cert`).
    pub cert_pem: Option<Vec<u8>>,
    /// PEM private key (`-key`); the certificate's file where none is given.
    pub key_pem: Option<Vec<u8>>,
    /// Do not verify the server (`-insecure`).
    pub insecure: bool,
    /// Resume sessions (`-session-tickets`).
    pub session_tickets: bool,
    /// The versions that are offered.
    pub versions: Versions,
    /// The cipher suites that are offered; of a version none is named of, all are.
    #[serde(with = "suites")]
    pub suites: Vec<CipherSuite>,
    /// Send no server name indication (SNI).
    pub no_server_name: bool,
    /// Client certificates. The first one with a matching domain is sent; if none matches, the first of all.
    #[serde(skip)]
    pub identities: Vec<ClientIdentity>,
    /// Write the sessions' secrets to the file that `SSLKEYLOGFILE` names.
    pub log_keys: bool,
}

/// Proxies, as the environment names them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProxySettings {
    /// For `http` targets (`HTTP_PROXY`): `http`, `https`, `socks5` or `socks5h`.
    pub http: Option<String>,
    /// For `https` targets (`HTTPS_PROXY`).
    pub https: Option<String>,
    /// Hosts that are asked directly (`NO_PROXY`); `localhost` and `127.0.0.0/8` always are.
    pub no_proxy: String,
    /// Fields sent with CONNECT (`-proxy-header`).
    #[serde(with = "fields")]
    pub headers: Arc<Vec<(String, String)>>,
}

/// Whether `ALL_PROXY` is read, for schemes that have no variable of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllProxy {
    /// It is, as curl does.
    Read,
    /// It is not: Go's client, and with it Vegeta and k6, do not know it.
    Ignored,
}

impl ProxySettings {
    /// The proxies that environment variables name. Names in capital letters come first, and empty ones name nothing.
    #[must_use]
    pub fn of_environment(all: AllProxy, variable: impl Fn(&str) -> Option<String>) -> Self {
        let is_read = |name: &str| all == AllProxy::Read || !name.eq_ignore_ascii_case("ALL_PROXY");
        let ProxyVariables { http, https, no_proxy } =
            ProxyVariables::read(|name| variable(name).filter(|_| is_read(name)));
        Self { http, https, no_proxy, ..Self::default() }
    }
}

impl Default for Settings {
    /// Vegeta's defaults.
    fn default() -> Self {
        Self {
            workers: 1,
            io: IoChoice::Auto,
            answer_clock: AnswerClock::Auto,
            pin: false,
            real_time: false,
            tick: Nanos::ZERO,
            stall_max: None,
            timeout: Some(Nanos::from_secs(30)),
            keepalive: true,
            pipeline: 1,
            protocol: Protocol::Alpn,
            streams: usize::MAX,
            load_may_change: false,
            redirects: Redirects::Follow(10),
            chunked: false,
            capture: Capture::default(),
            answers: AnswerForm::Http,
            head: HeadStyle::Native,
            head_bytes: None,
            connections: 10_000,
            max_connections: None,
            renewal: Renewal::default(),
            local_addrs: Vec::new(),
            unix_socket: None,
            connect_to: Vec::new(),
            resolvers: Vec::new(),
            dns_ttl: DnsTtl::Forever,
            dns_pick: DnsPick::default(),
            host_policy: HostPolicy::default(),
            own_connections: false,
            tls: TlsSettings::default(),
            proxy: ProxySettings::default(),
            rows: true,
            failure_text: FailureText::PLAIN,
            report_first_failure: false,
            row_delivery: RowDelivery::default(),
        }
    }
}

/// Cipher suites for serde, as their numbers.
mod suites {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::CipherSuite;

    pub(super) fn serialize<S: Serializer>(all: &[CipherSuite], to: S) -> Result<S::Ok, S::Error> {
        all.iter().map(|suite| u16::from(*suite)).collect::<Vec<u16>>().serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<CipherSuite>, D::Error> {
        let numbers = Vec::<u16>::deserialize(from)?;
        Ok(numbers.into_iter().map(CipherSuite::from).collect())
    }
}

/// Shared header fields for serde.
mod fields {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    type Fields = Vec<(String, String)>;

    pub(super) fn serialize<S: Serializer>(all: &Arc<Fields>, to: S) -> Result<S::Ok, S::Error> {
        all.as_ref().serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<Fields>, D::Error> {
        Fields::deserialize(from).map(Arc::new)
    }
}
