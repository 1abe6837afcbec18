//! Crews driven in simulated time: which VU begins which iteration, when, and what ends early.

#![expect(clippy::unwrap_used, reason = "a test says by a panic that it failed")]

mod schedules;
mod shares;
mod sockets;

use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use metrics::tally::{Tally, Value};
use script::{
    Control, Env, Files, Host, HttpPlan, Level, Options, Paused, Program, SamplePlan, VuPoolPlan,
    VuStats, WorkPlan, vu_pool,
};
use stdx::Nanos;
use workload::arrival::Shard;
use workload::{Commands, Segment, StopMode, VirtualUsers};

/// The world while the script is compiled.
struct Beginning;

impl Host for Beginning {
    fn now(&self) -> Nanos {
        Nanos::ZERO
    }
    fn log(&self, _level: Level, text: &str) {
        assert!(text.is_empty(), "the modules log {text}");
    }
}

struct Source(String);

impl Files for Source {
    fn read(&self, _name: &str) -> Result<Vec<u8>, String> {
        Ok(self.0.clone().into_bytes())
    }
}

/// A test whose time we hold. Nothing but sleeping takes time; each look at the clock takes `tick`.
struct Test {
    crews: Vec<Box<dyn VirtualUsers>>,
    now: Nanos,
    clock: Arc<AtomicU64>,
    control: Arc<Control>,
    outcome: Arc<Mutex<VuStats>>,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Test {
    /// A script and its options, on so many workers.
    fn new(source: &str, options: &str, workers: u64) -> Self {
        Self::of_segment(source, options, workers, Segment::default())
    }

    fn of_segment(source: &str, options: &str, workers: u64, segment: Segment) -> Self {
        let source = format!(
            "import exec from 'k6/execution'; import {{ sleep }} from 'k6'; const log = console.log; {source}"
        );
        let env = Env::default();
        let program =
            Program::compile("/main.js", env, Rc::new(Source(source)), Rc::new(Beginning)).unwrap();
        let options = Options::of(serde_json::from_str(options).unwrap()).unwrap();
        let control = Control::new(&options.scenarios, &segment);
        let (clock, outcome) = (Arc::new(AtomicU64::new(0)), Arc::<Mutex<VuStats>>::default());
        let (lines, time) = (Arc::<Mutex<Vec<String>>>::default(), Arc::clone(&clock));
        let log = Arc::clone(&lines);
        let mut tally = Tally::default();
        for own in program.metrics.from(0) {
            tally.declare(&own.name, own.kind, own.contains);
        }
        let plan = VuPoolPlan {
            control: Arc::clone(&control),
            work: WorkPlan {
                segment,
                min_iteration: options.min_iteration,
                ..WorkPlan::of(options.scenarios)
            },
            http: HttpPlan {
                max_redirects: 10,
                default_headers: [("User-Agent".to_owned(), "test".to_owned())].into(),
                batch: (20, 6),
                ..HttpPlan::default()
            },
            samples: SamplePlan {
                tally,
                parts: true,
                tags: vec![("run".to_owned(), "r".to_owned())],
                ..SamplePlan::default()
            },
            clock: Arc::new(move || Nanos(time.load(Ordering::Relaxed))),
            log: Arc::new(move |_, text, _| log.lock().unwrap().push(text.to_owned())),
            outcome: Arc::clone(&outcome),
            options: Some(r#"{"vus":7,"tags":{"a":"b"}}"#.into()),
            unix_ms: 1_000_000.0,
        };
        let crews = (0..workers)
            .map(|first| vu_pool(&program, &plan, Shard { first, step: workers }))
            .collect();
        Self { crews, now: Nanos::ZERO, clock, control, outcome, lines }
    }

    /// Lets time pass until this moment, or until all is over; gives when that was.
    fn run_until(&mut self, end: Nanos) -> Nanos {
        let (mut commands, mut last) = (Commands::default(), self.now);
        while self.now <= end && !self.crews.iter().all(|pool| pool.is_over()) {
            last = self.now;
            self.clock.store(self.now.0, Ordering::Relaxed);
            let polled =
                self.crews.iter_mut().filter_map(|pool| pool.poll(self.now, &mut commands));
            let wakes: Vec<Nanos> = polled.collect();
            assert!(commands.requests.is_empty(), "these scripts send nothing");
            let next = wakes.into_iter().min().unwrap_or(Nanos::MAX);
            self.now = next.max(self.now.saturating_add(Nanos(1_000)));
        }
        last
    }

    /// Runs to the end; gives the lines of the log, sorted.
    fn run(mut self) -> (Vec<String>, VuStats, Nanos) {
        let ended = self.run_until(Nanos::from_secs(3_600));
        assert!(self.crews.iter().all(|pool| pool.is_over()), "it never ends");
        drop(std::mem::take(&mut self.crews));
        let mut lines = std::mem::take(&mut *self.lines.lock().unwrap());
        lines.sort();
        let outcome = std::mem::take(&mut *self.outcome.lock().unwrap());
        (lines, outcome, ended)
    }
}

fn seconds(n: f64) -> Nanos {
    Nanos::from_secs_f64(n)
}

fn sum(outcome: &VuStats, metric: &str) -> f64 {
    match outcome.tally.value(metric) {
        Some(Value::Counter { sum, .. }) => *sum,
        other => panic!("{metric}: {other:?}"),
    }
}

fn near(time: Nanos, expect: f64) -> bool {
    (time.0 as f64 / 1e9 - expect).abs() < 0.06
}

#[test]
fn vus_share_iterations() {
    let options = r#"{"scenarios":{"s":{"executor":"shared-iterations","vus":3,"iterations":10}}}"#;
    for workers in 1..=3 {
        let body = "export default function () { sleep(1); log(exec.scenario.iterationInTest) }";
        let (lines, outcome, ended) = Test::new(body, options, workers).run();
        assert_eq!(lines, ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
        assert_eq!((outcome.iterations, outcome.interrupted), (10, 0));
        assert!(near(ended, 4.0), "{ended}");
    }
}

#[test]
fn each_vu_does_its_iterations() {
    let options = r#"{"scenarios":{"s":{"executor":"per-vu-iterations","vus":2,"iterations":2}}}"#;
    let body = "export default function () { sleep(0.5);
        log(exec.vu.idInTest, __VU, __ITER, exec.vu.iterationInScenario, exec.scenario.progress) }";
    let (lines, outcome, ended) = Test::new(body, options, 2).run();
    assert_eq!(lines, ["1 1 0 0 0", "1 1 1 1 0.5", "2 2 0 0 0.25", "2 2 1 1 0.75"]);
    assert!(near(ended, 1.0), "{ended}");
    assert_eq!(sum(&outcome, "iterations"), 4.0);
}

#[test]
fn a_limit_of_time_drops_what_was_not_begun() {
    for (executor, dropped) in [("shared-iterations", 7.0), ("per-vu-iterations", 17.0)] {
        let options = format!(
            r#"{{"scenarios":{{"s":{{"executor":"{executor}","vus":2,"iterations":10,"maxDuration":"1s","gracefulStop":"5s"}}}}}}"#
        );
        let body = "export default function () { sleep(exec.vu.idInTest === 1 ? 0.7 : 3) }";
        let (_, outcome, ended) = Test::new(body, &options, 1).run();
        assert_eq!((outcome.iterations, outcome.interrupted), (3, 0), "{executor}");
        assert_eq!(sum(&outcome, "dropped_iterations"), dropped, "{executor}");
        assert!(near(ended, 3.0), "{ended}");
    }
}

#[test]
fn a_graceful_stop_has_its_end() {
    let options = r#"{"scenarios":{"s":{"executor":"constant-vus","vus":2,"duration":"1s","gracefulStop":"500ms"}}}"#;
    let body = "export default function () { sleep(exec.vu.idInTest === 1 ? 1.2 : 9) }";
    let (_, outcome, ended) = Test::new(body, options, 2).run();
    assert_eq!((outcome.iterations, outcome.interrupted), (1, 1));
    assert!(near(ended, 1.5), "{ended}");
}

#[test]
fn an_endless_loop_is_interrupted_at_its_end() {
    // The clock stands while a script computes, so the loop begins after the scenario's end.
    let options = r#"{"scenarios":{"s":{"executor":"constant-vus","vus":1,"duration":"1s","gracefulStop":"0s"}}}"#;
    let body = "export default function () { sleep(1); for (;;) {} }";
    let mut test = Test::new(body, options, 1);
    test.run_until(seconds(0.5));
    let (_, outcome, _) = test.run();
    assert_eq!((outcome.iterations, outcome.interrupted), (0, 1));
}

#[test]
fn a_ramp_begins_and_ends_vus() {
    let options = r#"{"scenarios":{"s":{"executor":"ramping-vus","startVUs":0,"gracefulRampDown":"0s",
        "stages":[{"duration":"10s","target":10},{"duration":"0s","target":2},{"duration":"10s","target":2}]}}}"#;
    let body = "export default function () { log(exec.vu.idInTest); sleep(60) }";
    let (lines, outcome, ended) = Test::new(body, options, 2).run();
    let expect: Vec<String> = (1..=9).map(|n| n.to_string()).collect();
    assert_eq!(lines, expect);
    // Seven at once when the ramp falls, two at the end of the graceful stop.
    assert_eq!((outcome.iterations, outcome.interrupted), (0, 9));
    assert!(near(ended, 50.0), "{ended}");
}

