//! `brunt watch`, and watching beside a run: real processes, a real Prometheus exporter, files read back.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::Path;
use std::process::{ChildStdout, Command, Stdio};

use metrics::Batch;
use metrics::server::{Incident, Reading, Row};
use results::{Item, Reader};
use serde_json::Value;

use crate::puma::Puma;
use crate::{
    Ran, Scratch, Started, brunt, feed, free_port, run, server, signal, start, text, until,
};

/// The rows of the server's side in a file, and how many hits it has.
fn read_back(path: &Path) -> (Vec<Row>, usize) {
    let file = std::fs::File::open(path).unwrap();
    let mut reader = Reader::open(vec![(text(path), Box::new(file))]).unwrap();
    let (mut batch, mut rows, mut hits) = (Batch::default(), Vec::new(), 0);
    while let Some(item) = reader.next(&mut batch).unwrap() {
        match item {
            Item::Hits => hits += batch.samples.len(),
            Item::Server(row) => rows.push(*row),
            Item::Generator { .. } | Item::Assertion { .. } => {}
        }
    }
    assert!(reader.losses().is_empty(), "{:?}", reader.losses());
    (rows, hits)
}

fn readings<'a>(rows: &'a [Row], begin: &str) -> Vec<&'a Reading> {
    let of = |row: &'a Row| match row {
        Row::Reading(reading) if reading.source.starts_with(begin) => Some(reading),
        _ => None,
    };
    rows.iter().filter_map(of).collect()
}

/// A watcher that prints JSON, line by line.
struct Watching {
    process: Started,
    lines: BufReader<ChildStdout>,
}

impl Watching {
    fn start(flags: &str) -> Self {
        let mut process = start(brunt(&format!("watch --json {flags}")));
        let lines = BufReader::new(process.child().stdout.take().unwrap());
        Self { process, lines }
    }

    /// Reads on to the first row that matches; the time limit of the process holds for this too.
    fn until(&mut self, what: &str, is_match: impl Fn(&Value) -> bool) -> Value {
        loop {
            let mut line = String::new();
            assert!(self.lines.read_line(&mut line).unwrap() > 0, "never: {what}");
            let row: Value = serde_json::from_str(&line).unwrap();
            if is_match(&row) {
                return row;
            }
        }
    }

    fn until_reported(&mut self, words: &str) -> Value {
        self.until(words, |row| row["what"].as_str().is_some_and(|what| what.contains(words)))
    }

    /// Ends it as Ctrl-C does.
    fn interrupt(self) -> Ran {
        drop(self.lines);
        signal("INT", self.process.pid());
        self.process.wait()
    }
}

/// Time on a core of these processes so far, in seconds.
fn cpu_s(pids: &[u32]) -> f64 {
    let ticks = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let words: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        words[11].parse::<f64>().unwrap() + words[12].parse::<f64>().unwrap()
    };
    pids.iter().map(ticks).sum::<f64>() / 100.0
}

#[test]
fn a_puma_of_two_workers_by_its_port() {
    let app = "run lambda { |env| t = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 0.005
        nil while Process.clock_gettime(Process::CLOCK_MONOTONIC) < t
        [200, {}, ['ok']] }";
    let puma = Puma::cluster("watch-puma", app, 2);
    let out = puma.scratch.path("watch.arrow");
    let flags = format!("watch -port={} -every=200ms -output={}", puma.port, text(&out));
    let watching = start(brunt(&flags));
    until("the watcher writes", || std::fs::metadata(&out).is_ok_and(|file| file.len() > 0));
    let family = puma.family();
    assert_eq!(family.len(), 3, "a master and two workers");
    let before = cpu_s(&family);
    run(&format!("bench -c 4 -d 2s -q http://127.0.0.1:{}/", puma.port)).with_code(0);
    let used = cpu_s(&family) - before;
    signal("TERM", watching.pid());
    watching.wait().with_code(0);
    let (rows, hits) = read_back(&out);
    assert_eq!(hits, 0);
    let tree = readings(&rows, &format!("tree {} ", family[0]));
    let processes: Vec<_> = tree.iter().map(|reading| reading.value("processes")).collect();
    assert!(tree.len() >= 5 && processes.iter().all(|n| *n == Some(3.0)), "{processes:?}");
    // Each reading's share holds for the time since the one before it.
    let spent = |pair: &[&Reading]| {
        pair[1].value("cpu").unwrap_or(0.0) * (pair[1].at - pair[0].at) as f64 / 1e9
    };
    let seen: f64 = tree.windows(2).map(spent).sum();
    assert!(used > 0.2, "the load was none: {used}");
    assert!((used - 0.2..used * 1.25 + 0.3).contains(&seen), "{seen} s seen, {used} s used");
    let last = tree.last().unwrap();
    let rss: f64 = family.iter().map(|pid| rss(*pid)).sum();
    let seen = last.value("rss").unwrap();
    assert!((0.5..2.0).contains(&(seen / rss)), "{seen} of {rss}");
    assert!(last.value("descriptors").unwrap() > 10.0 && last.value("threads").unwrap() >= 6.0);
    for pid in &family {
        assert!(!readings(&rows, &format!("process {pid} ")).is_empty(), "{pid}");
    }
    let machine = readings(&rows, "machine");
    let cpu = machine.iter().filter_map(|reading| reading.value("cpu"));
    assert!(machine.len() >= 5 && cpu.clone().all(|share| (0.0..=1.0).contains(&share)));
    assert!(cpu.fold(0.0, f64::max) > 0.1, "the machine was not idle");
    assert!(!readings(&rows, "core 0").is_empty());
}

