//! One test on several machines: `fleet up` with a real nats-server, agents as processes of their own, all on loopback.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use demo::{Config, Server};
use serde_json::Value;

use crate::{Ran, Scratch, Started, brunt, first_line, run, server, signal, start, text, until};

/// A fleet with its server and agents; they end with it.
struct Fleet {
    scratch: Scratch,
    up: Option<Started>,
    agents: Vec<(String, Option<Started>)>,
}

impl Fleet {
    fn new(test: &str, agents: &[&str]) -> Self {
        let scratch = Scratch::new(test);
        let dir = text(&scratch.path("fleet"));
        let mut up = start(brunt(&format!("fleet up -dir {dir} -listen 127.0.0.1:0")));
        let stdout = up.child().stdout.as_mut().unwrap();
        let lines = [first_line(stdout), first_line(stdout)];
        let token = lines[1].strip_prefix("BRUNT_JOIN=").unwrap();
        let token = token.strip_suffix(" brunt agent").unwrap().to_owned();
        scratch.file("token", token);
        let mut fleet = Self { scratch, up: Some(up), agents: Vec::new() };
        agents.iter().for_each(|agent| fleet.add(agent));
        fleet
    }

    /// Starts an agent, and waits until it waits.
    fn add(&mut self, agent: &str) {
        let (token, dir) = (text(&self.scratch.path("token")), text(&self.scratch.path(agent)));
        let line = format!("agent -join {token} -name {agent} -dir {dir} -cpus 1");
        let mut started = start(brunt(&line));
        let line = first_line(started.child().stderr.as_mut().unwrap());
        assert!(line.contains("waits for runs"), "{line}");
        self.agents.push((agent.to_owned(), Some(started)));
    }

    fn dir(&self) -> String {
        text(&self.scratch.path("fleet"))
    }

    fn pid(&self, agent: &str) -> u32 {
        let found = self.agents.iter().rfind(|(name, _)| name == agent).unwrap();
        found.1.as_ref().unwrap().pid()
    }

    /// The process of the fleet's nats-server.
    fn nats(&self) -> Option<u32> {
        let parent = self.up.as_ref().unwrap().pid();
        let children = format!("/proc/{parent}/task/{parent}/children");
        std::fs::read_to_string(children).unwrap().split_whitespace().next()?.parse().ok()
    }

    fn results(&self) -> PathBuf {
        self.scratch.path("results.arrow")
    }

    /// A load command on this fleet.
    fn command(&self, words: &str, agents: usize) -> std::process::Command {
        let (dir, results) = (self.dir(), text(&self.results()));
        brunt(&format!("{words} -fleet={dir} -agents={agents} -output={results}"))
    }

    fn load(&self, words: &str, agents: usize) -> Ran {
        start(self.command(words, agents)).wait()
    }

    fn report(&self) -> Value {
        let ran = run(&format!("report -type=json {}", text(&self.results()))).with_code(0);
        serde_json::from_str(&ran.stdout).unwrap()
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        for (_, agent) in &mut self.agents {
            if let Some(agent) = agent.take() {
                signal("CONT", agent.pid());
            }
        }
        // Killed at once it would leave its nats-server behind.
        self.up.take().into_iter().for_each(Started::end);
    }
}

fn targets(fleet: &Fleet, url: &str) -> String {
    fleet.scratch.file("targets", format!("GET {url}/\n"))
}

fn fast_server() -> (Server, String) {
    server(Config::default())
}

fn agents(report: &Value) -> Vec<&Value> {
    report["brunt"]["fleet"]["agents"].as_array().unwrap().iter().collect()
}

fn sum(report: &Value, key: &str) -> u64 {
    agents(report).iter().map(|agent| agent[key].as_u64().unwrap()).sum()
}

/// The figures that hold whatever became of the run: no row twice, and none that was not sent.
fn check_totals(report: &Value, served: u64) -> u64 {
    let rows = report["requests"].as_u64().unwrap();
    let unknown = sum(report, "unknown");
    assert!(rows <= served && served <= rows + unknown, "{rows} rows, {served} served, {unknown}");
    rows
}

/// What the command redacts, its agents redact: neither rows nor their logs have the values.
#[test]
fn agents_redact_what_the_command_redacts() {
    let mut fleet = Fleet::new("fleet-redact", &["a", "b"]);
    let (_server, url) = fast_server();
    let refused = format!("http://127.0.0.1:{}/?token=SEKRET", crate::free_port());
    let targets =
        fleet.scratch.file("targets", format!("GET {url}/?token=SEKRET\nGET {refused}\n"));
    let words = format!(
        "attack -redact token,content-type -keep-headers -rate 40 -duration 1s -targets {targets}"
    );
    fleet.load(&words, 2).with_code(0);
    let source = format!(
        "import http from 'k6/http';
        export const options = {{ vus: 2, iterations: 4 }};
        export default function () {{ http.get('{url}/?token=SEKRET'); http.get('{refused}'); }}"
    );
    let rows = std::fs::read(fleet.results()).unwrap();
    let file = fleet.scratch.file("script.js", source);
    let (dir, results) = (fleet.dir(), text(&fleet.results()));
    let words =
        format!("run --redact token --http-debug -fleet={dir} -agents=2 -o {results} {file}");
    let ran = run(&words).with_code(0);
    let mut logs = String::new();
    for (name, agent) in fleet.agents.iter_mut() {
        let agent = agent.take().unwrap();
        signal("INT", agent.pid());
        let ended = agent.wait();
        assert!(ended.stderr.contains("is over"), "{name}: {}", ended.stderr);
        logs.push_str(&ended.stderr);
    }
    let scripts = std::fs::read(fleet.results()).unwrap();
    let texts = [rows, scripts, (ran.stdout + &ran.stderr + &logs).into_bytes()];
    for (n, text) in texts.iter().enumerate() {
        let holds = |what: &str| text.windows(what.len()).any(|part| part == what.as_bytes());
        assert!(holds("token=***") && !holds("SEKRET"), "{n}: {}", String::from_utf8_lossy(text));
    }
}

