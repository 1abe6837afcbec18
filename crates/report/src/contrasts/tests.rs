//! Reports of invented runs.

use metrics::Histogram;
use serde_json::Value;
use stdx::Prng;

use stdx::Nanos;
use study::contrast::Doubt;

use super::*;

fn variant(label: &str, runs: u64, mean_ms: f64, users: f64, at: i64) -> Variant {
    let run = |n: u64| {
        let mut rng = Prng::new(stdx::mix(users as u64 ^ label.len() as u64, n));
        let mut times = Histogram::default();
        let level = mean_ms * 1e6 * (0.01 * rng.normal()).exp();
        (0..500).for_each(|_| times.record(Nanos((level * (0.2 * rng.normal()).exp()) as u64)));
        let mean_s = times.mean().as_secs_f64();
        let throughput_per_s = users / mean_s;
        let load = Load {
            users,
            begun_per_s: throughput_per_s,
            in_flight: users,
            processes: 1.0,
            ..Load::default()
        };
        VariantRun {
            name: format!("{label}/{n}"),
            figures: Run { times, throughput_per_s, ..Run::default() },
            load,
            // Interleaved, unless `at` has other times.
            span: (at + 10 * n as i64, at + 10 * n as i64 + 5),
            ..VariantRun::default()
        }
    };
    let runs = (0..runs).map(run).collect();
    Variant { label: label.to_owned(), runs, ..Variant::default() }
}

fn compared(variants: Vec<Variant>, limits: &[&str]) -> Contrasts {
    let limits: Vec<Limit> = limits.iter().map(|limit| limit.parse().unwrap()).collect();
    Contrasts::of("Before and <after>", variants, Rules::default(), &limits)
}

fn json(contrasts: &Contrasts) -> Value {
    serde_json::from_str(&contrasts.json()).unwrap()
}

fn requesting(line: &str, mut variant: Variant) -> Variant {
    let (method, url) = line.split_once(' ').unwrap();
    let target =
        metrics::AttackedTarget { method: method.to_owned(), url: url.to_owned(), requests: 500 };
    variant
        .runs
        .iter_mut()
        .for_each(|run| run.subject = RunSubject::of(std::slice::from_ref(&target), true));
    variant
}

#[test]
fn what_is_not_in_common_is_said_before_anything_is_slower() {
    let before = || requesting("GET http://h/", variant("before", 8, 10.0, 4.0, 0));
    let after = |line: &str| requesting(line, variant("after", 8, 15.0, 4.0, 3));
    let found = compared(vec![before(), after("GET http://h/cart")], &[]);
    let said = "Before the figures: before requested GET http://h/ and after GET http://h/cart.\n";
    for text in [found.text(), found.markdown(), found.html()] {
        let at = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words}: {text}"));
        assert!(at("Before the figures: ") < at("after is slower than before"), "{text}");
    }
    assert!(found.text().starts_with(said), "{}", found.text());
    assert!(
        found.text().contains("How sure: little, because the variants were not measured alike")
    );
    let value = json(&found);
    assert_eq!(value["conclusion"][0]["kind"], "caution");
    assert_eq!(value["comparisons"][0]["like_for_like"], false);
    assert_eq!(value["comparisons"][0]["apart"][0]["what"], "targets");
    // Two servers may be what is to be compared.
    let found = compared(vec![before(), after("GET http://i/")], &[]);
    let said = "Before the figures: before was measured at http://h and after at http://i.\n";
    assert!(found.text().starts_with(said), "{}", found.text());
    assert_eq!(json(&found)["comparisons"][0]["like_for_like"], true);
    let found = compared(vec![before(), after("GET http://h/")], &[]);
    assert!(found.text().starts_with("after is slower"), "{}", found.text());
}

/// Users who wait and a rate measure different things of the same server.
#[test]
fn a_closed_and_an_open_loop_are_told_apart_first() {
    let mut open = variant("open", 4, 15.0, 4.0, 3);
    for run in &mut open.runs {
        (run.load.users, run.load.rate_per_s) = (0.0, 100.0);
    }
    let found = compared(vec![variant("closed", 4, 10.0, 4.0, 0), open], &[]);
    let said = "Before the figures: of closed and open one has users who wait for their answers and the other a rate.\n";
    assert!(found.text().starts_with(said), "{}", found.text());
}

