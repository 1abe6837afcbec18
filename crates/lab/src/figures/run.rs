//! `MeasuredFigures`: the figures of a measured run, read from its results, its JSON report and its monitor's file.

use std::path::PathBuf;

use cli::{ExitError, Interrupts};
use metrics::Summary;
use metrics::server::Side;
use recordings::{RecordedRun, read_run};
use serde_json::Value;
use study::contrast::{Measure, Run};
use study::plan::Figure;

use super::monitor::MonitorFigures;
use crate::file::{Variant, Workload};
use crate::process::output_tail::output_tail;
use crate::run::environment::{MONITOR_FILE, RunEnvironment, generator_output};
use crate::state::record::RunRecord;

/// What one run showed.
#[derive(Debug)]
pub(crate) struct MeasuredFigures {
    /// Its results; `None` for a search.
    pub(crate) run: Option<RecordedRun>,
    /// Its figures.
    pub(crate) figures: Vec<(&'static Figure, f64)>,
    /// Why the figures are not valid; empty if they are.
    pub(crate) invalid: Vec<String>,
    /// Incidents of the monitor.
    pub(crate) notes: Vec<String>,
    /// The requests in the servers' logs.
    pub(crate) side: Side,
}

/// Reads a run's files.
///
/// # Errors
/// They hold no results.
pub(crate) fn read(
    (variant, workload): (&Variant, &Workload),
    environment: &RunEnvironment,
    results: &[PathBuf],
    record: &RunRecord,
) -> Result<MeasuredFigures, ExitError> {
    let mut figures = vec![("start", record.start.0 as f64)];
    let mut invalid = Vec::new();
    let mut run = None;
    if workload.family.has_results() {
        let names: Vec<String> = results.iter().map(|path| path.display().to_string()).collect();
        let name = if names.len() == 1 { names[0].clone() } else { parent(&results[0]) };
        // An interrupt ends the study after this run; it must not cut short what was measured.
        let read = read_run(&name, &names, &metrics::Selector::default(), &Interrupts::default())?;
        figures.extend(of_results(&read.figures(), &read.summary));
        invalid.extend(read.verdict.reasons.iter().map(ToString::to_string));
        run = Some(read);
    }
    // Quantiles of several generators do not add up; their results do.
    if workload.family.prints_json() && variant.generators == 1 {
        let text = std::fs::read_to_string(generator_output(environment, "generator", 1))
            .unwrap_or_default();
        match serde_json::from_str(&text) {
            Ok(document) => {
                figures.extend(of_document(&document));
                invalid.extend(reasons(&document));
            }
            Err(_) if run.is_none() => {
                let tail = output_tail(&generator_output(environment, "generator", 1));
                return Err(anyhow::anyhow!("the search found nothing{tail}").into());
            }
            Err(_) => invalid.push("its report is not JSON".to_owned()),
        }
    }
    let (mut notes, side) = monitored(&mut figures, run.as_ref(), environment, record);
    // A cable test may be about sockets alone.
    let is_idle = run.as_ref().is_some_and(|run| run.summary.requests == 0);
    if is_idle && !workload.family.prints_json() {
        notes.push("no request was made".to_owned());
    }
    let named = figures.into_iter().filter_map(|(name, value)| Some((Figure::named(name)?, value)));
    let figures = named.filter(|(_, value)| value.is_finite()).collect();
    invalid.dedup();
    Ok(MeasuredFigures { run, figures, invalid, notes, side })
}

/// Adds the figures of the monitor, for the time of the measurement. A search has no results that bound it, nor has a run without a
/// request: there the whole run counts.
fn monitored(
    figures: &mut Vec<(&'static str, f64)>,
    run: Option<&RecordedRun>,
    environment: &RunEnvironment,
    record: &RunRecord,
) -> (Vec<String>, Side) {
    let summary = run.map(|run| &run.summary).filter(|summary| summary.requests > 0);
    let whole = (record.began, i64::MAX);
    let span = summary.map_or(whole, |summary| (summary.earliest, summary.end));
    let Some(found) = MonitorFigures::read(&environment.file(MONITOR_FILE), span) else {
        return Default::default();
    };
    let requests = summary.map_or(0, |summary| summary.requests);
    figures.extend(found.figures(requests, span.1.saturating_sub(span.0) as f64 / 1e9));
    (found.incidents, found.side)
}

fn parent(path: &std::path::Path) -> String {
    path.parent().map_or_else(String::new, |folder| folder.display().to_string())
}

/// What `compare` compares, and what else `plot -bars` draws of results; empty if no request was made.
fn of_results(run: &Run, summary: &Summary) -> Vec<(&'static str, f64)> {
    if summary.requests == 0 {
        return Vec::new();
    }
    let compared = Measure::ALL.map(|measure| (measure.name(), measure.of(run)));
    let times = &summary.response;
    let more = [
        ("latency.p95", times.quantile(0.95).0 as f64),
        ("latency.max", times.max().0 as f64),
        ("duration", summary.elapsed().0 as f64),
        ("transfer", summary.received_per_s()),
    ];
    compared.into_iter().chain(more).collect()
}

/// Figures of a JSON report beyond its results: the limit of a search, the round trips of a cable test.
fn of_document(document: &Value) -> Vec<(&'static str, f64)> {
    let mut found = Vec::new();
    let mut put = |name, value: &Value| found.extend(value.as_f64().map(|value| (name, value)));
    let answer = &document["answer"];
    put("limit", &answer["rate"]);
    put("limit", &answer["connections"]);
    let round_trip = &document["echo"]["round_trip"];
    let fan_out = &document["broadcast"]["fan_out"];
    put("rtt.mean", &round_trip["mean"]);
    put("rtt.p50", &round_trip["50th"]);
    put("rtt.p95", &round_trip["95th"]);
    put("rtt.p99", &round_trip["99th"]);
    put("ready.p50", &document["ready"]["50th"]);
    put("ready.p99", &document["ready"]["99th"]);
    put("fan_out.p50", &fan_out["50th"]);
    put("fan_out.p99", &fan_out["99th"]);
    let share =
        |part: &Value, of: &Value| Some(part.as_f64()? / of.as_f64().filter(|of| *of > 0.0)?);
    let (echo, deliveries) = (&document["echo"], &document["broadcast"]["deliveries"]);
    let lost = share(&echo["lost"], &echo["sent"])
        .or_else(|| share(&deliveries["lost"], &deliveries["expected"]));
    found.extend(lost.map(|lost| ("lost", lost)));
    found
}

/// Why a JSON report is not valid, in its own words, or why it lacks its main figure.
fn reasons(document: &Value) -> Vec<String> {
    let mut reasons: Vec<String> = beyond_reach(document).map(str::to_owned).collect();
    if document["verdict"] != "INVALID" {
        return reasons;
    }
    let list = document["reasons"].as_array().into_iter().flatten();
    let own: Vec<String> =
        list.chain([&document["reason"]]).filter_map(Value::as_str).map(str::to_owned).collect();
    reasons.extend(own.is_empty().then(|| "it says so itself".to_owned()));
    reasons.extend(own);
    reasons
}

/// A search without a limit, or one that ended at its bound; a cable test without a subscriber.
fn beyond_reach(document: &Value) -> impl Iterator<Item = &'static str> {
    let answer = document.get("answer");
    [
        (answer.is_some_and(Value::is_null), "the search found no limit"),
        (
            answer.is_some_and(|answer| answer["limited_by"] == "to"),
            "the limit is that of the search: the server may bear more",
        ),
        (document["users"]["subscribed"] == 0, "nobody could subscribe"),
    ]
    .into_iter()
    .filter_map(|(holds, reason)| holds.then_some(reason))
}

#[cfg(test)]
mod tests {
    use super::*;
    use metrics::server::{Reading, Row};
    use metrics::{Batch, Sample};
    use results::{Encoding, StreamInfo};
    use serde_json::json;
    use stdx::Nanos;

