//! The flags of `run`, by k6's names.

use cli::{Flag, ValueKind, flag_table, switch, text, value};
use script::ValueFormat;
use session::monitor_flags as watch;
use session::{OnInvalid, save};

use super::run_flags::RunFlags;
use super::script_environment::{ALLOW_READ, ENV, OFFLINE};

/// The flags of `run`.
pub(crate) const RUN: &[Flag<RunFlags>] = flag_table!(RunFlags: LOAD, OWN, &[save::report()], &save::rows(), &watch::beside(), &remote::flags::rows());

/// How many users there are, and for how long; `archive` knows them as well.
pub(super) const LOAD: &[Flag<RunFlags>] = &[
    option!("u", ValueKind::Text("N"), "1", "Virtual users.", "vus", Count).also(&["vus"]),
    time!("d", "How long new iterations start.", "duration").also(&["duration"]),
    option!(
        "i",
        ValueKind::Text("N"),
        "",
        "Total number of iterations of all users.",
        "iterations",
        Count
    )
    .also(&["iterations"]),
];

const OWN: &[Flag<RunFlags>] = &[
    list!(
        "s",
        "TIME:N",
        "A stage: change to N users over this time. Repeat for more stages.",
        "stages",
        Stages
    )
    .also(&["stage"]),
    option!(
        "p",
        ValueKind::Switch,
        "",
        "Start paused, until `brunt resume` or the REST API resumes the test.",
        "paused",
        Flag
    )
    .also(&["paused"]),
    option!(
        "execution-segment",
        ValueKind::Text("FROM:TO"),
        "",
        "Run only this part of the test, e.g. 1/4:1/2.",
        "executionSegment",
        Text
    ),
    option!(
        "execution-segment-sequence",
        ValueKind::Text("LIST"),
        "",
        "The boundaries of all parts of the test, e.g. 0,1/4,1/2,1.",
        "executionSegmentSequence",
        Text
    ),
    ENV,
    maybe!(
        "include-system-env-vars",
        "Pass the environment's variables to the script; =false: only those of -e.",
        include_system_env
    ),
    text!(RunFlags, "c", "FILE", "File of options in JSON; the script's options override them.", config)
        .native()
        .also(&["config"]),
    text!(RunFlags, "t", "js|archive", "Type of the script file; by default its name decides.", script_type)
        .native()
        .also(&["type"]),
    text!(
        RunFlags,
        "compatibility-mode",
        "extended|base",
        "Accepted for k6's sake, without effect: all modes run the same language.",
        compatibility
    )
    .native(),
    ALLOW_READ,
    OFFLINE,
    gather!(
        "allow-write",
        "DIR",
        "A folder in which handleSummary may write any file. May be repeated.",
        allow_write
    ),
    option!("no-setup", ValueKind::Switch, "", "Do not call setup().", "noSetup", Flag),
    option!("no-teardown", ValueKind::Switch, "", "Do not call teardown().", "noTeardown", Flag),
    option!(
        "max-redirects",
        ValueKind::Text("N"),
        "10",
        "Maximum number of redirects of a request.",
        "maxRedirects",
        Count
    ),
    option!("batch", ValueKind::Text("N"), "20", "Maximum number of requests of a batch at a time.", "batch", Number),
    option!(
        "batch-per-host",
        ValueKind::Text("N"),
        "6",
        "Maximum number of requests of a batch at a time to one host.",
        "batchPerHost",
        Number
    ),
    option!("rps", ValueKind::Text("N"), "0", "Maximum number of requests per second of all users; 0: none.", "rps", Number),
    option!(
        "user-agent",
        ValueKind::Text("TEXT"),
        "",
        "User-Agent of requests, unless the script sets it.",
        "userAgent",
        Text
    ),
    Flag::new(
        "http-debug",
        ValueKind::Switch,
        "",
        "Log requests and responses; =full: with bodies.",
        |t: &mut RunFlags, v| {
            if v == "full" {
                return t.set("httpDebug", ValueFormat::Text, v);
            }
            t.set("httpDebug", ValueFormat::Flag, v)?;
            // The option itself is a text, as in k6.
            let on = t.options["httpDebug"].to_string();
            t.set("httpDebug", ValueFormat::Text, &on)
        },
    )
    .native(),
    option!(
        "insecure-skip-tls-verify",
        ValueKind::Switch,
        "",
        "Do not verify certificates.",
        "insecureSkipTLSVerify",
        Flag
    ),
    option!(
        "no-connection-reuse",
        ValueKind::Switch,
        "",
        "Open a connection for each request.",
        "noConnectionReuse",
        Flag
    ),
    option!(
        "no-vu-connection-reuse",
        ValueKind::Switch,
        "",
        "Open new connections in each iteration.",
        "noVUConnectionReuse",
        Flag
    ),
    time!("min-iteration-duration", "Minimum duration of an iteration.", "minIterationDuration"),
    option!("w", ValueKind::Switch, "", "A failed request throws an exception.", "throw", Flag).also(&["throw"]),
    list!("blacklist-ip", "NET", "Send no requests to this network, e.g. 10.0.0.0/8.", "blacklistIPs", List),
    list!("block-hostnames", "LIST", "Send no requests to these names, e.g. *.example.org.", "blockHostnames", List),
    option!(
        "discard-response-bodies",
        ValueKind::Switch,
        "",
        "Discard response bodies, unless a request sets its own responseType.",
        "discardResponseBodies",
        Flag
    ),
    option!(
        "local-ips",
        ValueKind::Text("LIST"),
        "",
        "Local addresses, ranges or networks to connect from.",
        "localIPs",
        Text
    ),
    option!(
        "dns",
        ValueKind::Text("LIST"),
        "ttl=5m,select=random,policy=preferIPv4",
        "How to resolve names.",
        "dns",
        Assigned
    ),
    Flag::new(
        "tag",
        ValueKind::Text("NAME=VALUE"),
        "",
        "A tag of all samples. May be repeated.",
        |t: &mut RunFlags, v| t.tag(v),
    )
    .native(),
    option!(
        "system-tags",
        ValueKind::Text("LIST"),
        "",
        "Which of k6's tags to add to samples.",
        "systemTags",
        List
    ),
    option!(
        "summary-trend-stats",
        ValueKind::Text("LIST"),
        "avg,min,med,max,p(90),p(95)",
        "Statistics of trends in the summary; also count and any p(N).",
        "summaryTrendStats",
        List
    ),
    option!(
        "summary-time-unit",
        ValueKind::Text("s|ms|us"),
        "",
        "The unit of times in the summary.",
        "summaryTimeUnit",
        Text
    ),
    text!(
        RunFlags,
        "summary-mode",
        "compact|full|legacy|disabled",
        "How detailed the summary is.",
        summary_mode
    )
    .native(),
    maybe!("no-summary", "Print no summary.", no_summary),
    text!(
        RunFlags,
        "summary-export",
        "FILE",
        "Write the summary to a file as JSON, in k6's form.",
        summary_export
    )
    .native(),
    maybe!(
        "new-machine-readable-summary",
        "Use k6's newer JSON form for --summary-export and handleSummary().",
        machine_readable
    ),
    maybe!("no-thresholds", "Do not evaluate thresholds.", no_thresholds),
    switch!(
        RunFlags,
        "no-backoff",
        "Do not make a VU wait after a refused WebSocket; by default it waits up to 5 s.",
        no_backoff
    )
    .native(),
    Flag::new(
        "io",
        ValueKind::Choice(session::IO_CHOICES),
        "auto",
        "How to wait for sockets: poll (epoll, kqueue) or uring (Linux 6.1); auto: uring from 8 users on.",
        |t: &mut RunFlags, v| session::io_choice(v).map(|io| t.io = io),
    )
    .native(),
    switch!(
        RunFlags,
        "compat",
        "Behave as k6 does where brunt is stricter: empty thresholds, files that handleSummary writes, -a :PORT.",
        compat
    )
    .native(),
    gather!(
        "o",
        "NAME=ARG",
        "json=FILE, csv=FILE, results.arrow, influxdb=URL and others (docs/guide/outputs.md). May be repeated.",
        outputs
    )
    .also(&["out"]),
    gather!("J", "NAME=VALUE", "A property of JMeter's, for a plan. May be repeated.", properties),
    switch!(
        RunFlags,
        "skip-scripts",
        "Leave out scripts of a plan of JMeter's that are not understood, each with a warning.",
        skip_scripts
    )
    .native(),
    text!(RunFlags, "traces-output", "NAME", "Refused: brunt writes no traces.", traces).native(),
    maybe!("l", "Keep running after the end of the test, until interrupted.", linger).also(&["linger"]),
    text!(RunFlags, "a", "HOST:PORT", "Serve the REST API here.", address)
        .native()
        .also(&["address"]),
    option!(
        "console-output",
        ValueKind::Path,
        "",
        "Write the script's console to a file.",
        "consoleOutput",
        Text
    ),
    text!(RunFlags, "log-format", "text|json|raw", "Format of log lines.", log_format)
        .native(),
    text!(
        RunFlags,
        "log-output",
        "PLACE",
        "Where to write log lines: stderr, stdout, none, file=PATH[,level=LEVEL].",
        log_output
    )
    .native(),
    gather!(
        "secret-source",
        "NAME=ARG",
        "Source of secrets for k6/secrets: mock=K=V,… or file=PATH. May be repeated.",
        secret_sources
    ),
    Flag::new("fail-on", ValueKind::Text("'EXPR, …'"), "", session::FAIL_ON, |t: &mut RunFlags, v| {
        session::read_gates(&mut t.gates, v)
    })
    .native(),
    Flag::new(
        "fail-on-invalid",
        ValueKind::Switch,
        "",
        session::FAIL_ON_INVALID,
        |t: &mut RunFlags, v| OnInvalid::parse(v).map(|on| t.on_invalid = on),
    )
    .native(),
    Flag::new(
        "prometheus-addr",
        ValueKind::Text("ADDR:PORT"),
        "",
        session::METRICS_DOCS,
        |t: &mut RunFlags, v| {
            t.prometheus_addr = Some(v.to_owned());
            Ok(())
        },
    )
    .native(),
    Flag::new("tui", ValueKind::Switch, "", session::tui::DOCS, |t: &mut RunFlags, v| {
        value::switch(v).map(|on| t.tui = on)
    })
    .native(),
    Flag::new("web", session::web::VALUE, "", session::web::DOCS, |t: &mut RunFlags, v| {
        t.web = Some(v.to_owned());
        Ok(())
    })
    .native(),
    switch!(RunFlags, "q", "Show no progress.", quiet).native().also(&["quiet"]),
    switch!(RunFlags, "v", "Also log debug lines.", verbose).native().also(&["verbose"]),
    maybe!("no-color", "Write no colours.", no_color),
    Flag::new(
        "no-usage-report",
        ValueKind::Switch,
        "",
        "Accepted for k6's sake, without effect: brunt sends no usage reports.",
        |_: &mut RunFlags, v| value::switch(v).map(drop),
    )
    .native(),
    Flag::new(
        "profiling-enabled",
        ValueKind::Switch,
        "",
        "Accepted for k6's sake, without effect: brunt serves no profiles.",
        |_: &mut RunFlags, v| value::switch(v).map(drop),
    )
    .native(),
];

