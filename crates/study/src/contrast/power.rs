//! How often equal variants are called different, and how often a change is found: whole comparisons of simulated runs, as `brunt compare`
//! makes them. The table stands in docs/design/compare-power.md; `UPDATE=1` computes it anew with many more comparisons.

use metrics::Histogram;
use stdx::{Nanos, Prng, mix};

use super::{Change, Finding, Measure, Rules, Run, changes, exclude};

/// How runs of one variant differ.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Noise {
    /// By so many percent, log-normal.
    Steady(f64),
    /// By 3 %, on a machine that becomes 10 % slower from the first run to the last.
    Drift,
    /// By 2 %, about a level that wanders by 4 % and stays for some runs.
    Slow,
    /// By 3 %, and one run of the second variant takes half as long again.
    Outlier,
    /// The same of the first variant.
    OutlierFirst,
    /// By 1 %, and each tenth run is slower by 20 % on average.
    Disturbed,
    /// By half a percent, about one of two levels that are 10 % apart.
    Modes,
    /// By 2 %, the second variant by 10 %.
    Unequal,
}

impl Noise {
    const ALL: [(Self, &'static str); 10] = [
        (Self::Steady(0.015), "1.5 %"),
        (Self::Steady(0.03), "3 %"),
        (Self::Steady(0.045), "4.5 %"),
        (Self::Drift, "3 %, drift of 10 %"),
        (Self::Slow, "2 %, level that wanders by 4 %"),
        (Self::Outlier, "3 %, one run of the second half as slow again"),
        (Self::OutlierFirst, "3 %, one run of the first half as slow again"),
        (Self::Disturbed, "1 %, each tenth run 20 % slower"),
        (Self::Modes, "two modes, 10 % apart"),
        (Self::Unequal, "2 % and 10 %"),
    ];
}

/// A machine while runs are made.
struct Machine {
    rng: Prng,
    noise: Noise,
    wander: f64,
}

impl Machine {
    /// The level (logarithm) of a run of side 0 or 1, at a place from 0 to 1; `is_odd` marks the one run that may stand out.
    fn level(&mut self, (side, at): (usize, f64), is_odd: bool) -> f64 {
        let rng = &mut self.rng;
        let normal = rng.normal();
        match self.noise {
            Noise::Steady(share) => share * normal,
            Noise::Drift => 0.03 * normal + 0.1 * at,
            Noise::Slow => {
                self.wander = 0.8 * self.wander + 0.6 * 0.04 * rng.normal();
                0.02 * normal + self.wander
            }
            Noise::Outlier | Noise::OutlierFirst => {
                let of = usize::from(self.noise == Noise::Outlier);
                0.03 * normal + if is_odd && side == of { 1.5f64.ln() } else { 0.0 }
            }
            Noise::Disturbed if rng.below(10) == 0 => 0.01 * normal + 0.2 * rng.exponential(),
            Noise::Disturbed => 0.01 * normal,
            Noise::Modes => 0.005 * normal + 0.1 * rng.below(2) as f64,
            Noise::Unequal => [0.02, 0.1][side] * normal,
        }
    }

    /// A closed loop's run, with noise of each measure's own.
    fn run(&mut self, level: f64, begun_ns: i64) -> Run {
        let rng = &mut self.rng;
        let mut times = Histogram::default();
        for (count, of_level, noise) in
            [(50, 1.0, 0.005), (40, 1.5, 0.01), (8, 2.0, 0.01), (2, 4.0, 0.03)]
        {
            let time = 1e7 * of_level * (level + noise * rng.normal()).exp();
            times.record_n(Nanos(time as u64), count);
        }
        let throughput_per_s = 800.0 * (-level + 0.003 * rng.normal()).exp();
        Run { times, throughput_per_s, begun_ns, ..Run::default() }
    }
}

/// In which order the runs are made.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Order {
    /// Blocks of one run of each, in random order.
    InTurn,
    /// All of the first, then all of the second.
    OneAfterTheOther,
}