#[test]
fn a_difference_is_reported_in_every_form() {
    let variants = vec![variant("before", 8, 10.0, 4.0, 0), variant("after|x", 8, 11.0, 4.0, 3)];
    let found = compared(variants, &["p50>+5%", "throughput<-20%"]);
    let value = json(&found);
    let metrics = value["metrics"].as_array().unwrap();
    let names: Vec<&str> = metrics.iter().map(|one| one["name"].as_str().unwrap()).collect();
    let expect =
        ["latency.mean", "latency.p50", "latency.p90", "latency.p99", "throughput", "errors"];
    assert_eq!(names, expect);
    let mean = &metrics[0];
    assert_eq!((&mean["verdict"], &mean["against"]), (&"worse".into(), &"before".into()), "{mean}");
    let [change, low, high] = ["change", "low", "high"].map(|key| mean[key].as_f64().unwrap());
    assert!(low < 0.1 && 0.1 < high && low < change && change < high, "{mean}");
    assert_eq!(metrics[4]["verdict"], "worse", "fewer a second");
    assert_eq!(value["comparisons"][0]["like_for_like"], true);
    assert_eq!(value["comparisons"][0]["fail_on"][0]["verdict"], "passed");
    assert_eq!(value["comparisons"][0]["fail_on"][1]["verdict"], "kept");
    assert_eq!(value["comparisons"][0]["shift"].as_array().unwrap().len(), 20);
    let broken = found.broken();
    assert_eq!(broken.len(), 1);
    assert!(
        broken[0].1.starts_with("-fail-on latency.p50>+5%: latency.p50 of after|x changed by +")
    );
    let text = found.text();
    assert!(
        text.contains("\n\nBaseline: before; every change is of another against it.\n"),
        "{text}"
    );
    assert!(text.contains("after|x (8 runs) against before (8 runs)"), "{text}");
    assert!(text.contains("change of after|x against before  "), "{text}");
    assert!(
        text.lines().any(|line| line.starts_with("latency.mean") && line.ends_with("worse")),
        "{text}"
    );
    assert!(
        text.contains("Kolmogorov-Smirnov distance") && !text.contains("not like for like"),
        "{text}"
    );
    let markdown = found.markdown();
    assert!(markdown.contains("**worse**") && markdown.contains("after\\|x"), "{markdown}");
    assert!(markdown.contains("| change of after\\|x against before |"), "{markdown}");
    let html = found.html();
    assert!(html.contains(">change of after|x against before<"), "{html}");
    assert!(html.contains("badge bad\">worse: latency.mean, latency.p50"), "{html}");
    assert!(html.contains("&lt;after&gt;"), "it is escaped");
    assert!(html.contains("Shift of after|x"));
}

#[test]
fn long_labels_are_distinguished_in_heads() {
    let of = |begin: &str, ends: [&str; 2]| {
        let [first, other] = ends.map(|end| format!("{begin}{end}"));
        compared(vec![variant(&first, 2, 10.0, 4.0, 0), variant(&other, 2, 10.0, 4.0, 3)], &[])
    };
    // Paths of forty characters, and labels of forty that no path is common to.
    let paths = of("results/results/mixed/of-many-files/", ["hare", "slow"]);
    let labels = of("results-of-many-files-over-an-hour-", ["nginx", "-puma"]);
    let (end, other) = ("…iles-over-an-hour-nginx", "…iles-over-an-hour--puma");
    for (found, end, other) in [(paths, "hare", "slow"), (labels, end, other)] {
        let head = format!("change of {other} against {end}  ");
        assert!(found.text().contains(&head), "{}", found.text());
        let head = format!("| change of {other} against {end} |");
        assert!(found.markdown().contains(&head), "{}", found.markdown());
        let title = found.figures()[0].title.clone();
        let last = &other[other.len() - 4..];
        assert!(title.starts_with("Shift of ") && title.ends_with(last), "{title}");
    }
}