#[cfg(test)]
mod tests {
    use cli::{GlobalFlags, Grammar, parse};
    use serde_json::{Value, json};

    use super::*;

    fn typed(line: &str) -> Result<RunFlags, String> {
        let args: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let mut flags = RunFlags::default();
        let parsed = parse(Grammar::NATIVE, RUN, &args, &mut flags, &mut GlobalFlags::default());
        parsed.map(|_| flags).map_err(|error| error.native())
    }

    #[test]
    fn options_are_a_tier() {
        let flags = typed(
            "-u 3 --stage 1s:2,3s:4 -s 5s:0 --tag a=b --tag c=d --http-debug=full --rps 50 --no-setup -w x.js",
        );
        let expect = json!({
            "vus": 3,
            "stages": [
                { "duration": "1s", "target": 2 },
                { "duration": "3s", "target": 4 },
                { "duration": "5s", "target": 0 },
            ],
            "tags": { "a": "b", "c": "d" },
            "httpDebug": "full",
            "rps": 50,
            "noSetup": true,
            "throw": true,
        });
        assert_eq!(flags.map(|flags| Value::Object(flags.options)), Ok(expect));
    }

    #[test]
    fn http_debug_is_an_option_that_scripts_could_set() {
        for (line, expect) in [("--http-debug x.js", "true"), ("--http-debug=false x.js", "false")]
        {
            let options = typed(line).unwrap().options;
            assert_eq!(options["httpDebug"], expect, "{line}");
            script::Options::of(options).unwrap();
        }
    }

    #[test]
    fn wrong_values_are_named() {
        for (line, expect) in [
            ("-u abc", "-u"),
            ("-d 5", "missing unit"),
            ("--tag x", "empty value"),
            ("--blah", "unknown flag"),
        ] {
            let error = typed(line).unwrap_err();
            assert!(error.contains(expect), "{line}: {error}");
        }
    }
}
