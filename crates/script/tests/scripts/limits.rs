//! What scripts cannot do to the worker they run on: run off the end of their stack in code of ours, keep it busy in one call, or
//! end the process by how they are written.

#![expect(clippy::unwrap_used, reason = "a test says by a panic that it failed")]
#![allow(clippy::disallowed_methods, reason = "the clock ends what these scripts do")]

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use script::{
    Action, ActionResult, Call, CompileError, Files, Host, HttpResponse, Level, Program, Realm,
    Stage, StepResult, VirtualUser as _, Vu,
};
use stdx::Nanos;

/// A world that drops all output.
#[derive(Default)]
struct World {
    /// How often a script may be asked whether it is to end before it is; 0 for ever.
    patience: Cell<u64>,
    /// When it is to end.
    deadline: Cell<Option<Instant>>,
}

impl Host for World {
    fn now(&self) -> Nanos {
        Nanos::ZERO
    }
    fn log(&self, _level: Level, _text: &str) {}
    fn interrupts(&self) -> bool {
        if self.deadline.get().is_some_and(|deadline| Instant::now() >= deadline) {
            return true;
        }
        let left = self.patience.get();
        self.patience.set(left.saturating_sub(1));
        left == 1
    }
}

/// One file.
struct Source(String);

impl Files for Source {
    fn read(&self, _name: &str) -> Result<Vec<u8>, String> {
        Ok(self.0.clone().into_bytes())
    }
}

fn compiled(name: &str, text: impl Into<String>) -> Result<Program, CompileError> {
    let host = Rc::<World>::default() as Rc<dyn Host>;
    Program::compile(name, Arc::default(), Rc::new(Source(text.into())), host)
}

fn vu(world: &Rc<World>, text: impl Into<String>) -> Vu {
    let program = compiled("/main.js", text).unwrap();
    Vu::new(&Realm::new(&program).unwrap(), Rc::clone(world) as Rc<dyn Host>, 1).unwrap()
}

