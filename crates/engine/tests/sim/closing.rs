//! Users that close their pipes with bytes unsent: no more events come of such a pipe, and a server that reads nothing cannot
//! keep it. And what only looks like a user's wish for a pipe.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use engine::{Settings, simulate};
use net::Address;
use net::sim::{Faults, Span, World};
use stdx::Nanos;
use workload::{
    Backpressure, Commands, EngineResponse, Load, Pipe, PipeEvent, Plan, RequestCommand,
    RequestKind, StopMode, Target, Targets, VirtualUsers, VuFactory,
};

use crate::pipes::Echo;
use crate::world::{SERVER, check_oracles, constant, plan, run, server};

/// What is sent through a pipe before it is closed: more than a link takes at once.
const LAST: usize = 100_000;

/// The outcome of each request: its status, or the text of its failure.
type RequestOutcomes = Arc<Mutex<Vec<Result<u16, String>>>>;

/// A user that opens a pipe, sends through it and closes it at one stroke, and asks for another one later.
#[derive(Debug)]
struct Leaver {
    leaves: Nanos,
    returns: Nanos,
    asked: usize,
    pipe: Option<Pipe>,
    outcomes: RequestOutcomes,
    stopped: bool,
}

impl Leaver {
    fn answers(&self) -> usize {
        self.outcomes.lock().expect("nobody panics with it").len()
    }

    fn ask() -> RequestCommand {
        let target = Target {
            method: "GET".to_owned(),
            url: format!("http://{SERVER}/"),
            headers: vec![
                ("Connection".to_owned(), "Upgrade".to_owned()),
                ("Upgrade".to_owned(), "echo".to_owned()),
            ],
            body: Arc::from([]),
            weight: 1,
            name: String::new(),
        };
        let timeout = Nanos::from_secs(30);
        RequestCommand {
            user: 0,
            target: Arc::new(target),
            timeout,
            body_max: u64::MAX,
            owner: 0,
            fresh_connection: false,
            kind: RequestKind::Upgrade,
            tls: None,
            redirected: false,
            led_from: None,
            tags: None,
        }
    }
}

impl VirtualUsers for Leaver {
    fn poll(&mut self, now: Nanos, commands: &mut Commands) -> Option<Nanos> {
        if self.asked == 0 || self.asked == 1 && now >= self.returns {
            self.asked += 1;
            commands.requests.push(Self::ask());
        }
        if now >= self.leaves
            && let Some(pipe) = self.pipe.take()
        {
            commands.send(pipe, &[7; LAST]);
            commands.close(pipe);
            commands.close(pipe);
        }
        [self.leaves, self.returns].into_iter().find(|at| *at > now)
    }

    fn handle_response(&mut self, _: u32, reply: &EngineResponse<'_>) {
        self.pipe = reply.pipe;
        let failure = reply.failure.as_ref().map(|(_, text)| text.clone());
        let outcome = failure.map_or(Ok(reply.status), Err);
        self.outcomes.lock().expect("nobody panics with it").push(outcome);
    }

    fn handle_pipe_event(&mut self, pipe: Pipe, _: Nanos, what: PipeEvent<'_>) -> Backpressure {
        assert_eq!(self.pipe, Some(pipe), "{what:?} of a pipe that is closed");
        Backpressure::Continue
    }

    fn stop(&mut self, _: StopMode) {
        self.stopped = true;
    }

    fn is_over(&self) -> bool {
        self.stopped || self.answers() == 2 && self.pipe.is_none()
    }
}

fn leave(faults: Faults, leaves: Nanos, returns: Nanos) -> Vec<Result<u16, String>> {
    let outcomes = RequestOutcomes::default();
    let shared = Arc::clone(&outcomes);
    let make = move |_| {
        let outcomes = Arc::clone(&shared);
        let leaver = Leaver { leaves, returns, asked: 0, pipe: None, outcomes, stopped: false };
        Box::new(leaver) as Box<dyn VirtualUsers>
    };
    let load = Load::Users(VuFactory { users: 1, make: Arc::new(make) });
    let targets = Targets::new(Vec::new());
    let plan = Plan { targets, duration: None, ..plan(load, 1, &[]) };
    let mut world = World::new(1, faults);
    let address = Address::Ip(SERVER.parse().expect("an address"));
    world.add_peer(address, Box::new(Echo::new("101 Switching Protocols", usize::MAX)));
    check_oracles(&simulate(world, plan, &Settings::default()).expect("the settings are sound"));
    outcomes.lock().expect("nobody panics with it").clone()
}

/// Its echo comes back while the rest still goes out.
#[test]
fn a_pipe_that_is_closing_has_no_events() {
    let faults = Faults { send_window: 1_000, ..Faults::default() };
    let outcomes = leave(faults, Nanos::from_millis(100), Nanos::from_secs(1));
    assert_eq!(outcomes, [Ok(101), Ok(101)]);
}

/// There is one descriptor, so that the second dial fails if the first pipe has it still.
#[test]
fn a_server_that_does_not_read_keeps_no_pipe_that_is_closed() {
    let from = Nanos::from_millis(900);
    let stall = Span { from, to: Nanos::from_secs(20) };
    let faults = || Faults {
        send_window: 1_000,
        receive_window: 1_000,
        descriptors: 1,
        server_stalls: vec![stall],
        ..Faults::default()
    };
    let leaves = Nanos::from_secs(1);
    let outcomes = leave(faults(), leaves, Nanos::from_millis(3_100));
    assert_eq!(outcomes, [Ok(101), Ok(101)]);
    let outcomes = leave(faults(), leaves, Nanos::from_millis(2_900));
    assert!(
        outcomes[1].as_ref().is_err_and(|text| text.contains("too many open files")),
        "{outcomes:?}"
    );
}

/// A field `Upgrade` makes no user's wish of an attack's hit.
#[test]
fn an_upgrade_field_lifts_no_limit_of_an_attack() {
    let mut plan = plan(constant(100), 2, &["/"]);
    let mut target = plan.targets.list().get(0).expect("a target").to_target();
    target.headers = vec![("Upgrade".to_owned(), "h2c".to_owned())];
    plan.targets = Targets::new(vec![target]);
    let settings = Settings { max_connections: Some(3), ..Settings::default() };
    let outcome = run(1, Faults::default(), server(0, "fixed:100ms"), plan, &settings);
    check_oracles(&outcome);
    let rows = outcome.batches.iter().flat_map(|batch| &batch.samples);
    let used: BTreeSet<u32> = rows.map(|row| row.conn).collect();
    assert_eq!(used.len(), 3, "{used:?}");
}