#[test]
fn a_load_is_cut_among_agents_and_comes_to_the_whole() {
    let fleet = Fleet::new("fleet-whole", &["a", "b", "c"]);
    let (server, url) = fast_server();
    let targets = targets(&fleet, &url);
    let words = format!("attack -targets={targets} -rate=301 -duration=4s");
    fleet.load(&words, 3).with_code(0);
    let report = fleet.report();
    assert_eq!((report["requests"].as_u64(), server.stats().requests), (Some(1204), 1204));
    let generator = &report["brunt"]["generator"];
    assert_eq!(
        (generator["planned"].as_u64(), generator["rate"].as_f64()),
        (Some(1204), Some(301.0))
    );
    let names: Vec<&str> = agents(&report).iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    for agent in agents(&report) {
        assert!((401..=402).contains(&agent["sent"].as_u64().unwrap()), "{agent}");
        let bound = agent["offset_bound_ns"].as_i64().unwrap();
        assert!(agent["offset_ns"].as_i64().unwrap().abs() <= bound, "one machine: {agent}");
        assert!(bound < 500_000_000, "{agent}");
    }
    let by_agent = run(&format!("report -by=agent {}", text(&fleet.results()))).with_code(0);
    for row in ["a  ", "b  ", "c  "] {
        assert!(by_agent.stdout.lines().any(|line| line.starts_with(row)), "{by_agent:#?}");
    }
    // The numbers of all requests are those of one schedule.
    let ran = run(&format!("encode -to=csv {}", text(&fleet.results()))).with_code(0);
    let mut seqs: Vec<u64> =
        ran.stdout.lines().map(|line| line.split(',').nth(8).unwrap().parse().unwrap()).collect();
    seqs.sort_unstable();
    assert!(seqs.iter().copied().eq(0..1204), "each number once");
}

#[test]
fn a_closed_loop_is_cut_by_users_and_gates_see_all_of_it() {
    let fleet = Fleet::new("fleet-closed", &["a", "b"]);
    let (server, url) = fast_server();
    let ran = fleet.load(&format!("bench -c 5 -n 2001 -fail-on=p99>1ns {url}/"), 2);
    assert!(ran.with_code(7).stderr.contains("p99>1ns"));
    let report = fleet.report();
    assert_eq!((report["requests"].as_u64(), server.stats().requests), (Some(2001), 2001));
    assert_eq!(report["brunt"]["generator"]["users"], 5);
    // One after the other, the fleet takes any number of runs.
    fleet.load(&format!("bench -c 2 -n 10 {url}/"), 2).with_code(0);
    assert_eq!(fleet.report()["requests"], 10);
    // All that wait, where the number is open.
    let (dir, results) = (fleet.dir(), text(&fleet.results()));
    let ran = run(&format!("bench -c 4 -n 20 -fleet={dir} -output={results} {url}/")).with_code(0);
    assert!(ran.stderr.contains("taking all agents that wait"), "{ran:#?}");
    assert_eq!((agents(&fleet.report()).len(), sum(&fleet.report(), "sent")), (2, 20));
}

#[test]
fn an_agent_that_dies_ends_the_run_and_is_named() {
    let mut fleet = Fleet::new("fleet-kill", &["a", "b"]);
    let (server, url) = fast_server();
    let targets = targets(&fleet, &url);
    let started =
        start(fleet.command(&format!("attack -targets={targets} -rate=200 -duration=50s"), 2));
    until("requests arrive", || server.stats().requests > 400);
    let killed = Instant::now();
    signal("KILL", fleet.pid("b"));
    let ran = started.wait().with_code(1);
    assert!(killed.elapsed() < Duration::from_secs(15), "{:?}", killed.elapsed());
    assert!(ran.stderr.contains("b is lost: not heard of for 3s"), "{ran:#?}");
    let report = fleet.report();
    let (of_a, of_b) = (agents(&report)[0], agents(&report)[1]);
    assert_eq!(of_b["verdict"], "INVALID");
    assert!(of_a["sent"].as_u64() > of_b["sent"].as_u64(), "{report}");
    assert_eq!(report["brunt"]["verdict"], "INVALID");
    assert!(report["brunt"]["reasons"].to_string().contains("agent b: lost"), "{report}");
    check_totals(&report, server.stats().requests - lost_rows(&server, &report));
    // Another process of its name takes part in the next run.
    fleet.add("b");
    fleet.load(&format!("bench -c 2 -n 10 {url}/"), 2).with_code(0);
}

