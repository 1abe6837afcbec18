//! Whole sessions over the simulated world: no process, no socket, no thread of the engine.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use cli::Output;
use demo::{Config, ServerMachine, ServiceTime};
use engine::{Settings, Simulation};
use metrics::{Batch, FailureKind, Snapshot};
use net::Address;
use net::sim::{Faults, World};
use results::Encoding;
use session::{
    AbortObserver, AbortWhen, Control, Deadline, DeadlineKind, Observer, ObserverError, OnCutOff,
    OnInterrupt, ResultsFile, RunFigures, Session, SessionError, SessionOptions, SessionOutcome,
    StopPolicy,
};
use stdx::{Distribution, Nanos};
use workload::arrival::Shape;
use workload::{Load, Plan, Target, Targets};

const SERVER: &str = "127.0.0.1:80";

/// Many simulated years: such a run ends by an order alone.
const ENDLESS: u64 = 1_000_000_000;

fn plan(load: Load, seconds: u64) -> Plan {
    let target = Target {
        method: "GET".to_owned(),
        url: format!("http://{SERVER}/"),
        headers: Vec::new(),
        body: [].into(),
        weight: 1,
        name: String::new(),
    };
    Plan {
        name: "sim".to_owned(),
        load,
        duration: Some(Nanos::from_secs(seconds)),
        warmup: Nanos::ZERO,
        think: Distribution::None,
        hits_max: None,
        targets: Targets::new(vec![target]),
        seed: 7,
        part: None,
    }
}

fn open(rate_per_s: u64) -> Load {
    let shape = Shape::Constant { hits: rate_per_s, per: Nanos::SECOND };
    Load::Open { shape, max_in_flight: None }
}

/// A run against a server of this service time, which has not begun.
fn simulation(plan: &Plan, service: &str) -> Simulation<impl net::Io + use<>> {
    let service = ServiceTime::parse(service).expect("a service time");
    let server = ServerMachine::new(Config { workers: 0, service, ..Config::default() });
    let mut world = World::new(1, Faults::default());
    let address = Address::Ip(SERVER.parse().expect("an address"));
    world.add_peer(address, Box::new(server.expect("a server")));
    Simulation::new(world, plan.clone(), &Settings::default()).expect("the settings are sound")
}

fn run(
    plan: &Plan,
    service: &str,
    options: SessionOptions,
    observers: &mut [&mut dyn Observer],
) -> Result<SessionOutcome, SessionError> {
    Session::over(Box::new(simulation(plan, service)), plan, options)?.run(observers)
}

fn undisturbed() -> SessionOptions {
    SessionOptions::counting(|| 0)
}

/// Notes what it is given.
#[derive(Default)]
struct Notes {
    seqs: Vec<u64>,
    stopped: usize,
    progress: usize,
    ticks: usize,
    finished: usize,
}

impl Observer for Notes {
    fn rows(&mut self, batch: &Batch) -> Result<(), ObserverError> {
        assert_eq!(self.finished, 0, "no rows come after the end");
        self.seqs.extend(batch.samples.iter().map(|sample| sample.seq));
        let stopped = batch.samples.iter().filter(|one| one.failure == FailureKind::Stopped);
        self.stopped += stopped.count();
        Ok(())
    }

    fn progress(&mut self, _: &Snapshot, _: &mut Control<'_>) {
        self.progress += 1;
    }

    fn tick(&mut self, _: &mut Control<'_>) {
        self.ticks += 1;
    }

    fn finished(&mut self) {
        self.finished += 1;
    }
}

