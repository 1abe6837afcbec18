//! The kernel's texts about the machine, taken apart. Sources: proc(5), Documentation/filesystems/proc.rst,
//! Documentation/admin-guide/iostats.rst and Documentation/accounting/psi.rst of Linux.

/// Cores with a row of their own, at most.
const CORES_MAX: usize = 1024;
/// Bytes of a sector in `/proc/diskstats`, whatever the disk's own are.
const SECTOR: u64 = 512;

/// `/proc/loadavg`.
#[derive(Debug, PartialEq)]
pub(super) struct Load {
    /// Over 1, 5 and 15 minutes.
    pub(super) means: [f64; 3],
    /// Threads that run, or could.
    pub(super) running: u64,
    /// Threads in all.
    pub(super) threads: u64,
}

/// `0.50 0.75 0.66 3/158 1234`.
pub(super) fn load(text: &str) -> Option<Load> {
    let mut words = text.split_ascii_whitespace();
    let mut mean = || words.next()?.parse::<f64>().ok().filter(|mean| mean.is_finite());
    let means = [mean()?, mean()?, mean()?];
    let (running, threads) = words.next()?.split_once('/')?;
    Some(Load { means, running: running.parse().ok()?, threads: threads.parse().ok()? })
}

/// Time spent in each mode since the start, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Times {
    /// In programs, also those made nice, also in virtual machines.
    pub(super) user: u64,
    /// In the kernel.
    pub(super) system: u64,
    /// Idle.
    pub(super) idle: u64,
    /// Idle while something waited for a disk.
    pub(super) iowait: u64,
    /// In interrupts, soft ones too.
    pub(super) softirq: u64,
    /// Taken by the host of this virtual machine.
    pub(super) steal: u64,
}

impl Times {
    /// `user nice system idle iowait irq softirq steal guest …`: guest is part of user. Kernels before 2.6 have four.
    fn parse<'a>(words: impl Iterator<Item = &'a str>) -> Option<Self> {
        let ticks: Vec<u64> = words.take(8).map_while(|word| word.parse().ok()).collect();
        if ticks.len() < 4 {
            return None;
        }
        let at = |index: usize| ticks.get(index).copied().unwrap_or(0);
        Some(Self {
            user: at(0).saturating_add(at(1)),
            system: at(2),
            idle: at(3),
            iowait: at(4),
            softirq: at(5).saturating_add(at(6)),
            steal: at(7),
        })
    }

    pub(super) fn total(&self) -> u64 {
        let all = [self.user, self.system, self.idle, self.iowait, self.softirq, self.steal];
        all.iter().fold(0, |sum, ticks| sum.saturating_add(*ticks))
    }

    /// The time spent between two samples. `iowait` and `idle` may go backwards by a little (proc.rst says so), which counts as
    /// 0. Programs' time that goes backwards is a counter that was reset, and the result is all zero.
    pub(super) fn between(then: &Self, now: &Self) -> Self {
        if now.user < then.user || now.system < then.system {
            return Self::default();
        }
        Self {
            user: now.user - then.user,
            system: now.system - then.system,
            idle: now.idle.saturating_sub(then.idle),
            iowait: now.iowait.saturating_sub(then.iowait),
            softirq: now.softirq.saturating_sub(then.softirq),
            steal: now.steal.saturating_sub(then.steal),
        }
    }
}

/// What `/proc/stat` says of the cores.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Cores {
    /// All together.
    pub(super) all: Times,
    /// Each that is there now, by its number.
    pub(super) each: Vec<(u32, Times)>,
    /// Context switches since the start.
    pub(super) switches: Option<u64>,
}

/// `/proc/stat`; nothing where it does not begin as it should.
pub(super) fn cores(text: &str) -> Option<Cores> {
    let mut cores = Cores::default();
    let mut is_known = false;
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        let Some(word) = words.next() else { continue };
        if word == "cpu" {
            cores.all = Times::parse(words)?;
            is_known = true;
        } else if let Some(number) = word.strip_prefix("cpu") {
            let core = number.parse().ok().zip(Times::parse(words));
            cores.each.extend(core.filter(|_| cores.each.len() < CORES_MAX));
        } else if word == "ctxt" {
            cores.switches = words.next().and_then(|count| count.parse().ok());
        }
    }
    is_known.then_some(cores)
}

/// `/proc/meminfo`, in bytes.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Memory {
    pub(super) total: u64,
    pub(super) available: u64,
    pub(super) swap_used: u64,
}

