//! Texts that must fit into a picture.

/// Mean width of a character of 12 px text, in pixels: enough to place texts without measuring them.
pub(super) const CHAR_WIDTH: f64 = 7.0;

/// The text, cut to at most `max` characters; the last one is then an ellipsis.
pub(crate) fn shortened(label: &str, max: usize) -> String {
    if label.chars().count() <= max {
        return label.to_owned();
    }
    let start: String = label.chars().take(max.saturating_sub(1)).collect();
    start + "…"
}

/// The same, cut at the start: names with a common start differ at their ends.
pub(crate) fn shortened_to_end(label: &str, max: usize) -> String {
    let count = label.chars().count();
    if count <= max {
        return label.to_owned();
    }
    let end = label.chars().skip(count - max.saturating_sub(1));
    std::iter::once('…').chain(end).collect()
}

/// The width of a 12 px text in pixels, estimated.
pub(super) fn width(text: &str) -> f64 {
    CHAR_WIDTH * text.chars().count() as f64
}
