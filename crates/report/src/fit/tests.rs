//! Fits and refusals of a simulated sweep, as text, JSON and a figure.

use serde_json::Value;
use study::queueing::{Closed, Mmc};

use study::scaling::{Kind, Observation, Refusal, Sweep, fit};
use study::seek::By;

use super::words::refused;
use super::{FitInput, figure, json, text};
use crate::figure::Series;

fn sweep(users: &[f64]) -> Sweep {
    let closed = Closed { server: Mmc { workers: 6, service_s: 0.06 }, delay_s: 0.02 };
    let at = |users: &f64| Observation {
        load: *users,
        throughput_per_s: closed.throughput_per_s(*users),
        mean_s: closed.cycle_s(*users),
        p50_s: Some(0.9 * closed.cycle_s(*users)),
        p99_s: None,
    };
    Sweep { by: By::Connections, observations: users.iter().map(at).collect() }
}

fn with(sweep: &Sweep, check: impl Fn(&FitInput<'_>)) {
    let found = fit(sweep, None, 1);
    let notes = ["a <note>\u{1b}".to_owned()];
    check(&FitInput { sweep, found: &found, at: &[10.0, 128.0], notes: &notes });
}

#[test]
fn a_fit_in_words() {
    with(&sweep(&[1.0, 2.0, 4.0, 6.0, 8.0, 16.0, 48.0]), |input| {
        let text = text(input);
        let row = |begin: &str| text.lines().find(|line| line.trim_start().starts_with(begin));
        assert!(row("128 ").unwrap().ends_with("extrapolated"), "{text}");
        assert!(row("10 ").unwrap().ends_with("between"), "{text}");
        assert!(
            text.contains("Model    closed network (mean value analysis): workers 6, "),
            "{text}"
        );
        assert!(text.contains("with 7 in place of 6: capacity 100/s to 116.7/s"), "{text}");
        assert!(text.contains("Knee     8 users") && text.contains("Others   usl"), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
    });
}

/// Rates of 15 to 45/s of a server of 100/s, with noise of 1 %: no point of its capacity, and none of the time at 90/s.
#[test]
fn far_below_the_knee_there_is_a_lower_bound() {
    let rates = [15.0, 20.0, 25.0, 30.0, 35.0, 40.0, 45.0];
    let sweep = |seed: u64, scale: f64| {
        let server = Mmc { workers: 6, service_s: 0.06 };
        let mut rng = stdx::Prng::new(seed);
        let mut at = |rate: f64| Observation {
            load: rate * scale,
            throughput_per_s: rate * scale,
            mean_s: server.mean_response_s(rate * scale) * (0.01 * rng.normal()).exp(),
            p50_s: Some(0.05),
            p99_s: None,
        };
        Sweep { by: By::Rate, observations: rates.iter().map(|rate| at(*rate)).collect() }
    };
    {
        let (seed, sweep) = (0, sweep(0, 1.0));
        let found = fit(&sweep, Some(Kind::Mmc), 1);
        let input = FitInput { sweep: &sweep, found: &found, at: &[90.0], notes: &[] };
        let text = text(&input);
        let words = "capacity at least 45/s, which is all that was measured; a measurement at 90/s would tell more";
        assert!(text.contains(words), "{seed}: {text}");
        assert!(!text.contains("variability") && !text.contains("service"), "{text}");
        let value: Value = serde_json::from_str(&json(&input)).unwrap();
        let capacity = &value["parameters"]["capacity"];
        assert_eq!((&capacity["value"], &capacity["low"]), (&Value::Null, &45.into()), "{value}");
        assert_eq!(value["next_load"], 90);
        let last = value["predictions"].as_array().unwrap().last().unwrap().clone();
        assert_eq!((&last["load"], &last["mean"]["value"]), (&90.into(), &Value::Null), "{last}");
        assert_eq!((&last["utilisation"], &last["p50"]), (&Value::Null, &Value::Null), "{last}");
        assert!(super::text::sentence(&input).contains("capacity at least 45/s"));
        assert!(figure(&input).series[0].points.iter().all(|point| point.0 <= 45.0));
    }
    // To nine tenths of the capacity there is a point again.
    let near = sweep(1, 2.0);
    let found = fit(&near, Some(Kind::Mmc), 1);
    let text = text(&FitInput { sweep: &near, found: &found, at: &[95.0], notes: &[] });
    assert!(text.contains("workers ") && !text.contains("at least"), "{text}");
}

#[test]
fn a_fit_as_json() {
    with(&sweep(&[1.0, 2.0, 4.0, 6.0, 8.0, 16.0, 48.0]), |input| {
        let value: Value = serde_json::from_str(&json(input)).unwrap();
        assert_eq!((&value["model"], &value["refused"]), (&"closed".into(), &Value::Null));
        assert_eq!(value["parameters"]["workers"]["value"], 6);
        let last = value["predictions"].as_array().unwrap().last().unwrap().clone();
        assert_eq!((&last["load"], &last["extrapolated"]), (&128.into(), &true.into()));
        assert!((last["mean"]["value"].as_f64().unwrap() - 1.28).abs() < 0.01, "{last}");
        assert!((last["p50"].as_f64().unwrap() - 0.9 * 1.28).abs() < 0.02, "{last}");
        assert_eq!(last["p99"], Value::Null);
        assert_eq!(value["one_more_worker"]["workers"], 6);
    });
}

#[test]
fn a_refusal_has_its_reason() {
    with(&sweep(&[4.0]), |input| {
        let text = text(input);
        assert!(text.contains("Refused  1 different load is too few: 2 are needed"), "{text}");
        let value: Value = serde_json::from_str(&json(input)).unwrap();
        assert_eq!(value["model"], Value::Null);
        assert_eq!(value["measured"].as_array().unwrap().len(), 1);
        assert_eq!(figure(input).title, "No model fits");
    });
    let poor =
        Refusal::Poor { kind: Kind::Usl, error: 0.4, load: 8.0, measured: 3.0, predicted: 60.0 };
    let words = refused(By::Connections, &poor);
    assert!(
        words.contains("off by 40% typically")
            && words.contains("most at 8 users: 3/s measured, 60/s"),
        "{words}"
    );
    let little = refused(By::Connections, &Refusal::Little { load: 4.0, in_flight: 100.0 });
    assert!(little.contains("100 requests were under way at 4 users"), "{little}");
    let close = refused(By::Rate, &Refusal::TooClose { least: 10.0, greatest: 11.0 });
    assert!(close.contains("from 10 to 11"), "{close}");
}

#[test]
fn measured_and_predicted_share_a_figure() {
    with(&sweep(&[1.0, 2.0, 4.0, 8.0, 16.0]), |input| {
        let figure = figure(input);
        let labels: Vec<&str> = figure.series.iter().map(|one| one.label.as_str()).collect();
        assert_eq!(labels.len(), 4);
        assert_eq!((labels[0], labels[2]), ("mean, predicted (ms)", "mean, measured (ms)"));
        let drawn = figure.series[2].points.iter().filter(|point| point.1.is_finite());
        assert_eq!(drawn.count(), 10, "a stroke each");
        let last = figure.series[0].points.last().unwrap();
        assert!(last.0 == 128.0 && (last.1 - 1280.0).abs() < 30.0, "{last:?}");
        let rising = |one: &Series| one.points.windows(2).all(|pair| pair[0].0 < pair[1].0);
        assert!(figure.series.iter().all(rising), "{figure:?}");
        assert!(figure.svg(crate::Size::default()).contains("Users"));
    });
}
