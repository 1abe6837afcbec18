//! Which method is right, and what it finds: simulated comparisons of runs with noise as real machines make it. The tables stand
//! in docs/design/compare.md; `UPDATE=1` computes them anew with ten times as many comparisons.

use stdx::{Prng, mix};

use super::LEVEL;
use super::splits::Splits;
use crate::stats::student;
use crate::stats::welch;

/// The logarithms of a run's mean, median, 90th and 99th percentile, and throughput.
type Measures = [f64; 5];
const MEASURES: usize = 5;
/// Every comparison is judged as one of so many measures: these and the share of errors.
const JUDGED: f64 = 6.0;

/// How runs of one variant differ.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Noise {
    /// By 3 %, log-normal.
    Steady,
    /// The same on a machine that becomes 10 % slower from the first run to the last.
    Drift,
    /// The same, with a level that walks by 2 % from run to run.
    Walk,
    /// By 1 %, and one run of ten is disturbed: slower by 20 % on average.
    Outliers,
    /// By half a percent, about one of two levels that are 10 % apart.
    Modes,
    /// The second variant varies five times as much as the first.
    Unequal,
}

impl Noise {
    const ALL: [(Self, &'static str); 6] = [
        (Self::Steady, "3 % log-normal"),
        (Self::Drift, "3 %, drift of 10 %"),
        (Self::Walk, "3 %, random walk of 2 % a run"),
        (Self::Outliers, "1 %, each tenth run 20 % slower"),
        (Self::Modes, "two modes, 10 % apart"),
        (Self::Unequal, "2 % and 10 %"),
    ];
}

/// Runs of two equal variants, interleaved: blocks of one run of each, in random order. The second is slower by `effect`
/// (logarithm).
fn simulate(noise: Noise, runs: usize, effect: f64, rng: &mut Prng) -> [Vec<Measures>; 2] {
    let mut sides = [Vec::new(), Vec::new()];
    let mut walk = 0.0;
    for block in 0..runs {
        let first = rng.below(2) as usize;
        for (place, side) in [first, 1 - first].into_iter().enumerate() {
            let at = (2 * block + place) as f64 / (2 * runs) as f64;
            walk += 0.02 * rng.normal();
            let level = match noise {
                Noise::Steady => 0.03 * rng.normal(),
                Noise::Drift => 0.03 * rng.normal() + 0.1 * at,
                Noise::Walk => 0.03 * rng.normal() + walk,
                Noise::Outliers if rng.below(10) == 0 => {
                    0.01 * rng.normal() + 0.2 * rng.exponential()
                }
                Noise::Outliers => 0.01 * rng.normal(),
                Noise::Modes => 0.005 * rng.normal() + 0.1 * rng.below(2) as f64,
                Noise::Unequal => [0.02, 0.1][side] * rng.normal(),
            };
            sides[side].push(measures(level + if side == 1 { effect } else { 0.0 }, rng));
        }
    }
    sides
}

/// The measures of a run at this level: a closed loop, with noise of each measure's own.
fn measures(level: f64, rng: &mut Prng) -> Measures {
    let mean = level + 0.003 * rng.normal();
    let p50 = level + 0.005 * rng.normal();
    let p90 = level + 0.01 * rng.normal();
    [mean, p50, p90, level + 0.03 * rng.normal(), -mean + 0.001 * rng.normal()]
}

/// A way to judge runs: which measures differ.
type Method = fn(&[Measures], &[Measures], f64) -> [bool; MEASURES];

/// The candidates; the first is the one in use.
const METHODS: [(&str, Method); 4] = [
    ("t, unequal variances (in use)", in_use),
    ("paired t", by_pairs),
    ("permutation of t", by_permutation_of_t),
    ("permutation of ranks", by_permutation_of_ranks),
];

fn column(runs: &[Measures], of: usize) -> Vec<f64> {
    runs.iter().map(|run| run[of]).collect()
}

/// Welch's t with Holm's levels.
fn in_use(a: &[Measures], b: &[Measures], level: f64) -> [bool; MEASURES] {
    let p = |of: usize| {
        let found = welch(&column(a, of), &column(b, of), (0.0, 0.0));
        found.map_or(1.0, |found| found.p())
    };
    let ps: [f64; MEASURES] = std::array::from_fn(p);
    let mut order: [usize; MEASURES] = std::array::from_fn(|of| of);
    order.sort_by(|a, b| ps[*a].total_cmp(&ps[*b]));
    let mut found = [false; MEASURES];
    for (place, of) in order.into_iter().enumerate() {
        if ps[of] > level / (JUDGED - place as f64) {
            break;
        }
        found[of] = true;
    }
    found
}

fn by_pairs(a: &[Measures], b: &[Measures], level: f64) -> [bool; MEASURES] {
    std::array::from_fn(|of| {
        let apart: Vec<f64> = a.iter().zip(b).map(|(a, b)| b[of] - a[of]).collect();
        let n = apart.len() as f64;
        let mean = apart.iter().sum::<f64>() / n;
        let variance = apart.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / (n - 1.0);
        student::two_sided(mean / (variance / n).sqrt(), n - 1.0) <= level / JUDGED
    })
}

/// Westfall and Young's greatest statistic over all splits of the runs.
fn by_permutation_of_t(a: &[Measures], b: &[Measures], level: f64) -> [bool; MEASURES] {
    let all = [a, b].concat();
    let columns: Vec<Vec<f64>> = (0..MEASURES).map(|of| column(&all, of)).collect();
    permuted(a.len(), b.len(), level, |of, split| {
        let these: f64 = split.iter().map(|run| columns[of][usize::from(*run)]).sum();
        let squares: f64 = split.iter().map(|run| columns[of][usize::from(*run)].powi(2)).sum();
        let (sum, all_squares) = columns[of]
            .iter()
            .fold((0.0, 0.0), |(sum, squares), value| (sum + value, squares + value * value));
        let (m, n) = (a.len() as f64, b.len() as f64);
        let apart = these / n - (sum - these) / m;
        let within =
            squares - these * these / n + (all_squares - squares) - (sum - these).powi(2) / m;
        apart.abs() / within.max(1e-18).sqrt()
    })
}

fn by_permutation_of_ranks(a: &[Measures], b: &[Measures], level: f64) -> [bool; MEASURES] {
    let all = [a, b].concat();
    let ranks: Vec<Vec<f64>> = (0..MEASURES)
        .map(|of| {
            let below = |value: f64| all.iter().filter(|run| run[of] < value).count() as f64;
            all.iter().map(|run| below(run[of])).collect()
        })
        .collect();
    let middle = b.len() as f64 * (all.len() - 1) as f64 / 2.0;
    permuted(a.len(), b.len(), level, |of, split| {
        let sum: f64 = split.iter().map(|run| ranks[of][usize::from(*run)]).sum();
        (sum - middle).abs()
    })
}

fn permuted(
    m: usize,
    n: usize,
    level: f64,
    away: impl Fn(usize, &[u16]) -> f64,
) -> [bool; MEASURES] {
    let splits = Splits::of(m, n, 1);
    let greatest = |split: &[u16]| (0..MEASURES).map(|of| away(of, split)).fold(0.0, f64::max);
    let greatest: Vec<f64> = splits.members().iter().map(|split| greatest(split)).collect();
    std::array::from_fn(|of| {
        let seen = away(of, &splits.members()[0]) * (1.0 - 1e-9);
        let others = greatest.iter().filter(|other| **other >= seen).count();
        others as f64 / greatest.len() as f64 <= level
    })
}

/// In how many of a thousand comparisons any measure is called different, and in how many the median is.
fn alarms((method, noise): (Method, Noise), runs: usize, effect: f64, rounds: u64) -> (f64, f64) {
    let (mut any, mut median) = (0u64, 0u64);
    for round in 0..rounds {
        let mut rng = Prng::new(mix(round, runs as u64));
        let [a, b] = simulate(noise, runs, effect, &mut rng);
        let found = method(&a, &b, LEVEL);
        any += u64::from(found.contains(&true));
        median += u64::from(found[1]);
    }
    let share = |count: u64| count as f64 / rounds as f64;
    (share(any), share(median))
}

/// Numbers of runs of each in the tables.
const RUNS: [usize; 7] = [2, 3, 4, 5, 6, 8, 10];
/// Changes in the tables.
const EFFECTS: [f64; 5] = [0.02, 0.05, 0.1, 0.2, 0.5];

/// The method in use calls equal variants different in at most 5 of 100 comparisons, in any measure, whatever the noise and
/// however few the runs are; and it finds what such noise lets it find.
#[test]
fn false_alarms_stay_below_the_level_for_any_number_of_runs() {
    let rounds = 400;
    for (noise, name) in Noise::ALL {
        for runs in RUNS {
            let share = alarms((in_use, noise), runs, 0.0, rounds).0;
            // One in a thousand samples of 400 with 5 % has more than 8.6 %.
            assert!(share <= 0.086, "{name}, {runs} runs: {share}");
        }
    }
    let power = |runs, effect: f64| alarms((in_use, Noise::Steady), runs, effect.ln_1p(), rounds).1;
    assert!(power(4, 0.2) > 0.95 && power(3, 0.5) > 0.97, "{} {}", power(4, 0.2), power(3, 0.5));
    assert!(power(10, 0.1) > 0.97, "{}", power(10, 0.1));
    if std::env::var_os("UPDATE").is_some() {
        update_page();
    }
}

/// Writes the tables of the page.
fn update_page() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/design/compare.md");
    let page = include_str!("../../../../docs/design/compare.md");
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    std::fs::write(path, format!("{before}{BEGIN}\n{}{END}{after}", tables())).unwrap();
}

