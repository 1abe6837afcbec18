//! A sheet of bars as a page, a picture, text and JSON.

use std::fmt::Write as _;

use super::draw::{self, Palette};
use super::model::{BARS_MAX, Bar, BarChart, BarSheet, CHARTS_MAX};
use crate::columns::Columns;
use crate::figure::{PngError, folded_table, png, short, shortened};
use crate::number::counted;
use crate::object::{Object, json_list};
use crate::{escape, page};

/// Characters of a label in a page's table.
const LABEL_MAX: usize = 40;

impl BarSheet {
    /// One self-contained page with the charts and the values below them.
    #[must_use]
    pub fn html(&self) -> String {
        let mut body = format!("<main><header><h1>{}</h1></header>\n", escape::xml(&self.title));
        self.pictures(&mut body, Palette::One, |_| String::new());
        let heads = ["", "label", "median", "least", "greatest", "runs"];
        let rows: Vec<Vec<String>> = self.rows().map(with_short_label).collect();
        page::table(&mut body, "Values", &heads, &rows, 0);
        body.push_str("<footer>\n");
        for note in self.notes() {
            let _ = writeln!(body, "<p>{}</p>", escape::xml(&note));
        }
        body.push_str("</footer></main>");
        page::shell(&self.title, &body, &[])
    }

    /// Each chart in a card of its own with its values, for a page whose curves have the labels' colours.
    pub(crate) fn cards(&self, out: &mut String) {
        self.pictures(out, Palette::Labels, values);
    }

    fn pictures(&self, out: &mut String, palette: Palette, below: impl Fn(&BarChart) -> String) {
        out.push_str("<div class=\"pair\">\n");
        for chart in self.drawn() {
            let (drawn, below) = (draw::alone(chart, palette), below(chart));
            // Writing to a String cannot fail.
            let _ = writeln!(out, "<section class=\"card\">{drawn}{below}</section>");
        }
        out.push_str("</div>\n");
    }

    /// All charts in one picture.
    #[must_use]
    pub fn svg(&self) -> String {
        let charts: Vec<&BarChart> = self.drawn().collect();
        draw::sheet(&self.title, &charts, &self.notes())
    }

    /// The same picture as PNG.
    ///
    /// # Errors
    /// The picture could not be drawn or encoded, which is a bug of ours.
    pub fn png(&self) -> Result<Vec<u8>, PngError> {
        png(&self.svg())
    }

    /// The values as a table.
    #[must_use]
    pub fn text(&self) -> String {
        let mut columns = Columns::default().right(&[2, 3, 4, 5]);
        columns.row(["Metric", "Label", "median", "least", "greatest", "runs"].map(str::to_owned));
        for row in self.rows() {
            columns.row(row.map(|cell| escape::terminal(&cell)));
        }
        let notes: String = self.notes().iter().map(|note| escape::terminal(note) + "\n").collect();
        columns.lines() + &notes
    }

    /// The values as one line of JSON.
    #[must_use]
    pub fn json(&self) -> String {
        let bar = |bar: &Bar| {
            let [low, median, high] = bar.range().unwrap_or_default();
            let values = bar.values.iter().map(|value| crate::number::go_json(*value));
            Object::new()
                .text("label", &bar.label)
                .float("median", median)
                .float("low", low)
                .float("high", high)
                .put("values", json_list(values))
                .end()
        };
        let chart = |chart: &BarChart| {
            Object::new()
                .text("name", &chart.name)
                .text("title", &chart.title)
                .text("unit", &chart.unit)
                .put("bars", json_list(chart.bars.iter().map(bar)))
                .end()
        };
        let notes = self.notes.iter().map(|note| escape::json(note));
        Object::new()
            .put("metrics", json_list(self.charts.iter().map(chart)))
            .put("notes", json_list(notes))
            .end()
            + "\n"
    }

    /// The charts there is room for.
    fn drawn(&self) -> impl Iterator<Item = &BarChart> {
        self.charts.iter().take(CHARTS_MAX)
    }

    /// The notes, and what there was no room for.
    fn notes(&self) -> Vec<String> {
        let mut notes = self.notes.clone();
        if self.charts.iter().any(|chart| chart.bars.iter().any(|bar| bar.values.len() > 1)) {
            notes.push(
                "Bars are medians of runs; whiskers reach from the least to the greatest run."
                    .to_owned(),
            );
        }
        let charts = self.charts.len().saturating_sub(CHARTS_MAX);
        if charts > 0 {
            notes.push(format!("Not drawn: {}.", counted(charts as u64, "further chart")));
        }
        let bars = self.charts.iter().map(|chart| chart.bars.len()).max().unwrap_or(0);
        if bars > BARS_MAX {
            notes.push(format!(
                "Not drawn: {}.",
                counted((bars - BARS_MAX) as u64, "further label")
            ));
        }
        notes
    }

    /// Metric, label, median, least, greatest, runs.
    fn rows(&self) -> impl Iterator<Item = [String; 6]> + '_ {
        self.charts.iter().flat_map(|chart| {
            chart.bars.iter().map(move |bar| {
                let [label, median, low, high, runs] = bar_row(bar);
                [chart.heading(), label, median, low, high, runs]
            })
        })
    }
}

/// Label, median, least, greatest, runs.
fn bar_row(bar: &Bar) -> [String; 5] {
    let range = bar.range().map(|range| range.map(short));
    let [low, median, high] = range.unwrap_or([const { String::new() }; 3]);
    [bar.label.clone(), median, low, high, bar.values.len().to_string()]
}

