//! `Spread`: how failures lie over a run, its targets and its errors where they have no moment and no target of their own.

use metrics::{By, Group, Groups, OTHER, Timeline};

use crate::Input;
use crate::figure::shortened;

/// Of fewer failures nothing is said.
const COUNT_MIN: u64 = 10;
/// Parts of a run that each have some, ...
const PARTS: usize = 4;
/// ... at least so much of an even part.
const EVEN_MIN: f64 = 0.4;
/// Targets whose failures differ by less than chance makes (the standard deviations of chi-squared) fail alike.
const ALIKE: f64 = 3.0;
/// An error's text stands for all failures that have so much of them.
const TEXT_MIN: f64 = 0.95;
/// Characters of a text in a sentence; more are cut.
const TEXT_MAX: usize = 120;

/// How failures are spread.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Spread {
    /// Each part of the run has its part of them.
    pub(super) is_all_through: bool,
    pub(super) targets: Targets,
    /// The text that nearly all of them have.
    pub(super) text: Option<String>,
}

/// Whose failures are.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Targets {
    /// Of several, which fail more and less, or are not known.
    #[default]
    Several,
    /// All of the only one.
    One(String),
    /// As many of each of so many as chance allows.
    Alike(usize),
}

impl Spread {
    pub(super) fn of(input: &Input<'_>, timeline: Option<&Timeline>) -> Self {
        let failed = input.summary.requests - input.summary.successes;
        Self {
            is_all_through: failed >= COUNT_MIN && timeline.is_some_and(is_all_through),
            targets: if failed > 0 { Targets::of(input) } else { Targets::Several },
            text: text(input, failed),
        }
    }
}

fn is_all_through(timeline: &Timeline) -> bool {
    let cells: Vec<(u64, u64)> = timeline.cells().map(|cell| (cell.hits, cell.errors)).collect();
    let (hits, errors) = cells.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let mut parts = [0; PARTS];
    let mut seen = 0;
    for (due, failed) in &cells {
        parts[(PARTS as u64 * seen / hits.max(1)).min(PARTS as u64 - 1) as usize] += failed;
        seen += due;
    }
    parts.iter().all(|part| *part as f64 >= EVEN_MIN * errors as f64 / PARTS as f64)
}

impl Targets {
    fn of(input: &Input<'_>) -> Self {
        let by_name = |groups: &&Groups| matches!(groups.by(), By::Request | By::Name);
        match input.by_target.or(input.groups.filter(by_name)) {
            Some(groups) => Self::of_groups(groups.list()),
            None => match input.attacked {
                Some(all) if all.count == 1 && all.unplaced == 0 => {
                    let name = format!("{} {}", all.most.method, all.most.url);
                    Self::One(shortened(&name, TEXT_MAX))
                }
                _ => Self::Several,
            },
        }
    }

    fn of_groups(list: &[(String, Group)]) -> Self {
        if let [(name, _)] = list {
            return Self::One(shortened(name, TEXT_MAX));
        }
        let failed = |group: &Group| group.hits - group.successes;
        let hits: u64 = list.iter().map(|(_, group)| group.hits).sum();
        let errors: u64 = list.iter().map(|(_, group)| failed(group)).sum();
        let share = errors as f64 / hits.max(1) as f64;
        let distances = list.iter().map(|(_, group)| {
            let expected = share * group.hits as f64;
            (failed(group) as f64 - expected).powi(2) / (expected * (1.0 - share)).max(1e-9)
        });
        let free = list.len().saturating_sub(1) as f64;
        let is_alike = distances.sum::<f64>() <= free + ALIKE * (2.0 * free).sqrt();
        let are_enough = errors >= COUNT_MIN.max(3 * list.len() as u64) && share < 1.0;
        let is_whole = list.iter().all(|(name, _)| name != OTHER);
        if is_alike && are_enough && is_whole { Self::Alike(list.len()) } else { Self::Several }
    }

    /// `, of all 4 targets alike`.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Several => String::new(),
            Self::One(name) => format!(", of {name}"),
            Self::Alike(2) => ", of both targets alike".to_owned(),
            Self::Alike(count) => format!(", of all {count} targets alike"),
        }
    }
}

/// The text of an error that nearly all failures have.
fn text(input: &Input<'_>, failed: u64) -> Option<String> {
    let (text, count) = input.summary.errors().iter().max_by_key(|error| error.1)?;
    let is_it = *count as f64 >= TEXT_MIN * failed as f64 && !text.is_empty();
    // `Get "URL": ` is before it; the sentence has the target.
    let text = text.split_once("\": ").map_or(text.as_str(), |(_, rest)| rest);
    is_it.then(|| shortened(text, TEXT_MAX))
}

#[cfg(test)]
mod tests {
    use metrics::{Batch, Outcome, Sample};
    use stdx::Nanos;

    use super::*;

    fn group(hits: u64, failed: u64) -> (String, Group) {
        let group = Group { hits, successes: hits - failed, ..Group::default() };
        (format!("GET http://h/{hits}/{failed}"), group)
    }

    #[test]
    fn targets_that_fail_alike_are_told_from_others() {
        let of = |list: &[(u64, u64)]| {
            let list: Vec<_> = list.iter().map(|(hits, failed)| group(*hits, *failed)).collect();
            Targets::of_groups(&list)
        };
        assert_eq!(of(&[(100, 12), (100, 9), (200, 18), (100, 11)]), Targets::Alike(4));
        assert_eq!(of(&[(100, 12), (100, 0), (200, 3), (100, 25)]), Targets::Several);
        assert_eq!(of(&[(100, 100), (100, 100)]), Targets::Several);
        assert_eq!(of(&[(100, 1), (100, 1)]), Targets::Several, "too few to say so");
        assert_eq!(of(&[(100, 7)]).words(), ", of GET http://h/100/7");
    }

    #[test]
    fn failures_in_each_part_are_all_through_a_run() {
        let is_all = |fails: &dyn Fn(u64) -> bool| {
            let mut batch = Batch::default();
            for n in 0..600 {
                let intended = Nanos::from_millis(20 * n);
                let outcome = Outcome::Http(if fails(n) { 500 } else { 200 });
                batch.samples.push(Sample {
                    intended,
                    done: intended,
                    outcome,
                    ..Sample::default()
                });
            }
            let mut timeline = Timeline::new();
            timeline.add(&batch);
            is_all_through(&timeline)
        };
        assert!(is_all(&|n| n % 20 == 3));
        assert!(!is_all(&|n| n > 300 && n % 10 == 3));
        assert!(!is_all(&|n| n < 200));
    }
}
