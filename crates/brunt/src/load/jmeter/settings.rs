//! How the engine carries out a plan: as JMeter's client connects, names hosts, and trusts.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use engine::{
    AllProxy, Capture, CapturedHeaders, HeadStyle, HostPolicy, HostRule, HttpVersion, Protocol,
    ProxySettings, Redirects, Settings,
};
use jmeter::{JmeterProgram, Program, World};
use jmx::{MemoryScope, Property};
use stdx::Nanos;
use users::{Control, HttpPlan, Level, SamplePlan, VuPoolPlan, VuStats, WorkPlan, vu_pool};
use workload::executor::{Executor, Scenario};
use workload::{Load, Plan, Segment, Targets, VuFactory};

use super::{moments, words};

/// Threads from which on a plan has all cores.
const MANY: u64 = 100;

/// The engine's settings for a plan.
pub(super) fn settings(program: &Program, scope: &mut MemoryScope) -> Settings {
    let mut settings = Settings {
        workers: if program.users() >= MANY {
            net::machine::allowed_cores().len().max(1)
        } else {
            1
        },
        timeout: None,
        keepalive: true,
        protocol: Protocol::Http1,
        redirects: Redirects::Keep,
        capture: Capture {
            body_max: Capture::BODY_MAX,
            headers: CapturedHeaders::WholeHead,
            ..Capture::default()
        },
        head: HeadStyle::Exact(HttpVersion::Http11),
        own_connections: true,
        rows: false,
        failure_text: words::FAILURE_TEXT,
        host_policy: HostPolicy { hosts: hosts(program, scope), ..HostPolicy::default() },
        ..Settings::default()
    };
    // JMeter trusts every server, and keeps TLS sessions.
    settings.tls.insecure = true;
    settings.tls.session_tickets = true;
    settings.proxy = ProxySettings::of_environment(AllProxy::Ignored, |_| None);
    let sources = program.sources().into_iter().map(|text| text.evaluate(scope));
    settings.local_addrs = sources.filter_map(|text| text.trim().parse().ok()).take(1).collect();
    settings
}

/// Addresses that the plan gives to names.
fn hosts(program: &Program, scope: &mut MemoryScope) -> Vec<HostRule> {
    let managers = program.configs.iter();
    let elements = managers.flat_map(|manager| manager.properties.list("DNSCacheManager.hosts"));
    let rules = elements.filter_map(|one| {
        let Property::Element(host) = one else { return None };
        let mut text = |name: &str| host.text(name).map(|text| text.evaluate(scope));
        let name = text("StaticHost.Name")?.trim().to_ascii_lowercase();
        let address = text("StaticHost.Address")?;
        let ip = address.split(',').next()?.trim().parse().ok()?;
        Some(HostRule { name, port: None, ip, to_port: None })
    });
    rules.collect()
}

/// The threads of a world as a load.
pub(super) fn load(world: &Arc<World>, users: u64) -> (Plan, Arc<Control>) {
    let scenarios = vec![scenario(users)];
    let control = Control::new(&scenarios, &Segment::default());
    let began = Instant::now();
    let pool = VuPoolPlan {
        work: WorkPlan { backs_off: false, ..WorkPlan::of(scenarios) },
        http: HttpPlan::default(),
        samples: SamplePlan::default(),
        clock: Arc::new(move || began.elapsed().into()),
        unix_ms: moments::now_ms() as f64,
        log: Arc::new(|level: Level, text: &str, _| {
            if level == Level::Error {
                cli::eprint_line(text);
            }
        }),
        outcome: Arc::new(Mutex::new(VuStats::default())),
        control: Arc::clone(&control),
        options: None,
    };
    let program = JmeterProgram(Arc::clone(world));
    let make = Arc::new(move |lane| vu_pool(&program, &pool, lane));
    (Plan::new(Load::Users(VuFactory { users, make }), Targets::default(), 0), control)
}

/// Each thread is begun once, and waits for its own start.
fn scenario(users: u64) -> Scenario {
    let max_duration = Nanos::from_secs(DURATION_MAX_S);
    Scenario {
        name: "plan".to_owned(),
        exec: "plan".to_owned(),
        start: Nanos::ZERO,
        graceful_stop: Nanos::ZERO,
        tags: Vec::new(),
        env: Vec::new(),
        executor: Executor::PerVuIterations { vus: users, iterations: 1, max_duration },
    }
}

/// A run ends after so long at the latest: ten years.
const DURATION_MAX_S: u64 = 10 * 365 * 86_400;
