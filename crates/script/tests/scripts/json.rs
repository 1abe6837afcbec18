//! `JSON.parse`: what the quick parser makes of a text is what QuickJS's own makes of it, which a call with a reviver is left to.

#![expect(clippy::unwrap_used, reason = "a test says by a panic that it failed")]

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use script::{Call, Files, Host, Level, Program, Realm, Stage, StepResult, VirtualUser as _, Vu};
use stdx::Nanos;

/// A world where no time passes, which remembers its log.
#[derive(Default)]
struct World(RefCell<Vec<String>>);

impl Host for World {
    fn now(&self) -> Nanos {
        Nanos::ZERO
    }
    fn log(&self, _level: Level, text: &str) {
        self.0.borrow_mut().push(text.to_owned());
    }
}

struct OneFile(HashMap<&'static str, String>);

impl Files for OneFile {
    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        self.0.get(name).map(|text| text.clone().into_bytes()).ok_or_else(|| "no file".to_owned())
    }
}

/// The log of a script that runs once.
fn ran(script: &str) -> Vec<String> {
    let world = Rc::new(World::default());
    let host = || Rc::clone(&world) as Rc<dyn Host>;
    let text = format!("{TOOLS}\nexport default function () {{ {script} }}");
    let files = Rc::new(OneFile(HashMap::from([("/main.js", text)]))) as Rc<dyn Files>;
    let program = Program::compile_with("/main.js", Arc::default(), files, host(), None).unwrap();
    let realm = Realm::new(&program).unwrap();
    let mut vu = Vu::new(&realm, host(), 1).unwrap();
    let call =
        Call { stage: Stage::Iteration, function: "default".into(), iteration: 0, data: None };
    match vu.call(call) {
        StepResult::Done(Ok(_)) => {}
        StepResult::Done(Err(exception)) => world.log(Level::Error, &exception.to_string()),
        other => panic!("a script waits: {other:?}"),
    }
    world.0.take()
}

/// `agree(text)` throws where the two parsers differ, by the numbers' signs, the order of keys or the errors' words.
const TOOLS: &str = r#"
function same(a, b) {
    if (typeof a !== "object" || a === null || b === null) return Object.is(a, b);
    if (Array.isArray(a) !== Array.isArray(b)) return false;
    if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
    const [x, y] = [Reflect.ownKeys(a), Reflect.ownKeys(b)];
    const flags = (o, k) => { const d = Object.getOwnPropertyDescriptor(o, k); return [d.writable, d.enumerable, d.configurable].join(); };
    return x.length === y.length
        && x.every((k, i) => k === y[i] && flags(a, k) === flags(b, k) && same(a[k], b[k]));
}
function outcome(parse) {
    try { return { value: parse() }; } catch (error) { return { error: error.name + ": " + error.message }; }
}
function agree(text) {
    const [quick, own] = [outcome(() => JSON.parse(text)), outcome(() => JSON.parse(text, (_, v) => v))];
    if (!same(quick, own)) throw new Error("differ on " + text + ": " + JSON.stringify([quick, own]));
    return "value" in quick;
}
let state = 7;
function random(n) { state = (Math.imul(state, 1103515245) + 12345) >>> 0; return (state >>> 8) % n; }
function pick(list) { return list[random(list.length)]; }
"#;

const GOOD: &[&str] = &[
    r#"0"#,
    "-0",
    "-0.0",
    "1",
    "-1",
    "2147483647",
    "2147483648",
    "-2147483648",
    "999999999",
    "1234567890123456789",
    "0.1",
    "1.5e3",
    "1E-7",
    "123456789012345e22",
    "1e400",
    "-1e-400",
    "0.30000000000000004",
    "9007199254740993",
    "4.35",
    "2.2250738585072011e-308",
    "1e23",
    "12345678901234567890123456789012345678901234567890.5e-20",
    "0e0",
    r#""""#,
    r#""a""#,
    r#""aäö€😀""#,
    r#""\u0041\ud83d\ude00\ud800\n\/\"""#,
    r#""0123456789abcdef0""#,
    "[]",
    " [ ] ",
    "{}",
    "{ }\n",
    "[1,2,[3,[4]],{}]",
    "[[],[[]],[{}]]",
    "true",
    "false",
    "null",
    r#"{"a":1,"a":2}"#,
    r#"[{"a":"x","a":"x","b":"x"},{"a":"x","b":"x","a":"x"}]"#,
    r#"{"__proto__":1,"b":{"__proto__":null}}"#,
    r#"{"1":1,"b":2,"0":3}"#,
    r#"[{"a":1,"b":2},{"a":1,"b":2},{"a":1},{"a":1,"b":2,"c":3},{"b":1,"a":2},{}]"#,
    r#"[{"a":{"x":1,"y":[{"z":1}]}},{"a":{"x":2,"y":[{"z":2},{"z":3,"w":4}]}},{"a":[1]},{"a":{"x":1}}]"#,
    r#"[{"1":1,"2":2},{"1":1,"2":2}]"#,
    r#"[{"ä":1},{"ä":2},{"\u00e4":3}]"#,
    r#"[{"a\"b":1},{"a\"b":2}]"#,
    "\t\r\n[1 , 2\n]\t",
    r#"["\u2028"]"#,
    "[\"\u{2028}\"]",
];
const BAD: &[&str] = &[
    "",
    " ",
    "01",
    "-",
    "+1",
    ".5",
    "1.",
    "1e",
    "1e+",
    "-a",
    "tru",
    "nul",
    "truex",
    "NaN",
    "Infinity",
    "[1,]",
    "[,]",
    "[1 2]",
    "[",
    "]",
    "{",
    "}",
    "{a:1}",
    r#"{"a"}"#,
    r#"{"a":}"#,
    r#"{"a":1,}"#,
    r#"{,}"#,
    r#"{"a":1 "b":2}"#,
    r#"[{"a":1},{"a":1,}]"#,
    r#"[{"a":1},{"a" 1}]"#,
    r#"[{"a":1},{a"b":1}]"#,
    r#"""#,
    r#""\x""#,
    r#""\u12""#,
    "\"\n\"",
    "\"\u{0}\"",
    "1 2",
    "[] []",
    "'a'",
    "/**/1",
    "\u{feff}1",
    "0x10",
    "1_000",
];

