//! The places of secrets in texts, by the names beside them: members of JSON, arguments of GraphQL, elements and attributes of XML,
//! parameters of forms and addresses. A text is read once and never as a whole value: it may be cut off, nested in another one, or
//! of no form at all.

use std::ops::Range;

use super::spelling::{Spelling, decoded, unescaped};
use crate::secret_words::{is_searched, may_name_secret, names_value_secret};

/// How far before its value a name begins at most, in bytes.
const NAME_BYTES_MAX: usize = 100;
/// How long the tag of an element may be, in bytes.
const TAG_BYTES_MAX: usize = 256;
/// How many blanks may stand between a name and its value.
const BLANKS_MAX: usize = 64;
/// What ends a value without quotation marks.
const ENDS: &[char] = &['&', ';', ',', '"', '\'', '<', '>', '\\', '(', ')', '{', '}', '#'];
/// What stands between the parts of a multipart body, but for the boundary itself: RFC 2046, 5.1.1.
const NEXT_PART: &str = "\r\n--";

/// Where a secret stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) range: Range<usize>,
    pub(super) spelling: Spelling,
}

impl Place {
    /// A place that is none without a value.
    fn of(range: Range<usize>, spelling: Spelling) -> Option<Self> {
        (!range.is_empty()).then_some(Self { range, spelling })
    }

    /// The secret as it is, without the spelling of its text.
    pub(super) fn secret(&self, text: &str) -> String {
        self.spelling.read(&text[self.range.clone()])
    }

    /// Whether a value of this name is a secret: one whose name says it, or may say it and which looks like one.
    fn is_secret_of(&self, name: &str, text: &str) -> bool {
        names_value_secret(name) || is_searched(&text[self.range.clone()])
    }

    fn moved(self, by: usize) -> Self {
        Self { range: self.range.start + by..self.range.end + by, ..self }
    }
}

/// The places in a text of any form, in their order.
pub(super) fn of_text(text: &str) -> impl Iterator<Item = Place> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let is_sign = |byte: &u8| matches!(byte, b':' | b'=' | b'>');
            let sign = at + text.as_bytes()[at..].iter().position(is_sign)?;
            at = sign + 1;
            let found = match text.as_bytes()[sign] {
                b'>' => element(text, sign),
                _ => pair(text, sign),
            };
            if let Some(place) = found {
                at = place.range.end;
                return Some(place);
            }
        }
    })
}

/// The places in a form or a query, where `&` alone ends a value.
pub(super) fn of_form(text: &str) -> impl Iterator<Item = Place> + '_ {
    pieces(text, "&").filter_map(|(at, piece)| parameter(piece).map(|place| place.moved(at)))
}

/// The places in a body of several parts.
pub(super) fn of_parts(text: &str) -> impl Iterator<Item = Place> + '_ {
    pieces(text, NEXT_PART).filter_map(|(at, part)| {
        let (head, value) = part.split_once("\r\n\r\n")?;
        let (_, name) = head.split_once("name=\"")?;
        let begin = at + part.len() - value.len();
        may_name_secret(name.split('"').next()?)
            .then(|| Place::of(begin..begin + value.len(), Spelling::Plain))?
    })
}

/// The places in an address: its password, parameters of its path, its query and its fragment.
pub(super) fn of_address(url: &str) -> Vec<Place> {
    let path_len = url.find(['?', '#']).unwrap_or(url.len());
    let (path, rest) = url.split_at(path_len);
    let in_path = pieces(path, "/").flat_map(|(at, segment)| {
        let later = pieces(segment, ";").skip(1);
        later.filter_map(move |(inner, piece)| parameter(piece).map(|one| one.moved(at + inner)))
    });
    let in_rest = pieces(rest, "#").flat_map(|(at, piece)| {
        let skip = piece.len() - piece.trim_start_matches(['?', '/', '!']).len();
        of_form(&piece[skip..]).map(move |place| place.moved(path_len + at + skip))
    });
    password(path).into_iter().chain(in_path).chain(in_rest).collect()
}

/// The password before the host.
fn password(path: &str) -> Option<Place> {
    let begin = path.find("//")? + 2;
    let authority = path[begin..].split('/').next()?;
    let user = &authority[..authority.rfind('@')?];
    let colon = user.find(':')?;
    Place::of(begin + colon + 1..begin + user.len(), Spelling::Percent)
}