/// What the dead agent had sent and not yet reported: at most two seconds of its part.
fn lost_rows(server: &Server, report: &Value) -> u64 {
    let missing = server.stats().requests - report["requests"].as_u64().unwrap();
    assert!(missing <= 300, "{missing} are missing");
    missing
}

#[test]
fn a_run_may_go_on_without_an_agent() {
    let fleet = Fleet::new("fleet-go-on", &["a", "b"]);
    let (server, url) = fast_server();
    let targets = targets(&fleet, &url);
    // A lost agent may have requests under way for as long as the timeout.
    let words = format!(
        "attack -targets={targets} -rate=100 -duration=8s -timeout=1s -fleet-on-loss=go-on"
    );
    let started = start(fleet.command(&words, 2));
    until("requests arrive", || server.stats().requests > 150);
    signal("KILL", fleet.pid("b"));
    let ran = started.wait().with_code(0);
    assert!(ran.stderr.contains("agent b is lost: not heard of for 3s"), "{ran:#?}");
    assert!(ran.stderr.contains("no other agent sends any more"), "{ran:#?}");
    let report = fleet.report();
    assert_eq!(agents(&report)[0]["sent"], 400, "its part to the end");
    assert_eq!(report["brunt"]["verdict"], "INVALID");
}

#[test]
fn a_message_server_that_dies_costs_nothing() {
    let fleet = Fleet::new("fleet-nats", &["a", "b"]);
    let (server, url) = fast_server();
    let targets = targets(&fleet, &url);
    let started =
        start(fleet.command(&format!("attack -targets={targets} -rate=200 -duration=10s"), 2));
    until("requests arrive", || server.stats().requests > 500);
    let nats = fleet.nats().unwrap();
    signal("KILL", nats);
    until("it is started again", || fleet.nats().is_some_and(|now| now != nats));
    started.wait().with_code(0);
    let report = fleet.report();
    assert_eq!((report["requests"].as_u64(), server.stats().requests), (Some(2000), 2000));
}

#[test]
fn an_agent_that_stood_still_skips_what_fell_due() {
    let fleet = Fleet::new("fleet-pause", &["a", "b"]);
    let (server, url) = fast_server();
    let targets = targets(&fleet, &url);
    let words = format!("attack -targets={targets} -rate=200 -duration=12s -fleet-on-loss=go-on");
    let started = start(fleet.command(&words, 2));
    until("requests arrive", || server.stats().requests > 400);
    signal("STOP", fleet.pid("b"));
    std::thread::sleep(Duration::from_secs(5));
    signal("CONT", fleet.pid("b"));
    started.wait().with_code(0);
    let report = fleet.report();
    let of_b = agents(&report)[1];
    assert_eq!(of_b["planned"], 1200);
    let sent = of_b["sent"].as_u64().unwrap();
    assert!((500..900).contains(&sent), "5 s of 12 are missing: {of_b}");
    assert_eq!(report["brunt"]["generator"]["not_sent"].as_u64(), Some(1200 - sent));
    assert!(of_b["reasons"].to_string().contains("stood still "), "{of_b}");
    assert_eq!(server.stats().requests, check_totals(&report, server.stats().requests));
}

#[test]
fn ctrl_c_ends_the_load_on_all_machines_and_nothing_is_lost() {
    let fleet = Fleet::new("fleet-ctrl-c", &["a", "b"]);
    let (server, url) = fast_server();
    let targets = targets(&fleet, &url);
    let started =
        start(fleet.command(&format!("attack -targets={targets} -rate=200 -duration=0"), 2));
    until("requests arrive", || server.stats().requests > 300);
    let stopped = Instant::now();
    signal("INT", started.pid());
    started.wait().with_code(0);
    assert!(stopped.elapsed() < Duration::from_secs(10), "{:?}", stopped.elapsed());
    let (report, served) = (fleet.report(), server.stats().requests);
    assert_eq!(report["requests"].as_u64(), Some(served));
    assert_eq!(report["brunt"]["generator"]["interrupted"], true);
}

#[test]
fn what_cannot_be_is_refused_in_one_line() {
    let fleet = Fleet::new("fleet-bad", &["a"]);
    let targets = targets(&fleet, "http://127.0.0.1:9");
    let attack = |words: &str| run(&format!("attack -targets={targets} -duration=1s {words}"));
    let dir = fleet.dir();
    attack("-agents=2").with_code(2).complains_once(&["-agents needs a fleet"]);
    let open = run(&format!("seek -objective=p95<1s -fleet={dir} http://127.0.0.1:9/"));
    open.with_code(2).complains_once(&["give -agents=N"]);
    let none = attack(&format!("-fleet={dir} -agent-labels=zone=y -fleet-wait=1s")).with_code(1);
    assert!(none.stderr.contains("no agent joined within 1s (only those with zone=y"), "{none:#?}");
    let lazy = attack(&format!("-fleet={dir} -agents=1 -lazy"));
    lazy.with_code(2).complains_once(&["-lazy", "-fleet"]);
    let none = attack("-fleet=/nonexistent -agents=1").with_code(1);
    none.complains_once(&["/nonexistent is not the folder of a fleet"]);
    let socket = attack(&format!("-fleet={dir} -agents=1 -unix-socket=/tmp/s")).with_code(1);
    socket.complains_once(&["-unix-socket", "of this machine"]);
    let few = attack(&format!("-fleet={dir} -agents=2 -fleet-wait=1s")).with_code(1);
    assert!(few.stderr.contains("1 of 2 agents joined within 1s"), "{few:#?}");
    let labels = attack(&format!("-fleet={dir} -agents=1 -agent-labels=zone=x -fleet-wait=1s"));
    let labels = labels.with_code(1).stderr;
    assert!(labels.contains("0 of 1 agents joined within 1s (only those with zone=x"), "{labels}");
    let token = text(&fleet.scratch.path("token"));
    let twin = format!("agent -join {token} -name a -dir {}", text(&fleet.scratch.path("twin")));
    run(&twin).with_code(1).complains_once(&["another machine has the name a"]);
    let bad = run("agent -join brunt1-x").with_code(2);
    assert!(bad.stderr.contains("damaged or cut off"), "{bad:#?}");
    assert!(bad.stderr.contains("where every user of the machine can read it"), "{bad:#?}");
    run("agent").with_code(2).complains_once(&["-join is missing"]);
    run("fleet")
        .with_code(2)
        .complains_once(&["brunt fleet up, resume, rm, token or k8s, with -dir DIR"]);
    run("fleet upp").with_code(2).complains_once(&["did you mean up?"]);
    run("fleet up").with_code(2).complains_once(&["-dir is missing"]);
}

