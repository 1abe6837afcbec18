//! What scripts are written in and what they import: modules of all kinds, TypeScript, files, the built-in modules without
//! requests.

#![expect(clippy::unwrap_used, reason = "a test says by a panic that it failed")]

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use script::{
    Call, CompileError, Files, Host, Level, Program, Realm, Secrets, Stage, StepResult,
    VirtualUser as _, Vu,
};
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

/// Files by name, and how often each was read.
#[derive(Default)]
struct Sources {
    texts: HashMap<String, String>,
    reads: RefCell<Vec<String>>,
}

impl Files for Sources {
    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        self.reads.borrow_mut().push(name.to_owned());
        let text = self.texts.get(name).ok_or_else(|| "no such file".to_owned())?;
        Ok(text.clone().into_bytes())
    }
}

struct One;

impl Secrets for One {
    fn get(&self, source: Option<&str>, key: &str) -> Result<String, String> {
        Ok(format!("{}/{key}", source.unwrap_or("default")))
    }
    fn has_source(&self, name: &str) -> bool {
        name == "one"
    }
}

fn sources(files: &[(&str, &str)]) -> Rc<Sources> {
    let texts = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    Rc::new(Sources { texts: texts.collect(), reads: RefCell::default() })
}

fn compiled(world: &Rc<World>, files: &Rc<Sources>, main: &str) -> Result<Program, CompileError> {
    let host = Rc::clone(world) as Rc<dyn Host>;
    let files = Rc::clone(files) as Rc<dyn Files>;
    Program::compile_with(main, Arc::default(), files, host, Some(Arc::new(One)))
}

/// The log of two VUs that run a script once each, the first run of its modules included; what was thrown is a line.
pub(crate) fn ran(files: &[(&str, &str)]) -> Vec<String> {
    let (world, sources) = (Rc::new(World::default()), sources(files));
    let program = compiled(&world, &sources, files[0].0).unwrap();
    let realm = Realm::new(&program).unwrap();
    world.0.take();
    for number in 1..=2 {
        let mut vu = Vu::new(&realm, Rc::clone(&world) as Rc<dyn Host>, number).unwrap();
        let call =
            Call { stage: Stage::Iteration, function: "default".into(), iteration: 0, data: None };
        match vu.call(call) {
            StepResult::Done(Ok(_)) => {}
            StepResult::Done(Err(exception)) => world.log(Level::Error, &exception.to_string()),
            other => panic!("a script waits: {other:?}"),
        }
    }
    world.0.take()
}

/// The log of an iteration of one file, which both VUs wrote alike.
fn log_of(text: &str) -> String {
    let lines = ran(&[("/main.js", text)]);
    let (first, second) = lines.split_at(lines.len() / 2);
    assert_eq!(first, second, "{text}");
    first.join("\n")
}

/// What a body logs.
fn logged(body: &str) -> String {
    log_of(&format!("export default async function () {{ {body} }}"))
}

/// What is logged while a script is run for the first time, or why it cannot be.
pub(crate) fn first_run(files: &[(&str, &str)]) -> Result<Vec<String>, String> {
    let world = Rc::new(World::default());
    let program = compiled(&world, &sources(files), files[0].0);
    program.map(|_| world.0.take()).map_err(|error| error.to_string())
}

/// Why a script cannot be compiled.
fn refused(files: &[(&str, &str)]) -> String {
    let world = Rc::new(World::default());
    compiled(&world, &sources(files), files[0].0).unwrap_err().to_string()
}

