//! Schedules of all executors, each beside what k6 1.8.1 made of it: iterations, and active VUs second by second. k6's
//! figures come from `k6 run --out json=…` and the last line that it prints; scripts do nothing but sleep.

use script::Options;
use serde_json::Value;
use stdx::Nanos;

use super::{Test, seconds, sum};

/// What a tool made of a schedule.
#[derive(Debug)]
struct Seen {
    complete: u64,
    interrupted: u64,
    dropped: u64,
    /// Active VUs after each second.
    vus: Vec<u64>,
}

impl Seen {
    fn of(figures: &Value) -> Self {
        let number = |name: &str| figures[name].as_u64().unwrap();
        let vus = figures["vus"].as_array().unwrap().iter().map(|vus| vus.as_u64().unwrap());
        Self {
            complete: number("complete"),
            interrupted: number("interrupted"),
            dropped: number("dropped"),
            vus: vus.collect(),
        }
    }

    /// The same users at any second, and counts that are one apart at most, or two of a hundred.
    fn is_like(&self, other: &Self) -> bool {
        let near = |a: u64, b: u64| a.abs_diff(b) <= (a.max(b) / 50).max(1);
        self.vus == other.vus
            && near(self.complete, other.complete)
            && near(self.interrupted, other.interrupted)
            && near(self.dropped, other.dropped)
    }
}

/// k6 looks this long before a second is over, since its clock runs while VUs are made.
const BEFORE: Nanos = Nanos::from_millis(20);

fn parsed(schedule: &Value) -> Options {
    Options::of(schedule["options"].as_object().unwrap().clone()).unwrap()
}

fn schedules() -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/scripts/vus/schedules.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Runs a schedule, so many workers sharing it; gives what was seen, and the seconds near which users changed: there it is
/// chance how many k6 sees.
fn run(schedule: &Value, workers: u64) -> (Seen, Vec<u64>) {
    let options = &schedule["options"];
    let segment = parsed(schedule).segment;
    let source =
        format!("export default function () {{ sleep({}) }}", schedule["sleep"].as_str().unwrap());
    let mut test = Test::of_segment(&source, &options.to_string(), workers, segment);
    let (mut vus, mut restless) = (Vec::new(), Vec::new());
    for second in 1..60 {
        let at = Nanos::from_secs(second).saturating_sub(BEFORE);
        test.run_until(at.saturating_sub(seconds(0.06)));
        let before = test.control.instance().active;
        test.run_until(at);
        if test.crews.iter().all(|crew| crew.is_over()) {
            break;
        }
        let active = test.control.instance().active;
        if active != before {
            restless.push(second);
        }
        vus.push(active);
    }
    let (_, outcome, _) = test.run();
    let dropped = sum(&outcome, "dropped_iterations") as u64;
    let (complete, interrupted) = (outcome.iterations, outcome.interrupted);
    (Seen { complete, interrupted, dropped, vus }, restless)
}

#[test]
fn executors_do_as_those_of_k6() {
    let (schedules, mut wrong) = (schedules(), Vec::new());
    for schedule in &schedules {
        // Where we mean to differ, the reason stands beside our figures.
        let expect = Seen::of(schedule.get("ours").unwrap_or(&schedule["k6"]));
        for workers in [1, 3] {
            let ((seen, restless), name) = (run(schedule, workers), &schedule["name"]);
            if !seen.is_like(&expect) || !restless.is_empty() {
                wrong.push(format!("{name}, {workers} workers: {seen:?}, changes near {restless:?} s\n  k6: {expect:?}"));
            }
        }
    }
    assert!(schedules.len() >= 60 && wrong.is_empty(), "{}", wrong.join("\n"));
}

/// All executors are among the schedules, as are segments and late beginnings.
#[test]
fn schedules_leave_nothing_out() {
    let schedules = schedules();
    let text = serde_json::to_string(&schedules).unwrap();
    for word in [
        "shared-iterations",
        "per-vu-iterations",
        "constant-vus",
        "ramping-vus",
        "constant-arrival-rate",
        "ramping-arrival-rate",
        "externally-controlled",
        "executionSegmentSequence",
        "gracefulRampDown",
        "gracefulStop",
        "startTime",
        "startRate",
        "timeUnit",
        "maxVUs",
    ] {
        assert!(text.contains(&format!("\"{word}\"")), "{word}");
    }
    assert!(schedules.iter().all(|schedule| !parsed(schedule).scenarios.is_empty()));
}
