//! `Template`: a text that differs from user to user, and from message to message. Only `{user}` and `{token}` are
//! replaced; other braces stay, since most templates are JSON.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

/// A text with places for a user's number (`{user}`) and a message's token (`{token}`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Part {
    Text(Box<str>),
    User,
    Token,
}

/// What stands for a place.
const PLACES: [(&str, Part); 2] = [("{user}", Part::User), ("{token}", Part::Token)];

impl Template {
    /// Reads a text; any is one.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let (mut parts, mut rest) = (Vec::new(), text);
        while let Some((at, place, part)) = next_place(rest) {
            if at > 0 {
                parts.push(Part::Text(rest[..at].into()));
            }
            parts.push(part);
            rest = &rest[at + place.len()..];
        }
        if !rest.is_empty() {
            parts.push(Part::Text(rest.into()));
        }
        Self { parts }
    }

    /// Whether it is the same for all users.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        !self.parts.contains(&Part::User)
    }

    /// Whether it has a place for a message's token.
    #[must_use]
    pub fn has_token(&self) -> bool {
        self.parts.contains(&Part::Token)
    }

    /// The text for a user. Users are counted from 1.
    #[must_use]
    pub fn text(&self, user: u32) -> Cow<'_, str> {
        match self.parts.as_slice() {
            [] => Cow::Borrowed(""),
            [Part::Text(text)] => Cow::Borrowed(text),
            _ => {
                let mut out = String::new();
                self.write(user, "", &mut out);
                Cow::Owned(out)
            }
        }
    }

    /// Appends the text for a user and a token.
    pub fn write(&self, user: u32, token: &str, out: &mut String) {
        for part in &self.parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::User => {
                    // Writing to a String cannot fail.
                    let _ = write!(out, "{user}");
                }
                Part::Token => out.push_str(token),
            }
        }
    }
}

/// The first place in a text.
fn next_place(text: &str) -> Option<(usize, &'static str, Part)> {
    let found = PLACES
        .iter()
        .filter_map(|(place, part)| text.find(place).map(|at| (at, *place, part.clone())));
    found.min_by_key(|(at, ..)| *at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let mut out = String::new();
        Template::new(text).write(7, "tok", &mut out);
        assert_eq!(out, expect, "{text}");
    }

    #[test]
    fn places_are_filled_and_other_braces_stay() {
        check("", "");
        check("plain", "plain");
        check("uid=Kay{user}/{user}", "uid=Kay7/7");
        check(r#"{"id":"{user}","m":"{token}"}"#, r#"{"id":"7","m":"tok"}"#);
        check("{users}{user", "{users}{user");
        check("{token}{user}{token}", "tok7tok");
    }

    #[test]
    fn a_template_without_places_is_shared() {
        let shared = Template::new(r#"{"channel":"ChatChannel"}"#);
        assert!(shared.is_shared() && !shared.has_token());
        assert!(matches!(shared.text(3), Cow::Borrowed(_)), "and not copied");
        let own = Template::new("room{user}");
        assert!(!own.is_shared());
        assert_eq!(own.text(3), "room3");
        assert!(Template::new("{token}").has_token());
    }
}
