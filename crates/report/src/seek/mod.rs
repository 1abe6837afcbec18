//! A search for a limit, for people and programs: the table of its steps and the answer, JSON, the line of one step, and the
//! curve of latencies over load.

mod build_server;
mod conclusion;
mod curve;
mod limit;
mod model;
mod steadiness;
mod time_left;

use metrics::{Condition, Metric};
use stdx::Nanos;
use study::seek::{
    Answer, By, Judgement, Search, Step, StopReason, TimeLeft, Unit, knee, level, spent,
};

use crate::ServerResult;
use crate::columns::Columns;
use crate::escape::terminal;
use crate::live::Paint;
use crate::number::{counted, duration, number};
use crate::object::{Object, json_list};
use crate::provenance::json_of;

use self::model::{load, made, name, percent};

pub use self::build_server::{junit, markdown};
pub use self::curve::sheet;
pub use self::limit::LimitAtLoad;
pub use self::model::{SeekInput, name as unit_name};
pub use self::time_left::step_name;

/// One line for a step that has just ended, and how long the search still takes, without a line feed.
#[must_use]
pub fn line(
    search: &Search,
    number: usize,
    step: &Step,
    left: Option<TimeLeft>,
    paint: Paint,
) -> String {
    let [p50, p95, p99, errors] = figures(step);
    let (load, meets) = (load(search.unit(), step.load), meets(search, step));
    let achieved = self::number(step.achieved_per_s);
    let left = left.map_or_else(String::new, |left| format!("  {}", time_left::words(left)));
    let text = match step.hits {
        0 => format!("step {number}: {load}  achieved {achieved}/s  {meets}{left}"),
        _ => format!(
            "step {number}: {load}  achieved {achieved}/s  p50 {p50}  p95 {p95}  p99 {p99}  errors {errors}  {meets}{left}"
        ),
    };
    let colour = match (step.spoilt.is_some(), judge(search, step)) {
        (true, _) => 33,
        (false, Judgement::Missed) => 31,
        (false, _) => 32,
    };
    match paint {
        Paint::Plain => text,
        Paint::Ansi => format!("\x1b[{colour}m{text}\x1b[0m"),
    }
}

/// What the search shows, a sentence each.
#[must_use]
pub fn conclusion(input: &SeekInput<'_>) -> Vec<String> {
    conclusion::texts(&conclusion::sentences(input, &why(input)))
}

/// The answer as the server's result, for lists of runs.
#[must_use]
pub fn server_result(input: &SeekInput<'_>) -> ServerResult {
    let objective = &input.search.objective;
    let (outcome, words) = match input.outcome.answer {
        None => ("no limit", format!("no load that was tried meets {objective}")),
        Some(_) => {
            let guess = conclusion::guess(input).map_or("", |_| ", no more than a guess");
            ("limit found", format!("bears {} within {objective}{guess}", answer(input)))
        }
    };
    ServerResult::new(outcome, &words)
}

/// The conclusion, the table of the steps by rising load, the knee, and the answer.
#[must_use]
pub fn text(input: &SeekInput<'_>) -> String {
    let unit = input.search.unit();
    let mut table = Columns::default().right(&[0, 1, 2, 3, 4, 5]);
    let head = [heading(unit), "achieved/s", "p50", "p95", "p99", "errors", "verdict", "meets it"];
    table.row(head.map(str::to_owned));
    for step in by_load(input.steps) {
        let [p50, p95, p99, errors] = figures(step);
        table.row([
            number(step.load),
            number(step.achieved_per_s),
            p50,
            p95,
            p99,
            errors,
            if step.spoilt.is_some() { "INVALID" } else { "VALID" }.to_owned(),
            meets(input.search, step),
        ]);
    }
    let mut out = conclusion::text(&conclusion::sentences(input, &why(input)));
    out.extend(made(input).iter().map(|line| format!("{}\n", terminal(line))));
    out.push('\n');
    out.push_str(&table.lines());
    out.push('\n');
    out.push_str(&format!("Objective  {} ({})\n", input.search.objective, input.arrivals));
    if let Some(knee) = knee(input.steps, most(input)) {
        let load = load(unit, knee);
        out.push_str(&format!("Knee       {load} (most throughput per response time)\n"));
    }
    out.push_str(&format!("Answer     {}\n", answer(input)));
    if let Some(most) = above_achieved(input) {
        let most = load(unit, most);
        out.push_str(&format!(
            "Note       no step achieved more than {most}: longer steps would answer less\n"
        ));
    }
    for note in steadiness::notes(input) {
        out.push_str(&format!("Note       {note}\n"));
    }
    out.push_str(&format!("Ended      {}; seed {}\n", why(input), input.seed));
    out
}

