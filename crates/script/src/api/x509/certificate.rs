//! A certificate (RFC 5280, 4.1) taken apart, not judged: version, serial number and signature are not checked, and what follows
//! the fields of a sequence is skipped.

use super::der::{Element, Elements, tag};

/// The fields that scripts see.
pub(super) struct Certificate<'a> {
    /// The certificate alone, without what follows it.
    pub(super) whole: &'a [u8],
    pub(super) issuer: Vec<Attribute<'a>>,
    pub(super) subject: Vec<Attribute<'a>>,
    /// As RFC 3339 writes them.
    pub(super) not_before: String,
    pub(super) not_after: String,
    pub(super) key: PublicKey<'a>,
    /// The type of the signature, in dots.
    pub(super) signature: String,
    pub(super) alternative_names: Vec<AlternativeName<'a>>,
}

/// One part of a name.
pub(super) struct Attribute<'a> {
    /// Its type, in dots.
    pub(super) kind: String,
    /// Empty for kinds of strings other than UTF-8 and its subsets.
    pub(super) value: &'a str,
}

/// A public key: its type, in dots, and its bytes.
pub(super) struct PublicKey<'a> {
    pub(super) algorithm: String,
    pub(super) bytes: &'a [u8],
}

/// An alternative name: its number in `GeneralName` (RFC 5280, 4.2.1.6) and its bytes.
pub(super) struct AlternativeName<'a> {
    pub(super) number: u8,
    pub(super) bytes: &'a [u8],
}

/// The part of a certificate that is not as RFC 5280 has it, in Go's words.
#[derive(Debug, thiserror::Error)]
#[error("x509: malformed {0}")]
pub(super) struct Malformed(&'static str);

impl<'a> Certificate<'a> {
    /// Reads the certificate at the start of `bytes`.
    ///
    /// # Errors
    /// A field is missing, has another type, or goes beyond what holds it.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let outer = Elements(bytes).next().filter(|outer| outer.tag == tag::SEQUENCE);
        let Element { content, whole, .. } = outer.ok_or(Malformed("certificate"))?;
        let mut fields = Elements(content);
        let mut signed = fields.enter(tag::SEQUENCE).ok_or(Malformed("tbs certificate"))?;
        let signature =
            algorithm(&mut fields).ok_or(Malformed("signature algorithm identifier"))?;
        fields.bits().ok_or(Malformed("signature"))?;

        version(&mut signed).ok_or(Malformed("version"))?;
        signed.take(tag::INTEGER).ok_or(Malformed("serial number"))?;
        algorithm(&mut signed).ok_or(Malformed("signature algorithm identifier"))?;
        let issuer = name(&mut signed).ok_or(Malformed("issuer"))?;
        let (not_before, not_after) = validity(&mut signed).ok_or(Malformed("validity"))?;
        let subject = name(&mut signed).ok_or(Malformed("subject"))?;
        let key = public_key(&mut signed).ok_or(Malformed("spki"))?;
        signed.take_if(&ISSUER_ID);
        signed.take_if(&SUBJECT_ID);
        let alternative_names = extensions(signed).ok_or(Malformed("extensions"))?;
        Ok(Self {
            whole,
            issuer,
            subject,
            not_before,
            not_after,
            key,
            signature,
            alternative_names,
        })
    }
}

/// The next element, if it is a version: a number, whatever it is.
fn version(elements: &mut Elements<'_>) -> Option<()> {
    let Some(version) = elements.take_if(&[VERSION]) else { return Some(()) };
    Elements(version).integer().map(drop)
}

/// The next element, an `AlgorithmIdentifier`: its type, in dots.
fn algorithm(elements: &mut Elements<'_>) -> Option<String> {
    let mut algorithm = elements.enter(tag::SEQUENCE)?;
    let kind = algorithm.identifier()?;
    // Its parameters are not looked into.
    if !algorithm.is_empty() {
        algorithm.next()?;
    }
    Some(kind)
}

/// The next element, a `Name`: its attributes in their order.
fn name<'a>(elements: &mut Elements<'a>) -> Option<Vec<Attribute<'a>>> {
    let mut attributes = Vec::new();
    let mut sets = elements.enter(tag::SEQUENCE)?;
    while !sets.is_empty() {
        let mut set = sets.enter(tag::SET)?;
        while !set.is_empty() {
            let mut attribute = set.enter(tag::SEQUENCE)?;
            let kind = attribute.identifier()?;
            attributes.push(Attribute { kind, value: string(attribute.next()?) });
        }
    }
    Some(attributes)
}

