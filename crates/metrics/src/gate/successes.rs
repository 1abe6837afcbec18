//! Gates on times of a run that mostly failed: a connection that is refused is refused within a millisecond, and that is no time
//! that a user waits for an answer.

use super::{Gap, Gate, GateMetric, GateState};

/// Why times do not pass this gate, by how many of its requests succeeded; `None` where they may. Where the status is selected,
/// failures are what the gate is about.
pub(super) fn gap(gate: &Gate, state: GateState, [successes, requests]: [u64; 2]) -> Option<Gap> {
    let (GateMetric::Response(_) | GateMetric::Service(_)) = gate.metric else { return None };
    let is_asked = state == GateState::Passed && gate.selector.status.is_none();
    // A refused connection ends sooner than any answer, so most must be answers.
    let is_few = requests > 0 && (successes == 0 || 2 * successes < requests);
    (is_asked && is_few).then_some(Gap::FewSuccesses { successes, requests })
}

#[cfg(test)]
mod tests {
    use stdx::Nanos;

    use super::*;
    use crate::{
        Batch, FailureKind, GateFigures, Gates, JudgedRun, Outcome, Sample, Summary, TargetTable,
    };

    /// How a gate is judged of so many answers within 10 ms and so many refused connections of 1 ms.
    fn state(gate: &str, [successes, refused]: [usize; 2]) -> GateState {
        let answer = Sample {
            done: Nanos::from_millis(10),
            outcome: Outcome::http(200),
            ..Sample::default()
        };
        let failure = Sample {
            done: Nanos::MILLI,
            outcome: Outcome::http(0),
            failure: FailureKind::Refused,
            ..Sample::default()
        };
        let samples = [vec![answer; successes], vec![failure; refused]].concat();
        let batch = Batch { samples, ..Batch::default() };
        let (mut summary, mut figures) =
            (Summary::new(), GateFigures::new(gate.parse::<Gates>().unwrap()));
        summary.add(&batch);
        figures.add(&batch, &TargetTable::default());
        let run = JudgedRun {
            summary: &summary,
            is_part: false,
            generator: None,
            has_service_times: true,
            asserted: &[],
        };
        figures.outcomes(&run)[0].state
    }

    #[test]
    fn issue_39_a_dead_server_passes_no_gate_on_times() {
        let few =
            |successes, requests| GateState::Undecided(Gap::FewSuccesses { successes, requests });
        for gate in ["p99>10s", "p50>10s", "mean>10s", "max>10s", "min>10s", "service.p99>10s"] {
            assert_eq!(state(gate, [0, 40]), few(0, 40), "{gate}");
            assert_eq!(state(gate, [400, 600]), few(400, 1000), "{gate}: most failed");
            assert_eq!(state(gate, [20, 20]), GateState::Passed, "{gate}: half of them");
            assert_eq!(state(gate, [40, 0]), GateState::Passed, "{gate}: none failed");
        }
    }

    #[test]
    fn what_is_crossed_or_about_failures_is_judged() {
        assert_eq!(state("p99<1s", [0, 40]), GateState::Crossed);
        assert_eq!(state("p99>100us", [0, 40]), GateState::Crossed);
        assert_eq!(state("errors>1%", [0, 40]), GateState::Crossed);
        assert_eq!(state("requests<40", [0, 40]), GateState::Passed);
    }
}