/// What the server bears, where that is known.
fn most(input: &SeekInput<'_>) -> Option<f64> {
    input.outcome.answer.filter(|answer| answer.high.is_some()).map(|answer| answer.load)
}

/// The most that any step achieved, where the answer is more than that: a queue that grows slowly is not seen in a short step.
fn above_achieved(input: &SeekInput<'_>) -> Option<f64> {
    let answer = input.outcome.answer.as_ref().filter(|_| input.search.by == By::Rate)?;
    let valid = input.steps.iter().filter(|step| step.spoilt.is_none());
    let most = valid.map(|step| step.achieved_per_s).fold(0.0, f64::max);
    // Arrivals at random come out one part in a hundred higher or lower.
    (answer.load > 1.01 * most).then_some(most)
}

/// p50, p95, p99 and errors of a step; blank where there was no hit to have them.
fn figures(step: &Step) -> [String; 4] {
    match step.hits {
        0 => Default::default(),
        _ => {
            let [p50, p95, p99] = [step.p50, step.p95, step.p99].map(duration);
            [p50, p95, p99, percent(step.errors)]
        }
    }
}

/// The answer in words.
fn answer(input: &SeekInput<'_>) -> String {
    let unit = input.search.unit();
    match input.outcome.answer {
        None => "none".to_owned(),
        Some(Answer { load, high: None, .. }) => format!("at least {}", self::load(unit, load)),
        Some(Answer { load, low, high: Some(high) }) => {
            let (low, high) = (number(low), number(high));
            format!("{} (95 % between {low} and {high})", self::load(unit, load))
        }
    }
}

/// Why the search ended, in words.
fn why(input: &SeekInput<'_>) -> String {
    let search = input.search;
    match input.outcome.stop_reason {
        StopReason::Found => "the interval is as narrow as asked for".to_owned(),
        StopReason::StepsUsed => {
            let steps = counted(search.steps_max as u64, "step");
            format!("{steps}, as many as may be: the interval is wider than asked for")
        }
        StopReason::BudgetUsed => {
            let budget = search.budget.unwrap_or_default();
            format!("the budget of {budget} is used up: {}", precision_reached(input))
        }
        StopReason::LowestMissed => {
            format!(
                "the objective is missed at the lowest load, {}",
                load(search.unit(), search.from)
            )
        }
        StopReason::HighestMet => {
            format!(
                "the objective is met at the highest load, {}",
                load(search.unit(), search.to.unwrap_or(0.0))
            )
        }
        StopReason::Generator => {
            let spoilt = input.steps.iter().rev().find_map(|step| step.spoilt.as_deref());
            format!("the generator is the limit: {}", spoilt.unwrap_or("no step was valid"))
        }
        StopReason::Contradiction => {
            "steps contradict each other, and no further step would tell which are right".to_owned()
        }
        StopReason::Interrupted => "interrupted".to_owned(),
    }
}

/// How far the interval reaches, against what was asked for.
fn precision_reached(input: &SeekInput<'_>) -> String {
    match input.outcome.answer.and_then(Answer::half_width) {
        None => "no load was seen to miss the objective and another to meet it".to_owned(),
        Some(reached) => format!(
            "the interval reaches {} to either side, not {}",
            percent(reached),
            percent(input.search.precision)
        ),
    }
}

