//! `Differences`: labelled results against the first of them, as text, JSON, a table of a page and notes of a picture, with
//! what must be known to believe them.

use metrics::Histogram;
use stdx::Nanos;
use study::compare::{Comparison, Unit, compare, pooled, runs_needed};
use study::stats::holm;

use crate::columns::Columns;
use crate::number::{counted, duration};
use crate::object::{Object, json_list};
use crate::{escape, page};

/// One label's runs.
#[derive(Clone, Copy, Debug)]
pub struct Runs<'a> {
    /// The label.
    pub label: &'a str,
    /// Its times, one histogram a run.
    pub runs: &'a [Histogram],
}

/// Every label against the first.
#[derive(Clone, Debug)]
pub struct Differences {
    labels: Vec<Side>,
    rows: Vec<Row>,
}

/// What a label shows by itself.
#[derive(Clone, Debug)]
struct Side {
    label: String,
    runs: usize,
    times: Histogram,
    medians: Vec<Nanos>,
}

/// One label against the first.
#[derive(Clone, Debug)]
struct Row {
    label: String,
    against: String,
    found: Comparison,
    /// The rank test's p, adjusted for being one of several (Holm).
    p_adjusted: f64,
}

const SINGLE: &str = "Requests of one run depend on one another: the p-values take them for independent and come out too \
                      small. Give several runs a label to compare runs.";

impl Differences {
    /// Compares every label with the first one. Labels without a hit are listed and not compared.
    #[must_use]
    pub fn of(all: &[Runs<'_>]) -> Self {
        let side = |one: &Runs<'_>| Side {
            label: one.label.to_owned(),
            runs: one.runs.len(),
            times: pooled(one.runs),
            medians: one.runs.iter().map(|run| run.quantile(0.5)).collect(),
        };
        let pairs = all.split_first().map_or(Vec::new(), |(first, rest)| {
            let found = |other: &Runs<'_>| {
                let found = compare(first.runs, other.runs)?;
                Some((other.label.to_owned(), first.label.to_owned(), found))
            };
            rest.iter().filter_map(found).collect()
        });
        let p: Vec<f64> = pairs.iter().map(|(.., found)| found.ranks.p).collect();
        let rows = pairs
            .into_iter()
            .zip(holm(&p))
            .map(|((label, against, found), p_adjusted)| Row { label, against, found, p_adjusted });
        Self { labels: all.iter().map(side).collect(), rows: rows.collect() }
    }

    /// One line a comparison, for a picture's notes, and the caveats.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        self.rows.iter().map(Row::sentence).chain(self.caveats()).collect()
    }

    /// As a table of text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut sides = Columns::default().right(&[1, 2, 3, 4, 5, 6]);
        sides.row(Side::HEADS.map(str::to_owned));
        self.labels.iter().for_each(|side| sides.row(side.cells().map(|c| escape::terminal(&c))));
        let mut out = sides.lines();
        if !self.rows.is_empty() {
            let mut rows = Columns::default().right(&[3, 4, 5, 6, 7]);
            rows.row(Row::HEADS.map(str::to_owned));
            self.rows.iter().for_each(|row| rows.row(row.cells().map(|c| escape::terminal(&c))));
            out = out + "\n" + &rows.lines();
        }
        self.caveats().iter().fold(out, |out, caveat| out + caveat + "\n")
    }

    /// As one line of JSON; times in nanoseconds.
    #[must_use]
    pub fn json(&self) -> String {
        let caveats = self.caveats();
        Object::new()
            .put("labels", json_list(self.labels.iter().map(Side::json)))
            .put("comparisons", json_list(self.rows.iter().map(Row::json)))
            .put("caveats", json_list(caveats.iter().map(|caveat| escape::json(caveat))))
            .end()
            + "\n"
    }

    /// As tables of a page.
    pub(crate) fn tables(&self, out: &mut String) {
        let sides: Vec<Vec<String>> = self.labels.iter().map(|s| s.cells().into()).collect();
        page::table(out, "Labels", &Side::HEADS, &sides, 0);
        let rows: Vec<Vec<String>> = self.rows.iter().map(|row| row.cells().into()).collect();
        if !rows.is_empty() {
            page::table(out, "Differences", &Row::HEADS, &rows, 0);
        }
    }

    /// What must be known to believe the figures.
    pub(crate) fn caveats(&self) -> Vec<String> {
        let mut caveats = Vec::new();
        if self.rows.iter().any(|row| row.found.unit == Unit::Request) {
            caveats.push(SINGLE.to_owned());
        }
        caveats.extend(self.too_few_runs());
        if self.rows.len() > 1 {
            let count = counted(self.rows.len() as u64, "comparison");
            caveats.push(format!("p is adjusted for {count} with the first label (Holm)."));
        }
        caveats
    }

    /// A note where some comparison has too few runs to find a difference, however large.
    fn too_few_runs(&self) -> Option<String> {
        // Were every label as far from the first as can be, these would be the p-values.
        let least: Vec<f64> = self.rows.iter().map(|row| row.found.least_p()).collect();
        let adjusted = self.rows.iter().zip(holm(&least));
        let of_runs = adjusted.filter(|(row, _)| row.found.unit == Unit::Run).map(|(_, p)| p);
        let least = of_runs.fold(0.0, f64::max);
        let (runs, enough) = runs_needed(self.rows.len());
        (least > 0.05).then(|| {
            format!(
                "So few runs cannot give a p below {least:.2}, however large the difference is; {runs} of each label can give {enough:.2}."
            )
        })
    }
}

