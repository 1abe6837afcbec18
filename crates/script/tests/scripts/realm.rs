//! VUs that share a realm: nothing of one is seen by another, in whatever order they run.

#![expect(clippy::unwrap_used, reason = "a test says by a panic that it failed")]

use std::rc::Rc;
use std::sync::Arc;

use script::{
    Action, ActionResult, Call, Files, Host, HttpResponse, Level, Program, Realm, Stage,
    StepResult, VirtualUser as _, Vu,
};
use stdx::Nanos;

/// A world that drops all output.
struct World;

impl Host for World {
    fn now(&self) -> Nanos {
        Nanos::ZERO
    }
    fn log(&self, _level: Level, _text: &str) {}
}

/// `/main.js`, and `/lib.js` beside it.
struct Sources(&'static str, &'static str);

impl Files for Sources {
    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        let text = if name == "/main.js" { self.0 } else { self.1 };
        Ok(text.as_bytes().to_vec())
    }
}

/// VUs of one realm, numbered from 1.
fn vus(main: &'static str, lib: &'static str, count: u64) -> Vec<Vu> {
    let program = Program::compile(
        "/main.js",
        Arc::default(),
        Rc::new(Sources(main, lib)),
        Rc::new(World) as Rc<dyn Host>,
    );
    let realm = Realm::new(&program.unwrap()).unwrap();
    let vu = |number| Vu::new(&realm, Rc::new(World) as Rc<dyn Host>, number).unwrap();
    (1..=count).map(vu).collect()
}

fn begin(vu: &mut Vu, iteration: u64) -> StepResult {
    vu.call(Call { stage: Stage::Setup, function: "default".into(), iteration, data: None })
}

fn returned(turn: StepResult) -> String {
    match turn {
        StepResult::Done(Ok(value)) => value.unwrap_or_default(),
        other => panic!("{other:?}"),
    }
}

/// Answers the one request that a VU waits for.
fn answer(vu: &mut Vu, status: u16) -> StepResult {
    let mut asked: Vec<Action> = Vec::new();
    let _memory = vu.take_actions(&mut asked);
    assert_eq!(asked.len(), 1);
    let answer = HttpResponse { status, ..HttpResponse::default() };
    let Action::Http(ticket, _) = &asked[0] else { panic!("it asks for a request") };
    vu.answer(*ticket, ActionResult::Http(Box::new(answer))).expect("the script waits for it")
}

fn waits(turn: &StepResult) -> bool {
    matches!(turn, StepResult::Waits { until: None })
}

#[test]
fn globals_and_modules_are_a_vus_own() {
    let main = "import { count } from './lib.js';
        let mine = 0;
        export default function () {
            globalThis.seen = (globalThis.seen || 0) + __VU;
            mine += 1;
            return [__VU, __ITER, globalThis.seen, mine, count(), typeof undeclared];
        }";
    let lib = "let n = 0; export function count() { return ++n }";
    let mut vus = vus(main, lib, 3);
    for iteration in 0..3 {
        for (vu, number) in vus.iter_mut().zip(1..) {
            let n = iteration + 1;
            assert_eq!(
                returned(begin(vu, iteration)),
                format!("[{number},{iteration},{},{n},{n},\"undefined\"]", number * n)
            );
        }
    }
}

/// Every VU stands deep in its own calls while others come, throw and go.
#[test]
fn stacks_are_a_vus_own() {
    let main = "import http from 'k6/http';
        function deep(n) {
            if (n > 0) return deep(n - 1) + 1;
            const status = http.get('http://h/').status;
            if (status === 500) throw new Error('status of ' + __VU);
            return status;
        }
        export default function () {
            try { return deep(__VU) } catch (error) { return error.stack.split('\\n').length }
        }";
    let mut vus = vus(main, "", 20);
    for round in 0..30_u64 {
        for vu in &mut vus {
            assert!(waits(&begin(vu, round)));
        }
        // They are answered in an order of their own each time; every third one throws from its depth.
        for step in 0..20 {
            let at = ((step * 7 + round) % 20) as usize;
            let number = at as u64 + 1;
            let throws = (number + round).is_multiple_of(3);
            let told = returned(answer(&mut vus[at], if throws { 500 } else { 200 }));
            // A line for each frame (10 at most) and an end of line.
            let expect = if throws { (number + 2).min(10) + 1 } else { 200 + number };
            assert_eq!(told, expect.to_string(), "VU {number} in round {round}");
        }
    }
}

#[test]
fn promises_settle_where_they_were_made() {
    let main = "import http from 'k6/http';
        export default async function () {
            const order = [];
            const later = Promise.resolve(__VU).then((n) => { order.push('job of ' + n) });
            http.get('http://h/');
            order.push('answered');
            await later;
            return order;
        }";
    let mut vus = vus(main, "", 2);
    for vu in &mut vus {
        assert!(waits(&begin(vu, 0)));
    }
    for (at, vu) in vus.iter_mut().enumerate().rev() {
        let told = returned(answer(vu, 200));
        assert_eq!(told, format!("[\"answered\",\"job of {}\"]", at + 1));
    }
}

