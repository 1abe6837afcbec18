//! Gates that a run under way has lost: whatever its further requests will be, they are crossed at its end.

use stdx::Nanos;

use super::{Gate, GateFigures, GateMetric, GateState, JudgedRun, Op, Statistic};
use crate::{Histogram, Summary};

impl GateFigures {
    /// The first gate that is crossed even if each of the next `rest` requests, which are all that come, is the best there can be:
    /// answered at once, with success. None is where that cannot be said. A response time may be too long by the generator's own lag:
    /// it counts as shorter by the most that there was.
    #[must_use]
    pub fn lost(&self, run: &JudgedRun<'_>, rest: u64) -> Option<&Gate> {
        self.gates().iter().find(|gate| {
            let summary = self.summary_of(&gate.selector, run);
            let base = self.summary_of(&gate.selector.of_every_status(), run);
            let lag = run.generator.map_or(Nanos::ZERO, |generator| generator.lag.max());
            let best = best(gate, (summary, base), rest);
            let best = best.map(|best| without(lag, gate, best));
            best.is_some_and(|best| gate.judge(best, false) == GateState::Crossed)
        })
    }
}

/// A figure as it may be without the generator's lag, which only adds, and to response times alone.
fn without(lag: Nanos, gate: &Gate, best: f64) -> f64 {
    let is_ceiling = matches!(gate.op, Op::Above | Op::AtLeast);
    match gate.metric {
        GateMetric::Response(_) if is_ceiling => (best - lag.0 as f64).max(0.0),
        _ => best,
    }
}

/// A gate's figure after the best requests that there can be; `None` where any may come.
fn best(gate: &Gate, (summary, base): (&Summary, &Summary), rest: u64) -> Option<f64> {
    let is_ceiling = matches!(gate.op, Op::Above | Op::AtLeast);
    let failed = summary.requests - summary.successes;
    match gate.metric {
        _ if gate.selector.has_tags() => None,
        GateMetric::Response(statistic) => time(statistic, &summary.response, rest, is_ceiling),
        GateMetric::Service(statistic) => time(statistic, &summary.service, rest, is_ceiling),
        GateMetric::Requests if is_ceiling => Some(summary.requests as f64),
        GateMetric::Errors => part(gate, failed, base, rest),
        GateMetric::Success => part(gate, base.successes, base, rest),
        GateMetric::Status(set) => {
            let outcomes = base.outcomes();
            let hits = outcomes.iter().filter(|(outcome, _)| set.contains(*outcome));
            part(gate, hits.map(|(_, hits)| hits).sum(), base, rest)
        }
        _ => None,
    }
}

/// Of so many hits and all the rest: none of those to come where they may not be many, and all of them where not few.
fn part(gate: &Gate, hits: u64, of: &Summary, rest: u64) -> Option<f64> {
    let is_ceiling = matches!(gate.op, Op::Above | Op::AtLeast);
    let hits = if is_ceiling { hits } else { hits + rest };
    Some(super::judge::share(gate, hits, of.requests + rest))
}

/// A product that is a whole number stays one where its last digits were rounded up.
const ROUNDED: f64 = 1.0 - 1e-9;

/// A statistic of times that may not be long, if the rest takes no time at all.
fn time(statistic: Statistic, times: &Histogram, rest: u64, is_ceiling: bool) -> Option<f64> {
    let count = times.count();
    if count == 0 {
        return None;
    }
    let value = match (statistic, is_ceiling) {
        (Statistic::Percentile(percent), true) => {
            // The rest comes first in the order of the times; half a rank keeps rounding from adding one.
            let rank = (percent / 100.0 * (count + rest) as f64 * ROUNDED).ceil() - rest as f64;
            if rank < 1.0 {
                return None;
            }
            times.quantile((rank - 0.5) / count as f64).0 as f64
        }
        (Statistic::Mean, true) => times.sum() as f64 / (count + rest) as f64,
        (Statistic::Max, true) => times.max().0 as f64,
        (Statistic::Min, false) => times.min().0 as f64,
        _ => return None,
    };
    Some(value)
}

#[cfg(test)]
mod tests {
    use stdx::Nanos;

    use crate::{
        Batch, FailureKind, GateFigures, Gates, Generator, JudgedRun, Outcome, Sample, Summary,
        TargetTable,
    };

    /// Whether a gate is lost after so many good requests of 10 ms and bad ones of 1 s, with so many to come.
    fn lost(gate: &str, counts: (usize, usize, u64)) -> bool {
        lost_with(gate, counts, None)
    }

    fn lost_with(
        gate: &str,
        (good, bad, rest): (usize, usize, u64),
        generator: Option<&Generator>,
    ) -> bool {
        let hit = |millis, status| Sample {
            done: Nanos::from_millis(millis),
            outcome: Outcome::http(status),
            failure: FailureKind::None,
            ..Sample::default()
        };
        let mut samples = vec![hit(10, 200); good];
        samples.extend(vec![hit(1_000, 500); bad]);
        let batch = Batch { samples, ..Batch::default() };
        let mut figures = GateFigures::new(gate.parse::<Gates>().unwrap());
        figures.add(&batch, &TargetTable::default());
        let mut summary = Summary::new();
        summary.add(&batch);
        let run = JudgedRun {
            summary: &summary,
            is_part: false,
            generator,
            has_service_times: true,
            asserted: &[],
        };
        figures.lost(&run, rest).is_some()
    }

    #[test]
    fn regression_issue_41_lag_alone_loses_no_gate() {
        let mut generator = Generator::default();
        generator.lag.record(Nanos::from_millis(900));
        let counts = (0, 11, 989);
        assert!(lost("p99>300ms", counts) && !lost_with("p99>300ms", counts, Some(&generator)));
        assert!(lost_with("p99>50ms", counts, Some(&generator)), "crossed without the lag too");
        assert!(lost_with("errors>1%", counts, Some(&generator)), "lag fails no request");
    }

    #[test]
    fn a_gate_is_lost_once_nothing_can_save_it() {
        // Of 1,000 planned, ten may be bad.
        for gate in ["errors>1%", "p99>300ms", "success<99%", "status.5xx>1%"] {
            assert!(!lost(gate, (90, 10, 900)), "{gate}: the rest may be good");
            assert!(lost(gate, (90, 11, 899)), "{gate}");
        }
        assert!(lost("max>300ms", (5, 1, 1_000_000)) && !lost("max>2s", (5, 1, 10)));
        assert!(lost("mean>100ms", (0, 5, 5)) && !lost("mean>100ms", (0, 5, 500)));
        assert!(lost("requests>10", (11, 0, 0)) && !lost("requests<10", (5, 0, 100)));
        assert!(lost("min<20ms", (1, 0, 100)) && !lost("min>20ms", (1, 1, 100)));
        assert!(!lost("rate<100", (10, 0, 100)), "what comes may be fast");
        assert!(!lost("p99>300ms", (0, 0, 100)), "nothing was seen");
    }
}
