//! What of a test of Action Cable stands though the measurement is INVALID: a generator that is late takes longer to see a message,
//! and loses none within its timeout.

use cable::{CablePlan, CableReport, Pattern};
use metrics::{Histogram, Reason, Verdict};
use stdx::Nanos;

/// Lateness may be this part of a timeout, or of a time that messages waited, at most.
const LATENESS_PART: u64 = 4;
/// Messages that waited so long, and so many times the median, waited for a server that did nothing meanwhile.
const PAUSE_MIN: Nanos = Nanos::SECOND;
const PAUSE_TIMES: u64 = 20;
/// A pause meets so many messages, or all users where they are fewer.
const PAUSED_MIN: u32 = 3;

/// Whether what went wrong is certain: nothing but lateness speaks against the measurement, and it is short beside the timeout.
pub(super) fn is_certain(plan: &CablePlan, verdict: &Verdict) -> bool {
    let is_late = verdict.reasons.iter().all(Reason::is_lateness);
    verdict.is_valid() || is_late && is_short(lateness(verdict), plan.timeout)
}

/// The longest that messages waited for a server that stood still; `None` where it did not, and where it may have been the
/// generator.
pub(super) fn pause(plan: &CablePlan, seen: &CableReport, verdict: &Verdict) -> Option<Nanos> {
    let times = match plan.pattern {
        Pattern::Echo { .. } => &seen.round_trip,
        Pattern::Broadcast { .. } => &seen.complete,
        _ => return None,
    };
    let longest = times.max();
    let is_far = longest >= PAUSE_MIN && longest.0 / PAUSE_TIMES >= times.quantile(0.5).0;
    let is_pause = is_far && is_of_several(times, plan.users) && is_certain(plan, verdict);
    (is_pause && is_short(lateness(verdict), longest)).then_some(longest)
}

/// Several messages waited about as long as the longest.
fn is_of_several(times: &Histogram, users: u32) -> bool {
    let several = f64::from(users.clamp(1, PAUSED_MIN)) - 0.5;
    let q = 1.0 - several / times.count().max(1) as f64;
    q > 0.0 && times.quantile(q).0 >= times.max().0 / 2
}

fn is_short(lateness: Nanos, beside: Nanos) -> bool {
    lateness.0.saturating_mul(LATENESS_PART) <= beside.0
}

/// How late the generator was, as far as the verdict's reasons have it.
fn lateness(verdict: &Verdict) -> Nanos {
    let of = |reason: &Reason| match reason {
        Reason::Stalls { longest, .. } => *longest,
        Reason::Lag { p99, .. } | Reason::Busy { lag_p99: p99, .. } => *p99,
        Reason::Late { quantiles, .. } => {
            let excess = quantiles.iter().map(|one| one.response.saturating_sub(one.on_time));
            excess.max().unwrap_or(Nanos::ZERO)
        }
        _ => Nanos::ZERO,
    };
    verdict.reasons.iter().map(of).max().unwrap_or(Nanos::ZERO)
}
