//! `Watcher`: everything that is watched, read once at each sample.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use metrics::server::Row;

use crate::cgroup::Cgroup;
use crate::followed_groups::FollowedGroups;
use crate::log::{self, Parser};
use crate::machine::Machine;
use crate::process::{ProcessSelector, Processes};
use crate::rows::Rows;
use crate::scrape::Scrape;
use crate::tail::{LineSink, Tail};
use crate::{Moment, WatchError};

/// How long the endpoints' last answers are waited for.
const LAST_WITHIN: Duration = Duration::from_secs(1);
/// The least jump of a clock that is reported.
const JUMP: i64 = 500_000_000;

/// What is to be watched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The folder in which `proc` and `sys` lie; `/` but for tests.
    pub root: PathBuf,
    /// The machine's name, for its rows.
    pub host: String,
    /// What, besides the machine itself.
    pub targets: Vec<Target>,
}

/// Something that is watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A process by its number, with its descendants.
    Pid(u32),
    /// Processes by their name, with their descendants.
    Name(String),
    /// Processes that listen on a TCP port, with their descendants.
    Port(u16),
    /// A control group by its path.
    Cgroup(String),
    /// A Prometheus endpoint.
    Scrape(String),
    /// A log.
    Log(Log),
}

/// A log that is followed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// The kind of server that writes it, one of [`log::KINDS`].
    pub kind: String,
    /// The pattern of its lines, for a kind without a fixed format.
    pub pattern: Option<String>,
    /// Where it lies.
    pub path: String,
}

/// Everything that is watched.
pub struct Watcher {
    rows: Rows,
    machine: Machine,
    processes: Processes,
    cgroups: Vec<Cgroup>,
    followed: FollowedGroups,
    scrapes: Vec<Scrape>,
    logs: Vec<FollowedLog>,
    last: Option<Moment>,
}

/// A log and its parser.
struct FollowedLog {
    path: String,
    tail: Tail,
    parser: Box<dyn Parser + Send>,
}

impl Watcher {
    /// Opens what there is; logs are followed from here on. Each endpoint has a thread from now on, which ends with the watcher.
    ///
    /// # Errors
    /// Something can never be watched: an address that cannot be asked, a kind of log that is not known.
    pub fn new(settings: &Settings) -> Result<Self, WatchError> {
        let root = &settings.root;
        let (mut selectors, mut cgroups) = (Vec::new(), Vec::new());
        let (mut scrapes, mut logs) = (Vec::new(), Vec::new());
        for target in &settings.targets {
            match target {
                Target::Pid(pid) => selectors.push(ProcessSelector::Pid(*pid)),
                Target::Name(name) => selectors.push(ProcessSelector::Name(name.clone())),
                Target::Port(port) => selectors.push(ProcessSelector::Port(*port)),
                Target::Cgroup(path) => cgroups.push(Cgroup::new(root, path)),
                Target::Scrape(url) => scrapes.push(Scrape::start(url)?),
                Target::Log(log) => logs.push(FollowedLog::new(log, &settings.host)?),
            }
        }
        Ok(Self {
            rows: Rows::new(settings.host.clone()),
            machine: Machine::new(root),
            processes: Processes::new(root, selectors),
            followed: FollowedGroups::new(root, &cgroups),
            cgroups,
            scrapes,
            logs,
            last: None,
        })
    }

    /// The name of the machine that the rows are about.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.rows.host
    }

    /// Scans the processes, at this Unix time (ns). It takes a while, so it precedes the first sample, which has its own time.
    pub fn prepare(&mut self, at: i64) {
        self.processes.find(at, &mut self.rows);
        self.followed.find(&self.processes.pids());
    }

    /// Samples everything at `now`. The response of an endpoint is in the rows of the next sample.
    pub fn sample(&mut self, now: Moment) -> Vec<Row> {
        self.report_jump(now);
        for scrape in &mut self.scrapes {
            scrape.collect(now.unix, &mut self.rows);
            scrape.request(now.unix);
        }
        self.machine.sample(now, &mut self.rows);
        self.processes.sample(now, &mut self.rows);
        for cgroup in &mut self.cgroups {
            cgroup.sample(now, &mut self.rows);
        }
        self.followed.sample(now, &mut self.rows);
        // What is measured by the time of this sample has been read; slower sources follow.
        self.processes.find(now.unix, &mut self.rows);
        self.followed.find(&self.processes.pids());
        for log in &mut self.logs {
            log.poll(now, &mut self.rows);
        }
        std::mem::take(&mut self.rows.found)
    }

    /// Takes what is still on its way: answers of endpoints (a second is waited for all), the logs' last lines.
    pub fn finish(mut self, now: Moment) -> Vec<Row> {
        let until = Instant::now() + LAST_WITHIN;
        for scrape in &mut self.scrapes {
            scrape.collect(now.unix, &mut self.rows);
            scrape.finish(until, now.unix, &mut self.rows);
        }
        for log in &mut self.logs {
            log.finish(now, &mut self.rows);
        }
        self.rows.found
    }

    /// Says so where one clock ran away from the other.
    fn report_jump(&mut self, now: Moment) {
        let Some(last) = self.last.replace(now) else { return };
        let passed = i64::try_from(now.steady.saturating_sub(last.steady).0).unwrap_or(i64::MAX);
        let jumped = now.unix.saturating_sub(last.unix).saturating_sub(passed);
        if jumped.saturating_abs() > JUMP {
            let seconds = jumped as f64 / 1e9;
            self.rows.incident(now.unix, "clock", format!("jumped by {seconds:+.1} s"));
        }
    }
}

