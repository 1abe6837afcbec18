//! How often a search's interval holds the truth: whole searches of two minutes, as `brunt seek` makes them, of simulated servers of
//! several kinds. The table stands in docs/design/seek-coverage.md; `UPDATE=1` computes it anew with many more searches.

use super::simulated::{LOADS, Pace, Server, Service};

const EIGHT: Server = Server { workers: 8, service: Service::Exponential(0.01), pace: Pace::Even };
const SLOW: Server = Server { workers: 6, service: Service::Exponential(0.06), pace: Pace::Even };

/// A kind of server with the objective of its searches.
struct Kind {
    name: &'static str,
    server: Server,
    objective: &'static str,
}

const fn kind(name: &'static str, server: Server, objective: &'static str) -> Kind {
    Kind { name, server, objective }
}

const fn of_pace(server: Server, pace: Pace) -> Server {
    Server { pace, ..server }
}

const fn pausing(every_s: f64, for_s: f64) -> Server {
    of_pace(EIGHT, Pace::Pauses { every_s, for_s })
}

const TWO_KINDS: Server =
    Server { service: Service::TwoKinds { mean_s: 0.01, times: 8.0 }, ..EIGHT };

const KINDS: [Kind; 10] = [
    kind("six workers of 60 ms", SLOW, "p99<500ms"),
    kind("eight workers of 10 ms", EIGHT, "p95<100ms"),
    kind("the same, pauses of 200 ms each 10 s", pausing(10.0, 0.2), "p95<100ms"),
    kind("the same, pauses of 100 ms each 4 s", pausing(4.0, 0.1), "p95<100ms"),
    kind("the same, pauses of 100 ms each 3 s", pausing(3.0, 0.1), "p99<80ms"),
    kind("six workers, 20 % slower at the end", of_pace(SLOW, Pace::Drifts(0.2)), "p99<500ms"),
    kind("six workers, 2 s of 12 at two thirds", of_pace(SLOW, Pace::Bursts), "p99<500ms"),
    kind("eight workers, 2 s of 12 at two thirds", of_pace(EIGHT, Pace::Bursts), "p95<100ms"),
    kind("six workers, half minutes 10 % slower", of_pace(SLOW, Pace::Levels(0.1)), "p99<500ms"),
    kind("each tenth request eight times as long", TWO_KINDS, "p95<100ms"),
];

/// Of some searches of a kind: how many intervals hold the truth, how many give an answer within a tenth of it, and the widths
/// of the intervals as shares of the answer, in rising order.
#[derive(Default)]
struct Coverage {
    held: u64,
    near: u64,
    widths: Vec<f64>,
}

fn coverage(kind: &Kind, seeds: u64) -> (f64, Coverage) {
    let truth = kind.server.truth(kind.objective);
    let mut coverage = Coverage::default();
    for seed in 0..seeds {
        let answer = kind.server.searched(kind.objective, seed).1.answer;
        let Some(answer) = answer else {
            coverage.held += u64::from(truth <= LOADS[0] * 1.01);
            continue;
        };
        let high = answer.high.unwrap_or(f64::INFINITY);
        coverage.held += u64::from(answer.low <= truth && truth <= high);
        coverage.near += u64::from((answer.load / truth - 1.0).abs() <= 0.1);
        coverage.widths.push((high - answer.low) / answer.load);
    }
    coverage.widths.sort_by(f64::total_cmp);
    (truth, coverage)
}

/// Searches of each kind in an ordinary test.
const SEEDS: u64 = 10;

/// An interval of 95 % holds the truth whatever the server does.
#[test]
fn intervals_of_searches_hold_the_truth() {
    let mut all = 0;
    for kind in &KINDS {
        let (truth, coverage) = coverage(kind, SEEDS);
        // One in 1,000 samples of 10 with 95 % has fewer than 7.
        assert!(coverage.held >= 7, "{}, {truth}: {} of {SEEDS}", kind.name, coverage.held);
        all += coverage.held;
    }
    let of = SEEDS * KINDS.len() as u64;
    assert!(all * 100 >= of * 92, "{all} of {of}");
    if std::env::var_os("UPDATE").is_some() {
        update_page();
    }
}

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/design/seek-coverage.md");
const BEGIN: &str = "<!-- simulated: UPDATE=1 cargo test -p study --lib intervals_of_searches -->";
/// Searches of each kind in the table.
const ROUNDS: u64 = 200;

/// Writes the table below what the page says of it.
fn update_page() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let (before, _) = page.split_once(BEGIN).unwrap();
    let rows: String = KINDS.iter().map(row).collect();
    let head = "| server | objective | truth | interval holds it | answer within a tenth | width, median |";
    let page = format!("{before}{BEGIN}\n\n{head}\n|---|---|--:|--:|--:|--:|\n{rows}");
    std::fs::write(PAGE, page).unwrap();
}

fn row(kind: &Kind) -> String {
    let (truth, coverage) = coverage(kind, ROUNDS);
    let share = |count: u64| format!("{:.1} %", 100.0 * count as f64 / ROUNDS as f64);
    let median = coverage.widths.get(coverage.widths.len() / 2).copied().unwrap_or(f64::NAN);
    format!(
        "| {} | `{}` | {truth:.1}/s | {} | {} | {:.0} % |\n",
        kind.name,
        kind.objective,
        share(coverage.held),
        share(coverage.near),
        100.0 * median,
    )
}
