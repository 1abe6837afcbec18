//! The flags of `grpc`.

use cli::{Flag, ValueError, ValueKind, flag_table, value};
use remote::flags::{self as fleet, FleetFlags};
use session::monitor_flags::{self as watch, MonitorTargets};
use session::save::{self, SaveFlags};
use stdx::{Distribution, Nanos};
use workload::arrival::ParsedRate;

use crate::flags::load_value;
use crate::load::flags::{
    ClientFlags, DisplayFlags, ResultsFlags, client, display, holds, leaves_runs, results,
};

/// The flags of `grpc` as typed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GrpcFlags {
    pub(crate) client: ClientFlags,
    pub(crate) results: ResultsFlags,
    pub(crate) display: DisplayFlags,
    pub(crate) fleet: FleetFlags,
    pub(crate) watched: MonitorTargets,
    pub(crate) saving: SaveFlags,
    /// The method that is called.
    pub(crate) call: Option<String>,
    /// The messages as JSON, `@FILE`, or `-` for standard input.
    pub(crate) data: Option<String>,
    /// The file of one message as bytes.
    pub(crate) data_binary: Option<String>,
    /// Metadata of every call: fields, or objects of JSON.
    pub(crate) metadata: Vec<String>,
    /// Metadata of reflection.
    pub(crate) reflect_metadata: Vec<String>,
    /// .proto files.
    pub(crate) protos: Vec<String>,
    /// Folders that they lie below.
    pub(crate) import_paths: Vec<String>,
    /// Files of descriptors.
    pub(crate) protosets: Vec<String>,
    /// Whether TLS is left out.
    pub(crate) plaintext: bool,
    /// `:authority`, where it is not the address.
    pub(crate) authority: Option<String>,
    /// The limit of a call; 0 is no limit.
    pub(crate) timeout: Nanos,
    /// Calls per time.
    pub(crate) rate: Option<ParsedRate>,
    /// The rate over time.
    pub(crate) shape: Option<String>,
    /// Users of a closed loop.
    pub(crate) workers: Option<u64>,
    /// How long calls begin after the warm-up; 0 where the flag is not given.
    pub(crate) duration: Nanos,
    /// The most calls that are counted.
    pub(crate) total: Option<u64>,
    /// How long a worker waits after an answer.
    pub(crate) think: Distribution,
    /// How long calls are made before any is counted.
    pub(crate) warmup: Nanos,
    /// Connections, which calls share.
    pub(crate) connections: u64,
    /// The most calls under way on a connection.
    pub(crate) streams: Option<u64>,
    /// Whether an example of the request's JSON is printed (`describe`).
    pub(crate) template: bool,
}

holds!(GrpcFlags: client: ClientFlags, results: ResultsFlags, display: DisplayFlags);

leaves_runs!(GrpcFlags);

impl Default for GrpcFlags {
    fn default() -> Self {
        Self {
            client: ClientFlags::default(),
            results: ResultsFlags::default(),
            display: DisplayFlags::default(),
            fleet: FleetFlags::default(),
            watched: MonitorTargets::default(),
            saving: SaveFlags::default(),
            call: None,
            data: None,
            data_binary: None,
            metadata: Vec::new(),
            reflect_metadata: Vec::new(),
            protos: Vec::new(),
            import_paths: Vec::new(),
            protosets: Vec::new(),
            plaintext: false,
            authority: None,
            timeout: Nanos::from_secs(20),
            rate: None,
            shape: None,
            workers: None,
            duration: Nanos::ZERO,
            total: None,
            think: Distribution::None,
            warmup: Nanos::ZERO,
            connections: 1,
            streams: None,
            template: false,
        }
    }
}

/// The flags of `grpc`: what to call, when, over what, and where the results go.
pub(crate) const FLAGS: &[Flag<GrpcFlags>] = flag_table!(GrpcFlags:
    CALL,
    DEFINITIONS,
    LOAD,
    &[results::name(), client::seed()],
    SERVER,
    &[client::insecure()],
    &[
        client::root_certs().also(&["cacert"]),
        client::cert(),
        client::key().with_default("the -cert file"),
        client::session_tickets(),
    ],
    &client::renewal(),
    &[client::laddr()],
    &client::route(),
    &[results::output().with_default("none")],
    &results::contents(),
    &[display::prometheus_addr()],
    &display::fails(),
    &[display::abort_when()],
    &display::shown(),
    &[display::tui()],
    &client::threads(),
    &fleet::rows(),
    &[save::report()],
    &save::rows(),
    &watch::beside(),
);

/// A flag that keeps its text.
macro_rules! own_text {
    ($name:literal, $value:literal, $docs:literal, $field:ident) => {
        Flag::new($name, ValueKind::Text($value), "", $docs, |t: &mut GrpcFlags, v| {
            t.$field = Some(v.to_owned());
            Ok(())
        })
        .native()
    };
}

/// A flag that may be given several times.
macro_rules! own_list {
    ($name:literal, $value:literal, $docs:literal, $field:ident, $parse:expr) => {
        Flag::new($name, ValueKind::Text($value), "", $docs, |t: &mut GrpcFlags, v| {
            t.$field.extend($parse(v));
            Ok(())
        })
        .native()
    };
}