/// Runs of two variants; the second is slower by `effect` (logarithm).
fn simulate((noise, order): (Noise, Order), runs: usize, effect: f64, seed: u64) -> [Vec<Run>; 2] {
    let mut rng = Prng::new(seed);
    let wander = 0.04 * rng.normal();
    let odd = rng.below(runs as u64) as usize;
    let mut machine = Machine { rng, noise, wander };
    let mut sides = [Vec::new(), Vec::new()];
    let mut made = 0;
    let mut make = |machine: &mut Machine, side: usize| {
        let at = f64::from(made) / (2 * runs) as f64;
        made += 1;
        let is_odd = sides[side].len() == odd;
        let level = machine.level((side, at), is_odd) + effect * side as f64;
        let run = machine.run(level, 1_000_000_000 * i64::from(made));
        sides[side].push(run);
    };
    match order {
        Order::InTurn => {
            for _ in 0..runs {
                let first = machine.rng.below(2) as usize;
                make(&mut machine, first);
                make(&mut machine, 1 - first);
            }
        }
        Order::OneAfterTheOther => {
            (0..2 * runs).for_each(|at| make(&mut machine, at / runs));
        }
    }
    sides
}

fn compared(of: (Noise, Order), runs: usize, effect: f64, seed: u64) -> Vec<Change> {
    let mut sides = simulate(of, runs, effect, seed);
    exclude(&mut sides);
    let rules = Rules { primary: Some(Measure::P50), ..Rules::default() };
    changes(&sides[0], &sides[1], &rules).unwrap()
}

/// Of so many comparisons, the shares in which any measure is called different, and in which the first is called worse.
fn shares(of: (Noise, Order), runs: usize, effect: f64, rounds: u64) -> (f64, f64) {
    let (mut any, mut worse) = (0u64, 0u64);
    for round in 0..rounds {
        let found = compared(of, runs, effect, mix(round, runs as u64));
        let differs = |one: &Change| matches!(one.finding, Finding::Better | Finding::Worse);
        any += u64::from(found.iter().any(differs));
        worse += u64::from(found[1].finding == Finding::Worse);
    }
    (any as f64 / rounds as f64, worse as f64 / rounds as f64)
}

/// Comparisons for each cell of the table.
const ROUNDS: u64 = 200;
/// Numbers of runs of each in the table.
const RUNS: [usize; 6] = [3, 4, 6, 8, 12, 16];

/// A server that is 10 % slower is worse over eight runs of each that vary by 4.5 %, on a machine that drifts, and beside one run that
/// stands out; equal ones differ in at most 5 of 100.
#[test]
fn eight_runs_find_ten_percent_and_raise_few_alarms() {
    let rounds = 60;
    let tenth = 0.1f64.ln_1p();
    for (noise, name) in Noise::ALL {
        let of = (noise, Order::InTurn);
        // One in a thousand samples of 60 with 5 % has more than 15 %.
        let (alarms, _) = shares(of, 8, 0.0, rounds);
        assert!(alarms <= 0.15, "{name}: {alarms}");
        let (_, found) = shares(of, 8, tenth, rounds);
        assert!(
            found >= 0.9 || noise == Noise::Unequal || noise == Noise::Modes,
            "{name}: {found}"
        );
    }
    if std::env::var_os("UPDATE").is_some() {
        update_page();
    }
}

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/design/compare-power.md");
const BEGIN: &str = "<!-- simulated: UPDATE=1 cargo test -p study --lib eight_runs_find -->";

/// Writes the tables below what the page says of them.
fn update_page() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let (before, _) = page.split_once(BEGIN).unwrap();
    std::fs::write(PAGE, format!("{before}{BEGIN}\n{}", tables())).unwrap();
}

fn tables() -> String {
    let heads: Vec<String> = RUNS.iter().map(ToString::to_string).collect();
    let head = format!(
        "\n| noise between runs | {} |\n|---|{}\n",
        heads.join(" | "),
        "---:|".repeat(RUNS.len())
    );
    let table = |order: Order, effect: f64| {
        let row = |(noise, name): (Noise, &str)| {
            let cell = |runs: &usize| {
                let (any, worse) = shares((noise, order), *runs, effect.ln_1p(), ROUNDS);
                format!("{:.1}", 100.0 * if effect == 0.0 { any } else { worse })
            };
            let cells: Vec<String> = RUNS.iter().map(cell).collect();
            format!("| {name} | {} |\n", cells.join(" | "))
        };
        head.clone() + &Noise::ALL.map(row).concat()
    };
    let blocks = "all runs of the first before all of the second";
    format!(
        "\n**Equal variants, in turn: called different in any measure** (percent of {ROUNDS} comparisons, by runs of each)\n{}\
         \n**10 % slower, in turn: the median is `worse`** (percent)\n{}\
         \n**5 % slower, in turn: the median is `worse`** (percent)\n{}\
         \n**Equal variants, {blocks}: called different in any measure** (percent)\n{}",
        table(Order::InTurn, 0.0),
        table(Order::InTurn, 0.1),
        table(Order::InTurn, 0.05),
        table(Order::OneAfterTheOther, 0.0),
    )
}
