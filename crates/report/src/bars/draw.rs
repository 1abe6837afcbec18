//! Bars as SVG, in plain shapes that every viewer draws in the same way.

use std::fmt::Write as _;

use super::model::{BARS_MAX, Bar, BarChart};
use crate::escape;
use crate::figure::{Colour, FONT_FAMILY, Ground, Ink, Scale, Span, short, shortened};

/// A chart's size in pixels, about that of seed 002's.
const WIDTH: f64 = 470.0;
const HEIGHT: f64 = 290.0;
/// Lines of notes below a sheet, at most.
const NOTES_MAX: usize = 6;

/// Adds a line; writing to a `String` cannot fail.
fn push(out: &mut String, line: std::fmt::Arguments<'_>) {
    let _ = writeln!(out, "{line}");
}

/// The meaning of the bars' colours.
#[derive(Clone, Copy)]
pub(crate) enum Palette {
    /// None: all bars have one colour, their labels stand below them.
    One,
    /// Each label has a colour of its own, which its curves on the same page have too.
    Labels,
}

impl Palette {
    fn of(self, number: usize) -> usize {
        match self {
            Self::One => 0,
            Self::Labels => number % Colour::COUNT,
        }
    }
}

/// One chart as a picture of its own.
pub(super) fn alone(chart: &BarChart, palette: Palette) -> String {
    let (title, medians) = (escape::xml(&chart.heading()), escape::xml(&medians(chart)));
    format!(
        "<svg class=\"bars\" role=\"img\" aria-label=\"{title}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"100%\" font-size=\"12\" fill=\"{}\">\n<desc>{medians}</desc>\n{}</svg>",
        Ground::Page.ink(Ink::Text),
        panel(chart, Ground::Page, palette)
    )
}

/// The median of each label, for screen readers.
fn medians(chart: &BarChart) -> String {
    let median = |bar: &Bar| Some(format!("{} {}", bar.label, short(bar.range()?[1])));
    let all: Vec<String> = chart.bars.iter().take(BARS_MAX).filter_map(median).collect();
    all.join(", ")
}

/// All charts in rows of up to three.
pub(super) fn sheet(title: &str, charts: &[&BarChart], notes: &[String]) -> String {
    let ground = Ground::Paper;
    let across = match charts.len() {
        0 | 1 => 1,
        2 | 4 => 2,
        _ => 3,
    };
    let down = charts.len().div_ceil(across).max(1);
    let notes = &notes[..notes.len().min(NOTES_MAX)];
    let width = WIDTH * across as f64;
    let foot = 50.0 + HEIGHT * down as f64;
    let height = foot + 16.0 * notes.len() as f64 + 10.0;
    let mut out = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="{FONT_FAMILY}, system-ui, sans-serif" font-size="12" fill="{}">
<rect width="{width}" height="{height}" fill="#ffffff"/>
<text x="20" y="30" font-size="16" fill="{}">{}</text>
"##,
        ground.ink(Ink::Text),
        ground.ink(Ink::Title),
        escape::xml(&shortened(title, (width / 10.0) as usize)),
    );
    for (number, chart) in charts.iter().enumerate() {
        let (x, y) = (WIDTH * (number % across) as f64, 50.0 + HEIGHT * (number / across) as f64);
        push(
            &mut out,
            format_args!(
                "<g transform=\"translate({x} {y})\">\n{}</g>",
                panel(chart, ground, Palette::One)
            ),
        );
    }
    for (number, note) in notes.iter().enumerate() {
        let (y, fill) = (foot + 12.0 + 16.0 * number as f64, ground.ink(Ink::Faint));
        let note = escape::xml(&shortened(note, (width / 6.5) as usize));
        push(
            &mut out,
            format_args!(r#"<text x="20" y="{y}" font-size="11" fill="{fill}">{note}</text>"#),
        );
    }
    out + "</svg>\n"
}