/// A process' memory, in bytes.
fn rss(pid: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() * 1024.0
}

#[test]
fn a_process_that_dies_is_reported() {
    let mut command = Command::new("sleep");
    command.arg("50").stdin(Stdio::null()).stdout(Stdio::null());
    let sleeper = start(command);
    let pid = sleeper.pid();
    let mut watching = Watching::start(&format!("-pid={pid} -every=100ms"));
    let source = format!("process {pid} sleep");
    let row = watching.until("a reading", |row| row["source"] == source.as_str());
    assert_eq!(row["values"]["threads"], 1.0);
    signal("KILL", pid);
    let row = watching.until_reported("has ended");
    assert_eq!(row["source"], source.as_str());
    watching.interrupt().with_code(0);
}

/// A Prometheus exporter on this port.
fn exporter(port: u16) -> Started {
    let mut command = Command::new("prometheus-node-exporter");
    command.arg(format!("--web.listen-address=127.0.0.1:{port}"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let process = start(command);
    until("the exporter listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    process
}

#[test]
fn an_exporter_that_goes_away_and_comes_back() {
    let port = free_port();
    let first = exporter(port);
    let mut watching =
        Watching::start(&format!("-scrape=http://127.0.0.1:{port}/metrics -every=100ms"));
    let is_scrape = |row: &Value| row["source"].as_str().is_some_and(|s| s.starts_with("scrape "));
    let row = watching.until("a scrape", |row| is_scrape(row) && row["kind"] == "reading");
    let values = row["values"].as_object().unwrap();
    assert!(values.len() > 100, "{} series", values.len());
    assert!(values["node_load1"].as_f64().unwrap() >= 0.0);
    assert!(values.keys().any(|name| name.starts_with("node_cpu_seconds_total{")));
    drop(first);
    watching.until_reported("gives no answer");
    let second = exporter(port);
    watching.until_reported("answers again");
    watching.until("a scrape", |row| is_scrape(row) && row["kind"] == "reading");
    drop(second);
    watching.interrupt().with_code(0);
}

#[test]
fn beside_an_attack_into_its_own_results() {
    let scratch = Scratch::new("watch-attack");
    let (_server, url) = server(demo::Config::default());
    let out = scratch.path("run.arrow");
    let name = text(&out);
    let flags = format!(
        "attack -rate=50 -duration=1s -watch -watch-pid={} -watch-every=200ms -output={name}",
        std::process::id()
    );
    feed(brunt(&flags), format!("GET {url}/")).with_code(0);
    let (rows, hits) = read_back(&out);
    assert_eq!(hits, 50);
    assert!(readings(&rows, "machine").len() >= 2, "{rows:?}");
    assert!(!readings(&rows, &format!("process {} ", std::process::id())).is_empty());
    let report = run(&format!("report {name}")).with_code(0);
    assert!(report.line("Requests").contains("50"));
    // Native to native keeps them; the others report what they leave out.
    let parquet = scratch.path("run.parquet");
    run(&format!("encode -output={} {name}", text(&parquet))).with_code(0);
    assert_eq!(read_back(&parquet).0.len(), rows.len());
    let csv = run(&format!("encode -to=csv {name}")).with_code(0);
    assert_eq!(csv.stdout.lines().count(), 50);
    let left_out = format!("{} rows of the server's side left out", rows.len());
    // On a busy machine the verdict is bad, and has its own line.
    let is_other = |line: &&str| !line.contains("csv cannot hold the verdict");
    let lines: Vec<&str> = csv.stderr.lines().filter(is_other).collect();
    assert!(lines.len() == 1 && lines[0].contains(&left_out), "{csv:?}");
    // A failure at the start is reported at once: the flag is wrong more often than the server.
    let nowhere = text(&scratch.path("nowhere.log"));
    let flags = format!("attack -rate=50 -duration=1s -watch-log=nginx:{nowhere} -output={name}");
    let ran = feed(brunt(&flags), format!("GET {url}/")).with_code(0);
    let is_warning =
        |line: &str| line.starts_with("brunt: -watch:") && line.contains("nowhere.log");
    assert!(ran.stderr.lines().any(is_warning), "{ran:#?}");
}

#[test]
fn beside_other_commands() {
    let scratch = Scratch::new("watch-beside");
    let (_server, url) = server(demo::Config::default());
    let file = |name: &str| text(&scratch.path(name));
    let script = scratch.file(
        "x.js",
        format!("import http from 'k6/http'; export default () => http.get('{url}/');"),
    );
    let lines = [
        format!("bench -c 2 -d 300ms -q -watch -output={} {url}/", file("bench.arrow")),
        format!("ab -q -n 20 --results {} --watch {url}/", file("ab.arrow")),
        format!("hey -n 20 -c 2 --results {} --watch {url}/", file("hey.arrow")),
        format!("run -q -i 5 -watch -o {} {script}", file("run.arrow")),
    ];
    for (line, name) in lines.iter().zip(["bench.arrow", "ab.arrow", "hey.arrow", "run.arrow"]) {
        run(line).with_code(0);
        let (rows, hits) = read_back(&scratch.path(name));
        // A run that is over in a moment is looked at once.
        let least = if name == "bench.arrow" { 2 } else { 1 };
        let looks = readings(&rows, "machine").len();
        assert!(hits >= 5 && looks >= least, "{name}: {hits} hits, {rows:?}");
    }
}

/// What Rails 7 writes of one request.
fn rails(id: &str, path: &str) -> String {
    format!(
        "I, [2026-11-22T08:00:00.000000 #7]  INFO -- : [{id}] Started GET \"{path}\" for 127.0.0.1 at 2026-11-22 08:00:00 +0000\n\
         I, [2026-11-22T08:00:00.012000 #7]  INFO -- : [{id}] Completed 200 OK in 12ms (Views: 3.1ms | ActiveRecord: 0.5ms | Allocations: 9)\n"
    )
}

#[test]
fn a_log_is_followed_through_its_rotation() {
    let scratch = Scratch::new("watch-log");
    let log = scratch.file("rails.log", rails("before", "/before"));
    let table = scratch.path("requests.csv");
    let flags = format!("-log=rails:{log} -requests={} -every=100ms", text(&table));
    let mut watching = Watching::start(&flags);
    watching.until("the first look", |row| row["source"] == "machine");
    let append = |text: &str| {
        let mut file = std::fs::File::options().append(true).create(true).open(&log).unwrap();
        std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
    };
    append(&rails("a-1", "/one"));
    let served = watching.until("a request", |row| row["kind"] == "served");
    assert_eq!((&served["path"], &served["status"]), (&"/one".into(), &200.into()));
    assert_eq!((&served["total"], &served["views"]), (&12_000_000.into(), &3_100_000.into()));
    append(&rails("a-2", "/two"));
    std::fs::rename(&log, scratch.path("rails.log.1")).unwrap();
    append(&rails("a-3", "/three"));
    watching.until("the second", |row| row["path"] == "/two");
    watching.until_reported("was replaced");
    watching.until("the third", |row| row["path"] == "/three");
    watching.interrupt().with_code(0);
    let expected = "total,render,db,url\n0.01200,0.00310,0.00050,[/one]\n\
                    0.01200,0.00310,0.00050,[/two]\n0.01200,0.00310,0.00050,[/three]\n";
    assert_eq!(std::fs::read_to_string(table).unwrap(), expected);
}

#[test]
fn what_cannot_be_watched_is_refused_at_once() {
    let cases = [
        ("bench -d 1s -watch http://127.0.0.1:1/", "give -output=FILE"),
        ("bench -d 1s -watch -output=/dev/null -to=csv http://127.0.0.1:1/", "cannot hold rows"),
        ("bench -d 1s -watch-every=200ms http://127.0.0.1:1/", "nothing is watched"),
        ("watch -output=x.csv", "cannot hold rows"),
        ("watch -log=nonsense:x.log", "unknown kind of log"),
        ("watch -scrape=https://127.0.0.1/", "https is not understood"),
        ("watch -port=0", "is not a port"),
        ("watch -every=1ms", "too short"),
        ("watch -date=ftp://x/", "unsupported protocol"),
        ("watch extra", "unexpected \"extra\""),
        ("ab --watch http://127.0.0.1:1/", "--watch needs --results"),
    ];
    for (line, words) in cases {
        let ran = run(line).with_code(2);
        assert!(ran.stderr.contains(words), "{line}: {ran:#?}");
    }
}

#[test]
fn a_refusal_leaves_the_results_that_were_there() {
    let scratch = Scratch::new("watch-refused");
    let script = scratch.file("x.js", "export default () => {};");
    let (arrow, csv) = (scratch.file("old.arrow", "kept"), scratch.file("old.csv", "kept"));
    let gob = scratch.file("old.gob", "kept");
    let cases = [
        (2, format!("bench -d 1s -watch-log=typo:x -output={arrow} http://127.0.0.1:1/")),
        (2, format!("bench -d 1s -watch -output={csv} -to=csv http://127.0.0.1:1/")),
        (1, format!("ab -q --watch --results {csv} http://127.0.0.1:1/")),
        (2, format!("watch -log=typo:x -output={arrow}")),
        (255, format!("run -q -watch -o {gob} {script}")),
        (255, format!("run -q -watch-log=typo:x -o {arrow} {script}")),
    ];
    for (code, line) in cases {
        let ran = run(&line);
        assert_eq!(ran.code, Some(code), "{line}: {ran:#?}");
        for file in [&arrow, &csv, &gob] {
            assert_eq!(std::fs::read_to_string(file).unwrap(), "kept", "{line}");
        }
    }
}

#[test]
fn a_reader_that_had_enough_ends_it() {
    for flags in ["-every=100ms", "-every=100ms -json"] {
        let mut watching = start(brunt(&format!("watch {flags}")));
        let mut lines = BufReader::new(watching.child().stdout.take().unwrap());
        lines.read_line(&mut String::new()).unwrap();
        drop(lines);
        watching.wait().with_code(0);
    }
}

#[test]
fn a_table_that_cannot_be_written_does_not_cost_the_results() {
    let scratch = Scratch::new("watch-full");
    let out = scratch.path("w.parquet");
    let flags = format!("-every=100ms -loadavg=/dev/stderr -output={}", text(&out));
    let mut watching = start(brunt(&format!("watch {flags}")));
    let mut lines = BufReader::new(watching.child().stderr.take().unwrap());
    // The table's head and a line; then its reader goes away.
    for _ in 0..2 {
        lines.read_line(&mut String::new()).unwrap();
    }
    drop(lines);
    watching.wait().with_code(1);
    assert!(!readings(&read_back(&out).0, "machine").is_empty());
}

#[test]
fn tables_and_lines() {
    let scratch = Scratch::new("watch-tables");
    let table = scratch.path("loadavg.csv");
    let ran = run(&format!("watch -every=100ms -duration=1500ms -loadavg={}", text(&table)));
    let ran = ran.with_code(0);
    assert!(ran.stdout.lines().count() >= 3, "{ran:#?}");
    assert!(ran.stdout.lines().all(|line| line.contains("  load ")), "{ran:#?}");
    let table = std::fs::read_to_string(table).unwrap();
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("time,1min,5min,10min,running,procs,lastproc"));
    assert!(lines.clone().count() >= 3, "{table}");
    for line in lines {
        let columns: Vec<f64> = line.split(',').map(|column| column.parse().unwrap()).collect();
        assert_eq!(columns.len(), 7, "{line}");
        assert!(line.split(',').next().unwrap().len() == 14, "{line}");
    }
}

#[test]
fn incidents_are_rows() {
    let scratch = Scratch::new("watch-incidents");
    let out = scratch.path("w.arrow");
    // No machine has so many processes.
    let flags = format!(
        "watch -pid=4194305 -cgroup=/no/such -every=100ms -duration=250ms -output={}",
        text(&out)
    );
    run(&flags).with_code(0);
    let (rows, _) = read_back(&out);
    let incidents: Vec<&str> = rows
        .iter()
        .filter_map(|row| match row {
            Row::Incident(Incident { what, .. }) => Some(what.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(
        incidents,
        ["there is no such process, or this user may not see it", "is not there"]
    );
}
