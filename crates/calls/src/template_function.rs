//! `Function`: the functions of templates: ghz's own, and those of sprig's that make values for requests.

use anyhow::{Result, anyhow, bail};
use base64::Engine as _;
use stdx::{Prng, nearest};

/// A function of templates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Uuid,
    RandomString,
    RandomInt,
    RandomOf(&'static str),
    Arithmetic(Operator),
    Upper,
    Lower,
    Trim,
    Quote,
    Repeat,
    Base64,
    Print,
}

/// An operation on whole numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Max,
    Min,
}

const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS: &str = "0123456789";
const BOTH: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// The longest random text.
const RANDOM_MAX: i64 = 1 << 20;

/// The functions by their names.
const FUNCTIONS: [(&str, Function); 23] = [
    ("newUUID", Function::Uuid),
    ("uuidv4", Function::Uuid),
    ("randomString", Function::RandomString),
    ("randomInt", Function::RandomInt),
    ("randInt", Function::RandomInt),
    ("randAlpha", Function::RandomOf(LETTERS)),
    ("randNumeric", Function::RandomOf(DIGITS)),
    ("randAlphaNum", Function::RandomOf(BOTH)),
    ("add", Function::Arithmetic(Operator::Add)),
    ("sub", Function::Arithmetic(Operator::Subtract)),
    ("mul", Function::Arithmetic(Operator::Multiply)),
    ("div", Function::Arithmetic(Operator::Divide)),
    ("mod", Function::Arithmetic(Operator::Modulo)),
    ("max", Function::Arithmetic(Operator::Max)),
    ("min", Function::Arithmetic(Operator::Min)),
    ("upper", Function::Upper),
    ("lower", Function::Lower),
    ("trim", Function::Trim),
    ("quote", Function::Quote),
    ("repeat", Function::Repeat),
    ("b64enc", Function::Base64),
    ("print", Function::Print),
    ("toString", Function::Print),
];

impl Function {
    /// The function of a name.
    ///
    /// # Errors
    /// There is none; the error names the nearest, or all.
    pub(crate) fn named(name: &str) -> Result<Self> {
        let known = FUNCTIONS.iter().find(|(known, _)| *known == name);
        known.map(|(_, function)| *function).ok_or_else(|| {
            let names = FUNCTIONS.map(|(known, _)| known);
            match nearest(name, names.into_iter()) {
                Some(near) => anyhow!("no function \"{name}\" (did you mean {near}?)"),
                None => anyhow!("no function \"{name}\" (there are {})", names.join(", ")),
            }
        })
    }

    /// Its value.
    ///
    /// # Errors
    /// It does not take these arguments.
    pub(crate) fn call(self, arguments: &[String], random: &mut Prng) -> Result<String> {
        let texts: Vec<&str> = arguments.iter().map(String::as_str).collect();
        Ok(match (self, texts.as_slice()) {
            (Self::Uuid, []) => uuid(random),
            (Self::RandomString, []) => {
                let len = 2 + random.below(15);
                random_of(BOTH, len, random)
            }
            (Self::RandomString, [len]) => random_of(BOTH, length(len)?, random),
            (Self::RandomOf(chars), [len]) => random_of(chars, length(len)?, random),
            (Self::RandomInt, [from, to]) => random_int(number(from)?, number(to)?, random)?,
            (Self::Arithmetic(operator), [first, rest @ ..]) if !rest.is_empty() => {
                let mut value = number(first)?;
                for text in rest {
                    value = operator.apply(value, number(text)?)?;
                }
                value.to_string()
            }
            (Self::Upper, [text]) => text.to_uppercase(),
            (Self::Lower, [text]) => text.to_lowercase(),
            (Self::Trim, [text]) => text.trim().to_owned(),
            (Self::Quote, [text]) => serde_json::Value::from(*text).to_string(),
            (Self::Repeat, [times, text]) => {
                let times = usize::try_from(length(times)?)?;
                if text.len().saturating_mul(times) > RANDOM_MAX as usize {
                    bail!("a text longer than {RANDOM_MAX}");
                }
                text.repeat(times)
            }
            (Self::Base64, [text]) => base64::engine::general_purpose::STANDARD.encode(text),
            (Self::Print, [text]) => (*text).to_owned(),
            (function, _) => {
                let name = FUNCTIONS.iter().find(|(_, known)| *known == function);
                let name = name.map_or("", |(name, _)| name);
                bail!("template: {name} does not take {} arguments", texts.len())
            }
        })
    }
}