/// Kernels before 3.14 have no available memory: it is estimated as free memory, buffers and the page cache.
pub(super) fn memory(text: &str) -> Option<Memory> {
    let of = |key: &str| text.lines().find_map(|line| bytes(line.strip_prefix(key)?));
    let cached = || {
        let sum = of("MemFree:")?.saturating_add(of("Buffers:").unwrap_or(0));
        Some(sum.saturating_add(of("Cached:").unwrap_or(0)))
    };
    let swap_free = of("SwapFree:").unwrap_or(0);
    Some(Memory {
        total: of("MemTotal:")?,
        available: of("MemAvailable:").or_else(cached)?,
        swap_used: of("SwapTotal:").unwrap_or(0).saturating_sub(swap_free),
    })
}

/// `  24684092 kB`.
pub(crate) fn bytes(text: &str) -> Option<u64> {
    let kilobytes: u64 = text.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// Interfaces at most.
const INTERFACES_MAX: usize = 1024;

/// An interface, and what it carried since the start.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Interface {
    pub(super) name: String,
    pub(super) bytes_in: u64,
    pub(super) bytes_out: u64,
}

/// What the names begin with of those that carry what another carries as well, or nothing: bridges, containers' ends, tunnels.
const VIRTUAL: [&str; 25] = [
    "veth",
    "docker",
    "br",
    "virbr",
    "ifb",
    "cni",
    "flannel",
    "cali",
    "bond",
    "tun",
    "tap",
    "wg",
    "vnet",
    "dummy",
    "lxc",
    "lxd",
    "podman",
    "team",
    "vxlan",
    "vlan",
    "macvlan",
    "macvtap",
    "tailscale",
    "ppp",
    "ipvlan",
];

/// Whether a name is one of those. `eth0.10` is a part of `eth0`.
pub(super) fn is_virtual(name: &str) -> bool {
    name.contains('.') || VIRTUAL.iter().any(|prefix| name.starts_with(prefix))
}

/// `/proc/net/dev`: two lines of titles, then `name: bytes packets … bytes packets …`, eight numbers each way.
pub(super) fn network(text: &str) -> Vec<Interface> {
    let interface = |line: &str| {
        let (name, counts) = line.split_once(':')?;
        let mut counts = counts.split_ascii_whitespace();
        let bytes_in = counts.next()?.parse().ok()?;
        let bytes_out = counts.nth(7)?.parse().ok()?;
        Some(Interface { name: name.trim().to_owned(), bytes_in, bytes_out })
    };
    text.lines().filter_map(interface).take(INTERFACES_MAX).collect()
}

/// `/proc/diskstats`: bytes read and written by whole disks. A partition's are its disk's as well, and so are those of what is
/// made of disks (dm, md, loop).
pub(super) fn disks(text: &str) -> (u64, u64) {
    let mut bytes = (0u64, 0u64);
    for line in text.lines() {
        let words: Vec<&str> = line.split_ascii_whitespace().take(10).collect();
        let [_, _, name, _, _, read, _, _, _, written] = words.as_slice() else { continue };
        if is_disk(name) {
            let sectors = |count: &str| count.parse().unwrap_or(0u64).saturating_mul(SECTOR);
            bytes.0 = bytes.0.saturating_add(sectors(read));
            bytes.1 = bytes.1.saturating_add(sectors(written));
        }
    }
    bytes
}

fn is_disk(name: &str) -> bool {
    let whole = |prefix: &str| {
        name.strip_prefix(prefix).is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_lowercase()))
    };
    // nvme0n1 is a disk and nvme0n1p1 is not; mmcblk0 and mmcblk0p1 likewise.
    let numbered = |prefix: &str| name.strip_prefix(prefix).is_some_and(|rest| !rest.contains('p'));
    ["sd", "vd", "xvd", "hd", "dasd"].into_iter().any(whole)
        || ["nvme", "mmcblk"].into_iter().any(numbered)
}

/// `/proc/net/snmp` and `/proc/net/netstat`: a line of names, then one of counts, both with the same word in front.
pub(super) fn count(text: &str, word: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(word));
    let (names, counts) = (lines.next()?, lines.next()?);
    let at = names.split_ascii_whitespace().position(|known| known == name)?;
    counts.split_ascii_whitespace().nth(at)?.parse().ok()
}

/// `/proc/pressure/*`: how long something was held up, in microseconds: `some … total=27202686340`.
pub(super) fn stalled_us(text: &str) -> Option<u64> {
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    some.split_ascii_whitespace().find_map(|word| word.strip_prefix("total="))?.parse().ok()
}

#[cfg(test)]
mod tests;
