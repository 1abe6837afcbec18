//! `Limit`: which of the resources that were watched is at its limit.

use stdx::Nanos;

use super::servers::{Application, Cpu, Servers};
use super::waits::Waits;

/// The CPU of a machine counts as full from this share on.
pub(super) const CPU_FULL: f64 = 0.85;
/// A process uses a whole core from this share of one on.
const CORE_FULL: f64 = 0.95;
/// The same of one whose threads share a lock: it uses a core, or waits for one, in this share of the time.
const LOCKED_CORE_FULL: f64 = 0.85;
/// A process that uses more than a core has no such lock.
const ONE_CORE_MAX: f64 = 1.15;
/// More processes have cores to run on where at least so many are not used by the watched ones.
const SPARE_MIN: f64 = 0.75;
/// A share of time with tasks that wait for a disk, from which it limits.
pub(super) const DISK_MIN: f64 = 0.2;
/// A share of time with tasks that wait for memory, from which it limits.
const MEMORY_MIN: f64 = 0.1;
/// A share of the CPU that the host took, from which it is named.
const STOLEN_MIN: f64 = 0.1;
/// A share of periods in which a container was throttled, from which its quota limits.
const THROTTLED_MIN: f64 = 0.05;
/// A process whose threads wait for a core for less than this share of the time is not kept from one.
const WAITING_MIN: f64 = 0.2;
/// The queue before the application is named where it is at least half of the client's time, and 10 ms.
const QUEUE_SHARE: f64 = 0.5;
const QUEUE_MIN: Nanos = Nanos::from_millis(10);
/// The database limits from this share of the application's time on.
const DATABASE_MIN: f64 = 0.5;

/// The database's share of the application's time, where it is most of it.
pub(super) fn database_share(servers: &Servers) -> Option<f64> {
    let share = servers.application.as_ref()?.database?;
    Some(share).filter(|share| *share >= DATABASE_MIN)
}

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
    /// Requests wait for each other inside the application: for a lock, a connection of a pool.
    Inside,
    /// Requests wait before the application, whose threads were counted and are all taken or which accepts no connections, and no
    /// resource is at its limit.
    Workers,
    ListenQueue,
    /// Requests wait before the application, and its threads are not all taken, or were not counted.
    Queue,
    Disk,
}

/// What is at its limit, the surest first.
pub(super) fn limit(servers: &Servers, is_saturated: bool) -> Option<Limit> {
    let cpu = servers.cpu.as_ref();
    let is_full = cpu.is_some_and(|cpu| cpu.utilisation() >= CPU_FULL);
    let others = cpu.is_some_and(|cpu| cpu.others().is_some_and(|others| others > cpu.busy / 2.0));
    let application = servers.application.as_ref();
    let queue =
        application.is_some_and(has_queue) || servers.backlog.is_some_and(|backlog| backlog >= 1.0);
    let database = application.is_some_and(|one| !has_queue(one) || is_saturated)
        && database_share(servers).is_some();
    let waits = application.and_then(|one| one.waits.as_ref());
    let inside = is_saturated && waits.is_some_and(Waits::is_for_each_other);
    let workers = is_saturated && (queue || application.is_none()) && servers.is_taken();
    // Time that was spent neither on a core nor waiting for one is no fault of the CPU's, however busy it is.
    let is_apart = waits.is_some_and(|waits| waits.is_most() && waits.knows_cores)
        && !cpu.is_some_and(wants_a_core);
    // Its threads are free, and get a core when they want one: others' use of the CPU is not what its requests wait for.
    let is_held_back = queue
        && is_saturated
        && application.is_some_and(|one| one.threads.is_some() && !one.is_full())
        && cpu.is_some_and(|cpu| cpu.waiting.is_some_and(|waiting| waiting < WAITING_MIN));
    let found = [
        (servers.throttled >= THROTTLED_MIN, Limit::Quota),
        (is_apart && inside, Limit::Inside),
        (is_apart && workers, Limit::Workers),
        (cpu.is_some_and(has_one_core_and_could_have_more), Limit::OneCore),
        (is_full && others && is_held_back, Limit::Queue),
        (is_full && others && cpu.is_some_and(waits_for_a_core), Limit::CpuOfOthers),
        (is_full && !others, Limit::Cpu),
        (cpu.is_some_and(has_one_core), Limit::OneCore),
        (servers.stolen >= STOLEN_MIN, Limit::Stolen),
        (servers.memory >= MEMORY_MIN, Limit::Memory),
        (database, Limit::Database),
        (inside, Limit::Inside),
        (workers, Limit::Workers),
        // Full CPUs and workers fill the listen queue, too; it limits by itself where these have time.
        (servers.listen_drops > 0.0, Limit::ListenQueue),
        (queue && is_saturated, Limit::Queue),
        (servers.disk >= DISK_MIN, Limit::Disk),
    ];
    found.into_iter().find(|(holds, _)| *holds).map(|(_, limit)| limit)
}

/// Whether the server has used up the CPU that it can have.
pub(super) fn has_used_up(servers: &Servers) -> bool {
    matches!(limit(servers, true), Some(Limit::Quota | Limit::OneCore | Limit::Cpu))
}

/// Whether a process is of a language whose threads share a lock, or that has one event loop: one core is all that it can use.
pub(super) fn has_global_lock(name: &str) -> bool {
    const KNOWN: [&str; 14] = [
        "puma",
        "ruby",
        "unicorn",
        "pitchfork",
        "passenger",
        "rails",
        "rackup",
        "thin",
        "falcon",
        "python",
        "gunicorn",
        "uvicorn",
        "node",
        "php-fpm",
    ];
    let name = name.to_ascii_lowercase();
    KNOWN.iter().any(|known| name.starts_with(known))
}

/// The busiest process runs on one core, or waits for it, all the time, and can use no second one.
fn wants_a_core(cpu: &Cpu) -> bool {
    cpu.busiest.as_ref().is_some_and(|(name, used)| {
        has_global_lock(name) && used + cpu.waiting.unwrap_or(0.0) >= LOCKED_CORE_FULL
    })
}

/// The busiest process is kept from a core for a good part of the time that it wants one; where that is not known, it may be.
fn waits_for_a_core(cpu: &Cpu) -> bool {
    let used = cpu.busiest.as_ref().map_or(0.0, |(_, used)| *used);
    cpu.waiting.is_none_or(|waiting| waiting >= WAITING_MIN * (used + waiting))
}

fn has_one_core(cpu: &Cpu) -> bool {
    cpu.busiest.as_ref().is_some_and(|(name, used)| {
        let full = if has_global_lock(name) { LOCKED_CORE_FULL } else { CORE_FULL };
        (full..=ONE_CORE_MAX).contains(used)
    })
}

/// Even where all cores are busy: what the watched processes do not use others do, and more processes would have their part.
fn has_one_core_and_could_have_more(cpu: &Cpu) -> bool {
    let is_locked = cpu.busiest.as_ref().is_some_and(|(name, _)| has_global_lock(name));
    let has_spare = cpu.watched.is_some_and(|watched| cpu.cores - watched >= SPARE_MIN);
    is_locked && has_spare && has_one_core(cpu)
}

/// Requests wait before the application for most of their time.
pub(super) fn has_queue(application: &Application) -> bool {
    let part = application.before.0 as f64 / application.client.0.max(1) as f64;
    part >= QUEUE_SHARE && application.before >= QUEUE_MIN
}
