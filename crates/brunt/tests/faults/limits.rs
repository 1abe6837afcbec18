//! No descriptors and no memory, at each of several limits: a command does what it can, or says in a line what it lacked.

use crate::Ran;
use crate::case::{Case, is_full, run_all};
use crate::commands::{QUICK, Quick};
use crate::stage::{Stage, no_bug};

/// Runs a command below a limit of the shell.
fn limited(fault: &str, row: &Quick, limit: &str) -> Ran {
    let stage = Stage::new(&format!("{fault}-{limit}-{}", row.name));
    if row.name.starts_with("runs") {
        stage.run("bench -c 1 -n 2 -q -save x -store st -output=none {url}/").with_code(0);
    }
    stage.shell(&format!("ulimit {limit}; exec $BRUNT {}", row.line))
}

/// Every command below each limit.
fn each(fault: &'static str, limits: &[String], check: fn(&Quick, &Ran)) {
    let case = |row: &'static Quick, limit: &String| {
        let limit = limit.clone();
        Case::new(format!("{}, ulimit {limit}", row.name), move || {
            check(row, &limited("limit", row, &limit));
        })
    };
    let cases = QUICK.iter().flat_map(|row| limits.iter().map(move |limit| case(row, limit)));
    run_all(fault, cases.collect());
}

#[test]
fn without_descriptors_a_command_says_so() {
    let counts: Vec<u32> = if is_full() { (4..40).collect() } else { vec![5, 8, 12] };
    let limits: Vec<String> = counts.iter().map(|count| format!("-n {count}")).collect();
    each("no descriptors", &limits, |row, ran| {
        no_bug(ran);
        // 24 is ApacheBench's number for it.
        let is_known = ran.code.is_some_and(|code| [1, 3, 24, 107].contains(&code));
        assert!(is_known || row.is_usual(ran.code), "{ran:#?}");
        if !row.is_usual(ran.code) {
            assert!(ran.stderr.to_lowercase().contains("too many open files"), "{ran:#?}");
        }
    });
}

/// The system's own number for a process that SIGABRT ended.
const ABORTED: i32 = 128 + 6;

#[test]
fn without_memory_a_command_says_so() {
    let sizes: Vec<u32> = if is_full() {
        // With less the system does not even load the program.
        (8..40).map(|step| step * 12_000).collect()
    } else {
        vec![90_000, 150_000, 300_000]
    };
    let limits: Vec<String> = sizes.iter().map(|size| format!("-v {size}")).collect();
    each("no memory", &limits, |row, ran| {
        no_bug(ran);
        let words = ran.stderr.to_lowercase();
        // The allocator's words, or those of the C library where it cannot even begin a thread.
        let has_words = words.contains("memory allocation of") || words.contains("out of memory");
        if ran.code == Some(ABORTED) || (ran.code.is_none() && has_words) {
            assert!(has_words, "{ran:#?}");
        } else if !row.is_usual(ran.code) {
            assert!(ran.code.is_some(), "{ran:#?}");
            let has_reason = words.contains("memory") || words.contains("temporarily unavailable");
            assert!(has_reason, "{ran:#?}");
        }
    });
}