#[test]
fn what_is_json_and_what_is_not() {
    for (texts, expect) in [(GOOD, true), (BAD, false)] {
        for text in texts {
            let text = serde_json::to_string(text).unwrap();
            assert_eq!(ran(&format!("console.log(agree({text}))")), [expect.to_string()], "{text}");
        }
    }
}

#[test]
fn thousands_of_texts_whole_and_damaged() {
    let log = ran(r#"
        const KEYS = ["a", "b", "id", "name", "0", "17", "__proto__", "tags", "a b", "ä", "x\"y", "length", "constructor"];
        const TEXTS = ["", "a", "b", "item", "0123456789abcdef", "a text that is longer than sixteen", "ä€😀", "q\"\\\n"];
        const NUMBERS = ["0", "-0", "7", "-12", "3.25", "1e5", "0.1", "123456789012", "1.7976931348623157e308"];
        const space = () => pick(["", "", "", " ", "\n\t"]);
        let like = null;
        function text(depth) {
            const kind = random(depth > 3 ? 5 : 9);
            if (kind < 2) return pick(NUMBERS);
            if (kind < 4) return JSON.stringify(pick(TEXTS));
            if (kind < 5) return pick(["true", "false", "null"]);
            if (kind < 7) return "[" + space() + Array.from({ length: random(6) }, () => text(depth + 1) + space()).join("," + space()) + "]";
            // Mostly the keys of the one before.
            if (!like || random(4) === 0) like = Array.from({ length: random(5) }, () => pick(KEYS));
            const keys = random(5) === 0 ? like.slice(0, random(like.length + 1)) : like;
            return "{" + space() + keys.map((k) => JSON.stringify(k) + space() + ":" + space() + text(depth + 1)).join(space() + "," + space()) + space() + "}";
        }
        function damaged(whole) {
            const at = random(whole.length + 1);
            const put = pick(["", "", "\"", ",", ":", "}", "]", "{", "[", "x", "\\", "\u0001", "0", " ", "-", "ä"]);
            return whole.slice(0, at) + put + whole.slice(at + random(2));
        }
        let good = 0, bad = 0;
        for (let i = 0; i < 6000; i++) {
            const whole = text(0);
            if (agree(whole)) good++;
            if (!agree(damaged(whole))) bad++;
        }
        console.log(good === 6000 && bad > 1500 ? "ok" : `${good} ${bad}`);
    "#);
    assert_eq!(log, ["ok"]);
}

/// The shape that was taken over from another object is not shared with it.
#[test]
fn objects_that_were_made_alike_change_alone() {
    let log = ran(r#"
        const list = JSON.parse('[{"a":1,"b":"x"},{"a":2,"b":"x"},{"a":3,"b":"x"}]');
        list[0].c = 1; delete list[1].a; list[2].b = "y"; Object.freeze(list[0]);
        console.log(JSON.stringify(list), Object.isFrozen(list[1]));
        const again = JSON.parse('[{"a":1,"b":"x"},{"a":2,"b":"x"}]');
        again.push(4); again[1].a = again;
        console.log(again.length, again[1].a === again, again[0].b === list[1].b);
    "#);
    let expect = [r#"[{"a":1,"b":"x","c":1},{"b":"x"},{"a":3,"b":"y"}] false"#, "3 true true"];
    assert_eq!(log, expect);
}

/// A text nested deeper than the stack is an error, and one that is too big for the memory allowed is one too.
#[test]
fn what_cannot_be_held_is_an_exception() {
    let log = ran(r#"
        for (const n of [100, 100000]) {
            const got = outcome(() => JSON.parse("[".repeat(n) + "]".repeat(n)));
            console.log(n, got.error ?? "parsed");
        }
    "#);
    assert_eq!(log[0], "100 parsed");
    assert!(log[1].contains("stack overflow") || log[1].contains("call stack"), "{log:?}");
}
