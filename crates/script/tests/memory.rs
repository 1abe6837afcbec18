//! `-memory-limit` and scripts: what virtual users and shared arrays take is part of it. A binary of its own, since the limit is
//! the process's.

#![expect(clippy::unwrap_used, reason = "a test says by a panic that it failed")]

use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use script::{
    CompileError, Control, Env, Files, Host, HttpPlan, Level, Options, Program, Realm, SamplePlan,
    Vu, VuPoolPlan, WorkPlan, vu_pool, vus_that_fit,
};
use stdx::Nanos;
use workload::Segment;
use workload::arrival::Shard;

/// One test at a time has the limit.
static LIMIT: Mutex<()> = Mutex::new(());
const LIMIT_BYTES: usize = 64 << 20;

/// Limits memory for as long as the test runs.
fn limited() -> (MutexGuard<'static, ()>, usize) {
    let guard = LIMIT.lock().unwrap_or_else(PoisonError::into_inner);
    stdx::limit_memory(LIMIT_BYTES);
    (guard, stdx::memory_left())
}

/// A world that says nothing.
struct World;

impl Host for World {
    fn now(&self) -> Nanos {
        Nanos::ZERO
    }
    fn log(&self, _level: Level, _text: &str) {}
}

struct Source(String);

impl Files for Source {
    fn read(&self, _name: &str) -> Result<Vec<u8>, String> {
        Ok(self.0.clone().into_bytes())
    }
}

fn compiled(text: &str) -> Result<Program, String> {
    let text =
        format!("import {{ SharedArray }} from 'k6/data'; {text}; export default function () {{}}");
    let program =
        Program::compile("/main.js", Env::default(), Rc::new(Source(text)), Rc::new(World));
    program.map_err(|error| match error {
        CompileError::Thrown(exception) => exception.text,
        other => panic!("{other}"),
    })
}

fn vu(program: &Program) -> Result<Vu, String> {
    Vu::new(&Realm::new(program).unwrap(), Rc::new(World), 1).map_err(|thrown| thrown.text)
}

/// Makes the users of all workers; gives why they could not be made, and the lines of the log.
fn made(program: &Program, options: &str, workers: u64) -> (Option<String>, Vec<String>) {
    let options = Options::of(serde_json::from_str(options).unwrap()).unwrap();
    let control = Control::new(&options.scenarios, &Segment::default());
    let lines = Arc::<Mutex<Vec<String>>>::default();
    let log = Arc::clone(&lines);
    let plan = VuPoolPlan {
        control: Arc::clone(&control),
        work: WorkPlan { min_iteration: options.min_iteration, ..WorkPlan::of(options.scenarios) },
        http: HttpPlan {
            max_redirects: 10,
            default_headers: [].into(),
            batch: (20, 6),
            ..HttpPlan::default()
        },
        samples: SamplePlan::default(),
        clock: Arc::new(|| Nanos::ZERO),
        log: Arc::new(move |_, text, _| log.lock().unwrap().push(text.to_owned())),
        outcome: Arc::default(),
        options: None,
        unix_ms: 0.0,
    };
    let pools: Vec<_> =
        (0..workers).map(|first| vu_pool(program, &plan, Shard { first, step: workers })).collect();
    drop(pools);
    let lines = std::mem::take(&mut *lines.lock().unwrap());
    (control.broken(), lines)
}

/// The most that the process held since [`forget_resident`], in bytes.
fn resident_max() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap_or(0) << 10
}

/// Measures from here on what the process holds. proc_pid_clear_refs(5).
fn forget_resident() {
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
}