/// The search as one line of JSON. A key is never renamed.
#[must_use]
pub fn json(input: &SeekInput<'_>) -> String {
    let unit = input.search.unit();
    let limited_by = match input.outcome.stop_reason {
        StopReason::Generator => Some("generator"),
        StopReason::HighestMet => Some("to"),
        _ => None,
    };
    let optional = |value: Option<String>| value.unwrap_or_else(|| "null".to_owned());
    let answer = input.outcome.answer.map_or("null".to_owned(), |answer| {
        Object::new()
            .float(name(unit), answer.load)
            .float("low", answer.low)
            .put("high", optional(answer.high.map(crate::number::go_json)))
            .put("limited_by", optional(limited_by.map(crate::escape::json)))
            .end()
    });
    let valid = input.outcome.stop_reason != StopReason::Generator;
    let mut object = Object::new()
        .text("objective", &input.search.objective.to_string())
        .text("by", name(unit))
        .text("arrivals", input.arrivals)
        .number("seed", input.seed)
        .text("verdict", if valid { "VALID" } else { "INVALID" })
        .text("ended", input.outcome.stop_reason.name())
        .text("reason", &why(input))
        .put("conclusion", conclusion::json(&conclusion::sentences(input, &why(input))))
        .put("answer", answer)
        .put("guess", optional(conclusion::guess(input).as_deref().map(crate::escape::json)))
        .put("estimate", estimate(input))
        .put("budget", input.search.budget.map_or("null".to_owned(), |budget| budget.0.to_string()))
        .number("took", spent(input.steps).0);
    if let Some(knee) = knee(input.steps, most(input)) {
        object = object.float("knee", knee);
    }
    if let Some(attacked) = input.attacked {
        object = object.text("attacked", attacked);
    }
    if let Some(provenance) = json_of(input.assertions) {
        object = object.put("provenance", provenance);
    }
    object = steadiness::json(input, object);
    let steps = input.steps.iter().map(|step| step_json(input.search, step));
    object.put("steps", json_list(steps)).end() + "\n"
}

/// How precise the answer is, and how precise it was to be: half the interval's width as a share of the answer.
fn estimate(input: &SeekInput<'_>) -> String {
    match input.outcome.answer.and_then(Answer::half_width) {
        None => "null".to_owned(),
        Some(reached) => Object::new()
            .float("half_width", reached)
            .float("precision", input.search.precision)
            .end(),
    }
}

fn step_json(search: &Search, step: &Step) -> String {
    Object::new()
        .float(name(search.unit()), step.load)
        .number("requests", step.hits)
        .float("achieved", step.achieved_per_s)
        .number("mean", step.mean.0)
        .number("50th", step.p50.0)
        .number("95th", step.p95.0)
        .number("99th", step.p99.0)
        .float("errors", step.errors)
        .number("warmup", step.warmup.0)
        .number("measured", step.measured.0)
        .number("took", step.took.0)
        .put("cut", if step.cut { "true" } else { "false" })
        .text("verdict", if step.spoilt.is_some() { "INVALID" } else { "VALID" })
        .text("reason", step.spoilt.as_deref().unwrap_or(""))
        .text("meets", word(search, step))
        .end()
}

fn by_load(steps: &[Step]) -> impl Iterator<Item = &Step> {
    let mut sorted: Vec<&Step> = steps.iter().collect();
    sorted.sort_by(|a, b| a.load.total_cmp(&b.load));
    sorted.into_iter()
}

/// The heading of the column of loads.
const fn heading(unit: Unit) -> &'static str {
    match unit {
        Unit::Requests => "rate/s",
        Unit::Connections => "connections",
        Unit::Iterations => "iterations/s",
        Unit::Vus => "VUs",
    }
}

fn judge(search: &Search, step: &Step) -> Judgement {
    level::judge_alone(&search.objective, step)
}

/// Whether this run meets the objective, without other runs at its load.
fn word(search: &Search, step: &Step) -> &'static str {
    match (step.spoilt.is_some(), judge(search, step)) {
        (true, _) => "unknown",
        (false, Judgement::Missed) => "no",
        (false, Judgement::Unproven) => "unproven",
        (false, _) => "yes",
    }
}

/// The same in words for people: which conditions are missed, by how much.
fn meets(search: &Search, step: &Step) -> String {
    if let Some(reason) = &step.spoilt {
        return format!("cannot tell: {reason}");
    }
    if step.hits == 0 {
        return "no: nothing was answered".to_owned();
    }
    let missed: Vec<String> = search
        .objective
        .conditions()
        .iter()
        .zip(&step.figures)
        .filter(|(condition, measured)| !condition.is_kept_by(**measured))
        .map(|(condition, measured)| excess(condition, *measured))
        .collect();
    let cut = if step.cut { " (cut short)" } else { "" };
    match word(search, step) {
        "no" => format!("no: {}{cut}", missed.join(", ")),
        "unproven" => format!("yes ({})", counted(step.hits, "request")),
        word => word.to_owned(),
    }
}

fn excess(condition: &Condition, measured: f64) -> String {
    match (condition.metric, condition.limit_time()) {
        (Metric::Mean, _) => format!("mean {}", duration(Nanos(measured as u64))),
        (_, Some(limit)) => format!("{} took over {limit}", percent(measured)),
        _ => format!("errors {}", percent(measured)),
    }
}

#[cfg(test)]
mod tests {
    use study::seek::{SearchOutcome, Subject};

