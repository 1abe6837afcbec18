//! Random walks over a realm: VUs begin, fail in their modules, wait, are woken, answered, stopped and dropped in any order, and
//! hand each other what refers to their modules through the built-ins they share. Nothing is expected of the scripts but that the
//! process survives. `cargo xtask asan` runs more of them under AddressSanitizer (`SCRIPT_WALKS`).

#![expect(clippy::unwrap_used, reason = "a test says by a panic that it failed")]

use std::cell::Cell;
use std::fmt::Write as _;
use std::rc::Rc;
use std::sync::Arc;

use script::{
    Action, ActionResult, Call, Files, Host, HttpRequest, HttpResponse, Level, Program, Realm,
    Stage, StepResult, Ticket, VirtualUser as _, Vu,
};
use stdx::{Nanos, Prng};

/// Walks of a usual run: a second or so.
const WALKS: u64 = 15;
/// Steps of a walk.
const STEPS: usize = 60;
/// VUs at a time.
const VUS_MAX: usize = 6;
/// A module's text is one of so many, by the number of its VU.
const KINDS: u64 = 4;
/// How often a script is asked whether it is to end until it is: some never would.
const PATIENCE: u64 = 50;

/// What the modules of a VU may do when they run.
const IN_MODULE: [&str; 15] = [
    "Array.prototype.leak = ns",
    "Array.prototype.leak = ns; throw new Error('fails')",
    "Array.prototype.sub = ns.sub; throw new Error('fails')",
    "Array.prototype.reads = () => ns.sub.x; throw new Error('fails')",
    "Array.prototype.sets = (to) => { own = to; return own }; throw new Error('fails')",
    "await null; await null",
    "await null; throw new Error('fails late')",
    "await new Promise((done) => { Array.prototype.done = done })",
    "await new Promise((done) => { Array.prototype.done = done; throw new Error('in a promise') })",
    "Promise.resolve().then(() => { Array.prototype.leak = ns.sub })",
    "Promise.reject(new Error('not caught'))",
    "setTimeout(() => { Array.prototype.sub = ns.sub; sleep(1) }, 5)",
    "Array.prototype.steps = (function* () { yield ns; yield sleep(1); yield ns.sub })()",
    "Object.defineProperty(Object.prototype, 'got', { configurable: true, get() { return ns.x } })",
    "Array.prototype.weak = new WeakRef(ns); Array.prototype.map = Array.prototype.flatMap",
];

/// What an iteration may do.
const IN_FUNCTION: [&str; 18] = [
    "sleep(0.01)",
    "http.get('http://h/')",
    "http.batch(['http://h/1', 'http://h/2'])",
    "await http.asyncRequest('GET', 'http://h/')",
    "Object.keys([].leak.sub ?? [].leak)",
    "JSON.stringify([].sub)",
    "[].reads()",
    "[].sets([].leak)",
    "[].done(); for (let i = 0; i < 9; i++) await null",
    "await new Promise((done) => { Array.prototype.done = done })",
    "Promise.resolve().then(() => { sleep(1); [].leak.sub })",
    "[].steps.next()",
    "Array.prototype.closure = () => { sleep(0.01); return ns.sub.x }",
    "[].closure()",
    "String([].weak.deref().x) + ({}).got",
    "const all = []; for (let i = 0; i < 500; i++) all.push({ i, text: 'x'.repeat(i) })",
    "for (const name of ['leak', 'sub', 'done', 'reads', 'closure', 'steps']) delete Array.prototype[name]",
    "for (;;) {}",
];

/// A world whose time a walk holds, with little patience.
struct World {
    now: Cell<u64>,
    patience: Cell<u64>,
}

impl Host for World {
    fn now(&self) -> Nanos {
        Nanos(self.now.get())
    }
    fn log(&self, _level: Level, _text: &str) {}
    fn interrupts(&self) -> bool {
        let left = self.patience.get();
        self.patience.set(left.saturating_sub(1));
        left == 0
    }
}

/// `/main.js`, `/a.js` and `/b.js`.
struct Sources(String);

impl Files for Sources {
    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        let text = match name {
            "/main.js" => self.0.as_str(),
            "/a.js" => "export * as sub from './b.js'; export let x = 1;",
            _ => "export const x = 2; export default function () { return x }",
        };
        Ok(text.as_bytes().to_vec())
    }
}

