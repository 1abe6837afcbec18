//! `Style`: how a shape is painted, inherited from the elements around it. SVG 2, 13 (painting) and 14.2 (opacity).

use super::canvas::{Clip, Rgb};
use super::geometry::Transform;
use super::markup::Element;
use super::stroke::Pen;

/// The properties in force at one element.
#[derive(Clone, Debug)]
pub(super) struct Style {
    pub(super) transform: Transform,
    pub(super) clip: Clip,
    /// `None` where nothing is filled.
    pub(super) fill: Option<Rgb>,
    /// `None` where no line is drawn.
    pub(super) stroke: Option<Rgb>,
    pub(super) pen: Pen,
    pub(super) fill_opacity: f32,
    pub(super) stroke_opacity: f32,
    /// The product of its own opacity and those of its ancestors. A group of overlapping shapes is painted shape by shape.
    pub(super) opacity: f32,
    /// In pixels.
    pub(super) font_size: f32,
    pub(super) text_anchor: String,
    pub(super) is_visible: bool,
}

impl Style {
    /// The initial values.
    pub(super) fn new(clip: Clip) -> Self {
        let pen =
            Pen { width: 1.0, has_round_joins: false, has_round_caps: false, dashes: Vec::new() };
        Self {
            transform: Transform::IDENTITY,
            clip,
            fill: Some(Rgb::BLACK),
            stroke: None,
            pen,
            fill_opacity: 1.0,
            stroke_opacity: 1.0,
            opacity: 1.0,
            font_size: 16.0,
            text_anchor: String::new(),
            is_visible: true,
        }
    }

    /// The style of an element within this one: its attributes, then its `style` attribute.
    pub(super) fn of(&self, element: &Element<'_>) -> Self {
        let mut style = self.clone();
        for (name, value) in &element.attributes {
            style.set(name, value.trim());
        }
        for declaration in element.get("style").unwrap_or_default().split(';') {
            if let Some((name, value)) = declaration.split_once(':') {
                style.set(name.trim(), value.trim());
            }
        }
        style
    }

    fn set(&mut self, name: &str, value: &str) {
        let value = fallback(value);
        match name {
            "transform" => self.transform = self.transform.after(&Transform::parse(value)),
            "fill" => self.fill = colour(value, self.fill),
            "stroke" => self.stroke = colour(value, self.stroke),
            "stroke-width" => self.pen.width = number(value, self.pen.width),
            "stroke-linejoin" => self.pen.has_round_joins = value == "round",
            "stroke-linecap" => self.pen.has_round_caps = value == "round",
            "stroke-dasharray" => self.pen.dashes = dashes(value),
            "fill-opacity" => self.fill_opacity = number(value, 1.0),
            "stroke-opacity" => self.stroke_opacity = number(value, 1.0),
            "opacity" => self.opacity *= number(value, 1.0),
            "font-size" => self.font_size = number(value, self.font_size),
            "text-anchor" => value.clone_into(&mut self.text_anchor),
            "display" => self.is_visible &= value != "none",
            "visibility" => self.is_visible = value != "hidden",
            _ => {}
        }
    }
}

/// The value that a custom property falls back to: `#123456` of `var(--ink, #123456)`.
fn fallback(value: &str) -> &str {
    let inner = value.strip_prefix("var(").and_then(|rest| rest.strip_suffix(')'));
    match inner.and_then(|inner| inner.split_once(',')) {
        Some((_, fallback)) => fallback.trim(),
        None => value,
    }
}

fn number(value: &str, otherwise: f32) -> f32 {
    value.trim_end_matches("px").parse().unwrap_or(otherwise)
}

fn dashes(value: &str) -> Vec<f32> {
    let numbers = value.split([' ', ',']).filter_map(|number| number.parse().ok());
    let mut dashes: Vec<f32> = numbers.filter(|length| *length >= 0.0).collect();
    // An odd list is repeated. SVG 2, 13.5.6.
    if dashes.len() % 2 == 1 {
        dashes.extend_from_within(..);
    }
    dashes
}

/// A colour by `#rgb`, `#rrggbb`, `none`, `white` or `black`; every other value leaves what is inherited.
fn colour(value: &str, inherited: Option<Rgb>) -> Option<Rgb> {
    match value {
        "none" | "transparent" => return None,
        "black" => return Some(Rgb::BLACK),
        "white" => return Some(Rgb::WHITE),
        _ => {}
    }
    let Some(digits) = value.strip_prefix('#') else { return inherited };
    let Ok(number) = u32::from_str_radix(digits, 16) else { return inherited };
    let [_, red, green, blue] = number.to_be_bytes();
    match digits.len() {
        6 => Some(Rgb([red, green, blue])),
        3 => Some(Rgb([green & 15, blue >> 4, blue & 15].map(|digit| digit * 17))),
        _ => inherited,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::png::geometry::Point;

    #[test]
    fn colours_are_read_and_variables_fall_back() {
        let inherited = Some(Rgb([1, 2, 3]));
        for (value, expect) in [
            ("#ff8000", Some(Rgb([255, 128, 0]))),
            ("#f80", Some(Rgb([255, 136, 0]))),
            ("none", None),
            ("var(--ink, #0000ff)", Some(Rgb([0, 0, 255]))),
            ("var(--ink)", inherited),
            ("currentColor", inherited),
        ] {
            assert_eq!(colour(fallback(value), inherited), expect, "{value}");
        }
    }

    #[test]
    fn an_element_inherits_and_its_style_attribute_wins() {
        let clip = Clip { from: Point::new(0.0, 0.0), to: Point::new(1.0, 1.0) };
        let element = |name, list: &[(&'static str, &'static str)]| Element {
            name,
            attributes: list.iter().map(|(key, value)| (*key, (*value).into())).collect(),
        };
        let outer = Style::new(clip).of(&element("g", &[("fill", "#ffffff"), ("opacity", "0.5")]));
        let inner = outer.of(&element(
            "path",
            &[
                ("stroke", "#000"),
                ("style", "stroke: #f00; stroke-dasharray: 3"),
                ("opacity", "0.5"),
            ],
        ));
        assert_eq!((inner.fill, inner.stroke), (Some(Rgb::WHITE), Some(Rgb([255, 0, 0]))));
        assert_eq!((inner.opacity, inner.pen.dashes.as_slice()), (0.25, &[3.0, 3.0][..]));
    }
}