    use super::*;

    fn search() -> Search {
        Search {
            objective: "p99<500ms, errors<1%".parse().unwrap(),
            by: By::Rate,
            subject: Subject::Requests,
            from: 10.0,
            to: None,
            step: Nanos::from_secs(10),
            warmup: Nanos::from_secs(3),
            probe: 1.0,
            precision: 0.05,
            steps_max: 60,
            budget: None,
        }
    }

    pub(super) fn step(load: f64, slow: f64) -> Step {
        Step {
            load,
            hits: 1000,
            figures: vec![slow, 0.0],
            achieved_per_s: load.min(100.0),
            mean: Nanos::from_millis(70),
            p50: Nanos::from_millis(60),
            p95: Nanos::from_millis(180),
            p99: Nanos::from_millis(if slow > 0.0 { 612 } else { 277 }),
            errors: 0.0,
            warmup: Nanos::from_secs(3),
            measured: Nanos::from_secs(10),
            took: Nanos::from_secs(14),
            cut: false,
            spoilt: None,
        }
    }

    fn steps() -> Vec<Step> {
        let spoilt = Some("hits began <late>".to_owned());
        vec![
            step(40.0, 0.0),
            step(160.0, 0.5),
            Step { hits: 100, ..step(80.0, 0.0) },
            Step { spoilt, ..step(113.137, 0.0) },
        ]
    }