#[test]
fn a_vu_that_goes_takes_nothing_with_it() {
    let main = "import http from 'k6/http';
        const cycles = [];
        export default function () {
            for (let i = 0; i < 2000; i++) { const a = {}; a.self = a; cycles[i % 10] = a }
            http.get('http://h/');
            return cycles.length;
        }";
    let mut vus = vus(main, "", 6);
    for vu in &mut vus {
        assert!(waits(&begin(vu, 0)));
    }
    // The second and the fourth go while they wait.
    vus.remove(3);
    vus.remove(1);
    for vu in &mut vus {
        assert_eq!(returned(answer(vu, 200)), "10");
        assert!(waits(&begin(vu, 1)));
        assert_eq!(returned(answer(vu, 200)), "10");
    }
}

/// One that takes all the memory it can get fails; the others go on.
#[test]
fn memory_is_refused_to_the_greedy_one() {
    let main = "export default function () {
            if (__VU !== 1) return 'fine';
            const all = [];
            for (;;) all.push(new ArrayBuffer(64 << 20));
        }";
    let mut vus = vus(main, "", 2);
    for round in 0..2 {
        let StepResult::Done(Err(exception)) = begin(&mut vus[0], round) else {
            panic!("no limit")
        };
        assert!(exception.text.contains("out of memory"), "{}", exception.text);
        assert_eq!(returned(begin(&mut vus[1], round)), "\"fine\"");
    }
}

/// The environment is made once; what a VU makes of its own is its own.
#[test]
fn the_environment_is_a_vus_own() {
    let main = "const mine = __ENV;
        if (__VU === 2) { mine.A = 'changed'; mine.C = 'new'; delete mine.B }
        if (__VU === 3) { Object.defineProperty(mine, 'A', { get: () => 'got' }); Object.freeze(mine) }
        if (__VU === 4) globalThis.__ENV = { A: 'other' };
        export default function () {
            return JSON.stringify([mine, { ...__ENV }, Object.keys(__ENV), 'B' in __ENV, mine === __ENV]);
        }";
    let env = [("A", "x"), ("B", "b"), ("A", "a")];
    let env = Arc::new(env.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec());
    let program = Program::compile(
        "/main.js",
        env,
        Rc::new(Sources(main, "")),
        Rc::new(World) as Rc<dyn Host>,
    );
    let realm = Realm::new(&program.unwrap()).unwrap();
    let vu = |number| Vu::new(&realm, Rc::new(World) as Rc<dyn Host>, number).unwrap();
    let plain = r#"[{"A":"a","B":"b"},{"A":"a","B":"b"},["A","B"],true,true]"#;
    let expect = [
        plain,
        r#"[{"A":"changed","C":"new"},{"A":"changed","C":"new"},["A","C"],false,true]"#,
        r#"[{"A":"got","B":"b"},{"A":"got","B":"b"},["A","B"],true,true]"#,
        r#"[{"A":"a","B":"b"},{"A":"other"},["A"],false,false]"#,
        plain,
    ];
    let mut vus: Vec<Vu> = (1..=5).map(vu).collect();
    for round in 0..2 {
        for (vu, expect) in vus.iter_mut().zip(expect) {
            let said = returned(begin(vu, round));
            assert_eq!(serde_json::from_str::<String>(&said).unwrap(), expect);
        }
    }
}

/// As seed 001's chat.js does: its modules run once without a VU, and once for each VU.
#[test]
fn modules_may_ask_whose_they_are() {
    let main = "const user = `100${__VU}`; export default () => user";
    for (vu, user) in vus(main, "export const x = 1", 2).iter_mut().zip(["1001", "1002"]) {
        assert_eq!(returned(begin(vu, 0)), format!("{user:?}"));
    }
}

/// A VU whose modules fail hands others what refers to them: a namespace of which a part was never read, and a promise that its
/// module waits for. The records of its modules are gone by the time the others look.
#[test]
fn modules_of_a_vu_that_is_gone_may_be_reached() {
    let lib = "export * as sub from './b.js'; export const x = 1;";
    let leaks = "import * as ns from './a.js';
        if (__VU === 2) { Array.prototype.leak = ns; throw new Error('fails') }
        export default function () {
            const all = [];
            for (let i = 0; i < 1000; i++) all.push({ i, text: 'x'.repeat(i) });
            try { return Object.keys([].leak.sub) } catch (error) { return error.message }
        }";
    let waits = "import './a.js';
        if (__VU === 2) { await new Promise((done) => { Array.prototype.done = done }); globalThis.ran = true }
        export default async function () {
            [].done();
            for (let i = 0; i < 10; i++) await null;
            return String(globalThis.ran);
        }";
    for (main, expect) in
        [(leaks, "\"the virtual user of this module has ended\""), (waits, "\"true\"")]
    {
        let program = Program::compile(
            "/main.js",
            Arc::default(),
            Rc::new(Sources(main, lib)),
            Rc::new(World) as Rc<dyn Host>,
        );
        let realm = Realm::new(&program.unwrap()).unwrap();
        let vu = |number| Vu::new(&realm, Rc::new(World) as Rc<dyn Host>, number);
        let mut first = vu(1).unwrap();
        for round in 0..3 {
            vu(2).expect_err("its modules fail");
            assert_eq!(returned(begin(&mut first, round)), expect);
        }
    }
}
