//! `Cgroup`: a container's share of the machine, from control groups of either version. Sources: Documentation/admin-guide/
//! cgroup-v2.rst, cgroup-v1/cpuacct.rst and scheduler/sched-bwc.rst of Linux.

use std::path::{Path, PathBuf};

use stdx::Nanos;

use crate::Moment;
use crate::counter_rate::CounterRate;
use crate::kernel_file::KernelFile;
use crate::rows::{Rows, Values, add};

/// A control group.
#[derive(Debug)]
pub(crate) struct Cgroup {
    source: String,
    files: Vec<Files>,
    cpu: CounterRate,
    throttling: Throttling,
    /// It was absent the last time, which has been reported.
    is_gone: bool,
}

/// The files of one cgroup version.
#[derive(Debug)]
struct Files {
    /// CPU time: one number (version 1), or `usage_usec` in `cpu.stat` (version 2).
    usage: KernelFile,
    /// How often the group was to wait for its next share.
    stat: KernelFile,
    memory: KernelFile,
    /// How much CPU time the group may use in a period.
    quota: Quota,
}

/// The quota of a control group, by one file (version 2) or two (version 1).
#[derive(Debug)]
enum Quota {
    /// `cpu.max`: `30000 100000`, or `max 100000`.
    Whole(KernelFile),
    /// `cpu.cfs_quota_us` and `cpu.cfs_period_us`.
    ByPeriod(KernelFile, KernelFile),
}

/// Periods, and those in which the group ran out of its share.
#[derive(Debug, Default)]
struct Throttling {
    periods: CounterRate,
    throttled: CounterRate,
}

/// Mount points of version 2: on its own, or beside version 1.
const UNIFIED: [&str; 2] = ["sys/fs/cgroup", "sys/fs/cgroup/unified"];

impl Cgroup {
    /// The group of this path, as `/proc/PID/cgroup` has it (`/system.slice/puma.service`), or as it lies on the disk.
    pub(crate) fn new(root: &Path, path: &str) -> Self {
        let inner = ["/sys/fs/cgroup/unified/", "/sys/fs/cgroup/"];
        let plain = inner.into_iter().find_map(|prefix| path.strip_prefix(prefix)).unwrap_or(path);
        let plain = plain.trim_matches('/');
        let unified = UNIFIED.map(|mount| Files::unified(&root.join(mount).join(plain)));
        let mut files = Vec::from(unified);
        // On the disk, version 1 has the controller's name before the path.
        let below = match plain.split_once('/') {
            Some((controller, below))
                if plain != path.trim_matches('/') && is_controller(controller) =>
            {
                below
            }
            _ => plain,
        };
        files.push(Files::by_controller(&root.join("sys/fs/cgroup"), below));
        Self {
            source: format!("cgroup {path}"),
            files,
            cpu: CounterRate::default(),
            throttling: Throttling::default(),
            is_gone: false,
        }
    }

    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// How many cores it may use; `None` where nothing bounds it.
    pub(crate) fn quota(&mut self) -> Option<f64> {
        self.files.iter_mut().find_map(|files| files.quota.cores())
    }

    /// Reads the group. Its absence is reported once.
    pub(crate) fn sample(&mut self, now: Moment, rows: &mut Rows) {
        // Where both versions are there, one may have what the other lacks: each is taken from where it is.
        let usage = self.files.iter_mut().find_map(Files::usage_ns);
        let memory = self.files.iter_mut().find_map(Files::memory);
        let waits = self.files.iter_mut().find_map(Files::waits);
        // Of version 1 each controller has a tree of its own, and the group may be in one of them only.
        if usage.is_none() && memory.is_none() && waits.is_none() {
            if !std::mem::replace(&mut self.is_gone, true) {
                rows.incident(now.unix, &self.source, "is not there");
            }
            return;
        }
        self.is_gone = false;
        let mut values = Values::new();
        // Nanoseconds a second: cores.
        let cpu = self.cpu.of(usage, now.steady).map(|ns| ns / 1e9);
        add(&mut values, "cpu", cpu);
        add(&mut values, "memory", memory.map(|bytes| bytes as f64));
        let throttled = waits.and_then(|waits| self.throttling.share(waits, now.steady));
        add(&mut values, "throttled", throttled);
        add(&mut values, "quota", self.quota());
        rows.reading(now.unix, &self.source, values);
    }
}

