//! Commands for servers, machines and fleets.

use cli::{CommandSpec, rows_of};

use crate::command::{agent, fleet, jitter, serve, watch};
use crate::flags;

/// `serve`.
pub(super) const SERVE: CommandSpec = CommandSpec {
    name: "serve",
    summary: "Run a test server with a chosen service time, queue and faults.",
    operands: "",
    about: "Every path gets the plain response, but for those in docs/reference/serve.md: /slow, /reset, /truncate, \
            /garbage, /drip, /huge-headers and /bomb cause the fault of that name. Ctrl-C ends the server and \
            prints counts of what it served.",
    examples: &[
        (
            "brunt serve --listen 127.0.0.1:8080 --workers 6 --service fixed:60ms",
            "a capacity of 100 requests a second",
        ),
        ("brunt serve --service lognormal:60ms,0.5 --error-rate 1%", "a more realistic one"),
        (
            "brunt serve --cable --cable-loss 1% --cable-delay exp:5ms",
            "Action Cable that loses one message in a hundred",
        ),
    ],
    rows: || rows_of(flags::serve::SERVE),
    run: serve::run,
    validate: None,
};

/// `watch`.
pub(super) const WATCH: CommandSpec = CommandSpec {
    name: "watch",
    summary: "Watch a server: load, cores, memory, processes, containers, endpoints, logs.",
    operands: "",
    about: watch::ABOUT,
    examples: &[
        ("brunt watch -port=3000", "this machine, and the processes that listen on port 3000"),
        (
            "brunt watch -name=puma -log=rails:log/production.log -output=server.arrow",
            "Puma's processes, and each request in Rails's log",
        ),
        (
            "brunt watch -loadavg=loadavg.csv -requests=requests.csv -log=rails:log/production.log",
            "tables for a spreadsheet",
        ),
    ],
    rows: || rows_of(flags::watch::WATCH),
    run: watch::run,
    validate: None,
};

/// `fleet`.
pub(super) const FLEET: CommandSpec = CommandSpec {
    name: "fleet",
    summary: "Let other machines join, or a cluster's, to send load together.",
    operands: "up | resume [RUN] | k8s [-- COMMAND …]",
    about: fleet::ABOUT,
    examples: &[
        ("brunt fleet up -dir fleet", "agents on this machine alone"),
        (
            "brunt fleet up -dir fleet -listen 0.0.0.0:4222 -advertise load-1.example",
            "agents on other machines",
        ),
        (
            "brunt attack -targets=targets -rate=2000 -duration=1m -fleet=fleet -agents=4 -output=results.arrow",
            "500 requests a second from each of four agents",
        ),
        (
            "brunt fleet resume -dir fleet -output=results.arrow",
            "the command above was killed: its results all the same",
        ),
        ("brunt fleet rm load-3 -dir fleet", "put a machine out of the fleet"),
        ("brunt fleet token -new -dir fleet", "let no machine in by the old token"),
        (
            "brunt fleet k8s -dir fleet -n load -image registry.example/brunt:1.0 -agents 4 > fleet.yaml",
            "four agents in a cluster: what kubectl apply takes",
        ),
        (
            "brunt fleet k8s -dir fleet -n load -image registry.example/brunt:1.0 -agents 4 -apply -- \
             attack -targets=targets -rate=2000 -duration=1m -output=results.arrow",
            "start them, send a load from them, and clean up",
        ),
    ],
    rows: || rows_of(flags::fleet::FLEET),
    run: fleet::run,
    validate: None,
};

/// `agent`.
pub(super) const AGENT: CommandSpec = CommandSpec {
    name: "agent",
    summary: "Join a fleet, and send its load.",
    operands: "",
    about: agent::ABOUT,
    examples: &[
        ("brunt agent -join token.txt -name load-2", "with the token in a file"),
        ("brunt agent -join token.txt -labels zone=eu -cpus 4", "four of its cores"),
        ("brunt agent -join - -name load-3", "with the token of standard input"),
    ],
    rows: || rows_of(flags::fleet::AGENT),
    run: agent::run,
    validate: None,
};

/// `jitter`.
pub(super) const JITTER: CommandSpec = CommandSpec {
    name: "jitter",
    summary: "Measure how late this machine wakes up, without any load.",
    operands: "",
    about: "An attack's schedule lag cannot be smaller than this. A busy machine, a virtual machine or a slow clock \
            increases it. The old name of the command, scheduler, still works.",
    examples: &[("brunt jitter -rate=50000", "lag at 50,000 a second")],
    rows: || rows_of(flags::jitter::JITTER),
    run: jitter::run,
    validate: None,
};
