//! A figure inside a page: its picture and its legend. They show all there is to see without a script; the script draws
//! the same picture anew at the size there is, and makes it answer.

use super::colour::{Ground, Ink};
use super::frame::{Area, Frame};
use super::legend;
use super::model::{Figure, Series, Size, Style};
use super::scale::number as short;
use super::svg;
use crate::escape;

/// Series named in a picture's description; the rest is counted.
const NAMED_MAX: usize = 6;

/// The content of a figure's `<div class="chart">`: its picture of that size, and its legend.
pub(crate) fn card_content(figure: &Figure, size: Size) -> String {
    let (width, height) = (f64::from(size.width), f64::from(size.height));
    let outer = Area { left: 0.0, right: width - 20.0, top: 0.0, bottom: height };
    let ground = Ground::Page;
    let mut out = format!(
        "<svg class=\"plot\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\" font-size=\"12\" fill=\"{}\">\n",
        escape::xml(&description(figure)),
        ground.ink(Ink::Text),
    );
    out.push_str(&format!("<desc>{}</desc>\n", escape::xml(&ranges(figure))));
    svg::plot(&mut out, figure, &Frame::within(figure, outer), ground);
    out + "</svg>\n" + &legend::list(figure)
}

/// The range of each series that has values, for screen readers.
fn ranges(figure: &Figure) -> String {
    let range = |series: &Series| {
        let lows = match &series.style {
            Style::Upright(_) => return None,
            Style::Band(low) => low.as_slice(),
            _ => &[],
        };
        let values = series.points.iter().map(|point| point.1).chain(lows.iter().copied());
        let (low, high) = values
            .filter(|value| value.is_finite())
            .fold((f64::MAX, f64::MIN), |(low, high), y| (low.min(y), high.max(y)));
        (low <= high).then(|| format!("{} from {} to {}", series.label, short(low), short(high)))
    };
    let all: Vec<String> = figure.series.iter().filter_map(range).take(NAMED_MAX).collect();
    all.join("; ")
}

/// The picture in a sentence, for screen readers.
fn description(figure: &Figure) -> String {
    let names: Vec<&str> =
        figure.series.iter().take(NAMED_MAX).map(|series| series.label.as_str()).collect();
    let more = match figure.series.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let (y, x) = (&figure.y.label, &figure.x.label);
    format!("{}: {y} by {x}; {}{more}", figure.title, names.join(", "))
}
