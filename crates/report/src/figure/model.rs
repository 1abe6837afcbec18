//! `Figure`: one chart with its axes and series, as values. Nothing here draws.

use super::colour::Colour;
use super::scale::Scale;

/// One chart: a title, two axes, series, and notes on what was left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// What it shows; the page's title too.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The series, in the order of the legend.
    pub series: Vec<Series>,
    /// What a reader must know: points thinned, series left out.
    pub notes: Vec<String>,
}

/// One axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// What is measured, with its unit.
    pub label: String,
    /// How values are spread along it.
    pub scale: Scale,
}

/// What is drawn in one colour.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub label: String,
    /// How its points are drawn.
    pub style: Style,
    /// Its colour.
    pub colour: Colour,
    /// Its points `(x, y)`, by rising `x`, in the axes' units. A `y` that is not finite is a gap.
    pub points: Vec<(f64, f64)>,
}

/// How a series' points are drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum Style {
    /// A straight line from point to point.
    Line,
    /// A line over a lightly filled area down to 0.
    Area,
    /// Each value extends to the next point's `x`, filled down to 0: a histogram.
    Steps,
    /// The area between each point and the lower edge at the same `x`, which is given for each point in their order.
    Band(Vec<f64>),
    /// A mark at each point, joined by nothing; several may have one `x`. There is one mark for each point, in their order.
    Points(Vec<Mark>),
    /// A line from the bottom of the chart to its top at the `x` of each point; their `y` is ignored.
    Upright(Stroke),
}

/// The mark of a point, with a shape of its own, so that it does not depend on colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A filled circle.
    Dot,
    /// Two strokes across each other.
    Cross,
    /// The outline of a triangle.
    Triangle,
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    /// Without a gap.
    Solid,
    /// In dashes.
    Dashed,
}

impl Mark {
    /// Its name in a page's data.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Dot => "dot",
            Self::Cross => "cross",
            Self::Triangle => "triangle",
        }
    }
}

/// The size of a picture in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
}

impl Default for Size {
    fn default() -> Self {
        Self { width: 1200, height: 600 }
    }
}

impl Size {
    /// The least size a chart can be read at.
    pub const MIN: Self = Self { width: 320, height: 200 };
    /// The greatest size; a PNG of it takes 256 MiB while it is drawn.
    pub const MAX: Self = Self { width: 8192, height: 8192 };

    /// This size, cut to [`Size::MIN`]..=[`Size::MAX`].
    #[must_use]
    pub fn clamped(self) -> Self {
        Self {
            width: self.width.clamp(Self::MIN.width, Self::MAX.width),
            height: self.height.clamp(Self::MIN.height, Self::MAX.height),
        }
    }
}
