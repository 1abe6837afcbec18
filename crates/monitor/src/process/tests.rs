//! Processes of a `/proc` of our own, and our own in the real one.

use stdx::Nanos;

use super::*;
use crate::kernel_file::tests::Scratch;
use crate::rows::tests::{incidents, readings};

/// A machine of our own.
struct Lab {
    scratch: Scratch,
    processes: Processes,
    second: u64,
}

impl Lab {
    fn new(name: &str, selector: Vec<ProcessSelector>) -> Self {
        let scratch = Scratch::new(name);
        let processes = Processes::new(&scratch.0, selector);
        Self { scratch, processes, second: 0 }
    }

    /// A process of one thread: `ticks` used so far, begun at `started`.
    fn process(&self, pid: u32, parent: u32, (ticks, started): (u64, u64)) {
        let folder = format!("proc/{pid}");
        let stat = format!(
            "{pid} (ruby) S {parent} 1 1 0 -1 0 0 0 0 0 {ticks} 0 0 0 20 0 1 0 {started} 0 0"
        );
        self.scratch.write(&format!("{folder}/stat"), &stat);
        let status =
            "VmRSS:\t1000 kB\nvoluntary_ctxt_switches:\t10\nnonvoluntary_ctxt_switches:\t1\n";
        self.scratch.write(&format!("{folder}/status"), status);
        self.scratch.write(&format!("{folder}/task/{pid}/status"), status);
        self.scratch.write(&format!("{folder}/cmdline"), "puma 6.4 [app]\0");
    }

    /// A socket of a process.
    fn descriptor(&self, pid: u32, number: u32, inode: u64) {
        let folder = self.scratch.0.join(format!("proc/{pid}/fd"));
        std::fs::create_dir_all(&folder).unwrap();
        std::os::unix::fs::symlink(format!("socket:[{inode}]"), folder.join(number.to_string()))
            .unwrap();
    }

    fn end(&self, pid: u32) {
        // A file that is open stays readable on a disk; in the real `/proc` it does not.
        self.scratch.write(&format!("proc/{pid}/stat"), "");
        std::fs::remove_dir_all(self.scratch.0.join(format!("proc/{pid}"))).unwrap();
    }

    /// As the watcher does: a scan before the first sample, and after each.
    fn sample(&mut self) -> Vec<metrics::server::Row> {
        self.second += 1;
        let mut rows = Rows::new("h".into());
        let now = Moment { unix: self.second as i64, steady: Nanos::from_secs(self.second) };
        if self.second == 1 {
            self.processes.find(now.unix, &mut rows);
        }
        self.processes.sample(now, &mut rows);
        self.processes.find(now.unix, &mut rows);
        rows.found
    }

    fn scan(&mut self) -> Vec<metrics::server::Row> {
        let samples = 0..SCAN_EVERY;
        samples.flat_map(|_| self.sample()).collect()
    }
}

#[test]
fn a_tree_is_all_of_its_processes() {
    let mut lab = Lab::new("tree", vec![ProcessSelector::Name("puma".into())]);
    lab.process(1, 0, (0, 1));
    lab.scratch.write("proc/1/cmdline", "init\0");
    lab.process(10, 1, (100, 5));
    lab.process(11, 10, (0, 6));
    lab.process(12, 11, (0, 7));
    assert_eq!(readings(&lab.sample(), "tree 10 ruby").len(), 1);
    lab.process(10, 1, (110, 5));
    lab.process(12, 11, (50, 7));
    let rows = lab.sample();
    let tree = readings(&rows, "tree 10 ruby")[0];
    assert_eq!(tree.value("cpu"), Some(0.6));
    assert_eq!((tree.value("processes"), tree.value("rss")), (Some(3.0), Some(3_072_000.0)));
    assert_eq!((tree.value("threads"), tree.value("switches")), (Some(3.0), Some(0.0)));
    assert_eq!(readings(&rows, "process 12 ruby")[0].value("cpu"), Some(0.5));
    assert!(readings(&rows, "process 1 ruby").is_empty());
    assert!(incidents(&rows).is_empty());
}

