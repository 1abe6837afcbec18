//! `Interfaces`: what the machine's own network interfaces carry, each counted by itself, so that one that comes with an old
//! counter adds nothing.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use stdx::Nanos;

use super::parse::{Interface, is_virtual};
use crate::counter_rate::CounterRate;

/// The rates of every interface.
#[derive(Debug)]
pub(super) struct Interfaces {
    /// `/sys/class/net`.
    folder: PathBuf,
    own: HashMap<String, Rates>,
    loopback: CounterRate,
}

/// One interface's.
#[derive(Debug, Default)]
struct Rates {
    inward: CounterRate,
    outward: CounterRate,
}

/// Bytes per second.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Throughput {
    pub(super) inward: Option<f64>,
    pub(super) outward: Option<f64>,
    pub(super) loopback: Option<f64>,
}

impl Interfaces {
    /// The interfaces of the machine with its `sys` in this folder.
    pub(super) fn new(root: &Path) -> Self {
        let folder = root.join("sys/class/net");
        Self { folder, own: HashMap::new(), loopback: CounterRate::default() }
    }

    /// Their throughput since the last sample. Interfaces that are new since then do not count yet.
    pub(super) fn throughput(&mut self, found: &[Interface], now: Nanos) -> Throughput {
        let mut throughput = Throughput::default();
        let lo = found.iter().find(|one| one.name == "lo");
        throughput.loopback = self.loopback.of(lo.map(|one| one.bytes_in), now);
        let own = self.own(found);
        self.own.retain(|name, _| own.iter().any(|one| one.name == *name));
        for one in own {
            let rates = self.own.entry(one.name.clone()).or_default();
            add(&mut throughput.inward, rates.inward.per_s(one.bytes_in, now));
            add(&mut throughput.outward, rates.outward.per_s(one.bytes_out, now));
        }
        throughput
    }

    /// Interfaces with a device. Without any, as in a container, those with a name that is not one of a virtual interface.
    fn own<'a>(&self, found: &'a [Interface]) -> Vec<&'a Interface> {
        let has_device = |one: &&Interface| self.folder.join(&one.name).join("device").exists();
        let real: Vec<&Interface> = found.iter().filter(has_device).collect();
        if !real.is_empty() {
            return real;
        }
        found.iter().filter(|one| one.name != "lo" && !is_virtual(&one.name)).collect()
    }
}

fn add(sum: &mut Option<f64>, rate: Option<f64>) {
    if let Some(rate) = rate {
        *sum = Some(sum.unwrap_or(0.0) + rate);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel_file::tests::Scratch;

    fn sample(interfaces: &mut Interfaces, second: u64, found: &[(&str, u64)]) -> Throughput {
        let one = |(name, bytes): &(&str, u64)| Interface {
            name: (*name).to_owned(),
            bytes_in: *bytes,
            bytes_out: 2 * bytes,
        };
        let found: Vec<Interface> = found.iter().map(one).collect();
        interfaces.throughput(&found, Nanos::from_secs(second))
    }

    #[test]
    fn what_another_carries_as_well_counts_once() {
        let scratch = Scratch::new("interfaces");
        for real in ["eth0", "eth1"] {
            scratch.write(&format!("sys/class/net/{real}/device/vendor"), "");
        }
        let mut interfaces = Interfaces::new(&scratch.0);
        let none = Throughput::default();
        assert_eq!(sample(&mut interfaces, 1, &[("lo", 5), ("eth0", 100), ("br0", 100)]), none);
        // One comes with all that it carried before.
        let found = [("lo", 7), ("eth0", 150), ("br0", 150), ("eth0.10", 50), ("eth1", 1 << 40)];
        let expected = Throughput { inward: Some(50.0), outward: Some(100.0), loopback: Some(2.0) };
        assert_eq!(sample(&mut interfaces, 2, &found), expected);
        let found = [("eth0", 160), ("eth1", (1 << 40) + 1)];
        let expected = Throughput { inward: Some(11.0), outward: Some(22.0), loopback: None };
        assert_eq!(sample(&mut interfaces, 3, &found), expected);
    }

    #[test]
    fn in_a_container_names_must_do() {
        let scratch = Scratch::new("interfaces-container");
        let mut interfaces = Interfaces::new(&scratch.0);
        let virtuals = ["br0", "eth0.10", "podman0", "tailscale0", "team0", "vxlan.calico"];
        for second in 1..=2 {
            let mut found = vec![("eth0", 100 * second)];
            found.extend(virtuals.map(|name| (name, 1000 * second)));
            let throughput = sample(&mut interfaces, second, &found);
            assert_eq!(throughput.inward, (second == 2).then_some(100.0));
        }
    }
}