/// One chart within `WIDTH` and `HEIGHT`.
fn panel(chart: &BarChart, ground: Ground, palette: Palette) -> String {
    let bars = &chart.bars[..chart.bars.len().min(BARS_MAX)];
    let (left, right, top, bottom) = (64.0, WIDTH - 18.0, 46.0, HEIGHT - 34.0);
    let values = bars.iter().flat_map(|bar| bar.values.iter().copied());
    // Room for the figure above the tallest bar.
    let span = Span::over(Scale::Linear, values.map(|value| value * 1.06)).with_headroom();
    let at_y = |value: f64| bottom - span.place(value) * (bottom - top);
    let mut out = String::new();
    let (title, heading) = (ground.ink(Ink::Title), escape::xml(&shortened(&chart.heading(), 60)));
    push(
        &mut out,
        format_args!(r#"<text x="20" y="24" font-size="14" fill="{title}">{heading}</text>"#),
    );
    let (line, faint) = (ground.ink(Ink::Line), ground.ink(Ink::Faint));
    for (value, text) in span.ticks(5) {
        let at = at_y(value);
        push(
            &mut out,
            format_args!(r#"<path d="M{left:.1} {at:.1}H{right:.1}" stroke="{line}"/>"#),
        );
        let (beside, below) = (left - 8.0, at + 4.0);
        push(
            &mut out,
            format_args!(
                r#"<text x="{beside:.1}" y="{below:.1}" text-anchor="end" fill="{faint}">{text}</text>"#
            ),
        );
    }
    let room = (right - left) / bars.len().max(1) as f64;
    for (number, bar) in bars.iter().enumerate() {
        let colour = palette.of(number);
        let place = Place { middle: left + room * (number as f64 + 0.5), room, colour };
        one_bar(&mut out, bar, &place, &at_y, ground);
        let (below, middle) = (bottom + 18.0, place.middle);
        let label = escape::xml(&shortened(&bar.label, ((room / 6.8) as usize).max(2)));
        push(
            &mut out,
            format_args!(
                r#"<text x="{middle:.1}" y="{below:.1}" text-anchor="middle">{label}</text>"#
            ),
        );
    }
    out
}

/// The place of a bar.
struct Place {
    middle: f64,
    room: f64,
    /// The number of its bar's colour.
    colour: usize,
}

/// A bar up to the median, its value above it, whisker and dots where there are several runs.
fn one_bar(out: &mut String, bar: &Bar, place: &Place, at_y: &dyn Fn(f64) -> f64, ground: Ground) {
    let Some([low, median, high]) = bar.range() else { return };
    let wide = (place.room * 0.62).min(92.0);
    let (middle, x, calm) = (place.middle, place.middle - wide / 2.0, place.colour);
    let (zero, y) = (at_y(0.0), at_y(median));
    let (upper, height) = (y.min(zero), (zero - y).abs());
    let fill = ground.of(Colour::calm(calm));
    push(
        out,
        format_args!(
            r#"<rect class="calm{calm}" x="{x:.1}" y="{upper:.2}" width="{wide:.1}" height="{height:.2}" rx="2" fill="{fill}"/>"#
        ),
    );
    let mut above = upper;
    if bar.values.len() > 1 {
        let (from, to, cap) = (at_y(low), at_y(high), (wide / 6.0).min(9.0));
        let (left, right) = (middle - cap, middle + cap);
        let stroke = ground.ink(Ink::Title);
        push(
            out,
            format_args!(
                r#"<path class="whisker" d="M{middle:.1} {from:.1}V{to:.1}M{left:.1} {from:.1}H{right:.1}M{left:.1} {to:.1}H{right:.1}" fill="none" stroke="{stroke}"/>"#
            ),
        );
        for value in bar.values.iter().filter(|value| value.is_finite()).take(DOTS_MAX) {
            let (cx, cy) = (middle + wide / 4.0, at_y(*value));
            push(
                out,
                format_args!(
                    r#"<circle cx="{cx:.1}" cy="{cy:.1}" r="2.6" fill="{stroke}" fill-opacity="0.55"/>"#
                ),
            );
        }
        above = above.min(to);
    }
    let (up, text) = (above - 6.0, short(median));
    if place.room >= 30.0 {
        push(
            out,
            format_args!(r#"<text x="{middle:.1}" y="{up:.1}" text-anchor="middle">{text}</text>"#),
        );
    }
}

/// Dots of one bar, at most; the whisker shows the others' range.
const DOTS_MAX: usize = 200;
