//! Capacity by arithmetic, as one does it on the back of an envelope: CPU per request, requests per second and process at
//! work, and the most that the cores can do at such a cost.

use metrics::server::{Measure, SourceSummary};
use stdx::Nanos;

use super::network_and_queue::NetworkAndQueue;
use super::side::{During, ServerSide};
use super::table::{Table, percent};
use crate::number::{counted, duration, grouped, number};

/// The share of all cores that other processes than the watched ones may use without a note.
const OTHERS_MAX: f64 = 0.25;

/// What a run says of the servers' capacity. Absent is what was not seen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Capacity {
    /// Requests completed a second, `X`: the client's count, else the log's.
    pub requests_per_s: Option<f64>,
    /// The rate of the requests in `server_mean`: `X`, or the log's where its requests are not the client's, as for an
    /// application behind a server that serves files.
    pub log_requests_per_s: Option<f64>,
    /// The client's requests and the log's, where they differ by more than a tenth.
    pub counts_apart: Option<(u64, u64)>,
    /// Cores of all machines that were watched.
    pub cores: Option<f64>,
    /// How many of them were busy, on average while the run went on.
    pub cores_busy: Option<f64>,
    /// How many cores the watched processes used.
    pub cores_of_processes: Option<f64>,
    /// CPU seconds of the watched processes a request: their CPU time by the log's requests where those are the
    /// client's, else `cores / X`.
    pub cpu_per_request_s: Option<f64>,
    /// Processes that were there on average, those that watch over others included.
    pub processes: Option<f64>,
    /// Those of them that do the work: without a master, which begins a tree of processes and takes hardly any CPU time.
    pub processes_at_work: Option<f64>,
    /// Requests that the processes can work on at once, as far as their threads were counted.
    pub serving_threads: Option<f64>,
    /// Connections that waited to be accepted at a time while requests were due, of all watched ports.
    pub accept_queue: Option<f64>,
    /// The server's mean time, `S`.
    pub server_mean: Option<Nanos>,
}

/// Cores and their use. Absent is what was not seen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cores {
    /// Of all machines that were watched.
    pub(crate) all: Option<f64>,
    /// How many of them were busy, on average.
    pub(crate) busy: Option<f64>,
    /// How many the watched processes used, on average.
    pub(crate) of_processes: Option<f64>,
}

impl Cores {
    pub(crate) fn of(server: &ServerSide<'_>, during: During) -> Self {
        let machines = || server.side.sources().iter().filter(|source| source.source == "machine");
        let all = |machine: &SourceSummary| machine.measure("cores").map(|cores| cores.max);
        let mean = |of: &SourceSummary| Some(server.mean_during(read(of, "cpu")?, during));
        let processes = processes(server);
        Self {
            all: sum(machines().filter_map(all)),
            busy: sum(machines().filter_map(|one| Some(mean(one)? * all(one)?))),
            of_processes: sum(processes
                .iter()
                .filter_map(|one| Some(mean(one.source)? * one.presence))),
        }
    }
}

impl Capacity {
    /// Works it out.
    #[must_use]
    pub fn of(server: &ServerSide<'_>) -> Self {
        let log = server.application();
        let client = server.client.filter(|client| client.requests > 0);
        let from_log = log.as_ref().filter(|log| log.requests > 1 && log.span() > Nanos::ZERO);
        let from_log = from_log.map(|log| (log.requests - 1) as f64 / log.span().as_secs_f64());
        let requests_per_s =
            client.map(metrics::Summary::completions).or(from_log).filter(|x| *x > 0.0);
        let apart = NetworkAndQueue::of(server).filter(|between| !between.counts_agree());
        let counts_apart = apart.map(|between| (between.client.count(), between.server.count()));
        let processes = processes(server);
        let Cores { all: cores, busy: cores_busy, of_processes: cores_of_processes } =
            Cores::of(server, During::Run);
        let seconds =
            sum(processes.iter().filter_map(|one| Some(read(one.source, "cpu")?.integral)));
        let requests = log.as_ref().map(|log| log.requests as f64).filter(|n| *n > 0.0);
        let by_time = seconds.zip(requests).map(|(seconds, n)| seconds / n);
        let by_time = by_time.filter(|seconds| *seconds > 0.0 && counts_apart.is_none());
        let by_rate = cores_of_processes.zip(requests_per_s).map(|(cores, x)| cores / x);
        Self {
            requests_per_s,
            log_requests_per_s: if counts_apart.is_some() { from_log } else { requests_per_s },
            counts_apart,
            cores,
            cores_busy,
            cores_of_processes,
            cpu_per_request_s: by_time.or(by_rate),
            processes: sum(processes.iter().map(|one| one.presence)),
            processes_at_work: sum(processes
                .iter()
                .filter(|one| !is_master(one.source, server))
                .map(|one| one.presence)),
            serving_threads: serving_threads(server, &processes),
            accept_queue: accept_queue(server),
            server_mean: log.map(|log| log.total.mean()),
        }
    }