/// The text of a string whose bytes are UTF-8; empty of any other.
fn string(value: Element<'_>) -> &str {
    match value.tag {
        tag::UTF8_STRING | tag::NUMERIC_STRING | tag::PRINTABLE_STRING | tag::IA5_STRING => {
            std::str::from_utf8(value.content).unwrap_or_default()
        }
        _ => "",
    }
}

fn validity(elements: &mut Elements<'_>) -> Option<(String, String)> {
    let mut times = elements.enter(tag::SEQUENCE)?;
    Some((time(times.next()?)?, time(times.next()?)?))
}

/// A time (RFC 5280, 4.1.2.5) as RFC 3339 writes it. An offset, which certificates must not have, is not applied.
fn time(time: Element<'_>) -> Option<String> {
    let text = std::str::from_utf8(time.content).ok()?;
    let (year, rest) = match time.tag {
        tag::UTC_TIME => {
            let (year, rest) = number(text, 2)?;
            (if year < 50 { 2000 + year } else { 1900 + year }, rest)
        }
        tag::GENERALIZED_TIME => number(text.strip_suffix('Z')?, 4)?,
        _ => return None,
    };
    let (month, rest) = number(rest, 2)?;
    let (day, rest) = number(rest, 2)?;
    let (hour, rest) = number(rest, 2)?;
    let (minute, rest) = number(rest, 2)?;
    let (second, rest) = if rest.len() < 2 { (0, rest) } else { number(rest, 2)? };
    let ends = match (time.tag, rest) {
        (tag::UTC_TIME, zone) => is_zone(zone),
        (_, fraction) => fraction.is_empty() || is_fraction(fraction),
    };
    let exists = (1..=days(year, month)).contains(&day) && hour < 24 && minute < 60 && second < 60;
    (ends && exists)
        .then(|| format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"))
}

/// The number in the first `digits` digits, and what follows them.
fn number(text: &str, digits: usize) -> Option<(u32, &str)> {
    let (number, rest) = text.split_at_checked(digits)?;
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| number.parse().ok())?.map(|number| (number, rest))
}

/// `Z`, or an offset: `+0130`.
fn is_zone(text: &str) -> bool {
    let offset = text.strip_prefix(['+', '-']).filter(|offset| offset.len() == 4);
    text == "Z" || offset.is_some_and(|offset| number(offset, 4).is_some())
}

/// A point and at most three digits: milliseconds.
fn is_fraction(text: &str) -> bool {
    let digits = text.strip_prefix('.').filter(|digits| matches!(digits.len(), 1..=3));
    digits.is_some_and(|digits| number(digits, digits.len()).is_some())
}

/// The days of a month, 1 to 12, of the Gregorian calendar; none of any other month.
fn days(year: u32, month: u32) -> u32 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    }
}

fn public_key<'a>(elements: &mut Elements<'a>) -> Option<PublicKey<'a>> {
    let mut key = elements.enter(tag::SEQUENCE)?;
    Some(PublicKey { algorithm: algorithm(&mut key)?, bytes: key.bits()? })
}

/// The alternative names in the last field of a certificate, its extensions.
fn extensions(mut fields: Elements<'_>) -> Option<Vec<AlternativeName<'_>>> {
    let mut names = Vec::new();
    if fields.is_empty() {
        return Some(names);
    }
    let mut all = fields.enter(EXTENSIONS)?.enter(tag::SEQUENCE)?;
    while !all.is_empty() {
        let mut extension = all.enter(tag::SEQUENCE)?;
        let kind = extension.identifier()?;
        extension.take_if(&[tag::BOOLEAN]);
        let value = extension.take(tag::OCTET_STRING)?;
        if kind == "2.5.29.17" {
            // Names that cannot be read are left out, and the rest of the certificate is read all the same.
            names.extend(general_names(value).unwrap_or_default());
        }
    }
    Some(names)
}

/// `GeneralNames` (RFC 5280, 4.2.1.6): elements with tags of their own.
fn general_names(value: &[u8]) -> Option<Vec<AlternativeName<'_>>> {
    let mut names = Vec::new();
    let mut all = Elements(value).enter(tag::SEQUENCE)?;
    while !all.is_empty() {
        let Element { tag, content: bytes, .. } = all.next()?;
        if tag & 0xc0 != 0x80 {
            return None;
        }
        names.push(AlternativeName { number: tag & 0x1f, bytes });
    }
    Some(names)
}

/// The tags of a certificate's own fields: `version [0]`, `issuerUniqueID [1]`, `subjectUniqueID [2]`, `extensions [3]`.
const VERSION: u8 = 0xa0;
const ISSUER_ID: [u8; 2] = [0x81, 0xa1];
const SUBJECT_ID: [u8; 2] = [0x82, 0xa2];
const EXTENSIONS: u8 = 0xa3;
