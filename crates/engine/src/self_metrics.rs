//! `SelfMetrics`: a worker's measurements of itself: its lateness, stalls and exhausted resources.

use metrics::{FailureKind, Generator, IterationMeter, Landing, REDIRECT_HOSTS_MAX};
use net::machine;
use stdx::Nanos;

use crate::contact::Contact;
use crate::hit::Hit;

/// A loop that stood still for longer than this has stalled.
pub(crate) const STALL: Nanos = Nanos::from_millis(100);
/// Answers are taken to have waited while the loop stood still for longer than this; a turn's own work takes half of it.
const PAUSE: Nanos = Nanos::from_millis(20);
/// The same where the loop slept: there is no work in it, only the time until the machine lets it run again.
const OVERSLEPT: Nanos = Nanos::from_millis(5);

/// A worker's measurements of itself.
#[derive(Debug, Default)]
pub(crate) struct SelfMetrics {
    pub(crate) planned: u64,
    pub(crate) sent: u64,
    pub(crate) warmup_hits: u64,
    pub(crate) not_sent: u64,
    /// What users were due to begin and never did.
    pub(crate) not_begun: u64,
    /// Iterations of its users that were due by an arrival rate.
    pub(crate) iterations: IterationMeter,
    pub(crate) held: u64,
    /// Hits that waited for a lazy target.
    pub(crate) starved: u64,
    pub(crate) connections: u64,
    /// Users that waited in vain for each of their answers.
    never_answered: u64,
    /// Where redirects led.
    pub(crate) landings: Vec<Landing>,
    /// Redirects that are known to lead to one of them, or to none.
    pub(crate) redirects: Vec<KnownRedirect>,
    /// Hits that were sent a second time.
    pub(crate) sent_again: u64,
    pub(crate) texts_cut: u64,
    /// Hits whose end is by the kernel's stamp.
    pub(crate) kernel_times: u64,
    stalls: u64,
    stall_longest: Nanos,
    descriptors_exhausted: u64,
    ports_exhausted: u64,
    pub(crate) pauses: u64,
    /// Requests to hosts that only redirects named, and the first of these hosts.
    redirected: (u64, Vec<String>),
    /// The worker's thread is in a real-time class.
    is_real_time: bool,
    cpu_at_start: Nanos,
    began: Nanos,
    /// When the loop last went to sleep or woke up.
    turned: Nanos,
    /// How long the loop stood still before it read what it reads now, and until when.
    stood_still: (Nanos, Nanos),
}

/// A redirect that is not followed: the answers of a page are mostly the same, and its next one is counted without a text.
#[derive(Debug)]
pub(crate) struct KnownRedirect {
    /// The index of the target that it answers.
    pub(crate) target: u32,
    pub(crate) location: String,
    /// Its place among the landings; `None` where it counts as none.
    pub(crate) landing: Option<usize>,
}

impl KnownRedirect {
    pub(crate) fn is(&self, target: Option<u32>, location: &str) -> bool {
        target == Some(self.target) && self.location == location
    }
}

impl SelfMetrics {
    pub(crate) fn new(now: Nanos) -> Self {
        let cpu_at_start = machine::thread_cpu_time();
        let is_real_time = machine::is_thread_real_time();
        Self { is_real_time, cpu_at_start, began: now, turned: now, ..Self::default() }
    }

    /// The loop goes to sleep. What came before its last turn is read.
    pub(crate) fn sleep(&mut self, now: Nanos) {
        self.stood_still = Default::default();
        self.note_stall(now.saturating_sub(self.turned), now);
    }

    /// The loop woke up; it had asked for `until`. Says whether it stood still since, so that more may lie unread than the wait
    /// brought: one that had ended before the process was stopped brings nothing.
    pub(crate) fn wake(&mut self, until: Nanos, now: Nanos) -> bool {
        let overslept = now.saturating_sub(until);
        self.note_pause(overslept, now, OVERSLEPT);
        self.turned = now;
        overslept > OVERSLEPT
    }

    /// The loop goes on without sleep: some of what came before is still to be read.
    pub(crate) fn go_on(&mut self, now: Nanos) {
        self.note_stall(now.saturating_sub(self.turned), now);
        self.turned = now;
    }

    fn note_stall(&mut self, length: Nanos, now: Nanos) {
        self.note_pause(length, now, PAUSE);
    }

    fn note_pause(&mut self, length: Nanos, now: Nanos, least: Nanos) {
        if length > STALL {
            self.stalls += 1;
            self.stall_longest = self.stall_longest.max(length);
        }
        if length > least {
            self.stood_still = (self.stood_still.0.saturating_add(length), now);
        }
    }