#[test]
fn the_path_of_all_labels_ends_at_a_slash() {
    let cases: [(&[&str], usize); 7] = [
        (&["runs/a", "runs/b"], 5),
        (&["runs/before", "runs/before/x"], 5),
        (&["a/é/x", "a/è/x"], 2),
        (&["before", "beyond"], 0),
        (&["/a", "b"], 0),
        (&["x/", "x/y"], 0),
        (&["runs/a", "runs/b", "c"], 0),
    ];
    for (labels, path) in cases {
        assert_eq!(common_path(labels), path, "{labels:?}");
    }
}

/// What most readers need comes first: values, change, interval, verdict. p, noise and distances follow at the end.
#[test]
fn details_come_last() {
    let variants = vec![variant("a", 5, 10.0, 4.0, 0), variant("bb", 5, 12.0, 4.0, 3)];
    let found = Contrasts::of("", variants, Rules::default(), &[]);
    let (text, html, markdown) = (found.text(), found.html(), found.markdown());
    for (form, fold) in [(&text, "\nDetails: "), (&html, "<details>"), (&markdown, "<details>")] {
        let (before, after) = form.split_once(fold).unwrap();
        for word in ["noise floor", "p of all metrics", "Kolmogorov-Smirnov"] {
            assert!(!before.contains(word) && after.contains(word), "{word}: {form}");
        }
    }
    assert!(html.contains("<h1>bb compared with a</h1>"), "{html}");
    let title = |labels: &[&str]| {
        let variants = labels.iter().map(|label| variant(label, 1, 10.0, 4.0, 0)).collect();
        Contrasts::of("", variants, Rules::default(), &[]).title
    };
    assert_eq!(title(&["x", "y", "z"]), "2 variants compared with x");
}

#[test]
fn single_runs_are_not_judged_and_it_is_reported_why() {
    let found =
        compared(vec![variant("a", 1, 10.0, 4.0, 0), variant("b", 1, 30.0, 4.0, 9)], &["mean>+5%"]);
    let value = json(&found);
    for metric in value["metrics"].as_array().unwrap() {
        assert_eq!((&metric["verdict"], &metric["low"]), (&"cannot tell".into(), &Value::Null));
        assert_eq!(metric["runs_needed"], Value::Null);
    }
    assert!((value["metrics"][0]["change"].as_f64().unwrap() - 2.0).abs() < 0.2, "{value}");
    let text = found.text();
    let lines: Vec<&str> = text.lines().take(3).collect();
    assert!(
        lines[0].starts_with(
            "Whether b differs from a takes at least 3 runs of each; these showed the mean "
        ),
        "{text}"
    );
    assert_eq!(lines[1..], ["Next: make 2 more of a and 2 more of b.", ""], "{text}");
    assert!(found.html().contains(">too few runs to tell<"));
    assert_eq!(value["comparisons"][0]["fail_on"][0]["verdict"], "undecided");
    let three = compared(vec![variant("a", 3, 10.0, 4.0, 0), variant("b", 3, 30.0, 4.0, 3)], &[]);
    assert_eq!(json(&three)["metrics"][0]["verdict"], "worse", "{}", three.text());
}

/// Runs of ten seconds each, and a change that so few of them do not decide.
#[test]
fn what_is_undecided_names_the_runs_and_the_time_it_takes() {
    let long = |label: &str, mean_ms: f64, at: i64| {
        let mut side = variant(label, 4, mean_ms, 4.0, at);
        side.runs.iter_mut().for_each(|run| run.span.1 = run.span.0 + 10_000_000_000);
        side
    };
    let found = compared(vec![long("a", 10.0, 0), long("bb", 10.15, 3)], &["p50>-50%"]);
    let p50 = json(&found)["metrics"][1].clone();
    let needed = p50["runs_needed"].as_u64().unwrap_or_else(|| panic!("{p50}"));
    assert!(p50["verdict"] == "cannot tell" && needed > 4, "{p50}");
    let text = found.text();
    assert!(text.starts_with("These runs do not decide whether bb differs from a; "), "{text}");
    assert!(text.contains("\nNext: about ") && text.contains(" of load)"), "{text}");
    let [(verdict, sentence)] = &found.broken()[..] else { panic!("{:?}", found.broken()) };
    assert_eq!(*verdict, LimitVerdict::Unclear);
    let words = format!("about {needed} runs of each do: make {} more of a", needed - 4);
    assert!(sentence.contains(&words), "{words}: {sentence}");
}