/// Scenarios of two kinds, setup data, checks, metrics of its own, and numbers that must be one test's.
const SCRIPT: &str = r"
import http from 'k6/http';
import { check, group } from 'k6';
import { Counter, Trend } from 'k6/metrics';
import exec from 'k6/execution';
const numbers = new Counter('numbers');
const users = new Trend('users');
export const options = {
  scenarios: {
    steady: { executor: 'constant-arrival-rate', rate: 50, duration: '4s', preAllocatedVUs: 8, exec: 'steady' },
    users: { executor: 'shared-iterations', vus: 4, iterations: 21, exec: 'users' },
  },
  thresholds: { 'http_reqs{scenario:steady}': ['count==200'], checks: ['rate==1'] },
};
export function setup() { return { token: 'abc' }; }
export function steady(data) {
  const answer = http.get(`${__ENV.HOST}/`);
  check(answer, { 'is 200': (r) => r.status === 200, 'has data': () => data.token === 'abc' });
  numbers.add(exec.scenario.iterationInTest);
}
export function teardown(data) { if (data.token !== 'abc') throw new Error('no data'); }
export { shared as users };
function shared() { group('own', () => http.get(`${__ENV.HOST}/u`)); users.add(exec.vu.idInTest); }
";

/// The value after a metric's dots in k6's summary.
fn metric(ran: &Ran, name: &str) -> String {
    let line = ran.stdout.lines().find(|line| line.trim_start().starts_with(&format!("{name}.")));
    let line = line.unwrap_or_else(|| panic!("no {name} in {ran:#?}"));
    line.split(':').nth(1).unwrap().split_whitespace().next().unwrap().to_owned()
}

#[test]
fn a_script_on_agents_does_as_on_one_machine() {
    let fleet = Fleet::new("fleet-script", &["a", "b", "c"]);
    let (server, url) = fast_server();
    let script = fleet.scratch.file("script.js", SCRIPT);
    let here = run(&format!("run -q -e HOST={url} {script}")).with_code(0);
    let at_home = server.stats().requests;
    let results = text(&fleet.results());
    let words =
        format!("run -q -e HOST={url} -fleet={} -agents=3 -o {results} {script}", fleet.dir());
    let there = run(&words).with_code(0);
    assert_eq!(server.stats().requests, 2 * at_home);
    for name in ["http_reqs", "iterations", "checks_total", "numbers", "vus_max"] {
        assert_eq!(metric(&there, name), metric(&here, name), "{name}");
    }
    // 0 + 1 + … + 199: each number of an iteration is one agent's.
    assert_eq!(metric(&there, "numbers"), "19900");
    let report = fleet.report();
    assert_eq!(report["requests"].as_u64(), Some(at_home));
    assert_eq!((agents(&report).len(), sum(&report, "sent")), (3, at_home));
    let thresholds = report["brunt"]["thresholds"].as_array().unwrap();
    assert!(thresholds.len() == 2 && thresholds.iter().all(|one| one["kept"] == true), "{report}");
}

/// Issue 45: agents have no .proto and no protoset of their own; what the script loads comes to them with it. Calls of `grpc` are cut
/// among agents as requests are.
#[test]
fn calls_of_grpc_are_made_by_agents_without_files() {
    let fleet = Fleet::new("fleet-grpc", &["a", "b"]);
    let script = crate::grpc::loading_script(&fleet.scratch);
    let address = crate::grpc_command::address(crate::grpc_command::one);
    let words = format!("run -e ADDRESS={address} -fleet={} -agents=2 {script}", fleet.dir());
    let ran = run(&words).with_code(0);
    assert!(ran.stdout.contains("8 out of 8"), "{ran:#?}");
    assert_eq!(metric(&ran, "iterations"), "4");
    let proto = text(&fleet.scratch.path("project/protos/t.proto"));
    let deep = text(&fleet.scratch.path("project/protos/deep"));
    let call = format!("-plaintext -proto {proto} -import-path {deep} -call p.S/M");
    let words = format!(
        "grpc {address} {call} -data {{\"text\":\"a\"}} -rate 100 -duration 500ms -connections 2"
    );
    fleet.load(&words, 2).with_code(0);
    let report = fleet.report();
    assert_eq!((&report["requests"], &report["success"]), (&50.into(), &1.into()), "{report}");
    assert_eq!((agents(&report).len(), sum(&report, "sent")), (2, 50), "{report}");
}

