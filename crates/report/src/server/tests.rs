//! A machine of two cores that serves 33 requests a second: seed 004's arithmetic.

use metrics::server::{Incident, Reading, Row, ServedRequest, Side};
use metrics::{Batch, Histogram, Sample, Summary, Timeline};
use stdx::Nanos;

use super::{Capacity, NetworkAndQueue, ServerSide, over_time, percentiles};

const SECOND: i64 = 1_000_000_000;
const EPOCH: i64 = 1_700_000_000 * SECOND;

fn reading(at_s: i64, source: &str, values: &[(&str, f64)]) -> Row {
    let values = values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let (host, source) = ("web<1>".to_owned(), source.to_owned());
    Row::Reading(Reading { at: EPOCH + at_s * SECOND, host, source, values })
}

/// Ten seconds of it: the server takes 164 ms, the client sees 480.
fn side(id: fn(u64) -> String) -> Side {
    let mut side = Side::new();
    for at in 0..=10 {
        let machine = [
            ("load1", 3.5),
            ("cpu", 0.99),
            ("cores", 2.0),
            ("memory.used", 1e9),
            ("tcp.retransmits", 0.0),
        ];
        side.add(&reading(at, "machine", &machine));
        side.add(&reading(at, "core 0", &[("cpu", 0.97)]));
        side.add(&reading(at, "core 1", &[("cpu", 1.0)]));
        side.add(&reading(at, "tree 7 ruby", &[("cpu", 1.9), ("rss", 3e8), ("processes", 6.0)]));
        for process in 7..13 {
            let source = format!("process {process} mongrel");
            side.add(&reading(at, &source, &[("cpu", 1.9 / 6.0), ("rss", 5e7)]));
        }
        side.add(&reading(at, "scrape http://x/metrics", &[("puma_backlog{index=\"0\"}", 3.0)]));
    }
    for n in 0..330u64 {
        side.add(&Row::Served(ServedRequest {
            at: EPOCH + n as i64 * SECOND / 33,
            host: "web<1>".to_owned(),
            source: "rails".to_owned(),
            method: "GET".to_owned(),
            path: format!("/auctions/{n}"),
            status: if n == 0 { 500 } else { 200 },
            total: Some(Nanos::from_millis(164)),
            views: Some(Nanos::from_millis(100)),
            database: Some(Nanos::from_millis(40)),
            id: id(n),
            ..ServedRequest::default()
        }));
    }
    side.add(&Row::Incident(Incident {
        what: "the log was rotated\u{1b}[31m".to_owned(),
        ..Incident::default()
    }));
    side
}

fn batch() -> Batch {
    let sample = |n: u64| Sample {
        intended: Nanos(n * SECOND as u64 / 33),
        sent: Nanos(n * SECOND as u64 / 33),
        done: Nanos(n * SECOND as u64 / 33 + 480_000_000),
        outcome: metrics::Outcome::Http(200),
        ..Sample::default()
    };
    Batch { epoch: EPOCH, samples: (0..330).map(sample).collect(), texts: Vec::new() }
}

fn summary() -> Summary {
    let mut summary = Summary::new();
    summary.add(&batch());
    summary
}

fn close(value: Option<f64>, expected: f64) -> bool {
    value.is_some_and(|value| (value / expected - 1.0).abs() < 0.07)
}

#[test]
fn the_arithmetic_of_seed_004() {
    let (side, summary) = (side(|_| String::new()), summary());
    let server =
        ServerSide { side: &side, client: Some(&summary), offset_ns: 0, offset_error_ns: None };
    let capacity = Capacity::of(&server);
    assert!(close(capacity.requests_per_s, 33.0), "{capacity:?}");
    assert!(close(capacity.machine_per_request_s(), 0.060), "2 CPUs / 33 req/s = 60 ms");
    assert!(close(capacity.cpu_per_request_s, 19.0 / 330.0));
    assert!(close(capacity.in_service(), 33.0 * 0.164));
    assert!(close(capacity.bearable_per_s(), 2.0 / (19.0 / 330.0)));
    assert_eq!((capacity.cores, capacity.processes), (Some(2.0), Some(6.0)));
    assert_eq!(capacity.note(), None);
    let beside = Capacity { cores_of_processes: Some(0.5), ..capacity };
    assert!(beside.note().is_some_and(|note| note.starts_with("1.48 of 2 cores")));
    let unwatched = Capacity { cores_of_processes: None, cpu_per_request_s: None, ..capacity };
    assert!(close(unwatched.bearable_per_s(), 33.0 / 0.99));
    assert!(unwatched.note().is_some_and(|note| note.starts_with("No process was watched")));
    let idle = Capacity { cores_busy: None, ..unwatched };
    assert_eq!((idle.bearable_per_s(), idle.note()), (None, None));
    let alone = Capacity::of(&ServerSide { client: None, ..server });
    assert!(close(alone.requests_per_s, 33.0), "the log tells it too: {alone:?}");
}