/// The sentences of a conclusion, by kind.
fn conclusion(found: &Contrasts) -> Vec<(String, String)> {
    let value = json(found);
    let text = |one: &Value, key: &str| one[key].as_str().unwrap().to_owned();
    let sentences = value["conclusion"].as_array().unwrap().iter();
    sentences.map(|one| (text(one, "kind"), text(one, "text"))).collect()
}

#[test]
fn the_conclusion_comes_first_in_every_form() {
    let variants = vec![variant("before", 8, 10.0, 4.0, 0), variant("after", 8, 11.0, 4.0, 3)];
    let found = compared(variants, &[]);
    let sentences = conclusion(&found);
    let kinds: Vec<&str> = sentences.iter().map(|one| one.0.as_str()).collect();
    assert_eq!(kinds, ["comparison", "confidence"]);
    let first = &sentences[0].1;
    assert!(first.starts_with("after is slower than before: the median 1"), "{first}");
    assert!(sentences[1].1.starts_with("How sure: at least 8 runs of each; "), "{sentences:?}");
    assert!(found.text().starts_with(&format!("{first}\nHow sure: ")));
    let title = "### Before and &lt;after&gt;\n\n- after is slower than before: ";
    assert!(found.markdown().starts_with(title), "{}", found.markdown());
    let page = found.html();
    let at = |words: &str| page.find(words).unwrap_or_else(|| panic!("{words}: {page}"));
    assert!(at("<p><b>after is slower than before") < at("<table"));
    let change = json(&found)["conclusion"][0]["figures"]["latency.p50"].as_f64().unwrap();
    assert!((0.05..0.15).contains(&change), "{change}");
}

#[test]
fn many_comparisons_are_five_sentences() {
    let others = (0..9u64).map(|at| {
        let mean_ms = if at < 6 { 20.0 + at as f64 } else { 10.0 };
        variant(&format!("variant{at}{}", "x".repeat(at as usize)), 8, mean_ms, 4.0, 3)
    });
    let variants = std::iter::once(variant("first", 8, 10.0, 4.0, 0)).chain(others).collect();
    let sentences = conclusion(&compared(variants, &[]));
    assert!(sentences.len() <= 5, "{sentences:#?}");
    let all: Vec<&str> = sentences.iter().map(|one| one.1.as_str()).collect();
    assert!(all[0].starts_with("variant0 is slower than first: "), "{all:#?}");
    assert!(
        all.iter().any(|one| one.ends_with(" more that the runs decide, in the tables below.")),
        "{all:#?}"
    );
    assert!(
        all.iter().any(|one| one.starts_with("These runs do not decide whether variant6xxxxxx, ")),
        "{all:#?}"
    );
}

/// Sureness names the gravest reason for doubt.
#[test]
fn doubts_are_in_the_conclusion() {
    let sides = || [variant("a", 4, 10.0, 4.0, 0), variant("bb", 4, 20.0, 4.0, 3)];
    let sure = |sides: [Variant; 2]| {
        let sentences = conclusion(&compared(sides.to_vec(), &[]));
        sentences.into_iter().find(|one| one.0 == "confidence").unwrap().1
    };
    assert!(sure(sides()).starts_with("How sure: at least 4 runs of each; "));
    let mut invalid = sides();
    invalid[1].runs[2].invalid = vec!["hits began late".to_owned()];
    assert!(
        sure(invalid.clone()).starts_with("How sure: at least 4 runs of each; "),
        "its p50 is good"
    );
    // Of four runs two may be spoilt, and count then.
    for run in &mut invalid[1].runs[..2] {
        run.figures.doubts = vec![(Measure::P50, Doubt::Invalid)];
    }
    let words = "How sure: little, because 2 of 8 runs are INVALID, ";
    assert!(sure(invalid).starts_with(words));
    let [first, _] = sides();
    let late = variant("bb", 4, 20.0, 4.0, 1000);
    assert!(sure([first.clone(), late]).contains("were not interleaved"));
    let loaded = variant("bb", 4, 20.0, 80.0, 3);
    assert!(sure([first, loaded]).contains("did not get the same load"));
}