/// Calls the default function and answers its requests with a document of JSON.
fn run(vu: &mut Vu) -> StepResult {
    let call = Call { stage: Stage::Setup, function: "default".into(), iteration: 0, data: None };
    let mut turn = vu.call(call);
    while matches!(turn, StepResult::Waits { .. }) {
        let mut asked: Vec<Action> = Vec::new();
        let _memory = vu.take_actions(&mut asked);
        let body = Some(br#"{"a":[{"b":1},{"b":2}]}"#.to_vec());
        let Action::Http(ticket, ask) = asked.remove(0) else { panic!("it asks for a request") };
        let answer =
            HttpResponse { status: 200, body, asked: Some(ask), ..HttpResponse::default() };
        turn = vu.answer(ticket, ActionResult::Http(Box::new(answer))).unwrap();
    }
    turn
}

fn returned(turn: StepResult) -> String {
    match turn {
        StepResult::Done(Ok(value)) => value.unwrap_or_default(),
        other => panic!("{other:?}"),
    }
}

/// What is ours is called from every depth of the script's stack, to the very end of it.
#[test]
fn native_work_has_room_at_any_depth() {
    let natives = [
        "http.post('http://h/', text, { compression: 'zstd' })",
        "http.post('http://h/', text, { compression: 'gzip' })",
        "http.post('http://h/', text, { compression: 'deflate, br' })",
        "parseHTML('<p>').find(':not('.repeat(30) + 'a' + ')'.repeat(30))",
        "parseHTML('<p>').find(':not('.repeat(100) + 'a' + ')'.repeat(100))",
        "parseHTML('<div><p>'.repeat(300)).find('div p').text()",
        "parseHTML('<table><tr><td>'.repeat(100)).html()",
        "page.json('a.#(b==1)#.b'); page.json('{a,a.#.b,a.#(b>1)#|@reverse|@flatten}')",
        "page.html('p').is('p:contains(x)')",
        "crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-521' }, true, ['sign', 'verify']).catch(() => {})",
        "crypto.subtle.digest('SHA-512', new Uint8Array(10000)).catch(() => {})",
        "k6crypto.hmac('sha512', 'key', text, 'hex')",
        "console.log(page, { text }, [[[[text]]]])",
        "crypto.subtle.importKey('raw', new Uint8Array(16), 'PBKDF2', false, ['deriveBits']).then((key) => \
            crypto.subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-512', salt: new Uint8Array(8), iterations: 3 }, key, 2048)).catch(() => {})",
    ];
    for native in natives {
        let text = format!(
            "import http from 'k6/http'; import {{ parseHTML }} from 'k6/html'; import k6crypto from 'k6/crypto';
            const text = 'some text '.repeat(3000);
            let page;
            const native = () => {{ {native} }};
            const deep = (k) => (k <= 0 ? (native(), 0) : deep(k - 1) + 1);
            export default async function () {{
                page = http.get('http://h/');
                let depth = 0;
                try {{ for (;; depth += 9) deep(depth) }} catch (error) {{
                    if (!/call stack/.test(error.message)) throw error;
                }}
                return depth;
            }}"
        );
        let depth: usize = returned(run(&mut vu(&Rc::default(), text))).parse().unwrap();
        assert!(depth > 100, "{native}: it ended at {depth}");
    }
}

/// A single call that would last for hours ends when the script is to end.
#[test]
fn no_call_outlasts_its_iteration() {
    let array = |call: &str| format!("Array.prototype.{call}");
    let calls = [
        array("reverse.call({ length: 2 ** 53 - 1 })"),
        array("copyWithin.call({ length: 2 ** 53 - 1 }, 0, 1)"),
        array("unshift.call({ length: 2 ** 52 }, 1)"),
        array("splice.call({ length: 2 ** 52 }, 0, 1, 2, 3)"),
        array("sort.call({ length: 2 ** 32 - 1 })"),
        array("join.call({ length: 2 ** 53 - 1 }, '')"),
        array("slice.call({ length: 2 ** 32 - 1 })"),
        array("flat.call({ length: 2 ** 53 - 1 })"),
        array("concat.call([], { length: 2 ** 53 - 1, [Symbol.isConcatSpreadable]: true })"),
        array("shift.call({ length: 2 ** 53 - 1 })"),
        array("fill.call({ length: 2 ** 53 - 1 }, 1)"),
        array("fill.call({ length: 2 ** 53 - 1 }, 1, 2 ** 52)"),
        array("sort.call(Object.assign([2, 1], { length: 2 ** 32 - 1 }))"),
        "JSON.stringify({}, Object.assign([], { length: 2 ** 32 - 1 }))".to_owned(),
        "String.raw({ raw: { length: 2 ** 53 - 1 } })".to_owned(),
        "Array.from.call(Object, { length: 2 ** 53 - 1 })".to_owned(),
        "await crypto.subtle.deriveBits({ ...pbkdf2, iterations: 2 ** 32 - 1 }, await key(), 160)"
            .to_owned(),
        "await crypto.subtle.deriveBits({ ...pbkdf2, iterations: 1e6 }, await key(), 8 * 2 ** 20)"
            .to_owned(),
        "parseHTML('<p>x'.repeat(1e6))".to_owned(),
        "parseHTML('<p>x'.repeat(20000)).find('p:contains(y)')".to_owned(),
        "parseHTML('<p>x'.repeat(20000)).find('p').is('p:contains(y)')".to_owned(),
        "parseHTML('<p>x'.repeat(20000)).find('p').text()".to_owned(),
    ];
    for call in calls {
        let text = format!(
            "import {{ parseHTML }} from 'k6/html';
            const pbkdf2 = {{ name: 'PBKDF2', hash: 'SHA-1', salt: new Uint8Array(8) }};
            const key = () => crypto.subtle.importKey('raw', new Uint8Array(16), 'PBKDF2', false, ['deriveBits']);
            export default async function () {{ try {{ {call} }} catch {{ }} for (;;); }}"
        );
        let world = Rc::<World>::default();
        let mut vu = vu(&world, text);
        world.patience.set(60);
        assert_eq!(run(&mut vu), StepResult::Cut, "{call}");
    }
}

/// Calls that take long each, in a loop of few steps: it is looked for an interrupt after each.
#[test]
fn no_loop_of_long_calls_outlasts_its_iteration() {
    for call in [
        "JSON.parse(long)",
        "http.post('http://127.0.0.1:1/', long, { compression: 'gzip' })",
        "console.log(long)",
    ] {
        let text = format!(
            "import http from 'k6/http';
            const long = JSON.stringify(Array.from({{ length: 50000 }}, (_, at) => ({{ at }})));
            let calls = 0;
            export default function () {{ while (calls < 200) {{ calls += 1; try {{ {call} }} catch {{ }} }} return 'ended'; }}"
        );
        let world = Rc::<World>::default();
        let mut vu = vu(&world, text);
        world.patience.set(60);
        assert_eq!(run(&mut vu), StepResult::Cut, "{call}");
    }
}

/// Calls that take long each, by the clock: of what is `C`, `I` is the number of the turn, `text` has 300,000 characters,
/// `list` and `table` have 30,000 values.
const LONG_CALLS: [&str; 62] = [
    "k6crypto.sha512(text, 'hex')",
    "k6crypto.md5(text, 'hex')",
    "k6crypto.hmac('sha256', 'key', text, 'base64')",
    "encoding.b64encode(text)",
    "encoding.b64decode(text)",
    "check(1, { [text + I]: true })",
    "group(text + I, () => 1)",
    "trend.add(1, { tag: text })",
    "text.split('')",
    "text.split('y')",
    "text.toUpperCase()",
    "text.toLowerCase()",
    "text.replaceAll('x', 'yy')",
    "text.replace(/x/g, 'yy')",
    "text.match(/x/g)",
    "[...text.matchAll(/xx/g)]",
    "/y$/.test(text)",
    "text.search(/(x+)y/)",
    "text.split(/x/)",
    "text.indexOf('xxy')",
    "text.lastIndexOf('yxx')",
    "text.includes('xxy')",
    "text.normalize('NFD')",
    "text.localeCompare(text + 'y')",
    "text.padStart(1e6 + I)",
    "(text + I) === (text + I + '!')",
    "(text + I) < (text + I)",
    "[...text]",
    "Array.from(text)",
    "encodeURIComponent(text)",
    "decodeURIComponent(text)",
    "escape(text)",
    "JSON.stringify(text + I)",
    "JSON.stringify(list)",
    "JSON.stringify(table)",
    "JSON.parse(json)",
    "JSON.parse(json, (_, value) => value)",
    "Object.keys(table)",
    "Object.entries(table)",
    "Object.assign({}, table)",
    "({ ...table })",
    "Object.fromEntries(list.map((k) => [k, k]))",
    "new Map(list.map((k) => [k, k]))",
    "new Set(list)",
    "Array.from({ length: 200000 })",
    "list.slice().sort()",
    "list.concat(list)",
    "list.join()",
    "list.indexOf(-1)",
    "list.includes(-1)",
    "new Uint8Array(list)",
    "new Uint8Array(5e6).indexOf(1)",
    "new Float64Array(list).sort()",
    "new Function('return `' + text + I + '`')",
    "new Function('return [' + list + ']')",
    "new RegExp(text + I)",
    "BigInt('9'.repeat(5000)) * BigInt('9'.repeat(5000))",
    "(7n ** 20000n).toString()",
    "parseFloat('1' + text)",
    "parseHTML(page).find('p').text()",
    "new Error(text + I).stack",
    "Math.max(...list.slice(0, 20000))",
];

/// Loops of native calls have few steps: what ends them is the clock. Of each kind the loop ends a moment after its time.
#[test]
fn issue_42_loops_of_native_calls_end_by_the_clock() {
    let (end, ended) = sync_channel::<()>(0);
    let clock = std::thread::spawn(move || {
        while ended.recv_timeout(Duration::from_millis(5)) == Err(RecvTimeoutError::Timeout) {
            script::look_everywhere();
        }
    });
    let mut slow = Vec::new();
    for call in LONG_CALLS {
        let world = Rc::<World>::default();
        let mut vu = vu(&world, loop_of(call));
        let began = Instant::now();
        world.deadline.set(Some(began + Duration::from_millis(20)));
        assert_eq!(run(&mut vu), StepResult::Cut, "{call}");
        if began.elapsed() > Duration::from_secs(5) {
            slow.push((call, began.elapsed()));
        }
    }
    drop(end);
    clock.join().unwrap();
    assert_eq!(slow, []);
}

fn loop_of(call: &str) -> String {
    let call = call.replace('I', "turn");
    let data = [
        ("text", "'x'.repeat(3e5)"),
        ("list", "Array.from({ length: 3e4 }, (_, at) => at)"),
        ("table", "Object.fromEntries(Array.from({ length: 3e4 }, (_, at) => ['k' + at, at]))"),
        ("json", "JSON.stringify(Array.from({ length: 3e4 }, (_, at) => ({ at })))"),
        ("page", "'<p>x'.repeat(5000)"),
    ];
    let used = data.iter().filter(|(name, _)| call.contains(name));
    let data: String = used.map(|(name, value)| format!("const {name} = {value};")).collect();
    format!(
        "import k6crypto from 'k6/crypto'; import encoding from 'k6/encoding'; import {{ parseHTML }} from 'k6/html';
        import {{ check, group }} from 'k6'; import {{ Trend }} from 'k6/metrics';
        const trend = new Trend('trend'); {data}
        export default function () {{ for (let turn = 0; ; turn += 1) try {{ {call} }} catch {{ }} }}"
    )
}

/// A single call that would last for hours looks in its midst.
#[test]
fn issue_42_searches_end_by_the_clock() {
    for call in [
        "text.indexOf(half)",
        "text.lastIndexOf('y' + half)",
        "text.includes(half)",
        "text.split(half)",
        "text.replaceAll(half, '')",
        "text.replace(half, '')",
        "JSON.stringify(doubled)",
        "text.match(/x*x*x*x*y/)",
    ] {
        let text = format!(
            "const text = 'x'.repeat(3e6); const half = 'x'.repeat(15e3) + 'y';
            let doubled = [1]; for (let at = 0; at < 26; at += 1) doubled = [doubled, doubled];
            export default function () {{ {call}; return 'ended' }}"
        );
        let world = Rc::<World>::default();
        let mut vu = vu(&world, text);
        world.patience.set(3);
        assert_eq!(run(&mut vu), StepResult::Cut, "{call}");
    }
}

/// The marks of a letter were sorted in the square of their number, and nothing looked meanwhile.
#[test]
fn issue_42_marks_of_a_letter_take_no_more_than_their_number() {
    let text = "export default function () {
        const marks = '\\u0301\\u0316'.repeat(2e5);
        return ('a' + marks).normalize('NFD').length + ' ' + 'q\\u0307\\u0323'.normalize('NFC').charCodeAt(1);
    }";
    assert_eq!(returned(run(&mut vu(&Rc::default(), text))), "\"400001 803\"");
}

