//! `FollowedGroups`: the control groups that watched processes are in, where a quota bounds their CPU time. No flag has to
//! name them. Source: cgroups(7), `/proc/PID/cgroup`.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::Moment;
use crate::cgroup::Cgroup;
use crate::rows::Rows;

/// Groups that are followed at once.
const GROUPS_MAX: usize = 64;
/// Levels of a group's path.
const DEPTH_MAX: usize = 32;

/// The control groups of watched processes.
#[derive(Debug)]
pub(crate) struct FollowedGroups {
    root: PathBuf,
    /// Processes whose groups are known.
    processes: HashSet<u32>,
    /// Paths that were looked at, those that the user named among them: each is read once.
    paths: HashSet<String>,
    groups: Vec<Cgroup>,
}

impl FollowedGroups {
    /// Follows nothing yet. `named` are the groups that are read anyway.
    pub(crate) fn new(root: &Path, named: &[Cgroup]) -> Self {
        let plain = |group: &Cgroup| group.source().trim_start_matches("cgroup ").to_owned();
        let paths = named.iter().map(plain).collect();
        Self { root: root.to_owned(), processes: HashSet::new(), paths, groups: Vec::new() }
    }

    /// Looks up the groups of processes that were not watched before.
    pub(crate) fn find(&mut self, processes: &HashSet<u32>) {
        self.processes.retain(|pid| processes.contains(pid));
        for pid in processes {
            if self.processes.insert(*pid) {
                let file = self.root.join("proc").join(pid.to_string()).join("cgroup");
                let text = fs::read_to_string(file).unwrap_or_default();
                text.lines().filter_map(path).for_each(|path| self.follow(path));
            }
        }
    }

    /// Reads each of them.
    pub(crate) fn sample(&mut self, now: Moment, rows: &mut Rows) {
        for group in &mut self.groups {
            group.sample(now, rows);
        }
    }

    /// Follows a group and those above it, as far as they have a quota: it bounds all below.
    fn follow(&mut self, path: &str) {
        let own = Some(path.trim_end_matches('/')).filter(|path| !path.is_empty());
        let up = std::iter::successors(own, above).take(DEPTH_MAX);
        // A container sees its own group as the root of all.
        for path in up.chain(["/"]) {
            if self.groups.len() < GROUPS_MAX && self.paths.insert(path.to_owned()) {
                let mut group = Cgroup::new(&self.root, path);
                self.groups.extend(group.quota().map(|_| group));
            }
        }
    }
}

fn above<'a>(path: &&'a str) -> Option<&'a str> {
    path.rsplit_once('/').map(|(parent, _)| parent).filter(|parent| !parent.is_empty())
}

/// The path in a line of `/proc/PID/cgroup`, where the group bounds CPU time: that of version 2, or of version 1's controller
/// `cpu`. One that is not below what we see leads nowhere.
fn path(line: &str) -> Option<&str> {
    let mut words = line.splitn(3, ':').skip(1);
    let (controllers, path) = (words.next()?, words.next()?);
    let bounds = controllers.is_empty() || controllers.split(',').any(|name| name == "cpu");
    (bounds && path.starts_with('/') && !path.contains("/..")).then_some(path)
}

#[cfg(test)]
mod tests {
    use stdx::Nanos;

    use super::*;
    use crate::kernel_file::tests::Scratch;
    use metrics::server::Row;

    fn sources(groups: &mut FollowedGroups) -> Vec<String> {
        let mut rows = Rows::new("h".into());
        groups.sample(Moment { unix: 1, steady: Nanos::SECOND }, &mut rows);
        let source = |row: &Row| match row {
            Row::Reading(reading) => Some(format!("{} {:?}", reading.source, reading.values)),
            _ => None,
        };
        rows.found.iter().filter_map(source).collect()
    }

    #[test]
    fn groups_with_a_quota_are_found_by_their_processes_in_both_versions() {
        let scratch = Scratch::new("followed");
        scratch.write("proc/7/cgroup", "4:memory:/m\n3:cpu,cpuacct:/docker/7f\n0::/\n");
        scratch.write("sys/fs/cgroup/cpu/docker/7f/cpu.cfs_quota_us", "30000\n");
        scratch.write("sys/fs/cgroup/cpu/docker/7f/cpu.cfs_period_us", "100000\n");
        // Nothing of it but the one controller's tree.
        scratch.write("sys/fs/cgroup/cpu/docker/7f/cpu.stat", "nr_periods 1\nnr_throttled 1\n");
        // The pod is bounded, and the container in it is not.
        scratch.write("proc/8/cgroup", "0::/pod/box\n");
        scratch.write("sys/fs/cgroup/pod/box/cpu.max", "max 100000\n");
        scratch.write("sys/fs/cgroup/pod/cpu.max", "50000 100000\n");
        scratch.write("sys/fs/cgroup/pod/cpu.stat", "usage_usec 1\n");
        let mut groups = FollowedGroups::new(&scratch.0, &[]);
        groups.find(&HashSet::from([7, 8, 9]));
        let mut found = sources(&mut groups);
        found.sort();
        let expected = ["cgroup /docker/7f [(\"quota\", 0.3)]", "cgroup /pod [(\"quota\", 0.5)]"];
        assert_eq!(found, expected);
        groups.find(&HashSet::from([7, 8]));
        assert_eq!(sources(&mut groups).len(), 2, "each is followed once");
    }

    #[test]
    fn a_container_sees_its_own_group_as_the_root() {
        let scratch = Scratch::new("followed-root");
        scratch.write("proc/7/cgroup", "2:cpu:/docker/7f\n0::/../b\n");
        scratch.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "150000\n");
        scratch.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
        scratch.write("sys/fs/cgroup/memory/memory.usage_in_bytes", "1\n");
        let mut groups = FollowedGroups::new(&scratch.0, &[]);
        groups.find(&HashSet::from([7]));
        let expected = ["cgroup / [(\"memory\", 1.0), (\"quota\", 1.5)]"];
        assert_eq!(sources(&mut groups), expected);
    }

    #[test]
    fn a_group_that_was_named_is_read_once() {
        let scratch = Scratch::new("followed-named");
        scratch.write("proc/7/cgroup", "0::/web\n");
        scratch.write("sys/fs/cgroup/web/cpu.max", "50000 100000\n");
        scratch.write("sys/fs/cgroup/web/cpu.stat", "usage_usec 1\n");
        let named = [Cgroup::new(&scratch.0, "/web")];
        let mut groups = FollowedGroups::new(&scratch.0, &named);
        groups.find(&HashSet::from([7]));
        assert!(sources(&mut groups).is_empty());
    }
}
