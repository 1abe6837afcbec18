//! Processes of a `/proc` of our own, and our own in the real one.

use stdx::Nanos;

use super::*;
use crate::kept::tests::Scratch;
use crate::rows::tests::{incidents, readings};

/// A machine of our own.
struct Lab {
    scratch: Scratch,
    processes: Processes,
    second: u64,
}

impl Lab {
    fn new(name: &str, wanted: Vec<Wanted>) -> Self {
        let scratch = Scratch::new(name);
        let processes = Processes::new(&scratch.0, wanted);
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

    fn look(&mut self) -> Vec<metrics::server::Row> {
        self.second += 1;
        let mut rows = Rows::new("h".into());
        let now = Moment { unix: self.second as i64, steady: Nanos::from_secs(self.second) };
        self.processes.look(now, &mut rows);
        rows.found
    }

    fn scan(&mut self) -> Vec<metrics::server::Row> {
        let looks = 0..SCAN_EVERY;
        looks.flat_map(|_| self.look()).collect()
    }
}

#[test]
fn a_tree_is_all_of_its_processes() {
    let mut lab = Lab::new("tree", vec![Wanted::Name("puma".into())]);
    lab.process(1, 0, (0, 1));
    lab.scratch.write("proc/1/cmdline", "init\0");
    lab.process(10, 1, (100, 5));
    lab.process(11, 10, (0, 6));
    lab.process(12, 11, (0, 7));
    assert_eq!(readings(&lab.look(), "tree 10 ruby").len(), 1);
    lab.process(10, 1, (110, 5));
    lab.process(12, 11, (50, 7));
    let rows = lab.look();
    let tree = readings(&rows, "tree 10 ruby")[0];
    assert_eq!(tree.value("cpu"), Some(0.6));
    assert_eq!((tree.value("processes"), tree.value("rss")), (Some(3.0), Some(3_072_000.0)));
    assert_eq!((tree.value("threads"), tree.value("switches")), (Some(3.0), Some(0.0)));
    assert_eq!(readings(&rows, "process 12 ruby")[0].value("cpu"), Some(0.5));
    assert!(readings(&rows, "process 1 ruby").is_empty());
    assert!(incidents(&rows).is_empty());
}

#[test]
fn who_dies_is_told_and_who_comes_is_taken_up() {
    let mut lab = Lab::new("dies", vec![Wanted::Name("puma".into())]);
    assert_eq!(incidents(&lab.scan()).len(), 1, "nobody is there, said once");
    lab.process(10, 1, (0, 5));
    let rows = lab.scan();
    assert_eq!(incidents(&rows), ["process 10 ruby: came"]);
    assert_eq!(readings(&rows, "process 10 ruby").len() as u32, SCAN_EVERY);
    lab.process(11, 10, (0, 8));
    lab.scan();
    lab.end(11);
    assert_eq!(incidents(&lab.look()), ["process 11 ruby: has ended"]);
    // The number is used again: another process.
    lab.process(10, 1, (0, 99));
    let rows = lab.scan();
    let told = incidents(&rows);
    assert_eq!(told, ["process 10 ruby: has ended", "process 10 ruby: came"]);
    lab.end(10);
    let told = incidents(&lab.scan());
    assert_eq!(told.len(), 2, "it ended, and nobody is there: {told:?}");
}

#[test]
fn a_port_leads_to_who_listens() {
    let mut lab = Lab::new("port", vec![Wanted::Port(80), Wanted::Pid(11)]);
    let line =
        "0: 00000000:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 648 1 0";
    lab.scratch.write("proc/net/tcp", &format!("  sl local\n {line}\n"));
    for (pid, parent, inode) in [(10, 1, 648), (11, 10, 648), (20, 1, 7)] {
        lab.process(pid, parent, (0, 5));
        lab.descriptor(pid, 3, inode);
    }
    let rows = lab.look();
    assert_eq!(readings(&rows, "tree 10 ruby")[0].value("processes"), Some(2.0));
    assert_eq!(readings(&rows, "tree 10 ruby")[0].value("descriptors"), Some(2.0));
    assert_eq!(readings(&rows, "process 11 ruby").len(), 1, "it was wished for twice");
    assert!(readings(&rows, "process 20 ruby").is_empty() && incidents(&rows).is_empty());
}

#[test]
fn too_many_are_left_out_and_told() {
    let mut lab = Lab::new("many", vec![Wanted::Name("puma".into())]);
    for pid in 0..MEMBERS_MAX as u32 + 20 {
        lab.process(100 + pid, 1, (0, 5));
    }
    let rows = lab.look();
    assert_eq!(rows.len(), MEMBERS_MAX + 1);
    assert_eq!(incidents(&rows), ["processes: more than 256: the rest is left out"]);
    assert!(incidents(&lab.scan()).is_empty(), "said once");
}

#[test]
fn garbage_is_nobody() {
    let mut lab = Lab::new("garbage", vec![Wanted::Name("puma".into()), Wanted::Port(80)]);
    for (pid, text) in [(1, ""), (2, "2 (x"), (3, "\u{0}\u{ffff}"), (4, "4 () S 4 4 4")] {
        lab.scratch.write(&format!("proc/{pid}/stat"), text);
    }
    lab.scratch.write("proc/net/tcp", "x : 0A\n0: :: 0A\n");
    // Its own parent, as no kernel says it.
    lab.process(5, 5, (0, 5));
    assert_eq!(readings(&lab.look(), "process 5 ruby").len(), 1);
}

#[test]
fn our_own_process_in_the_real_one() {
    let own = std::process::id();
    let mut processes = Processes::new(Path::new("/"), vec![Wanted::Pid(own)]);
    let mut rows = Rows::new("h".into());
    for second in 1..3 {
        let now = Moment { unix: second, steady: Nanos::from_secs(second as u64) };
        processes.look(now, &mut rows);
    }
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let name = stat.split(['(', ')']).nth(1).unwrap();
    let found = readings(&rows.found, &format!("process {own} {name}"));
    let last = found.last().unwrap();
    assert!(last.value("rss").unwrap() > 1e6 && last.value("threads").unwrap() >= 2.0);
    assert!(last.value("cpu").is_some() && last.value("descriptors").unwrap() >= 3.0);
}
