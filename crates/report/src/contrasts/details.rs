//! What a comparison's verdicts rest on, for readers who want to check them: the noise, p, and the distributions. It comes last.

use study::contrast::{Change, Distance, LEVEL};

use super::{Contrasts, Row, by};
use crate::columns::Columns;
use crate::{escape, page};

const HEADS: [&str; 4] = ["Metric", "noise floor", "p", "p of all metrics"];
const TITLE: &str = "Details";

impl Contrasts {
    pub(super) fn details_text(&self) -> String {
        let mut out = String::new();
        for row in &self.rows {
            out.push_str(&format!("\n{TITLE}: {}\n", escape::terminal(&self.heading(row))));
            let mut table = Columns::default().right(&[1, 2, 3]);
            table.row(HEADS.map(str::to_owned));
            row.found.changes.iter().for_each(|change| table.row(cells(change)));
            out.push_str(&table.lines());
            row.distributions().iter().for_each(|line| out.push_str(&format!("{line}\n")));
        }
        out
    }

    pub(super) fn details_markdown(&self) -> String {
        let mut out = String::new();
        for row in &self.rows {
            let heading = escape::markdown(&self.heading(row));
            out.push_str(&format!("\n<details><summary>{TITLE}: {heading}</summary>\n\n"));
            out.push_str(&format!("| {} |\n|---|---:|---:|---:|\n", HEADS.join(" | ")));
            for change in &row.found.changes {
                out.push_str(&format!("| {} |\n", cells(change).join(" | ")));
            }
            out.push('\n');
            for line in row.distributions() {
                out.push_str(&format!("{}\n", escape::markdown(&line)));
            }
            out.push_str("\n</details>\n");
        }
        out
    }

    /// Folded, below everything else of a page.
    pub(super) fn details_html(&self, out: &mut String) {
        for row in &self.rows {
            let heading = escape::xml(&self.heading(row));
            out.push_str(&format!("<details><summary>{TITLE}: {heading}</summary>\n"));
            let rows: Vec<Vec<String>> =
                row.found.changes.iter().map(|change| cells(change).into()).collect();
            page::table(out, "Noise and chance", &HEADS, &rows, 0);
            for line in row.distributions() {
                out.push_str(&format!("<p class=\"faint\">{}</p>\n", escape::xml(&line)));
            }
            out.push_str("</details>\n");
        }
    }
}

impl Row {
    /// The distances of the distributions, in a sentence each.
    fn distributions(&self) -> [String; 2] {
        let found = &self.found;
        let repeated = found.runs.0 > 1 && found.runs.1 > 1;
        let end = |distance: &Distance, yes: &str, no: &str| match () {
            () if !repeated => "one run of a variant does not show whether by chance".to_owned(),
            () if distance.p <= LEVEL => yes.to_owned(),
            () if found.p_least > LEVEL => "so few runs do not show whether by chance".to_owned(),
            () => no.to_owned(),
        };
        let p = |distance: &Distance| {
            if repeated { format!(", p {}", share(distance.p)) } else { String::new() }
        };
        let (all, spread) = (&found.distance, &found.spread);
        [
            format!(
                "Distribution: Kolmogorov-Smirnov distance {:.3}{}: {}.",
                all.distance,
                p(all),
                end(all, "it changed", "no change is seen"),
            ),
            format!(
                "Spread about the median: distance {:.3}{}: {}.",
                spread.distance,
                p(spread),
                end(spread, "the spread changed", "no change is seen"),
            ),
        ]
    }
}

fn cells(change: &Change) -> [String; 4] {
    let none = || "none".to_owned();
    let judged = change.interval.is_some();
    let p = |p: f64| if judged { share(p) } else { none() };
    [
        change.measure.name().to_owned(),
        change.floor.map_or_else(none, |floor| by(change.measure, floor).replacen('+', "±", 1)),
        p(change.p),
        p(change.p_family),
    ]
}

/// A p-value.
fn share(p: f64) -> String {
    if p < 0.001 { "<0.001".to_owned() } else { format!("{p:.3}") }
}