/// What is spoilt of a run does not count, and what is good of it does; one that stands out is named.
#[test]
fn runs_weigh_as_they_deserve() {
    let sides = || [variant("a", 8, 10.0, 4.0, 0), variant("bb", 8, 11.0, 4.0, 3)];
    let calm = json(&compared(sides().to_vec(), &["p50>+5%"]));
    let mut spoilt = sides();
    let mut late = variant("bb", 1, 50.0, 4.0, 3).runs.remove(0);
    (late.name, late.span) = ("bb/2".to_owned(), spoilt[1].runs[2].span);
    spoilt[1].runs[2] = late;
    let found = compared(spoilt.to_vec(), &["p50>+5%"]);
    let words = "Note: run bb/2 of bb stands out and does not count in latency.mean 5";
    assert!(found.text().contains(words), "{}", found.text());
    assert_eq!(found.broken()[0].0, LimitVerdict::Exceeded, "{}", found.text());
    let p50 = |value: &Value| value["metrics"][1]["after"].as_f64().unwrap();
    assert!((p50(&json(&found)) / p50(&calm) - 1.0).abs() < 0.01);
    assert_eq!(json(&found)["variants"][1]["runs"][2]["doubts"][0]["why"], "outlier");
    spoilt[1].runs[2].invalid = vec!["hits began late".to_owned()];
    let measures = [Measure::Mean, Measure::P50, Measure::P90, Measure::P99];
    spoilt[1].runs[2].figures.doubts = measures.map(|of| (of, Doubt::Invalid)).into();
    let text = compared(spoilt.to_vec(), &["p50>+5%"]).text();
    let words = "What the generator spoilt of latency.mean, latency.p50, latency.p90 and latency.p99 does not count.";
    assert!(text.contains(words), "{text}");
    assert!(text.contains("How sure: at least 8 runs of each; "), "{text}");
}

#[test]
fn a_mixed_finding_begins_with_the_figure_that_is_judged_first() {
    let mut side = variant("bb", 8, 8.0, 4.0, 3);
    side.runs.iter_mut().for_each(|run| run.figures.times.record_n(Nanos(900_000_000), 20));
    let of = |limits: &[&str]| {
        conclusion(&compared(vec![variant("a", 8, 10.0, 4.0, 0), side.clone()], limits))[0]
            .1
            .clone()
    };
    let (median, tail) = (of(&["p50>+5%"]), of(&["p99>+5%"]));
    assert!(median.starts_with("bb against a is mixed: better in the median "), "{median}");
    assert!(median.contains("; worse in the 99th percentile "), "{median}");
    assert!(tail.starts_with("bb against a is mixed: worse in the 99th percentile "), "{tail}");
}

/// No errors on either side are no reason for more runs, and every form gives one number of them.
#[test]
fn one_number_of_runs_is_asked_for() {
    let sides = vec![variant("a", 4, 10.0, 4.0, 0), variant("bb", 4, 10.15, 4.0, 3)];
    let found = compared(sides, &["p50>+0.1%"]);
    let value = json(&found);
    let runs = value["comparisons"][0]["runs_needed"].as_u64().unwrap();
    let [(_, sentence)] = &found.broken()[..] else { panic!("{:?}", found.broken()) };
    assert!(sentence.contains(&format!("about {runs} runs of each do")), "{runs}: {sentence}");
    let next = format!("Next: about {runs} runs of each would decide latency.p50");
    assert!(found.text().contains(&next), "{next}: {}", found.text());
    assert_eq!(value["metrics"][1]["runs_needed"], runs);
    assert_eq!(value["metrics"][5]["runs_needed"], Value::Null);
    assert!(!found.text().contains("any number of runs"), "{}", found.text());
    assert!(
        !conclusion(&found)
            .iter()
            .any(|one| one.1.contains("not decided by these runs: the share of errors"))
    );
}

