//! `World`: pools, a server and a clock that stands unless it is moved.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use metrics::tally::Value;
use stdx::Nanos;
use users::{
    Control, HttpPlan, PriorStages, SamplePlan, Stage, VuPoolPlan, VuStats, WorkPlan, vu_pool,
};
use workload::arrival::Shard;
use workload::executor::{Executor, Scenario};
use workload::{Commands, EngineResponse, Segment, Target, VirtualUsers};

use super::step_user::Steps;

/// The server's response.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// Header lines, each ended by CR LF.
    pub(crate) fields: String,
    pub(crate) body: &'static str,
    /// The name of what went wrong, and its text; there is no response then.
    pub(crate) failure: Option<(&'static str, String)>,
}

impl Reply {
    pub(crate) fn ok() -> Self {
        Self { status: 200, ..Self::default() }
    }

    pub(crate) fn redirect(status: u16, location: &str) -> Self {
        Self { status, fields: format!("Location: {location}\r\n"), ..Self::default() }
    }
}

/// Responds to what is sent.
pub(crate) type Server = fn(&Target) -> Reply;

/// How long the server takes for each response, unless a test says something else.
const SERVICE_TIME: Nanos = Nanos::from_millis(10);

/// A response on its way.
struct Pending {
    at: Nanos,
    due: Nanos,
    pool: usize,
    user: u32,
    reply: Reply,
}

pub(crate) struct World {
    pub(crate) pools: Vec<Box<dyn VirtualUsers>>,
    pub(crate) control: Arc<Control>,
    pub(crate) service_time: Nanos,
    server: Server,
    now: Nanos,
    clock: Arc<AtomicU64>,
    stats: Arc<Mutex<VuStats>>,
    log: Arc<Mutex<Vec<String>>>,
    pending: Vec<Pending>,
    sent: Vec<Target>,
    timeouts: Vec<Nanos>,
}

/// The end of a test.
pub(crate) struct Ended {
    pub(crate) stats: VuStats,
    pub(crate) lines: Vec<String>,
    /// What the server received.
    pub(crate) sent: Vec<Target>,
    pub(crate) at: Nanos,
}

impl World {
    /// So many workers with users that do these steps.
    pub(crate) fn new(steps: &Steps, scenarios: Vec<Scenario>, workers: u64) -> Self {
        Self::with_plan(steps, scenarios, workers, |_| {})
    }

    pub(crate) fn with_plan(
        steps: &Steps,
        scenarios: Vec<Scenario>,
        workers: u64,
        change: impl FnOnce(&mut VuPoolPlan),
    ) -> Self {
        let segment = Segment::default();
        let control = Control::new(&scenarios, &segment);
        let (clock, stats) = (Arc::new(AtomicU64::new(0)), Arc::<Mutex<VuStats>>::default());
        let (log, time) = (Arc::<Mutex<Vec<String>>>::default(), Arc::clone(&clock));
        let lines = Arc::clone(&log);
        let mut plan = VuPoolPlan {
            control: Arc::clone(&control),
            work: WorkPlan {
                scenarios,
                segment,
                stage: Stage::Iteration,
                earlier: PriorStages::default(),
                data: None,
                min_iteration: Nanos::ZERO,
                backs_off: true,
            },
            http: HttpPlan {
                max_redirects: 10,
                default_headers: [("User-Agent".to_owned(), "test".to_owned())].into(),
                batch: (20, 6),
                ..HttpPlan::default()
            },
            samples: SamplePlan::default(),
            clock: Arc::new(move || Nanos(time.load(Ordering::Relaxed))),
            log: Arc::new(move |_, text, fields| {
                let fields = fields.iter().filter(|field| field.1 != "console");
                let fields = fields.map(|(name, value)| format!(" {name}={value}"));
                lines.lock().unwrap().push(format!("{text}{}", fields.collect::<String>()));
            }),
            outcome: Arc::clone(&stats),
            options: None,
            unix_ms: 1_000_000.0,
        };
        change(&mut plan);
        let shard = |first| Shard { first, step: workers };
        let pools = (0..workers).map(|first| vu_pool(steps, &plan, shard(first))).collect();
        let server = |_: &Target| Reply::ok();
        Self {
            pools,
            control,
            service_time: SERVICE_TIME,
            server,
            now: Nanos::ZERO,
            clock,
            stats,
            log,
            pending: Vec::new(),
            sent: Vec::new(),
            timeouts: Vec::new(),
        }
    }

    pub(crate) fn served_by(mut self, server: Server) -> Self {
        self.server = server;
        self
    }