impl Throttling {
    /// The share of periods since the last sample in which the group used up its quota. Without a quota there are no periods,
    /// and the share is 0.
    fn share(&mut self, (periods, throttled): (u64, u64), now: Nanos) -> Option<f64> {
        let (periods, throttled) =
            (self.periods.per_s(periods, now), self.throttled.per_s(throttled, now));
        let share = |(short, all): (f64, f64)| if all > 0.0 { (short / all).min(1.0) } else { 0.0 };
        throttled.zip(periods).map(share)
    }
}

impl Files {
    fn unified(folder: &Path) -> Self {
        let file = |name: &str| KernelFile::new(folder.join(name));
        Self {
            usage: file("cpu.stat"),
            stat: file("cpu.stat"),
            memory: file("memory.current"),
            quota: Quota::Whole(file("cpu.max")),
        }
    }

    /// Version 1: a tree of groups for each controller.
    fn by_controller(mount: &Path, path: &str) -> Self {
        let file = |controller: &str, name: &str| -> KernelFile {
            let folder: PathBuf = mount.join(controller).join(path);
            KernelFile::new(folder.join(name))
        };
        Self {
            usage: file("cpuacct", "cpuacct.usage"),
            stat: file("cpu", "cpu.stat"),
            memory: file("memory", "memory.usage_in_bytes"),
            quota: Quota::ByPeriod(
                file("cpu", "cpu.cfs_quota_us"),
                file("cpu", "cpu.cfs_period_us"),
            ),
        }
    }

    fn usage_ns(&mut self) -> Option<u64> {
        let text = self.usage.read()?;
        number(&text).or_else(|| entry(&text, "usage_usec")?.checked_mul(1000))
    }

    fn memory(&mut self) -> Option<u64> {
        number(&self.memory.read()?)
    }

    /// Periods, and those in which the group ran out of its share.
    fn waits(&mut self) -> Option<(u64, u64)> {
        let text = self.stat.read()?;
        entry(&text, "nr_periods").zip(entry(&text, "nr_throttled"))
    }
}

impl Quota {
    fn cores(&mut self) -> Option<f64> {
        let (quota, period) = match self {
            Self::Whole(file) => {
                let text = file.read()?;
                let (quota, period) = text.trim().split_once(' ')?;
                (number(quota)?, number(period)?)
            }
            // Without a bound the quota is -1, which is no number here.
            Self::ByPeriod(quota, period) => (number(&quota.read()?)?, number(&period.read()?)?),
        };
        (period > 0).then(|| quota as f64 / period as f64)
    }
}

/// Whether a folder below `/sys/fs/cgroup` is one of those read here: `cpu,cpuacct` is where both names lead.
fn is_controller(name: &str) -> bool {
    name.split(',').all(|name| ["cpu", "cpuacct", "memory"].contains(&name))
}