const BEGIN: &str = "<!-- simulated: UPDATE=1 cargo test --workspace --lib false_alarms_stay -->";
const END: &str = "<!-- end of what is simulated -->";

fn tables() -> String {
    let mut out = String::new();
    let mut table = |title: &str, rows: Vec<(String, Vec<f64>)>| {
        let heads: Vec<String> = RUNS.iter().map(ToString::to_string).collect();
        out.push_str(&format!(
            "\n{title}\n\n| | {} |\n|---|{}\n",
            heads.join(" | "),
            "---:|".repeat(RUNS.len())
        ));
        for (name, shares) in rows {
            let cells: Vec<String> =
                shares.iter().map(|share| format!("{:.1}", share * 100.0)).collect();
            out.push_str(&format!("| {name} | {} |\n", cells.join(" | ")));
        }
    };
    let rounds = |name: &str| if name.starts_with("permutation") { 500 } else { 4000 };
    for (noise, name) in Noise::ALL {
        let of = |effect: f64, any: bool| {
            METHODS.map(|(title, method)| {
                let share = |runs: &usize| {
                    let found = alarms((method, noise), *runs, effect.ln_1p(), rounds(title));
                    if any { found.0 } else { found.1 }
                };
                (title.to_owned(), RUNS.iter().map(share).collect())
            })
        };
        table(
            &format!("**Noise: {name}. False alarms** (percent of comparisons of equal variants)"),
            of(0.0, true).into(),
        );
        table(
            &format!("**Noise: {name}. A change of 10 %** found in the median (percent)"),
            of(0.1, false).into(),
        );
    }
    let found = EFFECTS.map(|effect| {
        let share = |runs: &usize| alarms((in_use, Noise::Steady), *runs, effect.ln_1p(), 4000).1;
        (format!("{} %", (effect * 100.0).round()), RUNS.iter().map(share).collect())
    });
    table(
        "**The method in use, noise of 3 %: changes found** in the median (percent)",
        found.into(),
    );
    out
}