/// One or two runs of either decide no gate, whatever they show: it could not have failed, so it must not pass.
#[test]
fn a_gate_with_too_few_runs_is_undecided() {
    let gate = |(a, b): (u64, u64), mean_ms: f64, limit: &str| {
        let sides = [variant("a", a, 10.0, 4.0, 0), variant("bb", b, mean_ms, 4.0, 3)];
        let broken = compared(sides.to_vec(), &[limit]).broken();
        broken.first().map(|(verdict, text)| (*verdict, text.clone()))
    };
    let words = "fewer than 3 runs of each decide nothing: make ";
    for runs in [(1, 1), (2, 2), (40, 1), (1, 40), (8, 2)] {
        for limit in ["p50>+5%", "p50>+500%"] {
            let (verdict, text) = gate(runs, 30.0, limit).unwrap();
            assert_eq!(verdict, LimitVerdict::Undecided, "{runs:?}: {text}");
            assert!(text.contains(words), "{runs:?}: {text}");
        }
    }
    for runs in [(3, 3), (4, 4), (5, 5)] {
        assert_eq!(gate(runs, 30.0, "p50>+5%").unwrap().0, LimitVerdict::Exceeded, "{runs:?}");
        assert_eq!(gate(runs, 30.0, "p50>+500%"), None, "{runs:?}");
    }
    let nothing = Variant { label: "nothing".to_owned(), ..Variant::default() };
    let found = compared(vec![variant("a", 5, 10.0, 4.0, 0), nothing.clone()], &["p50>+5%"]);
    let (verdict, text) = &found.broken()[0];
    assert!(
        *verdict == LimitVerdict::Undecided && text.contains("no requests of nothing"),
        "{text}"
    );
    assert!(compared(vec![nothing.clone(), nothing], &[]).broken().is_empty(), "no limit");
}

/// Errors with an order of their own are no reason to doubt the times.
#[test]
fn another_measure_hides_no_difference() {
    let side = |label: &str, mean_ms: f64, first: u32| {
        let mut side = variant(label, 4, mean_ms, 4.0, 3);
        for (n, run) in (0..).zip(&mut side.runs) {
            run.figures.errors = f64::from(first + 2 * n) / 100.0;
        }
        side
    };
    let found = compared(vec![side("a", 10.0, 1), side("bb", 30.0, 2)], &["mean>+5%"]);
    assert_eq!(found.broken()[0].0, LimitVerdict::Exceeded, "{}", found.text());
}

/// A limit that holds, but whose runs do not exclude a change beyond it: not silent.
#[test]
fn a_gate_that_holds_for_lack_of_runs_says_so() {
    let sides = |mean_ms| vec![variant("a", 3, 10.0, 4.0, 0), variant("bb", 3, mean_ms, 4.0, 3)];
    let found = compared(sides(10.0), &["p99>+1%"]);
    assert!(
        found.text().contains("Note: -fail-on latency.p99>+1% holds as far as"),
        "{}",
        found.text()
    );
    let clear = compared(sides(10.0), &["p50>+100%"]);
    assert!(!clear.text().contains("holds as far as"), "{}", clear.text());
}

#[test]
fn a_limit_below_the_least_change_is_judged_by_itself() {
    let sides = vec![variant("a", 8, 10.0, 4.0, 0), variant("bb", 8, 30.0, 4.0, 3)];
    let rules = Rules { effect_min: 5.0, ..Rules::default() };
    let limits = ["p50>+5%", "mean>+500%"].map(|limit| limit.parse::<Limit>().unwrap());
    let found = Contrasts::of("", sides, rules, &limits);
    let [(verdict, text)] = &found.broken()[..] else { panic!("{:?}", found.broken()) };
    assert!(
        *verdict == LimitVerdict::Exceeded && text.starts_with("-fail-on latency.p50>+5%"),
        "{text}"
    );
}

#[test]
fn unequal_loads_and_runs_in_a_row_are_reported() {
    let found = compared(
        vec![variant("one", 4, 10.0, 1.0, 0), variant("eighty", 4, 27.0, 80.0, 1000)],
        &[],
    );
    let text = found.text();
    assert!(text.contains("not like for like: one has 1 user and eighty has 80."), "{text}");
    assert!(text.contains("all runs of eighty lie before or after all runs of one"), "{text}");
    let value = json(&found);
    assert_eq!(value["comparisons"][0]["unequal"][0]["what"], "users");
    assert!(found.html().contains("Not like for like"));
}