#[test]
fn who_dies_is_reported_and_who_comes_is_taken_up() {
    let mut lab = Lab::new("dies", vec![ProcessSelector::Name("puma".into())]);
    assert_eq!(incidents(&lab.scan()).len(), 1, "nobody is there, said once");
    lab.process(10, 1, (0, 5));
    assert_eq!(incidents(&lab.scan()), ["process 10 ruby: came"]);
    let rows = lab.scan();
    assert_eq!(readings(&rows, "process 10 ruby").len() as u32, SCAN_EVERY);
    lab.process(11, 10, (0, 8));
    lab.scan();
    lab.end(11);
    assert_eq!(incidents(&lab.sample()), ["process 11 ruby: has ended"]);
    // The number is used again: another process.
    lab.process(10, 1, (0, 99));
    let rows = lab.scan();
    let incidents_seen = incidents(&rows);
    assert_eq!(incidents_seen, ["process 10 ruby: has ended", "process 10 ruby: came"]);
    lab.end(10);
    let incidents_seen = incidents(&lab.scan());
    assert_eq!(incidents_seen.len(), 2, "it ended, and nobody is there: {incidents_seen:?}");
}

#[test]
fn a_port_leads_to_who_listens() {
    let mut lab = Lab::new("port", vec![ProcessSelector::Port(80), ProcessSelector::Pid(11)]);
    let line =
        "0: 00000000:0050 00000000:0000 0A 00000000:0000000C 00:00000000 00000000 0 0 648 1 0";
    lab.scratch.write("proc/net/tcp", &format!("  sl local\n {line}\n"));
    for (pid, parent, inode) in [(10, 1, 648), (11, 10, 648), (20, 1, 7)] {
        lab.process(pid, parent, (0, 5));
        lab.descriptor(pid, 3, inode);
    }
    let rows = lab.sample();
    assert_eq!(readings(&rows, "tree 10 ruby")[0].value("processes"), Some(2.0));
    assert_eq!(readings(&rows, "tree 10 ruby")[0].value("descriptors"), Some(2.0));
    assert_eq!(readings(&rows, "port 80")[0].value("accept_queue"), Some(12.0));
    assert_eq!(readings(&rows, "process 11 ruby").len(), 1, "it was wished for twice");
    assert!(readings(&rows, "process 20 ruby").is_empty() && incidents(&rows).is_empty());
}

#[test]
fn a_tree_is_whole_though_another_wish_came_first() {
    // The order of the selectors changes which process is read first, and nothing else.
    let selectors = [
        ProcessSelector::Pid(12),
        ProcessSelector::Pid(10),
        ProcessSelector::Pid(11),
        ProcessSelector::Pid(10),
    ];
    let mut lab = Lab::new("twice", selectors.into());
    for (pid, parent) in [(10, 1), (11, 10), (12, 11)] {
        lab.process(pid, parent, (0, 5));
    }
    let rows = lab.sample();
    for (source, processes) in [("tree 10 ruby", 3.0), ("tree 11 ruby", 2.0)] {
        let trees = readings(&rows, source);
        let values: Vec<_> = trees.iter().map(|tree| tree.value("processes")).collect();
        assert_eq!(values, [Some(processes)], "{source}");
        assert_eq!(trees[0].value("rss"), Some(1_024_000.0 * processes), "{source}");
    }
    for pid in [10, 11, 12] {
        assert_eq!(readings(&rows, &format!("process {pid} ruby")).len(), 1, "{pid}");
    }
    lab.end(12);
    let incidents_seen = incidents(&lab.sample());
    assert_eq!(incidents_seen[0], "process 12 ruby: has ended");
    assert_eq!(
        incidents_seen[1..],
        ["process 12: there is no such process, or this user may not see it"]
    );
    assert!(incidents(&lab.scan()).is_empty());
}

#[test]
fn a_number_is_the_process_that_had_it_first() {
    let mut lab = Lab::new("number", vec![ProcessSelector::Pid(10)]);
    lab.process(10, 1, (0, 5));
    assert_eq!(lab.sample().len(), 1);
    lab.end(10);
    lab.process(10, 1, (0, 99));
    let incidents_seen = incidents(&lab.scan());
    assert_eq!(incidents_seen.len(), 2, "{incidents_seen:?}");
    assert!(
        incidents_seen[1].ends_with("there is no such process, or this user may not see it"),
        "{incidents_seen:?}"
    );
    assert!(lab.scan().is_empty(), "a stranger is not measured");
}