#[test]
fn a_threshold_on_the_metrics_of_all_ends_the_test_on_all() {
    let fleet = Fleet::new("fleet-threshold", &["a", "b"]);
    let (server, url) = fast_server();
    let script = fleet.scratch.file(
        "script.js",
        "import http from 'k6/http'; import { sleep } from 'k6';
        export const options = { vus: 4, duration: '50s',
          thresholds: { http_reqs: [{ threshold: 'count<60', abortOnFail: true }] } };
        export default function () { http.get(__ENV.HOST); sleep(0.1); }",
    );
    let words = format!("run -q -e HOST={url} -fleet={} -agents=2 {script}", fleet.dir());
    let started = start(brunt(&words));
    // Neither agent alone has sent so many.
    until("60 requests", || server.stats().requests >= 60);
    let crossed = Instant::now();
    let ran = started.wait().with_code(99);
    assert!(crossed.elapsed() < Duration::from_secs(8), "{:?}", crossed.elapsed());
    assert!(ran.stderr.contains("a threshold with abortOnFail was crossed"), "{ran:#?}");
    let requests: u64 = metric(&ran, "http_reqs").parse().unwrap();
    assert!((60..300).contains(&requests), "{requests}");
}

#[test]
fn what_ends_a_script_on_one_agent_ends_it_on_all() {
    let fleet = Fleet::new("fleet-abort", &["a", "b"]);
    let aborts = fleet.scratch.file(
        "aborts.js",
        "import exec from 'k6/execution'; import { sleep } from 'k6';
        export const options = { vus: 4, duration: '50s' };
        export default function () {
          sleep(0.2); if (exec.vu.idInTest === 2 && exec.vu.iterationInScenario > 3) exec.test.abort('enough');
        }",
    );
    let on_fleet = format!("-q -fleet={} -agents=2", fleet.dir());
    let ran = run(&format!("run {on_fleet} {aborts}")).with_code(108);
    assert!(ran.stderr.contains("enough"), "{ran:#?}");
    let broken = fleet.scratch.file(
        "broken.js",
        "if (__VU > 1) throw new Error('no such user'); export const options = { vus: 4, iterations: 4 };
        export default function () {}",
    );
    let ran = run(&format!("run {on_fleet} {broken}")).with_code(1);
    assert!(ran.stderr.contains("no such user"), "{ran:#?}");
    let script = fleet.scratch.file("fine.js", "export default function () {}");
    let refused = run(&format!("run {on_fleet} -o json=x.json {script}")).with_code(2);
    assert!(refused.stderr.contains("files of results"), "{refused:#?}");
    let refused = run(&format!("run {on_fleet} -execution-segment 0:1/2 {script}")).with_code(2);
    assert!(refused.stderr.contains("-execution-segment"), "{refused:#?}");
    run(&format!("run {on_fleet} {script}")).with_code(0);
    // One more than there are: it waits, until Ctrl-C.
    let words = format!("run -q -fleet={} -agents=3 {script}", fleet.dir());
    let mut waiting = start(brunt(&words));
    let line = first_line(waiting.child().stderr.as_mut().unwrap());
    assert!(line.contains("waiting for 3 agents"), "{line}");
    signal("INT", waiting.pid());
    let ran = waiting.wait().with_code(105);
    assert!(ran.stderr.contains("interrupted before the start"), "{ran:#?}");
}

#[test]
fn a_command_that_was_killed_is_resumed_with_all_that_was_measured() {
    let fleet = Fleet::new("fleet-resume", &["a", "b"]);
    let (server, url) = fast_server();
    let targets = targets(&fleet, &url);
    let words = format!("attack -targets={targets} -rate=100 -duration=16s");
    let started = start(fleet.command(&words, 2));
    until("requests arrive", || server.stats().requests > 200);
    signal("KILL", started.pid());
    drop(started);
    let results = text(&fleet.results());
    let resume = format!("fleet resume -dir {} -output={results}", fleet.dir());
    let ran = run(&resume).with_code(0);
    assert!(ran.stderr.contains("resumed"), "{ran:#?}");
    let report = fleet.report();
    assert_eq!((report["requests"].as_u64(), server.stats().requests), (Some(1600), 1600));
    let latencies = &report["latencies"]["99th"];
    // What was measured of a run that is over is there as well.
    run(&resume).with_code(0);
    assert_eq!(
        (&fleet.report()["requests"], &fleet.report()["latencies"]["99th"]),
        (&report["requests"], latencies)
    );
    run(&format!("fleet resume nothing -dir {}", fleet.dir()))
        .with_code(1)
        .complains_once(&["no run nothing"]);
}

/// A test of Action Cable in the room `demo` of the demo's chat.
fn chat(pattern: &str, url: &str, flags: &str) -> String {
    let url = format!("{}/cable", url.replace("http://", "ws://"));
    format!("cable {pattern} {url} -channel ChatChannel -params {{\"id\":\"demo\"}} -json {flags}")
}

