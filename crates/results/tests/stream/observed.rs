//! Rows of the server's side among hits: the native encodings have them in their order, Vegeta's drop them, and they are
//! bounded.

use metrics::server::{Incident, Reading, Row, ServedRequest};
use metrics::tally::{Assertion, Check, Contains, Kind, ThresholdOutcome};
use proptest::prelude::*;
use results::{ASSERTIONS_MAX, Encoding, Sink, writer};
use stdx::Nanos;

use crate::rows::{EPOCH, Shared, decode, flatten, info, plain, targets};

prop_compose! {
    fn reading()(
        at in 0..10_000_000_000i64,
        values in prop::collection::vec(("[ -~]{0,20}", any::<i32>()), 0..20),
    ) -> Row {
        // A number is read again to 15 digits.
        let values = values.into_iter().map(|(name, value)| (name, f64::from(value) / 1000.0));
        Row::Reading(Reading { at: EPOCH + at, host: "web1".into(), source: "machine".into(), values: values.collect() })
    }
}

prop_compose! {
    fn served()(
        at in 0..10_000_000_000i64,
        texts in any::<[String; 3]>(),
        status in any::<u16>(),
        total in proptest::option::of(0..60_000_000_000u64),
        parts in any::<[Option<u32>; 3]>(),
    ) -> Row {
        let [views, database, queue] = parts.map(|part| part.map(|ns| Nanos(ns.into())));
        let [method, path, id] = texts;
        let (host, source) = ("web1".into(), "rails".into());
        Row::Served(ServedRequest {
            at: EPOCH + at, host, source, method, path, status, total: total.map(Nanos),
            views, database, queue, id,
        })
    }
}

prop_compose! {
    fn incident()(at in 0..10_000_000_000i64, what in any::<String>()) -> Row {
        let (host, source) = ("web1".into(), "/var/log/é".into());
        Row::Incident(Incident { at: EPOCH + at, host, source, what })
    }
}

fn row() -> impl Strategy<Value = Row> {
    prop_oneof![reading(), served(), incident()]
}