#[test]
fn an_arrival_rate_drops_and_hires() {
    let options = r#"{"scenarios":{"s":{"executor":"constant-arrival-rate","rate":10,"duration":"2s","preAllocatedVUs":1,"maxVUs":10}}}"#;
    let body = "export default function () { log(exec.scenario.iterationInTest); sleep(0.45) }";
    for workers in [1, 2] {
        let (lines, outcome, _) = Test::new(body, options, workers).run();
        // Each iteration that finds no free VU is dropped, and has one more VU made, as in k6: five are enough.
        assert_eq!(sum(&outcome, "dropped_iterations"), 4.0, "{workers} workers");
        assert_eq!((lines.len(), outcome.iterations), (16, 16), "{workers} workers");
    }
}

/// k6 warns once of a scenario, whatever the number of iterations that are dropped.
#[test]
fn issue_39_too_few_vus_are_warned_of_once() {
    let options = r#"{"scenarios":{"s":{"executor":"constant-arrival-rate","rate":10,"duration":"2s","preAllocatedVUs":1,"maxVUs":2}}}"#;
    for workers in [1, 2] {
        let body = "export default function () { sleep(0.45) }";
        let (lines, outcome, _) = Test::new(body, options, workers).run();
        assert!(sum(&outcome, "dropped_iterations") > 5.0, "{workers} workers");
        let warning = "Insufficient VUs, reached 2 active VUs and cannot initialize more";
        assert_eq!(lines, [warning], "{workers} workers");
    }
}

