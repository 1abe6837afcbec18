//! Random numbers and texts. Those of a seed are Java's own.

use std::sync::Arc;

use super::arguments::Arguments;
use crate::script::run::{Machine, Outcome, throw};
use crate::script::value::{List, Object, Value, lock};

/// `new Random(seed)`, `new Random()`.
pub(super) fn new(call: Arguments<'_>) -> Value {
    let seed = (call.len() > 0).then(|| scrambled(call.long(0) as u64).into());
    Value::object(Object::Random(seed))
}

const MULTIPLIER: u64 = 0x5_DEEC_E66D;
const MASK: u64 = (1 << 48) - 1;

fn scrambled(seed: u64) -> u64 {
    (seed ^ MULTIPLIER) & MASK
}

/// So many random bits, 32 at most: of the seed by the generator that Java's documentation of `Random.next` gives, else of the run.
fn next(machine: &mut Machine<'_>, object: &Object, bits: u32) -> u32 {
    match object {
        Object::Random(Some(state)) => {
            let mut state = lock(state);
            *state = state.wrapping_mul(MULTIPLIER).wrapping_add(0xB) & MASK;
            (*state >> (48 - bits)) as u32
        }
        _ => (machine.context.scope().random() >> (64 - bits)) as u32,
    }
}

/// A number from 0 to below a bound.
fn below(machine: &mut Machine<'_>, object: &Object, bound: i64) -> Outcome<i64> {
    if bound <= 0 {
        return Err(throw("IllegalArgumentException", "bound must be positive"));
    }
    if bound > i64::from(i32::MAX) {
        return Ok((machine.context.scope().random() % bound as u64) as i64);
    }
    let bits = i64::from(next(machine, object, 31));
    // A power of two takes the high bits.
    Ok(if bound & (bound - 1) == 0 { (bound * bits) >> 31 } else { bits % bound })
}

fn between(machine: &mut Machine<'_>, object: &Object, call: Arguments<'_>) -> Outcome<i64> {
    match call.len() {
        2 => {
            let span = call.long(1).saturating_sub(call.long(0));
            Ok(call.long(0) + below(machine, object, span)?)
        }
        _ => below(machine, object, call.long(0)),
    }
}

fn double(machine: &mut Machine<'_>, object: &Object) -> f64 {
    let high = u64::from(next(machine, object, 26)) << 27;
    (high + u64::from(next(machine, object, 27))) as f64 / (1_u64 << 53) as f64
}

/// A method of a generator.
pub(super) fn method(
    machine: &mut Machine<'_>,
    object: &Object,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    Ok(Some(match (name, call.len()) {
        ("nextInt", 0) => Value::Int(next(machine, object, 32) as i32),
        ("nextInt", _) => Value::Int(between(machine, object, call)? as i32),
        ("nextLong", 0) => {
            let high = i64::from(next(machine, object, 32) as i32) << 32;
            Value::Long(high.wrapping_add(i64::from(next(machine, object, 32) as i32)))
        }
        ("nextLong", _) => Value::Long(between(machine, object, call)?),
        ("nextDouble" | "nextFloat", 0) => Value::Double(double(machine, object)),
        ("nextDouble", 2) => {
            let span = call.double(1) - call.double(0);
            Value::Double(call.double(0) + double(machine, object) * span)
        }
        ("nextBoolean", 0) => (next(machine, object, 1) != 0).into(),
        ("nextGaussian", 0) => Value::Double(gaussian(machine, object)),
        ("setSeed", 1) => {
            if let Object::Random(Some(state)) = object {
                *lock(state) = scrambled(call.long(0) as u64);
            }
            Value::Null
        }
        _ => return Ok(None),
    }))
}

/// By the polar method: of two numbers in the circle, the first one scaled.
fn gaussian(machine: &mut Machine<'_>, object: &Object) -> f64 {
    for _ in 0..100 {
        let one = 2.0 * double(machine, object) - 1.0;
        let two = 2.0 * double(machine, object) - 1.0;
        let square = one * one + two * two;
        if square < 1.0 && square != 0.0 {
            return one * (-2.0 * square.ln() / square).sqrt();
        }
    }
    0.0
}

/// Methods of classes that are random.
pub(super) fn statics(
    machine: &mut Machine<'_>,
    class: &str,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    match (class, name) {
        ("UUID", "randomUUID") => Ok(Some(uuid(machine))),
        ("UUID", "fromString") => Ok(Some(Value::object(Object::Uuid(call.text(0))))),
        ("UUID", "nameUUIDFromBytes") => Ok(Some(named_uuid(&call.get(0)))),
        ("ThreadLocalRandom", "current") => Ok(Some(Value::object(Object::Random(None)))),
        ("RandomUtils", _) => method(machine, &Object::Random(None), name, call),
        ("RandomStringUtils", _) => letters(machine, name, call),
        _ => Ok(None),
    }
}

/// RFC 9562, 5.4: version 4.
fn uuid(machine: &mut Machine<'_>) -> Value {
    let scope = machine.context.scope();
    let number = u128::from(scope.random()) << 64 | u128::from(scope.random());
    Value::object(Object::Uuid(uuid_text(number, 4)))
}

/// RFC 9562, 5.3: version 3, without a name space, as Java makes it.
fn named_uuid(name: &Value) -> Value {
    use md5::Digest as _;
    let digest = md5::Md5::digest(super::digest::bytes_of(name));
    Value::object(Object::Uuid(uuid_text(u128::from_be_bytes(digest.into()), 3)))
}

fn uuid_text(number: u128, version: u128) -> String {
    let number = number & !(0xf << 76) | version << 76;
    let number = number & !(0b11 << 62) | 0b10 << 62;
    let digits = format!("{number:032x}");
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

fn letters(machine: &mut Machine<'_>, name: &str, call: Arguments<'_>) -> Outcome<Option<Value>> {
    const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
    const DIGITS: &str = "0123456789";
    let upper = LOWER.to_uppercase();
    let alphabet = match name {
        "randomAlphabetic" | "nextAlphabetic" => format!("{upper}{LOWER}"),
        "randomAlphanumeric" | "nextAlphanumeric" => format!("{upper}{LOWER}{DIGITS}"),
        "randomNumeric" | "nextNumeric" => DIGITS.to_owned(),
        "randomAscii" => (' '..='~').collect(),
        "random" if matches!(call.get(1), Value::Text(_)) => call.text(1),
        "random" => {
            format!("{upper}{LOWER}{}", if call.is_true(2) || call.len() < 3 { DIGITS } else { "" })
        }
        _ => return Ok(None),
    };
    let alphabet: Vec<char> = alphabet.chars().collect();
    let count = usize::try_from(call.long(0)).unwrap_or(0);
    machine.allot(count)?;
    let mut text = String::new();
    for _ in 0..count {
        let at = machine.context.scope().random() as usize % alphabet.len().max(1);
        text.extend(alphabet.get(at));
    }
    Ok(Some(Value::Text(Arc::from(text))))
}

/// Mixes a list.
pub(super) fn shuffle(machine: &mut Machine<'_>, list: &List) -> Outcome<()> {
    let mut items = list.items();
    machine.spend(items.len() as u64)?;
    for at in (1..items.len()).rev() {
        let other = machine.context.scope().random() % (at as u64 + 1);
        items.swap(at, other as usize);
    }
    list.replace(items);
    Ok(())
}
