//! `Steps`: what a user of these tests does in each iteration, one step after another.

use std::rc::Rc;

use stdx::{MemoryShare, Nanos};
use users::{
    Action, ActionResult, Call, Exception, Host, HttpRequest, Level, SharedJar, StepResult, Ticket,
    UserProgram, VirtualUser,
};

/// A step of an iteration.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// Gets a URL and waits for the response. The status, the URL that answered and the body go to the log.
    Get(&'static str),
    /// The same of a request of any kind.
    Send(fn(SharedJar) -> HttpRequest),
    /// Waits for so many seconds.
    Sleep(f64),
    /// The same, each iteration of a user twice as long as the one before.
    SleepTwiceAsLong(f64),
    /// The iteration fails.
    Fail(&'static str),
}

/// What all users do.
#[derive(Clone, Debug)]
pub(crate) struct Steps {
    pub(crate) list: Vec<Step>,
    /// Users with a greater number cannot be made.
    pub(crate) last_user: u64,
}

impl Steps {
    pub(crate) fn new(list: &[Step]) -> Self {
        Self { list: list.to_vec(), last_user: u64::MAX }
    }
}

impl UserProgram for Steps {
    type User = StepUser;
    type Shared = Rc<Self>;

    const USER_BYTES: usize = 1 << 10;

    fn share(&self, _threads: usize) -> Result<Rc<Self>, Exception> {
        Ok(Rc::new(self.clone()))
    }

    fn spawn(all: &Rc<Self>, host: Rc<dyn Host>, number: u64) -> Result<StepUser, Exception> {
        if number > all.last_user {
            return Err(Exception::internal(format!("user {number} is one too many")));
        }
        let (steps, jar) = (Rc::clone(all), SharedJar::default());
        let (next, tickets, begun) = (0, 0, 0);
        Ok(StepUser { steps, host, jar, next, tickets, begun, state: State::Idle, asked: vec![] })
    }
}

/// A user that follows its steps.
pub(crate) struct StepUser {
    steps: Rc<Steps>,
    host: Rc<dyn Host>,
    jar: SharedJar,
    next: usize,
    tickets: u64,
    begun: u64,
    state: State,
    asked: Vec<Action>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Idle,
    AwaitsResult(Ticket),
    SleepsUntil(Nanos),
}

impl StepUser {
    /// Goes on until it has to wait.
    fn go_on(&mut self) -> StepResult {
        let Some(step) = self.steps.list.get(self.next).copied() else {
            self.state = State::Idle;
            return StepResult::Done(Ok(None));
        };
        self.next += 1;
        match step {
            Step::Get(url) => self.send(HttpRequest {
                method: "GET".into(),
                url: url.into(),
                jar: Some(Rc::clone(&self.jar)),
                ..HttpRequest::default()
            }),
            Step::Send(request) => self.send(request(Rc::clone(&self.jar))),
            Step::Sleep(seconds) => self.sleep(seconds),
            Step::SleepTwiceAsLong(seconds) => {
                self.sleep(seconds * f64::from(1_u32 << (self.begun - 1)))
            }
            Step::Fail(text) => {
                self.state = State::Idle;
                StepResult::Done(Err(Exception::internal(text.to_owned())))
            }
        }
    }

    fn sleep(&mut self, seconds: f64) -> StepResult {
        let until = self.host.now().saturating_add(Nanos::from_secs_f64(seconds));
        self.state = State::SleepsUntil(until);
        StepResult::Waits { until: Some(until) }
    }

    fn send(&mut self, request: HttpRequest) -> StepResult {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        self.asked.push(Action::Http(ticket, Box::new(request)));
        self.state = State::AwaitsResult(ticket);
        StepResult::Waits { until: None }
    }
}

impl VirtualUser for StepUser {
    fn call(&mut self, _call: Call) -> StepResult {
        assert_eq!(self.state, State::Idle, "a user does one thing at a time");
        self.begun += 1;
        self.next = 0;
        self.go_on()
    }

    fn answer(&mut self, ticket: Ticket, answer: ActionResult) -> Option<StepResult> {
        if self.state != State::AwaitsResult(ticket) {
            return None;
        }
        if let ActionResult::Http(response) = answer {
            let url = response.url.as_deref().unwrap_or("as asked");
            let body = response.body.unwrap_or_default();
            let failure = response.failure.map(|failure| format!(" {}", failure.text));
            let text = format!(
                "{} {url} {}{}",
                response.status,
                String::from_utf8_lossy(&body),
                failure.unwrap_or_default()
            );
            self.host.log(Level::Info, &text);
        }
        Some(self.go_on())
    }

    fn wake(&mut self) -> Option<StepResult> {
        match self.state {
            State::Idle => None,
            State::AwaitsResult(_) => Some(StepResult::Waits { until: None }),
            State::SleepsUntil(until) if self.host.now() < until => {
                Some(StepResult::Waits { until: Some(until) })
            }
            State::SleepsUntil(_) => Some(self.go_on()),
        }
    }

    fn stop(&mut self) {
        self.state = State::Idle;
    }

    fn has_actions(&self) -> bool {
        !self.asked.is_empty()
    }

    fn take_actions(&mut self, into: &mut Vec<Action>) -> MemoryShare {
        into.append(&mut self.asked);
        MemoryShare::default()
    }
}