fn number(json: &Value, path: &str) -> u64 {
    json.pointer(path).and_then(Value::as_u64).unwrap_or_else(|| panic!("{path}: {json}"))
}

#[test]
fn a_broadcast_on_agents_counts_what_the_server_counts() {
    let fleet = Fleet::new("fleet-broadcast", &["a", "b", "c"]);
    let defects = demo::Cable { loss: 0.1, duplicate: 0.05, ..demo::Cable::default() };
    let (server, url) = server(Config { cable: Some(defects), ..Config::default() });
    let words = chat("broadcast", &url, "-users 20 -speakers 4 -rate 50 -d 2s -timeout 1s");
    let json = fleet.load(&words, 3).with_code(0).json();
    let stats = server.stats().sockets;
    assert_eq!(number(&json, "/broadcast/sent"), 100, "50 a second for 2 s: {json}");
    assert_eq!(stats.cable_broadcasts, 100);
    let of = |name: &str| number(&json, &format!("/broadcast/deliveries/{name}"));
    assert_eq!((of("expected"), of("cut"), of("early")), (2_000, 0, 0), "{json}");
    assert_eq!((of("lost"), of("duplicated")), (stats.cable_lost, stats.cable_duplicated));
    assert_eq!(of("delivered") + of("duplicated"), stats.cable_sent);
    assert_eq!(number(&json, "/broadcast/fan_out/count"), of("delivered"));
    assert_eq!(json["broadcast"]["messages"].as_array().unwrap().len(), 100);
    assert_eq!(json["fleet"]["agents"].as_array().unwrap().len(), 3);
    // The rows: a connection for each user, and one for each message, however many agents had it.
    let report = fleet.report();
    assert_eq!((number(&report, "/requests"), number(&report, "/status_codes/101")), (120, 20));
    assert_eq!(number(&report, "/status_codes/200"), number(&json, "/broadcast/complete"));
}

#[test]
fn a_herd_on_agents_is_cut_off_at_once_and_comes_back() {
    let fleet = Fleet::new("fleet-herd", &["a", "b"]);
    let cable = Some(demo::Cable::default());
    let (server, url) = server(Config { cable, ..Config::default() });
    let json = fleet.load(&chat("herd", &url, "-users 50 -cuts 2 -d 200ms"), 2).with_code(0).json();
    let rounds: Vec<u64> =
        json["rounds"].as_array().unwrap().iter().map(|one| number(one, "/subscribed")).collect();
    assert_eq!((rounds, server.stats().sockets.sockets_total), (vec![50, 50, 50], 150));
    let json = fleet.load(&chat("echo", &url, "-users 10 -rate 50 -d 1s"), 2).with_code(0).json();
    assert!(number(&json, "/echo/sent") >= 50, "{json}");
    assert_eq!(number(&json, "/echo/answered"), number(&json, "/echo/sent"));
    let few = fleet.load(&chat("idle", &url, "-users 1 -d 1s"), 2).with_code(1);
    assert!(few.stderr.contains("of 1 user none is left for it"), "{few:#?}");
}

#[test]
fn a_killed_test_of_action_cable_is_resumed_with_all_that_was_seen() {
    let fleet = Fleet::new("fleet-cable-resume", &["a", "b"]);
    let cable = Some(demo::Cable::default());
    let (server, url) = server(Config { cable, ..Config::default() });
    let words = chat("broadcast", &url, "-users 8 -rate 10 -d 16s");
    let started = start(fleet.command(&words, 2));
    until("messages are under way", || server.stats().sockets.cable_broadcasts > 20);
    signal("KILL", started.pid());
    drop(started);
    let ran = run(&format!("fleet resume -dir {} -output=none", fleet.dir())).with_code(0);
    assert!(ran.line("Messages").ends_with("160, 160, 0"), "{ran:#?}");
    assert!(ran.line("Deliveries").contains("1280, 1280 (100.00%), 0, 0"), "{ran:#?}");
}

#[test]
fn a_search_runs_its_steps_on_a_fleet() {
    let fleet = Fleet::new("fleet-seek", &["a", "b"]);
    let service = demo::ServiceTime::parse("fixed:20ms").unwrap();
    let (_server, url) = server(Config { workers: 2, service, ..Config::default() });
    let words = format!(
        "seek -json -objective=p95<200ms -from=20 -max-steps=2 -step=2s -warmup=0 -cooldown=0 -fleet={} -agents=2 {url}/",
        fleet.dir()
    );
    let ran = run(&words);
    let steps = ran.json()["steps"].as_array().unwrap().clone();
    assert!(steps.len() >= 2, "{ran:#?}");
    // Whether a step meets the objective depends on what else the machine does.
    let is_whole = |step: &Value| step["requests"].as_u64() > Some(50);
    assert!(steps.iter().all(is_whole), "{ran:#?}");
    let few =
        format!("seek -by=connections -objective=p95<1s -fleet={} -agents=2 {url}/", fleet.dir());
    run(&few).with_code(2).complains_once(&["-from=2"]);
}

/// A nats-server that is no fleet's own; it ends with this.
struct ForeignServer(Started, String);

impl ForeignServer {
    /// With this configuration, beside a port and JetStream.
    fn start(scratch: &Scratch, config: &str) -> Self {
        Self::start_at(scratch, config, crate::free_port())
    }