    /// The longest time that an answer read at `now`, to a hit begun at `begun`, may have waited since the loop stood still.
    pub(crate) fn waited_unread(&self, begun: Nanos, now: Nanos) -> Nanos {
        let (mut length, mut until) = self.stood_still;
        let turn = now.saturating_sub(self.turned);
        if turn > PAUSE {
            (length, until) = (length.saturating_add(turn), now);
        }
        length.min(until.saturating_sub(begun))
    }

    /// A request goes to a host that nothing but a redirect named.
    pub(crate) fn note_redirect_host(&mut self, host: &str) {
        let (requests, hosts) = &mut self.redirected;
        *requests += 1;
        if hosts.len() < REDIRECT_HOSTS_MAX && !hosts.iter().any(|known| known == host) {
            hosts.push(host.to_owned());
        }
    }

    pub(crate) fn note_failure(&mut self, kind: FailureKind) {
        self.descriptors_exhausted += u64::from(kind == FailureKind::DescriptorsExhausted);
        self.ports_exhausted += u64::from(kind == FailureKind::PortsExhausted);
    }

    /// A user's hit ended with the beginning of an answer, or by its timeout, or otherwise; says what the user is from then on. One that is
    /// refused tries again at once, and is a part of the load.
    pub(crate) fn note_contact(&mut self, hit: &Hit, now: Nanos) -> Contact {
        let (is_answered, is_overdue) = (hit.first_byte.is_some(), hit.deadline <= now);
        match (hit.contact, is_answered) {
            (Contact::Made, _) | (Contact::New, true) => Contact::Made,
            (Contact::Never, true) => {
                self.never_answered -= 1;
                Contact::Made
            }
            (Contact::New, false) if is_overdue => {
                self.never_answered += 1;
                Contact::Never
            }
            (before, false) => before,
        }
    }

    /// Writes the measurements into the record; the caller owns the histogram of lag.
    pub(crate) fn write_to(&self, record: &mut Generator, now: Nanos) {
        let cpu = machine::thread_cpu_time().saturating_sub(self.cpu_at_start);
        let wall = now.saturating_sub(self.began);
        record.workers = 1;
        record.real_time = self.is_real_time;
        record.planned = self.planned + self.not_begun;
        record.sent = self.sent;
        record.warmup_hits = self.warmup_hits;
        record.not_sent = self.not_sent + self.not_begun;
        record.held = self.held;
        record.starved = self.starved;
        record.never_answered = self.never_answered;
        record.connections = self.connections;
        record.sent_again = self.sent_again;
        record.landings.clone_from(&self.landings);
        record.iterations.clone_from(self.iterations.course());
        record.texts_cut = self.texts_cut;
        record.kernel_times = self.kernel_times;
        record.stalls = self.stalls;
        record.stall_longest = self.stall_longest;
        record.descriptors_exhausted = self.descriptors_exhausted;
        record.ports_exhausted = self.ports_exhausted;
        record.pauses = self.pauses;
        record.redirected = self.redirected.0;
        record.redirect_hosts.clone_from(&self.redirected.1);
        record.cpu = cpu;
        record.wall = wall;
        record.cpu_busiest = if wall == Nanos::ZERO { 0.0 } else { cpu.0 as f64 / wall.0 as f64 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Nanos {
        Nanos::from_millis(ms)
    }

    #[test]
    fn an_answer_may_have_waited_as_long_as_the_loop_stood_still() {
        let mut own = SelfMetrics::new(ms(0));
        own.sleep(ms(1));
        own.wake(ms(99), ms(100));
        assert_eq!(own.waited_unread(ms(0), ms(101)), ms(0), "1 ms is what waking up may take");
        own.go_on(ms(115));
        assert_eq!(own.waited_unread(ms(0), ms(116)), ms(0), "15 ms are what a turn may take");
        own.sleep(ms(116));
        own.wake(ms(117), ms(132));
        assert_eq!(own.waited_unread(ms(0), ms(133)), ms(15), "which no sleep may");
        own.sleep(ms(133));
        own.wake(ms(140), ms(440));
        assert_eq!((own.stalls, own.stall_longest), (1, ms(300)));
        assert_eq!(own.waited_unread(ms(20), ms(450)), ms(300), "all of it");
        assert_eq!(own.waited_unread(ms(420), ms(450)), ms(20), "no longer than it was under way");
        assert_eq!(own.waited_unread(ms(445), ms(450)), ms(0), "begun after it");
        own.go_on(ms(460));
        assert_eq!(own.waited_unread(ms(20), ms(461)), ms(300), "left unread");
        assert_eq!(own.waited_unread(ms(20), ms(661)), ms(501), "and the turn takes long itself");
        own.sleep(ms(470));
        own.wake(ms(520), ms(480));
        assert_eq!(own.waited_unread(ms(20), ms(481)), ms(0), "all was read before the sleep");
    }
}
