//! Tests of the agent alone: what it answers to one message after the other.

use super::*;
use crate::ids::Digest;
use crate::split::Share;

const SECOND: u64 = 1_000_000_000;

struct Bench {
    agent: Agent,
    now: Nanos,
}

impl Bench {
    fn new() -> Self {
        let hello = Hello { version: "0.1.0".to_owned(), cores: 2, labels: Vec::new() };
        let config = AgentConfig {
            epoch: Epoch(7),
            hello,
            spool_bytes_max: 1000,
            alone_max: Nanos(5 * SECOND),
        };
        Self { agent: Agent::new(config, Nanos(SECOND)), now: Nanos(SECOND) }
    }

    fn input(&mut self, input: AgentInput<'_>) -> Vec<AgentOutput> {
        let mut out = Vec::new();
        self.agent.handle(self.now, input, &mut out);
        out
    }

    fn command(&mut self, command: Command) -> Vec<AgentOutput> {
        self.command_of(1, 7, command)
    }

    fn command_of(&mut self, incarnation: u64, epoch: u64, command: Command) -> Vec<AgentOutput> {
        let message = FromCoordinator {
            run: Name::new("run").unwrap(),
            incarnation: Incarnation(incarnation),
            epoch: Epoch(epoch),
            sent: Nanos(5),
            command,
        };
        self.input(AgentInput::Message(&message))
    }

    /// Ticks each 100 ms.
    fn pass(&mut self, ns: u64) -> Vec<AgentOutput> {
        let end = self.now.0 + ns;
        let mut out = Vec::new();
        while self.now.0 < end {
            self.now = Nanos(end.min(self.now.0 + SECOND / 10));
            out.extend(self.input(AgentInput::Tick));
        }
        out
    }

    fn ready(&mut self) {
        let share = Share { segment: "0:1".to_owned(), sequence: "0,1".to_owned() };
        let assignment = Assignment { archive: Digest([1; 32]), setup: None, share };
        self.command(Command::Welcome);
        let out = self.command(Command::Prepare(assignment.clone()));
        assert!(out.contains(&AgentOutput::Prepare(assignment.clone())), "{out:?}");
        let out = self.command(Command::Prepare(assignment.clone()));
        assert!(!out.contains(&AgentOutput::Prepare(assignment)), "the same again is one");
        self.input(AgentInput::Prepared(Ok(())));
        assert_eq!(*self.agent.state(), AgentState::Ready);
    }

    fn run(&mut self) {
        self.ready();
        let at = Nanos(self.now.0 + 2 * SECOND);
        assert!(self.command(Command::Start { at }).contains(&AgentOutput::StartLoad { at }));
        self.pass(2 * SECOND);
        let again = self.command(Command::Start { at });
        assert!(!again.contains(&AgentOutput::StartLoad { at }), "the same again is one");
        assert_eq!(*self.agent.state(), AgentState::Running);
    }

    fn measure(&mut self) -> Vec<AgentOutput> {
        let counts = Counts { planned: 1, answered: 1, ..Counts::default() };
        self.input(AgentInput::Delta((self.now, self.now), counts, vec![1]))
    }
}

/// The numbers of the deltas that were sent.
fn deltas(out: &[AgentOutput]) -> Vec<u64> {
    let number = |output: &AgentOutput| match output {
        AgentOutput::Send(FromAgent { body: AgentBody::Delta(delta), .. }) => Some(delta.seq.0),
        _ => None,
    };
    out.iter().filter_map(number).collect()
}

fn is_stop(output: &AgentOutput) -> bool {
    matches!(output, AgentOutput::StopLoad(_))
}

#[test]
fn it_asks_to_join_each_second() {
    let mut bench = Bench::new();
    let hellos = |out: &[AgentOutput]| {
        let is = |output: &&AgentOutput| matches!(output, AgentOutput::Send(message) if matches!(message.body, AgentBody::Hello(_)));
        out.iter().filter(is).count()
    };
    let out = bench.pass(3 * SECOND);
    assert_eq!(hellos(&out), 3);
    bench.command(Command::Welcome);
    assert_eq!(hellos(&bench.pass(3 * SECOND)), 0);
}

#[test]
fn an_old_coordinator_and_another_process_are_ignored() {
    let mut bench = Bench::new();
    bench.run();
    bench.command_of(3, 7, Command::Beat);
    let out = bench.command_of(2, 7, Command::Stop("old".to_owned()));
    assert!(!out.iter().any(is_stop), "incarnation 2 after 3");
    let out = bench.command_of(3, 8, Command::Stop("other".to_owned()));
    assert!(!out.iter().any(is_stop), "another epoch");
    let out = bench.command_of(4, 7, Command::Stop("new".to_owned()));
    assert!(out.contains(&AgentOutput::StopLoad("new".to_owned())));
}

