//! The commands, as tables: those that go on until they are stopped, and those that end by themselves.

/// When a command is in the midst of its work.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ready {
    /// The server has had so many requests.
    Requests(u64),
    /// This file is there and has something in it.
    File(&'static str),
    /// A line of standard output, or of standard error, has this.
    Stdout(&'static str),
    Stderr(&'static str),
    /// It has read rows from standard input, which stays open.
    Fed,
    /// It waits for signals.
    Watching,
    /// It reads from the pipe of the name `pipe`.
    Pipe,
    /// It reads from standard input.
    Reading,
}

/// How it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Code(i32),
    /// By the signal itself: it had nothing yet.
    Signal,
}

/// What there is afterwards.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Remains {
    /// Results of all requests that were answered.
    Results(&'static str),
    /// Rows of results of another kind.
    Rows(&'static str),
    /// A file with this in it.
    Text(&'static str, &'static str),
    Stdout(&'static str),
    Stderr(&'static str),
    Nothing,
}

/// A command that goes on until it is stopped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lasting {
    pub(crate) name: &'static str,
    pub(crate) line: &'static str,
    pub(crate) ready: Ready,
    pub(crate) ending: Ending,
    pub(crate) remains: &'static [Remains],
}

const fn lasting(
    name: &'static str,
    line: &'static str,
    ready: Ready,
    ending: Ending,
    remains: &'static [Remains],
) -> Lasting {
    Lasting { name, line, ready, ending, remains }
}

use Ending::{Code, Signal};

/// Every command that lasts, or can be made to.
#[rustfmt::skip]
pub(crate) const LASTING: &[Lasting] = &[
    lasting("attack", "attack -targets=targets -output=out.arrow", Ready::Requests(5), Code(0), &[Remains::Results("out.arrow")]),
    lasting("attack to a pipe", "attack -targets=targets", Ready::Requests(5), Code(0), &[]),
    lasting("bench", "bench -d 60s -c 2 -output=out.arrow {url}/", Ready::Requests(5), Code(0),
        &[Remains::Results("out.arrow"), Remains::Stdout("Measurement: ")]),
    lasting("bench -save", "bench -d 60s -c 2 -save x -store st {url}/", Ready::Requests(5), Code(0),
        &[Remains::Stdout("Measurement: "), Remains::Stderr("saved as run ")]),
    lasting("seek", "seek -objective=p99<2s -state=seek.json -from 20 {url}/", Ready::Requests(5), Code(0),
        &[Remains::Text("seek.json", "brunt_seek"), Remains::Stdout("interrupted")]),
    lasting("cable", "cable echo {ws}/cable -channel EchoChannel -perform echo:{\"x\":\"{token}\"} -users 3 -rate 50 -d 60s -o out.arrow",
        Ready::File("out.arrow"), Code(0), &[Remains::Rows("out.arrow"), Remains::Stdout("Measurement: ")]),
    lasting("run", "run -u 2 -d 60s -o out.arrow script.js", Ready::Requests(5), Code(105),
        &[Remains::Results("out.arrow"), Remains::Stdout("http_reqs"), Remains::Stderr("a signal was received")]),
    lasting("jmeter", "jmeter -n -t plan.jmx -l out.jtl -j jmeter.log", Ready::Requests(5), Code(0),
        &[Remains::Text("out.jtl", ",200,OK,"), Remains::Stdout("... end of run")]),
    lasting("record", "record -listen 127.0.0.1:0 -output=r.har", Ready::Stderr("recording as a proxy"), Code(0),
        &[Remains::Text("r.har", "\"entries\":[")]),
    lasting("watch", "watch -output=out.arrow -every 100ms", Ready::File("out.arrow"), Code(0), &[Remains::Rows("out.arrow")]),
    lasting("serve", "serve -listen 127.0.0.1:0", Ready::Stdout("listening on"), Code(0), &[Remains::Stderr("\"requests\":0")]),
    lasting("demo", "demo", Ready::Stdout("=== below"), Code(0), &[Remains::Stdout("Measurement: "), Remains::Text("brunt-demo.html", "</html>")]),
    lasting("ui", "ui -store=st -listen 127.0.0.1:0", Ready::Stderr("ui: http"), Code(0), &[]),
    lasting("study run", "study run study.toml -out so", Ready::Requests(5), Code(11),
        &[Remains::Text("so/report.html", "</html>"), Remains::Stderr("interrupted")]),
    lasting("fleet up", "fleet up -dir fl -listen 127.0.0.1:0", Ready::Stdout("BRUNT_JOIN="), Code(0), &[]),
    lasting("agent", "agent -join fl/token -name a -dir ag -cpus 1", Ready::Stderr("waits for runs"), Code(0), &[]),
    lasting("jitter", "jitter -duration 60s", Ready::Watching, Code(0), &[Remains::Stdout("Lag  ")]),
    lasting("vegeta attack", "vegeta attack -targets=targets -output=out.gob", Ready::Requests(5), Code(0), &[Remains::Results("out.gob")]),
    lasting("ab", "ab -n 100000 -c 2 {url}/", Ready::Requests(5), Code(1), &[Remains::Stdout("Requests per second")]),
    lasting("wrk", "wrk -d 60 -c 2 -t 1 {url}/", Ready::Requests(5), Code(0), &[Remains::Stdout("Requests/sec")]),
    lasting("hey", "hey -z 60s -c 2 {url}/", Ready::Requests(5), Code(0), &[Remains::Stdout("Status code distribution")]),
    lasting("oha", "oha -z 60s -c 2 {url}/", Ready::Requests(5), Code(0), &[Remains::Stdout("Measurement: ")]),
    lasting("perfer", "perfer -d 60 -c 2 -t 1 {url}/", Ready::Requests(5), Code(0), &[Remains::Stdout("Mean Latency")]),
    lasting("report", "report", Ready::Fed, Code(0), &[Remains::Stdout("Requests ")]),
    lasting("encode", "encode -to=csv -output=out.csv", Ready::Fed, Code(0), &[Remains::Rows("out.csv")]),
    lasting("plot", "plot -type=svg", Ready::Fed, Code(0), &[Remains::Stdout("</svg>")]),
    lasting("compare", "compare a=r.csv b=/dev/stdin", Ready::Fed, Code(0), &[Remains::Stdout("p99")]),
    lasting("vegeta report", "vegeta report", Ready::Fed, Code(0), &[Remains::Stdout("Requests ")]),
    lasting("vegeta encode", "vegeta encode -to=csv -output=out.csv", Ready::Fed, Code(0), &[Remains::Rows("out.csv")]),
    lasting("report of nothing", "report pipe", Ready::Pipe, Signal, &[Remains::Nothing]),
    lasting("encode of nothing", "encode pipe", Ready::Pipe, Signal, &[Remains::Nothing]),
    lasting("plot of nothing", "plot pipe", Ready::Pipe, Signal, &[Remains::Nothing]),
    lasting("compare of nothing", "compare a=pipe b=r.csv", Ready::Pipe, Signal, &[Remains::Nothing]),
    lasting("fit of nothing", "fit 1=pipe 2=r.csv 4=r.csv", Ready::Pipe, Signal, &[Remains::Nothing]),
    lasting("attack without targets", "attack -duration 1s", Ready::Reading, Signal, &[Remains::Nothing]),
    lasting("run without a script", "run -", Ready::Reading, Signal, &[Remains::Nothing]),
    lasting("inspect", "inspect -", Ready::Reading, Signal, &[Remains::Nothing]),
    lasting("archive", "archive -O out.tar -", Ready::Reading, Signal, &[Remains::Nothing]),
    lasting("runs import", "runs import pipe -store st", Ready::Pipe, Signal, &[Remains::Nothing]),
];

/// A command that ends by itself within a second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quick {
    pub(crate) name: &'static str,
    pub(crate) line: &'static str,
    /// Without a fault.
    pub(crate) code: i32,
}

impl Quick {
    /// Whether it ended as it does without a fault. On a busy machine no step of a search can be judged, which is 6.
    pub(crate) fn is_usual(&self, code: Option<i32>) -> bool {
        code == Some(self.code) || (self.name == "seek" && code == Some(6))
    }
}

const fn quick(name: &'static str, line: &'static str, code: i32) -> Quick {
    Quick { name, line, code }
}

/// Every command, in a form that ends by itself. They print on standard output where they can.
#[rustfmt::skip]
pub(crate) const QUICK: &[Quick] = &[
    quick("attack", "attack -targets=targets -rate=50 -duration=300ms", 0),
    quick("bench", "bench -c 2 -n 10 {url}/", 0),
    quick("seek", "seek '-objective=p99<2s' -max-steps=1 -step=500ms -warmup=0s -to=40 {url}/", 0),
    quick("cable", "cable echo {ws}/cable -channel EchoChannel -perform 'echo:{\"x\":\"{token}\"}' -users 2 -rate 50 -d 300ms", 0),
    quick("run", "run -u 2 -i 4 script.js", 0),
    quick("jmeter", "jmeter -n -t plan.jmx -J loops=2 -j jmeter.log", 0),
    quick("inspect", "inspect script.js", 0),
    quick("lint", "lint script.js", 0),
    quick("archive", "archive -O - script.js", 0),
    quick("watch", "watch -every 100ms -duration 300ms", 0),
    quick("report", "report r.csv", 0),
    quick("encode", "encode -to=csv r.csv", 0),
    quick("plot", "plot -type=svg r.csv", 0),
    quick("compare", "compare a=r.csv b=r.csv", 0),
    quick("fit", "fit -point=1:X=33,mean=30ms -point=4:X=80,mean=50ms -point=16:X=90,mean=180ms -point=32:X=91,mean=350ms", 0),
    quick("runs list", "runs list -store st", 0),
    quick("runs show", "runs show last -store st", 0),
    quick("jitter", "jitter -duration 100ms", 0),
    quick("help", "help", 0),
    quick("man", "man", 0),
    quick("completions", "completions bash", 0),
    quick("version", "--version", 0),
    quick("vegeta attack", "vegeta attack -targets=targets -rate=50 -duration=300ms", 0),
    quick("vegeta report", "vegeta report r.csv", 0),
    quick("ab", "ab -n 10 -c 2 {url}/", 0),
    quick("wrk", "wrk -d 1 -c 2 -t 1 {url}/", 0),
    quick("hey", "hey -n 10 -c 2 {url}/", 0),
    quick("oha", "oha -n 10 -c 2 {url}/", 0),
    quick("perfer", "perfer -d 1 -c 2 -t 1 {url}/", 0),
];
