//! Sentences on what limits the server, and on what to do next. Without the server's side nothing is said of its limit, only
//! how to see it.

use metrics::Outcome as Answer;
use metrics::{FailureKind, GrpcStatus};
use stdx::Nanos;

use super::class::Class;
use super::facts::{Facts, Offered};
use super::growth::MemoryGrowth;
use super::limit::{DISK_MIN, Limit, database_share, has_global_lock, has_queue, limit};
use super::outcome::{Doubt, Outcome};
use super::remedy::remedy;
use super::sentence::{Kind, Sentence};
use super::servers::{Application, Cpu, Servers};
use super::words::{share, three, time};
use crate::server::size;

/// Programs that are not watched are named from this share of all cores on, as in the report's section on capacity.
const OTHERS_MIN: f64 = 0.25;

/// What is said of connections that the kernel dropped.
const DROPS: &str = "the kernel dropped connections, since the listen queue was full";

/// What limits the server: a claim where it could not keep up, an observation where it could.
pub(super) fn sentence(facts: &Facts, outcome: Outcome) -> Option<Sentence> {
    let servers = facts.servers.as_ref()?;
    if matches!(outcome, Outcome::Untested | Outcome::Unanswered | Outcome::Unjudged) {
        return None;
    }
    let is_saturated = outcome.is_saturated();
    // Pressure is the whole machine's, so that it limits no server that fails for a reason of its own.
    let is_far =
        |limit: &Limit| matches!(limit, Limit::Disk | Limit::Memory) && outcome == Outcome::Failing;
    let limit = limit(servers, is_saturated).filter(|limit| !is_far(limit));
    let mut parts: Vec<String> = Vec::new();
    let shows_waits = matches!(limit, Some(Limit::Inside | Limit::Workers));
    let inner = servers.application.as_ref().filter(|_| shows_waits).and_then(inside);
    parts.extend(inner);
    parts.extend(application(servers, is_saturated));
    let is_before = matches!(limit, Some(Limit::Workers | Limit::Queue));
    parts.extend(unaccepted(servers).filter(|_| is_before));
    parts.extend(
        servers
            .backlog
            .filter(|backlog| *backlog >= 1.0)
            .map(|backlog| format!("{} requests wait in Puma's queue", three(backlog))),
    );
    parts.extend(servers.cpu.as_ref().map(cpu));
    parts.extend(limit.and_then(|limit| resource(servers, limit)));
    let is_apart = matches!(limit, Some(Limit::Inside | Limit::Workers | Limit::Queue));
    let is_on_disk = is_apart && servers.disk >= DISK_MIN;
    parts.extend(is_on_disk.then(|| resource(servers, Limit::Disk)).flatten());
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
    let seen = parts.join("; ");
    let text = match limit {
        Some(limit) => format!("{lead}: {}. {}.", winner(servers, limit), capitalised(&seen)),
        None => format!("{lead}: {seen}."),
    };
    let text = text + &servers.growth.as_ref().map_or(String::new(), growth);
    Some(Sentence { kind: Kind::Bottleneck, text, figures: figures(servers) })
}

/// What is at its limit, in as few words as it takes.
fn winner(servers: &Servers, limit: Limit) -> String {
    let name = || servers.name();
    let process = || servers.cpu.as_ref().and_then(|cpu| cpu.busiest.as_ref());
    match limit {
        Limit::Quota => "the container's CPU quota".to_owned(),
        Limit::CpuOfOthers => "the CPU, which other programs use".to_owned(),
        Limit::Cpu => "the CPU".to_owned(),
        Limit::OneCore => {
            format!("the one core of the process {}", process().map_or("", |(name, _)| name))
        }
        Limit::Stolen => "the host, which takes CPU away".to_owned(),
        Limit::Memory => "memory".to_owned(),
        Limit::Database => "the database".to_owned(),
        Limit::Inside => format!("something that requests wait for inside {}", name()),
        Limit::Workers => format!("the threads or workers of {}", name()),
        Limit::ListenQueue => "the listen queue".to_owned(),
        Limit::Queue => format!("the queue before {}", name()),
        Limit::Disk => "the disk".to_owned(),
    }
}

