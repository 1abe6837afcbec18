//! `Machine`: load, cores, memory, network, disks and pressure of the whole machine.

mod interfaces;
mod parse;

use std::path::Path;

use stdx::Nanos;

use self::interfaces::Interfaces;
pub(crate) use self::parse::bytes;
use self::parse::{Cores, Times};
use crate::Moment;
use crate::counter_rate::CounterRate;
use crate::kernel_file::KernelFile;
use crate::rows::{Rows, Values, add};

/// The whole machine.
#[derive(Debug)]
pub(crate) struct Machine {
    stat: KernelFile,
    load: KernelFile,
    memory: KernelFile,
    network: KernelFile,
    disks: KernelFile,
    snmp: KernelFile,
    netstat: KernelFile,
    pressure: [KernelFile; 3],
    interfaces: Interfaces,
    before: Option<Cores>,
    rates: Rates,
}

/// Counters of the machine's as flows.
#[derive(Debug, Default)]
struct Rates {
    switches: CounterRate,
    read: CounterRate,
    written: CounterRate,
    retransmits: CounterRate,
    listen_drops: CounterRate,
    pressure: [CounterRate; 3],
}

/// The kinds of pressure: the file below `/proc/pressure`, and what the share is called.
const PRESSURE: [(&str, &str); 3] =
    [("cpu", "pressure.cpu"), ("memory", "pressure.memory"), ("io", "pressure.io")];

impl Machine {
    /// The machine with its `proc` in this folder.
    pub(crate) fn new(root: &Path) -> Self {
        let file = |name: &str| KernelFile::new(root.join("proc").join(name));
        Self {
            stat: file("stat"),
            load: file("loadavg"),
            memory: file("meminfo"),
            network: file("net/dev"),
            disks: file("diskstats"),
            snmp: file("net/snmp"),
            netstat: file("net/netstat"),
            pressure: PRESSURE.map(|(name, _)| file(&format!("pressure/{name}"))),
            interfaces: Interfaces::new(root),
            before: None,
            rates: Rates::default(),
        }
    }

    /// Reads everything once; what this kernel does not have is left out.
    pub(crate) fn sample(&mut self, now: Moment, rows: &mut Rows) {
        let mut values = Values::new();
        self.add_load(&mut values);
        let cores = self.stat.read().and_then(|text| parse::cores(&text));
        let before = std::mem::replace(&mut self.before, cores);
        if let Some(cores) = &self.before {
            if let Some(before) = &before {
                add_times(&mut values, &Times::between(&before.all, &cores.all), MACHINE_MODES);
            }
            add(&mut values, "cores", Some(cores.each.len() as f64));
        }
        self.add_memory(&mut values);
        self.add_rates(&mut values, now.steady);
        rows.reading(now.unix, "machine", values);
        if let (Some(before), Some(cores)) = (&before, &self.before) {
            add_cores(before, cores, now.unix, rows);
        }
    }

    fn add_load(&mut self, values: &mut Values) {
        let load = self.load.read().and_then(|text| parse::load(&text));
        if let Some(load) = load {
            for (name, value) in ["load1", "load5", "load15"].into_iter().zip(load.means) {
                add(values, name, Some(value));
            }
            add(values, "running", Some(load.running as f64));
            add(values, "threads", Some(load.threads as f64));
        }
    }

    fn add_memory(&mut self, values: &mut Values) {
        let memory = self.memory.read().and_then(|text| parse::memory(&text));
        if let Some(memory) = memory {
            let bytes = |bytes: u64| Some(bytes as f64);
            add(values, "memory.total", bytes(memory.total));
            add(values, "memory.used", bytes(memory.total.saturating_sub(memory.available)));
            add(values, "memory.available", bytes(memory.available));
            add(values, "swap.used", bytes(memory.swap_used));
        }
    }

    fn add_rates(&mut self, values: &mut Values, now: Nanos) {
        let rates = &mut self.rates;
        let network = self.network.read().map(|text| parse::network(&text)).unwrap_or_default();
        let throughput = self.interfaces.throughput(&network, now);
        add(values, "net.in", throughput.inward);
        add(values, "net.out", throughput.outward);
        add(values, "net.loopback", throughput.loopback);
        if let Some((read, written)) = self.disks.read().map(|text| parse::disks(&text)) {
            add(values, "disk.read", rates.read.per_s(read, now));
            add(values, "disk.written", rates.written.per_s(written, now));
        }
        let switches = self.before.as_ref().and_then(|cores| cores.switches);
        add(values, "switches", rates.switches.of(switches, now));
        let retransmits = self.snmp.read().and_then(|t| parse::count(&t, "Tcp:", "RetransSegs"));
        add(values, "tcp.retransmits", rates.retransmits.of(retransmits, now));
        let drops = self.netstat.read().and_then(|t| parse::count(&t, "TcpExt:", "ListenDrops"));
        add(values, "tcp.listen_drops", rates.listen_drops.of(drops, now));
        for (number, (_, name)) in PRESSURE.into_iter().enumerate() {
            let stalled = self.pressure[number].read().and_then(|text| parse::stalled_us(&text));
            // Microseconds per second; a share cannot pass 1 but by the clocks' grain.
            let share = rates.pressure[number].of(stalled, now).map(|us| (us / 1e6).min(1.0));
            add(values, name, share);
        }
    }
}

/// CPU modes of all cores together.
const MACHINE_MODES: &[&str] =
    &["cpu.user", "cpu.system", "cpu.iowait", "cpu.steal", "cpu.softirq"];