fn write(encoding: Encoding, rows: &[Row]) -> Vec<u8> {
    let out = Shared::default();
    let mut writer = writer(encoding, Box::new(out.clone()), &info()).unwrap();
    for (number, row) in rows.iter().enumerate() {
        writer.server(row).unwrap();
        writer.batch(&plain(2, number as u64), &targets()).unwrap();
    }
    writer.finish().unwrap();
    std::mem::take(&mut *out.0.lock().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn native_encodings_keep_them(rows in prop::collection::vec(row(), 1..12)) {
        for encoding in [Encoding::Arrow, Encoding::Parquet] {
            let found = decode(&[&write(encoding, &rows)]);
            prop_assert!(found.error.is_none(), "{:?}", found.error);
            prop_assert_eq!(&found.observed, &rows);
            prop_assert_eq!(found.rows.len(), 2 * rows.len());
        }
    }
}

fn machine(at: i64, values: usize) -> Row {
    let values = (0..values).map(|number| (format!("v{number}"), number as f64)).collect();
    Row::Reading(Reading { at: EPOCH + at, source: "machine".into(), values, ..Reading::default() })
}

/// Hits are read in blocks, which rows of another kind cut short.
#[test]
fn hits_around_other_rows_are_all_read() {
    for encoding in [Encoding::Arrow, Encoding::Parquet] {
        let out = Shared::default();
        let mut writer = writer(encoding, Box::new(out.clone()), &info()).unwrap();
        let (mut hits, mut rows) = (Vec::new(), Vec::new());
        for (at, count) in (0..).zip([1, 63, 64, 65, 0, 128, 200]) {
            let batch = plain(count, 1000 * at);
            hits.extend(flatten(&batch, &targets()));
            writer.batch(&batch, &targets()).unwrap();
            rows.push(machine(at as i64, 3));
            writer.server(&rows[rows.len() - 1]).unwrap();
        }
        writer.finish().unwrap();
        let found = decode(&[&out.0.lock().unwrap()]);
        assert_eq!((found.rows, found.observed), (hits, rows), "{encoding:?}");
    }
}

#[test]
fn vegetas_encodings_drop_them() {
    for encoding in [Encoding::Csv, Encoding::Json, Encoding::Gob] {
        let found = decode(&[&write(encoding, &[machine(0, 3), machine(1, 3)])]);
        assert_eq!((found.rows.len(), found.observed.len()), (4, 0), "{encoding:?}");
    }
}

#[test]
fn several_inputs_give_all_of_them() {
    let one = write(Encoding::Arrow, &[machine(0, 3), machine(2_000_000, 3)]);
    let two = write(Encoding::Parquet, &[machine(1_000_000, 1)]);
    let found = decode(&[&one, &two]);
    assert!(found.error.is_none(), "{:?}", found.error);
    assert_eq!((found.rows.len(), found.observed.len()), (6, 3));
}

#[test]
fn a_file_of_nothing_else_is_no_error() {
    let out = Shared::default();
    let mut writer = writer(Encoding::Arrow, Box::new(out.clone()), &info()).unwrap();
    writer.server(&machine(0, 3)).unwrap();
    writer.finish().unwrap();
    let found = decode(&[&out.0.lock().unwrap()]);
    assert_eq!((found.rows.len(), found.observed.len(), found.losses.len()), (0, 1, 0));
}

#[test]
fn a_sink_bounds_and_counts_them() {
    let out = Shared::default();
    let writer = writer(Encoding::Arrow, Box::new(out.clone()), &info()).unwrap();
    let sink = Sink::start(writer, targets(), 8).unwrap();
    sink.observe(machine(0, 3));
    let observer = sink.observer();
    std::thread::spawn(move || observer.observe(machine(1, 2 << 20))).join().unwrap();
    sink.offer(plain(10, 0)).unwrap();
    let report = sink.finish();
    assert_eq!((report.rows, report.observed, report.observed_dropped), (10, 1, 1));
    assert_eq!(decode(&[&out.0.lock().unwrap()]).observed, [machine(0, 3)]);
}

/// The results of a script's thresholds and checks are at the end of the native encodings, and absent from the others.
#[test]
fn thresholds_and_checks_are_kept() {
    let outcome = ThresholdOutcome {
        metric: "http_req_duration".to_owned(),
        source: "p(95)<200".to_owned(),
        figure: Some(312.25),
        holds: false,
        run: String::new(),
    };
    let (kind, contains) = (Kind::Trend, Contains::Time);
    let (group, name) = ("::cart".to_owned(), "is 200".to_owned());
    let check = Check { group, name, passes: 19, fails: 1 };
    let asserted = vec![Assertion::Threshold { outcome, kind, contains }, Assertion::Check(check)];
    let written = |encoding| {
        let out = Shared::default();
        let writer = writer(encoding, Box::new(out.clone()), &info()).unwrap();
        let sink = Sink::start(writer, targets(), 8).unwrap();
        sink.offer(plain(10, 0)).unwrap();
        assert_eq!(sink.conclude(EPOCH, asserted.clone()), 0);
        sink.finish();
        let bytes = out.0.lock().unwrap().clone();
        decode(&[&bytes])
    };
    for encoding in [Encoding::Arrow, Encoding::Parquet] {
        let found = written(encoding);
        let expect = asserted.iter().cloned().map(|assertion| (assertion, EPOCH)).collect();
        assert_eq!((found.rows.len(), found.assertions), (10, expect), "{encoding:?}");
    }
    for encoding in [Encoding::Csv, Encoding::Json, Encoding::Gob] {
        let found = written(encoding);
        assert_eq!((found.rows.len(), found.assertions.len()), (10, 0), "{encoding:?}");
    }
}

#[test]
fn a_sink_bounds_thresholds_and_checks() {
    let out = Shared::default();
    let writer = writer(Encoding::Arrow, Box::new(out.clone()), &info()).unwrap();
    let sink = Sink::start(writer, targets(), 8).unwrap();
    let check = |n: usize| {
        let (group, name) = (String::new(), format!("check {n}"));
        Assertion::Check(Check { group, name, passes: 1, fails: 0 })
    };
    let all: Vec<Assertion> = (0..ASSERTIONS_MAX + 3).map(check).collect();
    assert_eq!(sink.conclude(EPOCH, all), 3);
    sink.finish();
    assert_eq!(decode(&[&out.0.lock().unwrap()]).assertions.len(), ASSERTIONS_MAX);
}
