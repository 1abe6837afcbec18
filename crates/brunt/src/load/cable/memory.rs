//! `Memory`: what this process holds while sockets are open.

use std::time::{Duration, Instant};

use report::cable::CableMemory;
use session::{Control, Observer};

/// How often the system is asked.
const SAMPLE_EVERY: Duration = Duration::from_millis(250);

/// What the process held when the most sockets were open.
pub(super) struct Memory {
    /// How many sockets are open now.
    open: Box<dyn Fn() -> u32>,
    before_bytes: Option<u64>,
    sampled: Instant,
    most_open: u32,
    most: Option<CableMemory>,
}

impl Memory {
    /// Before the first socket; `open` counts them.
    pub(super) fn before(open: impl Fn() -> u32 + 'static) -> Self {
        let (before_bytes, sampled) = (resident_bytes(), Instant::now());
        Self { open: Box::new(open), before_bytes, sampled, most_open: 0, most: None }
    }

    /// What the process held, and how many sockets were open then; `None` where there was none, or the system does not report it.
    pub(super) fn most(&self) -> Option<CableMemory> {
        self.most
    }

    /// Takes a sample, if it is time to and no fewer sockets are open than ever.
    fn sample(&mut self, open: u32) {
        if open == 0 || open < self.most_open || self.sampled.elapsed() < SAMPLE_EVERY {
            return;
        }
        (self.most_open, self.sampled) = (open, Instant::now());
        let bytes = self.before_bytes.zip(resident_bytes());
        let sample = bytes.map(|(before_bytes, bytes)| CableMemory { before_bytes, bytes, open });
        self.most = sample.or(self.most);
    }
}

impl Observer for Memory {
    fn tick(&mut self, _: &mut Control<'_>) {
        self.sample((self.open)());
    }
}

/// The resident memory of this process; Linux only.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_holds_something() {
        assert!(resident_bytes().expect("Linux tells") > 100_000);
        let mut memory = Memory::before(|| 0);
        let mut sample = |open| {
            memory.sampled -= 2 * SAMPLE_EVERY;
            memory.sample(open);
            memory.most().map(|most| most.open)
        };
        assert_eq!(sample(0), None, "no sockets");
        assert_eq!(sample(7), Some(7));
        assert_eq!(sample(6), Some(7), "the most is what counts");
        memory.sampled = Instant::now();
        memory.sample(9);
        assert_eq!(memory.most().map(|most| most.open), Some(7), "it is not time yet");
    }
}
