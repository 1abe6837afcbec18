//! Tests of the coordinator alone: what it answers to one message after the other.

use super::*;
use crate::ids::{Digest, Incarnation};
use crate::message::{Barriers, Beat, Echo, Pauses, TEXT_MAX};

const SECOND: u64 = 1_000_000_000;

struct Bench {
    coordinator: Coordinator,
    now: Nanos,
    journal: Vec<Record>,
}

impl Bench {
    fn new(agents: usize) -> Self {
        Self::of(Some(agents))
    }

    fn of(agents: Option<usize>) -> Self {
        let config = Config {
            run: Name::new("run").unwrap(),
            incarnation: Incarnation(1),
            version: "0.1.0".to_owned(),
            agents,
            archive: Digest([0; 32]),
            setup: None,
            ready_within: Nanos(10 * SECOND),
            lead: Nanos(0),
            drain_within: Nanos(30 * SECOND),
            policy: Policy::Fail,
        };
        let coordinator = Coordinator::new(config, Nanos(0));
        Self { coordinator, now: Nanos(0), journal: Vec::new() }
    }

    /// Hands in an input and writes what it appends at once.
    fn input(&mut self, input: Input<'_>) -> Vec<Output> {
        let mut out = Vec::new();
        self.coordinator.handle(self.now, input, &mut out);
        let mut all = Vec::new();
        while !out.is_empty() {
            let fresh = out.iter().filter_map(|output| match output {
                Output::Append(record) => Some(record.clone()),
                _ => None,
            });
            let before = self.journal.len();
            self.journal.extend(fresh);
            all.append(&mut out);
            if self.journal.len() > before {
                let number = self.journal.len() as u64;
                self.coordinator.handle(self.now, Input::Written(number), &mut out);
            }
        }
        all
    }

    fn message(&mut self, name: &str, body: AgentBody) -> Vec<Output> {
        let message = FromAgent { epoch: Epoch(1), body };
        let mut out = self.input(Input::Message(&Name::new(name).unwrap(), &message));
        out.extend(self.input(Input::Tick));
        out
    }

    fn hello(&mut self, name: &str, version: &str) -> Vec<Output> {
        let labels = vec!["x".repeat(2 * TEXT_MAX); 2];
        let hello = Hello { version: version.to_owned(), cores: 1, labels };
        self.message(name, AgentBody::Hello(hello))
    }

    fn beat(&mut self, name: &str, state: AgentState) -> Vec<Output> {
        self.now = Nanos(self.now.0 + SECOND / 10);
        let echo = Some(Echo { sent: self.now, received: self.now });
        let (pauses, barriers) = (Pauses::default(), Barriers::default());
        let beat = Beat { state, echo, sent: self.now, made: Seq(0), pauses, barriers };
        self.message(name, AgentBody::Beat(beat))
    }
}

fn commands(out: &[Output]) -> Vec<Command> {
    let command = |output: &Output| match output {
        Output::Send(_, message) => Some(message.command.clone()),
        _ => None,
    };
    out.iter().filter_map(command).collect()
}

fn outcome(out: &[Output]) -> Option<&Outcome> {
    out.iter().find_map(|output| match output {
        Output::Over(outcome) => Some(outcome),
        _ => None,
    })
}

#[test]
fn it_refuses_what_does_not_fit() {
    let mut bench = Bench::new(1);
    let out = bench.hello("a", "0.2.0");
    let text = "its version is 0.2.0, the run's is 0.1.0".to_owned();
    assert_eq!(commands(&out), [Command::Refuse(text)]);
    bench.hello("a", "0.1.0");
    let out = bench.hello("b", "0.1.0");
    assert!(
        matches!(&commands(&out)[0], Command::Refuse(text) if text.starts_with("the run has begun"))
    );
    let beat = bench.beat("b", AgentState::Waiting);
    assert_eq!(commands(&beat), [Command::Introduce]);
    let other = FromAgent { epoch: Epoch(2), body: AgentBody::Abort("false".to_owned()) };
    let out = bench.input(Input::Message(&Name::new("a").unwrap(), &other));
    assert_eq!(commands(&out), [Command::Introduce], "another process of the same name");
    let Record::Joined { hello, .. } = &bench.journal[0] else { panic!("{:?}", bench.journal) };
    assert_eq!((hello.labels.len(), hello.labels[0].len()), (2, TEXT_MAX));
}

