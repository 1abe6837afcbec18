//! `Memory`: what this process holds while sockets are open.

use std::time::{Duration, Instant};

use report::CableMemory;

/// How often the system is asked.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// What the process held, and how many sockets were open then.
#[derive(Debug)]
pub(super) struct Memory {
    before_bytes: Option<u64>,
    looked: Instant,
    most: u32,
}

impl Memory {
    /// Before the first socket.
    pub(super) fn before() -> Self {
        Self { before_bytes: resident_bytes(), looked: Instant::now(), most: 0 }
    }

    /// Looks, if it is time to and no fewer sockets are open than ever.
    pub(super) fn look(&mut self, open: u32) -> Option<CableMemory> {
        if open == 0 || open < self.most || self.looked.elapsed() < LOOK_EVERY {
            return None;
        }
        (self.most, self.looked) = (open, Instant::now());
        let (before_bytes, bytes) = (self.before_bytes?, resident_bytes()?);
        Some(CableMemory { before_bytes, bytes, open })
    }
}

/// What this process holds in memory, where the system tells (Linux).
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
        let mut memory = Memory::before();
        assert_eq!(memory.look(0).map(|seen| seen.open), None, "no sockets");
        memory.looked -= 2 * LOOK_EVERY;
        assert_eq!(memory.look(7).map(|seen| seen.open), Some(7));
        memory.looked -= 2 * LOOK_EVERY;
        assert_eq!(memory.look(6).map(|seen| seen.open), None, "the most is what counts");
    }
}