#[test]
fn what_takes_too_much_is_refused() {
    let text = "import { parseHTML } from 'k6/html';
        const key = () => crypto.subtle.importKey('raw', new Uint8Array(16), 'PBKDF2', false, ['deriveBits']);
        const bits = async (bits) => crypto.subtle.deriveBits(
            { name: 'PBKDF2', hash: 'SHA-1', salt: new Uint8Array(8), iterations: 1 }, await key(), bits);
        const pair = (exponent) => crypto.subtle.generateKey({ name: 'RSA-OAEP', hash: 'SHA-1', modulusLength: 2048,
            publicExponent: new Uint8Array(exponent) }, true, ['encrypt', 'decrypt']);
        export default async function () {
            const said = [];
            for (const make of [() => bits(8 * 2 ** 40), () => bits(8 * 2 ** 20 + 8), () => pair([2]), () => pair([])]) {
                try { await make(); said.push('made') } catch (error) { said.push(error.name + ': ' + error.message) }
            }
            return said;
        }";
    let long = "\"OperationError: at most 8388608 bits can be derived at once\"";
    let even = "\"OperationError: the public exponent is odd, and of 33 bits at most\"";
    let said = returned(run(&mut vu(&Rc::default(), text)));
    assert_eq!(said, format!("[{long},{long},{even},{even}]"));
}

