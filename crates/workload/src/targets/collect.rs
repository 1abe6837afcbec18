//! A whole input as targets and problems.

use super::grammar::Grammar;
use super::problem::{PROBLEMS_MAX, Problem, ProblemKind};
use crate::target::Target;
use crate::target_list::TargetList;

/// Targets and problems of a whole input, from its stream. Vegeta's grammar stops at the first problem.
pub(super) fn collect(
    stream: impl Iterator<Item = Result<Target, Problem>>,
    grammar: Grammar,
) -> (TargetList, Vec<Problem>) {
    let (mut targets, mut problems) = (TargetList::default(), Vec::new());
    for item in stream {
        match item {
            Ok(target) => targets.push(target),
            Err(problem) => problems.push(problem),
        }
        if problems.len() == PROBLEMS_MAX || (grammar == Grammar::Vegeta && !problems.is_empty()) {
            break;
        }
    }
    if targets.is_empty() && problems.is_empty() {
        problems.push(Problem { line: 0, grammar, kind: ProblemKind::NoTargets });
    }
    (targets, problems)
}