impl FollowedLog {
    fn new(log: &Log, host: &str) -> Result<Self, WatchError> {
        let parser = log::parser(&log.kind, log.pattern.as_deref(), host);
        let path = log.path.clone();
        let parser = parser.map_err(|reason| WatchError::Log { path: path.clone(), reason })?;
        Ok(Self { tail: Tail::new(path.clone().into()), path, parser })
    }

    fn poll(&mut self, now: Moment, rows: &mut Rows) {
        let Self { path, tail, parser } = self;
        tail.poll(now.steady, &mut LogSink { parser: parser.as_mut(), path, now: now.unix, rows });
    }

    fn finish(&mut self, now: Moment, rows: &mut Rows) {
        let Self { path, tail, parser } = self;
        tail.finish(
            now.steady,
            &mut LogSink { parser: parser.as_mut(), path, now: now.unix, rows },
        );
        rows.logged(|found| parser.finish(now.unix, found));
    }
}

/// Passes a log's lines to its parser.
struct LogSink<'a> {
    parser: &'a mut (dyn Parser + Send),
    path: &'a str,
    now: i64,
    rows: &'a mut Rows,
}

impl LineSink for LogSink<'_> {
    fn line(&mut self, line: &[u8]) {
        let Self { parser, now, rows, .. } = self;
        rows.logged(|found| parser.line(line, *now, found));
    }

    fn incident(&mut self, what: String) {
        self.rows.incident(self.now, self.path, what);
    }
}

#[cfg(test)]
mod tests {
    use stdx::Nanos;

    use super::*;
    use crate::kernel_file::tests::Scratch;
    use crate::rows::tests::{incidents, readings};

    fn moment(unix_ms: i64, steady_ms: u64) -> Moment {
        Moment { unix: unix_ms * 1_000_000, steady: Nanos::from_millis(steady_ms) }
    }

    #[test]
    fn a_clock_that_jumps_is_reported_and_bends_no_flow() {
        let scratch = Scratch::new("watcher");
        let settings = Settings { root: scratch.0.clone(), host: "h".into(), targets: Vec::new() };
        let mut watcher = Watcher::new(&settings).unwrap();
        let mut all = Vec::new();
        let cases = [(0, 0, 0), (1000, 1000, 100), (1400, 2000, 200), (61_400, 3000, 300)];
        for (unix_ms, steady_ms, switches) in cases {
            let stat = format!("cpu 1 1 1 1\nctxt {switches}\n");
            scratch.write("proc/stat", &stat);
            all.extend(watcher.sample(moment(unix_ms, steady_ms)));
        }
        assert_eq!(incidents(&all), ["clock: jumped by -0.6 s", "clock: jumped by +59.0 s"]);
        let rates: Vec<_> = readings(&all, "machine").iter().map(|r| r.value("switches")).collect();
        assert_eq!(rates, [None, Some(100.0), Some(100.0), Some(100.0)]);
        assert!(watcher.finish(moment(62_400, 4000)).is_empty());
    }

    #[test]
    fn what_can_never_be_watched_is_reported_at_once() {
        let of = |target| {
            let targets = vec![target];
            let settings = Settings { root: "/".into(), host: "h".into(), targets };
            Watcher::new(&settings).err().map(|error| error.to_string())
        };
        let https = of(Target::Scrape("https://h/metrics".into())).unwrap();
        assert!(https.starts_with("\"https://h/metrics\": https is not understood"), "{https}");
        let log = Log { kind: "nonsense".into(), path: "x.log".into(), pattern: None };
        assert!(of(Target::Log(log)).unwrap().starts_with("\"x.log\": unknown kind of log"));
        assert_eq!(of(Target::Cgroup("/nowhere".into())), None);
    }
}
