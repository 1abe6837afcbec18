//! Texts of real kernels, old and new, and malformed texts.

use proptest::prelude::*;

use super::*;

/// Linux 6.18, two cores, a virtual machine.
const STAT: &str = "cpu  8339433 11062 966211 4346413 116701 0 202843 279807 0 0
cpu0 4154563 3693 449991 2253583 43665 0 92937 137453 0 0
cpu1 4184869 7368 516220 2092829 73035 0 109905 142353 0 0
intr 84744729 0 0 0 1 1 13
ctxt 372573734
btime 1795261604
processes 1873002
procs_running 9
softirq 29934 1 2 3
";

/// Linux 2.4: four modes, no switches per core.
const STAT_OLD: &str = "cpu  1132 34 1441 11311
cpu0 1132 34 1441 11311
disk_io: (3,0):(1,1,2,0,0)
ctxt 22922
";

const NET: &str = "Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 170413066883 719920046    0 17757    0     0          0         0 170413066883 719920046    0    0    0     0       0          0
  ifb0:       0       0    0    0    0     0          0         0        0       0    0    0    0     0       0          0
  eth0: 1627409598   59924    0    0    0     0          0         0  3974246   37685    0    0    0     0       0          0
  eth1:7 1 0 0 0 0 0 0 5 1 0 0 0 0 0 0
veth12: 900 1 0 0 0 0 0 0 900 1 0 0 0 0 0 0
";

const DISKS: &str = "   7       0 loop0 0 0 8 0 0 0 8 0 0 0 0 0 0 0 0 0 0
 254       0 vda 8259107 249540 359389098 75620795 942368 1488392 706958928 5246185 0 2280356 81207533 1215287 1131 590056752 322800 37845 17752
 254       1 vda1 8259107 249540 359389098 75620795 942368 1488392 706958928 5246185 0 2280356 81207533
 259       0 nvme0n1 10 0 100 0 10 0 200 0 0 0 0
 259       1 nvme0n1p1 10 0 100 0 10 0 200 0 0 0 0
 253       0 zram0 0 0 8 0 0 0 8 0 0 0 0 0 0 0 0 0 0
 252       0 dm-0 1 0 8 0 0 0 8 0 0 0 0
   8       1 sda1 1 2 3 4
";

const SNMP: &str = "Ip: Forwarding DefaultTTL
Ip: 1 64
Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens PassiveOpens AttemptFails EstabResets CurrEstab InSegs OutSegs RetransSegs InErrs OutRsts InCsumErrors
Tcp: 1 200 120000 -1 4055990 3239522 812270 171812 0 719973327 719662338 307727 1 966344 0
";

#[test]
fn the_load() {
    let load = load("4.15 3.49 2.55 9/164 2189\n").unwrap();
    assert_eq!(load, Load { means: [4.15, 3.49, 2.55], running: 9, threads: 164 });
    for text in ["", "4.15", "a b c d", "1 1 1 2", "1 1 1 -2/9", "nan 1 1 2/9"] {
        assert_eq!(super::load(text), None, "{text}");
    }
}

#[test]
fn the_cores() {
    let cores = cores(STAT).unwrap();
    assert_eq!(cores.each.len(), 2);
    assert_eq!(cores.switches, Some(372_573_734));
    let all = cores.all;
    assert_eq!((all.user, all.system, all.idle), (8_350_495, 966_211, 4_346_413));
    assert_eq!((all.iowait, all.softirq, all.steal), (116_701, 202_843, 279_807));
    let old = super::cores(STAT_OLD).unwrap();
    assert_eq!((old.all.user, old.all.idle, old.each.len()), (1_166, 11_311, 1));
    for text in ["", "cpu\n", "cpu 1 2 3\n", "intr 5\n", "cpu a b c d"] {
        assert_eq!(super::cores(text), None, "{text}");
    }
}

#[test]
fn time_that_goes_backwards_is_none() {
    let then = Times { user: 10, system: 10, idle: 100, iowait: 10, ..Times::default() };
    let now = Times { user: 20, system: 10, idle: 99, iowait: 12, ..Times::default() };
    let spent = Times::between(&then, &now);
    assert_eq!((spent.user, spent.idle, spent.iowait, spent.total()), (10, 0, 2, 12));
    assert_eq!(Times::between(&now, &then).total(), 0);
}

#[test]
fn the_memory() {
    let new = "MemTotal:       24684092 kB\nMemFree:         8575060 kB\nMemAvailable:   22811588 kB\n\
               SwapTotal:          2048 kB\nSwapFree:           1024 kB\n";
    let expected =
        Memory { total: 24_684_092 << 10, available: 22_811_588 << 10, swap_used: 1 << 20 };
    assert_eq!(memory(new), Some(expected));
    let old = "MemTotal: 1000 kB\nMemFree: 100 kB\nBuffers: 20 kB\nCached: 3 kB\n";
    assert_eq!(memory(old).map(|memory| memory.available), Some(123 << 10));
    for text in ["", "MemTotal: 5 kB", "MemTotal: x kB\nMemFree: 1 kB", "MemFree: 1 kB"] {
        assert_eq!(memory(text), None, "{text}");
    }
}

#[test]
fn the_network_without_what_counts_twice() {
    let interfaces = network(NET);
    let own = interfaces.iter().filter(|one| one.name != "lo" && !is_virtual(&one.name));
    let own = own.fold((0, 0), |sum, one| (sum.0 + one.bytes_in, sum.1 + one.bytes_out));
    assert_eq!(own, (1_627_409_605, 3_974_251));
    let lo = interfaces.iter().find(|one| one.name == "lo").unwrap();
    assert_eq!(lo.bytes_in, 170_413_066_883);
    assert_eq!(network("Inter-|\n face |bytes\n"), []);
}

#[test]
fn the_disks_without_their_parts() {
    assert_eq!(disks(DISKS), ((359_389_098 + 100) * 512, (706_958_928 + 200) * 512));
    assert_eq!(disks("8 0 sda x y z\n"), (0, 0));
    let whole = ["sda", "sdaa", "vdb", "xvda", "nvme1n1", "mmcblk0"];
    let parts = ["sda1", "vdb2", "nvme1n1p3", "mmcblk0p1", "md0", "sr0", "ram0"];
    assert!(whole.into_iter().all(is_disk) && !parts.into_iter().any(is_disk));
}

#[test]
fn counts_go_by_their_names() {
    assert_eq!(count(SNMP, "Tcp:", "RetransSegs"), Some(307_727));
    assert_eq!(count(SNMP, "Tcp:", "MaxConn"), None, "it is -1");
    assert_eq!(count(SNMP, "Udp:", "InErrors"), None);
    assert_eq!(count("Tcp: A B\nTcp: 1\n", "Tcp:", "B"), None);
}

#[test]
fn the_pressure() {
    let text = "some avg10=89.62 avg60=79.06 avg300=57.37 total=27202686340\n\
                full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
    assert_eq!(stalled_us(text), Some(27_202_686_340));
    assert_eq!(stalled_us("full total=7\n"), None);
}

proptest! {
    #[test]
    fn any_text_is_read_without_harm(text in "(cpu|Tcp:|MemTotal:|eth0:|some |[0-9]{1,25}|[ \n\t/:.-]|\\PC){0,60}") {
        drop((load(&text), cores(&text), memory(&text), network(&text), disks(&text)));
        prop_assert!(count(&text, "Tcp:", "A").is_none());
        stalled_us(&text);
    }
}
