//! One variant against another in a sentence: what is better or worse, by how much, and what the runs do not decide.

use study::contrast::{Change, Contrast, Finding, Measure, RUNS_MIN};

use super::amounts::{by, value};

/// A measure's name in sentences.
pub(super) fn in_words(measure: Measure) -> &'static str {
    let mut all = MEASURES.into_iter().chain(FURTHER);
    all.find(|(of, _)| *of == measure).map_or(measure.name(), |(_, name)| name)
}

/// The measures in sentences, and their names there.
const MEASURES: [(Measure, &str); 4] = [
    (Measure::P50, "the median"),
    (Measure::P99, "the 99th percentile"),
    (Measure::Throughput, "throughput"),
    (Measure::Errors, "the share of errors"),
];
/// The measures that are in a sentence only where they are all that differs: those above say the same of most runs.
const FURTHER: [(Measure, &str); 2] =
    [(Measure::P90, "the 90th percentile"), (Measure::Mean, "the mean")];

/// The gravest finding of the measures in sentences.
pub(crate) fn gravest(contrast: &Contrast) -> Finding {
    let stated = stated(contrast);
    let of = |finding: Finding| stated.iter().any(|(change, _)| change.finding == finding);
    let all = [Finding::Worse, Finding::Better, Finding::Differs, Finding::CannotTell];
    all.into_iter().find(|finding| of(*finding)).unwrap_or(Finding::Same)
}

/// The changes that a sentence states, with the names of their measures: first the one that is judged first.
fn stated(contrast: &Contrast) -> Vec<(&Change, &'static str)> {
    let of = |measures: &[(Measure, &'static str)]| {
        let found = measures.iter().filter_map(|(measure, name)| {
            let mut changes = contrast.changes.iter();
            let change = changes.find(|change| change.measure == *measure)?;
            // No errors on either side are not worth a word.
            let is_empty = *measure == Measure::Errors && change.centres == (0.0, 0.0);
            (!is_empty).then_some((change, *name))
        });
        found.collect::<Vec<_>>()
    };
    let differs = |one: &(&Change, &str)| matches!(one.0.finding, Finding::Better | Finding::Worse);
    let is_first = |one: &(Measure, &str)| one.0 == contrast.primary;
    let first = MEASURES.into_iter().chain(FURTHER).find(is_first);
    let others: Vec<_> = MEASURES.into_iter().filter(|one| !is_first(one)).collect();
    let mut stated = of(&first.into_iter().chain(others).collect::<Vec<_>>());
    if !stated.iter().any(differs) {
        let further: Vec<_> = FURTHER.into_iter().filter(|one| !is_first(one)).collect();
        stated.extend(of(&further).into_iter().filter(differs));
    }
    stated
}

/// One variant against the first, in a sentence.
pub(crate) fn compared(label: &str, first: &str, contrast: &Contrast) -> String {
    let stated = stated(contrast);
    let of = |finding: Finding| {
        let of = stated.iter().filter(|(change, _)| change.finding == finding);
        of.copied().collect::<Vec<(&Change, &str)>>()
    };
    let (better, worse) = (of(Finding::Better), of(Finding::Worse));
    let names = |of: Finding| {
        stated.iter().filter(move |(one, _)| one.finding == of).map(|(_, name)| *name)
    };
    let (same, unknown): (Vec<&str>, Vec<&str>) =
        (names(Finding::Same).collect(), names(Finding::CannotTell).collect());
    let mut text = match (better.is_empty(), worse.is_empty()) {
        (true, true) if unknown.is_empty() => {
            return format!("{label} and {first} do not differ by anything that matters.");
        }
        (true, true) if same.is_empty() => return undecided(label, first, contrast, &stated),
        (true, true) => format!("{label} against {first}"),
        (false, true) => difference(label, first, &better),
        (true, false) => difference(label, first, &worse),
        (false, false) => {
            let sides = [("worse", parts(&worse)), ("better", parts(&better))];
            let differs =
                |one: &&(&Change, &str)| matches!(one.0.finding, Finding::Better | Finding::Worse);
            let leading = stated.iter().find(differs).map(|one| one.0.finding);
            let [one, other] = match leading {
                Some(Finding::Better) => [&sides[1], &sides[0]],
                _ => [&sides[0], &sides[1]],
            };
            format!(
                "{label} against {first} is mixed: {} in {}; {} in {}",
                one.0, one.1, other.0, other.1
            )
        }
    };
    if !same.is_empty() {
        text.push_str(&format!("; the same: {}", same.join(", ")));
    }
    if !unknown.is_empty() {
        text.push_str(&format!("; not decided by these runs: {}", unknown.join(", ")));
    }
    text + "."
}

/// `b is slower than a: the median 30ms instead of 12ms (…)`, of changes that are all for the better or all for the worse.
fn difference(label: &str, first: &str, changes: &[(&Change, &str)]) -> String {
    let is_speed = changes.iter().all(|(change, _)| change.measure != Measure::Errors);
    let is_better = changes.iter().all(|(change, _)| change.finding == Finding::Better);
    let word = match (is_speed, is_better) {
        (true, true) => "faster",
        (true, false) => "slower",
        (false, true) => "better",
        (false, false) => "worse",
    };
    format!("{label} is {word} than {first}: {}", parts(changes))
}

fn parts(changes: &[(&Change, &str)]) -> String {
    let parts: Vec<String> = changes.iter().map(|(change, name)| part(change, name)).collect();
    parts.join(", ")
}

/// What runs showed that decide nothing.
fn undecided(label: &str, first: &str, contrast: &Contrast, stated: &[(&Change, &str)]) -> String {
    let seen = stated.iter().take(2).map(|(change, name)| part(change, name));
    let seen = seen.collect::<Vec<_>>().join(", ");
    match contrast.is_enough() {
        true => format!(
            "These runs do not decide whether {label} differs from {first}; they showed {seen}."
        ),
        false => format!(
            "Whether {label} differs from {first} takes at least {RUNS_MIN} runs of each; these showed {seen}."
        ),
    }
}

/// `p50 12ms instead of 30ms (-60 %, between -65 and -55 %)`.
fn part(change: &Change, name: &str) -> String {
    let of = change.measure;
    let (before, after) = (value(of, change.centres.0), value(of, change.centres.1));
    let between = change.interval.map_or(String::new(), |(low, high)| {
        format!(", 95 % interval {} to {}", by(of, low), by(of, high))
    });
    format!("{name} {after} instead of {before} ({}{between})", by(of, change.change))
}
