//! What must be known to read a run's figures, one sentence each: time between runs that counts in no rate, times that are no
//! more than how long requests were waited for, a generator that takes cores from its server, and a load that someone
//! changed.

use metrics::{FailureKind, Generator, Histogram, Summary};
use stdx::Nanos;

use crate::conclusion::SENT_AGAIN_MIN;
use crate::number::{counted, duration, duration_short};
use crate::object::{self, Object};
use crate::{Input, escape};

/// The sentences, for every kind of report.
pub(crate) fn caveats(input: &Input<'_>) -> Vec<String> {
    let summary = input.summary;
    let changed = crate::events::caveat(input);
    let of_generator = input.generator.and_then(real_time);
    let elsewhere = input.generator.and_then(redirected);
    let again = input.generator.and_then(|generator| sent_again(generator, summary));
    let lost = input.generator.and_then(lost_at_end);
    let all = [
        selected(input),
        apart(summary),
        timed_out(summary),
        again,
        of_generator,
        elsewhere,
        changed,
        lost,
    ];
    all.into_iter().flatten().collect()
}

fn selected(input: &Input<'_>) -> Option<String> {
    let which = input.selected;
    (!which.is_empty()).then(|| {
        format!("These are the requests with {which} alone; what is said of the generator is of the whole run.")
    })
}

fn apart(summary: &Summary) -> Option<String> {
    (summary.apart > Nanos::ZERO).then(|| {
        let (between, ran) = (duration(summary.apart), duration(summary.elapsed()));
        format!(
            "These are runs one after the other: rates are over the {ran} in which they ran, without the {between} between them."
        )
    })
}

/// A load belongs where its targets are: requests that redirects took elsewhere are reported.
fn redirected(generator: &Generator) -> Option<String> {
    let requests = stdx::counted(generator.redirected, "request");
    let hosts = generator.redirect_hosts.join(", ");
    let went = if generator.redirected == 1 { "was" } else { "were" };
    (generator.redirected > 0).then(|| {
        format!(
            "{requests} {went} sent to hosts that no target names, where redirects led ({hosts}); \
             -redirects=same-host takes such a redirect as the response."
        )
    })
}

/// A few requests that were sent a second time; of more there is a sentence of the conclusion.
fn sent_again(generator: &Generator, summary: &Summary) -> Option<String> {
    let share = generator.sent_again as f64 / summary.requests.max(1) as f64;
    let (requests, were) =
        (counted(generator.sent_again, "request"), stdx::were(generator.sent_again));
    (generator.sent_again > 0 && share < SENT_AGAIN_MIN).then(|| {
        format!("{requests} {were} sent twice, since a kept connection closed before the answer.")
    })
}

/// The reader of a pipe that ended first, as Ctrl-C ends tee, took the last rows with it. That is no fault of the measurement.
fn lost_at_end(generator: &Generator) -> Option<String> {
    let requests = stdx::counted(generator.lost_at_end, "request");
    (generator.lost_at_end > 0).then(|| {
        format!(
            "The run's end is missing, since the reader of its pipe ended first: up to {requests} of it, under way or answered, \
             are in no count (Ctrl-C ends tee, but not tee -i)."
        )
    })
}

/// With real-time priority the generator is punctual at the expense of a server on the same cores: lag falls, and service
/// time rises, which no verdict sees.
fn real_time(generator: &Generator) -> Option<String> {
    let sentence = "The generator had real-time priority (-rt) on the server's machine: it takes cores from the server first, so \
                    service times may be longer than without it.";
    (generator.real_time && generator.server_here).then(|| sentence.to_owned())
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
    let which = match &cut[..] {
        [] => return None,
        [one] => format!("{one} is that wait, and its true time is longer"),
        [first @ .., last] => {
            let first = first.join(", ");
            format!("{first} and {last} are that wait, and their true times are longer")
        }
    };
    Some(format!(
        "{} ({share:.2}%) timed out, after {} or more: {which}.",
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

/// A time as text, with a sign before one that is cut off by timeouts, which start at `from`: `≥ 500.1ms`.
pub(crate) fn at_least(time: Nanos, from: Option<Nanos>) -> String {
    let text = duration(time);
    if is_cut(time, from) { format!("\u{2265} {text}") } else { text }
}

/// The keys of a JSON report's `response` and `service` of which the value is a time cut off by timeouts; `None` without any
/// timeout.
pub(crate) fn censored(summary: &Summary) -> Option<String> {
    let (response, service) = summary.timed_out_from?;
    let keys = |times: &Histogram, from| {
        let quantiles = object::QUANTILE_KEYS.map(|(key, q)| (key, times.quantile(q)));
        let all = quantiles.into_iter().chain([("max", times.max())]);
        let cut = all.filter(|(_, time)| times.count() > 0 && is_cut(*time, Some(from)));
        object::json_list(cut.map(|(key, _)| escape::json(key)))
    };
    let object = Object::new().put("response", keys(&summary.response, response));
    Some(object.put("service", keys(&summary.service, service)).end())
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
        assert_eq!((timed_out(&summary(0)), censored(&summary(0))), (None, None));
        let half = summary(50);
        assert_eq!(
            timed_out(&half).unwrap(),
            "50 requests (50.00%) timed out, after 500.1ms or more: p90, p95, p99 and max are that wait, and their true times are \
             longer."
        );
        let keys = r#"["75th","90th","95th","99th","99.9th","99.99th","max"]"#;
        let expect = format!("{{\"response\":{keys},\"service\":{keys}}}");
        assert_eq!(
            censored(&half),
            Some(expect),
            "the service time of all is that of the response"
        );
        let one = timed_out(&summary(1)).unwrap();
        assert!(one.starts_with("1 request (1.00%) timed out"), "{one}");
        assert!(one.ends_with(": max is that wait, and its true time is longer."), "{one}");
        let from = half.timed_out_from.map(|from| from.0);
        assert!(at_least(half.response.quantile(0.99), from).starts_with("\u{2265} 500."));
        assert_eq!(
            at_least(half.response.quantile(0.5), from),
            duration(half.response.quantile(0.5))
        );
    }

    #[test]
    fn time_between_runs_is_reported() {
        let mut apart = summary(0);
        apart.apart = Nanos::from_secs(123);
        (apart.earliest, apart.latest, apart.end) = (0, 163_000_000_000, 164_000_000_000);
        assert_eq!(
            self::apart(&apart).unwrap(),
            "These are runs one after the other: rates are over the 41s in which they ran, without the 2m3s between them."
        );
    }

    #[test]
    fn real_time_priority_beside_the_server_is_reported() {
        let generator =
            |real_time, server_here| Generator { real_time, server_here, ..Generator::default() };
        assert!(real_time(&generator(true, true)).unwrap().contains("service times may be longer"));
        assert_eq!(real_time(&generator(true, false)), None, "a server elsewhere loses nothing");
        assert_eq!(real_time(&generator(false, true)), None);
    }
}
