//! The six hot paths as fixed work in the simulated world, for `cargo xtask counts`, which counts their instructions:
//! `hot_paths PATH UNITS` does about so many units of work and prints how many it did. Without arguments it does a little of
//! each and checks that the work was done, as a test.

mod h2_server;

use std::rc::Rc;
use std::sync::{Arc, Mutex};

use cable::{Cable, CablePlan, Pattern, Template};
use demo::{Config, ServerMachine, ServiceTime};
use engine::{Capture, CapturedHeaders, Protocol, Settings, SimulationResult, simulate};
use metrics::tally::Value;
use net::sim::{Faults, World};
use net::{Address, Peer};
use script::{
    Control, Env, Files, Host, HttpPlan, Level, Options, Program, SamplePlan, VuPoolPlan, VuStats,
    WorkPlan, vu_pool,
};
use stdx::Nanos;
use wire::cable::{Codec, Dialect, Format};
use workload::arrival::Shape;
use workload::{Load, Plan, Segment, Target, Targets, VuFactory};

use h2_server::H2Server;

const SERVER: &str = "127.0.0.1:80";
/// Users, VUs and streams of each path.
const USERS: u64 = 8;

/// Does about so many units of work; returns how many were done.
type Work = fn(units: u64) -> u64;

/// The paths by their names; a unit is a request, an iteration or a message.
const PATHS: [(&str, Work); 6] = [
    ("closed-h1", closed_h1),
    ("open-h1", open_h1),
    ("h2-stream", h2_stream),
    ("script-iteration", script_iteration),
    ("ws-message", ws_message),
    ("ws-script-message", ws_script_message),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (name, units) = match &arguments[..] {
        [name, units] => (name.as_str(), units.parse().ok()),
        _ => ("", None),
    };
    if let (Some((_, work)), Some(units)) = (PATHS.iter().find(|path| path.0 == name), units) {
        println!("{}", work(units));
        return;
    }
    for (name, work) in PATHS {
        let done = work(200);
        assert!((150..=250).contains(&done), "{name}: {done} units instead of some 200");
        println!("{name}: {done} units");
    }
}

fn closed_h1(units: u64) -> u64 {
    requests(Load::Closed { users: USERS }, units, server(), Protocol::Http1)
}

fn open_h1(units: u64) -> u64 {
    let shape = Shape::Constant { hits: 2_000, per: Nanos::SECOND };
    let load = Load::Open { shape, max_in_flight: None };
    requests(load, units, server(), Protocol::Http1)
}

fn h2_stream(units: u64) -> u64 {
    let peer = Box::new(H2Server::default());
    requests(Load::Closed { users: USERS }, units, peer, Protocol::PriorKnowledge)
}

fn requests(load: Load, hits_max: u64, peer: Box<dyn Peer>, protocol: Protocol) -> u64 {
    let target = Target {
        method: "GET".to_owned(),
        url: format!("http://{SERVER}/"),
        headers: vec![("Accept".to_owned(), "*/*".to_owned())],
        body: Arc::from([]),
        weight: 1,
        name: String::new(),
    };
    let plan = Plan {
        hits_max: Some(hits_max),
        targets: Targets::new(vec![target]),
        ..Plan::new(load, Targets::default(), 7)
    };
    let streams = USERS as usize;
    let settings = Settings { protocol, streams, rows: false, ..Settings::default() };
    answered(&run(plan, &settings, peer))
}

/// The demo's server, which answers after 1 ms.
fn server() -> Box<dyn Peer> {
    let service = ServiceTime::parse("fixed:1ms").expect("a service time");
    let config = Config { workers: 64, service, ..Config::default() };
    Box::new(ServerMachine::new(config).expect("a server"))
}

fn run(plan: Plan, settings: &Settings, peer: Box<dyn Peer>) -> SimulationResult {
    let mut world = World::new(7, Faults::default());
    world.add_peer(Address::Ip(SERVER.parse().expect("an address")), peer);
    simulate(world, plan, settings).expect("the settings are sound")
}

fn answered(result: &SimulationResult) -> u64 {
    assert_eq!(result.total.successes, result.total.hits(), "every request was answered");
    result.total.hits()
}

/// What a script is compiled in.
struct Beginning;

impl Host for Beginning {
    fn now(&self) -> Nanos {
        Nanos::ZERO
    }
    fn log(&self, _level: Level, text: &str) {
        panic!("the script logs {text}");
    }
}

struct Source(String);

impl Files for Source {
    fn read(&self, _name: &str) -> Result<Vec<u8>, String> {
        Ok(self.0.clone().into_bytes())
    }
}

