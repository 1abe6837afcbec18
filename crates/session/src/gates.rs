//! Gates of a run (`-fail-on`): how they are read from a command line, counted while the run goes on, and made an exit code.

use cli::{ExitCode, ValueError, eprint_line};
use metrics::tally::Assertion;
use metrics::{
    Batch, GateFigures, GateOutcome, GateState, Gates, Generator, JudgedRun, Summary, TargetTable,
    Verdict,
};

use crate::error::ObserverError;
use crate::observer::Observer;

/// The help text of the flag.
pub const FAIL_ON: &str = "Exit with code 7 if one of these is true, with 12 if it cannot be decided: 'p99>300ms, errors>0.1%'; repeat.";

/// The help text of the flag beside it.
pub const FAIL_ON_INVALID: &str = "Exit with code 5 if the verdict is INVALID.";

/// Whether an INVALID verdict decides the exit code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnInvalid {
    /// It is reported.
    #[default]
    Report,
    /// It does, unless a gate is crossed.
    Fail,
}

impl OnInvalid {
    /// Reads the value of the flag.
    ///
    /// # Errors
    /// It is no switch.
    pub fn parse(text: &str) -> Result<Self, ValueError> {
        cli::value::switch(text).map(|on| if on { Self::Fail } else { Self::Report })
    }

    /// The exit code of a run whose gates gave this one.
    #[must_use]
    pub fn conclude(self, code: ExitCode, verdict: &Verdict) -> ExitCode {
        let decides = self == Self::Fail && !verdict.is_valid() && code != ExitCode::Changed;
        if decides { ExitCode::Invalid } else { code }
    }
}

/// Reads the value of a flag, and adds its gates to those that were given before.
///
/// # Errors
/// A gate is wrong, or contradicts another one.
pub fn read_gates(known: &mut Gates, text: &str) -> Result<(), ValueError> {
    let more = text.parse().and_then(|more| std::mem::take(known).and(more));
    *known = more.map_err(|error: metrics::GateError| ValueError::new(error.to_string()))?;
    Ok(())
}

/// Counts what the gates of a run need.
#[derive(Debug)]
pub struct GateObserver {
    figures: GateFigures,
    labels: TargetTable,
}

impl GateObserver {
    /// Nothing counted yet; `None` where there are no gates. The labels are those of the plan.
    #[must_use]
    pub fn new(gates: &Gates, labels: TargetTable) -> Option<Self> {
        let figures = GateFigures::new(gates.clone());
        (!gates.is_empty()).then_some(Self { figures, labels })
    }

    /// The results of the gates; `asserted` is what a script asserts and measures.
    #[must_use]
    pub fn outcomes(
        &self,
        summary: &Summary,
        generator: &Generator,
        asserted: &[Assertion],
    ) -> Vec<Assertion> {
        let generator = Some(generator);
        let run =
            JudgedRun { summary, is_part: false, generator, has_service_times: true, asserted };
        self.figures.outcomes(&run).into_iter().map(Assertion::Gate).collect()
    }
}

impl Observer for GateObserver {
    fn rows(&mut self, batch: &Batch) -> Result<(), ObserverError> {
        self.figures.add(batch, &self.labels);
        Ok(())
    }
}

/// Says on standard error which gates did not pass; gives the exit code: a crossed gate comes before one that cannot be
/// decided.
#[must_use]
pub fn conclude_gates<'a>(outcomes: impl IntoIterator<Item = &'a GateOutcome>) -> ExitCode {
    let outcomes: Vec<&GateOutcome> = outcomes.into_iter().collect();
    for text in report::failed_gates(outcomes.iter().copied()) {
        eprint_line(&format!("brunt: {text}"));
        cli::annotate_failure("load test", &text);
    }
    let mut code = ExitCode::Ok;
    for outcome in outcomes {
        code = match (outcome.state, code) {
            (GateState::Crossed, _) => ExitCode::Changed,
            (GateState::Undecided(_), ExitCode::Ok) => ExitCode::Undecided,
            (_, code) => code,
        };
    }
    code
}

