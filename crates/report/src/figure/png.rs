//! PNG of an SVG of ours, drawn in memory with the font that crate `dejavu` carries: no system fonts, no files.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};
use thiserror::Error;

/// Why a picture could not be drawn: a bug of ours, since the SVG is ours.
#[derive(Debug, Error)]
pub enum PngError {
    /// The SVG did not parse.
    #[error("drawing the picture: {0}")]
    Svg(#[from] resvg::usvg::Error),
    /// The picture has no pixels, or too many.
    #[error("drawing the picture: impossible size {width}x{height}")]
    Size {
        /// Pixels across.
        width: f32,
        /// Pixels down.
        height: f32,
    },
    /// The pixels could not be encoded.
    #[error("encoding the picture: {0}")]
    Encode(Box<dyn std::error::Error + Send + Sync>),
}

/// The font of every picture.
pub(crate) const FONT_FAMILY: &str = "DejaVu Sans";

static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    Arc::new(fonts)
});

pub(crate) fn draw(svg: &str) -> Result<Vec<u8>, PngError> {
    let options = Options {
        font_family: FONT_FAMILY.to_owned(),
        fontdb: Arc::clone(&FONTS),
        ..Options::default()
    };
    let tree = Tree::from_str(svg, &options)?;
    let (width, height) = (tree.size().width(), tree.size().height());
    let mut pixels =
        Pixmap::new(width as u32, height as u32).ok_or(PngError::Size { width, height })?;
    resvg::render(&tree, Transform::identity(), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| PngError::Encode(error.into()))
}