/// CPU modes of each core.
const CORE_MODES: &[&str] = &["cpu.user", "cpu.system", "cpu.softirq"];

fn add_times(values: &mut Values, spent: &Times, modes: &[&str]) {
    let Some(total) = Some(spent.total()).filter(|total| *total > 0) else { return };
    let share = |ticks: u64| Some(ticks as f64 / total as f64);
    add(values, "cpu", share(total.saturating_sub(spent.idle).saturating_sub(spent.iowait)));
    for mode in modes {
        let ticks = match *mode {
            "cpu.user" => spent.user,
            "cpu.system" => spent.system,
            "cpu.iowait" => spent.iowait,
            "cpu.steal" => spent.steal,
            _ => spent.softirq,
        };
        add(values, mode, share(ticks));
    }
}

/// A reading for each core that was there before as well.
fn add_cores(before: &Cores, now: &Cores, at: i64, rows: &mut Rows) {
    for (number, times) in &now.each {
        let Some((_, then)) = before.each.iter().find(|(core, _)| core == number) else { continue };
        let mut values = Values::new();
        add_times(&mut values, &Times::between(then, times), CORE_MODES);
        rows.reading(at, &format!("core {number}"), values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel_file::tests::Scratch;
    use crate::rows::tests::readings;

    fn sample(machine: &mut Machine, second: u64) -> Vec<metrics::server::Row> {
        let mut rows = Rows::new("h".into());
        let unix = 1_000 + second as i64;
        machine.sample(Moment { unix, steady: Nanos::from_secs(second) }, &mut rows);
        rows.found
    }

    fn check(rows: &[metrics::server::Row], source: &str, expected: &[(&str, f64)]) {
        let reading = readings(rows, source)[0];
        for (name, value) in expected {
            let got = reading.value(name).unwrap_or(f64::NAN);
            assert!((got - value).abs() < 1e-9, "{source} {name}: {got}");
        }
    }

    #[test]
    fn counters_become_flows() {
        let scratch = Scratch::new("machine");
        scratch.write("proc/loadavg", "0.50 1.25 2.00 3/164 2189\n");
        scratch.write(
            "proc/stat",
            "cpu  100 0 50 800 50 0 0 0 0 0\ncpu0 100 0 50 800 50 0 0 0 0 0\nctxt 1000\n",
        );
        scratch
            .write("proc/pressure/cpu", "some avg10=1.00 avg60=1.00 avg300=0.00 total=1000000\n");
        let mut machine = Machine::new(&scratch.0);
        let first = sample(&mut machine, 1);
        check(&first, "machine", &[("load1", 0.5), ("threads", 164.0), ("cores", 1.0)]);
        let reading = readings(&first, "machine")[0];
        assert_eq!((reading.value("cpu"), reading.value("switches")), (None, None));
        assert!(readings(&first, "core 0").is_empty());

        scratch.write(
            "proc/stat",
            "cpu  150 10 70 900 60 0 10 0 0 0\ncpu0 150 10 70 900 60 0 10 0 0 0\nctxt 1500\n",
        );
        scratch
            .write("proc/pressure/cpu", "some avg10=1.00 avg60=1.00 avg300=0.00 total=1500000\n");
        let second = sample(&mut machine, 3);
        // 200 ticks passed, 60 of them in programs, 20 in the kernel, 10 in its soft interrupts.
        let modes = [("cpu", 0.45), ("cpu.user", 0.3), ("cpu.system", 0.1), ("cpu.softirq", 0.05)];
        check(&second, "machine", &modes);
        check(&second, "core 0", &modes);
        check(
            &second,
            "machine",
            &[("cpu.iowait", 0.05), ("switches", 250.0), ("pressure.cpu", 0.25)],
        );
    }

    #[test]
    fn counts_of_no_sense_are_shares_all_the_same() {
        let huge = u64::MAX - 1;
        let spent = Times { idle: huge, iowait: huge, user: huge, ..Times::default() };
        let mut values = Values::new();
        add_times(&mut values, &spent, MACHINE_MODES);
        assert!(values.iter().all(|(_, share)| (0.0..=1.0).contains(share)), "{values:?}");
    }

    #[test]
    fn what_vanishes_or_makes_no_sense_is_left_out() {
        let scratch = Scratch::new("machine-odd");
        let mut machine = Machine::new(&scratch.0);
        assert!(sample(&mut machine, 1).is_empty());
        for file in
            ["stat", "loadavg", "meminfo", "net/dev", "diskstats", "net/snmp", "net/netstat"]
        {
            scratch.write(&format!("proc/{file}"), "\u{fffd} :: 7 \n cpu -1\ncpu0\nTcp:\nTcp: 1\n");
        }
        let rows = sample(&mut machine, 2);
        assert!(rows.len() <= 1, "{rows:?}");
        scratch.write("proc/stat", "cpu  100 0 0 100\ncpu0 100 0 0 100\nctxt 9\n");
        sample(&mut machine, 3);
        // Backwards: a reset is no flow.
        scratch.write("proc/stat", "cpu  10 0 0 100\ncpu0 10 0 0 100\nctxt 3\n");
        let reading = sample(&mut machine, 4);
        let reading = readings(&reading, "machine")[0];
        assert_eq!((reading.value("cpu"), reading.value("switches")), (None, None));
        // Taken again at the same moment.
        let again = sample(&mut machine, 4);
        assert_eq!(readings(&again, "machine")[0].value("switches"), None);
    }
}