/// Says on standard error why a run fails, by its gates and, where that is asked for, by its verdict; gives the exit code.
#[must_use]
pub(crate) fn conclude_run(
    asserted: &[Assertion],
    verdict: Option<&Verdict>,
    on_invalid: OnInvalid,
) -> ExitCode {
    let code = conclude_shown_run(asserted, verdict, on_invalid);
    if let Some(verdict) = verdict.filter(|_| code == ExitCode::Invalid) {
        eprint_line(&format!("brunt: {verdict}"));
    }
    code
}

/// The same of a run whose verdict is written to standard error with its result: it is not said again.
#[must_use]
pub fn conclude_shown_run(
    asserted: &[Assertion],
    verdict: Option<&Verdict>,
    on_invalid: OnInvalid,
) -> ExitCode {
    let of_gates = conclude_gates(gates_of(asserted));
    let Some(verdict) = verdict else { return of_gates };
    let code = on_invalid.conclude(of_gates, verdict);
    if code == ExitCode::Invalid {
        cli::annotate_failure("load test", &verdict.to_string());
    }
    code
}

/// The gates among what was asserted of a run.
pub fn gates_of(all: &[Assertion]) -> impl Iterator<Item = &GateOutcome> {
    all.iter().filter_map(|one| match one {
        Assertion::Gate(outcome) => Some(outcome),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use metrics::{Gap, GateUnit};

    use super::*;

    #[test]
    fn a_crossed_gate_decides_before_one_that_cannot_be_decided() {
        let gate = |state| GateOutcome {
            expression: "errors>0".to_owned(),
            value: None,
            unit: GateUnit::Count,
            state,
            run: String::new(),
        };
        let (passed, crossed) = (gate(GateState::Passed), gate(GateState::Crossed));
        let undecided = gate(GateState::Undecided(Gap::NoRequest));
        assert_eq!(conclude_gates([]), ExitCode::Ok);
        assert_eq!(conclude_gates([&passed]), ExitCode::Ok);
        assert_eq!(conclude_gates([&passed, &undecided]), ExitCode::Undecided);
        assert_eq!(conclude_gates([&crossed, &undecided]), ExitCode::Changed);
        assert_eq!(conclude_gates([&undecided, &crossed, &passed]), ExitCode::Changed);
    }

    #[test]
    fn an_invalid_verdict_decides_where_it_is_asked_to() {
        let lost = Verdict::new(&Summary::new(), None, &["a row was lost".to_owned()]);
        let valid = Verdict::default();
        let conclude = |on: &str, code, verdict| {
            OnInvalid::parse(on).expect("a switch").conclude(code, verdict)
        };
        assert_eq!(conclude("true", ExitCode::Ok, &lost), ExitCode::Invalid);
        assert_eq!(conclude("true", ExitCode::Undecided, &lost), ExitCode::Invalid);
        assert_eq!(conclude("true", ExitCode::Changed, &lost), ExitCode::Changed);
        assert_eq!(conclude("true", ExitCode::Ok, &valid), ExitCode::Ok);
        assert_eq!(conclude("false", ExitCode::Ok, &lost), ExitCode::Ok);
        assert_eq!(conclude_run(&[], Some(&lost), OnInvalid::Fail), ExitCode::Invalid);
        assert_eq!(conclude_run(&[], None, OnInvalid::Fail), ExitCode::Ok);
    }

    #[test]
    fn gates_of_several_flags_are_checked_together() {
        let mut gates = Gates::default();
        read_gates(&mut gates, "p99>300ms").unwrap();
        read_gates(&mut gates, "errors>0.1%").unwrap();
        assert_eq!(gates.list().len(), 2);
        assert!(read_gates(&mut gates, "p99<400ms").is_err(), "no run keeps both");
    }
}