#[test]
fn it_names_agents_that_are_not_ready_in_time() {
    let mut bench = Bench::new(3);
    for name in ["a", "b", "c"] {
        bench.hello(name, "0.1.0");
    }
    for _ in 0..40 {
        bench.beat("a", AgentState::Ready);
        bench.beat("b", AgentState::Preparing);
        bench.beat("c", AgentState::Ready);
    }
    let cause = bench.journal.iter().find_map(|record| match record {
        Record::Stopping { cause } => Some(cause.clone()),
        _ => None,
    });
    assert_eq!(cause.as_deref(), Some("2 of 3 agents were ready within 10s; not b"));
}

#[test]
fn it_says_how_many_joined() {
    let mut bench = Bench::new(3);
    bench.hello("a", "0.1.0");
    bench.now = Nanos(11 * SECOND);
    // One decision a tick: to stop, that the silent agent is lost, and the end.
    let ticks = (0..3).flat_map(|_| bench.input(Input::Tick));
    let out: Vec<Output> = ticks.collect();
    let cause = outcome(&out).and_then(|outcome| outcome.cause.clone());
    assert_eq!(cause.as_deref(), Some("1 of 3 agents joined within 10s"));
}

#[test]
fn nothing_follows_from_a_record_before_it_is_written() {
    let mut bench = Bench::new(1);
    let message = FromAgent {
        epoch: Epoch(1),
        body: AgentBody::Hello(Hello { version: "0.1.0".to_owned(), cores: 1, labels: Vec::new() }),
    };
    let (name, mut out) = (Name::new("a").unwrap(), Vec::new());
    bench.coordinator.handle(Nanos(0), Input::Message(&name, &message), &mut out);
    assert_eq!(commands(&out), []);
    assert_eq!(out.len(), 1, "{out:?}");
    bench.coordinator.handle(Nanos(0), Input::Written(1), &mut out);
    assert_eq!(commands(&out), [Command::Welcome]);
}

#[test]
fn an_agent_may_end_the_run() {
    let mut bench = Bench::new(1);
    bench.hello("a", "0.1.0");
    let out = bench.message("a", AgentBody::Abort("threshold p95<300".to_owned()));
    let cause = outcome(&out).and_then(|outcome| outcome.cause.clone());
    assert_eq!(cause.as_deref(), Some("a: threshold p95<300"));
}

#[test]
fn all_that_wait_are_taken_where_their_number_is_open() {
    let mut bench = Bench::of(None);
    assert_eq!(bench.input(Input::Tick), []);
    for name in ["a", "b", "c"] {
        assert_eq!(commands(&bench.hello(name, "0.1.0")), [Command::Welcome]);
    }
    bench.now = Nanos(GATHER_FOR.0 - 1);
    assert!(!bench.journal.iter().any(|record| matches!(record, Record::Assigned(_))));
    bench.now = GATHER_FOR;
    bench.input(Input::Tick);
    assert!(matches!(bench.journal.last(), Some(Record::Assigned(shares)) if shares.len() == 3));
    let mut empty = Bench::of(None);
    empty.now = Nanos(11 * SECOND);
    let out: Vec<Output> = (0..3).flat_map(|_| empty.input(Input::Tick)).collect();
    let cause = outcome(&out).and_then(|outcome| outcome.cause.clone());
    assert_eq!(cause.as_deref(), Some("no agent joined within 10s"));
}