/// The pieces of a text, each with its place.
fn pieces<'a>(text: &'a str, between: &'a str) -> impl Iterator<Item = (usize, &'a str)> + 'a {
    let mut at = 0;
    text.split(between).map(move |piece| {
        let begin = at;
        at += piece.len() + between.len();
        (begin, piece)
    })
}

fn parameter(piece: &str) -> Option<Place> {
    let equals = piece.find('=')?;
    let name = decoded(&piece[..equals]);
    may_name_secret(&name).then(|| Place::of(equals + 1..piece.len(), Spelling::Percent))?
}

/// The value after a name and a colon or an equals sign.
fn pair(text: &str, sign: usize) -> Option<Place> {
    let name = name_before(text, sign)?;
    if !may_name_secret(&name) {
        return None;
    }
    let place = quoted(text, sign + 1).or_else(|| bare(text, sign))?;
    place.is_secret_of(&name, text).then_some(place)
}

/// The name before a sign, with quotation marks or without.
fn name_before(text: &str, sign: usize) -> Option<String> {
    let bytes = without_blanks(&text.as_bytes()[..sign]);
    match bytes.last()? {
        quote @ (b'"' | b'\'') => quoted_name(text, bytes.len() - 1, *quote),
        _ => {
            let is_outside =
                |byte: &u8| !byte.is_ascii_alphanumeric() && !b"_-.%[]$".contains(byte);
            let from = bytes.len().saturating_sub(NAME_BYTES_MAX);
            let begin = bytes[from..].iter().rposition(is_outside).map_or(from, |at| from + at + 1);
            // Of ASCII alone, but where the limit cuts.
            Some(decoded(text.get(begin..bytes.len())?))
        }
    }
}

/// A name that a quotation mark ends here.
fn quoted_name(text: &str, end: usize, quote: u8) -> Option<String> {
    let from = end.saturating_sub(NAME_BYTES_MAX);
    let begin = from + text.as_bytes()[from..end].iter().rposition(|byte| *byte == quote)? + 1;
    Some(unescaped(text[begin..end].trim_end_matches('\\')))
}

/// Bytes without the blanks at their end.
fn without_blanks(bytes: &[u8]) -> &[u8] {
    let blanks = bytes.iter().rev().take(BLANKS_MAX).take_while(|byte| byte.is_ascii_whitespace());
    &bytes[..bytes.len() - blanks.count()]
}

/// A value between quotation marks, which are escaped as often as the text is nested in others.
fn quoted(text: &str, from: usize) -> Option<Place> {
    let bytes = text.as_bytes();
    let blanks =
        bytes[from..].iter().take(BLANKS_MAX).take_while(|byte| byte.is_ascii_whitespace());
    let from = from + blanks.count();
    let slashes = bytes[from..].iter().take_while(|byte| **byte == b'\\').count();
    let quote = *bytes.get(from + slashes)?;
    if !matches!(quote, b'"' | b'\'') || !(slashes + 1).is_power_of_two() {
        return None;
    }
    let begin = from + slashes + 1;
    let end = end_of_quoted(bytes, begin, quote, slashes);
    Place::of(begin..end, Spelling::Escaped { times: (slashes + 1).ilog2() + 1 })
}

/// Where a quoted value ends: a mark within it has more backslashes before it. One that is cut off ends with the text.
fn end_of_quoted(bytes: &[u8], begin: usize, quote: u8, slashes: usize) -> usize {
    let period = 2 * (slashes + 1);
    let mut run = 0;
    for (at, byte) in bytes[begin..].iter().enumerate() {
        match byte {
            b'\\' => run += 1,
            byte if *byte == quote && (run < slashes || run % period == slashes) => {
                return begin + at - run.min(slashes);
            }
            _ => run = 0,
        }
    }
    bytes.len()
}

/// A value without quotation marks, as addresses within texts have it.
fn bare(text: &str, sign: usize) -> Option<Place> {
    let begin = sign + 1;
    let is_end = |char: char| char.is_whitespace() || ENDS.contains(&char);
    let len = text[begin..].find(is_end).unwrap_or(text.len() - begin);
    (text.as_bytes()[sign] == b'=').then(|| Place::of(begin..begin + len, Spelling::Percent))?
}