/// `14.2 connections at a time wait until puma accepts them`.
fn unaccepted(servers: &Servers) -> Option<String> {
    let waiting = servers.accept_queue.filter(|_| servers.takes_no_more())?;
    let name = servers.cpu.as_ref().and_then(|cpu| cpu.busiest.as_ref());
    let name = name.map_or(servers.name(), |(name, _)| name);
    Some(format!("{} connections at a time wait until {name} accepts them", three(waiting)))
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or(String::new(), |first| first.to_uppercase().collect::<String>() + letters.as_str())
}

/// ` Memory of puma grows by 465 MiB a minute (from 205 MiB to 360 MiB after the warm-up): …`.
fn growth(growth: &MemoryGrowth) -> String {
    format!(
        " The memory of {} grows by {} a minute (from {} to {} after the warm-up) and has not stopped: perhaps a leak.",
        growth.name,
        size(growth.per_minute),
        size(growth.from),
        size(growth.to)
    )
}

/// `requests wait 1.1s of 1.16s before rails starts on them, since its threads are all taken`.
fn application(servers: &Servers, is_saturated: bool) -> Option<String> {
    let one = servers.application.as_ref()?;
    let (name, client) = (&one.name, time(one.client));
    let at_a_time = match (one.in_service, one.threads) {
        (Some(n), Some(threads)) => {
            format!(" ({} requests in it at a time, room for {})", three(n), three(threads))
        }
        (Some(n), None) => format!(" ({} requests in it at a time)", three(n)),
        (None, _) => String::new(),
    };
    let before = time(one.before);
    Some(match (has_queue(one), is_saturated) {
        (true, true) => {
            let why = match servers.is_taken() {
                true => ", since its threads or workers are all taken",
                false => "",
            };
            format!(
                "requests wait {before} of {client} before {name} starts on them{why}{at_a_time}"
            )
        }
        (true, false) => {
            format!(
                "{before} of {client} pass in queues or the network before {name} starts on a request"
            )
        }
        (false, _) => format!("{name} itself takes {} of {client}{at_a_time}", time(one.own)),
    })
}

/// `inside rails they wait 247ms of 256ms for something that is neither view, database nor CPU`, where it is most of their time.
fn inside(one: &Application) -> Option<String> {
    let waits = one.waits.as_ref().filter(|waits| waits.is_most())?;
    let what = match waits.knows_database {
        true => "neither view, database nor CPU",
        false => "not CPU",
    };
    let quickest = match waits.is_for_each_other() {
        true => format!(", and the quickest took {}", time(waits.quickest)),
        false => String::new(),
    };
    let (name, other, own) = (&one.name, time(waits.other), time(waits.own));
    Some(format!(
        "inside {name} requests wait {other} of {own} for something that is {what}{quickest}"
    ))
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
            let who = servers.cpu.as_ref().filter(|cpu| cpu.watched.is_some());
            let who = who.and_then(|cpu| cpu.busiest.as_ref()).map_or("it", |(name, _)| name);
            let cores = servers.quota.map_or(String::new(), |cores| match cores {
                1.0 => " of 1 core".to_owned(),
                _ => format!(" of {} cores", three(cores)),
            });
            let periods = share(servers.throttled);
            format!("the container's CPU quota{cores} throttled {who} in {periods} of the periods")
        }
        Limit::ListenQueue => DROPS.to_owned(),
        Limit::OneCore => {
            let (name, used) = busiest();
            let database = database_share(servers).map_or(String::new(), |part| {
                format!("; the database takes {} of the application's time", share(part))
            });
            let core = match has_global_lock(&name) {
                true => format!(
                    "the process {name} uses {} of the one core that its threads share",
                    three(used)
                ),
                false => format!("the process {name} uses a whole core"),
            };
            core + &database
        }
        Limit::Stolen => format!("the host takes {} of the CPU", share(servers.stolen)),
        Limit::Disk => format!("tasks wait for a disk in {} of the time", share(servers.disk)),
        Limit::Memory => format!("tasks wait for memory in {} of the time", share(servers.memory)),
        Limit::Database => {
            let part = servers.application.as_ref().and_then(|one| one.database).unwrap_or(0.0);
            format!("the database takes {} of the application's time", share(part))
        }
        Limit::CpuOfOthers | Limit::Cpu | Limit::Inside | Limit::Workers | Limit::Queue => {
            return None;
        }
    })
}