#[test]
fn modules_of_both_kinds_import_each_other() {
    let lines = ran(&[
        (
            "/main.js",
            "import whole, { add } from './lib/a.js'; import * as all from './lib/a.js'; import { up } from './lib/esm.mjs';
            import { Kind, area } from './shapes.ts';
            export default function () { console.log(whole.name, add(1, 2), Object.keys(all), up, Kind.Circle, area(3)) }",
        ),
        (
            "/lib/a.js",
            "const b = require('./b.js'); const { up } = require('./esm.mjs'); const { check } = require('k6');
            exports.name = b.name + up + typeof check; exports.add = (x, y) => x + y;",
        ),
        ("/lib/b.js", "exports.name = 'b'; exports.early = require('./a.js').name;"),
        ("/lib/esm.mjs", "export const up = '^';"),
        (
            "/shapes.ts",
            "export enum Kind { Square, Circle } export function area(r: number): number { return r * r }",
        ),
    ]);
    assert_eq!(lines, [r#"b^function 3 [ "add", "default", "name" ] ^ 1 9"#; 2]);
}

#[test]
fn a_commonjs_script_is_a_script() {
    let source = "const state = { n: 0 }; module.exports.default = () => { state.n += 1; console.log(state.n, this === undefined) };
        exports.options = { vus: 2 };";
    let (world, sources) = (Rc::new(World::default()), sources(&[("/main.js", source)]));
    let program = compiled(&world, &sources, "/main.js").unwrap();
    assert_eq!(program.options.as_deref(), Some(r#"{"vus":2}"#));
    assert_eq!(program.functions, ["default"]);
    // Each VU has its own instance.
    assert_eq!(ran(&[("/main.js", source)]), ["1 false", "1 false"]);
}

#[test]
fn files_are_read_once_and_relative_to_who_opens_them() {
    let files = sources(&[
        (
            "/main.js",
            "import { text } from './sub/m.js'; const own = open('./data.txt'); export default () => console.log(text, own, new Uint8Array(open_b)); const open_b = open('/data.txt', 'b');",
        ),
        ("/sub/m.js", "export const text = open('../other.txt');"),
        ("/data.txt", "é"),
        ("/other.txt", "other"),
    ]);
    let world = Rc::new(World::default());
    let program = compiled(&world, &files, "/main.js").unwrap();
    let realm = Realm::new(&program).unwrap();
    let mut reads = files.reads.take();
    for number in 1..=3 {
        let mut vu = Vu::new(&realm, Rc::clone(&world) as Rc<dyn Host>, number).unwrap();
        let call =
            Call { stage: Stage::Iteration, function: "default".into(), iteration: 0, data: None };
        assert_eq!(vu.call(call), StepResult::Done(Ok(None)));
    }
    assert_eq!(world.0.take(), ["other é Uint8Array(2) [ 195, 169 ]"; 3]);
    assert!(files.reads.take().is_empty(), "a VU reads no file");
    reads.sort();
    assert_eq!(reads, ["/data.txt", "/main.js", "/other.txt", "/sub/m.js"]);
}

#[test]
fn errors_have_file_line_and_source() {
    for (files, parts) in [
        (
            &[("/main.js", "let a = 1;\nlet b = ;\n")][..],
            &["SyntaxError", "file:///main.js:2:9", "2 | let b = ;", "|         ^"][..],
        ),
        (&[("/main.ts", "const a: = 1;")], &["SyntaxError", "file:///main.ts:1:10", "1 | const"]),
        (
            &[("/main.js", "\nimport { x } from './gone.js';")],
            &["\"./gone.js\" couldn't be found: /gone.js: no such file", "file:///main.js:2:19"],
        ),
        (
            &[("/main.js", "import { x } from './a.js';"), ("/a.js", "export const y = 1")],
            &["Could not find export 'x'", "file:///main.js:1:19", "1 | import"],
        ),
        (
            &[
                (
                    "/main.js",
                    "import { y, aVeryLongNameOfAnExportThatIsNotThereThoughItIsAskedForByEveryone } from './a/folder/with/a/long/name/and/another/one/in/it/that/goes/on.js';",
                ),
                (
                    "/a/folder/with/a/long/name/and/another/one/in/it/that/goes/on.js",
                    "export const y = 1",
                ),
            ],
            &[
                "Could not find export 'aVeryLongNameOfAnExportThatIsNotThereThoughItIsAskedForByEveryone' in module 'file:///a/folder/with/a/long/name/and/another/one/in/it/that/goes/on.js'",
                "file:///main.js:1:",
            ],
        ),
        (
            &[("/main.js", "import x from 'lodash';")],
            &["\"lodash\" couldn't be recognised", "1:15"],
        ),
        (&[("/main.js", "import x from 'k6/nothing';")], &["unknown module: k6/nothing", "1:15"]),
        (
            &[("/main.js", "import x from 'k6/experimental/timers';")],
            &["k6/experimental/timers has been graduated"],
        ),
        (
            &[("/main.js", "import './a.js';"), ("/a.js", "\n\n  throw new Error('at load');")],
            &["Error: at load", "file:///a.js:3:", "3 |   throw new Error('at load');"],
        ),
        (&[("/main.js", "exports.a = 1; undefinedName()")], &["file:///main.js:1:16"]),
        (&[("/main.js", "open('gone.txt')")], &["/gone.txt: no such file"]),
        (
            // QuickJS has no answer to an ES module that is required while it is run.
            &[
                ("/main.js", "import './c.js'; export const a = 1;"),
                ("/c.js", "require('./e.mjs')"),
                ("/e.mjs", "import { a } from './main.js';"),
            ],
            &["cannot be required here", "file:///c.js:1:"],
        ),
        (&[("/main.js", "await new Promise(() => 1); export default 1")], &[""]),
        (&[("/main.js", "function f() { f() } f()")], &["RangeError", "file:///main.js:1:"]),
    ] {
        let text = refused(files);
        for part in parts {
            assert!(text.contains(part), "{files:?}: {part} is not in {text}");
        }
    }
}

#[test]
fn places_follow_source_maps() {
    let map = r#"{"version":3,"sources":["src/orig.ts"],"sourcesContent":["// first\nthrow new Error(x)"],"mappings":"AAAA;AACA"}"#;
    let main =
        "// a bundle\nthrow new Error('mapped');\nexport {};\n//# sourceMappingURL=main.js.map\n";
    let text = refused(&[("/main.js", main), ("/main.js.map", map)]);
    assert!(text.contains("file:///src/orig.ts:2:1"), "{text}");
    assert!(text.contains("2 | throw new Error(x)"), "{text}");
}

#[test]
fn values_are_logged_as_k6_does() {
    for (value, expect) in [
        ("[1, 'a', null, undefined, [], {}]", r#"[ 1, "a", null, null, [], {} ]"#),
        ("{ a: 1, b: { c: 'x' }, f() {} }", r#"{ a: 1, b: { c: "x" }, f: [object Function] }"#),
        ("new Date(0), new Date(NaN)", r#""1970-01-01T00:00:00.000Z" {}"#),
        (
            "new Uint8Array([1, 255]), new Float64Array()",
            "Uint8Array(2) [ 1, 255 ] Float64Array(0) []",
        ),
        (
            "new Uint8Array([1, 255]).buffer",
            "ArrayBuffer { [Uint8Contents]: <01 ff>, byteLength: 2 }",
        ),
        ("new TypeError('t'), { e: new Error('in') }", "TypeError: t { e: Error: in }"),
        ("Symbol('s'), [Symbol('s')], 10n, -0, NaN", r#"s [ "s" ] 10 0 NaN"#),
        ("new Map([[1, 2]]), new Set([1]), /x/, Promise.resolve()", "{} {} {} {}"),
        ("undefined, null, true, 'a\\nb'", "undefined null true a\nb"),
    ] {
        assert_eq!(logged(&format!("console.log({value})")), expect, "{value}");
    }
    assert_eq!(logged("const o = { l: [] }; o.l.push(o); console.log(o)"), "{ l: [ [Circular] ] }");
}

#[test]
fn shared_arrays_are_arrays_that_cannot_be_changed() {
    let text = "import { SharedArray } from 'k6/data';
        const a = new SharedArray('a', () => [{ n: 1 }, 'x', null]);
        const again = new SharedArray('a', () => { throw new Error('built twice') });
        const tried = (f) => { try { return f() } catch (e) { return e.message } };
        const bad = [() => new SharedArray('', () => []), () => new SharedArray('b'), () => new SharedArray('c', () => 1), () => new SharedArray('d', async () => [])].map(tried);
        export default function () {
            console.log(a.length, a[0].n, a[9], again.length, Array.isArray(a), Object.keys(a), a.map((v) => typeof v), JSON.stringify(a), [...a].length, a);
            console.log([() => { a[0] = 1 }, () => a.push(1), () => { 'use strict'; a[0].n = 2 }, () => delete a[0]].map(tried), a[0].n);
            console.log(bad);
            console.log(tried(() => new SharedArray('late', () => [])));
        }";
    let expect = [
        r#"3 1 undefined 3 true [ "0", "1", "2" ] [ "object", "string", "object" ] [{"n":1},"x",null] 3 [ { n: 1 }, "x", null ]"#,
        r#"[ "SharedArray is immutable", "SharedArray is immutable", "'n' is read-only", "SharedArray is immutable" ] 1"#,
        r#"[ "empty name provided to SharedArray's constructor", "a function is expected as the second argument of SharedArray's constructor", "only arrays can be made into SharedArray", "SharedArray constructor does not support async functions as second argument" ]"#,
        "new SharedArray must be called in the init context",
    ];
    assert_eq!(log_of(text), expect.join("\n"));
}

#[test]
fn hashes_encodings_and_web_globals() {
    let text = "import crypto, { hmac } from 'k6/crypto'; import { b64encode, b64decode } from 'k6/encoding';
        export default function () {
            console.log(crypto.md5('hello', 'hex'), hmac('sha256', 'key', 'data', 'base64rawurl'));
            const h = crypto.createHash('sha1'); h.update('he'); h.update(new Uint8Array([108, 108, 111])); console.log(h.digest('hex'), h.digest('hex') === h.digest('hex'));
            console.log(b64encode('ö?>', 'url'), b64decode('w7Y_Pg==', 'url', 's'), b64decode('YQ', 'rawstd').byteLength);
            try { b64decode('!!!') } catch (e) { console.log(e.message) }
            const u = new URL('../x?a=1&a=2#h', 'https://u:p@h.test:8443/a/b/c'); u.searchParams.append('b', 'c d');
            console.log(u.href, u.searchParams.getAll('a'), u.origin, String(new URLSearchParams({ q: 'a b&c' })));
            console.log(new TextDecoder().decode(new TextEncoder().encode('žluť')), atob(btoa('ab')), structuredClone({ d: new Date(0), m: [1, { n: 2 }] }));
            try { new URL('nope') } catch (e) { console.log(e.name) }
        }";
    let expect = "5d41402abc4b2a76b9719d911017c592 UDH-PZicbRU3oBP6bnOdojRj_a7DtwE32Cjjas4iG9A
aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d true
w7Y_Pg== ö?> 1
illegal base64 data at input byte 0
https://u:p@h.test:8443/a/x?a=1&a=2&b=c+d#h [ \"1\", \"2\" ] https://h.test:8443 q=a+b%26c
žluť ab { d: \"1970-01-01T00:00:00.000Z\", m: [ 1, { n: 2 } ] }
TypeError";
    assert_eq!(log_of(text), expect);
}

#[test]
fn texts_have_the_collations_order_and_dates_k6s_form() {
    // What k6 1.8 answers to the same.
    for (pair, expect) in [
        ("'a', 'B'", -1),
        ("'a', 'A'", -1),
        ("'A', 'a'", 1),
        ("'a', 'a'", 0),
        ("'ä', 'z'", -1),
        ("'ä', 'a'", 1),
        ("'é', 'e\\u0301'", 0),
        ("'a-b', 'ab'", -1),
        ("'10', '9'", -1),
        ("'_', 'a'", -1),
        ("' ', 'a'", -1),
        ("'Z', 'ä'", 1),
        ("'résumé', 'resume'", 1),
        ("'resume', 'Résumé'", -1),
        ("'ß', 'ss'", 1),
        ("'', 'a'", -1),
    ] {
        let body = format!("const [a, b] = [{pair}]; console.log(a.localeCompare(b))");
        assert_eq!(logged(&body), expect.to_string(), "{pair}");
    }
    let sorted = "console.log(['b','a','C','A','B','c'].sort((x, y) => x.localeCompare(y)).join())";
    assert_eq!(logged(sorted), "a,A,b,B,c,C");
    let dates = "const d = new Date(2026, 10, 5, 15, 4, 9), z = d.getTimezoneOffset() === 0;
        console.log(d.toLocaleString(), d.toLocaleDateString('de'), d.toLocaleTimeString());
        console.log(new Date(NaN).toLocaleString(), String(new Date(NaN)), `${d}`.endsWith(' (UTC)') === z, d.toTimeString().endsWith(' (UTC)') === z);";
    assert_eq!(
        logged(dates),
        "11/05/2026, 15:04:09 11/05/2026 15:04:09\nInvalid Date Invalid Date true true"
    );
}

#[test]
fn webcrypto_encrypts_signs_and_derives() {
    let body = "const s = crypto.subtle, d = new Uint8Array([104, 105]), hex = (b) => [...new Uint8Array(b)].map((x) => x.toString(16).padStart(2, '0')).join('');
        console.log(hex(await s.digest('SHA-256', d)).slice(0, 16));
        for (const [name, more] of [['AES-CBC', { iv: new Uint8Array(16) }], ['AES-CTR', { counter: new Uint8Array(16), length: 64 }], ['AES-GCM', { iv: new Uint8Array(12) }]]) {
            const k = await s.generateKey({ name, length: name === 'AES-CBC' ? '256' : 256 }, true, ['encrypt', 'decrypt']);
            const jwk = await s.exportKey('jwk', k);
            const again = await s.importKey('jwk', jwk, name, false, ['decrypt']);
            console.log(name, jwk.alg, hex(await s.decrypt({ name, ...more }, again, await s.encrypt({ name, ...more }, k, d))));
        }
        for (const [name, curve] of [['ECDSA', 'P-256'], ['ECDSA', 'P-384'], ['ECDSA', 'P-521']]) {
            const k = await s.generateKey({ name, namedCurve: curve }, true, ['sign', 'verify']), a = { name, hash: 'SHA-256' };
            const spki = await s.importKey('spki', await s.exportKey('spki', k.publicKey), { name, namedCurve: curve }, true, ['verify']);
            const pkcs8 = await s.importKey('pkcs8', await s.exportKey('pkcs8', k.privateKey), { name, namedCurve: curve }, true, ['sign']);
            const jwk = await s.importKey('jwk', await s.exportKey('jwk', k.publicKey), { name, namedCurve: curve }, true, ['verify']);
            const made = await s.sign(a, pkcs8, d);
            console.log(curve, made.byteLength, await s.verify(a, spki, made, d), await s.verify(a, jwk, made, new Uint8Array([1])));
        }
        const a = await s.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, ['deriveBits']), b = await s.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, ['deriveBits']);
        console.log(hex(await s.deriveBits({ name: 'ECDH', public: b.publicKey }, a.privateKey, 128)) === hex(await s.deriveBits({ name: 'ECDH', public: a.publicKey }, b.privateKey, 128)));
        const p = await s.importKey('raw', d, 'PBKDF2', false, ['deriveBits', 'deriveKey']);
        console.log(hex(await s.deriveBits({ name: 'PBKDF2', salt: d, iterations: '10', hash: 'SHA-1' }, p, '64')));
        const m = await s.generateKey({ name: 'HMAC', hash: 'SHA-512' }, true, ['sign', 'verify']);
        console.log(m.algorithm.length, await s.verify('HMAC', m, await s.sign('HMAC', m, d), d));
        for (const f of [() => s.digest('MD5', d), () => s.encrypt({ name: 'AES-CBC', iv: d }, p, d), () => s.exportKey('raw', p), () => s.generateKey({ name: 'AES-CBC', length: 100 }, true, ['encrypt'])]) await f().catch((e) => console.log(e.name));
        console.log(crypto.getRandomValues(new Uint32Array(4)).length, /^[0-9a-f]{8}-[0-9a-f]{4}-4/.test(crypto.randomUUID()));";
    let lines = logged(body);
    let expect = "8f434346648f6b96
AES-CBC A256CBC 6869
AES-CTR A256CTR 6869
AES-GCM A256GCM 6869
P-256 64 true false
P-384 96 true false
P-521 132 true false
true
";
    let rest = "1024 true
NotSupportedError
InvalidAccessError
InvalidAccessError
OperationError
4 true";
    assert!(lines.starts_with(expect) && lines.ends_with(rest), "{lines}");
}

#[test]
fn webcrypto_does_rsa() {
    let body = "const s = crypto.subtle, d = new Uint8Array([104, 105]), size = { modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]) };
        for (const [name, hash, more] of [['RSASSA-PKCS1-v1_5', 'SHA-256', {}], ['RSA-PSS', 'SHA-1', { saltLength: 20 }]]) {
            const k = await s.generateKey({ name, hash, ...size }, true, ['sign', 'verify']);
            const again = await s.importKey('jwk', await s.exportKey('jwk', k.privateKey), { name, hash }, true, ['sign']);
            const made = await s.sign({ name, ...more }, again, d);
            console.log(name, made.byteLength, again.algorithm.modulusLength, await s.verify({ name, ...more }, k.publicKey, made, d), await s.verify({ name, ...more }, k.publicKey, made, new Uint8Array(1)));
        }
        const o = { name: 'RSA-OAEP', hash: 'SHA-256' }, k = await s.generateKey({ ...o, ...size }, true, ['encrypt', 'decrypt']);
        const spki = await s.importKey('spki', await s.exportKey('spki', k.publicKey), o, true, ['encrypt']);
        console.log(new Uint8Array(await s.decrypt(o, k.privateKey, await s.encrypt(o, spki, d))));";
    let expect = "RSASSA-PKCS1-v1_5 128 1024 true false
RSA-PSS 128 1024 true false
Uint8Array(2) [ 104, 105 ]";
    assert_eq!(logged_once(body), expect);
}

/// What a body logs in the first of two VUs, where the second's keys are others.
fn logged_once(body: &str) -> String {
    logged(body)
}

#[test]
fn pages_are_queried() {
    let text = r##"import { parseHTML } from 'k6/html';
        export default function () {
            const d = parseHTML('<div id=o data-n=5><p class="a b">One</p><p>Two <b>x</b></p></div><form method=post action=/s><input name=u value=v><select name=s><option>1<option selected>2</select></form><a href="http://h.test:81/p?q#f">l</a>');
            console.log(d.find('p').size(), d.find('p').eq(1).text(), d.find('b').closest('div').attr('id'), d.find('#o').data('n'), d.find('p:contains(Two)').html());
            console.log(d.find('form').serialize(), d.find('p').map((i, s) => s.text()), d.find('b').parents().size(), d.find('nothing').attr('x', 'none'));
            const p = d.find('p').get(0); console.log(p.nodeName(), p.classList(), p.nextElementSibling().textContent(), p.parentNode().id(), p.matches('.b'));
            const a = d.find('a').get(0); console.log(a.host(), a.pathname(), a.protocol(), a.hash()); const f = d.find('form').get(0); console.log(f.method(), f.elements().length, d.find('select').get(0).value());
            try { d.find() } catch (e) { console.log(e.message) }
            console.log(d.find(':::').size());
        }"##;
    let expect = "2 Two x o 5 Two <b>x</b>
s=2&u=v [ \"One\", \"Two x\" ] 4 none
p [ \"a\", \"b\" ] Two x o true
h.test:81 /p http #f
post 2 2
invalid argument, cannot use a '<nil>' as a selector
0";
    assert_eq!(log_of(text), expect);
}

#[test]
fn experimental_files_tables_and_streams() {
    let lines = ran(&[
        (
            "/main.js",
            "import { open as openFile, SeekMode } from 'k6/experimental/fs'; import csv from 'k6/experimental/csv'; import { ReadableStream } from 'k6/experimental/streams';
            const file = await openFile('people.csv'); const rows = await csv.parse(file, { asObjects: true }); const parser = new csv.Parser(file, { skipFirstLine: true });
            export default async function () {
                const into = new Uint8Array(4); console.log(await file.read(into), into, await file.seek(-3, SeekMode.End), await file.read(into), await file.read(into), await file.stat());
                console.log(rows.length, rows[1].name, (await parser.next()).value, (await parser.next()).done, (await parser.next()).done);
                const reader = new ReadableStream({ start(c) { c.enqueue('a'); c.enqueue('b'); c.close() } }).getReader();
                for (let it = await reader.read(); !it.done; it = await reader.read()) console.log(it.value);
                await reader.closed;
            }",
        ),
        ("/people.csv", "name,age\nAnn,\"3,0\"\nBob,2\n"),
    ]);
    let expect = [
        "4 Uint8Array(4) [ 44, 50, 10, 101 ] 22 3 null { name: \"people.csv\", size: 25 }",
        "2 Bob [ \"Ann\", \"3,0\" ] false true",
        "a",
        "b",
    ];
    assert_eq!(lines, [expect, expect].concat());
}

#[test]
fn secrets_come_from_their_sources() {
    let body = "import secrets from 'k6/secrets';
        export default async function () {
            console.log(await secrets.get('k'), await secrets.source('one').get('k'));
            try { await secrets.source('two').get('k') } catch (e) { console.log(e.message) }
        }";
    assert_eq!(log_of(body), "default/k one/k\nno secret source with name \"two\" is configured");
}

#[test]
fn libraries_are_answered_offline() {
    let text = "import { randomIntBetween, findBetween, uuidv4, parseDuration, normalDistributionStages } from 'https://jslib.k6.io/k6-utils/1.4.0/index.js';
        import { URL } from 'https://jslib.k6.io/url/1.0.0/index.js';
        export default function () {
            console.log(randomIntBetween(3, 3), findBetween('a[b]c', '[', ']'), uuidv4().length, parseDuration('1m30s'), normalDistributionStages(10, 60).length, new URL('http://h/p').pathname);
        }";
    assert_eq!(log_of(text), "3 b 36 90000 12 /p");
}

/// However it names it: as a URL, by the mark of an exact name, by the loader of facades, as a file to be opened.
#[test]
fn a_remote_module_gets_no_file_of_this_machine() {
    for text in [
        "import 'file:///secret.js'; export const x = 1;",
        "import '=file:///secret.js'; export const x = 1;",
        "import '=commonjs::file:///secret.js'; export const x = 1;",
        "import { load } from 'brunt:commonjs'; export const x = load('file:///secret.js');",
        "export const x = open('file:///secret.js');",
        "export const x = open('=file:///secret.js');",
        "export const x = require('file:///secret.js');",
        "export const x = require('=file:///secret.js');",
    ] {
        let main = "import { x } from 'https://h.test/lib.mjs'; export default function () { console.log(x) }";
        let files =
            [("/main.js", main), ("https://h.test/lib.mjs", text), ("/secret.js", "exports.s = 1")];
        let (world, sources) = (Rc::new(World::default()), sources(&files));
        compiled(&world, &sources, "/main.js").unwrap_err();
        let reads = sources.reads.borrow();
        assert!(reads.iter().any(|name| name == "https://h.test/lib.mjs"), "{text}: {reads:?}");
        assert!(!reads.iter().any(|name| name.ends_with("/secret.js")), "{text}: {reads:?}");
    }
}