#[test]
fn a_vu_of_another_worker_takes_what_is_due() {
    // One VU for two workers: whichever has it begins every iteration.
    let options = r#"{"scenarios":{"s":{"executor":"constant-arrival-rate","rate":10,"duration":"2s","preAllocatedVUs":1}}}"#;
    let (_, outcome, _) = Test::new("export default function () { sleep(0.05) }", options, 2).run();
    assert_eq!((outcome.iterations, sum(&outcome, "dropped_iterations")), (20, 0.0));
}

#[test]
fn scenarios_that_follow_each_other_share_their_vus() {
    let options = r#"{"scenarios":{
        "a":{"executor":"per-vu-iterations","vus":2,"iterations":1,"maxDuration":"1s","gracefulStop":"0s","env":{"WHO":"a"},"tags":{"part":"one"}},
        "b":{"executor":"per-vu-iterations","vus":2,"iterations":1,"startTime":"1s","exec":"other","tags":{"run":"mine"}}}}"#;
    let body = "const tags = () => JSON.stringify(exec.vu.tags);
        export default function () { exec.vu.metrics.tags.own = 1;
            log(exec.scenario.name, __VU, __ITER, __ENV.WHO, exec.vu.iterationInScenario, tags()) }
        export function other() { log(exec.scenario.name, __VU, __ITER, __ENV.WHO, exec.vu.iterationInScenario, tags()) }";
    let (lines, ..) = Test::new(body, options, 2).run();
    assert_eq!(
        lines,
        [
            r#"a 1 0 a 0 {"group":"","own":"1","part":"one","run":"r","scenario":"a"}"#,
            r#"a 2 0 a 0 {"group":"","own":"1","part":"one","run":"r","scenario":"a"}"#,
            r#"b 1 1 undefined 0 {"group":"","run":"mine","scenario":"b"}"#,
            r#"b 2 1 undefined 0 {"group":"","run":"mine","scenario":"b"}"#,
        ]
    );
}

