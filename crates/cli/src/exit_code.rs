//! `ExitCode`: the only list of exit codes. A number is never reused for another meaning (docs/reference/exit-codes.md).

/// The exit code of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitCode {
    /// Done, even if every request failed: a failed request is a result.
    Ok = 0,
    /// An operation failed: the output could not be written, an address could not be bound, a thread not started.
    Failure = 1,
    /// The command line is wrong. Nothing was sent or written.
    Usage = 2,
    /// What the command line names is wrong: targets, a body, a certificate, an impossible rate. Nothing was sent, but with
    /// `-lazy` what came before the wrong target.
    Input = 3,
    /// A results file is empty, corrupt or of no format we know.
    Results = 4,
    /// `-fail-on-invalid`, and the verdict is INVALID.
    Invalid = 5,
    /// `seek` found no load that meets the objective: the lowest misses it, or no step could be judged.
    Unmet = 6,
    /// `-fail-on`, and an expression is true; `compare -fail-on`, and a change passes its limit.
    Changed = 7,
    /// `fit` refused: the measurements do not suffice, or no model fits them.
    Unfitted = 8,
    /// `cable --fail-on-loss` and a message was lost, or no user could subscribe.
    Lost = 9,
    /// `study run`: something that a variant requires is missing. Nothing was started.
    Missing = 10,
    /// `study run` ended without all of its runs: some failed, or it was interrupted.
    Incomplete = 11,
    /// `-fail-on` cannot be decided: the results lack what an expression needs, or the load generator kept it from being
    /// measured; for `compare` the runs are too few, or there is
    /// nothing to compare. `study run -until-sure`: a bound was reached first.
    Undecided = 12,
    /// An internal error: a bug of brunt. A thread of it panicked.
    Internal = 13,
    /// `-abort-when=rate` ended the run: the asked rate was missed.
    Missed = 14,
    /// `lint` found errors or warnings in a script.
    Found = 15,
    /// `run`: a threshold was crossed. k6's number, as those that follow.
    Thresholds = 99,
    /// `run`: `setup` took longer than it may.
    SetupTimeout = 100,
    /// `run`: `teardown` took longer than it may.
    TeardownTimeout = 101,
    /// `run`: `handleSummary` took longer than it may.
    SummaryTimeout = 102,
    /// `run`: the REST API stopped it.
    Stopped = 103,
    /// `run`: options, thresholds or scenarios are wrong.
    Config = 104,
    /// `run`: the user interrupted it.
    Interrupted = 105,
    /// `run`: the REST API could not be served.
    NoApi = 106,
    /// `run`: the script cannot be compiled, or threw in its modules, in `setup` or in `teardown`.
    Script = 107,
    /// `run`: the script aborted the test (`exec.test.abort`).
    Aborted = 108,
    /// `run`: the script called the test a failed one (`exec.test.fail`).
    MarkedFailed = 110,
    /// `run`: an error without a number of its own in k6: a wrong flag, an unknown output or statistic.
    Other = 255,
}

impl ExitCode {
    /// Every code, in the words of the man page.
    pub const MEANINGS: [(Self, &'static str); 28] = [
        (Self::Ok, "Done, even if every request failed."),
        (Self::Failure, "An operation failed: output not written, address not bound."),
        (Self::Usage, "The command line is wrong."),
        (
            Self::Input,
            "What it names is wrong: targets, a body, a certificate, an impossible rate. Nothing was sent.",
        ),
        (Self::Results, "A results file is empty, corrupt or of no known format."),
        (Self::Invalid, "-fail-on-invalid, and the verdict is INVALID."),
        (Self::Unmet, "seek found no load that meets the objective."),
        (Self::Changed, "-fail-on, and an expression is true; compare: a change passes its limit."),
        (Self::Unfitted, "fit: the measurements do not suffice, or no model fits them."),
        (Self::Lost, "cable -fail-on-loss, and a message was lost or nobody could subscribe."),
        (Self::Missing, "study run: something required is missing. Nothing was started."),
        (
            Self::Incomplete,
            "study run: runs failed, or it was interrupted. The report is of the others.",
        ),
        (
            Self::Undecided,
            "-fail-on cannot be decided; compare: too few runs, or nothing to compare.",
        ),
        (Self::Internal, "An internal error: a bug of brunt."),
        (Self::Missed, "-abort-when=rate ended the run: the asked rate was missed."),
        (Self::Found, "lint: there are errors or warnings in the script."),
        (Self::Thresholds, "run: a threshold was crossed."),
        (Self::SetupTimeout, "run: setup() took too long."),
        (Self::TeardownTimeout, "run: teardown() took too long."),
        (Self::SummaryTimeout, "run: handleSummary() took too long."),
        (Self::Stopped, "run: stopped through the REST API."),
        (Self::Config, "run: options, thresholds or scenarios are wrong."),
        (Self::Interrupted, "run: interrupted by the user."),
        (Self::Script, "run: the script cannot be compiled, or threw outside of an iteration."),
        (Self::NoApi, "run: the REST API could not be served."),
        (Self::Aborted, "run: the script aborted the test."),
        (Self::MarkedFailed, "run: the script called the test a failed one."),
        (
            Self::Other,
            "run: a flag, an output, a summary statistic or an export of the script is wrong; a promise of setup or teardown was rejected.",
        ),
    ];

    /// The code in Vegeta's dialect, which has 0, 1 and 2 only.
    #[must_use]
    pub fn as_vegeta(self) -> Self {
        match self {
            Self::Ok | Self::Usage => self,
            _ => Self::Failure,
        }
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vegeta_knows_three_codes() {
        let cases = [
            (ExitCode::Ok, 0),
            (ExitCode::Failure, 1),
            (ExitCode::Usage, 2),
            (ExitCode::Input, 1),
            (ExitCode::Results, 1),
            (ExitCode::Invalid, 1),
            (ExitCode::Unmet, 1),
            (ExitCode::Changed, 1),
            (ExitCode::Unfitted, 1),
            (ExitCode::Lost, 1),
            (ExitCode::Missing, 1),
            (ExitCode::Incomplete, 1),
            (ExitCode::Undecided, 1),
            (ExitCode::Missed, 1),
            (ExitCode::Found, 1),
        ];
        for (code, number) in cases {
            assert_eq!(code.as_vegeta() as u8, number);
        }
    }

    #[test]
    fn the_reference_page_lists_every_code() {
        let page = include_str!("../../../docs/reference/exit-codes.md");
        for (code, _) in ExitCode::MEANINGS {
            assert!(page.contains(&format!("| {} |", code as u8)), "{code:?}");
        }
    }
}