impl Operator {
    fn apply(self, a: i64, b: i64) -> Result<i64> {
        let value = match self {
            Self::Add => a.checked_add(b),
            Self::Subtract => a.checked_sub(b),
            Self::Multiply => a.checked_mul(b),
            Self::Divide => a.checked_div(b),
            Self::Modulo => a.checked_rem(b),
            Self::Max => Some(a.max(b)),
            Self::Min => Some(a.min(b)),
        };
        value.ok_or_else(|| anyhow!("template: {a} and {b} have no such result"))
    }
}

/// A random UUID. RFC 9562, 5.4.
pub(crate) fn uuid(random: &mut Prng) -> String {
    let high = random.next_u64() & !0xf000 | 0x4000;
    let low = random.next_u64() & !(0b11 << 62) | 0b10 << 62;
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    )
}

fn random_of(chars: &str, len: u64, random: &mut Prng) -> String {
    let bytes = chars.as_bytes();
    (0..len).map(|_| char::from(bytes[random.below(bytes.len() as u64) as usize])).collect()
}

/// A number from `from`, below `to`.
fn random_int(from: i64, to: i64, random: &mut Prng) -> Result<String> {
    let span = to.checked_sub(from).filter(|span| *span > 0);
    let span = span.ok_or_else(|| anyhow!("template: no number from {from}, below {to}"))?;
    Ok((from + random.below(span as u64) as i64).to_string())
}

fn number(text: &str) -> Result<i64> {
    text.parse().map_err(|_| anyhow!("template: \"{text}\" is no whole number"))
}

fn length(text: &str) -> Result<u64> {
    let len = number(text)?;
    if !(0..=RANDOM_MAX).contains(&len) {
        bail!("template: a length of {len} (expected 0 to {RANDOM_MAX})");
    }
    Ok(len as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, arguments: &[&str]) -> Result<String> {
        let arguments: Vec<String> = arguments.iter().map(|text| (*text).to_owned()).collect();
        Function::named(name)?.call(&arguments, &mut Prng::new(1))
    }

    #[test]
    fn functions_have_values() {
        for (name, arguments, expect) in [
            ("add", &["1", "2", "3"][..], "6"),
            ("sub", &["1", "2"], "-1"),
            ("div", &["7", "2"], "3"),
            ("max", &["7", "9"], "9"),
            ("quote", &["a\"b"], "\"a\\\"b\""),
            ("repeat", &["3", "ab"], "ababab"),
            ("b64enc", &["ab"], "YWI="),
        ] {
            assert_eq!(call(name, arguments).expect(name), expect);
        }
        let made = uuid(&mut Prng::new(3));
        assert_eq!(&made[14..15], "4", "{made}");
        assert!("89ab".contains(&made[19..20]), "{made}");
    }

    #[test]
    fn wrong_arguments_are_refused() {
        for (name, arguments) in [
            ("div", &["1", "0"][..]),
            ("add", &["1"]),
            ("add", &["x", "1"]),
            ("randomInt", &["3", "3"]),
            ("randomString", &["-1"]),
            ("randomString", &["99999999999"]),
            ("repeat", &["1000000", "abc"]),
            ("newUUID", &["1"]),
        ] {
            assert!(call(name, arguments).is_err(), "{name} {arguments:?}");
        }
    }
}