#[test]
fn a_script_ends_its_test() {
    let options =
        r#"{"scenarios":{"s":{"executor":"shared-iterations","vus":2,"iterations":100}}}"#;
    let body = "export default function () {
            sleep(1); if (exec.scenario.iterationInTest === 5) { try { exec.test.abort('so') } catch (e) { log('caught') } finally { log('finally') } }
            if (exec.scenario.iterationInTest === 3) exec.test.fail('meant');
        }";
    let mut test = Test::new(body, options, 2);
    let ended = test.run_until(seconds(60.0));
    assert!(near(ended, 3.0), "{ended}");
    let aborted = test.control.aborted().unwrap_or_default();
    assert!(aborted.starts_with("test aborted: so at default (file:///main.js:2:"), "{aborted}");
    assert_eq!(test.control.failed().as_deref(), Some("test marked as failed: meant"));
    let (lines, outcome, _) = test.run();
    assert!(lines.is_empty(), "{lines:?}");
    // An iteration that never started is not dropped.
    assert_eq!(sum(&outcome, "dropped_iterations"), 0.0);
    assert!(outcome.interrupted >= 1, "{outcome:?}");
}

#[test]
fn whoever_stops_a_test_ends_its_iterations() {
    let options = r#"{"scenarios":{"s":{"executor":"constant-vus","vus":3,"duration":"1m"}}}"#;
    for (ending, iterations, interrupted) in
        [(StopMode::Immediate, 3, 3), (StopMode::Graceful, 6, 0)]
    {
        let mut test = Test::new("export default function () { sleep(1) }", options, 1);
        test.run_until(seconds(1.5));
        test.crews.iter_mut().for_each(|pool| pool.stop(ending));
        let (_, outcome, ended) = test.run();
        assert_eq!((outcome.iterations, outcome.interrupted), (iterations, interrupted));
        assert!(ended < seconds(2.2), "{ended}");
    }
}

