//! `Figure`: one chart with its axes and series, whatever it shows. It becomes an interactive page, an SVG or a PNG; all
//! three draw the same data. It computes nothing.

mod axes;
mod colour;
mod dash;
mod data;
mod end_names;
mod ends;
mod frame;
mod inline;
mod legend;
mod model;
mod path;
mod png;
mod render;
mod scale;
mod series;
mod svg;
mod values;
mod words;

pub use colour::Colour;
pub(crate) use colour::{Ground, Ink, variables};
pub(crate) use data::script_data;
pub(crate) use inline::card_content;
pub use model::{Axis, Figure, Mark, Series, Size, Stroke, Style};
pub use png::PngError;
pub(crate) use png::{FONT_FAMILY, draw as png};
pub use scale::Scale;
pub(crate) use scale::{Span, number as short};
pub(crate) use values::{details, folded_table};
pub(crate) use words::{shortened, shortened_to_end};
