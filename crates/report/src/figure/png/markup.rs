//! A pull parser of the XML that this crate writes: elements, attributes in double quotes, text with the predefined entities.
//! It reads no namespaces, no document type and no CDATA.

use std::borrow::Cow;

/// One part of a document.
#[derive(Debug, PartialEq)]
pub(super) enum Event<'t> {
    Open(Element<'t>),
    Close,
    /// Text between tags; never empty.
    Text(Cow<'t, str>),
}

/// A start tag.
#[derive(Debug, PartialEq)]
pub(super) struct Element<'t> {
    pub(super) name: &'t str,
    /// Names and values in the order of the text.
    pub(super) attributes: Vec<(&'t str, Cow<'t, str>)>,
}

impl Element<'_> {
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| *key == name).map(|(_, value)| value.as_ref())
    }

    /// The number of an attribute, with or without the unit `px`; 0 where it is missing or is no number.
    pub(super) fn number(&self, name: &str) -> f32 {
        let number = |text: &str| text.trim().trim_end_matches("px").parse().ok();
        self.get(name).and_then(number).unwrap_or(0.0)
    }
}

/// The parts of a document, in its order. It ends at the first part that is not well formed.
pub(super) struct Events<'t> {
    rest: &'t str,
    /// The element opened last had no content: its end is the next event.
    is_empty: bool,
}

impl<'t> Events<'t> {
    pub(super) const fn new(text: &'t str) -> Self {
        Self { rest: text, is_empty: false }
    }

    /// What was not read: empty after a document that is well formed.
    pub(super) const fn rest(&self) -> &'t str {
        self.rest
    }

    fn text(&mut self) -> Event<'t> {
        let end = self.rest.find('<').unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        Event::Text(unescaped(text))
    }

    /// The element of the start tag at the front.
    fn element(&mut self) -> Option<Event<'t>> {
        let end = tag_end(self.rest)?;
        let (tag, rest) = (&self.rest[1..end], &self.rest[end + 1..]);
        let inner = tag.strip_suffix('/');
        let is_empty = inner.is_some();
        let tag = inner.unwrap_or(tag).trim();
        let (name, mut list) = tag.split_once(char::is_whitespace).unwrap_or((tag, ""));
        let mut attributes = Vec::new();
        while !list.trim_start().is_empty() {
            let (key, value) = list.split_once('=')?;
            let (value, after) = value.trim_start().strip_prefix('"')?.split_once('"')?;
            attributes.push((key.trim(), unescaped(value)));
            list = after;
        }
        (self.rest, self.is_empty) = (rest, is_empty);
        Some(Event::Open(Element { name, attributes }))
    }
}

impl<'t> Iterator for Events<'t> {
    type Item = Event<'t>;

    fn next(&mut self) -> Option<Event<'t>> {
        if std::mem::take(&mut self.is_empty) {
            return Some(Event::Close);
        }
        loop {
            if let Some(comment) = self.rest.strip_prefix("<!--") {
                self.rest = comment.split_once("-->")?.1;
            } else if self.rest.starts_with("<?") {
                self.rest = self.rest.split_once("?>")?.1;
            } else {
                break;
            }
        }
        if self.rest.is_empty() {
            return None;
        }
        if self.rest.starts_with("</") {
            self.rest = self.rest.split_once('>')?.1;
            return Some(Event::Close);
        }
        if self.rest.starts_with('<') { self.element() } else { Some(self.text()) }
    }
}

/// The offset of the `>` that ends the tag at the front: one within quotes does not.
fn tag_end(text: &str) -> Option<usize> {
    let mut in_quotes = false;
    text.bytes().position(|byte| {
        in_quotes ^= byte == b'"';
        byte == b'>' && !in_quotes
    })
}

/// Text with its entities replaced; one that is not predefined or a number stays as it is.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        let entity = after.split_once(';').and_then(|(name, rest)| Some((entity(name)?, rest)));
        rest = match entity {
            Some((letter, rest)) => {
                out.push(letter);
                rest
            }
            None => {
                out.push('&');
                after
            }
        };
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn entity(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix('x') {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str, rest: &str) {
        let mut events = Events::new(text);
        let mut seen = String::new();
        for event in events.by_ref() {
            match event {
                Event::Open(element) => {
                    seen += &format!("<{}", element.name);
                    for (key, value) in &element.attributes {
                        seen += &format!(" {key}={value}");
                    }
                    seen += ">";
                }
                Event::Close => seen += "</>",
                Event::Text(text) => seen += &text,
            }
        }
        assert_eq!((seen.as_str(), events.rest()), (expect, rest), "{text}");
    }

    #[test]
    fn events_come_in_the_order_of_the_text() {
        check("<a><b x=\"1\" y=\"2 > 1\"/>t</a>", "<a><b x=1 y=2 > 1></>t</>", "");
        check(
            "<?xml?><!-- <c> --><a>1 &lt; 2 &amp; &#39;3&#x27; &nbsp;</a>",
            "<a>1 < 2 & '3' &nbsp;</>",
            "",
        );
        check("<a\n  k = \"v\"\n></a>", "<a k=v></>", "");
    }

    #[test]
    fn what_is_not_well_formed_ends_the_events() {
        check("<a><b x=1></b>", "<a>", "<b x=1></b>");
        check("<a", "", "<a");
    }
}