#[test]
fn what_is_missing_is_counted() {
    let mut odd = variant("odd", 5, 10.0, 4.0, 3);
    odd.runs[0].figures = Run::default();
    odd.runs[1].invalid = vec!["hits began late".to_owned()];
    odd.runs[2].blind = Blind::Unrecorded;
    odd.left_out = 7;
    let nothing = Variant { label: "nothing".to_owned(), ..Variant::default() };
    let found = compared(vec![variant("plain", 5, 10.0, 4.0, 0), odd, nothing], &[]);
    let text = found.text();
    for words in [
        "1 of 4 runs of odd is INVALID: hits began late (odd/1).",
        "1 of 5 runs of odd had no request and was left out.",
        "7 further runs of odd were left out",
        "1 of 4 runs of odd is without a record of the load generator",
        "nothing is not compared",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    // What had no request is no run, neither in the table nor in the document.
    let cells = |line: &str| line.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
    assert!(text.lines().any(|line| cells(line) == "odd 4"), "{text}");
    let odd = &json(&found)["variants"][1];
    assert_eq!(odd["runs"].as_array().unwrap().len(), 4);
    assert_eq!((&odd["left_out"], &odd["without_requests"]), (&8.into(), &1.into()));
}

/// Ten of twelve runs were INVALID, and the first one's reason stood for all.
#[test]
fn reasons_of_several_invalid_runs_are_listed() {
    let with = |count: usize| {
        let mut odd = variant("odd", 5, 10.0, 4.0, 3);
        for (at, run) in odd.runs.iter_mut().take(count).enumerate() {
            run.invalid = vec![format!("reason {at}")];
        }
        compared(vec![variant("plain", 5, 10.0, 4.0, 0), odd], &[]).text()
    };
    let three =
        "3 of 5 runs of odd are INVALID: reason 0 (odd/0); reason 1 (odd/1); reason 2 (odd/2)";
    assert!(with(3).contains(&format!("{three}.")), "{}", with(3));
    let five = three.replace("3 of 5", "5 of 5");
    assert!(with(5).contains(&format!("{five}; and 2 more.")), "{}", with(5));
    assert!(!with(0).contains("INVALID"));
}

/// A variant without requests is in no comparison, and is no reason to ask more of the others.
#[test]
fn only_variants_with_runs_are_comparisons() {
    let side = || vec![variant("a", 5, 10.0, 4.0, 0), variant("bb", 5, 12.0, 4.0, 3)];
    let empty = |label: &str| Variant {
        label: label.to_owned(),
        runs: vec![VariantRun::default(); 5],
        ..Variant::default()
    };
    let metrics = |variants: Vec<Variant>| json(&compared(variants, &[]))["metrics"].clone();
    let with_empty: Vec<Variant> = side().into_iter().chain(["c", "d"].map(empty)).collect();
    let alone = metrics(side());
    assert_eq!(alone[0]["verdict"], "worse", "{alone}");
    assert_eq!(metrics(with_empty.clone()), alone);
    let text = compared(with_empty, &[]).text();
    assert!(!text.contains("are widened for") && text.contains("c is not compared"), "{text}");
    assert!(!text.contains("nothing is compared with"), "{text}");
}

#[test]
fn a_first_without_requests_is_named() {
    let first = Variant { label: "before".to_owned(), ..Variant::default() };
    let variants = vec![first, variant("after", 4, 10.0, 4.0, 0)];
    let text = compared(variants, &[]).text();
    assert!(!text.contains("Baseline") && text.starts_with("Variant"), "{text}");
    let note = "Note: nothing is compared with before: there are no requests of it.";
    assert!(text.contains(note), "{text}");
    assert!(!text.contains("after is not compared"), "{text}");
}

#[test]
fn labels_cannot_break_out() {
    let found = compared(
        vec![variant("</script><b>x", 2, 1.0, 1.0, 0), variant("\u{1b}[2J", 2, 1.0, 1.0, 3)],
        &[],
    );
    assert!(!found.html().contains("<b>x") && !found.json().contains("<b>x"));
    for text in [found.html(), found.json(), found.text(), found.markdown()] {
        assert!(!text.contains('\u{1b}'), "{text}");
    }
    assert!(compared(Vec::new(), &[]).text().starts_with("Variant"));
}