/// The values of one chart, folded.
fn values(chart: &BarChart) -> String {
    let heads = ["", "median", "least", "greatest", "runs"].map(str::to_owned);
    let rows: Vec<Vec<String>> = chart.bars.iter().map(|bar| bar_row(bar).into()).collect();
    folded_table(&chart.heading(), &heads, &rows)
}

/// A row of a page's table, where a long label would take the width of the values.
fn with_short_label(mut row: [String; 6]) -> Vec<String> {
    row[1] = shortened(&row[1], LABEL_MAX);
    Vec::from(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(label: &str, values: &[f64]) -> Bar {
        Bar { label: label.into(), values: values.into() }
    }

    fn sheet(bars: Vec<Bar>) -> BarSheet {
        let chart = BarChart {
            name: "rate".into(),
            title: "Requests per second".into(),
            unit: "1/s".into(),
            bars,
        };
        BarSheet { title: "Proxies".into(), charts: vec![chart], notes: Vec::new() }
    }

    /// Seed 002's three proxies.
    fn seed() -> BarSheet {
        sheet(vec![bar("hash", &[21.41]), bar("round-robin", &[39.73]), bar("first", &[40.07])])
    }

    #[test]
    fn a_long_label_leaves_the_values_their_room() {
        let long = "label-".repeat(20);
        let html = sheet(vec![bar(&long, &[1.0]), bar("short", &[2.0])]).html();
        let cut = format!(">{}…</td>", &long[..LABEL_MAX - 1]);
        assert!(html.contains(&cut) && html.contains("<td>short</td>"), "{html}");
        assert!(sheet(vec![bar(&long, &[1.0])]).json().contains(&long), "JSON has all of it");
    }

    #[test]
    fn the_median_stands_between_its_neighbours() {
        assert_eq!(bar("a", &[3.0, 1.0, 2.0]).range(), Some([1.0, 2.0, 3.0]));
        assert_eq!(bar("a", &[4.0, f64::NAN, 1.0]).range(), Some([1.0, 2.5, 4.0]));
        assert_eq!(bar("a", &[]).range(), None);
    }

    #[test]
    fn heights_are_to_scale() {
        let svg = seed().svg();
        let document = bar_heights(&svg);
        let [hash, round_robin, first] = document[..] else { panic!("three bars: {document:?}") };
        assert!((round_robin / hash - 39.73 / 21.41).abs() < 0.02, "{document:?}");
        assert!((first / hash - 40.07 / 21.41).abs() < 0.02, "{document:?}");
    }

    /// The heights of the bars of a picture.
    fn bar_heights(svg: &str) -> Vec<f64> {
        let bars = svg.split("<rect class=\"calm").skip(1);
        let height = |bar: &str| {
            let at = bar.split("height=\"").nth(1)?.split('"').next()?;
            at.parse::<f64>().ok()
        };
        bars.filter_map(height).collect()
    }

    #[test]
    fn repeats_have_whiskers_and_dots() {
        let svg = sheet(vec![bar("a", &[1.0, 2.0, 4.0]), bar("b", &[3.0])]).svg();
        assert_eq!(
            (svg.matches("<circle").count(), svg.matches("class=\"whisker\"").count()),
            (3, 1)
        );
        assert!(svg.contains("Bars are medians of runs"));
    }

    #[test]
    fn texts_cannot_break_out() {
        let evil = sheet(vec![bar("</svg><b>x", &[1.0]), bar("\u{1b}[2J", &[])]);
        for text in [evil.svg(), evil.html(), evil.json()] {
            assert!(!text.contains("<b>x"), "{text}");
        }
        for text in [evil.svg(), evil.html(), evil.json(), evil.text()] {
            assert!(!text.contains('\u{1b}'), "{text}");
        }
        assert!(evil.png().unwrap().starts_with(b"\x89PNG"));
    }

    #[test]
    fn what_finds_no_room_is_counted() {
        let mut many = sheet((0..BARS_MAX + 3).map(|n| bar(&n.to_string(), &[1.0])).collect());
        many.charts = vec![many.charts[0].clone(); CHARTS_MAX + 2];
        let svg = many.svg();
        assert!(svg.contains("Not drawn: 2 further charts."), "{svg:.900}");
        assert!(svg.contains("Not drawn: 3 further labels."));
        assert_eq!(svg.matches("<rect class=\"calm").count(), BARS_MAX * CHARTS_MAX);
    }

    #[test]
    fn bars_have_one_colour_unless_curves_share_the_page() {
        let colours = |page: &str| -> Vec<String> {
            let bars = page.split("<rect class=\"").skip(1);
            bars.map(|bar| bar[..bar.find('"').unwrap()].to_owned()).collect()
        };
        assert_eq!(colours(&seed().html()), ["calm0"; 3]);
        let mut study = String::new();
        seed().cards(&mut study);
        assert_eq!(colours(&study), ["calm0", "calm1", "calm2"]);
        assert!(study.contains("<desc>hash 21.41, round-robin 39.73, first 40.07</desc>"));
        assert!(study.contains("<details class=\"values\">") && study.contains("<td>39.73</td>"));
    }

    #[test]
    fn values_as_text_and_json() {
        assert!(
            seed().text().contains("Requests per second (1/s)  round-robin"),
            "{}",
            seed().text()
        );
        let value: serde_json::Value = serde_json::from_str(&seed().json()).unwrap();
        assert_eq!(value["metrics"][0]["bars"][1]["median"], 39.73);
        assert_eq!(value["metrics"][0]["name"], "rate");
    }
}
