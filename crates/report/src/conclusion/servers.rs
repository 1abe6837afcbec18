//! `Servers`: what the conclusion needs of the server's side.

use metrics::server::{Log, Measure, SourceSummary};
use metrics::{Histogram, Summary};
use stdx::Nanos;

use super::growth::MemoryGrowth;
use super::waits::Waits;
use crate::server::{Capacity, Cores, During, NetworkAndQueue, ServerSide};

/// What was seen of the servers; absent is what was not watched.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Servers {
    pub(super) application: Option<Application>,
    pub(super) cpu: Option<Cpu>,
    /// The share of time in which some task waited for a disk.
    pub(super) disk: f64,
    /// The share of time in which some task waited for memory.
    pub(super) memory: f64,
    /// The share of the CPU that the host took away.
    pub(super) stolen: f64,
    /// The share of periods in which a container had used up its CPU quota.
    pub(super) throttled: f64,
    /// The quota of that container, in cores.
    pub(super) quota: Option<f64>,
    /// Connections a second that the kernel dropped, since the queue of a listening socket was full.
    pub(super) listen_drops: f64,
    /// Connections that waited at a time until the server accepted them, where its port was watched.
    pub(super) accept_queue: Option<f64>,
    /// Requests that waited in Puma's own queue, as its exporter says.
    pub(super) backlog: Option<f64>,
    /// A watched process whose memory grows.
    pub(super) growth: Option<MemoryGrowth>,
}

/// The application, by its log.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Application {
    /// The log's name: `rails`.
    pub(super) name: String,
    /// The client's mean time, from the moment requests were sent.
    pub(super) client: Nanos,
    /// The application's mean time.
    pub(super) own: Nanos,
    /// What lies between the two: network and queues.
    pub(super) before: Nanos,
    /// Requests in the application at a time, on average.
    pub(super) in_service: Option<f64>,
    /// How many it can work on at once, where its threads or workers were counted.
    pub(super) threads: Option<f64>,
    /// The database's share of the application's time.
    pub(super) database: Option<f64>,
    /// What requests wait for inside.
    pub(super) waits: Option<Waits>,
}

/// All threads are taken from this share of them on. Requests in the application are an average that falls short of the threads
/// by what these do between two requests.
const FULL_MIN: f64 = 0.7;

impl Application {
    /// Whether all its threads or workers are taken. Where they were not counted, it is not known.
    pub(super) fn is_full(&self) -> bool {
        let taken = self.in_service.zip(self.threads);
        taken.is_some_and(|(in_service, threads)| in_service >= FULL_MIN * threads)
    }
}

/// CPU, in cores.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Cpu {
    pub(super) cores: f64,
    pub(super) busy: f64,
    /// Used by the watched processes; absent where none was watched.
    pub(super) watched: Option<f64>,
    /// The process that used most, with its cores.
    pub(super) busiest: Option<(String, f64)>,
    /// Threads of it that waited for a core at a time.
    pub(super) waiting: Option<f64>,
}

impl Cpu {
    pub(super) fn utilisation(&self) -> f64 {
        self.busy / self.cores
    }

    /// Cores used by what was not watched.
    pub(super) fn others(&self) -> Option<f64> {
        self.watched.map(|watched| (self.busy - watched).max(0.0))
    }
}

impl Servers {
    pub(super) fn of(server: &ServerSide<'_>) -> Self {
        let capacity = Capacity::of(server);
        let machine = |names: &[&str]| {
            let machines = server.side.sources().iter().filter(|one| one.source == "machine");
            let values =
                machines.flat_map(|one| names.iter().filter_map(|name| mean(server, one, name)));
            values.fold(0.0, f64::max)
        };
        let throttled =
            server.side.sources().iter().filter_map(|one| {
                Some((mean(server, one, "throttled")?, mean(server, one, "quota")))
            });
        let throttled = throttled.max_by(|one, other| one.0.total_cmp(&other.0));
        let (throttled, quota) = throttled.unwrap_or_default();
        Self {
            application: application(server, &capacity),
            cpu: cpu(server),
            disk: machine(&["pressure.io", "cpu.iowait"]),
            memory: machine(&["pressure.memory"]),
            stolen: machine(&["cpu.steal"]),
            throttled,
            quota,
            listen_drops: machine(&["tcp.listen_drops"]),
            accept_queue: capacity.accept_queue,
            backlog: backlog(server),
            growth: MemoryGrowth::of(server),
        }
    }
}

/// A server that is ready accepts a connection within the time between two looks: fewer than one wait at a time.
const UNACCEPTED_MIN: f64 = 1.0;