fn figures(servers: &Servers) -> Vec<(&'static str, f64)> {
    let mut figures = Vec::new();
    if let Some(one) = &servers.application {
        let times =
            [("client_mean", one.client), ("server_mean", one.own), ("before_server", one.before)];
        figures.extend(times.map(|(name, time)| (name, time.0 as f64)));
        figures.extend(one.in_service.map(|n| ("in_service", n)));
        figures.extend(one.threads.map(|n| ("threads", n)));
        figures.extend(one.waits.map(|waits| ("other_waits", waits.other.0 as f64)));
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
    figures.extend(servers.accept_queue.map(|waiting| ("accept_queue", waiting)));
    figures.extend(servers.backlog.map(|backlog| ("backlog", backlog)));
    figures.extend(servers.quota.map(|cores| ("quota", cores)));
    figures.extend(servers.growth.as_ref().map(|one| ("memory_per_minute", one.per_minute)));
    figures
}

/// How to see the server's side.
const WATCH: &str = "watch the server to see what limits it (-watch -watch-port=PORT -watch-log=rails:FILE; `brunt watch` on \
                     another machine)";

/// What to look at where nothing was answered, by the most frequent reason.
fn unanswered_advice(facts: &Facts) -> &'static str {
    let Some((Class::Failure(kind), _)) = facts.classes.first() else { return UNREACHED };
    match kind {
        FailureKind::Dns => "check the host name, and that this machine can resolve it",
        FailureKind::Dial => {
            "check the address, or the path of the socket, and that this machine can reach it (the errors say why it could not)"
        }
        FailureKind::Tls => {
            "check the server's certificate and its versions of TLS (the errors say what is wrong; -root-certs=FILE, -insecure)"
        }
        FailureKind::Proxy => {
            "check the proxy, its user and its password (HTTP_PROXY, HTTPS_PROXY)"
        }
        FailureKind::Malformed => "check that the port speaks HTTP, and whether it wants https://",
        FailureKind::Target => "look at the errors: no such request can be sent",
        _ => UNREACHED,
    }
}

const UNREACHED: &str = "check that the server runs, and the address and port";

/// What to do next.
pub(super) fn advice(facts: &Facts, outcome: Outcome) -> Option<Sentence> {
    let text = match outcome {
        Outcome::Untested => return None,
        Outcome::Unjudged => facts.remedy.map(str::to_owned)?,
        Outcome::Unanswered => unanswered_advice(facts).to_owned(),
        Outcome::Failed => match facts.classes.first() {
            Some((Class::Status(Answer::Grpc(status)), _)) => grpc_advice(*status),
            Some((Class::Failure(kind), _)) => broken_advice(*kind).to_owned(),
            _ => LOOK.to_owned(),
        },
        Outcome::TimedOut | Outcome::TurnedAway | Outcome::Overloaded => saturated_advice(facts),
        Outcome::Failing => failing_advice(facts),
        Outcome::ChecksFail => {
            "look at an answer of which the check failed (`brunt run --http-debug=full`)".to_owned()
        }
        Outcome::Paused => watch_too(
            "look at what the server did then (its log, a garbage collection, a job, a lock)",
            facts,
        ),
        Outcome::Unclear(Doubt::Several) => "look at each run alone (brunt report FILE)".to_owned(),
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
        Some((Class::Status(Answer::Http(504)), _)) => {
            "look behind the proxy: what it waits for took longer than its timeout".to_owned()
        }
        Some((Class::Status(Answer::Http(502)), _)) => {
            "look at the proxy's error log: what it passes requests to refuses them or ends, or a limit of its own is reached \
             (max_conns, worker_connections)"
                .to_owned()
        }
        Some((Class::Status(Answer::Grpc(status)), _)) => watch_too(&grpc_advice(*status), facts),
        Some((Class::Failure(FailureKind::Eof | FailureKind::Reset | FailureKind::Refused), _)) => {
            watch_too(CLOSED, facts)
        }
        _ => watch_too(look, facts),
    }
}