impl Side {
    const HEADS: [&str; 7] = ["Label", "runs", "requests", "mean", "median", "p99", "max"];

    fn cells(&self) -> [String; 7] {
        let times = &self.times;
        let figures = [times.mean(), times.quantile(0.5), times.quantile(0.99), times.max()];
        let [mean, median, p99, max] = figures.map(duration);
        let requests = times.count().to_string();
        [self.label.clone(), self.runs.to_string(), requests, mean, median, p99, max]
    }

    fn json(&self) -> String {
        let medians = self.medians.iter().map(|median| median.0.to_string());
        Object::new()
            .text("label", &self.label)
            .number("runs", self.runs as u64)
            .number("requests", self.times.count())
            .number("mean", self.times.mean().0)
            .number("median", self.times.quantile(0.5).0)
            .number("99th", self.times.quantile(0.99).0)
            .number("max", self.times.max().0)
            .put("medians", json_list(medians))
            .end()
    }
}

impl Row {
    const HEADS: [&str; 8] =
        ["Label", "against", "of", "shift", "95 % interval", "slower", "p", "KS distance (p)"];

    fn unit(&self) -> &'static str {
        match self.found.unit {
            Unit::Request => "requests",
            Unit::Run => "runs",
        }
    }

    fn cells(&self) -> [String; 8] {
        let found = &self.found;
        let interval = found.shift.interval.map_or("none".to_owned(), |(low, high)| {
            format!("{} to {}", signed(low), signed(high))
        });
        [
            self.label.clone(),
            self.against.clone(),
            self.unit().to_owned(),
            signed(found.shift.estimate),
            interval,
            format!("{:.1}%", found.ranks.superiority * 100.0),
            share(self.p_adjusted),
            match found.unit {
                Unit::Request => {
                    format!("{:.3} ({})", found.distance.distance, share(found.distance.p))
                }
                Unit::Run => format!("{:.3}", found.distance.distance),
            },
        ]
    }

    fn sentence(&self) -> String {
        let [label, against, unit, shift, interval, _, p, distance] = self.cells();
        format!(
            "{label} against {against}, of {unit}: shift {shift} (95 %: {interval}), Mann-Whitney p {p}, Kolmogorov-Smirnov distance {distance}."
        )
    }

    fn json(&self) -> String {
        let found = &self.found;
        let bound = |of: fn((f64, f64)) -> f64| {
            found.shift.interval.map_or("null".to_owned(), |both| crate::number::go_json(of(both)))
        };
        let ks_p = match found.unit {
            Unit::Request => crate::number::go_json(found.distance.p),
            Unit::Run => "null".to_owned(),
        };
        Object::new()
            .text("label", &self.label)
            .text("against", &self.against)
            .text("unit", if found.unit == Unit::Run { "run" } else { "request" })
            .float("u", found.ranks.u)
            .float("p", found.ranks.p)
            .float("p_adjusted", self.p_adjusted)
            .put("exact", if found.ranks.exact { "true" } else { "false" })
            .float("superiority", found.ranks.superiority)
            .float("shift", found.shift.estimate)
            .put("shift_low", bound(|both| both.0))
            .put("shift_high", bound(|both| both.1))
            .float("ks_distance", found.distance.distance)
            .put("ks_p", ks_p)
            .end()
    }
}

