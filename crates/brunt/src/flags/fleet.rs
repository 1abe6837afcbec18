//! The flags of `fleet` and of `agent`.

use std::net::SocketAddr;

use cli::{CommandError, Flag, ValueError, ValueKind, flag_table, input, usage_error, value};
use control::{NatsAccess, TokenRules};
use remote::flags::read_labels;

use crate::flags::cluster::{self, ClusterFlags};
use crate::load::flags::{DisplayFlags, ResultsFlags, display, holds, results};

/// The flags of `fleet` as typed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FleetUpFlags {
    /// The fleet's folder.
    pub(crate) dir: Option<String>,
    /// Where its server listens.
    pub(crate) listen: SocketAddr,
    /// The name by which agents reach it.
    pub(crate) advertise: Option<String>,
    /// What the joining token is good for.
    pub(crate) token: TokenRules,
    /// Another joining token is made.
    pub(crate) new: bool,
    /// A NATS server that is there already.
    pub(crate) server: ServerFlags,
    /// The fleet in a cluster.
    pub(crate) cluster: ClusterFlags,
    /// Where the results of a resumed run go.
    pub(crate) results: ResultsFlags,
    /// What people see of a resumed run.
    pub(crate) display: DisplayFlags,
}

impl Default for FleetUpFlags {
    fn default() -> Self {
        Self {
            dir: None,
            listen: LISTEN.into(),
            advertise: None,
            token: TokenRules::default(),
            new: false,
            server: ServerFlags::default(),
            cluster: ClusterFlags::default(),
            results: ResultsFlags::default(),
            display: DisplayFlags::default(),
        }
    }
}

holds!(FleetUpFlags:
    server: ServerFlags,
    cluster: ClusterFlags,
    results: ResultsFlags,
    display: DisplayFlags,
);

impl FleetUpFlags {
    /// The first flag given that means nothing for what the command line asks for; of a group of flags, one stands for all.
    pub(crate) fn stray(&self, word: &str) -> Option<&'static str> {
        let means = |commands: &[&str]| commands.contains(&word);
        let given = [
            ("listen", self.listen != LISTEN.into(), means(&["up"])),
            ("advertise", self.advertise.is_some(), means(&["up"])),
            ("token-lasts", self.token != TokenRules::default(), means(&["up", "token"])),
            ("new", self.new, means(&["token"])),
            ("nats", self.server != ServerFlags::default(), means(&["up", "k8s"])),
            ("agents", self.cluster != ClusterFlags::default(), means(&["k8s"])),
            ("output", self.results != ResultsFlags::default(), means(&["resume"])),
            ("json", self.display != DisplayFlags::default(), means(&["resume"])),
        ];
        given.into_iter().find(|(_, is_given, means)| *is_given && !means).map(|(name, ..)| name)
    }

    /// The first flag given that means nothing for a server that is there already.
    pub(crate) fn stray_of_server(&self) -> Option<&'static str> {
        self.stray("resume").filter(|flag| !["nats", "agents"].contains(flag))
    }
}

/// Where a fleet's server listens unless a flag says otherwise.
const LISTEN: ([u8; 4], u16) = ([127, 0, 0, 1], 4222);

/// A NATS server that is there already.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ServerFlags {
    /// Its URL.
    pub(crate) url: Option<String>,
    /// A file of credentials.
    pub(crate) credentials: Option<String>,
}

impl ServerFlags {
    /// How to sign in there; `None` where no server is given.
    ///
    /// # Errors
    /// The credentials cannot be read, or stand alone.
    pub(crate) fn access(&self) -> Result<Option<NatsAccess>, CommandError> {
        let Some(url) = &self.url else {
            let is_stray = self.credentials.is_some();
            return if is_stray { Err(usage_error("-creds needs a -nats=URL")) } else { Ok(None) };
        };
        let read = |path: &String| input::read_whole(path);
        let credentials = self.credentials.as_ref().map(read).transpose()?;
        let text = credentials.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let access = NatsAccess::of_server(url, text);
        if access.sends_password_in_clear() {
            session::warn(
                "nats:// sends the password in clear where the server, or a machine between, says so: use tls://",
            );
        }
        Ok(Some(access))
    }
}

/// The rows of a server that is there already.
const fn server<T: AsMut<ServerFlags>>() -> [Flag<T>; 2] {
    [
        Flag::new(
            "nats",
            ValueKind::Text("URL"),
            "",
            "Use this NATS server (2.9 or later, with JetStream) and not one of the fleet's own.",
            |t: &mut T, v| {
                t.as_mut().url = Some(v.to_owned());
                Ok(())
            },
        )
        .native(),
        Flag::new(
            "creds",
            ValueKind::Path,
            "",
            "File of credentials for -nats; a user and a password may stand in the URL as well.",
            |t: &mut T, v| {
                t.as_mut().credentials = Some(v.to_owned());
                Ok(())
            },
        )
        .native(),
    ]
}

