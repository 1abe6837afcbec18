//! The values of a figure as a table, folded below its picture: for screen readers, for copying, for paper without colours.
//! Where series have too many points for a table, it has each series' range instead.

use std::fmt::Write as _;

use super::model::{Figure, Series, Style};
use super::scale::{Scale, number as short};
use crate::escape;
use crate::number::counted;

/// Rows of a table, at most: of more values with one axis every n-th is in it.
const ROWS_MAX: usize = 120;

/// The folded table; empty for a figure without values.
pub(crate) fn details(figure: &Figure) -> String {
    let series: Vec<&Series> = figure
        .series
        .iter()
        .filter(|one| !matches!(one.style, Style::Upright(_)) && has_values(one))
        .collect();
    if series.is_empty() {
        return String::new();
    }
    let (heads, rows, note) = match places(&series) {
        Some((places, every)) => at_places(figure, &series, &places, every),
        None => ranges(figure, &series),
    };
    let notes: String = note
        .into_iter()
        .chain(uprights(figure))
        .map(|note| format!("<p class=\"note\">{}</p>", escape::xml(&note)))
        .collect();
    folded_table(&figure.title, &heads, &rows).replacen("</details>", &(notes + "</details>"), 1)
}

/// A folded table: its heads, and rows of a name and values. Texts are escaped here.
pub(crate) fn folded_table(title: &str, heads: &[String], rows: &[Vec<String>]) -> String {
    let mut out = format!(
        "<details class=\"values\"><summary>Values as a table</summary><div class=\"scroll\" data-name=\"Values: {}\"><table>\n<thead><tr>",
        escape::xml(title)
    );
    // Writing to a String cannot fail.
    for head in heads {
        let _ = write!(out, "<th scope=\"col\">{}</th>", escape::xml(head));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        let mut cells = row.iter().map(|cell| escape::xml(cell));
        let first = cells.next().unwrap_or_default();
        let rest: String = cells.map(|cell| format!("<td>{cell}</td>")).collect();
        let _ = writeln!(out, "<tr><th scope=\"row\">{first}</th>{rest}</tr>");
    }
    out + "</tbody></table></div></details>"
}

fn has_values(series: &Series) -> bool {
    series.points.iter().any(|point| point.1.is_finite())
}

/// The places on the horizontal axis that have a row, and every how many-th of all they are; `None` where series do not
/// share their places and have too many.
fn places(series: &[&Series]) -> Option<(Vec<f64>, usize)> {
    let of = |one: &Series| -> Vec<f64> { one.points.iter().map(|point| point.0).collect() };
    let filled = series.iter().flat_map(|one| &one.points).filter(|point| point.1.is_finite());
    let mut all: Vec<f64> = filled.map(|point| point.0).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    if series.iter().all(|one| one.style == Style::Steps) {
        // The last edge closes the last bin.
        all.pop();
    }
    if all.is_empty() {
        return None;
    }
    let every = all.len().div_ceil(ROWS_MAX);
    let first = of(series[0]);
    if every > 1 && !series.iter().all(|one| of(one) == first) {
        return None;
    }
    let last = all.last().copied().filter(|_| !(all.len() - 1).is_multiple_of(every));
    Some((all.into_iter().step_by(every).chain(last).collect(), every))
}

type Table = (Vec<String>, Vec<Vec<String>>, Option<String>);

/// A row for each place, a column for each series.
fn at_places(figure: &Figure, series: &[&Series], places: &[f64], every: usize) -> Table {
    let from = if series.iter().all(|one| one.style == Style::Steps) { ", from" } else { "" };
    let head = format!("{}{from}", figure.x.label);
    let heads = std::iter::once(head).chain(series.iter().map(|one| one.label.clone()));
    let row = |x: &f64| {
        let values = series.iter().map(|one| values_at(one, *x));
        std::iter::once(place(figure, *x)).chain(values).collect()
    };
    let note = (every > 1).then(|| format!("One value of {every} is in the table."));
    (heads.collect(), places.iter().map(row).collect(), note)
}

/// All values of a series at one place.
fn values_at(series: &Series, x: f64) -> String {
    let from = series.points.partition_point(|point| point.0 < x);
    let here = series.points[from..].iter().take_while(|point| point.0 == x).enumerate();
    let texts: Vec<String> = here
        .filter(|(_, point)| point.1.is_finite())
        .map(|(at, point)| match &series.style {
            Style::Band(low) => format!("{} to {}", short(low[from + at]), short(point.1)),
            _ => short(point.1),
        })
        .collect();
    texts.join(", ")
}