    use crate::file::{self, CommandLines, Mode, Placeholders};

    /// Seed 002's run: 10,000 hits in 251.725273 s, 28,570,213 bytes on the wire.
    #[test]
    fn results_have_the_seeds_bars() {
        let took = Nanos(251_725_273_000);
        let sample = |n: u64| Sample {
            done: if n == 0 { took } else { Nanos(6_192_000_000) },
            wire_in: if n == 0 { 28_570_213 } else { 0 },
            outcome: metrics::Outcome::Http(200),
            ..Sample::default()
        };
        let mut summary = Summary::new();
        summary.add(&Batch { samples: (0..10_000).map(sample).collect(), ..Batch::default() });
        let times = summary.response.clone();
        let run = Run { times, throughput_per_s: summary.throughput(), ..Run::default() };
        let found = of_results(&run, &summary);
        let value = |name: &str| found.iter().find(|(of, _)| *of == name).unwrap().1;
        assert_eq!(format!("{:.2}", value("throughput")), "39.73");
        assert_eq!(value("duration"), took.0 as f64);
        assert_eq!(format!("{:.2}", value("transfer") / 1024.0), "110.84");
        assert_eq!(value("latency.max"), took.0 as f64);
        for (name, _) in found {
            assert!(Figure::named(name).is_some(), "{name}");
        }
    }

