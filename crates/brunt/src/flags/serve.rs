//! The flags of `serve` and of `demo`.

use cli::{Flag, ValueKind, value};
use stdx::Nanos;

/// The flags of `serve` as typed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ServeFlags {
    /// Empty for the default.
    pub(crate) listen: Vec<String>,
    pub(crate) workers: u64,
    pub(crate) service: String,
    pub(crate) queue: u64,
    pub(crate) error_rate: f64,
    pub(crate) body: u64,
    pub(crate) cable: bool,
    pub(crate) cable_ping: Nanos,
    pub(crate) cable_delay: String,
    pub(crate) cable_loss: f64,
    pub(crate) cable_duplicate: f64,
    pub(crate) cable_reorder: f64,
    pub(crate) cable_reject: f64,
    pub(crate) cable_no_confirm: f64,
    pub(crate) cable_disconnect_after: Option<Nanos>,
    pub(crate) tls: bool,
    pub(crate) tls_cert: Option<String>,
    pub(crate) tls_key: Option<String>,
    pub(crate) seed: u64,
}

impl Default for ServeFlags {
    fn default() -> Self {
        Self {
            listen: Vec::new(),
            workers: 6,
            service: "fixed:0ms".to_owned(),
            queue: 1024,
            error_rate: 0.0,
            body: 512,
            cable: false,
            cable_ping: Nanos::from_millis(3000),
            cable_delay: "none".to_owned(),
            cable_loss: 0.0,
            cable_duplicate: 0.0,
            cable_reorder: 0.0,
            cable_reject: 0.0,
            cable_no_confirm: 0.0,
            cable_disconnect_after: None,
            tls: false,
            tls_cert: None,
            tls_key: None,
            seed: 1,
        }
    }
}

/// The flags of `serve`.
pub(crate) const SERVE: &[Flag<ServeFlags>] = &[
    Flag::new(
        "listen",
        ValueKind::Text("ADDR:PORT"),
        "127.0.0.1:8080",
        "Address to listen on, or unix:PATH; repeat for more. Port 0 takes a free one.",
        |t: &mut ServeFlags, v| {
            t.listen.push(v.to_owned());
            Ok(())
        },
    )
    .native(),
    Flag::new(
        "workers",
        ValueKind::Text("N"),
        "6",
        "Requests served at a time.",
        |t: &mut ServeFlags, v| value::count(v).map(|n| t.workers = n),
    )
    .native(),
    Flag::new(
        "service",
        ValueKind::Text("LAW"),
        "fixed:0ms",
        "Service time: fixed:60ms, exp:60ms, lognormal:60ms,0.5 or file:PATH.",
        |t: &mut ServeFlags, v| {
            v.clone_into(&mut t.service);
            Ok(())
        },
    )
    .native(),
    Flag::new(
        "queue",
        ValueKind::Text("N"),
        "1024",
        "Maximum number of requests that wait for a worker; the others get a 503.",
        |t: &mut ServeFlags, v| value::number(v).map(|n| t.queue = n),
    )
    .native(),
    Flag::new(
        "error-rate",
        ValueKind::Text("SHARE"),
        "0",
        "Share answered with a 500.",
        |t: &mut ServeFlags, v| value::share(v).map(|share| t.error_rate = share),
    )
    .native(),
    Flag::new(
        "body",
        ValueKind::Text("SIZE"),
        "512",
        "Bytes of each response body.",
        |t: &mut ServeFlags, v| value::size(v).map(|size| t.body = size),
    )
    .native(),
    Flag::new(
        "cable",
        ValueKind::Switch,
        "",
        "Speak Action Cable at /cable, with ChatChannel and EchoChannel.",
        |t: &mut ServeFlags, v| value::switch(v).map(|on| t.cable = on),
    )
    .native(),
    Flag::new(
        "cable-ping",
        ValueKind::Text("TIME"),
        "3s",
        "Time between two pings of Action Cable.",
        |t: &mut ServeFlags, v| value::duration(v).map(|time| t.cable_ping = time),
    )
    .native(),
    Flag::new(
        "cable-delay",
        ValueKind::Text("LAW"),
        "none",
        "Delay of each message to a subscriber, as for -service.",
        |t: &mut ServeFlags, v| {
            v.clone_into(&mut t.cable_delay);
            Ok(())
        },
    )
    .native(),
    Flag::new(
        "cable-loss",
        ValueKind::Text("SHARE"),
        "0",
        "Share of messages to subscribers that are lost.",
        |t: &mut ServeFlags, v| value::share(v).map(|share| t.cable_loss = share),
    )
    .native(),
    Flag::new(
        "cable-duplicate",
        ValueKind::Text("SHARE"),
        "0",
        "Share of messages to subscribers that are sent twice.",
        |t: &mut ServeFlags, v| value::share(v).map(|share| t.cable_duplicate = share),
    )
    .native(),
    Flag::new(
        "cable-reorder",
        ValueKind::Text("SHARE"),
        "0",
        "Share of messages to subscribers that arrive after the next one.",
        |t: &mut ServeFlags, v| value::share(v).map(|share| t.cable_reorder = share),
    )
    .native(),
    Flag::new(
        "cable-reject",
        ValueKind::Text("SHARE"),
        "0",
        "Share of subscriptions that are rejected.",
        |t: &mut ServeFlags, v| value::share(v).map(|share| t.cable_reject = share),
    )
    .native(),
    Flag::new(
        "cable-no-confirm",
        ValueKind::Text("SHARE"),
        "0",
        "Share of subscriptions that are never answered.",
        |t: &mut ServeFlags, v| value::share(v).map(|share| t.cable_no_confirm = share),
    )
    .native(),
    Flag::new(
        "cable-disconnect-after",
        ValueKind::Text("TIME"),
        "",
        "Send each Action Cable client a disconnect with reconnect after this time, and close.",
        |t: &mut ServeFlags, v| {
            value::duration(v).map(|time| t.cable_disconnect_after = Some(time))
        },
    )
    .native(),
    Flag::new(
        "tls",
        ValueKind::Switch,
        "",
        "Speak TLS, with a throw-away certificate.",
        |t: &mut ServeFlags, v| value::switch(v).map(|on| t.tls = on),
    )
    .native(),
    Flag::new(
        "tls-cert",
        ValueKind::Path,
        "",
        "PEM certificate chain; implies -tls.",
        |t: &mut ServeFlags, v| {
            t.tls_cert = Some(v.to_owned());
            Ok(())
        },
    )
    .native(),
    Flag::new("tls-key", ValueKind::Path, "", "PEM private key.", |t: &mut ServeFlags, v| {
        t.tls_key = Some(v.to_owned());
        Ok(())
    })
    .native(),
    Flag::new(
        "seed",
        ValueKind::Text("N"),
        "1",
        "Seed of service times and errors.",
        |t: &mut ServeFlags, v| value::number(v).map(|n| t.seed = n),
    )
    .native(),
];

/// The flags of `demo` as typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DemoFlags {
    pub(crate) quiet: bool,
}

/// The flags of `demo`.
pub(crate) const DEMO: &[Flag<DemoFlags>] =
    &[Flag::new("q", ValueKind::Switch, "", "Quiet: no live progress.", |t: &mut DemoFlags, v| {
        value::switch(v).map(|on| t.quiet = on)
    })
    .native()
    .also(&["quiet"])];
