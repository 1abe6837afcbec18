//! The flags of `cable`.

use cli::{Flag, ValueError, ValueKind, flag_table, value};
use remote::flags::{self as fleet, FleetFlags};
use stdx::Nanos;
use workload::arrival::ParsedRate;

use crate::flags::load_value;
use crate::load::flags::{
    ClientFlags, DisplayFlags, ResultsFlags, client, display, holds, leaves_runs, results,
};
use session::monitor_flags::{self as watch, MonitorTargets};
use session::save::{self, SaveFlags};

/// The flags of `cable` as typed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CableFlags {
    pub(crate) client: ClientFlags,
    pub(crate) results: ResultsFlags,
    pub(crate) display: DisplayFlags,
    pub(crate) watched: MonitorTargets,
    pub(crate) saving: SaveFlags,
    pub(crate) fleet: FleetFlags,
    /// Header fields of each handshake.
    pub(crate) headers: Vec<(String, String)>,
    /// The channel that every user subscribes to.
    pub(crate) channel: Option<String>,
    /// The subscription's parameters, a JSON object.
    pub(crate) params: Option<String>,
    /// The action that is performed, and its data.
    pub(crate) perform: Option<String>,
    /// The format of messages.
    pub(crate) codec: String,
    /// The number of users.
    pub(crate) users: u64,
    /// The time over which users come.
    pub(crate) ramp: Nanos,
    /// How long the test goes on once all users are up.
    pub(crate) duration: Nanos,
    /// Messages of all users per time; `None` is the pattern's default.
    pub(crate) rate: Option<ParsedRate>,
    /// The users that speak in a broadcast.
    pub(crate) speakers: u64,
    /// Cookies of the handshake.
    pub(crate) cookies: Option<String>,
    /// The limit of a handshake, of a confirmation, and of a message's way.
    pub(crate) timeout: Nanos,
    /// The longest random wait of a user that lost its connection.
    pub(crate) jitter: Nanos,
    /// How often a herd's connections are cut.
    pub(crate) cuts: u64,
    /// How long a herd's user may take to subscribe.
    pub(crate) give_up: Nanos,
    /// Whether a refused user tries again at once.
    pub(crate) no_backoff: bool,
    /// Whether a lost message decides the exit code.
    pub(crate) fail_on_loss: bool,
}

holds!(CableFlags: client: ClientFlags, results: ResultsFlags, display: DisplayFlags);

leaves_runs!(CableFlags);

impl Default for CableFlags {
    fn default() -> Self {
        Self {
            client: ClientFlags::default(),
            results: ResultsFlags::default(),
            display: DisplayFlags::default(),
            watched: MonitorTargets::default(),
            saving: SaveFlags::default(),
            fleet: FleetFlags::default(),
            headers: Vec::new(),
            channel: None,
            params: None,
            perform: None,
            codec: CODECS[0].to_owned(),
            users: 10,
            ramp: Nanos::ZERO,
            duration: Nanos::from_secs(10),
            rate: None,
            speakers: 1,
            cookies: None,
            timeout: Nanos::from_secs(10),
            jitter: Nanos::ZERO,
            cuts: 0,
            give_up: Nanos::from_secs(60),
            no_backoff: false,
            fail_on_loss: false,
        }
    }
}

/// The formats of messages.
const CODECS: [&str; 3] = ["json", "msgpack", "protobuf"];

/// A flag that keeps its text.
macro_rules! own_text {
    ($name:literal, $value:literal, $default:literal, $docs:literal, $field:ident) => {
        Flag::new($name, ValueKind::Text($value), $default, $docs, |t: &mut CableFlags, v| {
            t.$field = Some(v.to_owned());
            Ok(())
        })
        .native()
    };
}

/// A flag that keeps a time.
macro_rules! own_time {
    ($name:literal, $default:literal, $docs:literal, $field:ident) => {
        Flag::new($name, ValueKind::Duration, $default, $docs, |t: &mut CableFlags, v| {
            value::duration(v).map(|time| t.$field = time)
        })
        .native()
    };
}

/// The help text of `-laddr`.
const LADDR: &str = "Local addresses to connect from, in turn: each has about 28,000 ports.";
/// The help text of `-output`.
const OUTPUT: &str = "File for the results: a row for each connection and each message.";
/// The help text of `-io`.
const IO: &str = "How to wait for sockets: poll (epoll, kqueue) or uring (Linux 6.1); auto: uring from 8 users on.";

/// The help text of `-abort-when`: users have no rate.
const ABORT_WHEN: &str = "`gates`: end the test once a gate is surely crossed (code 7).";

