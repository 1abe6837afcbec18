//! A study of two variants with a known truth: its page and its document.

use metrics::Histogram;
use metrics::server::Side;
use stdx::Nanos;
use study::contrast::{Load, Measure, Run};
use study::plan::{Better, Cell, Figure, order};

use super::model::Model;
use super::{StudyInput, StudyReport, StudyRun, StudyState, StudyVariant, StudyWorkload};
use crate::contrasts::VariantRun;

/// A measured run of a variant: times about `ms`, and a limit.
fn run(cell: Cell, repeat: usize, ms: u64, limit: f64) -> StudyRun {
    let mut times = Histogram::default();
    for request in 0..200u64 {
        times.record(Nanos::from_millis(ms) + Nanos(request * 10_000 + repeat as u64 * 1000));
    }
    let figures = Run { times, throughput_per_s: 1000.0 / ms as f64, ..Run::default() };
    let value = |measure: Measure| (Figure::named(measure.name()).unwrap(), measure.of(&figures));
    let mut per_run: Vec<_> = Measure::ALL.map(value).into();
    let duration = 1e9 * limit;
    let further =
        [("limit", limit), ("duration", duration), ("transfer", 2048.0), ("latency.max", duration)];
    per_run.extend(further.map(|(name, value)| (Figure::named(name).unwrap(), value)));
    let results = VariantRun { name: format!("{repeat}.arrow"), figures, ..VariantRun::default() };
    StudyRun {
        cell,
        repeat,
        state: StudyState::Measured,
        began: 1_700_000_000_000_000_000 + repeat as i64,
        took: Nanos::from_secs(2),
        start: Nanos::from_millis(30),
        load_before: Some(0.25),
        codes: vec![0],
        notes: Vec::new(),
        invalid: Vec::new(),
        figures: per_run,
        attacked: format!("GET http://h:{}/", 8000 + cell.variant),
        results: Some(results),
        side: Side::default(),
    }
}

/// Five repeats of `slow` (20 ms) and `quick` (10 ms).
fn input() -> StudyInput {
    let names = ["slow", "quick"];
    let cells = [0, 1].map(|variant| (Cell { workload: 0, variant }, 5));
    let runs = order(&cells, 1).into_iter().map(|slot| {
        let (ms, limit) = if slot.cell.variant == 0 { (20, 50.0) } else { (10, 100.0) };
        run(slot.cell, slot.repeat, ms, limit + slot.repeat as f64 / 10.0)
    });
    StudyInput {
        name: "speed".into(),
        title: "Is <quick> better?".into(),
        form: "full".into(),
        seed: 1,
        facts: vec![("kernel".into(), "Linux 6".into())],
        provenance: Some(metrics::Provenance {
            command: "brunt study run <s>.toml".into(),
            host: "web1".into(),
            brunt: "0.1.0".into(),
            commit: "05f3bc9b1c2d3e4f".into(),
            ..metrics::Provenance::default()
        }),
        variants: names
            .map(|name| StudyVariant { name: name.into(), ..StudyVariant::default() })
            .into(),
        workloads: vec![StudyWorkload {
            name: "mixed".into(),
            command: "bench -c 4".into(),
            fit: false,
            expect: [
                "quick < slow: latency.p50",
                "quick < slow: throughput",
                "quick ~ slow: rtt.p50",
            ]
            .map(|text| text.parse().unwrap())
            .into(),
        }],
        skipped: vec!["long".into()],
        unlike: Vec::new(),
        left_out: Vec::new(),
        looks: 1,
        primary: None,
        ended: String::new(),
        runs: runs.collect(),
    }
}

#[test]
fn findings_are_sentences_with_figures() {
    let report = StudyReport::of(input());
    let findings = report.findings();
    let all = findings.join("\n");
    assert!(all.contains("mixed: quick is faster than slow: the median "), "{all}");
    assert!(all.contains("instead of") && all.contains("95 % interval"), "{all}");
    assert!(!all.contains("the share of errors"), "no request of either failed: {all}");
    assert!(all.contains("highest load within the objective of quick is better"), "{all}");
    assert_eq!(report.incidents(), ["Not part of the full form: long."]);
}

/// `-only` is a wish of the user, and not what went wrong. The table of variants marks the best.
#[test]
fn a_page_does_not_call_a_wish_wrong_and_marks_the_best() {
    let page = |reason: &str| {
        let mut input = input();
        let third = StudyVariant {
            name: "third".into(),
            left_out: reason.into(),
            ..StudyVariant::default()
        };
        input.variants.push(third);
        StudyReport::of(input).html()
    };
    assert!(!page("-only names others").contains("third was left out"));
    let page = page("no nginx");
    assert!(page.contains("third was left out: no nginx."), "{page}");
    let table = page.split("<h2>Variants, means over runs</h2>").nth(1).unwrap();
    let table = table.split("</table>").next().unwrap();
    assert!(table.contains(" best</"), "{table}");
}

#[test]
fn orderings_held_or_not() {
    let words: Vec<String> =
        StudyReport::of(input()).orderings().into_iter().map(|row| row[2].clone()).collect();
    assert_eq!(words, ["as expected", "not as expected", "not decided: one of them has no runs"]);
}

