//! The verdict on each limit of `-fail-on`.

use study::contrast::{Contrast, Limit, LimitVerdict, Rules};

/// The verdict on each limit. A gate with too few runs decides nothing, whatever they show: it could not have failed.
pub(super) fn verdicts(
    found: &Contrast,
    limits: &[Limit],
    rules: &Rules,
) -> Vec<(Limit, LimitVerdict)> {
    let verdict = |limit: &Limit| {
        let change = found.changes.iter().find(|one| one.measure == limit.measure)?;
        let verdict = match found.is_enough() {
            true => limit.judge(change, rules, LimitVerdict::Unclear),
            false => LimitVerdict::Undecided,
        };
        Some((*limit, verdict))
    };
    limits.iter().filter_map(verdict).collect()
}