/// The machine's table has twenty rows, and stood above the capacity that a reader looks for.
#[test]
fn a_page_has_what_requests_tell_before_the_machine() {
    let (side, summary) = (side(|_| String::new()), summary());
    let server =
        ServerSide { side: &side, client: Some(&summary), offset_ns: 0, offset_error_ns: None };
    let mut page = String::new();
    server.html(&mut page);
    let at = |title: &str| page.find(&format!("<h2>{title}")).unwrap_or_else(|| panic!("{page}"));
    assert!(at("Capacity") < at("Machine"), "{page}");
}

/// Puma's master is watched as well, and answers nothing.
#[test]
fn a_master_is_no_process_at_work() {
    let mut side = side(|_| String::new());
    for at in 0..=10 {
        let of = [("cpu", 1.02), ("processes", 3.0)];
        side.add(&reading(at, "tree 90 puma", &of));
        side.add(&reading(at, "process 90 puma", &[("cpu", 0.02)]));
        side.add(&reading(at, "process 91 puma", &[("cpu", 0.5)]));
        side.add(&reading(at, "process 92 puma", &[("cpu", 0.5)]));
    }
    let summary = summary();
    let server =
        ServerSide { side: &side, client: Some(&summary), offset_ns: 0, offset_error_ns: None };
    let capacity = Capacity::of(&server);
    assert_eq!((capacity.processes, capacity.processes_at_work), (Some(9.0), Some(8.0)));
    let text = server.text();
    assert!(
        text.lines().any(|line| line.starts_with("Processes at work ") && line.ends_with(" 8"))
    );
    let words = |line: &&str| line.starts_with("Requests per second and process at work");
    let each = text.lines().find(words).unwrap();
    assert!(each.ends_with("3.947/s"), "{each}: X is 31.6/s, of eight");
    assert!(text.contains("Upper bound by CPU alone") && text.contains("<= "), "{text}");
    assert!(text.contains("measured by `brunt seek`"), "{text}");
}

/// A proxy serves three files for each page: the application's log has a quarter of the client's requests.
#[test]
fn a_log_of_other_requests_is_not_mixed_with_the_clients() {
    let side = side(|_| String::new());
    let mut summary = Summary::new();
    let mut batch = batch();
    let all: Vec<Sample> = batch.samples.iter().flat_map(|one| [*one; 4]).collect();
    batch.samples = all;
    summary.add(&batch);
    let server =
        ServerSide { side: &side, client: Some(&summary), offset_ns: 0, offset_error_ns: None };
    let capacity = Capacity::of(&server);
    assert_eq!(capacity.counts_apart, Some((1320, 330)));
    assert!(close(capacity.requests_per_s, 132.0), "{capacity:?}");
    assert!(close(capacity.log_requests_per_s, 33.0), "{capacity:?}");
    assert!(close(capacity.in_service(), 33.0 * 0.164), "X and S are both the log's");
    assert!(close(capacity.cpu_per_request_s, 1.9 / 132.0), "CPU and requests are both the run's");
    assert!(close(capacity.bearable_per_s(), 2.0 / 1.9 * 132.0), "it bears what it bore");
    let text = server.text();
    assert!(text.contains("the client tells of 1,320 requests and the log of 330"), "{text}");
    assert!(!text.contains("CPU's share of it"), "{text}");
}

