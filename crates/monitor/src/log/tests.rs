//! Logs as real servers wrote them (Rails 6.1 on Puma 5.6 and on unicorn with three workers, nginx 1.22, lighttpd 1.4), and
//! malformed logs. `UPDATE=1` writes the expected rows again.

use std::fmt::Write as _;
use std::path::Path;

use metrics::server::{Row, ServedRequest};
use proptest::prelude::*;

use super::*;

/// When the golden logs are read: 2026-11-22 07:40 UTC.
const NOW: i64 = 1_795_333_200_000_000_000;

fn read(kind: &str, log: &[u8]) -> Vec<Row> {
    let mut parser = parser(kind, None, "web1").unwrap();
    let mut rows = Vec::new();
    for line in log.split(|byte| *byte == b'\n') {
        parser.line(line, NOW, &mut rows);
    }
    parser.finish(NOW, &mut rows);
    rows
}

fn served(rows: &[Row]) -> Vec<&ServedRequest> {
    rows.iter()
        .filter_map(|row| match row {
            Row::Served(served) => Some(served),
            _ => None,
        })
        .collect()
}

fn printed(rows: &[Row]) -> String {
    let mut out = String::new();
    for row in rows {
        let line = match row {
            Row::Served(one) => {
                let part = |name: &str, time: Option<stdx::Nanos>| {
                    time.map_or(String::new(), |time| format!(" {name} {time}"))
                };
                let parts = [("views", one.views), ("database", one.database)];
                let parts: String =
                    parts.into_iter().map(|(name, time)| part(name, time)).collect();
                let at = one.at - NOW;
                let total = one.total.map_or("?".to_owned(), |total| total.to_string());
                format!(
                    "{} {} {} {total}{parts} at {at} {}",
                    one.status, one.method, one.path, one.id
                )
            }
            Row::Incident(one) => format!("! {}", one.what),
            Row::Reading(_) => "a log gives no readings".to_owned(),
        };
        writeln!(out, "{}", line.trim_end()).unwrap();
    }
    out
}

#[test]
fn logs_of_real_servers() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/log/golden");
    let cases = [
        ("rails", "rails"),
        ("rails", "rails-tags"),
        ("rails", "rails-plain"),
        ("rails", "rails-workers"),
        ("rails2", "rails2"),
        ("nginx", "nginx-combined"),
        ("nginx", "nginx-timed"),
        ("nginx", "nginx-keyed"),
        ("lighttpd", "lighttpd"),
        ("puma", "puma"),
    ];
    for (kind, name) in cases {
        let log = std::fs::read(folder.join(name).with_extension("log")).unwrap();
        let (rows, file) = (printed(&read(kind, &log)), folder.join(name).with_extension("txt"));
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&file, &rows).unwrap();
        }
        let expected = std::fs::read_to_string(&file).unwrap_or_default();
        assert_eq!(rows, expected, "{name}");
    }
}

#[test]
fn interleaved_workers_without_ids_count_but_have_no_path() {
    let log = b"Started GET \"/a\" for 127.0.0.1 at 2026-11-22 07:26:26 +0000
Started GET \"/b\" for 127.0.0.1 at 2026-11-22 07:26:26 +0000
Completed 200 OK in 5ms (Views: 1.0ms)
Completed 200 OK in 7ms (Views: 1.0ms)
Started GET \"/c\" for 127.0.0.1 at 2026-11-22 07:26:26 +0000
Completed 200 OK in 9ms (Views: 1.0ms)
";
    let rows = read("rails", log);
    let millis = |one: &ServedRequest| one.total.map(|total| total.0 / 1_000_000);
    let paths: Vec<(&str, Option<u64>)> =
        served(&rows).iter().map(|one| (one.path.as_str(), millis(one))).collect();
    assert_eq!(paths, [("", Some(5)), ("", Some(7)), ("/c", Some(9))]);
    assert!(printed(&rows).starts_with("! requests interleave"));
}

