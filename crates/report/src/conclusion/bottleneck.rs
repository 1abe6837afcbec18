//! Sentences on what limits the server, and on what to do next. Without the server's side nothing is said of its limit, only
//! how to see it.

use stdx::Nanos;

use super::facts::{Class, Facts, Offered};
use super::outcome::Outcome;
use super::sentence::{Kind, Sentence};
use super::servers::{Application, Cpu, Servers};
use super::words::{share, three, time};

/// The CPU of a machine counts as full from this share on.
const CPU_FULL: f64 = 0.85;
/// A process uses a whole core from this share of one on.
const CORE_FULL: f64 = 0.95;
/// Programs that are not watched are named from this share of all cores on, as in the report's section on capacity.
const OTHERS_MIN: f64 = 0.25;
/// A share of time with tasks that wait for a disk, from which it limits.
const DISK_MIN: f64 = 0.2;
/// A share of time with tasks that wait for memory, from which it limits.
const MEMORY_MIN: f64 = 0.1;
/// A share of the CPU that the host took, from which it is named.
const STOLEN_MIN: f64 = 0.1;
/// A share of periods in which a container was throttled, from which its quota limits.
const THROTTLED_MIN: f64 = 0.05;
/// The queue before the application is named where it is at least half of the client's time, and 10 ms.
const QUEUE_SHARE: f64 = 0.5;
const QUEUE_MIN: Nanos = Nanos::from_millis(10);
/// The database limits from this share of the application's time on.
const DATABASE_MIN: f64 = 0.5;

/// What is said of connections that the kernel dropped.
const DROPS: &str = "the kernel dropped connections, since the listen queue was full";

/// A resource at its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    Quota,
    /// Mostly by programs that were not watched.
    CpuOfOthers,
    Cpu,
    OneCore,
    Stolen,
    Memory,
    Database,
    /// Requests wait before the application, whose workers are all taken, and no resource is at its limit.
    Workers,
    ListenQueue,
    /// Requests wait before the application, and its workers are not all taken.
    Queue,
    Disk,
}

/// What is at its limit, the surest first.
pub(super) fn limit(servers: &Servers, is_saturated: bool) -> Option<Limit> {
    let cpu = servers.cpu.as_ref();
    let is_full = cpu.is_some_and(|cpu| cpu.utilisation() >= CPU_FULL);
    let others = cpu.is_some_and(|cpu| cpu.others().is_some_and(|others| others > cpu.busy / 2.0));
    let one_core =
        cpu.and_then(|cpu| cpu.busiest.as_ref()).is_some_and(|(_, used)| *used >= CORE_FULL);
    let application = servers.application.as_ref();
    let queue =
        application.is_some_and(has_queue) || servers.backlog.is_some_and(|backlog| backlog >= 1.0);
    let database = application.is_some_and(|one| !has_queue(one) || is_saturated)
        && application.and_then(|one| one.database).is_some_and(|part| part >= DATABASE_MIN);
    let found = [
        (servers.throttled >= THROTTLED_MIN, Limit::Quota),
        (is_full && others, Limit::CpuOfOthers),
        (is_full, Limit::Cpu),
        (one_core, Limit::OneCore),
        (servers.stolen >= STOLEN_MIN, Limit::Stolen),
        (servers.memory >= MEMORY_MIN, Limit::Memory),
        (database, Limit::Database),
        (queue && is_saturated && application.is_none_or(|one| one.is_full), Limit::Workers),
        // Full CPUs and workers fill the listen queue, too; it limits by itself where these have time.
        (servers.listen_drops > 0.0, Limit::ListenQueue),
        (queue && is_saturated, Limit::Queue),
        (servers.disk >= DISK_MIN, Limit::Disk),
    ];
    found.into_iter().find(|(holds, _)| *holds).map(|(_, limit)| limit)
}

fn has_queue(application: &Application) -> bool {
    let part = application.before.0 as f64 / application.client.0.max(1) as f64;
    part >= QUEUE_SHARE && application.before >= QUEUE_MIN
}

