//! Requests that end before they are sent: their users go on at once.

use std::sync::{Arc, Mutex};

use engine::{HostPolicy, Settings, simulate};
use net::sim::{Faults, World};
use stdx::Nanos;
use workload::{
    Backpressure, Commands, EngineResponse, Load, Pipe, PipeEvent, Plan, RequestCommand,
    RequestKind, StopMode, Target, Targets, VirtualUsers, VuFactory,
};

use crate::world::plan;

/// So many are asked for, each after the answer to the one before it.
const REQUESTS: usize = 100;

/// When each answer came.
type Answers = Arc<Mutex<Vec<Nanos>>>;

/// A user that asks a host which is blocked again and again.
#[derive(Debug)]
struct Blocked {
    asked: usize,
    answers: Answers,
    stopped: bool,
}

impl Blocked {
    fn answered(&self) -> usize {
        self.answers.lock().expect("nobody panics with it").len()
    }
}

impl VirtualUsers for Blocked {
    fn poll(&mut self, _: Nanos, commands: &mut Commands) -> Option<Nanos> {
        if self.asked == self.answered() && self.asked < REQUESTS {
            self.asked += 1;
            let target = Target {
                method: "GET".to_owned(),
                url: "http://a.blocked.test/".to_owned(),
                headers: Vec::new(),
                body: Arc::from([]),
                weight: 1,
                name: String::new(),
            };
            commands.requests.push(RequestCommand {
                user: 0,
                target: Arc::new(target),
                timeout: Nanos::from_secs(30),
                body_max: u64::MAX,
                owner: 0,
                fresh_connection: false,
                kind: RequestKind::Plain,
                tls: None,
                redirected: false,
                led_from: None,
                tags: None,
            });
        }
        None
    }

    fn handle_response(&mut self, _: u32, reply: &EngineResponse<'_>) {
        assert!(reply.failure.is_some(), "it was sent");
        self.answers.lock().expect("nobody panics with it").push(reply.done);
    }

    fn handle_pipe_event(&mut self, _: Pipe, _: Nanos, _: PipeEvent<'_>) -> Backpressure {
        Backpressure::Continue
    }

    fn stop(&mut self, _: StopMode) {
        self.stopped = true;
    }

    fn is_over(&self) -> bool {
        self.stopped || self.answered() == REQUESTS
    }
}

#[test]
fn they_cost_no_heartbeat() {
    let answers = Answers::default();
    let shared = Arc::clone(&answers);
    let make = move |_| {
        let answers = Arc::clone(&shared);
        Box::new(Blocked { asked: 0, answers, stopped: false }) as Box<dyn VirtualUsers>
    };
    let load = Load::Users(VuFactory { users: 1, make: Arc::new(make) });
    let plan = Plan { targets: Targets::new(Vec::new()), duration: None, ..plan(load, 1, &[]) };
    let blocked_names = vec!["*.blocked.test".to_owned()];
    let host_policy = HostPolicy { blocked_names, ..HostPolicy::default() };
    let settings = Settings { host_policy, ..Settings::default() };
    simulate(World::new(1, Faults::default()), plan, &settings).expect("the settings are sound");
    let answers = answers.lock().expect("nobody panics with it");
    assert_eq!(answers.len(), REQUESTS);
    let took = answers[REQUESTS - 1].saturating_sub(answers[0]);
    // The loop's heartbeat is 50 ms: each of them cost one.
    assert!(took < Nanos::from_millis(100), "{took}");
}