/// A script that does what the numbers say, other things for each kind of VU and each iteration.
fn script(rng: &mut Prng) -> String {
    let mut pick = |list: &[&'static str]| list[rng.below(list.len() as u64) as usize];
    let mut text = String::from(
        "import * as ns from './a.js'; import http from 'k6/http'; import { sleep } from 'k6'; let own = 0;\n",
    );
    for kind in 0..KINDS {
        writeln!(text, "if (__VU && __VU % {KINDS} === {kind}) {{ {} }}", pick(&IN_MODULE))
            .unwrap();
    }
    text.push_str("export default async function () { const at = (__VU + __ITER) % 8;\n");
    for at in 0..8 {
        let (first, second) = (pick(&IN_FUNCTION), pick(&IN_FUNCTION));
        writeln!(text, "if (at === {at}) {{ try {{ {first} }} catch {{}} {second}; return own }}")
            .unwrap();
    }
    text.push_str("}\n");
    text
}

/// A VU and what it waits for.
struct Walker {
    vu: Vu,
    iteration: u64,
    /// `None` between iterations.
    turn: Option<StepResult>,
    asked: Vec<(Ticket, HttpRequest)>,
}

impl Walker {
    /// Goes on in one of the ways there are.
    fn step(&mut self, world: &World, choice: u64) {
        world.patience.set(PATIENCE);
        let turn = match (&self.turn, choice) {
            (None, _) => {
                self.iteration += 1;
                let iteration = self.iteration;
                let function = "default".into();
                Some(self.vu.call(Call { stage: Stage::Setup, function, iteration, data: None }))
            }
            (Some(_), 0) => {
                self.vu.stop();
                self.asked.clear();
                None
            }
            (Some(StepResult::Waits { until }), _) => match self.asked.pop() {
                Some((ticket, request)) => self.vu.answer(ticket, response(request)),
                None => {
                    if let Some(until) = until {
                        world.now.set(until.0.max(world.now.get()));
                    }
                    self.vu.wake()
                }
            },
            (Some(_), _) => None,
        };
        let mut actions = Vec::new();
        let _memory = self.vu.take_actions(&mut actions);
        for action in actions {
            if let Action::Http(ticket, request) = action {
                self.asked.push((ticket, *request));
            }
        }
        self.turn = match turn {
            Some(StepResult::Waits { until }) => Some(StepResult::Waits { until }),
            Some(StepResult::Done(_) | StepResult::Cut) => None,
            // It did not go on: what it waited for stays.
            None if choice == 0 => None,
            None => self.turn.take(),
        };
    }
}

fn response(request: HttpRequest) -> ActionResult {
    ActionResult::Http(Box::new(HttpResponse {
        status: 200,
        head: Some(b"HTTP/1.1 200 OK\r\n".to_vec().into()),
        body: Some(b"{\"a\":1}".to_vec()),
        asked: Some(Box::new(request)),
        ..HttpResponse::default()
    }))
}

/// One walk; gives how many VUs began, and how many iterations.
fn walk(seed: u64) -> (u64, u64) {
    let mut rng = Prng::new(seed);
    let world = Rc::new(World { now: Cell::new(0), patience: Cell::new(PATIENCE) });
    let host = || Rc::clone(&world) as Rc<dyn Host>;
    let sources = Rc::new(Sources(script(&mut rng)));
    let program = Program::compile("/main.js", Arc::default(), sources, host()).unwrap();
    let realm = Realm::new(&program).unwrap();
    let (mut walkers, mut begun, mut iterations) = (Vec::<Walker>::new(), 0, 0);
    for _ in 0..STEPS {
        world.patience.set(PATIENCE);
        let choice = rng.below(8);
        let at = rng.below(walkers.len().max(1) as u64) as usize;
        if walkers.is_empty() || (choice == 0 && walkers.len() < VUS_MAX) {
            begun += 1;
            if let Ok(vu) = Vu::new(&realm, host(), begun) {
                walkers.push(Walker { vu, iteration: 0, turn: None, asked: Vec::new() });
            }
        } else if choice == 1 {
            // In the middle of whatever it does.
            iterations += walkers.swap_remove(at).iteration;
        } else {
            walkers[at].step(&world, rng.below(6));
        }
    }
    iterations += walkers.iter().map(|walker| walker.iteration).sum::<u64>();
    (begun, iterations)
}

#[test]
fn vus_that_come_and_go_leave_nothing_to_fall_over() {
    let walks = std::env::var("SCRIPT_WALKS").ok().and_then(|text| text.parse().ok());
    let (mut begun, mut iterations) = (0, 0);
    for seed in 0..walks.unwrap_or(WALKS) {
        let counts = walk(seed);
        begun += counts.0;
        iterations += counts.1;
    }
    // The walks lead somewhere: some VUs begin, and some of them iterate.
    assert!(begun > 4 * WALKS && iterations > 4 * WALKS, "{begun} VUs, {iterations} iterations");
}
