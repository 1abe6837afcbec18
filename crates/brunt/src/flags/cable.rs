//! The flags of `cable`: its own, and those of `attack` that say over what the cable is reached.

use cli::{Flag, ValueError, ValueKind, value};
use stdx::Nanos;
use workload::arrival::ParsedRate;

use super::attack::{AttackFlags, FLAGS};
use super::load_value;
use super::watch;

/// What `cable` alone is told.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CableFlags {
    pub(crate) channel: Option<String>,
    pub(crate) params: Option<String>,
    pub(crate) perform: Option<String>,
    pub(crate) codec: String,
    pub(crate) users: u64,
    pub(crate) ramp: Nanos,
    pub(crate) duration: Nanos,
    pub(crate) rate: Option<ParsedRate>,
    pub(crate) speakers: u64,
    pub(crate) cookies: Option<String>,
    pub(crate) timeout: Nanos,
    pub(crate) jitter: Nanos,
    pub(crate) cuts: u64,
    pub(crate) give_up: Nanos,
    pub(crate) no_backoff: bool,
    pub(crate) fail_on_loss: bool,
}

impl Default for CableFlags {
    fn default() -> Self {
        Self {
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
pub(crate) const CODECS: [&str; 3] = ["json", "msgpack", "protobuf"];

/// The flags of `cable`.
pub(crate) fn table() -> Vec<Flag<AttackFlags>> {
    let is_shared = |name| SHARED.contains(&name) || watch::BESIDE.contains(&name);
    let shared = FLAGS.iter().filter(|flag| is_shared(flag.row.name)).copied();
    OWN.iter().copied().chain(shared.map(adapted)).collect()
}

/// A shared flag as `cable` has it.
fn adapted(mut flag: Flag<AttackFlags>) -> Flag<AttackFlags> {
    match flag.row.name {
        "header" => {
            flag.row.docs = "Header field of each handshake; {user} is the user's number, from 1.";
        }
        "laddr" => {
            flag.row.aliases = &["from"];
            flag.row.docs = "Local addresses to connect from, in turn: one has some 28,000 ports.";
        }
        "output" => {
            flag.row.default = "none";
            flag.row.docs = "File for the results: a row for each connection and each message.";
        }
        "io" => {
            flag.row.docs = "How sockets are waited for: mio (epoll, kqueue) or uring (Linux 6.1); auto: uring from 8 users on.";
        }
        _ => {}
    }
    flag
}

/// What `attack` has as well.
const SHARED: &[&str] = &[
    "header",
    "name",
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
    "output",
    "to",
    "seed",
    "json",
    "progress",
    "q",
    "io",
    "pin",
    "rt",
];

/// A flag that keeps its text.
macro_rules! own_text {
    ($name:literal, $value:literal, $default:literal, $docs:literal, $field:ident) => {
        Flag::new($name, ValueKind::Text($value), $default, $docs, |t: &mut AttackFlags, v| {
            t.cable.$field = Some(v.to_owned());
            Ok(())
        })
        .native()
    };
}

/// A flag that keeps a time.
macro_rules! own_time {
    ($name:literal, $default:literal, $docs:literal, $field:ident) => {
        Flag::new($name, ValueKind::Duration, $default, $docs, |t: &mut AttackFlags, v| {
            value::duration(v).map(|time| t.cable.$field = time)
        })
        .native()
    };
}

/// Its own.
const OWN: &[Flag<AttackFlags>] = &[
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
        "What is performed; the server must send {token} back, anywhere in its message.",
        perform
    ),
    Flag::new(
        "codec",
        ValueKind::Choice(&CODECS),
        "json",
        "The format of messages: actioncable-v1-json, -msgpack, -protobuf.",
        |t: &mut AttackFlags, v| value::word(v, &CODECS).map(|word| t.cable.codec = word),
    )
    .native(),
    Flag::new(
        "users",
        ValueKind::Text("N"),
        "10",
        "Users, each with a connection and a subscription.",
        |t: &mut AttackFlags, v| value::count(v).map(|n| t.cable.users = n),
    )
    .native()
    .also(&["u"]),
    own_time!("ramp", "0", "The time over which users come; of a herd: within which.", ramp)
        .also(&["within"]),
    own_time!(
        "duration",
        "10s (herd: 1s)",
        "How long it goes on once all users are up; a herd stays so long each time.",
        duration
    )
    .also(&["d"]),
    Flag::new(
        "rate",
        ValueKind::Text("N/DURATION"),
        "echo: 1/s a user; broadcast: 1/s",
        "Messages of all users per time. 0 in an echo: the next when the last is back.",
        |t: &mut AttackFlags, v| rate(v).map(|rate| t.cable.rate = Some(rate)),
    )
    .native(),
    Flag::new(
        "speakers",
        ValueKind::Text("N"),
        "1",
        "Broadcast: how many users speak, in turn; all receive.",
        |t: &mut AttackFlags, v| value::count(v).map(|n| t.cable.speakers = n),
    )
    .native(),
    own_text!(
        "cookies",
        "'NAME=VALUE; …'",
        "",
        "Cookies of the handshake; {user} is the user's number, from 1.",
        cookies
    ),
    own_time!(
        "timeout",
        "10s",
        "Limit of a handshake, of a confirmation, and of a message's way, each.",
        timeout
    ),
    own_time!(
        "jitter",
        "0",
        "Who lost its connection comes back after a random time up to this.",
        jitter
    ),
    Flag::new(
        "cuts",
        ValueKind::Text("N"),
        "0",
        "Herd: how often all connections are cut, so that all come back.",
        |t: &mut AttackFlags, v| value::number(v).map(|n| t.cable.cuts = n),
    )
    .native(),
    own_time!(
        "give-up",
        "1m",
        "Herd: who is not subscribed so long after the start, or a cut, is given up.",
        give_up
    ),
    Flag::new(
        "no-backoff",
        ValueKind::Switch,
        "",
        "Who is refused tries again at once, not after 100 ms to 5 s.",
        |t: &mut AttackFlags, v| value::switch(v).map(|on| t.cable.no_backoff = on),
    )
    .native(),
    Flag::new(
        "fail-on-loss",
        ValueKind::Switch,
        "",
        "Exit with code 9 where a message was lost, or nobody could subscribe.",
        |t: &mut AttackFlags, v| value::switch(v).map(|on| t.cable.fail_on_loss = on),
    )
    .native(),
];

/// A rate, or 0.
fn rate(text: &str) -> Result<ParsedRate, ValueError> {
    match load_value::rate(text)? {
        ParsedRate::Infinity => Err(ValueError::new("\"infinity\" is no rate here")),
        rate => Ok(rate),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shared_flag_is_there() {
        let shared = SHARED.len() + watch::BESIDE.len();
        assert_eq!(table().len(), OWN.len() + shared);
    }

    #[test]
    fn a_rate_has_an_end() {
        assert!(rate("5/m").is_ok() && rate("0").is_ok());
        assert!(rate("infinity").is_err() && rate("x").is_err());
    }
}