/// The range of each series.
fn ranges(figure: &Figure, series: &[&Series]) -> Table {
    let heads = ["", "points", "from", "to", "least", "median", "greatest"].map(str::to_owned);
    let row = |one: &&Series| {
        let mut values: Vec<f64> =
            one.points.iter().map(|point| point.1).filter(|y| y.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        let [first, last] = [one.points.first(), one.points.last()]
            .map(|point| point.map_or(String::new(), |point| place(figure, point.0)));
        let at = |index: usize| values.get(index).map_or(String::new(), |value| short(*value));
        let (end, count) = (values.len().saturating_sub(1), values.len().to_string());
        vec![one.label.clone(), count, first, last, at(0), at(end / 2), at(end)]
    };
    let note = format!("from, to: {}. Others: {}.", figure.x.label, figure.y.label);
    (heads.into(), series.iter().map(row).collect(), Some(note))
}

/// A value of the horizontal axis.
fn place(figure: &Figure, x: f64) -> String {
    match figure.x.scale {
        Scale::Nines => {
            let digits = (x.log10().floor() as usize).max(1);
            let text = format!("{:.digits$}", 100.0 - 100.0 / x);
            format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
        }
        Scale::Linear | Scale::Log => short(x),
    }
}

/// Lines from bottom to top, in words.
fn uprights(figure: &Figure) -> impl Iterator<Item = String> + '_ {
    let lines = figure.series.iter().filter(|one| matches!(one.style, Style::Upright(_)));
    lines.map(|one| {
        let at: Vec<String> =
            one.points.iter().take(ROWS_MAX).map(|p| place(figure, p.0)).collect();
        let more = one.points.len().saturating_sub(ROWS_MAX) as u64;
        let more =
            if more > 0 { format!(" and {}", counted(more, "more line")) } else { String::new() };
        format!("{}: {}{more}", one.label, at.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Colour, Stroke};
    use super::*;

    fn figure(scale: Scale, series: Vec<(Style, Vec<(f64, f64)>)>) -> Figure {
        let axis = |scale| Axis { label: "s".to_owned(), scale };
        let named = |(at, (style, points)): (usize, (Style, Vec<(f64, f64)>))| Series {
            label: format!("series {at}"),
            style,
            colour: Colour::calm(at),
            points,
        };
        Figure {
            title: "<t>".to_owned(),
            x: axis(scale),
            y: axis(Scale::Linear),
            series: series.into_iter().enumerate().map(named).collect(),
            notes: Vec::new(),
        }
    }

    fn rows(html: &str) -> Vec<&str> {
        html.split("<tr><th scope=\"row\">")
            .skip(1)
            .map(|row| &row[..row.find("</tr>").unwrap()])
            .collect()
    }

    #[test]
    fn every_value_of_a_short_figure_is_in_its_table() {
        let line = vec![(0.0, 1.0), (1.0, f64::NAN), (2.0, 3.5), (2.0, 4.0)];
        let band = vec![(0.0, 2.0), (1.0, 5.0), (2.0, 6.0)];
        let upright = (Style::Upright(Stroke::Solid), vec![(1.5, f64::NAN)]);
        let band = (Style::Band(vec![1.0, 0.25, 3.0]), band);
        let html = details(&figure(Scale::Linear, vec![(Style::Line, line), band, upright]));
        let expect = [
            "0</th><td>1</td><td>1 to 2</td>",
            "1</th><td></td><td>0.25 to 5</td>",
            "2</th><td>3.5, 4</td><td>3 to 6</td>",
        ];
        assert_eq!(rows(&html), expect, "{html}");
        assert!(html.contains("series 2: 1.5") && html.contains("Values: &lt;t&gt;"), "{html}");
    }

    #[test]
    fn the_last_edge_of_a_histogram_is_no_row() {
        let bins = vec![(1.0, 60.0), (2.0, 40.0), (3.0, 0.0)];
        let html = details(&figure(Scale::Log, vec![(Style::Steps, bins)]));
        assert_eq!(rows(&html), ["1</th><td>60</td>", "2</th><td>40</td>"]);
        assert!(html.contains("s, from"), "{html}");
    }

    #[test]
    fn long_tables_are_thinned_and_keep_the_last_value() {
        let all: Vec<(f64, f64)> = (0..=1000).map(|n| (f64::from(n), f64::from(n))).collect();
        let html = details(&figure(Scale::Linear, vec![(Style::Line, all.clone()); 2]));
        let rows = rows(&html);
        assert!(rows.len() <= ROWS_MAX + 1, "{}", rows.len());
        assert_eq!(rows.last(), Some(&"1000</th><td>1000</td><td>1000</td>"));
        assert!(html.contains("One value of 9"), "{html}");
        let mut other = all.clone();
        other[5].0 = 5.5;
        let html = details(&figure(Scale::Linear, vec![(Style::Line, all), (Style::Line, other)]));
        let ranges = self::rows(&html);
        assert_eq!(
            ranges[0],
            "series 0</th><td>1001</td><td>0</td><td>1000</td><td>0</td><td>500</td><td>1000</td>"
        );
        assert_eq!(ranges.len(), 2);
    }

    #[test]
    fn percentiles_stand_by_their_nines() {
        let points = vec![(1.0, 1.0), (2.0, 2.0), (10.0, 3.0), (1000.0, 4.0)];
        let html = details(&figure(Scale::Nines, vec![(Style::Line, points)]));
        let firsts: Vec<&str> =
            rows(&html).iter().map(|row| &row[..row.find('<').unwrap()]).collect();
        assert_eq!(firsts, ["0%", "50%", "90%", "99.9%"]);
    }

    #[test]
    fn a_figure_without_values_has_no_table() {
        assert_eq!(details(&figure(Scale::Linear, vec![(Style::Line, Vec::new())])), "");
    }
}