    fn start_at(scratch: &Scratch, config: &str, port: u16) -> Self {
        let store = text(&scratch.path("jetstream"));
        let text = format!(
            "listen: \"127.0.0.1:{port}\"\njetstream {{ store_dir: \"{store}\" }}\n{config}\n"
        );
        let path = scratch.file("nats.conf", text);
        let mut command = std::process::Command::new("nats-server");
        command.args(["-c", &path]).stdout(std::process::Stdio::null());
        command.stderr(std::process::Stdio::null());
        let started = start(command);
        until("it listens", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
        Self(started, format!("127.0.0.1:{port}"))
    }
}

/// An agent that signs in at such a server.
fn foreign_agent(words: &str) -> Started {
    let mut agent = start(brunt(&format!("agent {words} -name a -cpus 1")));
    let line = first_line(agent.child().stderr.as_mut().unwrap());
    assert!(line.contains("waits for runs"), "{line}");
    agent
}

#[test]
fn a_fleet_uses_a_nats_server_that_is_there() {
    let scratch = Scratch::new("fleet-foreign");
    let users = "authorization { users: [ { user: me, password: secret } ] }";
    let nats = ForeignServer::start(&scratch, users);
    let dir = text(&scratch.path("fleet"));
    let url = format!("nats://me:secret@{}", nats.1);
    let up = run(&format!("fleet up -dir {dir} -nats {url}")).with_code(0);
    assert!(
        up.stdout.contains("brunt agent -nats nats://") && !up.stdout.contains("secret"),
        "{up:#?}"
    );
    let _agent = foreign_agent(&format!("-nats {url}"));
    let (server, target) = fast_server();
    run(&format!("bench -c 2 -n 50 -q -fleet={dir} -agents=1 {target}/")).with_code(0);
    assert_eq!(server.stats().requests, 50);
    let wrong = format!("fleet up -dir {dir} -nats nats://me:wrong@{}", nats.1);
    let refused = run(&wrong).with_code(1);
    assert!(
        refused.stderr.contains("does not know") && !refused.stderr.contains("wrong@"),
        "{refused:#?}"
    );
    run(&format!("fleet up -dir {dir} -creds x"))
        .with_code(2)
        .complains_once(&["-creds needs a -nats"]);
    drop(nats.0);
}

/// The manifests of a fleet whose server is there already, with an image that nothing here asks for.
fn manifests(scratch: &Scratch, nats: &ForeignServer, more: &str) -> Ran {
    let dir = text(&scratch.path("fleet"));
    run(&format!("fleet k8s -dir {dir} -n load -image r/brunt:1 {more} -nats nats://{}", nats.1))
}

/// The keys in manifests are those by which agents sign in, wherever they run.
#[test]
fn agents_sign_in_with_the_keys_of_manifests() {
    let scratch = Scratch::new("fleet-manifests");
    let nats = ForeignServer::start(&scratch, "");
    let printed = manifests(&scratch, &nats, "-agents 2").with_code(0).stdout;
    let port = nats.1.rsplit_once(':').unwrap().1.parse().unwrap();
    drop(nats);
    assert!(printed.contains("kind: Job") && !printed.contains("StatefulSet"), "{printed}");
    let keys = printed.lines().filter_map(|line| line.trim().split_once(": bruntkey1-"));
    // A cluster starts them and the server in any order.
    let mut agents: Vec<Started> = keys
        .map(|(index, key)| {
            let file = scratch.file(index, format!("bruntkey1-{key}\n"));
            let mut agent = start(brunt(&format!("agent -join {file} -cpus 1")));
            let line = first_line(agent.child().stderr.as_mut().unwrap());
            assert!(line.contains("waits for the fleet's server: "), "{line}");
            agent
        })
        .collect();
    assert_eq!(agents.len(), 2);
    let nats = ForeignServer::start_at(&scratch, "", port);
    for (index, agent) in agents.iter_mut().enumerate() {
        let line = first_line(agent.child().stderr.as_mut().unwrap());
        assert!(line.contains(&format!("brunt-{index} waits for runs")), "{line}");
    }
    let (server, target) = fast_server();
    let dir = text(&scratch.path("fleet"));
    run(&format!("bench -c 2 -n 50 -q -fleet={dir} -agents=2 {target}/")).with_code(0);
    assert_eq!(server.stats().requests, 50);
    let file = text(&scratch.path("agent-0"));
    run(&format!("agent -join {file} -name other"))
        .with_code(2)
        .complains_once(&["-name", "brunt-0"]);
    drop((agents, nats.0));
}

#[test]
fn what_a_cluster_would_refuse_is_refused_before_it_is_asked() {
    let scratch = Scratch::new("fleet-cluster");
    let dir = text(&scratch.path("fleet"));
    let k8s = |words: &str| run(&format!("fleet k8s {words}")).with_code(2);
    k8s("-agents 1 -image i").complains_once(&["-dir is missing"]);
    k8s(&format!("-dir {dir} -image i")).complains_once(&["-agents is missing"]);
    k8s(&format!("-dir {dir} -agents 1")).complains_once(&["-image is missing"]);
    let wrong = |words: &str, cause: &str| {
        k8s(&format!("-dir {dir} -agents 1 -image i {words}")).complains_once(&[cause]);
    };
    wrong("-n Load", "the namespace \"Load\"");
    wrong("-memory 1", "is no memory");
    wrong("-listen 127.0.0.1:1", "-listen: stands for nothing in fleet k8s");
    wrong("-keep", "without -apply");
    wrong("attack", "without -apply");
    wrong("-apply -chart x", "a chart is for Helm");
    for (flag, cause) in [("-cores 0", "1 or more"), ("-port 0", "is no port")] {
        let ran = k8s(&format!("-dir {dir} -agents 1 -image i {flag}"));
        assert!(ran.stderr.contains(cause), "{ran:#?}");
    }
    assert!(!scratch.path("fleet").exists(), "nothing was made");
    let stray = run(&format!("fleet up -dir {dir} -agents 1")).with_code(2);
    stray.complains_once(&["-agents: stands for nothing in fleet up"]);
    let chart = text(&scratch.path("chart"));
    run(&format!("fleet k8s -dir {dir} -agents 1 -image i -chart {chart}")).with_code(0);
    for file in ["Chart.yaml", "values.yaml", "templates/fleet.yaml", "templates/keys.yaml"] {
        assert!(scratch.path("chart").join(file).is_file(), "{file}");
    }
}

/// kubectl that is not there, and one that fails, each end the command with its words.
#[test]
fn a_kubectl_that_fails_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new("fleet-kubectl");
    let dir = text(&scratch.path("fleet"));
    let apply = |path: &str| {
        let mut command = brunt(&format!("fleet k8s -dir {dir} -n load -agents 1 -image i -apply"));
        command.env("PATH", path);
        start(command).wait()
    };
    apply("/nonexistent").with_code(1).complains_once(&["starting kubectl"]);
    let program = scratch.file("kubectl", "#!/bin/sh\necho 'error: no such cluster' >&2\nexit 1\n");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let folder = std::path::Path::new(&program).parent().unwrap();
    let ran = apply(&format!("{}:/usr/bin:/bin", text(folder))).with_code(1);
    assert!(ran.stderr.contains("kubectl apply: error: no such cluster"), "{ran:#?}");
}

