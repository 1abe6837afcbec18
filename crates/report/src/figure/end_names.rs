//! The names of lines for their right ends, and the room that they take. It draws nothing.

use super::model::{Figure, Series, Style};
use super::words;

/// Pixels to the right of the frame that every picture has.
pub(super) const BESIDE: f64 = 20.0;
/// Pixels between the frame and a name.
pub(super) const GAP: f64 = 6.0;
/// Lines with a name at their end, at most: more would be a list.
const LINES_MAX: usize = 6;
/// Characters of a name, at most.
const CHARS: usize = 14;
/// The share of a picture's width that names may take.
const SHARE: f64 = 0.25;
/// Some names have wider letters than the mean.
const WIDER: f64 = 1.15;

/// The names by the number of the series, for a picture of this width; `None` where one line needs none, where names are
/// alike, and where there is no room.
pub(super) fn names(figure: &Figure, width: f64) -> Option<Vec<String>> {
    let mut lines: Vec<String> =
        figure.series.iter().filter(|series| is_line(series)).map(name).collect();
    let count = lines.len();
    lines.sort_unstable();
    lines.dedup();
    if !(2..=LINES_MAX).contains(&count) || lines.len() != count {
        return None;
    }
    let names: Vec<String> = figure.series.iter().map(name).collect();
    (self::width(&names) <= width * SHARE).then_some(names)
}

/// Pixels from the frame to the end of the widest name.
pub(super) fn width(names: &[String]) -> f64 {
    GAP + names.iter().map(|name| words::width(name)).fold(0.0, f64::max) * WIDER
}

pub(super) fn is_line(series: &Series) -> bool {
    matches!(series.style, Style::Line | Style::Area)
}

/// A label without what follows a bracket or a colon, cut where it is long.
fn name(series: &Series) -> String {
    let label = series.label.as_str();
    let end = [" (", ": "].iter().filter_map(|sign| label.find(sign)).min().unwrap_or(label.len());
    words::shortened(&label[..end], CHARS)
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Colour, Scale};
    use super::*;

    fn figure(labels: &[&str]) -> Figure {
        let axis = || Axis { label: String::new(), scale: Scale::Linear };
        let line = |label: &&str| Series {
            label: (*label).to_owned(),
            style: Style::Line,
            colour: Colour::calm(0),
            points: Vec::new(),
        };
        let series = labels.iter().map(line).collect();
        Figure { title: String::new(), x: axis(), y: axis(), series, notes: Vec::new() }
    }

    #[test]
    fn one_line_and_many_lines_have_none() {
        let labels = ["a", "b", "c", "d", "e", "f", "g"];
        for count in [1, 7] {
            assert_eq!(names(&figure(&labels[..count]), 800.0), None, "{count}");
        }
        assert_eq!(names(&figure(&["a: OK", "a: ERROR"]), 800.0), None, "alike");
        assert_eq!(names(&figure(&["a line", "another line"]), 300.0), None, "no room");
        let names = names(&figure(&["Response (from due)", "b"]), 800.0);
        assert_eq!(names, Some(vec!["Response".to_owned(), "b".to_owned()]));
    }
}