#[test]
fn what_lies_between_is_reported_by_request_where_ids_are_known() {
    let summary = summary();
    let without = side(|_| String::new());
    let server =
        ServerSide { side: &without, client: Some(&summary), offset_ns: 0, offset_error_ns: None };
    let between = NetworkAndQueue::of(&server).unwrap();
    let millis = |ns: i64| (ns as f64 / 1e6).round() as i64;
    assert_eq!((between.by_request.is_none(), millis(between.mean_ns())), (true, 316));
    assert_eq!(millis(between.quantile_ns(0.99)), 316);
    assert!(between.counts_agree() && !between.note().contains("means little"));
    let fewer = Histogram::default();
    let apart = NetworkAndQueue { client: fewer, ..between };
    assert!(apart.note().ends_with("They are not the same requests, and it means little."));
    for (joined, ids_left_out, why) in [
        (0, 0, "since no ids join them"),
        (7, 0, "since ids join only 7 of them."),
        (7, 9, "since ids join only 7 of them: there are more ids than can be held."),
    ] {
        let few = NetworkAndQueue { joined, ids_left_out, by_request: None, ..apart.clone() };
        assert!(few.note().contains(why), "{}", few.note());
    }
    let mut with = side(|n| format!("id-{n}"));
    (0..20).for_each(|n| with.hit(format!("id-{n}").as_bytes(), Nanos::from_millis(480)));
    let server =
        ServerSide { side: &with, client: Some(&summary), offset_ns: 0, offset_error_ns: None };
    assert!(server.text().contains("since ids join only 20 of them."), "{}", server.text());
    let mut with = side(|n| format!("id-{n}"));
    (0..200).for_each(|n| with.hit(format!("id-{n}").as_bytes(), Nanos::from_millis(480)));
    let server =
        ServerSide { side: &with, client: Some(&summary), offset_ns: 0, offset_error_ns: None };
    let between = NetworkAndQueue::of(&server).unwrap();
    assert_eq!(between.by_request.as_ref().map(Histogram::count), Some(200));
    assert_eq!(millis(between.mean_ns()), 316);
    assert!(server.text().contains("request by request: 200 of 330"));
    assert!(NetworkAndQueue::of(&ServerSide { client: None, ..server }).is_none());
}