#[test]
fn too_many_are_left_out_and_reported() {
    let mut lab = Lab::new("many", vec![ProcessSelector::Name("puma".into())]);
    for pid in 0..WATCHED_MAX as u32 {
        lab.process(100 + pid, 1, (0, 5));
    }
    let rows = lab.sample();
    assert_eq!((rows.len(), incidents(&rows).len()), (WATCHED_MAX, 0), "as many as there may be");
    for pid in WATCHED_MAX as u32..WATCHED_MAX as u32 + 20 {
        lab.process(100 + pid, 1, (0, 5));
    }
    assert_eq!(incidents(&lab.scan()), ["processes: more than 256: the rest is left out"]);
    let rows = lab.sample();
    assert_eq!(readings(&rows, "process 100 ruby").len(), 1);
    assert_eq!(rows.len(), WATCHED_MAX);
    assert!(incidents(&lab.scan()).is_empty(), "said once");
}

#[test]
fn issue_39_the_neighbour_that_used_most_is_found() {
    let lab = Lab::new("neighbours", Vec::new());
    // Long before, ours, one that begins meanwhile, and one whose number is given anew.
    for (pid, ticks, started) in [(10, 90_000, 1), (20, 5, 2), (40, 700, 4)] {
        lab.process(pid, 1, (ticks, started));
    }
    let neighbours = Neighbours::below(&lab.scratch.0, 20);
    assert_eq!(neighbours.busiest(), None, "none did anything");
    let time = std::time::Duration::from_secs(10);
    for (pid, ticks, started) in [(10, 90_100, 1), (20, 905, 2), (30, 150, 9), (40, 120, 8)] {
        lab.process(pid, 1, (ticks, started));
    }
    let most = Neighbour { name: "ruby (30)".to_owned(), cpu: Nanos::from_millis(1500) };
    assert_eq!(neighbours.busiest_within(time), Some(most));
}

/// `kdamond.0 (71) used 37.3 of this machine's CPUs`, which has two: a kernel thread whose time jumps.
#[test]
fn issue_39_no_neighbour_used_more_than_the_cores_can_give() {
    let lab = Lab::new("jumps", Vec::new());
    lab.scratch.write("proc/stat", "cpu  1 1 1 1\ncpu0 1 1 1 1\ncpu1 1 1 1 1\nctxt 5\n");
    let used = |ticks: [(u32, u32, u64); 3]| {
        for (pid, parent, ticks) in ticks {
            lab.process(pid, parent, (ticks, 1));
        }
    };
    used([(10, 1, 0), (30, 1, 0), (71, 2, 0)]);
    let neighbours = Neighbours::below(&lab.scratch.0, 20);
    let busiest = |ticks| {
        used(ticks);
        neighbours.busiest_within(std::time::Duration::from_secs(10)).map(|one| one.name)
    };
    let named = |name: &str| Some(name.to_owned());
    assert_eq!(busiest([(10, 1, 300), (30, 1, 1_950), (71, 2, 950)]), named("ruby (30)"));
    assert_eq!(busiest([(10, 1, 300), (30, 1, 2_100), (71, 2, 37_300)]), named("ruby (10)"));
    assert_eq!(busiest([(10, 1, 300), (30, 1, 0), (71, 2, 1_900)]), named("ruby (10)"));
    assert_eq!(busiest([(10, 1, 300), (30, 1, 0), (71, 2, 950)]), named("ruby (71)"));
}

#[test]
fn garbage_is_nobody() {
    let mut lab =
        Lab::new("garbage", vec![ProcessSelector::Name("puma".into()), ProcessSelector::Port(80)]);
    for (pid, text) in [(1, ""), (2, "2 (x"), (3, "\u{0}\u{ffff}"), (4, "4 () S 4 4 4")] {
        lab.scratch.write(&format!("proc/{pid}/stat"), text);
    }
    lab.scratch.write("proc/net/tcp", "x : 0A\n0: :: 0A\n");
    // Its own parent, which no kernel writes.
    lab.process(5, 5, (0, 5));
    assert_eq!(readings(&lab.sample(), "process 5 ruby").len(), 1);
}

#[test]
fn our_own_process_in_the_real_one() {
    let own = std::process::id();
    let mut processes = Processes::new(Path::new("/"), vec![ProcessSelector::Pid(own)]);
    let mut rows = Rows::new("h".into());
    processes.find(0, &mut rows);
    for second in 1..3 {
        let now = Moment { unix: second, steady: Nanos::from_secs(second as u64) };
        processes.sample(now, &mut rows);
    }
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let name = stat.split(['(', ')']).nth(1).unwrap();
    let found = readings(&rows.found, &format!("process {own} {name}"));
    let last = found.last().unwrap();
    assert!(last.value("rss").unwrap() > 1e6 && last.value("threads").unwrap() >= 2.0);
    assert!(last.value("cpu").is_some() && last.value("descriptors").unwrap() >= 3.0);
}