    /// Requests in the server on average, `X S` (Little's law), both of the same requests.
    #[must_use]
    pub fn in_service(&self) -> Option<f64> {
        Some(self.log_requests_per_s? * self.server_mean?.as_secs_f64())
    }

    /// CPU seconds of the whole machine a request, `cores busy / X`: other programs' as well.
    #[must_use]
    pub fn machine_per_request_s(&self) -> Option<f64> {
        Some(self.cores_busy? / self.requests_per_s?)
    }

    /// The most requests a second that the cores can serve at this cost, `cores / CPU per request`: an upper bound. Other
    /// limits (workers, locks, a database, other programs) lower it.
    #[must_use]
    pub fn bearable_per_s(&self) -> Option<f64> {
        let each = self.cpu_per_request_s.or(self.machine_per_request_s())?;
        Some(self.cores? / each).filter(|rate| rate.is_finite())
    }

    pub(super) fn table(&self) -> Table {
        // The request rate on its own needs no table: at least one cost must be known.
        if self.cores_busy.is_none()
            && self.cores_of_processes.is_none()
            && self.server_mean.is_none()
        {
            return Table::default();
        }
        let time = |seconds: f64| duration(Nanos::from_secs_f64(seconds));
        let rate = |rate: f64| format!("{}/s", number(rate));
        let at_most = |bound: f64| format!("<= {}", rate(bound));
        let plain = |value: f64| format!("{value:.2}");
        let utilisation = self.cores_busy.zip(self.cores).map(|(busy, cores)| busy / cores);
        let each = |of: f64| self.processes_at_work.filter(|n| *n > 0.0).map(|n| of / n);
        let at_work = self.processes_at_work.filter(|_| self.processes_at_work != self.processes);
        let of_log = self.log_requests_per_s.filter(|_| self.counts_apart.is_some());
        let rows = [
            ("Requests per second, X", self.requests_per_s.map(rate)),
            ("Requests per second in the log", of_log.map(rate)),
            ("Cores", self.cores.map(number)),
            ("Cores busy", self.cores_busy.map(plain)),
            ("Utilisation of the cores", utilisation.map(percent)),
            ("CPU per request, whole machine", self.machine_per_request_s().map(time)),
            ("Cores busy with the watched processes", self.cores_of_processes.map(plain)),
            ("CPU per request, watched processes", self.cpu_per_request_s.map(time)),
            ("Upper bound by CPU alone", self.bearable_per_s().map(at_most)),
            ("Processes watched", self.processes.map(number)),
            ("Processes at work", at_work.map(number)),
            (
                "Requests per second and process at work",
                self.requests_per_s.and_then(each).map(rate),
            ),
            ("Threads or workers counted", self.serving_threads.map(number)),
            ("Connections not yet accepted", self.accept_queue.map(number)),
            ("Server's mean time, S", self.server_mean.map(duration)),
            ("CPU's share of it", self.cpu_share().map(|share| self.share_words(share))),
            ("Requests in the server, X S", self.in_service().map(plain)),
        ];
        let rows = rows.into_iter().filter_map(|(name, value)| Some(vec![name.to_owned(), value?]));
        Table::new("Capacity", vec![""], rows)
    }

    /// Other processes' use of the cores, where that is a quarter or more; or that it is unknown, where no process was watched.
    pub(super) fn note(&self) -> Option<String> {
        if self.cpu_per_request_s.is_none() && self.bearable_per_s().is_some() {
            return Some(
                "No process was watched: the upper bound is by the CPU of the whole machine, other programs' and the load \
                 generator's too if it runs there. The server alone may have a higher one."
                    .to_owned(),
            );
        }
        let (cores, busy) = (self.cores?, self.cores_busy?);
        let other = busy - self.cores_of_processes?;
        (other >= cores * OTHERS_MAX).then(|| {
            format!(
                "{other:.2} of {} cores were busy with what is not watched: other programs, or the load generator if it \
                 runs there. The upper bound is less by that.",
                number(cores)
            )
        })
    }

    /// The meaning and the limits of the upper bound.
    pub(super) fn bound_note(&self) -> Option<String> {
        self.bearable_per_s().map(|_| {
            "Upper bound by CPU alone: cores by CPU per request. No more requests a second are possible at this cost; workers, \
             locks and the database make it less. What the server does bear is measured by `brunt seek`."
                .to_owned()
        })
    }