    pub(super) fn with(
        answer: Option<Answer>,
        stop_reason: StopReason,
        check: impl Fn(&SeekInput<'_>),
    ) {
        let (search, steps, outcome) = (search(), steps(), SearchOutcome { stop_reason, answer });
        let (outcome, arrivals) = (&outcome, "poisson");
        let input = input(&search, &steps, outcome);
        check(&SeekInput { arrivals, ..input });
    }

    fn input<'a>(
        search: &'a Search,
        steps: &'a [Step],
        outcome: &'a SearchOutcome,
    ) -> SeekInput<'a> {
        SeekInput {
            search,
            steps,
            outcome,
            limit: None,
            seed: 7,
            arrivals: "poisson",
            attacked: None,
            began: None,
            assertions: &[],
        }
    }

    #[test]
    fn issue_39_a_search_says_what_it_attacked_and_how_it_was_made() {
        let made = metrics::Provenance {
            command: "brunt seek http://h/\u{1b}[31m".to_owned(),
            host: "web1".to_owned(),
            brunt: "0.1.0".to_owned(),
            ..Default::default()
        };
        let assertions = [metrics::tally::Assertion::Provenance(Box::new(made))];
        with(FOUND, StopReason::Found, |input| {
            let attacked = Some("GET http://h/");
            let input = SeekInput { attacked, began: Some(0), assertions: &assertions, ..*input };
            let text = text(&input);
            let lines: Vec<&str> = text.lines().skip(2).take(3).collect();
            assert_eq!(
                (lines[0], &lines[1][..29]),
                ("Attacked: GET http://h/", "Command: brunt seek http://h/")
            );
            assert_eq!(lines[2], "Began 1970-01-01 00:00:00 +00:00: web1, brunt 0.1.0");
            assert!(!text.contains('\u{1b}'), "{text}");
            let json: serde_json::Value = serde_json::from_str(&json(&input)).unwrap();
            assert_eq!(json["attacked"], "GET http://h/");
            assert_eq!(json["provenance"][0]["host"], "web1");
            assert!(sheet(&input).html().contains("Attacked: GET http://h/"));
        });
    }

    #[test]
    fn issue_40_one_is_one() {
        assert_eq!(load(Unit::Iterations, 1.0), "1 iteration/s");
        assert_eq!(load(Unit::Iterations, 1.5), "1.500 iterations/s");
        assert_eq!(
            (load(Unit::Requests, 1.0), load(Unit::Vus, 1.0)),
            ("1/s".into(), "1 VU".into())
        );
    }

    pub(super) const FOUND: Option<Answer> =
        Some(Answer { load: 89.48, low: 85.2, high: Some(93.9) });

    #[test]
    fn the_table_says_it_all() {
        with(FOUND, StopReason::Found, |input| {
            let expect = "\
The server bears 89.48/s within p99<500ms, errors<1% (95 % between 85.20 and 93.90).
How sure: as precise as asked for, by 4 steps, of which 1 is INVALID and did not count.

rate/s  achieved/s   p50    p95    p99  errors  verdict  meets it
    40          40  60ms  180ms  277ms   0.00%  VALID    yes
    80          80  60ms  180ms  277ms   0.00%  VALID    yes (100 requests)
 113.1         100  60ms  180ms  277ms   0.00%  INVALID  cannot tell: hits began <late>
   160         100  60ms  180ms  612ms   0.00%  VALID    no: 50.00% took over 500ms

Objective  p99<500ms, errors<1% (poisson)
Knee       80/s (most throughput per response time)
Answer     89.48/s (95 % between 85.20 and 93.90)
Ended      the interval is as narrow as asked for; seed 7
";
            assert_eq!(text(input), expect);
        });
    }

    fn text_of(search: &Search, steps: &[Step], answer: Option<Answer>) -> String {
        let outcome = SearchOutcome { stop_reason: StopReason::BudgetUsed, answer };
        text(&input(search, steps, &outcome))
    }

    /// A budget of 15 s measures loads near the limit for some seconds, and the steps of a server that pauses disagree.
    #[test]
    fn a_guess_is_called_one_in_the_first_words() {
        let short = |load| Step { measured: Nanos::SECOND, ..step(load, 0.0) };
        let steps: Vec<Step> = [40.0, 85.0, 90.0, 95.0].map(short).into();
        let text = text_of(&search(), &steps, FOUND);
        let words = "Not more than a guess, since loads near it were measured for 3s in all: the server bears 89.48/s";
        assert!(text.starts_with(words), "{text}");
        let shares = [0.0, 0.03, 0.0, 0.025, 0.0];
        let far = [10.0, 20.0, 20.0, 40.0, 40.0].into_iter().zip(shares);
        let mut steps: Vec<Step> = far.map(|(load, share)| step(load, share)).collect();
        steps.extend([80.0, 85.0, 90.0].map(|load| step(load, 0.01)));
        steps.extend([step(160.0, 0.9), step(160.0, 0.9)]);
        let text = text_of(&search(), &steps, FOUND);
        let words = "Not more than a guess, since at 10 to 40/s already, 0.00% to 3.00% of the requests of a step take over 500ms, \
                     1.10% on average, where 1.00% may: the server bears 89.48/s";
        assert!(text.starts_with(words), "{text}");
    }

    /// A server with 2 % of errors at any load: steps of 20 requests met `errors<1%`, and the answer had an interval.
    #[test]
    fn issue_39_steps_too_small_for_the_objective_on_errors_are_a_guess() {
        let of = |load: f64, hits, errors| {
            let figures = vec![0.0, errors];
            Step { hits, figures, errors, ..step(load, 0.0) }
        };
        let text = |steps: &[Step]| text_of(&search(), steps, FOUND);
        let few: Vec<Step> = (0..9).map(|_| of(80.0, 20, 0.0)).collect();
        let words = "Not more than a guess, since errors<1% takes 300 requests without an error to show, and there were 180 up to \
                     that load: the server bears 89.48/s";
        assert!(text(&few).starts_with(words), "{}", text(&few));
        let enough: Vec<Step> = (0..9).map(|_| of(80.0, 40, 0.0)).collect();
        assert!(text(&enough).starts_with("The server bears 89.48/s"), "{}", text(&enough));
        let beyond = [enough, vec![of(120.0, 300, 0.5)]].concat();
        assert!(text(&beyond).starts_with("The server bears 89.48/s"), "{}", text(&beyond));
        let failing: Vec<Step> =
            (0..18).map(|at| of(80.0, 25, if at % 2 == 0 { 0.0 } else { 0.04 })).collect();
        let words = "Not more than a guess, since of the 450 requests up to that load 2.00% failed in all: the server bears";
        assert!(text(&failing).starts_with(words), "{}", text(&failing));
    }

    #[test]
    fn an_answer_beyond_what_was_achieved_is_noted() {
        let high = Some(Answer { load: 112.0, low: 85.2, high: Some(120.0) });
        with(high, StopReason::StepsUsed, |input| {
            let text = text(input);
            assert!(text.contains("Note       no step achieved more than 100/s: "), "{text}");
        });
    }

    #[test]
    fn a_used_budget_says_how_far_it_came() {
        with(FOUND, StopReason::BudgetUsed, |input| {
            let search = Search { budget: Some(Nanos::from_secs(120)), ..search() };
            let input = SeekInput { search: &search, ..*input };
            let expect = "Ended      the budget of 2m0s is used up: the interval reaches 4.86% to either side, not 5.00%; seed 7\n";
            assert!(text(&input).ends_with(expect), "{}", text(&input));
            let json: serde_json::Value = serde_json::from_str(&json(&input)).unwrap();
            assert_eq!(
                (&json["ended"], &json["budget"]),
                (&"budget used".into(), &120_000_000_000_u64.into())
            );
            assert_eq!(
                (&json["took"], &json["steps"][0]["took"]),
                (&56_000_000_000_u64.into(), &14_000_000_000_u64.into())
            );
            assert_eq!(json["estimate"]["precision"], 0.05);
        });
        with(None, StopReason::BudgetUsed, |input| {
            let json: serde_json::Value = serde_json::from_str(&json(input)).unwrap();
            assert!(
                json["answer"].is_null() && json["estimate"].is_null() && json["budget"].is_null()
            );
        });
    }

    #[test]
    fn an_answer_without_an_end_is_a_lower_bound() {
        let bound = Some(Answer { load: 80.0, low: 80.0, high: None });
        with(bound, StopReason::Generator, |input| {
            let text = text(input);
            assert!(text.contains("Answer     at least 80/s\n"), "{text}");
            let words = "The server bears at least 80/s within p99<500ms, errors<1%: the generator is the limit: ";
            assert!(text.starts_with(words), "{text}");
            assert!(text.contains("the generator is the limit: hits began <late>"), "{text}");
            let json: serde_json::Value = serde_json::from_str(&json(input)).unwrap();
            assert_eq!((&json["answer"]["rate"], &json["answer"]["low"]), (&80.into(), &80.into()));
            assert!(json["answer"]["high"].is_null(), "{json}");
            assert_eq!(json["answer"]["limited_by"], "generator");
            assert_eq!(json["verdict"], "INVALID");
            assert_eq!(json["conclusion"][0]["figures"]["answer"], 80);
        });
        with(None, StopReason::LowestMissed, |input| {
            let json: serde_json::Value = serde_json::from_str(&json(input)).unwrap();
            assert!(json["answer"].is_null());
            let words: Vec<&str> = json["steps"]
                .as_array()
                .unwrap()
                .iter()
                .map(|s| s["meets"].as_str().unwrap())
                .collect();
            assert_eq!(words, ["yes", "no", "unproven", "unknown"]);
        });
    }

    #[test]
    fn a_step_without_an_answer_says_so() {
        let none = Step { hits: 0, achieved_per_s: 0.0, ..step(40.0, 0.0) };
        let line = line(&search(), 1, &none, None, Paint::Plain);
        assert_eq!(line, "step 1: 40/s  achieved 0/s  no: nothing was answered");
        with(None, StopReason::LowestMissed, |input| {
            let input = SeekInput { steps: std::slice::from_ref(&none), ..*input };
            let text = text(&input);
            let row = text.lines().nth(4).unwrap();
            let words: Vec<&str> = row.split_whitespace().collect();
            assert_eq!(words.join(" "), "40 0 VALID no: nothing was answered", "{text}");
            assert!(sheet(&input).figures[0].series[0].points.is_empty());
        });
    }

    #[test]
    fn exactly_at_the_limit_is_as_the_objective_says() {
        let at = |objective: &str, figure: f64| {
            let search = Search { objective: objective.parse().unwrap(), ..search() };
            meets(&search, &Step { figures: vec![figure], ..step(40.0, 0.0) })
        };
        assert_eq!(at("errors<=1%", 0.01), "yes");
        assert_eq!(at("errors<1%", 0.01), "no: errors 1.00%");
        assert_eq!(at("p99<500ms", 0.01), "yes");
        assert_eq!(at("mean<=70ms", 7e7), "yes");
        assert_eq!(at("mean<70ms", 7e7), "no: mean 70ms");
    }

    #[test]
    fn lines_are_coloured_on_request() {
        let search = search();
        let plain = line(&search, 3, &step(40.0, 0.0), None, Paint::Plain);
        assert_eq!(
            plain,
            "step 3: 40/s  achieved 40/s  p50 60ms  p95 180ms  p99 277ms  errors 0.00%  yes"
        );
        let left = TimeLeft { about: None, at_most: Nanos::from_secs(90) };
        let ends = line(&search, 3, &step(40.0, 0.0), Some(left), Paint::Plain);
        assert_eq!(ends, plain + "  at most 1m30s left");
        let red = line(&search, 3, &step(40.0, 0.2), None, Paint::Ansi);
        assert!(red.starts_with("\x1b[31m") && red.ends_with("\x1b[0m"), "{red:?}");
    }
}
