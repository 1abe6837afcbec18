//! `Differences`: labelled results against the first of them, as text, JSON, a table of a page and notes of a picture, with
//! what must be known to believe them.

use metrics::Histogram;
use stdx::Nanos;
use study::compare::{Comparison, Unit, compare, pooled};
use study::contrast::RUNS_MIN;

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
}

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
        let rows = all.split_first().map_or(Vec::new(), |(first, rest)| {
            let compared = |one: &&Runs<'_>| one.runs.iter().any(|run| run.count() > 0);
            let comparisons = rest.iter().filter(compared).count();
            let found = |other: &Runs<'_>| {
                let found = compare(first.runs, other.runs, comparisons)?;
                Some(Row { label: other.label.to_owned(), against: first.label.to_owned(), found })
            };
            rest.iter().filter_map(found).collect()
        });
        Self { labels: all.iter().map(side).collect(), rows }
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
        if self.rows.iter().any(|row| row.found.p.is_none()) {
            caveats.push(format!(
                "Fewer than {RUNS_MIN} runs of a label are not judged: the requests of one run depend on one another, so however many \
                 there are, they do not show by how much the next run would differ."
            ));
        }
        if self.rows.iter().any(|row| row.found.p.is_some()) {
            let count = counted(self.rows.len() as u64, "comparison");
            caveats.push(format!(
                "p and intervals are made as in brunt compare where the median is judged first: adjusted for its metrics of response times, and for {count} with the first label."
            ));
        }
        caveats
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
            format!("{:.1}%", found.superiority * 100.0),
            found.p.map_or("none".to_owned(), |(_, adjusted)| share(adjusted)),
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
            "{label} against {against}, of {unit}: shift {shift} (95 % interval: {interval}), p {p}, Kolmogorov-Smirnov distance {distance}."
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
            .float("u", found.u)
            .put("p", optional(found.p.map(|both| both.0)))
            .put("p_adjusted", optional(found.p.map(|both| both.1)))
            .put("exact", "false")
            .float("superiority", found.superiority)
            .float("shift", found.shift.estimate)
            .put("shift_low", bound(|both| both.0))
            .put("shift_high", bound(|both| both.1))
            .float("ks_distance", found.distance.distance)
            .put("ks_p", ks_p)
            .end()
    }
}

fn optional(value: Option<f64>) -> String {
    value.map_or("null".to_owned(), crate::number::go_json)
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
    use serde_json::Value;

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
        let value: Value = serde_json::from_str(&differences.json()).unwrap();
        let [same, slow] = [0, 1].map(|at| value["comparisons"][at].clone());
        assert!(same["p_adjusted"].is_null() && slow["p"].is_null(), "{same} {slow}");
        assert_eq!((&slow["unit"], &slow["shift_low"]), (&"request".into(), &Value::Null));
        let shift = slow["shift"].as_f64().unwrap() / 1e6;
        assert!((shift - 5.0).abs() < 0.6, "{shift}");
        assert!(value["caveats"][0].as_str().unwrap().contains("depend on one another"));
        assert!(differences.text().contains("slow\u{fffd}"), "{}", differences.text());
        let mut page = String::new();
        differences.tables(&mut page);
        assert!(page.contains("&lt;four&gt;") && !page.contains("<four>"));
        assert_eq!(differences.notes().len(), 3);
    }

    #[test]
    fn repeats_are_compared_by_runs() {
        let runs = |from: u64, slower| (from..from + 5).map(|s| run(s, slower)).collect::<Vec<_>>();
        let (a, b) = (runs(10, 0.0), runs(20, 0.3));
        let both = [Runs { label: "a", runs: &a }, Runs { label: "b", runs: &b }];
        let value: Value = serde_json::from_str(&Differences::of(&both).json()).unwrap();
        let found = &value["comparisons"][0];
        assert_eq!(found["unit"], "run");
        let [p, adjusted] = ["p", "p_adjusted"].map(|key| found[key].as_f64().unwrap());
        assert!(p < 0.01 && (1.0..=4.0).contains(&(adjusted / p)), "one of four measures: {found}");
        assert!(found["shift_low"].as_f64().unwrap() > 0.0, "{found}");
        assert_eq!(found["ks_p"], Value::Null);
        let caveats = value["caveats"].to_string();
        assert!(caveats.contains("made as in brunt compare"), "{caveats}");
        let few = [Runs { label: "a", runs: &a[..2] }, Runs { label: "b", runs: &b[..2] }];
        let text = Differences::of(&few).text();
        assert!(text.contains("Fewer than 3 runs of a label are not judged"), "{text}");
    }

    /// Three comparisons widen each interval, and triple each p.
    #[test]
    fn more_labels_make_chance_likelier() {
        let runs = |from: u64, slower: f64| -> Vec<Histogram> {
            (from..from + 4).map(|seed| run(seed, slower)).collect()
        };
        let sides = [runs(10, 0.0), runs(20, 0.05), runs(30, 0.05), runs(40, 0.1)];
        let p = |labels: usize| {
            let all: Vec<Runs<'_>> =
                sides[..labels].iter().map(|runs| Runs { label: "a", runs }).collect();
            let value: Value = serde_json::from_str(&Differences::of(&all).json()).unwrap();
            value["comparisons"][0]["p_adjusted"].as_f64().unwrap()
        };
        assert!((p(4) - (3.0 * p(2)).min(1.0)).abs() < 1e-9, "{} {}", p(2), p(4));
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