    /// The counts of requests, where the log's are not the client's.
    pub(super) fn apart_note(&self) -> Option<String> {
        let (client, log) = self.counts_apart?;
        Some(format!(
            "Capacity: the client tells of {} and the log of {}. CPU per request is by the client's, X S by the log's.",
            counted(client, "request"),
            grouped(log)
        ))
    }

    /// How much of the server's time is CPU; the rest waits: for the database, for a core, for a lock. Not known where the
    /// two are of different requests.
    fn cpu_share(&self) -> Option<f64> {
        if self.counts_apart.is_some() {
            return None;
        }
        let mean = self.server_mean.filter(|mean| *mean > Nanos::ZERO)?;
        Some(self.cpu_per_request_s? / mean.as_secs_f64())
    }

    /// The CPU's share of the server's time. Threads that do other things than a logged request use CPU as well, so that there
    /// may be more of it than the server's time has.
    fn share_words(&self, share: f64) -> String {
        let beside = self.cpu_per_request_s.zip(self.server_mean);
        match beside {
            Some((cpu, mean)) if share > 1.0 => {
                let more = duration(Nanos::from_secs_f64(cpu - mean.as_secs_f64()));
                format!("{}, and {more} outside of it", percent(1.0))
            }
            _ => percent(share),
        }
    }
}

/// Puma's own count, where its exporters or its control server were asked; else the threads and workers of the watched processes.
fn serving_threads(server: &ServerSide<'_>, processes: &[Present<'_>]) -> Option<f64> {
    let scrapes = server.side.sources().iter().filter(|one| one.source.starts_with("scrape "));
    let series = scrapes.flat_map(|one| &one.measures);
    let own = series.filter(|(name, _)| name.starts_with("puma_max_threads"));
    // Puma begins threads as they are needed: the most there were count.
    let counted = processes
        .iter()
        .filter_map(|one| Some(read(one.source, "serving_threads")?.max * one.presence));
    sum(own.map(|(_, measure)| measure.max)).or(sum(counted))
}

fn accept_queue(server: &ServerSide<'_>) -> Option<f64> {
    let ports = server.side.sources().iter().filter(|one| one.source.starts_with("port "));
    sum(ports.filter_map(|one| {
        let waiting = read(one, "accept_queue")?;
        Some(server.mean_during(waiting, During::Load))
    }))
}

/// A measure that was read at least once.
fn read<'a>(source: &'a SourceSummary, name: &str) -> Option<&'a Measure> {
    source.measure(name).filter(|measure| measure.count > 0)
}

fn sum(values: impl Iterator<Item = f64>) -> Option<f64> {
    values.fold(None, |sum, value| Some(sum.unwrap_or(0.0) + value))
}

/// A process, or a container where no process was watched.
struct Present<'a> {
    source: &'a SourceSummary,
    /// The share of all samples of its machine in which it was present.
    presence: f64,
}

/// Of a tree of processes, how much CPU time its first may take beside the mean of the others to be one that only watches.
const MASTER_MAX: f64 = 0.1;

/// Whether a process began a tree of several and leaves the work to them, as the master of Puma or nginx does.
fn is_master(source: &SourceSummary, server: &ServerSide<'_>) -> bool {
    let pid = |one: &SourceSummary, kind: &str| {
        one.source.strip_prefix(kind).and_then(|rest| rest.split(' ').next().map(str::to_owned))
    };
    let Some(own) = pid(source, "process ") else { return false };
    let mut sources = server.side.sources().iter().filter(|one| one.host == source.host);
    let Some(tree) = sources.find(|one| pid(one, "tree ").as_deref() == Some(&own)) else {
        return false;
    };
    let seconds = |one: &SourceSummary| read(one, "cpu").map(|cpu| cpu.integral);
    let count = read(tree, "processes").map(|count| server.mean(count));
    let (Some(all), Some(own), Some(count)) = (seconds(tree), seconds(source), count) else {
        return false;
    };
    count > 1.0 && own < MASTER_MAX * (all - own) / (count - 1.0)
}

/// What the servers' CPU is the sum of. Each process of a tree has readings of its own, so that trees would count twice.
fn processes<'a>(server: &ServerSide<'a>) -> Vec<Present<'a>> {
    let sources = server.side.sources();
    let of = |kind: &str| -> Vec<&'a SourceSummary> {
        sources.iter().filter(|one| one.source.starts_with(kind)).collect()
    };
    let kinds = ["process ", "cgroup "].into_iter().map(of);
    let all = kinds.into_iter().find(|all| !all.is_empty()).unwrap_or_default();
    let samples = |host: &str| {
        let readings = sources.iter().filter(|one| one.host == host).map(|one| one.readings);
        readings.max().unwrap_or(1).max(1) as f64
    };
    let present = |source: &'a SourceSummary| Present {
        source,
        presence: source.readings as f64 / samples(&source.host),
    };
    all.into_iter().map(present).collect()
}
