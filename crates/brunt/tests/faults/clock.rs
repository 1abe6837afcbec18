//! The clock of the day jumps by two hours, either way, in the midst of a run: figures and ends go by the monotonic clock.

use std::process::Command;

use crate::case::{Case, run_all};
use crate::stage::{Stage, no_bug};
use crate::{Scratch, text, until};

/// Moves CLOCK_REALTIME by `JUMP_S` seconds as soon as the file `JUMP_FILE` exists.
const SHIM: &str = r#"
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now) {
  int result = syscall(SYS_clock_gettime, clock, now);
  const char *file = getenv("JUMP_FILE"), *seconds = getenv("JUMP_S");
  if (clock == CLOCK_REALTIME && file && seconds && access(file, F_OK) == 0)
    now->tv_sec += atoll(seconds);
  return result;
}
"#;

/// The shim, compiled into the stage's folder.
fn shim(scratch: &Scratch) -> String {
    let (source, library) = (scratch.file("shim.c", SHIM), text(&scratch.path("shim.so")));
    let compiled = Command::new("cc").args(["-shared", "-fPIC", "-o", &library, &source]).status();
    let is_good = compiled.is_ok_and(|status| status.success());
    assert!(is_good, "a C compiler is needed: apt-get install -y gcc libc6-dev");
    library
}

#[rustfmt::skip]
const LOADS: [(&str, &str); 4] = [
    ("attack", "attack -targets=targets -rate=100 -duration=2s -output=out.arrow"),
    ("bench", "bench -c 2 -d 2s -output=out.arrow {url}/"),
    ("run", "run -u 2 -d 2s -o out.arrow script.js"),
    ("vegeta attack", "vegeta attack -targets=targets -rate=100 -duration=2s -output=out.gob"),
];

#[test]
fn a_clock_that_jumps_moves_no_figure() {
    let mut cases = Vec::new();
    for (name, line) in LOADS {
        for jump in ["7200", "-7200"] {
            cases.push(Case::new(format!("{name}, {jump} s"), move || jumps(name, line, jump)));
        }
    }
    run_all("clock jumps", cases);
}

fn jumps(name: &str, line: &str, jump: &str) {
    let stage = Stage::new(&format!("clock-{name}-{jump}"));
    let jumped = stage.scratch.path("jumped");
    let mut command = stage.command(line);
    command.env("LD_PRELOAD", shim(&stage.scratch)).env("JUMP_FILE", &jumped).env("JUMP_S", jump);
    let begin = std::time::Instant::now();
    let started = crate::start_within(command, crate::stage::BOUND);
    until("requests arrive", || stage.server.stats().requests >= 20);
    std::fs::write(&jumped, "").unwrap();
    let ran = started.wait().with_code(0);
    let took = begin.elapsed().as_secs_f64();
    no_bug(&ran);
    let file = if line.contains("out.gob") { "out.gob" } else { "out.arrow" };
    let json = stage.report(file).with_code(0).json();
    assert_eq!(json["requests"], stage.server.stats().requests, "{json}");
    assert_eq!(json["success"], 1, "{json}");
    let seconds = |path: &str| json.pointer(path).unwrap().as_f64().unwrap() / 1e9;
    assert!(seconds("/duration") <= took, "{json}");
    assert!(seconds("/latencies/max") < took && seconds("/latencies/min") >= 0.05, "{json}");
}