/// Does something once, so long after the start.
struct At<F: FnMut(&mut Control<'_>)>(Nanos, Option<F>);

impl<F: FnMut(&mut Control<'_>)> Observer for At<F> {
    fn tick(&mut self, control: &mut Control<'_>) {
        if control.elapsed() >= self.0
            && let Some(mut action) = self.1.take()
        {
            action(control);
        }
    }
}

/// Refuses its second batch.
#[derive(Default)]
struct Failing(usize);

impl Observer for Failing {
    fn rows(&mut self, _: &Batch) -> Result<(), ObserverError> {
        self.0 += 1;
        if self.0 < 2 { Ok(()) } else { Err("no room".into()) }
    }
}

#[test]
fn every_observer_gets_every_row_in_one_order() {
    let (mut first, mut second) = (Notes::default(), Notes::default());
    let mut figures = RunFigures::new(OnCutOff::Counted);
    let plan = plan(open(200), 5);
    let outcome =
        run(&plan, "exp:5ms", undisturbed(), &mut [&mut first, &mut figures, &mut second]);
    let generator = outcome.expect("nothing fails").generator;
    assert_eq!((generator.sent, generator.interrupted), (1000, false));
    assert_eq!(first.seqs.len() as u64 + generator.rows_dropped, generator.sent, "none is lost");
    assert_eq!(first.seqs, second.seqs);
    assert_eq!(figures.summary.requests, first.seqs.len() as u64);
    assert!((4..=6).contains(&first.progress), "one a second: {}", first.progress);
    assert!(first.ticks >= 100, "20 a second at least: {}", first.ticks);
    assert_eq!((first.finished, second.finished), (1, 1));
}

#[test]
fn an_interrupt_drains_and_a_second_one_aborts() {
    // Each request takes 3 s; the user interrupts after 2.5 s.
    for (times, stopped, ended_s) in [(1, false, 4), (2, true, 2)] {
        let interrupts = Rc::new(Cell::new(0));
        let counted = Rc::clone(&interrupts);
        let options = SessionOptions::counting(move || counted.get());
        let mut user =
            At(Nanos::from_millis(2500), Some(|_: &mut Control<'_>| interrupts.set(times)));
        let mut notes = Notes::default();
        let plan = plan(open(2), ENDLESS);
        let outcome = run(&plan, "fixed:3s", options, &mut [&mut user, &mut notes]);
        let outcome = outcome.expect("an interrupt is no failure");
        assert_eq!(outcome.interrupts, times);
        assert!(outcome.generator.interrupted);
        assert_eq!(notes.stopped > 0, stopped, "{times}");
        assert!(outcome.ended >= Nanos::from_secs(ended_s), "{times}: {}", outcome.ended);
        assert!(outcome.ended < Nanos::from_secs(ended_s + 2), "{times}: {}", outcome.ended);
        assert_eq!(notes.seqs.len() as u64, outcome.generator.sent, "none is lost");
    }
}

#[test]
fn the_first_interrupt_may_abort() {
    let interrupts = Rc::new(Cell::new(0));
    let counted = Rc::clone(&interrupts);
    let stop = StopPolicy { on_interrupt: OnInterrupt::Abort, deadline: None };
    let options = SessionOptions { stop, ..SessionOptions::counting(move || counted.get()) };
    let mut user = At(Nanos::SECOND, Some(|_: &mut Control<'_>| interrupts.set(1)));
    let mut notes = Notes::default();
    let plan = plan(open(2), ENDLESS);
    let outcome = run(&plan, "fixed:3s", options, &mut [&mut user, &mut notes]);
    assert!(outcome.expect("no failure").ended < Nanos::from_secs(2));
    assert!(notes.stopped > 0);
}

#[test]
fn a_deadline_ends_the_run() {
    let (after, grace) = (Some(Duration::from_secs(2)), Duration::from_millis(500));
    for (kind, interrupted) in [(DeadlineKind::Planned, false), (DeadlineKind::Overrun, true)] {
        let deadline = Some(Deadline { after, grace, kind });
        let stop = StopPolicy { deadline, ..StopPolicy::default() };
        let mut figures = RunFigures::new(OnCutOff::LeftOut);
        let options = SessionOptions { stop, ..undisturbed() };
        let plan = plan(Load::Closed { users: 4 }, ENDLESS);
        let outcome = run(&plan, "fixed:1s", options, &mut [&mut figures]).expect("no failure");
        assert!(outcome.ended >= Nanos::from_millis(2500), "{}", outcome.ended);
        assert!(outcome.ended < Nanos::from_secs(3), "{}", outcome.ended);
        assert_eq!(outcome.generator.interrupted, interrupted, "{kind:?}");
        assert_eq!((figures.left_out, figures.summary.requests), (4, 8), "{kind:?}");
        assert_eq!(figures.summary.failures[FailureKind::Stopped as usize], 0);
    }
}

#[test]
fn an_observer_may_end_the_run() {
    let mut observer = At(Nanos::SECOND, Some(|control: &mut Control<'_>| control.drain()));
    let plan = plan(open(10), ENDLESS);
    let outcome = run(&plan, "fixed:1ms", undisturbed(), &mut [&mut observer]).expect("no failure");
    assert!(outcome.ended < Nanos::from_secs(2), "{}", outcome.ended);
    assert_eq!(outcome.interrupts, 0);
}

#[test]
fn an_observer_that_fails_ends_the_run_with_its_error() {
    let (mut failing, mut notes) = (Failing::default(), Notes::default());
    let plan = plan(open(100), ENDLESS);
    let ended = run(&plan, "fixed:1ms", undisturbed(), &mut [&mut failing, &mut notes]);
    let error = ended.map(drop).unwrap_err();
    assert!(matches!(error, SessionError::Observer(_)), "{error}");
    assert_eq!((error.to_string().as_str(), failing.0), ("no room", 2), "it gets no more rows");
    assert_eq!(notes.finished, 1, "the others are finished");
    assert!(notes.seqs.len() > 100, "and got what came meanwhile");
}

#[test]
fn results_have_every_row() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("results.csv");
    let output = Output::File(path.display().to_string());
    let results = Some(ResultsFile::open_by_path("-output", &output, None).expect("a file"));
    let plan = plan(open(50), 4);
    let outcome = run(&plan, "exp:20ms", SessionOptions { results, ..undisturbed() }, &mut []);
    let generator = outcome.expect("no failure").generator;
    let text = std::fs::read_to_string(&path).expect("it was written");
    std::fs::remove_file(&path).expect("it is there");
    assert_eq!(text.lines().count() as u64 + generator.rows_dropped, generator.sent);
    assert_eq!((generator.sent, generator.rows_dropped), (200, 0));
}

#[test]
fn results_that_cannot_be_written_end_the_run_with_their_error() {
    let output = Output::File("/dev/full".to_owned());
    let results = Some(ResultsFile::open(&output, Encoding::Csv, None).expect("it opens"));
    let mut notes = Notes::default();
    let plan = plan(open(1000), ENDLESS);
    let options = SessionOptions { results, ..undisturbed() };
    let error = run(&plan, "fixed:1ms", options, &mut [&mut notes]).map(drop).unwrap_err();
    assert!(error.to_string().starts_with("/dev/full: "), "{error}");
    assert!(!notes.seqs.is_empty());
}

#[test]
fn results_may_stay_open_for_what_is_known_later() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("results.arrow");
    let output = Output::File(path.display().to_string());
    let results = Some(ResultsFile::open_by_path("-output", &output, None).expect("a file"));
    let options = SessionOptions { results, keeps_results_open: true, ..undisturbed() };
    let outcome = run(&plan(open(50), 1), "fixed:1ms", options, &mut []).expect("no failure");
    let open = outcome.results.expect("they are open");
    open.finish(Vec::new()).expect("they are written");
    let bytes = std::fs::metadata(&path).expect("it was written").len();
    std::fs::remove_file(&path).expect("it is there");
    assert!(bytes > 1000, "{bytes}");
}

/// Answers with a status other than 200 from the first request on: `errors>1%` of 1,000 is lost at the eleventh.
#[test]
fn a_run_whose_gate_is_lost_ends_early_and_keeps_what_it_has() {
    let plan = plan(open(100), 10);
    let gates: metrics::Gates = "max>10ms, errors>90%".parse().unwrap();
    let when = AbortWhen::parse("gates").unwrap();
    let mut abort = AbortObserver::new(when, &plan, &gates, || session::target_labels(&plan));
    let (mut notes, mut figures) = (Notes::default(), RunFigures::new(OnCutOff::Counted));
    let outcome =
        run(&plan, "fixed:50ms", undisturbed(), &mut [&mut abort, &mut notes, &mut figures])
            .unwrap();
    let seen = figures.summary.requests;
    assert!((50..500).contains(&seen), "{seen} of 1,000");
    assert_eq!((notes.stopped, outcome.generator.sent), (0, seen), "those under way ended");
    assert!(outcome.generator.interrupted);
    let [event] = &outcome.events[..] else { panic!("{:?}", outcome.events) };
    let reason = "gate max>10ms is surely crossed";
    assert_eq!(event.what, metrics::EventKind::Ended(reason.to_owned()));
    assert_eq!(abort.unwrap().conclude(cli::ExitCode::Ok), cli::ExitCode::Changed);
}

#[test]
fn a_run_whose_rate_is_missed_ends_early() {
    let shape = Shape::Constant { hits: 100, per: Nanos::SECOND };
    let max_in_flight = Some(1);
    let slow = plan(Load::Open { shape, max_in_flight }, 20);
    let when = AbortWhen::parse("rate").unwrap();
    let ended = |plan: &Plan, service: &str| {
        let mut abort = AbortObserver::new(when, plan, &metrics::Gates::default(), || panic!());
        let outcome = run(plan, service, undisturbed(), &mut [&mut abort]).unwrap();
        (outcome, abort.unwrap().conclude(cli::ExitCode::Ok))
    };
    // One request at a time, of 50 ms each: 20/s.
    let (outcome, code) = ended(&slow, "fixed:50ms");
    assert_eq!(code, cli::ExitCode::Missed);
    assert!(outcome.generator.sent < 200, "{}", outcome.generator.sent);
    let text = outcome.events[0].what.to_string();
    assert!(text.contains("the asked rate is missed: of 300 requests in 3s "), "{text}");
    for load in [
        open(100),
        Load::Open {
            shape: Shape::Poisson { rate: workload::arrival::Rate::per_second(100) },
            max_in_flight: None,
        },
    ] {
        let (outcome, code) = ended(&plan(load, 20), "fixed:50ms");
        assert_eq!((code, outcome.events.len()), (cli::ExitCode::Ok, 0), "it was begun as asked");
    }
}