/// The text of an element whose tag ends here.
fn element(text: &str, sign: usize) -> Option<Place> {
    let from = sign.saturating_sub(TAG_BYTES_MAX);
    let bytes = &text.as_bytes()[from..sign];
    let open = from + bytes.iter().rposition(|byte| matches!(byte, b'<' | b'>'))?;
    let tag = text[open..sign].strip_prefix('<').filter(|tag| !tag.ends_with('/'))?;
    let name = tag.split(|char: char| char.is_whitespace()).next()?;
    let name = name.rsplit(':').next()?;
    if name.starts_with(['/', '!', '?']) || !may_name_secret(name) {
        return None;
    }
    let place = content(text, sign + 1)?;
    place.is_secret_of(name, text).then_some(place)
}

fn content(text: &str, from: usize) -> Option<Place> {
    const CDATA: &str = "<![CDATA[";
    let begin = text.len() - text[from..].trim_start().len();
    if let Some(rest) = text[begin..].strip_prefix(CDATA) {
        let begin = begin + CDATA.len();
        let len = rest.find("]]>").unwrap_or(rest.len());
        return Place::of(begin..begin + len, Spelling::Plain);
    }
    let rest = &text[begin..];
    let len = rest[..rest.find('<').unwrap_or(rest.len())].trim_end().len();
    Place::of(begin..begin + len, Spelling::Entities)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(text: &str) -> Vec<String> {
        of_text(text).map(|place| place.secret(text)).collect()
    }

    #[test]
    fn secrets_stand_beside_their_names_in_any_form() {
        for (text, expect) in [
            (r#"{"user":{"password":"a\"b","x":1}}"#, &["a\"b"][..]),
            (r#"[{"password": "cut o"#, &["cut o"]),
            (r#"{"pass\u0077ord" : "x"}"#, &["x"]),
            (
                r#"{"query":"mutation { login(password: \"p\\\"q\", n: 1) }","variables":{"pw":"v"}}"#,
                &["p\"q", "v"],
            ),
            (r#"{"body":"{\"token\":\"t1\",\"a\":\"{\\\"pw\\\":\\\"t2\\\"}\"}"}"#, &["t1", "t2"]),
            ("<a><ns:password type=\"x\"> p&amp;q </ns:password><b>c</b></a>", &["p&q"]),
            ("<password><![CDATA[a<b]]></password><password/>x<pw>cut", &["a<b", "cut"]),
            ("<login user='u' password='p' />", &["p"]),
            (r#"{"next":"https://h/?a=1&token=a%2Fb&c=2"}"#, &["a/b"]),
            ("password=x y", &["x"]),
            (r#"{"key":"colour","key2":1,"session_key":"a1b2c3d4e5"}"#, &["a1b2c3d4e5"]),
            (r#"{"password":"","token":null,"type":"password","ünï":"x"}"#, &[]),
            ("\":\":=\"='=:>>><<>:\\\":\\\\\"", &[]),
        ] {
            assert_eq!(secrets(text), expect, "{text}");
        }
    }

    #[test]
    fn addresses_have_secrets_in_all_their_parts() {
        let url = "https://u:p%40q@h/a;jsessionid=J1;x=2/b?q=1&pass%77ord=P+1&auth=A&session=&key=K#/access_token=T";
        let places = of_address(url);
        let found: Vec<String> = places.iter().map(|place| place.secret(url)).collect();
        assert_eq!(found, ["p@q", "J1", "P 1", "A", "K", "T"]);
        assert!(places.is_sorted_by_key(|place| place.range.start), "{places:?}");
        assert_eq!(of_address("/a;b;c=1?d;e#f#g"), []);
    }

    /// Every byte is looked at a bounded number of times, whatever a server sends.
    #[test]
    fn hostile_texts_are_read_in_linear_time() {
        let begin = std::time::Instant::now();
        for unit in [
            ">",
            "<",
            "\":",
            "key:\"",
            "password=",
            "<pw>",
            "\\",
            "<key> ",
            "password:\\",
            "\":\"k",
            "key=' ",
        ] {
            let text = unit.repeat(400_000 / unit.len());
            let places = of_text(&text).count() + of_form(&text).count() + of_parts(&text).count();
            assert!(places <= text.len());
        }
        assert!(begin.elapsed().as_secs() < 60, "{:?}", begin.elapsed());
    }
}
