//! `Figure`: one chart with its axes and series, whatever it shows. It becomes an interactive page, an SVG or a PNG; all
//! three draw the same data. It computes nothing.

mod data;
mod png;
mod scale;
mod svg;

pub(crate) use data::{json_list, script_data};
pub use png::PngError;
pub(crate) use png::{FONT_FAMILY, draw as png};
pub use scale::Scale;
pub(crate) use scale::{Span, number as short};
pub(crate) use svg::{shortened, shortened_to_end};

use crate::{Differences, page};

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Style {
    /// A straight line from point to point.
    Line,
    /// A line over a lightly filled area down to 0.
    Area,
    /// Each value holds until the next point's `x`, filled down to 0: a histogram.
    Steps,
    /// A mark at each point, joined by nothing; several may have one `x`. There is one mark for each point, in their order.
    Points(Vec<Mark>),
    /// A line from the bottom of the chart to its top at the `x` of each point; their `y` is not looked at.
    Upright(Stroke),
}

/// The mark of a point, told apart by its shape and not by its colour.
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

/// A series' colour: shades for a light and for a dark ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour {
    /// On a light ground, `#rrggbb`.
    pub light: &'static str,
    /// On a dark ground, `#rrggbb`.
    pub dark: &'static str,
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

const fn colour(light: &'static str, dark: &'static str) -> Colour {
    Colour { light, dark }
}

impl Colour {
    const CALM: [Self; 8] = [
        colour("#2563c9", "#6ea2f5"),
        colour("#0d8a72", "#45c7ab"),
        colour("#7a4fc4", "#b394f0"),
        colour("#4d7c1f", "#9ccc65"),
        colour("#0b7fa8", "#56bfe0"),
        colour("#5b6b84", "#9fb0c8"),
        colour("#8a6d1d", "#d8bd62"),
        colour("#a0468f", "#e08fd0"),
    ];
    const ALARM: [Self; 4] = [
        colour("#c8342f", "#f4776f"),
        colour("#c75b12", "#f2a063"),
        colour("#b3265e", "#f07aa8"),
        colour("#8f2d1c", "#e0896f"),
    ];

    /// How many colours there are for what goes well.
    pub(crate) const COUNT: usize = Self::CALM.len();

    /// Colour number `index` for what goes well; they repeat after 8.
    #[must_use]
    pub fn calm(index: usize) -> Self {
        Self::CALM[index % Self::CALM.len()]
    }

    /// Colour number `index` for errors; they repeat after 4.
    #[must_use]
    pub fn alarm(index: usize) -> Self {
        Self::ALARM[index % Self::ALARM.len()]
    }
}

impl Figure {
    /// One self-contained page with the chart: zoom, reset, log scale and PNG export; light and dark; no network access.
    #[must_use]
    pub fn html(&self) -> String {
        page::figure(self, "")
    }

    /// The same page with the differences between the labelled results below the chart.
    #[must_use]
    pub fn html_with(&self, differences: &Differences) -> String {
        let mut tables = String::new();
        differences.tables(&mut tables);
        let mut figure = self.clone();
        figure.notes.extend(differences.caveats());
        page::figure(&figure, &tables)
    }

    /// The chart as SVG with axes, ticks and legend. The size is cut to [`Size::MIN`]..=[`Size::MAX`].
    #[must_use]
    pub fn svg(&self, size: Size) -> String {
        svg::draw(self, size.clamped())
    }

    /// The same picture as PNG, its text in the font that comes with us.
    ///
    /// # Errors
    /// The picture could not be drawn or encoded, which is a bug of ours.
    pub fn png(&self, size: Size) -> Result<Vec<u8>, PngError> {
        png::draw(&self.svg(size))
    }
}
