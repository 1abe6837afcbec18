//! SIGKILL at random moments: results are read, all but the last second; documents are the old ones or the new ones; stores, states and
//! studies go on.

use std::time::{Duration, Instant};

use stdx::Prng;

use crate::case::{Case, moments, run_all, seed};
use crate::stage::{Stage, no_bug};
use crate::until;

/// Rows a second of the loads here.
const RATE: u64 = 100;

/// A row is on the disk well within this time.
const LAST: Duration = Duration::from_secs(2);

/// Kills a command so long after its start, or after it has ended. Gives how long its threads together waited for a core in the
/// [`LAST`] seconds: by so much the machine, and not the command, may have held up its rows.
fn kill_at(stage: &Stage, line: &str, moment: Duration) -> Duration {
    let mut started = stage.start(line);
    let (begin, pid) = (Instant::now(), started.pid());
    until("its last seconds", || begin.elapsed() >= moment.saturating_sub(LAST));
    let before = waited(pid);
    until("its moment", || begin.elapsed() >= moment);
    let stall = waited(pid).saturating_sub(before);
    // At once: another program that sends the signal might wait for a core itself. It may have ended.
    started.child().kill().ok();
    started.wait();
    stall
}

/// How long the threads of a process waited for a core since they began; nothing where the system does not count it.
fn waited(pid: u32) -> Duration {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else {
        return Duration::ZERO;
    };
    let of_thread = |folder: std::fs::DirEntry| {
        // Times on a core and in the queue for one, in nanoseconds, and turns.
        let text = std::fs::read_to_string(folder.path().join("schedstat")).ok()?;
        text.split(' ').nth(1)?.parse::<u64>().ok()
    };
    Duration::from_nanos(threads.flatten().filter_map(of_thread).sum())
}

fn case(
    name: &'static str,
    longest_ms: u64,
    check: fn(&Stage, Duration),
) -> impl Iterator<Item = Case> {
    let mut rng = Prng::new(seed());
    (0..moments()).map(move |number| {
        let moment = Duration::from_millis(rng.below(longest_ms));
        Case::new(format!("{name} after {moment:?}"), move || {
            check(&Stage::new(&format!("kill-{name}-{number}")), moment);
        })
    })
}

#[test]
fn a_kill_at_any_moment_costs_a_second_at_most() {
    let mut cases = Vec::new();
    cases.extend(case("attack", 4_000, |stage, moment| {
        results(stage, &format!("attack -targets=targets -rate={RATE} -output=out.arrow"), moment);
    }));
    cases.extend(case("run", 4_000, |stage, moment| {
        results(stage, "run -u 5 -d 60s -o out.arrow script.js", moment);
    }));
    cases.extend(case("attack csv", 4_000, |stage, moment| {
        let line = format!("attack -targets=targets -rate={RATE} -to=csv -output=out.arrow");
        results(stage, &line, moment);
    }));
    run_all("kill", cases);
}

fn results(stage: &Stage, line: &str, moment: Duration) {
    let stall = kill_at(stage, line, moment);
    let sent = stage.server.stats().requests;
    let report = stage.report("out.arrow");
    no_bug(&report);
    let rows = match report.code {
        Some(0) => report.json()["requests"].as_u64().unwrap(),
        // Nothing was written yet, or there is no file yet.
        Some(3 | 4) => 0,
        _ => panic!("{report:#?}"),
    };
    // A second's worth, a quarter of one for the way to the disk, and what was under way.
    let lost = RATE + RATE / 4 + 10 + (RATE as f64 * stall.as_secs_f64()) as u64;
    assert!(rows + lost >= sent, "{rows} rows of {sent} requests, stall {stall:?}: {report:#?}");
    assert!(rows <= sent, "{rows} rows of {sent} requests");
}

#[test]
fn documents_and_states_are_whole_at_any_moment() {
    let mut cases = Vec::new();
    cases.extend(case("report", 150, |stage, moment| {
        stage.scratch.file("page.html", "precious");
        kill_at(stage, "report -type=html -output=page.html r.csv", moment);
        let page = std::fs::read_to_string(stage.scratch.path("page.html")).unwrap();
        assert!(page == "precious" || page.trim_end().ends_with("</html>"), "{page}");
    }));
    cases.extend(case("seek", 2_500, |stage, moment| {
        let line = "seek -objective=p99<2s -max-steps=4 -step=300ms -warmup=0s -cooldown=0s -to=40 -state=seek.json {url}/";
        kill_at(stage, line, moment);
        let again = stage.run(line);
        no_bug(&again);
        assert!([Some(0), Some(6)].contains(&again.code), "{again:#?}");
    }));
    cases.extend(case("bench -save", 1_000, |stage, moment| {
        kill_at(stage, "bench -c 2 -d 400ms -q -save x -store st {url}/", moment);
        let listed = stage.run("runs list -json -store st");
        no_bug(&listed);
        // The store may not have been there yet.
        if stage.scratch.path("st").exists() {
            assert_eq!(listed.with_code(0).json()["problems"], serde_json::json!([]));
        }
        stage.run("bench -c 2 -n 10 -q -save x -store st {url}/").with_code(0);
    }));
    cases.extend(case("study run", 2_500, |stage, moment| {
        let study = std::fs::read_to_string(stage.scratch.path("study.toml")).unwrap();
        stage.scratch.file("study.toml", study.replace("-d 60s", "-d 200ms"));
        kill_at(stage, "study run study.toml -out so", moment);
        let again = stage.run("study run study.toml -out so").with_code(0);
        no_bug(&again);
        let page = std::fs::read_to_string(stage.scratch.path("so/report.html")).unwrap();
        assert!(page.trim_end().ends_with("</html>"));
    }));
    run_all("kill", cases);
}