fn listed(text: &str) -> Vec<String> {
    text.split(',').filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

fn once(text: &str) -> [String; 1] {
    [text.to_owned()]
}

/// What is called.
const CALL: &[Flag<GrpcFlags>] = &[
    own_text!("call", "PKG.SERVICE/METHOD", "The method to call.", call),
    own_text!(
        "data",
        "JSON|@FILE|-",
        "The message; an array's messages take turns, or are sent as one stream. {{…}}: see above.",
        data
    )
    .also(&["d"]),
    own_text!("data-binary", "FILE", "The message as bytes, in place of -data.", data_binary),
    own_list!(
        "metadata",
        "'NAME: VALUE'",
        "Metadata of each call, or an object of JSON; repeat for more. {{…}}: see above.",
        metadata,
        once
    )
    .also(&["H"]),
];

/// Where methods are known from.
const DEFINITIONS: &[Flag<GrpcFlags>] = &[
    own_list!(
        "proto",
        "FILE,…",
        "The .proto files that describe the method; without them the server's reflection does.",
        protos,
        listed
    ),
    own_list!(
        "import-path",
        "FOLDER,…",
        "Folders that -proto files and their imports lie below.",
        import_paths,
        listed
    )
    .also(&["import-paths"]),
    own_list!(
        "protoset",
        "FILE,…",
        "Files of descriptors (protoc -o, buf build), in place of -proto.",
        protosets,
        listed
    ),
    own_list!(
        "reflect-metadata",
        "'NAME: VALUE'",
        "Metadata for the server's reflection, or an object of JSON; repeat for more.",
        reflect_metadata,
        once
    )
    .also(&["reflect-header"]),
    Flag::new(
        "template",
        ValueKind::Switch,
        "",
        "With describe: print an example of the message's JSON as well.",
        |t: &mut GrpcFlags, v| value::switch(v).map(|on| t.template = on),
    )
    .native()
    .also(&["msg-template"]),
];

/// When calls are made.
const LOAD: &[Flag<GrpcFlags>] = &[
    Flag::new(
        "rate",
        ValueKind::Text("N/DURATION"),
        "50/1s",
        "Calls per time, however slow the server is: 50, 120/m, 1/10s.",
        |t: &mut GrpcFlags, v| rate(v).map(|rate| t.rate = Some(rate)),
    )
    .native(),
    Flag::new(
        "shape",
        ValueKind::Text("SHAPE"),
        "",
        "Rate over time, instead of -rate: see `brunt help attack`.",
        |t: &mut GrpcFlags, v| {
            t.shape = Some(v.to_owned());
            Ok(())
        },
    )
    .native(),
    Flag::new(
        "workers",
        ValueKind::Text("N"),
        "",
        "A closed loop, instead of -rate: each worker calls when its last call was answered.",
        |t: &mut GrpcFlags, v| value::count(v).map(|n| t.workers = Some(n)),
    )
    .native()
    .also(&["c", "users"]),
    Flag::new(
        "duration",
        ValueKind::Duration,
        "10s",
        "How long new calls start; with -n and without it: until all have started.",
        |t: &mut GrpcFlags, v| value::duration(v).map(|d| t.duration = d),
    )
    .native(),
    Flag::new(
        "n",
        ValueKind::Text("N"),
        "",
        "Total number of calls.",
        |t: &mut GrpcFlags, v| value::count(v).map(|n| t.total = Some(n)),
    )
    .native()
    .also(&["total"]),
    Flag::new(
        "think",
        ValueKind::Text("LAW"),
        "none",
        "With -workers: think time after each answer: fixed:1s, uniform:1s,3s, exp:1s, lognormal:1s,0.5 or 1s.",
        |t: &mut GrpcFlags, v| value::law(v).map(|law| t.think = law),
    )
    .native(),
    Flag::new(
        "warmup",
        ValueKind::Duration,
        "0s",
        "Call for this time first, without counting; -duration and -n start after it.",
        |t: &mut GrpcFlags, v| value::duration(v).map(|d| t.warmup = d),
    )
    .native(),
    Flag::new(
        "timeout",
        ValueKind::Duration,
        "20s",
        "Time limit of a call, which the server is sent as its deadline; 0: none.",
        |t: &mut GrpcFlags, v| value::duration(v).map(|limit| t.timeout = limit),
    )
    .native(),
];

/// Over what.
const SERVER: &[Flag<GrpcFlags>] = &[
    Flag::new(
        "connections",
        ValueKind::Text("N"),
        "1",
        "Connections, at most; calls share them as streams of HTTP/2.",
        |t: &mut GrpcFlags, v| value::count(v).map(|n| t.connections = n),
    )
    .native(),
    Flag::new(
        "m",
        ValueKind::Text("N"),
        "",
        "Maximum number of calls under way on a connection; by default as many as the server allows.",
        |t: &mut GrpcFlags, v| value::count(v).map(|n| t.streams = Some(n)),
    )
    .native()
    .also(&["streams"]),
    Flag::new(
        "plaintext",
        ValueKind::Switch,
        "",
        "Speak without TLS.",
        |t: &mut GrpcFlags, v| value::switch(v).map(|on| t.plaintext = on),
    )
    .native(),
    own_text!(
        "authority",
        "NAME",
        "The :authority of calls, and the name that the server's certificate must be for.",
        authority
    )
    .also(&["servername"]),
];

/// A rate above 0.
fn rate(text: &str) -> Result<ParsedRate, ValueError> {
    match load_value::rate(text)? {
        rate @ ParsedRate::Rate(_) => Ok(rate),
        _ => Err(ValueError::new("a rate has to be above 0 (-workers=N is a closed loop)")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_above_zero() {
        assert!(rate("5/m").is_ok());
        assert!(rate("0").is_err() && rate("infinity").is_err() && rate("x").is_err());
    }
}
