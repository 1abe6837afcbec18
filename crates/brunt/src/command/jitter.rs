//! `jitter`: how punctual this machine is when there is nothing to send.

use cli::{ExitCode, Interrupts, Output};
use metrics::Histogram;
use stdx::Nanos;

use super::{CommandError, usage_error};
use crate::dialect::Invocation;
use crate::flags::jitter::JITTER;

/// Measures and prints.
pub(super) fn run(invocation: &Invocation) -> Result<ExitCode, CommandError> {
    let typed = invocation.parse(JITTER)?;
    if let Some(extra) = typed.operands.first() {
        return Err(usage_error(format!("unexpected \"{extra}\"")));
    }
    let (rate, duration) = (typed.flags.rate, typed.flags.duration);
    let interval = Nanos(rate.per.0 / rate.hits);
    let interrupts = Interrupts::watch()?;
    let stop = || interrupts.seen() > 0;
    let lag = engine::measure_empty_schedule(interval, duration.0 / interval.0, stop);
    let text = if typed.flags.json { json(&lag) } else { text(&lag) };
    Output::Stdout.write(text.as_bytes())?;
    Ok(ExitCode::Ok)
}

/// One line of JSON, in nanoseconds.
fn json(lag: &Histogram) -> String {
    let [p50, p99, p999, max] = figures(lag).map(|figure| figure.0);
    format!(
        "{{\"count\":{},\"lag_p50_ns\":{p50},\"lag_p99_ns\":{p99},\"lag_p999_ns\":{p999},\"lag_max_ns\":{max}}}\n",
        lag.count()
    )
}

/// Two lines in the report's manner.
fn text(lag: &Histogram) -> String {
    let [p50, p99, p999, max] = figures(lag);
    format!(
        "Lag  [moments, 50, 99, 99.9, max]  {}, {p50}, {p99}, {p999}, {max}\n\
         How late one thread is that does nothing but wait for each moment: no attack from here can be more punctual.\n",
        lag.count()
    )
}

fn figures(lag: &Histogram) -> [Nanos; 4] {
    [lag.quantile(0.5), lag.quantile(0.99), lag.quantile(0.999), lag.max()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_named_in_both_forms() {
        let mut lag = Histogram::new();
        (1..=100).for_each(|us| lag.record(Nanos::from_micros(us)));
        assert!(
            text(&lag).starts_with("Lag  [moments, 50, 99, 99.9, max]  100, 50.0"),
            "{}",
            text(&lag)
        );
        let json = json(&lag);
        assert!(json.starts_with("{\"count\":100,\"lag_p50_ns\":50"), "{json}");
        assert!(json.ends_with("\"lag_max_ns\":100000}\n"), "{json}");
    }
}