/// What to look at where connections end without an answer.
const CLOSED: &str = "look at what ends or refuses the connections: the log of the server, or of the proxy before it (a restart, a \
                      limit on connections or workers)";

const LOOK: &str = "look at one answer before the next run (curl -i URL)";

/// What to look at where the server answers and no answer can be used.
fn broken_advice(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::Redirects => {
            "look where the redirects lead (curl -iL URL): a session, a host name or https:// may be missing"
        }
        FailureKind::Truncated => {
            "look at why answers end before their length (curl -i URL, and the logs of the server and of proxies)"
        }
        FailureKind::TooLarge => "look at the size of one answer's head and body (curl -i URL)",
        FailureKind::Decode => "look at one answer's Content-Encoding (curl -i --compressed URL)",
        _ => LOOK,
    }
}

/// What to look at by the most frequent status of calls that failed.
fn grpc_advice(status: GrpcStatus) -> String {
    let look = match status.name() {
        "UNIMPLEMENTED" => "check the name of the method (`brunt grpc list HOST:PORT`)",
        "UNAUTHENTICATED" | "PERMISSION_DENIED" => {
            "check the metadata that calls are sent with (-metadata)"
        }
        "INVALID_ARGUMENT" | "FAILED_PRECONDITION" | "OUT_OF_RANGE" | "NOT_FOUND" => {
            "check the message that is sent (-data)"
        }
        "DEADLINE_EXCEEDED" => "look at what the method waits for, in the server's log",
        "UNAVAILABLE" => "look at whether the server ended connections or restarted, in its log",
        "RESOURCE_EXHAUSTED" => "look at the server's limits (quotas, sizes of messages)",
        _ => "look at the texts of the errors, and at the server's log",
    };
    look.to_owned()
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
    format!("{}; then {SEEK}", remedy(servers))
}

fn by_users(facts: &Facts) -> String {
    let first = match facts.offered {
        Offered::Script(_) | Offered::Iterations(_) => {
            "find the highest rate that the server bears (`brunt seek`)"
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that answers each request with one more redirect "answered nothing … check that the server runs".
    #[test]
    fn issue_39_answers_that_cannot_be_used_are_answers() {
        use FailureKind::{Decode, Eof, Redirects, Refused, TooLarge, Truncated};
        let facts = |kind| Facts {
            requests: 100,
            unanswered: 100,
            classes: vec![(Class::Failure(kind), 100)],
            ..Facts::default()
        };
        for kind in [Redirects, Truncated, TooLarge, Decode] {
            let facts = facts(kind);
            let outcome = Outcome::of(&facts);
            assert_eq!(outcome, Outcome::Failed, "{kind:?}");
            let text = advice(&facts, outcome).expect("advice").text;
            assert!(text.contains("curl -i") && !text.contains("server runs"), "{text}");
        }
        for kind in [Refused, Eof] {
            assert_eq!(Outcome::of(&facts(kind)), Outcome::Unanswered, "{kind:?}");
        }
    }

    /// A method of gRPC was to be called with `curl -i URL`.
    #[test]
    fn issue_39_calls_of_grpc_that_fail_are_not_looked_at_with_curl() {
        let words = |status: &str, outcome| {
            let status = GrpcStatus::from_name(status).expect("a status");
            let class = Class::Status(Answer::Grpc(status));
            let facts = Facts { classes: vec![(class, 60)], ..Facts::default() };
            advice(&facts, outcome).map_or_else(String::new, |sentence| sentence.text)
        };
        for status in ["DEADLINE_EXCEEDED", "UNAVAILABLE", "INTERNAL", "NOT_FOUND"] {
            for outcome in [Outcome::Failed, Outcome::Failing] {
                let text = words(status, outcome);
                assert!(text.starts_with("Next: ") && !text.contains("curl"), "{text}");
            }
        }
        let list = words("UNIMPLEMENTED", Outcome::Failed);
        assert!(list.contains("brunt grpc list"), "{list}");
        assert!(words("INTERNAL", Outcome::Failing).contains("errors"));
    }
}