#[test]
fn the_document_has_every_run_and_metric() {
    let mut input = input();
    input.runs[3].state = StudyState::Failed("serve ended".into());
    input.runs[5].invalid = vec!["late".into()];
    input.unlike = vec!["front was changed after run 3".into()];
    input.left_out = vec![(input.runs[3].cell, "three failed".into())];
    let report = StudyReport::of(input);
    let json: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
    let workload = &json["workloads"][0];
    let metrics = workload["metrics"].as_array().unwrap();
    assert_eq!(metrics.len(), Measure::ALL.len());
    let p50 = metrics.iter().find(|metric| metric["name"] == "latency.p50").unwrap();
    assert_eq!((&p50["verdict"], &p50["label"]), (&"better".into(), &"quick".into()), "{p50}");
    assert_eq!(workload["figures"][0]["name"], "limit");
    assert_eq!(workload["figures"][0]["verdict"], "better");
    let figures = workload["figures"].as_array().unwrap();
    let [duration, transfer] = ["duration", "transfer"]
        .map(|name| figures.iter().find(|figure| figure["name"] == name).unwrap());
    assert_eq!((&duration["verdict"], &transfer["verdict"]), (&"differs".into(), &"same".into()));
    assert!(duration["p_adjusted"].as_f64() >= duration["p"].as_f64(), "{duration}");
    assert_eq!(workload["orderings"][0]["held"], true);
    assert_eq!(workload["orderings"][2]["held"], serde_json::Value::Null);
    assert_eq!(json["runs"].as_array().unwrap().len(), 10);
    assert_eq!(
        (&json["runs"][3]["state"], &json["runs"][3]["reason"]),
        (&"failed".into(), &"serve ended".into())
    );
    assert_eq!(json["runs"][5]["verdict"], "INVALID");
    assert_eq!(json["machine"]["kernel"], "Linux 6");
    let incidents = json["incidents"].to_string();
    assert!(incidents.contains("1 of 10 runs failed") && incidents.contains("serve ended"));
    assert!(incidents.contains("1 of 10 runs is INVALID"), "{incidents}");
    assert!(incidents.contains("Not all runs are alike: front was changed after run 3."));
    let (out, variant) = (&json["cells_left_out"][0], json["runs"][3]["variant"].as_str().unwrap());
    assert_eq!((&out["workload"], &out["variant"]), (&"mixed".into(), &variant.into()));
    assert!(incidents.contains(&format!("mixed on {variant} was left out: three failed.")));
}

/// A variant with failed runs only is in no comparison, and does not raise the level for the others.
#[test]
fn only_variants_with_runs_are_comparisons() {
    let alone = StudyReport::of(input());
    let mut with_failed = input();
    with_failed.variants.push(StudyVariant { name: "broken".into(), ..StudyVariant::default() });
    let mut failed = run(Cell { workload: 0, variant: 2 }, 1, 10, 100.0);
    failed.state = StudyState::Failed("no answer".into());
    with_failed.runs.push(failed);
    let with_failed = StudyReport::of(with_failed);
    let figures = |report: &StudyReport| -> Vec<(&'static str, f64)> {
        let others = report.workloads[0].others.iter();
        others.map(|one| (one.figure.name, one.found.p_family)).collect()
    };
    assert!(!figures(&alone).is_empty());
    assert_eq!(figures(&with_failed), figures(&alone));
}

#[test]
fn the_page_stands_alone_and_is_escaped() {
    let mut input = input();
    input.variants[1].left_out = "no program <b>".into();
    input.runs[0].notes.push("<script>x".into());
    let page = StudyReport::of(input).html();
    assert!(page.contains("Is &lt;quick&gt; better?") && !page.contains("<script>x"));
    for words in [
        "Conclusion",
        "Variants, means over runs",
        "Figures that do not differ, or not for sure",
        "What was expected",
        "What went wrong",
        "How it was run",
        "Runs, in their order",
    ] {
        assert!(page.contains(words), "{words}");
    }
    for title in ["Total time taken (ms)", "Transfer rate (KiB/s)", "Longest response time (ms)"] {
        assert!(page.contains(title), "{title}");
    }
    assert!(!page.contains("http://") || !page.contains("src=\"http"));
    let figures = page.matches("data-figure=").count();
    assert_eq!(figures, 2, "curves and the shift");
}

#[test]
fn nothing_measured_is_a_page_too() {
    let mut input = input();
    input.runs.iter_mut().for_each(|run| run.state = StudyState::NotRun);
    let report = StudyReport::of(input);
    let words = "There is nothing to compare: no two variants have a measured run of one workload.";
    assert_eq!(report.findings(), [words]);
    assert!(report.html().contains("10 of 10 runs were not made."));
    assert!(serde_json::from_str::<serde_json::Value>(&report.json()).is_ok());
    assert_eq!(Figure::named("limit").unwrap().better, Better::More);
}