/// Issue 41: a test that was paused while it ran went on.
#[test]
fn a_paused_load_stands_still_and_goes_on() {
    for (executor, iterations) in [
        (r#""executor":"constant-vus","vus":1"#, 20..=22),
        (r#""executor":"constant-arrival-rate","rate":10,"preAllocatedVUs":2"#, 19..=21),
    ] {
        let options = format!(r#"{{"scenarios":{{"s":{{{executor},"duration":"3s"}}}}}}"#);
        let body = "export default function () { log('began'); sleep(0.1) }";
        for workers in [1, 2] {
            let mut test = Test::new(body, &options, workers);
            let begun = |test: &Test| test.lines.lock().unwrap().len();
            test.run_until(seconds(1.05));
            test.control.set_paused(Paused::Yes);
            let before = begun(&test);
            test.run_until(seconds(2.05));
            assert!(begun(&test) == before && before >= 10, "{before} before the pause");
            test.control.set_paused(Paused::No);
            let (_, outcome, ended) = test.run();
            assert!(iterations.contains(&outcome.iterations), "{executor}: {outcome:?}");
            assert_eq!(sum(&outcome, "dropped_iterations"), 0.0, "nothing was asked for");
            assert!(ended < seconds(3.3), "a pause does not move the end: {ended}");
        }
    }
}

/// A test that is paused ends when its time is over, or when it is stopped.
#[test]
fn a_paused_load_ends() {
    let options = r#"{"scenarios":{"s":{"executor":"constant-vus","vus":2,"duration":"2s","gracefulStop":"1s"}}}"#;
    for stops in [false, true] {
        let mut test = Test::new("export default function () { sleep(0.2) }", options, 1);
        test.run_until(seconds(0.9));
        test.control.set_paused(Paused::Yes);
        test.run_until(seconds(1.2));
        if stops {
            test.crews.iter_mut().for_each(|pool| pool.stop(StopMode::Immediate));
        }
        let (_, outcome, ended) = test.run();
        // What slept through the pause wakes to an end, and has nothing left to do.
        let expect = if stops { (10, 0) } else { (8, 2) };
        assert_eq!((outcome.iterations, outcome.interrupted), expect);
        assert!(near(ended, if stops { 1.2 } else { 3.0 }), "{ended}");
    }
}

#[test]
fn a_scenario_that_has_not_begun_does_not_begin_after_a_stop() {
    let options = r#"{"scenarios":{"a":{"executor":"per-vu-iterations"},"b":{"executor":"per-vu-iterations","startTime":"1h"}}}"#;
    let mut test = Test::new("export default function () { sleep(1) }", options, 2);
    test.run_until(seconds(0.5));
    test.crews.iter_mut().for_each(|pool| pool.stop(StopMode::Graceful));
    let (_, outcome, ended) = test.run();
    assert_eq!((outcome.iterations, outcome.interrupted), (1, 0));
    assert!(near(ended, 1.0), "{ended}");
}

#[test]
fn a_script_sees_where_it_stands() {
    let options = r#"{"scenarios":{"s":{"executor":"constant-vus","vus":2,"duration":"4s","startTime":"2s"}}}"#;
    let body = "export default function () { sleep(1); if (__VU === 1 && __ITER === 1) {
            const { instance: i, scenario: s, test: t } = exec;
            log(i.vusActive, i.vusInitialized, i.iterationsInterrupted, i.currentTestRunDuration);
            log(s.name, s.executor, s.startTime, s.progress);
            log(t.options.vus, Object.isFrozen(t.options.tags), JSON.stringify(exec.vu.metrics.metadata));
            exec.vu.metrics.metadata.m = true; exec.vu.tags.n = 5;
            log(exec.vu.metrics.metadata.m, exec.vu.metrics.tags.n, 'n' in exec.vu.tags, delete exec.vu.tags.n, 'n' in exec.vu.tags);
            for (const wrong of [{}, null, undefined]) { try { exec.vu.tags.x = wrong } catch (e) { log(e instanceof TypeError) } }
        } }";
    let (lines, ..) = Test::new(body, options, 1).run();
    assert_eq!(
        lines,
        [
            "2 2 0 4000",
            "7 true {}",
            "s constant-vus 1002000 0.5",
            "true",
            "true",
            "true",
            "true 5 true true false"
        ]
    );
}

#[test]
fn a_segment_does_its_part() {
    let segment = || Segment::parse("1/3:2/3", Some("0,1/3,2/3,1")).unwrap();
    let body = "export default function () { log(exec.scenario.iterationInTest, exec.scenario.iterationInInstance, exec.vu.idInTest, exec.vu.idInInstance); sleep(1) }";
    let options = r#"{"scenarios":{"s":{"executor":"per-vu-iterations","vus":7,"iterations":2}}}"#;
    let (lines, ..) = Test::of_segment(body, options, 1, segment()).run();
    assert_eq!(lines, ["1 0 2 1", "10 3 5 2", "4 1 5 2", "7 2 2 1"]);
    let options = r#"{"scenarios":{"s":{"executor":"constant-arrival-rate","rate":30,"duration":"1s","preAllocatedVUs":60}}}"#;
    let (lines, outcome, _) = Test::of_segment(body, options, 2, segment()).run();
    assert_eq!((lines.len(), sum(&outcome, "dropped_iterations")), (10, 0.0));
}

/// Many VUs cost only those that have something to do: half a million polls would be a minute's work if each looked at all.
#[test]
fn idle_vus_cost_nothing() {
    let options = r#"{"scenarios":{
        "many":{"executor":"constant-vus","vus":2000,"duration":"100s"},
        "few":{"executor":"constant-arrival-rate","rate":1000,"duration":"50s","preAllocatedVUs":1}}}"#;
    let body = "export default function () { if (exec.scenario.name === 'many') sleep(1000) }";
    let mut test = Test::new(body, options, 1);
    test.run_until(seconds(51.0));
    assert_eq!(test.control.instance().completed, 50_000);
    assert_eq!(test.control.instance().active, 2_000);
}

