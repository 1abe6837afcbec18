//! `Frame`: the positions of a figure's values and ticks on a picture. It draws nothing.

use super::end_names;
use super::model::{Figure, Style};
use super::scale::{Span, Tick};
use super::words;

/// A rectangle in pixels, y downwards.
#[derive(Clone, Copy)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

/// The area that series are drawn in, the one around it for texts, and the scales along the sides.
pub(super) struct Frame {
    pub(super) outer: Area,
    pub(super) area: Area,
    x: Span,
    y: Span,
    pub(super) x_ticks: Vec<Tick>,
    pub(super) y_ticks: Vec<Tick>,
    /// The names at the ends of lines, by the number of the series.
    pub(super) ends: Option<Vec<String>>,
}

/// Pixels above the frame, for the vertical axis' label.
const ABOVE: f64 = 28.0;
/// Pixels below the frame, for ticks and the horizontal axis' label.
const BELOW: f64 = 44.0;
/// Pixels that texts beside the vertical axis take at the least: charts below one another then have one left edge.
const TEXT_MIN: f64 = 35.0;
/// Pixels between a vertical tick's text and the frame.
pub(super) const TICK_GAP: f64 = 8.0;
/// Pixels between the texts of two horizontal ticks, at least.
const TEXT_GAP: f64 = 10.0;
/// Pixels of one horizontal and one vertical tick: how many there is room for.
const TICK_ROOM: (f64, f64) = (72.0, 44.0);

impl Frame {
    /// The frame of a figure within an area that has room for texts as well.
    pub(super) fn within(figure: &Figure, outer: Area) -> Self {
        let values = |of: fn(&(f64, f64)) -> f64| {
            figure.series.iter().flat_map(move |s| s.points.iter().map(of))
        };
        let is_mark = |style: &Style| matches!(style, Style::Points(_) | Style::Upright(_));
        let has_marks = figure.series.iter().any(|series| is_mark(&series.style));
        let x = Span::along(figure.x.scale, values(|point| point.0), has_marks);
        let lows = figure.series.iter().flat_map(|series| match &series.style {
            Style::Band(low) => low.as_slice(),
            _ => &[],
        });
        let heights = values(|point| point.1).chain(lows.copied());
        let y = Span::over(figure.y.scale, heights).with_headroom();
        let (top, bottom) = (outer.top + ABOVE, outer.bottom - BELOW);
        let y_ticks = y.ticks(((bottom - top) / TICK_ROOM.1) as usize + 1);
        let widest = y_ticks.iter().map(|tick| words::width(&tick.1)).fold(TEXT_MIN, f64::max);
        let left = (outer.left + widest + TICK_GAP).ceil();
        let ends = end_names::names(figure, outer.right + end_names::BESIDE - outer.left);
        let beside =
            ends.as_deref().map_or(0.0, |names| end_names::width(names) - end_names::BESIDE);
        let area = Area { left, right: outer.right - beside.max(0.0).ceil(), top, bottom };
        let wanted = ((area.right - area.left) / TICK_ROOM.0) as usize + 1;
        let mut frame = Self { outer, area, x, y, x_ticks: x.ticks(wanted), y_ticks, ends };
        frame.part_ticks();
        frame
    }

    /// Drops each horizontal tick with a text that would touch the one before it.
    fn part_ticks(&mut self) {
        let mut free = f64::MIN;
        let ticks = std::mem::take(&mut self.x_ticks);
        self.x_ticks = ticks
            .into_iter()
            .filter(|(value, text)| {
                let (at, half) = (self.across(*value), words::width(text) / 2.0);
                let fits = at - half >= free;
                if fits {
                    free = at + half + TEXT_GAP;
                }
                fits
            })
            .collect();
    }

    /// The pixel of a value on the horizontal axis.
    pub(super) fn across(&self, value: f64) -> f64 {
        self.area.left + self.x.place(value) * (self.area.right - self.area.left)
    }

    /// The pixel of a value on the vertical axis.
    pub(super) fn down(&self, value: f64) -> f64 {
        self.area.bottom - self.y.place(value) * (self.area.bottom - self.area.top)
    }
}
