//! The conclusion of a search, before its table: the answer as a sentence, and how sure it is.

use metrics::Condition;
use stdx::Nanos;
use study::seek::level::hits_needed;
use study::seek::{Answer, Floor, Step, StopReason, floor_of};

use super::model::{SeekInput, load, percent};
use super::steadiness;
use crate::number::{counted, grouped, number};
use crate::object::{Object, json_list};

/// Loads with logarithms so close to the answer's are near it.
const NEAR: f64 = 0.2;
/// The time for which loads near the answer are measured at least, for more than a guess.
const MEASURED_MIN: Nanos = Nanos::from_secs(10);

/// A sentence with its kind and the figures it rests on.
#[derive(Clone)]
pub(super) struct Sentence {
    kind: &'static str,
    text: String,
    figures: Vec<(&'static str, f64)>,
}

/// The sentences; `why` is the reason for the search's end in words.
pub(super) fn sentences(input: &SeekInput<'_>, why: &str) -> Vec<Sentence> {
    [vec![answer(input, why)], limit(input), vec![sureness(input)]].concat()
}

/// What limits the server, where it was watched.
fn limit(input: &SeekInput<'_>) -> Vec<Sentence> {
    let Some(limit) = input.limit else { return Vec::new() };
    let sentences = limit.sentences(&load(input.search.unit(), limit.load)).into_iter();
    let at = |(kind, text)| Sentence { kind, text, figures: vec![("at", limit.load)] };
    sentences.map(at).collect()
}

/// The sentences as texts.
pub(super) fn texts(sentences: &[Sentence]) -> Vec<String> {
    sentences.iter().map(|one| one.text.clone()).collect()
}

/// The sentences, a line each.
pub(super) fn text(sentences: &[Sentence]) -> String {
    sentences.iter().fold(String::new(), |out, one| out + &one.text + "\n")
}

/// The sentences as a JSON list.
pub(super) fn json(sentences: &[Sentence]) -> String {
    json_list(sentences.iter().map(|one| {
        let figures = one.figures.iter();
        let figures =
            figures.fold(Object::new(), |object, (name, value)| object.float(name, *value));
        Object::new()
            .text("kind", one.kind)
            .text("text", &one.text)
            .put("figures", figures.end())
            .end()
    }))
}

fn answer(input: &SeekInput<'_>, why: &str) -> Sentence {
    let (unit, objective) = (input.search.unit(), &input.search.objective);
    let why = crate::escape::terminal(why);
    let (text, figures) = match input.outcome.answer {
        None => {
            let floor = floor_of(input.search, input.steps).filter(|floor| floor.is_missed());
            let why = floor.map_or(why, |floor| far_below(input, &floor));
            (format!("No load that was tried meets {objective}: {why}."), Vec::new())
        }
        Some(Answer { load: most, high: None, .. }) => (
            format!("The server bears at least {} within {objective}: {why}.", load(unit, most)),
            vec![("answer", most)],
        ),
        Some(Answer { load: most, low, high: Some(high) }) => (
            match guess(input) {
                Some(why) => format!(
                    "Not more than a guess, since {why}: the server bears {} within {objective}.",
                    load(unit, most)
                ),
                None => format!(
                    "The server bears {} within {objective} (95 % between {} and {}).",
                    load(unit, most),
                    number(low),
                    number(high)
                ),
            },
            vec![("answer", most), ("low", low), ("high", high)],
        ),
    };
    Sentence { kind: "throughput", text, figures }
}

/// Why the answer is no more than a guess.
pub(super) fn guess(input: &SeekInput<'_>) -> Option<String> {
    let open = floor_of(input.search, input.steps).filter(|floor| floor.is_open());
    if let Some(floor) = open {
        return Some(far_below(input, &floor));
    }
    let answer = input.outcome.answer?;
    unproven_errors(input, answer).or_else(|| short(input, answer))
}

/// That the requests up to the answer do not show the objective on errors: a server that fails one of fifty shows none in most steps
/// of twenty. Errors come at any load, so that all these steps show them together.
fn unproven_errors(input: &SeekInput<'_>, answer: Answer) -> Option<String> {
    let conditions = input.search.objective.conditions();
    let errors = |condition: &Condition| condition.limit_time().is_none();
    let at = conditions.iter().position(errors)?;
    let (condition, needed) = (&conditions[at], hits_needed(&conditions[at])?);
    let up_to =
        |step: &&Step| step.spoilt.is_none() && (step.load / answer.load).ln() <= NEAR / 2.0;
    let steps = || input.steps.iter().filter(up_to);
    let made: u64 = steps().map(|step| step.hits).sum();
    let failed = steps().map(|step| step.figures[at] * step.hits as f64).sum::<f64>();
    if (made as f64) < needed {
        let needed = counted(needed.ceil() as u64, "request");
        let made = grouped(made);
        return Some(format!(
            "{condition} takes {needed} without an error to show, and there were {made} up to that load"
        ));
    }
    let share = failed / made as f64;
    (!condition.is_kept_by(share)).then(|| {
        let made = counted(made, "request");
        format!("of the {made} up to that load {} failed in all", percent(share))
    })
}

/// That loads near the answer were measured for too short a time.
fn short(input: &SeekInput<'_>, answer: Answer) -> Option<String> {
    let near = input
        .steps
        .iter()
        .filter(|step| step.spoilt.is_none() && (step.load / answer.load).ln().abs() <= NEAR);
    let measured = near.fold(Nanos::ZERO, |sum, step| sum.saturating_add(step.measured));
    let is_short = measured < MEASURED_MIN && input.outcome.stop_reason != StopReason::Found;
    is_short
        .then(|| format!("loads near it were measured for {} in all", measured.to_three_digits()))
}

/// `far below its limit 0% to 5.3% of the requests of a step take over 100ms, 1.2% on average`.
fn far_below(input: &SeekInput<'_>, floor: &Floor) -> String {
    let condition = &input.search.objective.conditions()[floor.condition];
    let [low, high] = floor.loads;
    let [least, most] = floor.range.map(percent);
    let wrong = match condition.limit_time() {
        Some(limit) => format!("take over {}", limit.to_three_digits()),
        None => "fail".to_owned(),
    };
    format!(
        "at {} to {} already, {least} to {most} of the requests of a step {wrong}, {} on average, where {} may",
        number(low),
        load(input.search.unit(), high),
        percent(floor.share),
        percent(floor.allowed)
    )
}

fn sureness(input: &SeekInput<'_>) -> Sentence {
    let all = input.steps.len() as u64;
    let invalid = input.steps.iter().filter(|step| step.spoilt.is_some()).count() as u64;
    let steps = match invalid {
        0 => counted(all, "step"),
        invalid => format!(
            "{}, of which {invalid} {} INVALID and did not count",
            counted(all, "step"),
            stdx::are(invalid)
        ),
    };
    let is_precise = input.outcome.stop_reason == StopReason::Found;
    let text = match input.outcome.answer {
        _ if !steadiness::is_steady(input) => {
            format!(
                "How sure: little, since steps at about the same load contradict each other ({steps})."
            )
        }
        Some(Answer { high: Some(_), .. }) if is_precise => {
            format!("How sure: as precise as asked for, by {steps}.")
        }
        Some(Answer { high: Some(_), .. }) => {
            format!("How sure: less precise than asked for, by {steps}.")
        }
        _ => format!("How sure: {steps}."),
    };
    Sentence {
        kind: "confidence",
        text,
        figures: vec![("steps", all as f64), ("invalid", invalid as f64)],
    }
}