/// What limits the server: a claim where it could not keep up, an observation where it could.
pub(super) fn sentence(facts: &Facts, outcome: Outcome) -> Option<Sentence> {
    let servers = facts.servers.as_ref()?;
    if matches!(outcome, Outcome::Untested | Outcome::Unanswered | Outcome::Unjudged) {
        return None;
    }
    let is_saturated = outcome.is_saturated();
    let limit = limit(servers, is_saturated);
    let mut parts: Vec<String> = Vec::new();
    parts.extend(servers.application.as_ref().map(|one| application(one, is_saturated)));
    parts.extend(
        servers
            .backlog
            .filter(|backlog| *backlog >= 1.0)
            .map(|backlog| format!("{} requests wait in Puma's queue", three(backlog))),
    );
    parts.extend(servers.cpu.as_ref().map(cpu));
    parts.extend(limit.and_then(|limit| resource(servers, limit)));
    let drops = servers.listen_drops > 0.0 && limit != Some(Limit::ListenQueue);
    parts.extend(drops.then(|| DROPS.to_owned()));
    if parts.is_empty() {
        return None;
    }
    let lead = match (is_saturated, limit) {
        // A server that uses little CPU may wait for other things than a core.
        (true, Some(Limit::CpuOfOthers)) => "Perhaps the bottleneck",
        (true, Some(_)) => "Bottleneck",
        (true, None) => "Nothing that was watched is at its limit",
        (false, Some(_)) => "Nearest to its limit",
        (false, None) => "Seen at the server, nothing at its limit",
    };
    let text = format!("{lead}: {}.", parts.join("; "));
    Some(Sentence { kind: Kind::Bottleneck, text, figures: figures(servers) })
}

/// `requests wait 1.1s of 1.16s before rails starts on them, its workers are all taken`.
fn application(one: &Application, is_saturated: bool) -> String {
    let (name, client) = (&one.name, time(one.client));
    let at_a_time = one
        .in_service
        .map_or(String::new(), |n| format!(" ({} requests in it at a time)", three(n)));
    match (has_queue(one), is_saturated) {
        (true, true) if one.is_full => format!(
            "requests wait {} of {client} before {name} starts on them, since its workers are all taken{at_a_time}",
            time(one.before)
        ),
        (true, true) => format!(
            "requests wait {} of {client} before {name} starts on them{at_a_time}",
            time(one.before)
        ),
        (true, false) => {
            format!(
                "{} of {client} pass in queues or the network before {name} starts on a request",
                time(one.before)
            )
        }
        (false, _) => format!("{name} itself takes {} of {client}{at_a_time}", time(one.own)),
    }
}

/// `the CPU is 87% busy (1 of 2 cores by what was watched, 0.7 by other programs)`.
fn cpu(cpu: &Cpu) -> String {
    let (cores, all) = (three(cpu.cores), share(cpu.utilisation().min(1.0)));
    let of = if cpu.cores == 1.0 { "1 core".to_owned() } else { format!("{cores} cores") };
    let Some(watched) = cpu.watched else {
        return format!("the CPU is {all} busy ({} of {of}, all programs)", three(cpu.busy));
    };
    let who = cpu.busiest.as_ref().map_or("the watched".to_owned(), |(name, _)| name.clone());
    let others = cpu.others().unwrap_or(0.0);
    let others = match others >= OTHERS_MIN * cpu.cores {
        true => format!(", {} by other programs", three(others)),
        false => String::new(),
    };
    format!("the CPU is {all} busy ({} of {of} by {who}{others})", three(watched))
}

/// What the parts on the application and the CPU do not say of a limit.
fn resource(servers: &Servers, limit: Limit) -> Option<String> {
    let busiest = || servers.cpu.as_ref().and_then(|cpu| cpu.busiest.clone()).unwrap_or_default();
    Some(match limit {
        Limit::Quota => {
            format!(
                "its container had used up its CPU quota in {} of the periods",
                share(servers.throttled)
            )
        }
        Limit::ListenQueue => DROPS.to_owned(),
        Limit::OneCore => format!("the process {} uses a whole core", busiest().0),
        Limit::Stolen => format!("the host takes {} of the CPU", share(servers.stolen)),
        Limit::Disk => format!("tasks wait for a disk in {} of the time", share(servers.disk)),
        Limit::Memory => format!("tasks wait for memory in {} of the time", share(servers.memory)),
        Limit::Database => {
            let part = servers.application.as_ref().and_then(|one| one.database).unwrap_or(0.0);
            format!("the database takes {} of the application's time", share(part))
        }
        Limit::CpuOfOthers | Limit::Cpu | Limit::Workers | Limit::Queue => return None,
    })
}

fn figures(servers: &Servers) -> Vec<(&'static str, f64)> {
    let mut figures = Vec::new();
    if let Some(one) = &servers.application {
        let times =
            [("client_mean", one.client), ("server_mean", one.own), ("before_server", one.before)];
        figures.extend(times.map(|(name, time)| (name, time.0 as f64)));
        figures.extend(one.in_service.map(|n| ("in_service", n)));
        figures.extend(one.database.map(|part| ("database", part)));
    }
    if let Some(cpu) = &servers.cpu {
        figures.extend([
            ("cores", cpu.cores),
            ("cores_busy", cpu.busy),
            ("cpu", cpu.utilisation()),
        ]);
        figures.extend(cpu.watched.map(|watched| ("cores_of_processes", watched)));
        figures.extend(cpu.others().map(|others| ("cores_of_others", others)));
    }
    let shares = [
        ("disk", servers.disk),
        ("memory", servers.memory),
        ("stolen", servers.stolen),
        ("throttled", servers.throttled),
        ("listen_drops_per_s", servers.listen_drops),
    ];
    figures.extend(shares.into_iter().filter(|(_, value)| *value > 0.0));
    figures.extend(servers.backlog.map(|backlog| ("backlog", backlog)));
    figures
}