#[test]
fn deltas_are_sent_until_they_are_applied() {
    let mut bench = Bench::new();
    bench.run();
    assert_eq!(deltas(&bench.measure()), [1]);
    assert_eq!(deltas(&bench.measure()), [2]);
    assert_eq!(deltas(&bench.pass(SECOND)), [] as [u64; 0]);
    assert_eq!(deltas(&bench.pass(SECOND)), [1, 2], "after two seconds without progress");
    assert_eq!(deltas(&bench.command(Command::Resend(Seq(2)))), [2]);
    bench.command(Command::Applied(Seq(2)));
    assert!(bench.agent.spool().is_empty());
    assert_eq!(deltas(&bench.pass(4 * SECOND)), [] as [u64; 0]);
}

#[test]
fn a_window_bounds_what_is_under_way() {
    let mut bench = Bench::new();
    bench.run();
    let sent: Vec<u64> = (0..WINDOW + 20).flat_map(|_| deltas(&bench.measure())).collect();
    assert_eq!(sent, (1..=WINDOW).collect::<Vec<_>>());
    let out = bench.command(Command::Applied(Seq(10)));
    assert_eq!(deltas(&out), (WINDOW + 1..=WINDOW + 10).collect::<Vec<_>>());
}

#[test]
fn a_start_that_comes_too_late_fails() {
    let mut bench = Bench::new();
    bench.ready();
    bench.pass(SECOND);
    let at = Nanos(bench.now.0 - SECOND / 2);
    let out = bench.command(Command::Start { at });
    assert!(!out.iter().any(|output| matches!(output, AgentOutput::StartLoad { .. })));
    assert_eq!(
        *bench.agent.state(),
        AgentState::Failed("its start came 500ms too late".to_owned())
    );
}

#[test]
fn a_pause_skips_what_fell_due() {
    let mut bench = Bench::new();
    bench.run();
    bench.now = Nanos(bench.now.0 + 30 * SECOND);
    let out = bench.input(AgentInput::Tick);
    assert!(out.contains(&AgentOutput::SkipOverdue { before: bench.now }));
    assert!(!out.iter().any(is_stop), "30 s without a message, but it could not have come");
    let pauses = out.iter().find_map(|output| match output {
        AgentOutput::Send(FromAgent { body: AgentBody::Beat(beat), .. }) => Some(beat.pauses),
        _ => None,
    });
    assert_eq!(pauses.unwrap().longest, Nanos(30 * SECOND));
}

#[test]
fn alone_it_ends_after_its_limit_and_retains_its_deltas() {
    let mut bench = Bench::new();
    bench.run();
    bench.measure();
    let limit = bench.agent.config.alone_max.0;
    assert!(!bench.pass(limit).iter().any(is_stop));
    assert!(
        bench.pass(SECOND / 5).contains(&AgentOutput::StopLoad("no coordinator for 5s".to_owned()))
    );
    bench.input(AgentInput::Ended);
    assert_eq!(bench.agent.spool().made(), Seq(2));
    // The coordinator comes back: the deltas are sent, then it is released.
    let out = bench.command_of(2, 7, Command::Resend(Seq(1)));
    assert_eq!(deltas(&out), [1, 2]);
    assert!(bench.command_of(2, 7, Command::Release).contains(&AgentOutput::Leave));
}

#[test]
fn barriers_are_passed_in_their_order_and_once() {
    let mut bench = Bench::new();
    bench.run();
    let out = bench.input(AgentInput::AtBarrier(1));
    let reached = |output: &AgentOutput| match output {
        AgentOutput::Send(FromAgent { body: AgentBody::Beat(beat), .. }) => beat.barriers.reached,
        _ => 0,
    };
    assert_eq!(out.iter().map(reached).max(), Some(1), "the coordinator hears of it at once");
    let pass = |barrier, at| Command::Pass { barrier, at: Nanos(at) };
    let passed = |out: &[AgentOutput]| out.iter().any(|o| matches!(o, AgentOutput::Pass { .. }));
    assert!(!passed(&bench.command(pass(2, 9))), "the second comes after the first");
    let out = bench.command(pass(1, 9));
    assert!(out.contains(&AgentOutput::Pass { barrier: 1, at: Nanos(9) }), "{out:?}");
    assert!(!passed(&bench.command(pass(1, 9))), "the same again is one");
    bench.command(Command::Stop("enough".to_owned()));
    assert!(!passed(&bench.command(pass(2, 9))), "nothing is to go on any more");
}
