//! PNG of an SVG that this crate wrote: parsed, drawn and encoded here, in memory, with one font. It is no general SVG
//! renderer: it supports the elements that [`super::svg`] writes, and skips every other.

mod canvas;
mod encode;
mod font;
mod geometry;
mod markup;
mod path;
mod render;
mod stroke;
mod style;

pub(crate) use font::FONT_FAMILY;
pub use render::PngError;
pub(crate) use render::draw;