/// How to see the server's side.
const WATCH: &str = "watch the server to see what limits it (-watch -watch-port=PORT -watch-log=rails:FILE; `brunt watch` on \
                     another machine)";

/// What to do next.
pub(super) fn advice(facts: &Facts, outcome: Outcome) -> Option<Sentence> {
    let text = match outcome {
        Outcome::Untested => return None,
        Outcome::Unjudged => facts.remedy.map(str::to_owned)?,
        Outcome::Unanswered => "check that the server runs, and the address and port".to_owned(),
        Outcome::Failed => "look at one answer before the next run (curl -i URL)".to_owned(),
        Outcome::TimedOut | Outcome::TurnedAway | Outcome::Overloaded => saturated_advice(facts),
        Outcome::Failing => failing_advice(facts),
        Outcome::Paused => watch_too(
            "look at what the server did then (its log, a garbage collection, a job, a lock)",
            facts,
        ),
        Outcome::Unclear(_) => longer(facts),
        Outcome::KeptUp => {
            watch_too("find the highest rate that the server bears (`brunt seek`)", facts)
        }
        Outcome::ByUsers => by_users(facts),
    };
    Some(Sentence { kind: Kind::Advice, text: format!("Next: {text}."), figures: Vec::new() })
}

fn failing_advice(facts: &Facts) -> String {
    let look = "look at one of the answers that failed (curl -i URL), and at the server's log";
    match facts.classes.first() {
        Some((Class::Status(504), _)) => {
            "look behind the proxy: what it waits for took longer than its timeout".to_owned()
        }
        Some((Class::Status(502), _)) => {
            "look behind the proxy: what it passes requests to refuses them or ends".to_owned()
        }
        _ => watch_too(look, facts),
    }
}

/// A longer run: three times as long, and a minute at least.
fn longer(facts: &Facts) -> String {
    const MINUTE: Nanos = Nanos::from_secs(60);
    let length = Nanos(facts.nominal().0.saturating_mul(3)).max(MINUTE);
    format!("run it for {}", time(length))
}

fn saturated_advice(facts: &Facts) -> String {
    const SEEK: &str = "find the rate that it bears (`brunt seek`)";
    let Some(servers) = &facts.servers else {
        return format!("{WATCH}, and {SEEK}");
    };
    let first = match limit(servers, true) {
        Some(Limit::Quota) => "raise the container's CPU quota",
        Some(Limit::ListenQueue) => "add workers or processes, or raise the listen backlog",
        Some(Limit::CpuOfOthers) => {
            "end the other programs, or run the load generator on another machine, and measure again"
        }
        Some(Limit::Cpu) => "use less CPU per request, or more cores",
        Some(Limit::OneCore) => "spread the work over more processes",
        Some(Limit::Stolen) => "use a machine with CPUs of its own",
        Some(Limit::Disk) => "reduce what is read from and written to the disk",
        Some(Limit::Memory) => "give the machine more memory, or use less",
        Some(Limit::Database) => "look at the queries, and at the database's own machine",
        Some(Limit::Workers) if has_spare_cpu(servers) => {
            "try more workers or threads, since the CPU has room"
        }
        Some(Limit::Workers) => "try more workers or threads",
        Some(Limit::Queue) => {
            "look at what passes requests on to the application (its web server's threads, a proxy)"
        }
        None => {
            "watch more of the server (its processes with -watch-port, its log with -watch-log)"
        }
    };
    format!("{first}; then {SEEK}")
}

fn has_spare_cpu(servers: &Servers) -> bool {
    servers.cpu.as_ref().is_some_and(|cpu| cpu.utilisation() < CPU_FULL)
}

fn by_users(facts: &Facts) -> String {
    let first = match facts.offered {
        Offered::Script(_) => "find the highest rate that the server bears (`brunt seek`)",
        _ => {
            "find the highest rate that the server bears (`brunt seek`), since users who wait for answers ask a slow server for less"
        }
    };
    watch_too(first, facts)
}

fn watch_too(first: &str, facts: &Facts) -> String {
    match facts.servers {
        Some(_) => first.to_owned(),
        None => format!("{first}; {WATCH}"),
    }
}
