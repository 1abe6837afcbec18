//! `Cgroup`: a container's share of the machine, from control groups of either version. Sources: Documentation/admin-guide/
//! cgroup-v2.rst, cgroup-v1/cpuacct.rst and scheduler/sched-bwc.rst of Linux.

use std::path::{Path, PathBuf};

use crate::Moment;
use crate::flow::Flow;
use crate::kept::Kept;
use crate::rows::{Rows, Values, add};

/// A control group.
#[derive(Debug)]
pub(crate) struct Cgroup {
    source: String,
    files: Vec<Files>,
    cpu: Flow,
    throttling: Throttling,
    /// It was not to be found the last time, which was said.
    is_gone: bool,
}

/// Where one version keeps what is asked for.
#[derive(Debug)]
struct Files {
    /// Time on a core: a number alone (version 1), or `usage_usec` in `cpu.stat` (version 2).
    usage: Kept,
    /// How often the group was to wait for its next share.
    stat: Kept,
    memory: Kept,
}

/// Periods, and those in which the group ran out of its share.
#[derive(Debug, Default)]
struct Throttling {
    periods: Flow,
    throttled: Flow,
}

/// Where version 2 is mounted: alone, or beside version 1.
const UNIFIED: [&str; 2] = ["sys/fs/cgroup", "sys/fs/cgroup/unified"];

impl Cgroup {
    /// The group of this path, as `/proc/PID/cgroup` has it (`/system.slice/puma.service`), or as it lies on the disk.
    pub(crate) fn new(root: &Path, path: &str) -> Self {
        let inner = ["/sys/fs/cgroup/unified/", "/sys/fs/cgroup/"];
        let plain = inner.into_iter().find_map(|prefix| path.strip_prefix(prefix)).unwrap_or(path);
        let plain = plain.trim_matches('/');
        let unified = UNIFIED.map(|mount| Files::unified(&root.join(mount).join(plain)));
        let mut files = Vec::from(unified);
        files.push(Files::by_controller(&root.join("sys/fs/cgroup"), plain));
        Self {
            source: format!("cgroup {path}"),
            files,
            cpu: Flow::default(),
            throttling: Throttling::default(),
            is_gone: false,
        }
    }

    /// Reads it; says so once where it is not to be found.
    pub(crate) fn look(&mut self, now: Moment, rows: &mut Rows) {
        let mut values = Values::new();
        for files in &mut self.files {
            let usage = files.usage_ns();
            // Nanoseconds a second: cores.
            let cpu = self.cpu.of(usage, now.steady).map(|ns| ns / 1e9);
            let memory = files.memory.read().and_then(|text| number(&text));
            if usage.is_none() && memory.is_none() {
                continue;
            }
            add(&mut values, "cpu", cpu);
            add(&mut values, "memory", memory.map(|bytes| bytes as f64));
            if let Some(text) = files.stat.read() {
                let periods = self.throttling.periods.of(entry(&text, "nr_periods"), now.steady);
                let short = self.throttling.throttled.of(entry(&text, "nr_throttled"), now.steady);
                // Without a quota there are no periods, and no waiting.
                let share = |(short, periods): (f64, f64)| {
                    if periods > 0.0 { (short / periods).min(1.0) } else { 0.0 }
                };
                add(&mut values, "throttled", short.zip(periods).map(share));
            }
            self.is_gone = false;
            rows.reading(now.unix, self.source.clone(), values);
            return;
        }
        if !std::mem::replace(&mut self.is_gone, true) {
            rows.incident(now.unix, &self.source, "is not there");
        }
    }
}

impl Files {
    fn unified(folder: &Path) -> Self {
        let kept = |name: &str| Kept::new(folder.join(name));
        Self { usage: kept("cpu.stat"), stat: kept("cpu.stat"), memory: kept("memory.current") }
    }

    /// Version 1: a tree of groups for each controller.
    fn by_controller(mount: &Path, path: &str) -> Self {
        let kept = |controller: &str, name: &str| -> Kept {
            let folder: PathBuf = mount.join(controller).join(path);
            Kept::new(folder.join(name))
        };
        Self {
            usage: kept("cpuacct", "cpuacct.usage"),
            stat: kept("cpu", "cpu.stat"),
            memory: kept("memory", "memory.usage_in_bytes"),
        }
    }

    fn usage_ns(&mut self) -> Option<u64> {
        let text = self.usage.read()?;
        number(&text).or_else(|| entry(&text, "usage_usec")?.checked_mul(1000))
    }
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
    use stdx::Nanos;

    use super::*;
    use crate::kept::tests::Scratch;
    use crate::rows::tests::{incidents, readings};

    fn look(cgroup: &mut Cgroup, second: u64) -> Vec<metrics::server::Row> {
        let mut rows = Rows::new("h".into());
        let unix = second as i64;
        cgroup.look(Moment { unix, steady: Nanos::from_secs(second) }, &mut rows);
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
        assert_eq!(incidents(&look(&mut cgroup, 1)), ["cgroup /web.slice/app: is not there"]);
        assert!(look(&mut cgroup, 2).is_empty(), "said once");
        let stat = |usage, periods, throttled| {
            format!(
                "usage_usec {usage}\nuser_usec 1\nnr_periods {periods}\nnr_throttled {throttled}\n"
            )
        };
        scratch.write(&format!("{folder}/cpu.stat"), &stat(1_000_000, 10, 1));
        scratch.write(&format!("{folder}/memory.current"), "4096\n");
        let source = "cgroup /web.slice/app";
        assert_eq!(values(&look(&mut cgroup, 3), source), [None, Some(4096.0), None]);
        scratch.write(&format!("{folder}/cpu.stat"), &stat(4_000_000, 30, 6));
        let found = values(&look(&mut cgroup, 5), source);
        assert_eq!(found, [Some(1.5), Some(4096.0), Some(0.25)]);
        // The group was made anew: a counter that goes backwards is no flow.
        scratch.write(&format!("{folder}/cpu.stat"), &stat(7, 0, 0));
        assert_eq!(values(&look(&mut cgroup, 6), source), [None, Some(4096.0), None]);
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
            let found = values(&look(&mut cgroup, second), "cgroup /docker/7f");
            let flows = (second == 2).then_some((0.5, 0.0));
            assert_eq!(found, [flows.map(|f| f.0), Some(100.0), flows.map(|f| f.1)]);
        }
    }

    #[test]
    fn a_path_on_the_disk_means_the_same() {
        let scratch = Scratch::new("cgroup-path");
        scratch.write("sys/fs/cgroup/a/memory.current", "7\n");
        let path = "/sys/fs/cgroup/a";
        let found = look(&mut Cgroup::new(&scratch.0, path), 1);
        assert_eq!(values(&found, "cgroup /sys/fs/cgroup/a")[1], Some(7.0));
    }
}