fn number(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

/// The number of a line `key number`.
fn entry(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '))?;
    number(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel_file::tests::Scratch;
    use crate::rows::tests::{incidents, readings};

    fn sample(cgroup: &mut Cgroup, second: u64) -> Vec<metrics::server::Row> {
        let mut rows = Rows::new("h".into());
        let unix = second as i64;
        cgroup.sample(Moment { unix, steady: Nanos::from_secs(second) }, &mut rows);
        rows.found
    }

    fn values(rows: &[metrics::server::Row], source: &str) -> [Option<f64>; 3] {
        let reading = readings(rows, source)[0];
        ["cpu", "memory", "throttled"].map(|name| reading.value(name))
    }

    #[test]
    fn version_2() {
        let scratch = Scratch::new("cgroup2");
        let folder = "sys/fs/cgroup/web.slice/app";
        let mut cgroup = Cgroup::new(&scratch.0, "/web.slice/app");
        assert_eq!(incidents(&sample(&mut cgroup, 1)), ["cgroup /web.slice/app: is not there"]);
        assert!(sample(&mut cgroup, 2).is_empty(), "said once");
        let stat = |usage, periods, throttled| {
            format!(
                "usage_usec {usage}\nuser_usec 1\nnr_periods {periods}\nnr_throttled {throttled}\n"
            )
        };
        scratch.write(&format!("{folder}/cpu.stat"), &stat(1_000_000, 10, 1));
        scratch.write(&format!("{folder}/memory.current"), "4096\n");
        let source = "cgroup /web.slice/app";
        assert_eq!(values(&sample(&mut cgroup, 3), source), [None, Some(4096.0), None]);
        scratch.write(&format!("{folder}/cpu.stat"), &stat(4_000_000, 30, 6));
        let found = values(&sample(&mut cgroup, 5), source);
        assert_eq!(found, [Some(1.5), Some(4096.0), Some(0.25)]);
        // The group was recreated: a counter that goes backwards has no rate.
        scratch.write(&format!("{folder}/cpu.stat"), &stat(7, 0, 0));
        assert_eq!(values(&sample(&mut cgroup, 6), source), [None, Some(4096.0), None]);
    }

    #[test]
    fn the_quota_of_both_versions() {
        let scratch = Scratch::new("cgroup-quota");
        let quota = |path: &str, text: &str| {
            scratch.write(&format!("sys/fs/cgroup/{path}"), text);
            Cgroup::new(&scratch.0, "/a").quota()
        };
        assert_eq!(quota("a/cpu.max", "max 100000\n"), None);
        assert_eq!(quota("a/cpu.max", "30000 100000\n"), Some(0.3));
        assert_eq!(quota("a/cpu.max", "?\n"), None);
        assert_eq!(quota("cpu/a/cpu.cfs_period_us", "50000\n"), None);
        assert_eq!(quota("cpu/a/cpu.cfs_quota_us", "-1\n"), None);
        assert_eq!(quota("cpu/a/cpu.cfs_quota_us", "100000\n"), Some(2.0));
    }

    #[test]
    fn version_1_without_a_quota() {
        let scratch = Scratch::new("cgroup1");
        let mut cgroup = Cgroup::new(&scratch.0, "/docker/7f");
        for second in 1..=2u64 {
            let usage = second * 500_000_000;
            scratch.write("sys/fs/cgroup/cpuacct/docker/7f/cpuacct.usage", &format!("{usage}\n"));
            scratch.write("sys/fs/cgroup/memory/docker/7f/memory.usage_in_bytes", "100\n");
            let stat = "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n";
            scratch.write("sys/fs/cgroup/cpu/docker/7f/cpu.stat", stat);
            let found = values(&sample(&mut cgroup, second), "cgroup /docker/7f");
            let rates = (second == 2).then_some((0.5, 0.0));
            assert_eq!(found, [rates.map(|f| f.0), Some(100.0), rates.map(|f| f.1)]);
        }
    }

    #[test]
    fn both_versions_side_by_side() {
        let scratch = Scratch::new("cgroup-hybrid");
        // As systemd's hybrid layout has it: version 2 without controllers, so without memory and throttling.
        let stat = "usage_usec 1000000\nuser_usec 1\n";
        scratch.write("sys/fs/cgroup/unified/web/cpu.stat", stat);
        scratch.write("sys/fs/cgroup/memory/web/memory.usage_in_bytes", "100\n");
        let mut cgroup = Cgroup::new(&scratch.0, "/sys/fs/cgroup/memory/web");
        let mut unified = Cgroup::new(&scratch.0, "/web");
        for (second, periods, throttled) in [(1, 10, 1), (2, 20, 6)] {
            let stat = format!("nr_periods {periods}\nnr_throttled {throttled}\n");
            scratch.write("sys/fs/cgroup/cpu/web/cpu.stat", &stat);
            let expected = (second == 2).then_some(0.5);
            let found = values(&sample(&mut unified, second), "cgroup /web");
            assert_eq!(found, [(second == 2).then_some(0.0), Some(100.0), expected]);
            let found = values(&sample(&mut cgroup, second), "cgroup /sys/fs/cgroup/memory/web");
            assert_eq!(found[1..], [Some(100.0), expected]);
        }
    }

    #[test]
    fn a_path_on_the_disk_means_the_same() {
        let scratch = Scratch::new("cgroup-path");
        scratch.write("sys/fs/cgroup/a/memory.current", "7\n");
        let path = "/sys/fs/cgroup/a";
        let found = sample(&mut Cgroup::new(&scratch.0, path), 1);
        assert_eq!(values(&found, "cgroup /sys/fs/cgroup/a")[1], Some(7.0));
    }
}
