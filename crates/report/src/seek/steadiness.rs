//! What speaks against a server that was the same one during the whole search, in words and as JSON.

use study::seek::{
    Answer, Contradiction, Disagreement, Drift, Steadiness, disagreement, steadiness,
};

use super::model::{SeekInput, load, name, percent};
use crate::number::{counted, number};
use crate::object::{Object, json_list};

/// A sentence for each contradiction and for drift, and one for what to do; none where the server was steady.
pub(super) fn notes(input: &SeekInput<'_>) -> Vec<String> {
    let steadiness = of(input);
    let unit = input.search.unit();
    let mut notes: Vec<String> =
        steadiness.contradictions.iter().map(|one| contradiction(input, one)).collect();
    notes.extend(steadiness.drift.map(|Drift { before, after }| {
        let (before, after) = (load(unit, before.load), load(unit, after.load));
        format!("the limit moved: {before} by the first half of the steps near it, {after} by the second; the interval includes both")
    }));
    notes.extend(disagreement_in(input).map(|found| disagreeing(input, &found)));
    if !steadiness.is_steady() {
        notes.push(
            "the server or this machine was not the same throughout: search again when nothing else runs"
                .to_owned(),
        );
    }
    notes
}

/// Two steps within the answer's interval that disagree.
fn disagreement_in(input: &SeekInput<'_>) -> Option<Disagreement> {
    let Answer { low, high, .. } = input.outcome.answer?;
    let loads = low..=high.unwrap_or(f64::INFINITY);
    let steps = input.steps.iter();
    let within = steps.filter(|step| step.spoilt.is_none() && loads.contains(&step.load));
    disagreement(&input.search.objective, &within.collect::<Vec<_>>())
}

fn disagreeing(input: &SeekInput<'_>, found: &Disagreement) -> String {
    let unit = input.search.unit();
    let wrong = match input.search.objective.conditions()[found.condition].limit_time() {
        Some(limit) => format!("took over {}", limit.to_three_digits()),
        None => "failed".to_owned(),
    };
    let [(low, few), (high, many)] =
        [found.beyond, found.within].map(|(at, share)| (load(unit, at), percent(share)));
    format!(
        "steps disagree: {few} {wrong} at {low}, and {many} at {high}; where the server has bursts longer steps say more (-step)"
    )
}

/// Whether nothing speaks against a server that was the same one throughout.
pub(super) fn is_steady(input: &SeekInput<'_>) -> bool {
    of(input).is_steady()
}

fn of(input: &SeekInput<'_>) -> Steadiness {
    steadiness(input.search, input.steps).unwrap_or_default()
}

fn contradiction(input: &SeekInput<'_>, one: &Contradiction) -> String {
    let at = load(input.search.unit(), one.load);
    let steps = match one.runs {
        1 => "the only step".to_owned(),
        runs => format!("{} of {}", number(one.against as f64), counted(runs as u64, "step")),
    };
    let met = if one.is_met { "met" } else { "missed" };
    let rest =
        if one.stands() { "the interval includes that load" } else { "the others outvote it" };
    format!("at {at} {steps} {met} the objective, which chance does not explain; {rest}")
}

/// The keys `steady`, `contradictions` and `drift`.
pub(super) fn json(input: &SeekInput<'_>, object: Object) -> Object {
    let steadiness = of(input);
    let unit = input.search.unit();
    let contradictions = steadiness.contradictions.iter().map(|one| {
        Object::new()
            .float(name(unit), one.load)
            .number("steps", one.runs as u64)
            .number("against", one.against as u64)
            .text("meets", if one.is_met { "yes" } else { "no" })
            .put("stands", one.stands().to_string())
            .end()
    });
    let contradictions = json_list(contradictions);
    let drift = steadiness.drift.map_or("null".to_owned(), |Drift { before, after }| {
        Object::new().float("before", before.load).float("after", after.load).end()
    });
    object
        .put("steady", steadiness.is_steady().to_string())
        .put("contradictions", contradictions)
        .put("drift", drift)
}

#[cfg(test)]
mod tests {
    use study::seek::{Step, StopReason};

    use super::super::tests::{FOUND, step, with};
    use super::super::{json, text};
    use super::*;

    /// Two steps of three met the objective at 160/s, and the answer is about 90/s.
    fn contradicting() -> Vec<Step> {
        let far = [(160.0, 0.0), (160.0, 0.5), (160.0, 0.0), (40.0, 0.0)];
        let near = [80.0, 85.0, 95.0, 100.0].into_iter().cycle().take(16);
        let near = near.map(|load| (load, if load < 90.0 { 0.001 } else { 0.2 }));
        near.chain(far).map(|(load, slow)| Step { hits: 100_000, ..step(load, slow) }).collect()
    }

    #[test]
    fn equal_loads_that_differ_more_than_chance_are_said() {
        let steps = contradicting();
        with(FOUND, StopReason::Contradiction, |input| {
            let input = SeekInput { steps: &steps, ..*input };
            let text = text(&input);
            let note = "Note       at 160/s 2 of 3 steps met the objective, which chance does not explain; the interval includes that load\n";
            assert!(text.contains(note), "{text}");
            assert!(
                text.contains("Note       the server or this machine was not the same"),
                "{text}"
            );
            let json: serde_json::Value = serde_json::from_str(&json(&input)).unwrap();
            assert_eq!(json["steady"], false);
            assert_eq!(json["contradictions"].as_array().unwrap().len(), 1, "{json}");
            let one = &json["contradictions"][0];
            assert_eq!(
                (&one["rate"], &one["steps"], &one["against"]),
                (&160.into(), &3.into(), &2.into())
            );
            assert_eq!((&one["meets"], &one["stands"]), (&"yes".into(), &true.into()));
        });
    }

    /// At about 91/s three of ten requests are too slow in one step, and none in another.
    #[test]
    fn steps_that_disagree_are_said() {
        let steps: Vec<Step> = [(92.0, 0.0), (91.0, 0.3), (160.0, 0.9), (40.0, 0.0)]
            .map(|(load, slow)| Step { hits: 10_000, ..step(load, slow) })
            .into();
        with(FOUND, StopReason::BudgetUsed, |input| {
            let notes = notes(&SeekInput { steps: &steps, ..*input });
            let note = "steps disagree: 30.00% took over 500ms at 91/s, and 0.00% at 92/s";
            assert!(notes.iter().any(|one| one.starts_with(note)), "{notes:?}");
        });
    }

    #[test]
    fn a_steady_server_is_not_spoken_of() {
        with(FOUND, StopReason::Found, |input| {
            assert_eq!(notes(input), Vec::<String>::new());
            let json: serde_json::Value = serde_json::from_str(&json(input)).unwrap();
            assert_eq!((&json["steady"], &json["drift"]), (&true.into(), &serde_json::Value::Null));
        });
    }
}
