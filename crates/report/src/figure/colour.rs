//! Colours: those of series, and those of texts and lines. In a picture of its own they are written out; inside a page
//! they are CSS variables, so that the page can be light or dark.

use std::borrow::Cow;
use std::fmt::Write as _;

/// A series' colour: its name, and its shades for a light and for a dark ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour {
    /// Its name: the CSS variable of a page, without the two dashes.
    pub name: &'static str,
    /// On a light ground, `#rrggbb`.
    pub light: &'static str,
    /// On a dark ground, `#rrggbb`.
    pub dark: &'static str,
}

const fn colour(name: &'static str, light: &'static str, dark: &'static str) -> Colour {
    Colour { name, light, dark }
}

impl Colour {
    const CALM: [Self; 8] = [
        colour("calm0", "#2563c9", "#6ea2f5"),
        colour("calm1", "#0d8a72", "#45c7ab"),
        colour("calm2", "#7a4fc4", "#b394f0"),
        colour("calm3", "#4d7c1f", "#9ccc65"),
        colour("calm4", "#0b7fa8", "#56bfe0"),
        colour("calm5", "#5b6b84", "#9fb0c8"),
        colour("calm6", "#8a6d1d", "#d8bd62"),
        colour("calm7", "#a0468f", "#e08fd0"),
    ];
    const ALARM: [Self; 4] = [
        colour("alarm0", "#c8342f", "#f4776f"),
        colour("alarm1", "#c75b12", "#f2a063"),
        colour("alarm2", "#b3265e", "#f07aa8"),
        colour("alarm3", "#8f2d1c", "#e0896f"),
    ];

    /// The client's response times where there is one line of them, their median, and counts of its requests. The same
    /// thing has the same colour on all charts of a page.
    pub const RESPONSE: Self = Self::CALM[0];
    /// The 95th percentile of the client's response times.
    pub const RESPONSE_P95: Self = Self::CALM[2];
    /// The 99th percentile of the client's response times.
    pub const RESPONSE_P99: Self = Self::CALM[7];
    /// The client's service times.
    pub const SERVICE: Self = Self::CALM[1];
    /// What was asked of the client.
    pub const ASKED: Self = Self::CALM[5];
    /// Failed requests.
    pub const ERRORS: Self = Self::ALARM[0];
    /// The server's times by its log, and its counts.
    pub const SERVER: Self = Self::CALM[3];
    /// The 99th percentile of the server's times.
    pub const SERVER_P99: Self = Self::CALM[6];
    /// The part of the server's times in views.
    pub const VIEWS: Self = Self::CALM[4];
    /// The part of the server's times in the database.
    pub const DATABASE: Self = Self::ALARM[1];

    /// The number of colours for successes.
    pub(crate) const COUNT: usize = Self::CALM.len();

    /// Colour number `index` for successes; they repeat after 8.
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

/// The colours of a picture beside those of its series. The names are variables of `web/src/style.css`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    /// Titles and emphasis.
    Title,
    /// Other texts.
    Text,
    /// Ticks and notes.
    Faint,
    /// The grid.
    Line,
}

impl Ink {
    /// The CSS variable without its dashes, and the shade on a light ground.
    const fn shades(self) -> (&'static str, &'static str) {
        match self {
            Self::Title => ("ink", "#161b22"),
            Self::Text => ("text", "#39424e"),
            Self::Faint => ("faint", "#6b7684"),
            Self::Line => ("line", "#e3e7ec"),
        }
    }
}

/// What a picture is drawn on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ground {
    /// White paper: every colour is written out, for viewers that know no CSS variables.
    Paper,
    /// The page around it: every colour is a CSS variable, with the light shade as its fallback.
    Page,
}

impl Ground {
    /// The colour of texts and lines as an attribute's value.
    pub(crate) fn ink(self, ink: Ink) -> Cow<'static, str> {
        let (name, light) = ink.shades();
        self.value(name, light)
    }

    /// The colour of a series as an attribute's value.
    pub(crate) fn of(self, colour: Colour) -> Cow<'static, str> {
        self.value(colour.name, colour.light)
    }

    fn value(self, name: &str, light: &'static str) -> Cow<'static, str> {
        match self {
            Self::Paper => Cow::Borrowed(light),
            Self::Page => Cow::Owned(format!("var(--{name},{light})")),
        }
    }
}

/// The CSS variables of all series' colours, for light pages and paper, and for dark screens.
pub(crate) fn variables() -> String {
    let all = || Colour::CALM.iter().chain(&Colour::ALARM);
    let (mut light, mut dark) = (String::new(), String::new());
    for colour in all() {
        // Writing to a String cannot fail.
        let _ = write!(light, "--{}:{};", colour.name, colour.light);
        let _ = write!(dark, "--{}:{};", colour.name, colour.dark);
    }
    format!(":root{{{light}}}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_have_both_shades_of_every_colour() {
        let css = variables();
        let (light, dark) = css.split_once("@media").unwrap();
        for colour in Colour::CALM.iter().chain(&Colour::ALARM) {
            assert!(light.contains(&format!("--{}:{};", colour.name, colour.light)));
            assert!(dark.contains(&format!("--{}:{};", colour.name, colour.dark)));
        }
    }

    #[test]
    fn paper_has_no_variables() {
        assert_eq!(Ground::Paper.of(Colour::calm(0)), "#2563c9");
        assert_eq!(Ground::Page.of(Colour::calm(0)), "var(--calm0,#2563c9)");
        assert_eq!(Ground::Page.ink(Ink::Line), "var(--line,#e3e7ec)");
    }
}