impl Servers {
    /// Whether connections wait at the server's own port: all that could accept them is taken.
    pub(super) fn takes_no_more(&self) -> bool {
        self.accept_queue.is_some_and(|waiting| waiting >= UNACCEPTED_MIN)
    }

    /// Whether all that could work on requests is taken: as far as threads were counted by these, else by what waits at the port.
    pub(super) fn is_taken(&self) -> bool {
        let counted = self.application.as_ref().filter(|one| one.threads.is_some());
        counted.map_or_else(|| self.takes_no_more(), Application::is_full)
    }

    /// What the server is called: by its log, or by the process that used most of the CPU.
    pub(super) fn name(&self) -> &str {
        let process = || self.cpu.as_ref().filter(|cpu| cpu.watched.is_some())?.busiest.as_ref();
        let log = self.application.as_ref().map(|one| one.name.as_str());
        log.or_else(|| process().map(|(name, _)| name.as_str())).unwrap_or("the application")
    }
}

/// A client tries a dropped connection again after a second (RFC 6298, 2).
const TRIED_AGAIN: Nanos = Nanos::SECOND;

impl Servers {
    /// Without connections that the kernel dropped of others: where every request was answered within a second, none of its own
    /// was dropped. The kernel counts for all sockets of the machine.
    pub(super) fn without_others_drops(self, client: &Summary) -> Self {
        let own = client.failed() > 0 || client.response.max() >= TRIED_AGAIN;
        Self { listen_drops: if own { self.listen_drops } else { 0.0 }, ..self }
    }
}

/// The mean of a measure while requests were due, where it was read.
fn mean(server: &ServerSide<'_>, source: &SourceSummary, name: &str) -> Option<f64> {
    source
        .measure(name)
        .filter(|measure| measure.count > 0)
        .map(|measure| server.mean_during(measure, During::Load))
}

/// `None` where the log's requests are not the client's: their times are of different requests.
fn application(server: &ServerSide<'_>, capacity: &Capacity) -> Option<Application> {
    let between = NetworkAndQueue::of(server)?;
    if !between.counts_agree() && between.by_request.is_none() {
        return None;
    }
    let log = server.application()?;
    let sum = |times: &Histogram| times.sum() as f64;
    let database =
        (log.database.count() > 0).then(|| sum(&log.database) / sum(&log.total).max(1.0));
    Some(Application {
        name: between.log.clone(),
        client: between.client.mean(),
        own: between.server.mean(),
        before: Nanos(u64::try_from(between.mean_ns()).unwrap_or(0)),
        in_service: in_service(server, &log).or(capacity.in_service()),
        threads: capacity.serving_threads.filter(|threads| *threads >= 1.0),
        database,
        waits: Waits::of(server, &log, capacity),
    })
}

/// Requests in the application at a time while requests were due, by the times of those that ended then. Afterwards there are
/// fewer and fewer.
fn in_service(server: &ServerSide<'_>, log: &Log) -> Option<f64> {
    let client = server.client?;
    let cells = log.over_time().filter(|(at, _)| (client.earliest..client.latest).contains(at));
    let (count, sum) = cells
        .fold((0u64, 0.0), |(count, sum), (_, cell)| (count + 1, sum + cell.total.sum() as f64));
    (count > 1).then(|| sum / (count as f64 * log.width().0.max(1) as f64))
}

fn cpu(server: &ServerSide<'_>) -> Option<Cpu> {
    let of = Cores::of(server, During::Load);
    let (cores, busy) = (of.all?, of.busy?);
    let processes = server.side.sources().iter().filter(|one| one.source.starts_with("process "));
    let used = processes.filter_map(|one| {
        let name = one.source.splitn(3, ' ').nth(2)?.to_owned();
        Some((name, mean(server, one, "cpu")?, mean(server, one, "cpu.waiting")))
    });
    let busiest = used.max_by(|a, b| a.1.total_cmp(&b.1));
    let waiting = busiest.as_ref().and_then(|(.., waiting)| *waiting);
    let busiest = busiest.map(|(name, used, _)| (name, used));
    Some(Cpu { cores, busy, watched: of.of_processes, busiest, waiting })
}

/// The requests that wait in Puma's queue, of all its workers: `puma_backlog` of its Prometheus exporters.
fn backlog(server: &ServerSide<'_>) -> Option<f64> {
    let scrapes = server.side.sources().iter().filter(|one| one.source.starts_with("scrape "));
    let series = scrapes.flat_map(|one| &one.measures);
    let backlogs = series
        .filter(|(name, _)| name.starts_with("puma_backlog"))
        .map(|(_, one)| Measure::mean(one));
    backlogs.fold(None, |sum, value| Some(sum.unwrap_or(0.0) + value))
}
