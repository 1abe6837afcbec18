//! The fuzz targets' seeds as a plain test: each log and each response of an endpoint comes to what its name says.

#![allow(clippy::disallowed_methods, reason = "a test reads its seeds from files")]

#[path = "../../../fuzz/checks/prometheus.rs"]
mod prometheus;
#[path = "../../../fuzz/checks/server_log.rs"]
mod server_log;

fn seed_of(target: &str, name: &str) -> Vec<u8> {
    const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/");
    std::fs::read(format!("{CORPUS}{target}/{name}")).expect("a seed")
}

#[test]
fn logs_come_to_what_their_seeds_say() {
    // Requests, those with a time, and problems.
    let cases = [
        ("rails", (2, 2, 1)),
        ("rails_tags", (2, 2, 0)),
        ("rails2", (2, 2, 0)),
        ("nginx", (4, 4, 0)),
        ("nginx_keyed", (4, 4, 0)),
        ("apache", (4, 4, 0)),
        ("lighttpd", (4, 4, 0)),
        ("puma", (4, 4, 0)),
        ("lograge", (1, 1, 0)),
        ("own", (2, 2, 0)),
    ];
    for (name, expect) in cases {
        let totals = server_log::check(&seed_of("server_log", name)).expect(name);
        assert_eq!((totals.requests, totals.timed, totals.incidents), expect, "{name}");
    }
    assert_eq!(server_log::check(&seed_of("server_log", "no_kind")), None);
}

#[test]
fn responses_come_to_what_their_seeds_say() {
    let cases = [("example", 5, 0), ("wrong", 0, 6), ("numbers", 4, 1), ("long", 0, 1)];
    for (name, series, wrong) in cases {
        let totals = prometheus::check(&seed_of("prometheus", name));
        assert_eq!((totals.series, totals.wrong), (series, wrong), "{name}");
    }
}