/// Whether a file below this folder holds the text.
fn is_below(folder: &Path, what: &str) -> Option<PathBuf> {
    std::fs::read_dir(folder).unwrap().find_map(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return is_below(&path, what);
        }
        let bytes = std::fs::read(&path).unwrap_or_default();
        bytes.windows(what.len()).any(|part| part == what.as_bytes()).then_some(path)
    })
}

/// What leaves the machine is what was named: a canary lies in variables, the home and the project's dot files, and comes neither to
/// the message server's folder nor to an agent, whatever the load is.
#[test]
fn what_was_not_named_does_not_leave_the_machine() {
    let mut fleet = Fleet::new("fleet-canary", &["a"]);
    let (_server, url) = fast_server();
    for folder in ["home/.config/k6", "project/.git"] {
        std::fs::create_dir_all(fleet.scratch.path(folder)).unwrap();
    }
    let token = r#"{"collectors":{"cloud":{"token":"CANARY"}}}"#;
    fleet.scratch.file("home/.config/k6/config.json", token);
    for name in
        ["home/.netrc", "home/.npmrc", "project/.env", "project/.npmrc", "project/.git/config"]
    {
        fleet.scratch.file(name, "CANARY");
    }
    let script = fleet.scratch.file(
        "project/script.js",
        "import http from 'k6/http'; export const options = { iterations: 2 };
        export default function () {
          http.get(`${__ENV.HOST}/`); console.log(`${__ENV.NAMED} ${__ENV.API_TOKEN} ${Object.keys(__ENV)}`); }",
    );
    let targets = targets(&fleet, &url);
    let (dir, tar) = (fleet.dir(), text(&fleet.scratch.path("archive.tar")));
    let start_with = |words: &str| {
        let mut command = brunt(words);
        command.env("API_TOKEN", "CANARY").env("NAMED", "was-named");
        command.env("HTTPS_PROXY", "http://me:CANARY@127.0.0.1:9");
        command.env("HOME", fleet.scratch.path("home")).env_remove("XDG_CONFIG_HOME");
        start(command).wait().with_code(0)
    };
    let named = format!("-e NAMED -e HOST={url}");
    let ran = start_with(&format!("run -q {named} -fleet={dir} -agents=1 {script}"));
    assert!(ran.stderr.contains("do not leave it: API_TOKEN; name them"), "{ran:#?}");
    start_with(&format!("archive {named} -include-system-env-vars -O {tar} {script}"));
    start_with(&format!(
        "attack -targets={targets} -rate=20 -duration=100ms -fleet={dir} -agents=1"
    ));
    let agent = fleet.agents.remove(0).1.unwrap();
    signal("INT", agent.pid());
    let log = agent.wait().stderr;
    assert!(log.contains("was-named undefined") && !log.contains("CANARY"), "{log}");
    for folder in [fleet.scratch.path("fleet"), fleet.scratch.path("a")] {
        assert_eq!(is_below(&folder, "CANARY"), None);
    }
    let stored = fleet.scratch.path("fleet");
    assert!(is_below(&stored, "was-named").is_some(), "what is looked for would be found");
    let archived = std::fs::read(tar).unwrap();
    assert!(!archived.windows(6).any(|part| part == b"CANARY"));
}