    /// Lets time pass until this moment, or until all is over; gives when that was.
    pub(crate) fn run_until(&mut self, end: Nanos) -> Nanos {
        let mut last = self.now;
        while self.now <= end && !self.pools.iter().all(|pool| pool.is_over()) {
            last = self.now;
            self.clock.store(self.now.0, Ordering::Relaxed);
            self.respond();
            let wakes: Vec<Nanos> = (0..self.pools.len()).filter_map(|at| self.poll(at)).collect();
            let responses = self.pending.iter().map(|pending| pending.at);
            let next = wakes.into_iter().chain(responses).min().unwrap_or(Nanos::MAX);
            self.now = next.max(self.now.saturating_add(Nanos(1_000)));
        }
        last
    }

    fn poll(&mut self, pool: usize) -> Option<Nanos> {
        let mut commands = Commands::default();
        let wake = self.pools[pool].poll(self.now, &mut commands);
        for command in commands.requests {
            let (due, user) = (self.now, command.user);
            let (at, reply) =
                (due.saturating_add(self.service_time), (self.server)(&command.target));
            self.pending.push(Pending { at, due, pool, user, reply });
            self.sent.push((*command.target).clone());
            self.timeouts.push(command.timeout);
        }
        wake
    }

    /// How long each request that was sent may take.
    pub(crate) fn timeouts(&self) -> &[Nanos] {
        &self.timeouts
    }

    /// Hands over the responses that have come.
    fn respond(&mut self) {
        let now = self.now;
        for pending in self.pending.extract_if(.., |pending| pending.at <= now) {
            let Pending { due, pool, user, reply, .. } = pending;
            let head = format!("HTTP/1.1 {} X\r\n{}\r\n", reply.status, reply.fields);
            let response = EngineResponse {
                due,
                sent: Some(due),
                all_sent: Some(due),
                first_byte: Some(now),
                done: now,
                status: reply.status,
                head: reply.failure.is_none().then(|| head.into_bytes().into()),
                body: reply.body.as_bytes(),
                bytes_out: 100,
                wire_in: 1_000,
                failure: reply.failure,
                ..EngineResponse::default()
            };
            self.pools[pool].handle_response(user, &response);
        }
    }

    /// Runs to the end.
    pub(crate) fn run(mut self) -> Ended {
        let at = self.run_until(Nanos::from_secs(3_600));
        assert!(self.pools.iter().all(|pool| pool.is_over()), "it never ends");
        // Responses that come too late are nothing to them.
        self.now = Nanos::MAX;
        self.respond();
        drop(std::mem::take(&mut self.pools));
        let lines = std::mem::take(&mut *self.log.lock().unwrap());
        let stats = std::mem::take(&mut *self.stats.lock().unwrap());
        Ended { stats, lines, sent: self.sent, at }
    }
}

impl Ended {
    /// The sum of a counter.
    pub(crate) fn sum(&self, metric: &str) -> f64 {
        match self.stats.tally.value(metric) {
            Some(Value::Counter { sum, .. }) => *sum,
            other => panic!("{metric}: {other:?}"),
        }
    }

    /// Iterations that were completed, and that were ended before.
    pub(crate) fn iterations(&self) -> (u64, u64) {
        (self.stats.iterations, self.stats.interrupted)
    }

    /// The requests that the server received: method, URL and a header field.
    pub(crate) fn requests(&self, field: &str) -> Vec<String> {
        let request = |target: &Target| {
            let value = target.headers.iter().find(|(name, _)| name == field);
            let value = value.map(|(_, value)| format!(" {value}")).unwrap_or_default();
            format!("{} {}{value}", target.method, target.url)
        };
        self.sent.iter().map(request).collect()
    }
}

pub(crate) fn seconds(n: f64) -> Nanos {
    Nanos::from_secs_f64(n)
}

pub(crate) fn is_near(time: Nanos, expect: f64) -> bool {
    (time.0 as f64 / 1e9 - expect).abs() < 0.06
}

/// One scenario, from the start, whose iterations have so long after its end.
pub(crate) fn scenario(executor: Executor, graceful_stop: f64) -> Vec<Scenario> {
    vec![Scenario {
        name: "s".to_owned(),
        exec: "default".to_owned(),
        start: Nanos::ZERO,
        graceful_stop: seconds(graceful_stop),
        tags: Vec::new(),
        env: Vec::new(),
        executor,
    }]
}

/// One user that does its steps once.
pub(crate) fn once() -> Vec<Scenario> {
    let max_duration = seconds(60.0);
    scenario(Executor::PerVuIterations { vus: 1, iterations: 1, max_duration }, 1.0)
}