/// The number after a text.
fn number_after(text: &str, before: &str) -> u64 {
    let rest = text.split_once(before).unwrap_or_else(|| panic!("{text}")).1;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

mod regression {
    use super::*;

    /// 30,000 users took 322 MB within 64, and their end was called a dead lock.
    #[test]
    fn issue_19_users_take_of_the_memory_limit() {
        let (_limit, left) = limited();
        let program = compiled("").unwrap();
        forget_resident();
        let before = resident_max();
        for workers in [1, 2] {
            let options = r#"{"vus":30000,"duration":"1s"}"#;
            let (broken, lines) = made(&program, options, workers);
            let broken = broken.unwrap();
            let start = "no memory is left for another virtual user: ";
            assert!(broken.starts_with(start), "{broken}");
            assert!(broken.ends_with("of 30000 were made (-memory-limit: 64 MiB)"), "{broken}");
            let users = number_after(&broken, start);
            assert!((1_000..vus_that_fit()).contains(&users), "{broken}");
            assert!(lines.is_empty(), "the end of the scenarios says it: {lines:?}");
            assert_eq!(stdx::memory_left(), left, "all of it is given back");
        }
        let grown = resident_max() - before;
        assert!(grown < LIMIT_BYTES, "{grown}");
        assert_eq!(made(&program, r#"{"vus":500,"duration":"1s"}"#, 2), (None, Vec::new()));
    }

    /// Whatever keeps modules from their end, the error is the reason.
    #[test]
    fn issue_19_users_that_cannot_be_made_say_why() {
        let (_limit, _) = limited();
        let out_of_memory = "out of memory (-memory-limit: 64 MiB)";
        for (text, expect) in [
            ("const a = []; while (__VU > 0) a.push('x'.repeat(1e6) + a.length)", out_of_memory),
            ("const a = []; while (__VU > 0) a.push({})", out_of_memory),
            ("await null; const a = []; while (__VU > 0) a.push({})", out_of_memory),
            (
                "if (__VU > 0) await new Promise(() => {})",
                "a module waits for a promise that nothing settles",
            ),
            ("if (__VU > 0) throw null", "null"),
        ] {
            let error = vu(&compiled(text).unwrap()).map(drop).unwrap_err();
            assert!(error.contains(expect) && !error.contains("dead lock"), "{text}: {error}");
        }
        // What another user of the thread ran out of, and caught, is not the reason.
        let realm = Realm::new(
            &compiled(
                "if (__VU == 1) try { const a = []; for (;;) a.push({}) } catch {} else if (__VU > 1) throw null",
            )
            .unwrap(),
        )
        .unwrap();
        let first = Vu::new(&realm, Rc::new(World), 1).map_err(|thrown| thrown.text);
        drop(first.unwrap());
        let second = Vu::new(&realm, Rc::new(World), 2).map(drop).map_err(|thrown| thrown.text);
        assert_eq!(second.unwrap_err(), "null");
        // It is no user's number that is wrong.
        let program = compiled("if (__VU > 0) throw new Error('mine')").unwrap();
        let (broken, lines) = made(&program, r#"{"vus":5,"duration":"1s"}"#, 1);
        assert_eq!(broken.as_deref(), Some("Error: mine"));
        assert_eq!(lines.len(), 1, "{lines:?}");
    }

    /// 706 MB within 64; of 5,000,000 elements the error was `null`.
    #[test]
    fn issue_19_what_makes_shared_arrays_is_limited() {
        let (_limit, left) = limited();
        forget_resident();
        let before = resident_max();
        let many = |count: u64| {
            format!(
                "const a = new SharedArray('a', () => {{ const r = []; for (let i = 0; i < {count}; i++) r.push({{ i, s: 'x'.repeat(50) }}); return r }})"
            )
        };
        for count in [2_000_000, 5_000_000] {
            let error = compiled(&many(count)).map(drop).unwrap_err();
            assert!(error.ends_with("out of memory (-memory-limit: 64 MiB)"), "{count}: {error}");
        }
        let no_memory = "SharedArray: no memory is left (-memory-limit)";
        for text in [
            "new SharedArray('a', () => new Array(1e6).fill('x'.repeat(100)))",
            "new SharedArray('a', () => { const r = []; r.length = 4e9; return r })",
        ] {
            let error = compiled(text).map(drop).unwrap_err();
            assert!(error.ends_with(no_memory), "{text}: {error}");
        }
        assert_eq!(stdx::memory_left(), left);
        let grown = resident_max() - before;
        assert!(grown < LIMIT_BYTES * 5 / 4, "{grown}");
    }

    /// Shapes outlive their objects, but long names of properties, which a server may choose, go with them.
    #[test]
    fn issue_20_long_names_of_properties_are_not_kept() {
        let (_limit, _) = limited();
        let text = "for (let i = 0; i < 300; i++) {
            const name = 'x'.repeat(1 << 20) + i;
            for (let twice = 0; twice < 2; twice++) { JSON.parse(`{\"${name}\":1}`); ({ a: 1 })[name] = 1; }
        }";
        let made = compiled(text).and_then(|program| vu(&program));
        assert!(made.is_ok(), "{made:?}");
    }

    /// Several together were bound by nothing.
    #[test]
    fn issue_19_shared_arrays_are_charged() {
        let (_limit, left) = limited();
        let text = |count: u64| {
            format!(
                "for (let k = 0; k < {count}; k++) new SharedArray('a' + k, () => new Array(1e5).fill('x'.repeat(66)))"
            )
        };
        let program = compiled(&text(2)).unwrap();
        assert_eq!(left - stdx::memory_left(), 2 * (10 << 20), "100 bytes an element");
        drop(vu(&program).unwrap());
        assert_eq!(left - stdx::memory_left(), 2 * (10 << 20), "users have no copies");
        drop(program);
        assert_eq!(stdx::memory_left(), left);
        // What JavaScript held while rows were made is counted once.
        let rows = "import csv from 'k6/experimental/csv'; import { open } from 'k6/experimental/fs';
            const before = 'x'.repeat(20e6); await csv.parse(await open('rows.csv')); const after = 'x'.repeat(15e6)";
        drop(compiled(rows).unwrap());
        let error = compiled(&text(10)).map(drop).unwrap_err();
        assert!(error.contains("-memory-limit"), "{error}");
    }
}
