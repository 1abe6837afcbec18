//! How long a CPU quota, as that of a container, kept this process from running: the load generator is late then, and no other
//! machine's load is to blame.

use std::fs;
use std::path::{Path, PathBuf};

use stdx::Nanos;

/// The control groups of this process.
const GROUPS: &str = "/proc/self/cgroup";
/// Where control groups are mounted.
const MOUNT: &str = "/sys/fs/cgroup";

/// The stops of the process' control group since it was begun.
#[derive(Debug)]
pub(crate) struct QuotaStops {
    /// The group's statistics; `None` where there is no group, and no Linux.
    stat: Option<PathBuf>,
    before: Nanos,
}

impl QuotaStops {
    /// Counts from now on.
    pub(crate) fn begin() -> Self {
        let groups = fs::read_to_string(GROUPS).unwrap_or_default();
        let stat = places(&groups).into_iter().find(|place| stopped(place).is_some());
        let before = stat.as_deref().and_then(stopped).unwrap_or(Nanos::ZERO);
        Self { stat, before }
    }

    /// How long it was stopped since. Of a group with several threads the stops of each processor count.
    pub(crate) fn since(&self) -> Nanos {
        let now = self.stat.as_deref().and_then(stopped).unwrap_or(Nanos::ZERO);
        now.saturating_sub(self.before)
    }
}

/// Where the statistics may be: by the second version of control groups, then by the first.
fn places(groups: &str) -> Vec<PathBuf> {
    let mut places = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let path = path.trim_start_matches('/');
        let mounts: &[&str] = match controllers {
            "" => &[""],
            _ if controllers.split(',').any(|one| one == "cpu") => &["cpu", "cpu,cpuacct"],
            _ => &[],
        };
        // In a container the group's own path may be the mount itself.
        let of = |mount: &&str| {
            [PathBuf::from(MOUNT).join(mount).join(path), PathBuf::from(MOUNT).join(mount)]
        };
        places.extend(mounts.iter().flat_map(of).map(|folder| folder.join("cpu.stat")));
    }
    places
}

fn stopped(stat: &Path) -> Option<Nanos> {
    time_of(&fs::read_to_string(stat).ok()?)
}

/// The time in the text of a group's statistics: microseconds in the second version, nanoseconds in the first.
fn time_of(text: &str) -> Option<Nanos> {
    let entry = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.and_then(|value| value.trim().parse::<u64>().ok())
    };
    let micros = entry("throttled_usec").map(|micros| micros.saturating_mul(1000));
    micros.or_else(|| entry("throttled_time")).map(Nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_of_control_groups_say_how_long_they_were_stopped() {
        let second = "usage_usec 5\nnr_periods 9\nnr_throttled 2\nthrottled_usec 1500\n";
        assert_eq!(time_of(second), Some(Nanos(1_500_000)));
        assert_eq!(time_of("nr_periods 9\nthrottled_time 77\n"), Some(Nanos(77)));
        assert_eq!(time_of("usage_usec 5\n"), None);
        let text = |places: Vec<PathBuf>| {
            places.iter().map(|place| place.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(
            text(places("0::/a/b\n")),
            ["/sys/fs/cgroup/a/b/cpu.stat", "/sys/fs/cgroup/cpu.stat"]
        );
        let first = text(places("4:memory:/m\n2:cpuacct,cpu:/docker/1\n"));
        assert_eq!(first[0], "/sys/fs/cgroup/cpu/docker/1/cpu.stat");
        assert_eq!(first.len(), 4);
        assert_eq!(text(places("nonsense")), Vec::<String>::new());
    }
}