#[test]
fn vus_are_changed_from_outside() {
    let options = r#"{"scenarios":{"s":{"executor":"externally-controlled","vus":1,"maxVUs":3,"duration":"4s"}}}"#;
    let mut test =
        Test::new("export default function () { log(exec.vu.idInTest); sleep(0.4) }", options, 2);
    let mut active = Vec::new();
    for (until, wanted) in [(1.1, 3), (2.1, 9), (3.1, 0), (3.9, 0)] {
        test.run_until(seconds(until));
        active.push(test.control.instance().active);
        test.control.scale(wanted);
    }
    // More than may be are not there.
    assert_eq!(active, [1, 3, 3, 0]);
    let (lines, outcome, ended) = test.run();
    let of = |vu: &str| lines.iter().filter(|line| *line == vu).count();
    assert!(of("1") >= 7 && of("2") >= 4 && of("3") >= 4, "{lines:?}");
    assert_eq!(sum(&outcome, "dropped_iterations"), 0.0);
    assert!(near(ended, 4.0), "{ended}");
}

#[test]
fn whoever_asks_for_the_end_grants_the_graceful_stop() {
    let options = r#"{"scenarios":{"s":{"executor":"per-vu-iterations","vus":2,"iterations":9,"gracefulStop":"2s"}}}"#;
    let body = "export default function () { sleep(exec.vu.idInTest === 1 ? 2.5 : 60) }";
    let mut test = Test::new(body, options, 1);
    test.run_until(seconds(1.0));
    test.control.drain(seconds(1.0));
    let (_, outcome, ended) = test.run();
    assert_eq!((outcome.iterations, outcome.interrupted), (1, 1));
    // An iteration that never started is not dropped.
    assert_eq!(sum(&outcome, "dropped_iterations"), 0.0);
    assert!(near(ended, 3.0), "{ended}");
}

#[test]
fn an_interrupt_ends_an_endless_loop() {
    let options = r#"{"scenarios":{"s":{"executor":"constant-vus","duration":"1h"}}}"#;
    let mut test = Test::new("export default function () { sleep(1); for (;;) {} }", options, 1);
    test.run_until(seconds(0.5));
    let control = Arc::clone(&test.control);
    let (lines, outcome, _) = std::thread::scope(|scope| {
        scope.spawn(move || control.interrupt());
        test.run()
    });
    assert_eq!((outcome.iterations, outcome.interrupted), (0, 1), "{lines:?}");
    assert_eq!(sum(&outcome, "iterations"), 0.0);
}