/// The findings of `brunt fit` are here too, and most runs decide on the kind of load.
#[test]
fn a_model_has_notes_on_its_runs() {
    let mut input = input();
    input.workloads[0].fit = true;
    for (at, run) in input.runs.iter_mut().enumerate() {
        let users = [1.0, 2.0][run.cell.variant];
        let load = &mut run.results.as_mut().unwrap().load;
        *load = Load { users, ..Load::default() };
        if at == 0 {
            *load = Load { rate_per_s: 50.0, ..Load::default() };
        }
    }
    input.runs[1].invalid = vec!["late".into(), "stalls".into()];
    input.runs[2].results.as_mut().unwrap().figures.errors = 0.25;
    input.runs[3].results.as_mut().unwrap().figures.times = Histogram::default();
    let name = |at: usize| {
        let run = &input.runs[at];
        format!("repeat {} of {}", run.repeat, input.variants[run.cell.variant].name)
    };
    let model = Model::of(&input, 0).unwrap();
    let text = model.text();
    for words in [
        format!("{} is INVALID: late; stalls\n", name(1)),
        format!("{}: 25.0% of its requests failed; they count too.\n", name(2)),
        format!("{} holds no request and is left out.\n", name(3)),
        "1 run is left out: a load of another kind, or none told.\n".to_owned(),
    ] {
        assert!(text.contains(&words), "{words}{text}");
    }
    assert!(model.json().starts_with("{\"by\":\"users\""), "{}", model.json());
}

#[test]
fn more_runs_than_a_model_takes_are_noted() {
    let mut input = input();
    input.workloads[0].fit = true;
    let of = |at: usize| {
        let mut one = run(Cell { workload: 0, variant: at % 2 }, 1 + at / 2, 10, 0.0);
        one.results.as_mut().unwrap().load.users = 4.0;
        one.invalid = vec!["late".to_owned()];
        one
    };
    input.runs = (0..1200).map(of).collect();
    let text = Model::of(&input, 0).unwrap().text();
    assert!(text.contains("Note     200 measurements are left out"), "{text}");
    assert!(text.contains("Note     1188 more such notes on runs are left out."), "{text}");
}

/// Three workers of 30 ms behind 1 to 24 users: the report has the model, its figure and its sentence.
#[test]
fn loads_of_one_set_up_are_joined_by_a_model() {
    let mut input = input();
    input.workloads[0].fit = true;
    assert!(StudyReport::of(input.clone()).findings()[1].starts_with("mixed: no model"));
    let loads = [1.0, 3.0, 6.0, 12.0, 24.0];
    input.variants = loads
        .map(|users| StudyVariant { name: format!("c{users}"), ..StudyVariant::default() })
        .into();
    let under = |(variant, users): (usize, f64)| {
        let ms = (users / 3.0).max(1.0) * 30.0;
        let mut one = run(Cell { workload: 0, variant }, 1, ms as u64, 0.0);
        let results = one.results.as_mut().unwrap();
        results.load = Load { users, ..Load::default() };
        results.figures.throughput_per_s = users / (ms / 1e3);
        one
    };
    input.runs = loads.into_iter().enumerate().map(under).collect();
    let report = StudyReport::of(input);
    let model: serde_json::Value =
        serde_json::from_str(&report.workloads[0].model.as_ref().unwrap().json()).unwrap();
    assert_eq!((&model["model"], &model["by"]), (&"closed".into(), &"users".into()), "{model}");
    let workers = &model["parameters"]["workers"]["value"];
    assert_eq!(workers.as_f64(), Some(3.0), "{model}");
    let sentence = report.findings().into_iter().find(|text| text.contains("a model that is"));
    let sentence = sentence.unwrap();
    let words = "% off typically: closed network (mean value analysis): workers 3, service ";
    assert!(
        sentence.starts_with("mixed: a model that is ") && sentence.contains(words),
        "{sentence}"
    );
    let page = report.html();
    assert!(page.contains("A model of it") && page.contains("mean, predicted (ms)"));
    assert!(report.json().contains("\"model\":{\"by\":\"users\""));
}

#[test]
fn issue_39_a_study_says_how_it_was_made_and_what_it_attacked() {
    let report = StudyReport::of(input());
    let page = report.html();
    for text in [
        "<p class=\"faint\">Command: brunt study run &lt;s&gt;.toml</p>",
        "<p class=\"faint\">Began 2023-11-14 22:13:20 +00:00: web1, brunt 0.1.0, commit 05f3bc9b1c2d</p>",
        "GET http://h:8000/ (slow); GET http://h:8001/ (quick)",
    ] {
        assert!(page.contains(text), "{text}");
    }
    let json: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
    assert_eq!(json["provenance"]["commit"], "05f3bc9b1c2d3e4f");
    assert!(json["runs"][0]["attacked"].as_str().unwrap().starts_with("GET http://h:800"));
    let mut same = input();
    same.runs.iter_mut().for_each(|run| run.attacked = "GET http://h/".into());
    assert_eq!(same.attacked(0), "GET http://h/");
    same.runs.iter_mut().for_each(|run| run.attacked.clear());
    assert_eq!(same.attacked(0), "");
}