/// The flags of `cable`: the test, then over what the cable is reached, and where the results go.
pub(crate) const FLAGS: &[Flag<CableFlags>] = flag_table!(CableFlags:
    OWN,
    &[results::name(), client::seed(), client::laddr().also(&["from"]).with_docs(LADDR)],
    &client::route(),
    &[client::insecure()],
    &client::certificates(),
    &[results::output().with_default("none").with_docs(OUTPUT), results::to()],
    &[display::prometheus_addr()],
    &display::fails(),
    &[display::abort_when().with_docs(ABORT_WHEN)],
    &display::shown(),
    &[display::tui()],
    &[client::io().with_docs(IO), client::pin(), client::real_time()],
    &[save::report()],
    &save::rows(),
    &watch::beside(),
    &fleet::rows(),
);

/// The test.
const OWN: &[Flag<CableFlags>] = &[
    own_text!("channel", "NAME", "", "The channel that every user subscribes to.", channel),
    own_text!(
        "params",
        "JSON",
        "{}",
        "The subscription's parameters; {user} is the user's number, from 1.",
        params
    ),
    own_text!(
        "perform",
        "ACTION[:JSON]",
        "speak:{\"message\":\"{token}\"}",
        "Action to perform; the server must send {token} back, anywhere in its message.",
        perform
    ),
    Flag::new(
        "codec",
        ValueKind::Choice(&CODECS),
        "json",
        "The format of messages: actioncable-v1-json, -msgpack, -protobuf.",
        |t: &mut CableFlags, v| value::word(v, &CODECS).map(|word| t.codec = word),
    )
    .native(),
    Flag::new(
        "users",
        ValueKind::Text("N"),
        "10",
        "Users, each with a connection and a subscription.",
        |t: &mut CableFlags, v| value::count(v).map(|n| t.users = n),
    )
    .native()
    .also(&["u"]),
    own_time!(
        "ramp",
        "0",
        "Users connect one after the other, evenly over this time; 0: all at once.",
        ramp
    )
    .also(&["within"]),
    own_time!(
        "duration",
        "10s (herd: 1s)",
        "How long the test runs once all users are subscribed; herd: how long they stay each time.",
        duration
    )
    .also(&["d"]),
    Flag::new(
        "rate",
        ValueKind::Text("N/DURATION"),
        "echo: 1/s a user; broadcast: 1/s",
        "Messages of all users per time; 0 in an echo: each user sends its next message when the last has come back.",
        |t: &mut CableFlags, v| rate(v).map(|rate| t.rate = Some(rate)),
    )
    .native(),
    Flag::new(
        "speakers",
        ValueKind::Text("N"),
        "1",
        "Broadcast: how many users send, in turn; all receive.",
        |t: &mut CableFlags, v| value::count(v).map(|n| t.speakers = n),
    )
    .native(),
    own_text!(
        "cookies",
        "'NAME=VALUE; …'",
        "",
        "Cookies of the handshake; {user} is the user's number, from 1. Or a file of curl -c or a browser.",
        cookies
    ),
    own_time!(
        "timeout",
        "10s",
        "Time limit of each handshake, of each subscription after it, and of each message's delivery.",
        timeout
    ),
    own_time!(
        "jitter",
        "0",
        "A user that lost its connection reconnects after a random time up to this.",
        jitter
    ),
    Flag::new(
        "cuts",
        ValueKind::Text("N"),
        "0",
        "Herd: how many times to cut all connections, so that all users reconnect.",
        |t: &mut CableFlags, v| value::number(v).map(|n| t.cuts = n),
    )
    .native(),
    own_time!(
        "give-up",
        "1m",
        "Herd: give up users that are not subscribed this long after the start, or after a cut.",
        give_up
    ),
    Flag::new(
        "no-backoff",
        ValueKind::Switch,
        "",
        "A refused user tries again at once, instead of after 100 ms to 5 s.",
        |t: &mut CableFlags, v| value::switch(v).map(|on| t.no_backoff = on),
    )
    .native(),
    Flag::new(
        "fail-on-loss",
        ValueKind::Switch,
        "",
        "Exit with code 9 if a message was lost, or if no user could subscribe.",
        |t: &mut CableFlags, v| value::switch(v).map(|on| t.fail_on_loss = on),
    )
    .native(),
    Flag::new(
        "header",
        ValueKind::Text("'NAME: VALUE'"),
        "",
        "Header field of each handshake; {user} is the user's number, from 1.",
        |t: &mut CableFlags, v| value::header(v).map(|header| t.headers.push(header)),
    )
    .also(&["H"]),
];

/// A rate, or 0.
fn rate(text: &str) -> Result<ParsedRate, ValueError> {
    match load_value::rate(text)? {
        ParsedRate::Infinity => {
            Err(ValueError::new("a rate of \"infinity\" is not supported here"))
        }
        rate => Ok(rate),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_has_an_end() {
        assert!(rate("5/m").is_ok() && rate("0").is_ok());
        assert!(rate("infinity").is_err() && rate("x").is_err());
    }
}