#[test]
fn what_a_client_sends_makes_no_row() {
    let log = b"I, [2026-11-22T07:26:25.756569 #7]  INFO -- : Started GET \"/?x=\" for 6.6.6.6 at 2020\" for 127.0.0.1 at 2026-11-22 07:26:25 +0000
I, [2026-11-22T07:26:25.756569 #7]  INFO -- :   Parameters: {\"x\"=>\" Completed 200 OK in 9ms (Views: 1ms)\"}
I, [2026-11-22T07:26:25.766569 #7]  INFO -- : Completed 200 OK in 10ms (Views: 1ms)
";
    let rows = read("rails", log);
    let all = served(&rows);
    assert_eq!(all.len(), 1);
    assert_eq!(
        all[0].path, "/?x=\" for 6.6.6.6 at 2020",
        "the last quote before ` for ` ends the path"
    );
}

#[test]
fn long_lines_are_cut_and_reported_once() {
    let mut log =
        b"127.0.0.1 - - [22/Nov/2026:07:26:25 +0000] \"GET / HTTP/1.1\" 200 5 \"".to_vec();
    log.resize(LINE_MAX + 9, b'x');
    let twice = [&log[..], b"\n", &log[..]].concat();
    let rows = read("nginx", &twice);
    assert_eq!(served(&rows).len(), 2);
    let printed_rows = printed(&rows);
    assert_eq!(
        printed_rows.matches("cut").count(),
        2,
        "the first time and the count: {printed_rows}"
    );
}

#[test]
fn kinds_are_checked() {
    let error = |kind: &str, pattern| parser(kind, pattern, "h").map(|_| ()).unwrap_err();
    assert_eq!(error("iis", None), KindError::Unknown("iis".to_owned()));
    assert_eq!(error("rails", Some("x")), KindError::NoPattern("rails".to_owned()));
    assert_eq!(error("apache", Some("%b")), KindError::Column("%b".to_owned()));
    for kind in KINDS {
        assert!(parser(kind, None, "h").is_ok());
    }
    assert!(parser("own", Some("(?<total_ms>[0-9.]+)"), "h").is_ok());
    assert!(parser("apache", Some("%T"), "h").is_ok());
}

/// Lines of the golden logs, cut, joined and sprinkled with bytes.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let golden = [
        include_str!("golden/rails.log"),
        include_str!("golden/rails-tags.log"),
        include_str!("golden/rails-plain.log"),
        include_str!("golden/rails2.log"),
        include_str!("golden/nginx-keyed.log"),
        include_str!("golden/lighttpd.log"),
        include_str!("golden/puma.log"),
        "{\"method\":\"GET\",\"path\":\"/\",\"duration\":1e999,\"db\":-1}",
        "method=GET path=/ status=200 duration=99999999999999999999999 db=NaN",
    ];
    let lines: Vec<&str> = golden.iter().flat_map(|log| log.lines()).collect();
    let piece = (proptest::sample::select(lines), 0.0..1.0, 0.0..1.0).prop_map(
        |(line, a, b): (&str, f64, f64)| {
            let (from, to) =
                (f64::min(a, b) * line.len() as f64, f64::max(a, b) * line.len() as f64);
            line.as_bytes()[if a < 0.3 { 0 } else { from as usize }..to as usize].to_vec()
        },
    );
    let bytes = proptest::collection::vec(any::<u8>(), 0..12);
    let part = prop_oneof![3 => piece, 1 => bytes];
    proptest::collection::vec(part, 0..4).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_bytes_are_too_hostile(lines in proptest::collection::vec(hostile(), 0..20), now: i64) {
        for kind in ["rails", "rails2", "nginx", "apache", "lighttpd", "puma", "own"] {
            let pattern = (kind == "own").then_some(r"(?<time>\S+) (?<method>\S+) (?<path>.*) (?<total_s>[0-9.]+)");
            let mut parser = parser(kind, pattern, "h").unwrap();
            let mut rows = Vec::new();
            for line in &lines {
                parser.line(line, now, &mut rows);
            }
            parser.finish(now, &mut rows);
            prop_assert!(served(&rows).len() <= lines.len());
            prop_assert!(served(&rows).iter().all(|one| one.path.len() <= 3 * PATH_MAX));
        }
    }
}
