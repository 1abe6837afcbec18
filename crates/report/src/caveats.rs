//! What must be known to read a run's figures, one sentence each: time between runs that counts in no rate, and times that
//! are no more than how long requests were waited for.

use metrics::{FailureKind, Summary};
use stdx::Nanos;

use crate::number::{counted, duration, duration_short};

/// The sentences, for every kind of report.
pub(crate) fn caveats(summary: &Summary) -> Vec<String> {
    apart(summary).into_iter().chain(timed_out(summary)).collect()
}

fn apart(summary: &Summary) -> Option<String> {
    (summary.apart > Nanos::ZERO).then(|| {
        format!(
            "These are runs one after the other: the {} between them count in no rate.",
            duration(summary.apart)
        )
    })
}

/// Quantiles that reports show, with their names.
const SHOWN: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)];

fn timed_out(summary: &Summary) -> Option<String> {
    let (from, _) = summary.timed_out_from?;
    let count = summary.failures[FailureKind::Timeout as usize];
    let share = count as f64 / summary.requests.max(1) as f64 * 100.0;
    let quantile = |(name, q): &(&'static str, f64)| (*name, summary.response.quantile(*q));
    let all = SHOWN.iter().map(quantile).chain([("max", summary.response.max())]);
    let cut: Vec<&str> =
        all.filter(|(_, time)| is_cut(*time, Some(from))).map(|(name, _)| name).collect();
    let which = match cut.len() {
        0 => return None,
        1 => format!("{} tells", cut[0]),
        _ => format!("{} tell", stdx::list_and(&cut)),
    };
    Some(format!(
        "{} ({share:.2}%) timed out, after {} or more: {which} how long was waited, and the true times are longer.",
        counted(count, "request"),
        duration(from)
    ))
}

/// Whether a quantile lies where times are cut off by timeouts, to a histogram's grain.
fn is_cut(time: Nanos, from: Option<Nanos>) -> bool {
    from.is_some_and(|from| time.0 as f64 >= from.0 as f64 * 0.999)
}

/// A time to three digits, with a sign before one that is cut off by timeouts.
pub(crate) fn at_least_short(time: Nanos, from: Option<Nanos>) -> String {
    let sign = if is_cut(time, from) { "\u{2265} " } else { "" };
    format!("{sign}{}", duration_short(time))
}

/// A time as text, with `>= ` before one that is cut off by timeouts, which start at `from`.
pub(crate) fn at_least(time: Nanos, from: Option<Nanos>) -> String {
    let text = duration(time);
    if is_cut(time, from) { format!(">= {text}") } else { text }
}

#[cfg(test)]
mod tests {
    use metrics::{Batch, Sample};

    use super::*;

    fn summary(timeouts: u64) -> Summary {
        let hit = |n: u64| {
            let failed = n < timeouts;
            Sample {
                done: if failed { Nanos::from_micros(500_100) } else { Nanos::from_millis(20) },
                failure: if failed { FailureKind::Timeout } else { FailureKind::None },
                ..Sample::default()
            }
        };
        let mut summary = Summary::new();
        summary.add(&Batch { samples: (0..100).map(hit).collect(), ..Batch::default() });
        summary
    }

    #[test]
    fn times_cut_off_by_timeouts_are_marked() {
        assert!(caveats(&summary(0)).is_empty());
        let half = summary(50);
        let [caveat] = &caveats(&half)[..] else { panic!() };
        assert_eq!(
            caveat,
            "50 requests (50.00%) timed out, after 500.1ms or more: p90, p95, p99 and max tell how long was waited, and the \
             true times are longer."
        );
        let one = caveats(&summary(1)).concat();
        assert!(one.starts_with("1 request (1.00%) timed out") && one.contains(": max tells how"));
        let from = half.timed_out_from.map(|from| from.0);
        assert!(at_least(half.response.quantile(0.99), from).starts_with(">= 500."));
        assert_eq!(
            at_least(half.response.quantile(0.5), from),
            duration(half.response.quantile(0.5))
        );
    }

    #[test]
    fn time_between_runs_is_reported() {
        let mut apart = summary(0);
        apart.apart = Nanos::from_secs(123);
        let expect = "These are runs one after the other: the 2m3s between them count in no rate.";
        assert_eq!(caveats(&apart), [expect]);
    }
}
