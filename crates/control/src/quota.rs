//! `Quotas`: how much of an agent may wait at the coordinator. An agent that floods, or that is faster than the command, loses its own
//! messages, which it sends again; those of others have room.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use fleet::{AGENTS_MAX, FRAME_MAX, Name};

/// Messages of one agent that may wait, and their bytes.
const MESSAGES_MAX: usize = 128;
const MESSAGE_BYTES_MAX: usize = 8 * FRAME_MAX;

/// Messages of an agent in a second over a longer time, and at once. An honest one sends a beat, and a delta for each 320 KiB of rows.
const RATE_PER_S: f64 = 256.0;
const BURST: f64 = 1024.0;

/// Bytes of deltas that may be on their way to the disk and to the command: of one agent, and of all together where there are many. All
/// together have an eighth of `-memory-limit` at most.
const DELTA_BYTES_MAX: usize = 16 << 20;
const ALL_BYTES_MAX: usize = 128 << 20;
const MEMORY_PART: usize = 8;

/// What of each agent waits; clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Quotas(Arc<Mutex<BTreeMap<Name, Quota>>>);

#[derive(Debug)]
struct Quota {
    messages: usize,
    message_bytes: usize,
    delta_bytes: usize,
    /// Messages that may come now, as of this instant.
    tokens: f64,
    at: Instant,
    dropped: u64,
}

impl Quota {
    fn new(now: Instant) -> Self {
        let (messages, message_bytes, delta_bytes, dropped) = (0, 0, 0, 0);
        Self { messages, message_bytes, delta_bytes, tokens: BURST, at: now, dropped }
    }

    fn admits(&mut self, bytes: usize, now: Instant) -> bool {
        let since = now.saturating_duration_since(self.at).as_secs_f64();
        self.tokens = (self.tokens + since * RATE_PER_S).min(BURST);
        self.at = now;
        // The largest message has room where none waits.
        let has_room =
            self.messages < MESSAGES_MAX && self.message_bytes + bytes <= MESSAGE_BYTES_MAX;
        if !has_room || self.tokens < 1.0 {
            self.dropped += 1;
            return false;
        }
        self.tokens -= 1.0;
        self.messages += 1;
        self.message_bytes += bytes;
        true
    }
}

impl Quotas {
    fn all(&self) -> MutexGuard<'_, BTreeMap<Name, Quota>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a message of this size may wait for the coordinator; if so it counts until it is taken.
    pub(crate) fn admit(&self, agent: &Name, bytes: usize, now: Instant) -> bool {
        let mut all = self.all();
        if !all.contains_key(agent) && all.len() >= AGENTS_MAX {
            // Names that no fleet has room for: nothing waits of most of them.
            all.retain(|_, quota| quota.messages > 0 || quota.delta_bytes > 0);
            if all.len() >= AGENTS_MAX {
                return false;
            }
        }
        let quota = all.entry(agent.clone()).or_insert_with(|| Quota::new(now));
        quota.admits(bytes, now)
    }

    /// A message was taken, or had no room after all.
    pub(crate) fn taken(&self, agent: &Name, bytes: usize) {
        if let Some(quota) = self.all().get_mut(agent) {
            quota.messages = quota.messages.saturating_sub(1);
            quota.message_bytes = quota.message_bytes.saturating_sub(bytes);
        }
    }

    /// Whether one of this many agents may have another delta taken.
    pub(crate) fn takes_delta(&self, agent: &Name, agents: usize) -> bool {
        // At least one of the largest deltas is always under way.
        let all = ALL_BYTES_MAX.min(stdx::memory_limit() / MEMORY_PART);
        let most = (all / agents.max(1)).clamp(FRAME_MAX, DELTA_BYTES_MAX);
        self.all().get(agent).is_none_or(|quota| quota.delta_bytes < most)
    }

    /// A delta of this size is on its way to the disk, and from there to the command.
    pub(crate) fn delta_taken(&self, agent: &Name, bytes: usize) {
        let mut all = self.all();
        let quota = all.entry(agent.clone()).or_insert_with(|| Quota::new(Instant::now()));
        quota.delta_bytes = quota.delta_bytes.saturating_add(bytes);
    }

    /// The command has it.
    pub(crate) fn delta_merged(&self, agent: &Name, bytes: usize) {
        if let Some(quota) = self.all().get_mut(agent) {
            quota.delta_bytes = quota.delta_bytes.saturating_sub(bytes);
        }
    }

    /// Messages of an agent that had no room.
    #[cfg(test)]
    pub(crate) fn dropped(&self, agent: &Name) -> u64 {
        self.all().get(agent).map_or(0, |quota| quota.dropped)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn name(text: &str) -> Name {
        Name::new(text).unwrap()
    }

    #[test]
    fn an_agent_that_floods_loses_its_own_messages() {
        let (quotas, now) = (Quotas::default(), Instant::now());
        let (liar, other) = (name("liar"), name("other"));
        let admitted = (0..10_000).filter(|_| quotas.admit(&liar, FRAME_MAX, now)).count();
        assert_eq!((admitted, quotas.dropped(&liar)), (8, 9_992));
        assert!(quotas.admit(&other, FRAME_MAX, now));
        quotas.taken(&liar, FRAME_MAX);
        assert!(quotas.admit(&liar, FRAME_MAX, now));
        let small = (0..10_000).filter(|_| quotas.admit(&other, 60, now)).count();
        assert_eq!(small, MESSAGES_MAX - 1);
    }

    #[test]
    fn a_fast_agent_has_a_rate() {
        let (quotas, now) = (Quotas::default(), Instant::now());
        let agent = name("a");
        let sent = |now| {
            let admitted = (0..5_000).filter(|_| {
                let admits = quotas.admit(&agent, 60, now);
                if admits {
                    quotas.taken(&agent, 60);
                }
                admits
            });
            admitted.count()
        };
        assert_eq!(sent(now), BURST as usize);
        assert_eq!(sent(now + Duration::from_secs(2)), 2 * RATE_PER_S as usize);
    }

    #[test]
    fn deltas_wait_in_bytes_and_all_agents_together_have_a_bound() {
        let quotas = Quotas::default();
        let fill = |agent: &str, agents: usize| {
            let (agent, mut taken) = (name(agent), 0);
            while quotas.takes_delta(&agent, agents) {
                quotas.delta_taken(&agent, 320 << 10);
                taken += 320 << 10;
            }
            taken
        };
        let one = fill("a", 1);
        assert!((DELTA_BYTES_MAX..DELTA_BYTES_MAX + FRAME_MAX).contains(&one), "{one}");
        assert!(!quotas.takes_delta(&name("a"), 2) && quotas.takes_delta(&name("b"), 2));
        let of_many = fill("c", 1000);
        assert!(of_many < 2 * FRAME_MAX, "{of_many}");
        quotas.delta_merged(&name("a"), one);
        assert!(quotas.takes_delta(&name("a"), 1));
    }

    #[test]
    fn names_are_bounded() {
        let (quotas, now) = (Quotas::default(), Instant::now());
        for at in 0..2 * AGENTS_MAX {
            let agent = name(&format!("a{at}"));
            assert_eq!(quotas.admit(&agent, 1, now), at < AGENTS_MAX, "{at}");
        }
        quotas.taken(&name("a0"), 1);
        assert!(quotas.admit(&name("new"), 1, now));
    }
}
