//! The flags of `run`, by k6's names.

use cli::{Flag, ValueKind, flag_table, switch, text, value};
use script::ValueFormat;
use session::monitor_flags as watch;

use super::run_flags::RunFlags;
use super::script_environment::{ALLOW_READ, ENV};

/// The flags of `run`.
pub(crate) const RUN: &[Flag<RunFlags>] = flag_table!(RunFlags: LOAD, OWN, &watch::beside());

/// How many users there are, and for how long; `archive` knows them as well.
pub(super) const LOAD: &[Flag<RunFlags>] = &[
    option!("u", ValueKind::Text("N"), "1", "Virtual users.", "vus", Count).also(&["vus"]),
    time!("d", "How long iterations are begun.", "duration").also(&["duration"]),
    option!(
        "i",
        ValueKind::Text("N"),
        "",
        "Iterations of all users together.",
        "iterations",
        Count
    )
    .also(&["iterations"]),
];

const OWN: &[Flag<RunFlags>] = &[
    list!(
        "s",
        "TIME:N",
        "A stage: in this time, go to so many users. Several stages follow each other.",
        "stages",
        Stages
    )
    .also(&["stage"]),
    option!(
        "p",
        ValueKind::Switch,
        "",
        "Begin paused, until `resume` or the REST API says otherwise.",
        "paused",
        Flag
    )
    .also(&["paused"]),
    option!(
        "execution-segment",
        ValueKind::Text("FROM:TO"),
        "",
        "Run this part of the test alone, as 1/4:1/2.",
        "executionSegment",
        Text
    ),
    option!(
        "execution-segment-sequence",
        ValueKind::Text("LIST"),
        "",
        "How the test is cut into its parts, as 0,1/4,1/2,1.",
        "executionSegmentSequence",
        Text
    ),
    ENV,
    maybe!(
        "include-system-env-vars",
        "Show the environment's variables to the script (=false: only those of -e).",
        include_system_env
    ),
    text!(RunFlags, "c", "FILE", "Options as JSON, below those of the script.", config)
        .native()
        .also(&["config"]),
    text!(RunFlags, "t", "js|archive", "What the script is, if its name does not say.", script_type)
        .native()
        .also(&["type"]),
    text!(
        RunFlags,
        "compatibility-mode",
        "extended|base",
        "Accepted as k6's: the language is the same in all.",
        compatibility
    )
    .native(),
    ALLOW_READ,
    gather!(
        "allow-write",
        "DIR",
        "A folder that handleSummary may write any file to. May be repeated.",
        allow_write
    ),
    option!("no-setup", ValueKind::Switch, "", "Do not call setup().", "noSetup", Flag),
    option!("no-teardown", ValueKind::Switch, "", "Do not call teardown().", "noTeardown", Flag),
    option!(
        "max-redirects",
        ValueKind::Text("N"),
        "10",
        "Redirects that a request follows.",
        "maxRedirects",
        Count
    ),
    option!("batch", ValueKind::Text("N"), "20", "Requests of a batch at once.", "batch", Number),
    option!(
        "batch-per-host",
        ValueKind::Text("N"),
        "6",
        "Requests of a batch at once to one host.",
        "batchPerHost",
        Number
    ),
    option!("rps", ValueKind::Text("N"), "0", "Requests a second of all users at most.", "rps", Number),
    option!(
        "user-agent",
        ValueKind::Text("TEXT"),
        "",
        "What requests call us, unless the script says.",
        "userAgent",
        Text
    ),
    Flag::new(
        "http-debug",
        ValueKind::Switch,
        "",
        "Log requests and responses, with =full their bodies too.",
        |t: &mut RunFlags, v| {
            let format = if v == "full" { ValueFormat::Text } else { ValueFormat::Flag };
            t.set("httpDebug", format, v)
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
        "A connection for each request.",
        "noConnectionReuse",
        Flag
    ),
    option!(
        "no-vu-connection-reuse",
        ValueKind::Switch,
        "",
        "New connections in each iteration.",
        "noVUConnectionReuse",
        Flag
    ),
    time!("min-iteration-duration", "An iteration takes at least so long.", "minIterationDuration"),
    option!("w", ValueKind::Switch, "", "Failed requests throw.", "throw", Flag).also(&["throw"]),
    list!("blacklist-ip", "NET", "Refuse these networks, as 10.0.0.0/8.", "blacklistIPs", List),
    list!("block-hostnames", "LIST", "Refuse these names, as *.example.org.", "blockHostnames", List),
    option!(
        "discard-response-bodies",
        ValueKind::Switch,
        "",
        "Keep no bodies, unless a request wants its own.",
        "discardResponseBodies",
        Flag
    ),
    option!(
        "local-ips",
        ValueKind::Text("LIST"),
        "",
        "Addresses, ranges or networks that connections come from.",
        "localIPs",
        Text
    ),
    option!(
        "dns",
        ValueKind::Text("LIST"),
        "ttl=5m,select=random,policy=preferIPv4",
        "How names are looked up.",
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
        "Which of k6's own tags samples have.",
        "systemTags",
        List
    ),
    option!(
        "summary-trend-stats",
        ValueKind::Text("LIST"),
        "avg,min,med,max,p(90),p(95)",
        "The statistics of trends; count and any p(N) as well.",
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
        "How much the summary says.",
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
        "The newer form of --summary-export, and of what handleSummary() is given.",
        machine_readable
    ),
    maybe!("no-thresholds", "Judge no thresholds.", no_thresholds),
    switch!(
        RunFlags,
        "no-backoff",
        "Go on at once after a refused WebSocket. Without it such VUs wait, up to 5 s.",
        no_backoff
    )
    .native(),
    Flag::new(
        "io",
        ValueKind::Choice(session::IO_CHOICES),
        "auto",
        "How sockets are waited for: poll (epoll, kqueue) or uring (Linux 6.1); auto: uring from 8 users on.",
        |t: &mut RunFlags, v| session::io_choice(v).map(|io| t.io = io),
    )
    .native(),
    switch!(
        RunFlags,
        "compat",
        "k6's behaviour where ours is stricter: empty thresholds, files that handleSummary writes, -a :PORT.",
        compat
    )
    .native(),
    gather!(
        "o",
        "NAME=ARG",
        "Where samples go: json=FILE or csv=FILE (also .gz), or a file for `brunt report`. May be repeated.",
        outputs
    )
    .also(&["out"]),
    text!(RunFlags, "traces-output", "NAME", "Refused: there are no traces.", traces).native(),
    maybe!("l", "Stay after the end of the test, until interrupted.", linger).also(&["linger"]),
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
    text!(RunFlags, "log-format", "text|json|raw", "How log lines are written.", log_format)
        .native(),
    text!(
        RunFlags,
        "log-output",
        "PLACE",
        "Where log lines go: stderr, stdout, none, file=PATH[,level=LEVEL].",
        log_output
    )
    .native(),
    gather!(
        "secret-source",
        "NAME=ARG",
        "Where k6/secrets finds secrets: mock=K=V,… or file=PATH. May be repeated.",
        secret_sources
    ),
    switch!(RunFlags, "q", "Show no progress.", quiet).native().also(&["quiet"]),
    switch!(RunFlags, "v", "Log debug lines as well.", verbose).native().also(&["verbose"]),
    maybe!("no-color", "Write no colours.", no_color),
    Flag::new(
        "no-usage-report",
        ValueKind::Switch,
        "",
        "Accepted as k6's: brunt never reports on its users.",
        |_: &mut RunFlags, v| value::switch(v).map(drop),
    )
    .native(),
    Flag::new(
        "profiling-enabled",
        ValueKind::Switch,
        "",
        "Accepted as k6's: nothing is served.",
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