    /// A script may make no request: then the figures are those of servers and machine.
    #[test]
    fn a_run_without_a_request_has_no_figures_of_results() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().join("outcome");
        std::fs::create_dir_all(&root).unwrap();
        let values = vec![("cpu".to_owned(), 0.5)];
        let machine = Reading { at: 7, source: "machine".to_owned(), values, ..Reading::default() };
        let row = Row::Reading(machine);
        let write = |name: &str| {
            let path = root.join(name);
            let file = Box::new(std::fs::File::create(&path).unwrap());
            let info = StreamInfo::default();
            let mut writer = results::writer(Encoding::Arrow, file, &info).unwrap();
            writer.server(&row).unwrap();
            writer.finish().unwrap();
            path
        };
        let results = [write("001.arrow")];
        write(MONITOR_FILE);
        let study = "[study]\nname = \"x\"\n[[variant]]\nname = \"v\"\n\
                     [[workload]]\nname = \"w\"\ncommand = \"run s.js\"\n";
        let study = file::read(study, Mode::Full, &CommandLines::for_tests()).unwrap();
        let environment = RunEnvironment {
            study: root.clone(),
            run: root.clone(),
            values: Placeholders::default(),
        };
        let record = RunRecord { start: Nanos::MILLI, ..RunRecord::started_at(5) };
        let pair = (&study.variants[0], &study.workloads[0]);
        let outcome = read(pair, &environment, &results, &record).unwrap();
        let names: Vec<&str> = outcome.figures.iter().map(|(figure, _)| figure.name).collect();
        assert_eq!(names, ["start", "machine.cpu"]);
        assert_eq!(outcome.notes, ["no request was made"]);
        std::fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn documents_have_figures_of_their_own() {
        let seek = json!({"answer": {"rate": 120.5, "low": 110}, "verdict": "VALID"});
        assert_eq!(of_document(&seek), [("limit", 120.5)]);
        assert!(reasons(&seek).is_empty());
        let cable = json!({
            "echo": {"round_trip": {"mean": 5, "50th": 4, "95th": 8, "99th": 9}, "sent": 200, "lost": 1},
            "ready": {"50th": 1, "99th": 2},
            "verdict": "INVALID", "reasons": ["late"],
        });
        let found = of_document(&cable);
        assert!(found.contains(&("rtt.p95", 8.0)) && found.contains(&("lost", 0.005)), "{found:?}");
        assert_eq!(reasons(&cable), ["late"]);
        let none = json!({"answer": null, "verdict": "VALID"});
        assert!(of_document(&none).is_empty());
        assert_eq!(reasons(&none), ["the search found no limit"]);
        let bound = json!({"answer": {"rate": 64, "limited_by": "to"}, "verdict": "VALID"});
        assert!(reasons(&bound)[0].contains("may bear more"));
        let nobody = json!({"users": {"asked": 5, "subscribed": 0}, "verdict": "VALID"});
        assert_eq!(reasons(&nobody), ["nobody could subscribe"]);
        assert_eq!(reasons(&json!({"verdict": "INVALID", "reason": "x"})), ["x"]);
        for (name, _) in found {
            assert!(Figure::named(name).is_some(), "{name}");
        }
    }
}
