//! A comparison as a page: the findings, the shift over the quantiles, the curves of all variants, and the figures.

use metrics::Histogram;
use study::contrast::{Finding, QuantileShift};

use super::{Contrasts, Row, SIDE_HEADS, Variant, cells, change_cells};
use crate::figure::{Axis, Colour, Figure, Scale, Series, Style};
use crate::overlay::{Curve, percentiles};
use crate::{conclusion, escape, page};

/// Characters of a label in a figure's title, beside its buttons.
const TITLE_MAX: usize = 22;

impl Contrasts {
    /// As one self-contained page.
    #[must_use]
    pub fn html(&self) -> String {
        let mut body = format!("<main><header><h1>{}</h1></header>\n", escape::xml(&self.title));
        let conclusion = self.conclusion();
        if !conclusion.is_empty() {
            conclusion::card(&mut body, &conclusion);
        }
        for row in &self.rows {
            self.comparison(&mut body, row);
        }
        let figures = self.figures();
        page::charts(&mut body, &figures);
        let rows: Vec<Vec<String>> = self.variants.iter().map(|side| cells(side).into()).collect();
        page::table(&mut body, "Variants, means over runs", &SIDE_HEADS, &rows, 0);
        self.details_html(&mut body);
        body.push_str("<footer>\n");
        for caution in self.cautions() {
            body.push_str(&format!("<p>{}</p>\n", escape::xml(&capital(&caution))));
        }
        body.push_str("</footer></main>");
        page::shell(&self.title, &body, &figures)
    }

    /// The cautions, and which runs are missing, as sentences of a page that has its own conclusion.
    pub(crate) fn notes(&self) -> Vec<String> {
        let all = self.missing_runs().into_iter().chain(self.cautions());
        all.map(|sentence| capital(&sentence)).collect()
    }

    /// Every comparison with its table, for a page that has more than these.
    pub(crate) fn comparisons(&self, out: &mut String) {
        self.rows.iter().for_each(|row| self.comparison(out, row));
    }

    fn comparison(&self, out: &mut String, row: &Row) {
        let heading = self.heading(row);
        let (class, words) = summary(row);
        out.push_str(&format!("<p><span class=\"badge {class}\">{words}</span></p>\n"));
        if !row.is_like_for_like() {
            let warned = "Not like for like: see the notes at the end.";
            out.push_str(&format!("<ul class=\"reasons bad\"><li>{warned}</li></ul>\n"));
        }
        let rows: Vec<Vec<String>> =
            row.found.changes.iter().map(|change| in_page(change_cells(change)).into()).collect();
        let heads = in_page(self.heads(row, str::to_owned));
        page::table(out, &heading, &heads.each_ref().map(String::as_str), &rows, 0);
    }

    /// The shift of each variant, and the curves of all.
    pub(crate) fn figures(&self) -> Vec<Figure> {
        let shift = |row: &Row| shift_figure(row, &self.short(&row.label, TITLE_MAX));
        let mut figures: Vec<Figure> = self.rows.iter().map(shift).collect();
        let pooled: Vec<(&str, Histogram)> =
            self.variants.iter().map(|side| (side.label.as_str(), pooled(side))).collect();
        let curves: Vec<Curve<'_>> =
            pooled.iter().map(|(label, times)| Curve { label, times }).collect();
        figures.push(percentiles("Response times by percentile", &curves));
        figures
    }
}

/// A row with the verdict first and the figures that it rests on last: a narrow screen shows the first columns.
fn in_page([metric, first, other, change, interval, verdict]: [String; 6]) -> [String; 6] {
    [metric, verdict, change, interval, first, other]
}

fn pooled(variant: &Variant) -> Histogram {
    let mut all = Histogram::default();
    variant.runs.iter().for_each(|run| all.merge(&run.figures.times));
    all
}

/// The findings of a comparison, the gravest first: `worse: latency.p50, throughput`.
fn summary(row: &Row) -> (&'static str, String) {
    let of = |finding: Finding| {
        let found = row.found.changes.iter().filter(move |change| change.finding == finding);
        let names: Vec<&str> = found.map(|change| change.measure.name()).collect();
        (!names.is_empty()).then(|| format!("{}: {}", finding.name(), names.join(", ")))
    };
    let (worse, better) = (of(Finding::Worse), of(Finding::Better));
    let class = if worse.is_some() { "bad" } else { "good" };
    let both: Vec<String> = worse.into_iter().chain(better).collect();
    match (both.is_empty(), of(Finding::CannotTell)) {
        (false, _) => (class, both.join("; ")),
        (true, Some(_)) if !row.found.is_enough() => ("faint", "too few runs to tell".to_owned()),
        (true, Some(open)) => ("faint", open),
        (true, None) => ("good", "same".to_owned()),
    }
}

/// The shift function of a variant by this name: by how much each quantile changed, with its interval, and no change at all.
fn shift_figure(row: &Row, name: &str) -> Figure {
    let shifts = &row.found.shifts;
    let line = |label: &str, colour, points: Vec<(f64, f64)>| Series {
        label: label.to_owned(),
        style: Style::Line,
        colour,
        points,
    };
    let points = |of: &dyn Fn(&QuantileShift) -> Option<f64>| {
        let point = |shift: &QuantileShift| Some((shift.percent, of(shift)? * 100.0));
        shifts.iter().filter_map(point).collect::<Vec<(f64, f64)>>()
    };
    let mut series = vec![line("change", Colour::calm(0), points(&|shift| Some(shift.change)))];
    let [low, high] = [points(&|s| s.interval.map(|i| i.0)), points(&|s| s.interval.map(|i| i.1))];
    if !high.is_empty() {
        let style = Style::Band(low.into_iter().map(|(_, low)| low).collect());
        let label = "95 % interval".to_owned();
        series.push(Series { label, style, colour: Colour::calm(0), points: high });
    }
    series.push(line("no change", Colour::calm(5), vec![(0.0, 0.0), (100.0, 0.0)]));
    Figure {
        title: format!("Shift of {name}"),
        x: Axis { label: "Share of requests (%)".to_owned(), scale: Scale::Linear },
        y: Axis { label: "Change of the time (%)".to_owned(), scale: Scale::Linear },
        series,
        notes: Vec::new(),
    }
}

/// The sentence with its first letter large.
fn capital(sentence: &str) -> String {
    let mut chars = sentence.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