/// The flags of `fleet`.
pub(crate) const FLEET: &[Flag<FleetUpFlags>] = flag_table!(FleetUpFlags:
    OWN,
    &server(),
    &cluster::agents(),
    &cluster::placing(),
    &cluster::actions(),
    &[results::output(), results::to()],
    &display::fails(),
    &display::shown(),
);

const OWN: &[Flag<FleetUpFlags>] = &[
    Flag::new(
        "dir",
        ValueKind::Path,
        "",
        "The fleet's folder: keys, certificate, journals. It is made where it is missing.",
        |t: &mut FleetUpFlags, v| {
            t.dir = Some(v.to_owned());
            Ok(())
        },
    )
    .native(),
    Flag::new(
        "listen",
        ValueKind::Text("ADDR:PORT"),
        "127.0.0.1:4222",
        "Where agents connect to. Port 0 takes a free one.",
        |t: &mut FleetUpFlags, v| address(v).map(|listen| t.listen = listen),
    )
    .native(),
    Flag::new(
        "advertise",
        ValueKind::Text("HOST"),
        "that of -listen",
        "The name or address by which agents reach this machine.",
        |t: &mut FleetUpFlags, v| {
            t.advertise = Some(v.to_owned());
            Ok(())
        },
    )
    .native(),
    Flag::new(
        "token-lasts",
        ValueKind::Duration,
        "24h",
        "How long new machines join by the token; those that are in stay.",
        |t: &mut FleetUpFlags, v| value::duration(v).map(|lasts| t.token.lasts = lasts),
    )
    .native(),
    Flag::new(
        "token-machines",
        ValueKind::Text("N"),
        "1000",
        "How many machines join by the token.",
        |t: &mut FleetUpFlags, v| {
            let machines = value::count(v)?;
            t.token.machines = u32::try_from(machines).unwrap_or(u32::MAX);
            Ok(())
        },
    )
    .native(),
    Flag::new(
        "new",
        ValueKind::Switch,
        "",
        "token: make another one; no machine joins by the old one any more.",
        |t: &mut FleetUpFlags, v| value::switch(v).map(|on| t.new = on),
    )
    .native(),
];

fn address(text: &str) -> Result<SocketAddr, ValueError> {
    text.parse().map_err(|_| {
        ValueError::new(format!("\"{text}\" is no address (expected ADDR:PORT, as 10.0.0.5:4222)"))
    })
}

/// The flags of `agent` as typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AgentFlags {
    /// A file with the joining token, or the token itself.
    pub(crate) join: Option<String>,
    /// Its name in the fleet; `None` is the machine's.
    pub(crate) name: Option<String>,
    /// Its labels.
    pub(crate) labels: Vec<String>,
    /// Where it stores its key; `None` is the user's folder for state.
    pub(crate) dir: Option<String>,
    /// A NATS server that is there already, and lets in whom it likes.
    pub(crate) server: ServerFlags,
}

holds!(AgentFlags: server: ServerFlags);

/// The flags of `agent`.
pub(crate) const AGENT: &[Flag<AgentFlags>] = flag_table!(AgentFlags: JOINING, &server());

const JOINING: &[Flag<AgentFlags>] = &[
    Flag::new(
        "join",
        ValueKind::Text("FILE"),
        "",
        "The file with the token of `brunt fleet up`; - is standard input. Without it BRUNT_JOIN has the token.",
        |t: &mut AgentFlags, v| {
            t.join = Some(v.to_owned());
            Ok(())
        },
    )
    .native(),
    Flag::new(
        "name",
        ValueKind::Text("NAME"),
        "the machine's",
        "Its name in the fleet: letters, digits, - and _.",
        |t: &mut AgentFlags, v| {
            t.name = Some(v.to_owned());
            Ok(())
        },
    )
    .native(),
    Flag::new(
        "labels",
        ValueKind::Text("KEY=VALUE,…"),
        "",
        "What -agent-labels of a run may ask for.",
        |t: &mut AgentFlags, v| read_labels(v).map(|labels| t.labels.extend(labels)),
    )
    .native(),
    Flag::new(
        "dir",
        ValueKind::Path,
        "~/.local/state/brunt",
        "Where it stores its key, by which it has its name again.",
        |t: &mut AgentFlags, v| {
            t.dir = Some(v.to_owned());
            Ok(())
        },
    )
    .native(),
];