/// What nests: what is repeated before and after, and what stands in the midst.
const SHAPES: [(&str, &str, &str, &str); 14] = [
    ("main.js", "(", "1", ")"),
    ("main.js", "[", "1", "]"),
    ("main.js", "a?a:", "1", ""),
    ("main.js", "!", "1", ""),
    ("main.js", "{", "", "}"),
    ("main.js", "if(1)", ";", ""),
    ("main.js", "`${", "1", "}`"),
    ("main.js", "a=>", "1", ""),
    ("main.js", "function f(){", "", "}"),
    ("main.js", "{a:", "1", "}"),
    ("main.ts", "(", "1", ")"),
    ("main.ts", "!", "1", ""),
    ("main.ts", "function f(){", "", "}"),
    ("main.ts", "Array<", "string", ">"),
];

fn nested((name, open, inner, close): (&str, &str, &str, &str), depth: usize) -> String {
    let before = match (name, open) {
        (_, "{" | "if(1)" | "function f(){") => "let a;",
        ("main.ts", "Array<") => "let a: ",
        (_, "{a:") => "let a; a =",
        _ => "let a; a = ",
    };
    format!(
        "\n{before}{}{inner}{};\nexport default () => 1",
        open.repeat(depth),
        close.repeat(depth)
    )
}

#[test]
fn deep_nesting_is_an_error_at_most() {
    for shape in SHAPES {
        for depth in [300, 20_000, 1_000_000] {
            let (name, open, ..) = shape;
            let made = compiled(&format!("/{name}"), nested(shape, depth));
            let Err(CompileError::Thrown(exception)) = made else {
                assert!(made.is_ok() && depth < 1_000_000, "{name} {open} {depth}: {made:?}");
                continue;
            };
            assert!(depth > 300, "{name} {open}: {exception}");
            assert!(
                exception.text.contains("nested too deep"),
                "{name} {open} {depth}: {exception}"
            );
            let place = format!("{name}:2:");
            assert!(exception.stack.contains(&place), "{name} {open} {depth}: {exception:?}");
        }
    }
}

/// As many as k6 takes.
#[test]
fn a_hundred_thousand_brackets_are_run() {
    for name in ["main.js", "main.ts"] {
        let text = nested((name, "(", "1", ")"), 100_000);
        let program = compiled(&format!("/{name}"), text).unwrap();
        let world = Rc::<World>::default() as Rc<dyn Host>;
        let mut vu = Vu::new(&Realm::new(&program).unwrap(), world, 1).unwrap();
        assert_eq!(returned(run(&mut vu)), "1");
    }
}