#[test]
fn the_text_has_its_sections() {
    let (side, summary) = (side(|_| String::new()), summary());
    let text = ServerSide {
        side: &side,
        client: Some(&summary),
        offset_ns: -3_000_000,
        offset_error_ns: None,
    }
    .text();
    for part in [
        "Machine web<1>, 11 readings in 10s",
        "Busiest: core 1",
        "process 7 mongrel",
        "tree 7 ruby",
        "rails total",
        "client, from due",
        "network and queue",
        "CPU per request, whole machine",
        "GET /auctions/:id",
        "puma_backlog",
        "the log was rotated\u{fffd}[31m",
        "moved by 3ms to earlier ones",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    assert_eq!(
        ServerSide {
            side: &Side::new(),
            client: Some(&summary),
            offset_ns: 0,
            offset_error_ns: None
        }
        .text(),
        ""
    );
}

/// A log with times of some requests: the time of the others is unknown, and not 0.
#[test]
fn untimed_endpoints_have_no_share_of_the_time() {
    let mut side = Side::new();
    for (path, total) in [("/timed", Some(Nanos::MILLI)), ("/untimed", None)] {
        let (method, path) = ("GET".to_owned(), path.to_owned());
        let source = "rails".to_owned();
        let at = EPOCH;
        side.add(&Row::Served(ServedRequest {
            at,
            source,
            method,
            path,
            total,
            ..ServedRequest::default()
        }));
    }
    let text = ServerSide { side: &side, client: None, offset_ns: 0, offset_error_ns: None }.text();
    let cells = |begin: &str| {
        let line = text.lines().find(|line| line.starts_with(begin));
        line.unwrap_or_default().split_whitespace().skip(4).collect::<Vec<_>>().join(" ")
    };
    let timed = cells("GET /timed");
    assert!(timed.starts_with("100.0% 1ms ") && timed.ends_with(" - -"), "{text}");
    assert_eq!(cells("GET /untimed"), "- - - - - - -", "{text}");
}

#[test]
fn markup_of_others_is_text() {
    let (side, summary) = (side(|_| String::new()), summary());
    let server =
        ServerSide { side: &side, client: Some(&summary), offset_ns: 0, offset_error_ns: None };
    let mut page = String::new();
    server.html(&mut page);
    assert!(page.contains("web&lt;1&gt;") && !page.contains("web<1>"));
    assert!(!server.markdown().contains("web<1>"));
    let json: serde_json::Value = serde_json::from_str(&server.json()).unwrap();
    assert_eq!(json["logs"][0]["requests"], 330);
    assert_eq!(json["logs"][0]["endpoints"][0]["endpoint"], "GET /auctions/:id");
    assert_eq!(json["network_and_queue"]["by"], "quantile");
    assert_eq!(json["sources"][0]["measures"]["cpu"]["mean"], 0.99);
    assert_eq!(json["incidents"][0]["count"], 1);
}

#[test]
fn four_curves_over_the_share_of_requests() {
    let (side, summary) = (side(|_| String::new()), summary());
    let figure = percentiles("t", Some(&summary.response), &side);
    let ends: Vec<(&str, (f64, f64))> =
        figure.series.iter().map(|one| (one.label.as_str(), *one.points.last().unwrap())).collect();
    let expected = [
        ("Client", 0.48),
        ("Server, total", 0.164),
        ("Server, views", 0.1),
        ("Server, database", 0.04),
    ];
    for ((label, (x, y)), (name, seconds)) in ends.iter().zip(expected) {
        assert_eq!((*label, *x), (name, 100.0));
        assert!((y - seconds).abs() < 1e-3, "{label} {y}");
    }
    assert_eq!((ends.len(), figure.notes.len()), (4, 0));
    let nothing = percentiles("t", None, &Side::new());
    assert_eq!((nothing.series.len(), nothing.notes.len()), (0, 0));
    let alone = percentiles("t", Some(&summary.response), &Side::new());
    assert_eq!(alone.series.len(), 1);
    let why = "No log says how long requests took: only the client's times are drawn.";
    assert_eq!(alone.notes, [why]);
    let mut page = String::new();
    crate::page::chart(&mut page, &alone, 0);
    assert!(page.contains("<p class=\"note\">No log says"), "{page}");
    assert!(
        page.contains("<svg class=\"plot\"") && page.matches("No log says").count() == 1,
        "{page}"
    );
}

/// nginx's and Apache's logs have whole seconds: the offset of their cells is noted, and that of finer logs is not.
#[test]
fn a_log_of_whole_seconds_is_reported() {
    let noted = |step_ns: i64, total: Option<Nanos>| {
        let mut side = Side::new();
        for n in 0..5 {
            let source = "nginx".to_owned();
            let served = ServedRequest {
                at: EPOCH + n * step_ns,
                source,
                total,
                ..ServedRequest::default()
            };
            side.add(&Row::Served(served));
        }
        let mut timeline = Timeline::new();
        timeline.add(&batch());
        let sheet = over_time("t", Some(&timeline), &side);
        let labels = |figure: &crate::Figure| {
            figure.notes.iter().any(|note| note.starts_with("The log nginx tells moments in whole"))
        };
        sheet.figures.iter().map(labels).collect::<Vec<_>>()
    };
    assert_eq!(noted(SECOND, Some(Nanos::MILLI)), [true, true]);
    assert_eq!(noted(SECOND, None), [false, false], "a log without times has no curves");
    assert_eq!(noted(SECOND / 4, Some(Nanos::MILLI)), [false, false]);
}

#[test]
fn everything_over_time_has_one_axis() {
    let (side, mut timeline) = (side(|_| String::new()), Timeline::new());
    timeline.add(&batch());
    let sheet = over_time("t", Some(&timeline), &side);
    let titles: Vec<&str> = sheet.figures.iter().map(|figure| figure.title.as_str()).collect();
    assert_eq!(
        titles,
        ["Requests a second, both sides", "Times, both sides", "Processors", "Memory of processes"]
    );
    let ends = |figure: &crate::Figure| {
        let points = &figure.series[0].points;
        (points[0].0, points[points.len() - 1].0)
    };
    assert!(sheet.figures.iter().all(|figure| ends(figure) == (0.0, 10.0)));
    let svg = sheet.svg();
    assert_eq!(svg.matches("<svg").count(), 5);
    assert!(sheet.png().is_ok_and(|png| png.starts_with(b"\x89PNG")));
    assert!(sheet.html().contains("Processors"));
    let alone = over_time("t", None, &side);
    assert_eq!(alone.figures.len(), 4);
    assert!(over_time("t", None, &Side::new()).figures.is_empty());
}
