//! The commands: one row each; help, man page and completions are made from the same rows.

use cli::{CommandSpec, Registry, rows_of};
use lab::CommandLines;

use super::tools::TOOLS;
use super::{agent, completions, demo, fleet, help, import, jitter, man, serve, study, watch};
use crate::analyze::{compare, dump, encode, fit, plot, report, runs, ui};
use crate::dialect::dispatch;
use crate::{flags, load};

/// Every command and every tool of this binary.
pub(crate) const REGISTRY: Registry =
    Registry { commands: COMMANDS, old_names: &[("scheduler", "jitter")], tools: TOOLS };

/// What a study takes from the command lines that it runs.
pub(super) fn command_lines() -> CommandLines {
    CommandLines {
        tools: TOOLS.iter().map(|tool| tool.name).collect(),
        validate: |args| dispatch::validate(&args, &REGISTRY),
    }
}

/// Every command, in the order of the help.
const COMMANDS: &[CommandSpec] = &[
    CommandSpec {
        name: "demo",
        summary: "Show brunt's reports in half a minute, with a server of its own.",
        operands: "",
        about: "Starts a server with six single-threaded workers of 60 ms each, attacks it below and above its capacity, \
                prints both reports and writes brunt-demo.html.",
        examples: &[("brunt demo", "watch a server saturate")],
        rows: || rows_of(flags::serve::DEMO),
        run: demo::run,
        validate: None,
    },
    CommandSpec {
        name: "attack",
        summary: "Send requests at a rate, or as users, and stream the results.",
        operands: "[URL…]",
        about: load::attack::ABOUT,
        examples: &[
            (
                "brunt attack -rate=50 -duration=10s -output=results.arrow http://localhost:8080/",
                "50 requests a second for 10 s",
            ),
            (
                "echo \"GET http://localhost:8080/\" | brunt attack -duration=5s | tee -i results.bin | brunt report",
                "50 requests a second for 5 s, saved and reported",
            ),
            (
                "brunt attack -targets=targets -rate=200 -duration=1m -output=results.arrow",
                "a file of targets in turn",
            ),
            (
                "echo \"GET http://localhost:8080/\" | brunt attack -rate=0 -max-workers=64 -duration=10s",
                "a closed loop of 64 users",
            ),
            (
                "echo \"GET http://localhost:8080/\" | brunt attack -shape=linear:10..500 -duration=2m -output=ramp.arrow",
                "a ramp from 10 to 500 a second",
            ),
        ],
        rows: || rows_of(load::attack::flags::FLAGS),
        run: load::attack::run,
        validate: Some(load::attack::validate),
    },
    CommandSpec {
        name: "bench",
        summary: "Send requests over N connections as fast as they are answered.",
        operands: "[URL]",
        about: load::bench::ABOUT,
        examples: &[
            ("brunt bench -c 64 http://localhost:8080/", "64 connections for 10 s"),
            (
                "brunt bench -c 8 -n 10000 -no-keepalive http://localhost:8080/",
                "10,000 requests, each on a new connection",
            ),
            (
                "brunt bench -c 16 -d 1m -targets=targets -output=bench.arrow",
                "a file of targets in turn, results saved",
            ),
        ],
        rows: || rows_of(load::bench::flags::FLAGS),
        run: load::bench::run,
        validate: Some(load::bench::validate),
    },
    CommandSpec {
        name: "seek",
        summary: "Find the highest rate, or number of connections or users, that meets an objective.",
        operands: "[URL | SCRIPT.js]",
        about: load::seek::ABOUT,
        examples: &[
            ("brunt seek http://localhost:8080/", "the highest rate with p95<500ms"),
            (
                "brunt seek -objective='p99<250ms, errors<0.1%' http://localhost:8080/",
                "the highest rate, with its interval",
            ),
            (
                "brunt seek -by=connections -objective='p95<50ms' -plot=curve.html http://localhost:8080/",
                "the most users of a closed loop, and the curve",
            ),
            (
                "brunt seek -objective='p95<300ms' -budget=2m http://localhost:8080/",
                "the best answer that two minutes give",
            ),
            (
                "brunt seek -objective='p99<1s' -step=1m -precision=2% -state=seek.json http://localhost:8080/",
                "a longer search that can be interrupted and continued",
            ),
            (
                "brunt seek -budget=5m -watch-port=3000 -e HOST=http://localhost:3000 login.js",
                "how often a second a script may begin, and what limits the server",
            ),
        ],
        rows: || rows_of(load::seek::flags::FLAGS),
        run: load::seek::run,
        validate: Some(load::seek::validate),
    },
    CommandSpec {
        name: "cable",
        summary: "Test Action Cable: echo, broadcast, idle sockets, thundering herds.",
        operands: "echo|broadcast|idle|herd URL",
        about: load::cable::ABOUT,
        examples: &[
            (
                "brunt cable echo ws://localhost:3000/cable -channel ChatChannel -params '{\"id\":\"demo\"}' -users 20",
                "20 users, each sends a message a second and waits for it",
            ),
            (
                "brunt cable broadcast ws://localhost:3000/cable -channel ChatChannel -params '{\"id\":\"demo\"}' \
                 -users 200 -rate 10 -cookies 'uid=Kay{user}/{user}' -fail-on-loss",
                "does every user get every message?",
            ),
            (
                "brunt cable herd ws://localhost:3000/cable -channel ChatChannel -users 5000 -cuts 3 -jitter 5s",
                "5,000 users reconnect three times",
            ),
        ],
        rows: || rows_of(load::cable::flags::FLAGS),
        run: load::cable::run,
        validate: Some(load::cable::validate),
    },
    CommandSpec {
        name: "run",
        summary: "Run a k6 script.",
        operands: "SCRIPT",
        about: "The script's options say what to run; flags override them. The summary, the log and the exit codes are k6's: 99 \
                for a crossed threshold, 107 for a script that throws. docs/reference/run.md lists what brunt does not \
                support.",
        examples: &[
            ("brunt run script.js", "with the script's own options"),
            (
                "brunt run -u 10 -d 30s -e HOST=http://127.0.0.1:3000 script.js",
                "ten users for half a minute",
            ),
        ],
        rows: k6::flags::run_rows,
        run: k6::run,
        validate: Some(k6::validate),
    },
    CommandSpec {
        name: "inspect",
        summary: "Show the options of a k6 script.",
        operands: "SCRIPT",
        about: "Prints the options as JSON, as k6's inspect does.",
        examples: &[(
            "brunt inspect -execution-requirements script.js",
            "also the duration and the number of users",
        )],
        rows: k6::flags::inspect_rows,
        run: k6::inspect,
        validate: None,
    },
    CommandSpec {
        name: "archive",
        summary: "Put a k6 script and all the files it needs into one archive.",
        operands: "SCRIPT",
        about: "The archive has k6's format; `brunt run` and k6 itself run it.",
        examples: &[("brunt archive -O test.tar script.js", "then: brunt run test.tar")],
        rows: k6::flags::archive_rows,
        run: k6::archive,
        validate: None,
    },
    CommandSpec {
        name: "new",
        summary: "Write an example k6 script.",
        operands: "[FILE]",
        about: "",
        examples: &[("brunt new --template=protocol test.js", "scenarios, groups and thresholds")],
        rows: k6::flags::new_rows,
        run: k6::new,
        validate: None,
    },
    CommandSpec {
        name: "report",
        summary: "Report results: text, JSON, histogram, HTML, Markdown, JUnit.",
        operands: "[FILE…]",
        about: "Reads results in any format from the files, or from standard input, and merges them by time. Ctrl-C \
                reports what was read so far.",
        examples: &[
            ("brunt report results.bin", "the text report"),
            ("brunt report -type=html -output=report.html results.bin", "one page with charts"),
            ("brunt report -type='hist[0,10ms,100ms]' results.bin", "a histogram"),
            ("brunt attack … | brunt report -every=1s", "live"),
        ],
        rows: || rows_of(report::REPORT),
        run: report::run,
        validate: None,
    },
    CommandSpec {
        name: "plot",
        summary: "Draw results: latency over time, percentile curves, histograms, overlays, bars.",
        operands: "[[LABEL=]FILE[:COLUMN]…]",
        about: "Reads results in any format from the files, or from standard input. Several files with one label are its \
                runs. COLUMN is response, service, wait or dial, or a column of another program's table, with its \
                unit: total[s].",
        examples: &[
            ("brunt plot results.bin > plot.html", "latency over time"),
            (
                "brunt plot -percentiles -output=compare.svg before=a.bin after=b.bin",
                "two runs in one picture",
            ),
            (
                "brunt plot -bars=rate,duration,transfer,longest -output=bars.html hash=a.bin fair=b.bin",
                "a bar chart per metric",
            ),
            (
                "brunt plot -overlay -json one=a1.bin one=a2.bin four=b1.bin four=b2.bin",
                "do they differ?",
            ),
        ],
        rows: || rows_of(plot::PLOT),
        run: plot::run,
        validate: None,
    },
    CommandSpec {
        name: "compare",
        summary: "Compare variants run by run: better, worse, the same, or cannot tell.",
        operands: "[LABEL=]FILE|FOLDER [LABEL=]FILE|FOLDER…",
        about: compare::ABOUT,
        examples: &[
            ("brunt compare before/ after/", "two folders of repeats"),
            (
                "brunt compare -fail-on='p99>+5%' -fail-on='throughput<-5%' before/ after/",
                "a gate for CI: exit code 7 if it got worse",
            ),
            (
                "brunt compare -output=compare.html hash=h1.arrow hash=h2.arrow fair=f1.arrow fair=f2.arrow",
                "a page, with the shift of every quantile",
            ),
        ],
        rows: || rows_of(compare::COMPARE),
        run: compare::run,
        validate: None,
    },
    CommandSpec {
        name: "runs",
        summary: "The runs that were saved: list, show, compare, label, export, import, remove.",
        operands: "list | show RUN | compare RUN RUN… | label RUN KEY=VALUE… | export RUN | import FILE… | rm RUN… | prune",
        about: runs::ABOUT,
        examples: &[
            ("brunt runs list -name=home", "all runs called home, newest first"),
            ("brunt runs compare -baseline=home@6 home@3", "the last three against the last six"),
            ("brunt runs import results.bin -name=home", "results of Vegeta as a run of the store"),
            ("brunt runs prune -keep=20 -older-than=30d", "remove what is old"),
        ],
        rows: || rows_of(runs::RUNS),
        run: |invocation| {
            runs::run(invocation, runs::Others { compare: compare::run, report: report::run })
        },
        validate: None,
    },
    CommandSpec {
        name: "ui",
        summary: "The runs that were saved in the browser: search, compare, trends, notes.",
        operands: "",
        about: ui::ABOUT,
        examples: &[
            ("brunt ui", "the project's store, at 127.0.0.1:8765"),
            ("brunt ui -store=/srv/runs -listen=127.0.0.1:9000", "another store and port"),
        ],
        rows: || rows_of(ui::UI),
        run: ui::run,
        validate: None,
    },
    CommandSpec {
        name: "study",
        summary: "Run variants with their servers under workloads, interleaved, and report which is better.",
        operands: "run FILE | new [FILE]",
        about: study::ABOUT,
        examples: &[
            ("brunt study new", "write study.toml, which runs as it is"),
            (
                "brunt study run study.toml -quick -out results",
                "its short form: half a minute, to see that everything works",
            ),
            (
                "brunt study run study.toml -only=puma,nginx -out results",
                "two of its variants; the same command continues after Ctrl-C",
            ),
        ],
        rows: || rows_of(flags::study::STUDY),
        run: |invocation| study::run(invocation, &command_lines()),
        validate: None,
    },
    CommandSpec {
        name: "fit",
        summary: "Fit a queueing model to runs at several loads, and predict other loads.",
        operands: "FILE|FOLDER… | STATE",
        about: fit::ABOUT,
        examples: &[
            (
                "brunt fit -at=128 c1.arrow c4.arrow c16.arrow c64.arrow",
                "response times of 128 users",
            ),
            ("brunt fit -plot=fit.html seek.json", "the steps of a search, measured and predicted"),
            (
                "brunt fit -point='4:X=35,p50=83ms' -point='16:X=33,p50=450ms' -at=64",
                "figures of another program",
            ),
        ],
        rows: || rows_of(fit::FIT),
        run: fit::run,
        validate: None,
    },
    CommandSpec {
        name: "encode",
        summary: "Convert results to another format.",
        operands: "[FILE…]",
        about: "Reads results in any format from the files, or from standard input, and merges them by time.",
        examples: &[
            ("brunt encode -to=csv results.bin > results.csv", "for a spreadsheet"),
            ("brunt encode -output=results.parquet results.bin", "for DuckDB, pandas, Polars"),
            ("brunt attack … | brunt encode | jq -r .latency", "live, a line per result"),
        ],
        rows: || rows_of(encode::ENCODE),
        run: encode::run,
        validate: None,
    },
    CommandSpec {
        name: "dump",
        summary: "Vegeta's old name of encode; prints an explanation.",
        operands: "[FILE…]",
        about: "",
        examples: &[],
        rows: || rows_of(dump::DUMP),
        run: dump::run,
        validate: None,
    },
    CommandSpec {
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
    },
    CommandSpec {
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
    },
    CommandSpec {
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
    },
    CommandSpec {
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
    },
    CommandSpec {
        name: "import",
        summary: "Make a k6 script of a browser's recording, curl lines, OpenAPI, Postman or .http files.",
        operands: "FILE…",
        about: import::ABOUT,
        examples: &[
            ("brunt import -output=shop.js shop.har", "a browser's recording as a script"),
            (
                "brunt import -to=targets login.sh | brunt attack -duration=10s",
                "a line of curl as load",
            ),
        ],
        rows: || rows_of(flags::import::IMPORT),
        run: import::run,
        validate: None,
    },
    CommandSpec {
        name: "jitter",
        summary: "Measure how late this machine wakes up, without any load.",
        operands: "",
        about: "An attack's schedule lag cannot be smaller than this. A busy machine, a virtual machine or a slow clock \
                increases it. The old name of the command, scheduler, still works.",
        examples: &[("brunt jitter -rate=50000", "lag at 50,000 a second")],
        rows: || rows_of(flags::jitter::JITTER),
        run: jitter::run,
        validate: None,
    },
    CommandSpec {
        name: "completions",
        summary: "Print completions for bash, zsh or fish.",
        operands: "bash|zsh|fish",
        about: "",
        examples: &[(
            "brunt completions bash > /etc/bash_completion.d/brunt",
            "for all users of this machine",
        )],
        rows: Vec::new,
        run: |invocation| completions::run(invocation, &REGISTRY),
        validate: None,
    },
    CommandSpec {
        name: "man",
        summary: "Print the man page.",
        operands: "",
        about: "",
        examples: &[("brunt man | man -l -", "read it")],
        rows: Vec::new,
        run: |invocation| man::run(invocation, &REGISTRY),
        validate: None,
    },
    CommandSpec {
        name: "help",
        summary: "Print help: for one command, or an overview.",
        operands: "[COMMAND]",
        about: "",
        examples: &[],
        rows: Vec::new,
        run: |invocation| help::run(invocation, &REGISTRY),
        validate: None,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        for command in COMMANDS {
            let rows = command.native_rows();
            let mut names: Vec<&str> =
                rows.iter().flat_map(|row| row.aliases.iter().copied().chain([row.name])).collect();
            let all = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), all, "{}", command.name);
        }
    }

    #[test]
    fn old_names_lead_to_commands() {
        for (old, now) in REGISTRY.old_names {
            assert!(REGISTRY.names().all(|name| name != *old), "{old}");
            assert_eq!(REGISTRY.command(old).map(|command| command.name), Some(*now));
        }
    }

    #[test]
    fn docs_are_sentences() {
        for row in COMMANDS.iter().flat_map(CommandSpec::native_rows) {
            assert!(row.docs.ends_with(['.', ')']), "-{}: {}", row.name, row.docs);
            assert!(row.docs.len() < 110, "-{}: {}", row.name, row.docs);
        }
    }
}