fn script_iteration(units: u64) -> u64 {
    let source = format!(
        "import http from 'k6/http'; import {{ check }} from 'k6';\n\
         export default function () {{\n\
           const response = http.get('http://{SERVER}/');\n\
           check(response, {{ 'status is 200': (r) => r.status === 200 }});\n\
         }}"
    );
    let (result, outcome) = run_script(source, units, server());
    assert_eq!(answered(&result), outcome.iterations, "a request in each iteration");
    outcome.iterations
}

/// Sockets of `k6/ws` that send back what is echoed, in one iteration of each VU. A unit is a message received.
fn ws_script_message(units: u64) -> u64 {
    let source = format!(
        "import ws from 'k6/ws';\n\
         export default function () {{\n\
           let left = {};\n\
           ws.connect('ws://{SERVER}/ws-echo', (socket) => {{\n\
             socket.on('open', () => socket.send('message'));\n\
             socket.on('message', (text) => {{ if (--left === 0) socket.close(); else socket.send(text); }});\n\
           }});\n\
         }}",
        units / USERS
    );
    let config = Config { cable: Some(demo::Cable::default()), ..Config::default() };
    let peer = Box::new(ServerMachine::new(config).expect("a server"));
    let (_, outcome) = run_script(source, USERS, peer);
    match outcome.tally.value("ws_msgs_received") {
        Some(Value::Counter { sum, .. }) => *sum as u64,
        other => panic!("messages are counted, not {other:?}"),
    }
}

/// Runs so many iterations of a script.
fn run_script(source: String, iterations: u64, peer: Box<dyn Peer>) -> (SimulationResult, VuStats) {
    let program =
        Program::compile("/main.js", Env::default(), Rc::new(Source(source)), Rc::new(Beginning))
            .expect("the script compiles");
    let options = format!(r#"{{"vus":{USERS},"iterations":{iterations}}}"#);
    let options = Options::of(serde_json::from_str(&options).expect("JSON")).expect("options");
    let outcome = Arc::<Mutex<VuStats>>::default();
    let plan = pool_plan(options, Arc::clone(&outcome));
    let make = Arc::new(move |shard| vu_pool(&program, &plan, shard));
    let load = Load::Users(VuFactory { users: USERS, make });
    let capture = Capture { headers: CapturedHeaders::WholeHead, ..Capture::default() };
    let settings = Settings { capture, rows: false, ..Settings::default() };
    let result = run(Plan::new(load, Targets::default(), 7), &settings, peer);
    let stats = outcome.lock().expect("no panic").clone();
    (result, stats)
}

fn pool_plan(options: Options, outcome: Arc<Mutex<VuStats>>) -> VuPoolPlan {
    VuPoolPlan {
        control: Control::new(&options.scenarios, &Segment::default()),
        work: WorkPlan::of(options.scenarios),
        http: HttpPlan {
            max_redirects: 10,
            default_headers: [("User-Agent".to_owned(), "counts".to_owned())].into(),
            batch: (20, 6),
            ..HttpPlan::default()
        },
        samples: SamplePlan::default(),
        clock: Arc::new(|| Nanos::ZERO),
        log: Arc::new(|_, text, _| panic!("the script logs {text}")),
        outcome,
        options: None,
        unix_ms: 1_000_000.0,
    }
}

/// Users of Action Cable: two speak in turn, every 10 ms, and all receive it. A unit is a message received.
fn ws_message(units: u64) -> u64 {
    let cable = Cable::new(CablePlan {
        url: format!("ws://{SERVER}/cable"),
        http_url: format!("http://{SERVER}/cable"),
        pattern: Pattern::Broadcast { speakers: 2, every: Nanos::from_millis(10) },
        users: USERS as u32,
        ramp: Nanos::ZERO,
        duration: Nanos::from_millis(10 * units / USERS),
        identifier: Template::new(r#"{"channel":"ChatChannel","id":"demo"}"#),
        data: Template::new(r#"{"action":"speak","message":"{token}"}"#),
        codec: Codec { format: Format::Json, dialect: Dialect::Base },
        headers: Vec::new(),
        timeout: Nanos::from_secs(2),
        jitter: Nanos::ZERO,
        backs_off: true,
        seed: 7,
        part: None,
    });
    let load = Load::Users(cable.users());
    let capture = Capture { headers: CapturedHeaders::WholeHead, ..Capture::default() };
    let settings =
        Settings { protocol: Protocol::Http1, capture, rows: false, ..Settings::default() };
    let config = Config { cable: Some(demo::Cable::default()), ..Config::default() };
    let peer = Box::new(ServerMachine::new(config).expect("a server"));
    run(Plan::new(load, Targets::default(), 7), &settings, peer);
    let report = cable.report();
    let deliveries = report.deliveries;
    assert_eq!(deliveries.delivered, deliveries.expected, "every message came to all");
    deliveries.delivered
}