/// A difference of times with its sign.
fn signed(ns: f64) -> String {
    let size = duration(Nanos(ns.abs().round() as u64));
    match () {
        () if ns <= -0.5 => format!("-{size}"),
        () if ns >= 0.5 => format!("+{size}"),
        () => "0s".to_owned(),
    }
}

/// A p-value.
fn share(p: f64) -> String {
    if p < 0.001 { "<0.001".to_owned() } else { format!("{p:.3}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(seed: u64, slower: f64) -> Histogram {
        let mut rng = stdx::Prng::new(seed);
        let mut times = Histogram::new();
        (0..2000).for_each(|_| times.record(Nanos((1e7 * (slower + rng.exponential())) as u64)));
        times
    }

    #[test]
    fn single_runs_are_reported_with_a_caveat() {
        let (a, b, c) = ([run(1, 0.0)], [run(2, 0.0)], [run(3, 0.5)]);
        let all = [("one", &a), ("<four>", &b), ("slow\u{1b}", &c)];
        let differences = Differences::of(&all.map(|(label, runs)| Runs { label, runs }));
        let value: serde_json::Value = serde_json::from_str(&differences.json()).unwrap();
        let [same, slow] = [0, 1].map(|at| value["comparisons"][at].clone());
        assert!(same["p_adjusted"].as_f64().unwrap() > 0.01, "{same}");
        assert!(slow["p"].as_f64().unwrap() < 1e-9 && slow["unit"] == "request", "{slow}");
        let shift = slow["shift"].as_f64().unwrap() / 1e6;
        assert!((shift - 5.0).abs() < 0.6, "{shift}");
        assert!(slow["shift_low"].as_f64().unwrap() < slow["shift"].as_f64().unwrap());
        assert!(value["caveats"][0].as_str().unwrap().contains("depend on one another"));
        assert!(
            differences.text().contains("slow\u{fffd}") && differences.text().contains("<0.001")
        );
        let mut page = String::new();
        differences.tables(&mut page);
        assert!(page.contains("&lt;four&gt;") && !page.contains("<four>"));
        assert_eq!(differences.notes().len(), 4);
    }

    #[test]
    fn repeats_are_compared_by_runs() {
        let runs = |from: u64, slower| (from..from + 5).map(|s| run(s, slower)).collect::<Vec<_>>();
        let (a, b) = (runs(10, 0.0), runs(20, 0.3));
        let both = [Runs { label: "a", runs: &a }, Runs { label: "b", runs: &b }];
        let value: serde_json::Value =
            serde_json::from_str(&Differences::of(&both).json()).unwrap();
        let found = &value["comparisons"][0];
        assert_eq!((&found["unit"], &found["exact"]), (&"run".into(), &true.into()));
        assert!((found["p"].as_f64().unwrap() - 2.0 / 252.0).abs() < 1e-9, "{found}");
        assert_eq!(found["ks_p"], serde_json::Value::Null);
        assert_eq!(value["caveats"], serde_json::json!([]));
        let few = [Runs { label: "a", runs: &a[..3] }, Runs { label: "b", runs: &b[..3] }];
        assert!(Differences::of(&few).text().contains("cannot give a p below 0.10"));
        assert!(Differences::of(&few).text().contains("; 4 of each label can give 0.03."));
    }

    /// Four runs are enough for two labels, and for three they are not.
    #[test]
    fn too_few_runs_are_reported_for_all_comparisons_together() {
        let runs = |from: u64, count, slower| -> Vec<Histogram> {
            (from..from + count).map(|seed| run(seed, slower)).collect()
        };
        let of = |count: u64, labels: usize| {
            let all: Vec<Vec<Histogram>> =
                (0..labels as u64).map(|at| runs(at * 10, count, at as f64)).collect();
            let all: Vec<Runs<'_>> = all.iter().map(|runs| Runs { label: "a", runs }).collect();
            Differences::of(&all).caveats().join(" ")
        };
        assert_eq!(of(4, 2), "");
        let caveats = of(4, 3);
        assert!(caveats.contains("cannot give a p below 0.06"), "{caveats}");
        assert!(caveats.contains("; 5 of each label can give 0.02."), "{caveats}");
        assert!(!of(5, 3).contains("So few runs"));
    }

    #[test]
    fn nothing_is_compared_with_nothing() {
        assert!(Differences::of(&[]).notes().is_empty());
        let none = [Histogram::new()];
        let all = [Runs { label: "a", runs: &none }, Runs { label: "b", runs: &none }];
        let differences = Differences::of(&all);
        assert!(differences.notes().is_empty());
        assert_eq!(differences.text().lines().count(), 3);
    }
}
