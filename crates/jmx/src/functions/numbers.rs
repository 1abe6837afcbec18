//! Functions of numbers and of chance.

use crate::arguments::Arguments;
use crate::scope::Scope;
use crate::thrown::Thrown;

/// Letters of a random text at most.
const LETTERS_MAX: usize = 1 << 20;

/// A number from `first` to `last`, both included.
pub(super) fn between(scope: &mut dyn Scope, first: i64, last: i64) -> i64 {
    let (first, last) = (i128::from(first.min(last)), i128::from(first.max(last)));
    let number = first + i128::from(scope.random()) % (last - first + 1);
    i64::try_from(number).expect("between two numbers of 64 bits")
}

/// A number as Java reads it: without blanks around it.
fn number<T: std::str::FromStr>(text: &str) -> Result<T, Thrown> {
    text.parse().map_err(|_| Thrown::number(text))
}

pub(super) fn random(call: &Arguments, scope: &mut dyn Scope) -> Result<String, Thrown> {
    let first: i64 = number(call.text(0).trim())?;
    let last: i64 = number(call.text(1).trim())?;
    if last < first {
        return Err(Thrown::argument("bound must be greater than origin".to_owned()));
    }
    let value = between(scope, first, last).to_string();
    Ok(call.stored(scope, 2, value))
}

pub(super) fn random_string(call: &Arguments, scope: &mut dyn Scope) -> Result<String, Thrown> {
    let length: i32 = number(&call.text(0))?;
    let length = usize::try_from(length).map_err(|_| {
        Thrown::argument(format!("Requested random string length {length} is less than 0."))
    })?;
    let letters = call.text(1);
    let letters: Vec<char> = match letters.trim() {
        "" => ('!'..='~').collect(),
        letters => letters.chars().collect(),
    };
    let text = (0..length.min(LETTERS_MAX))
        .map(|_| letters[(scope.random() % letters.len() as u64) as usize])
        .collect();
    Ok(call.stored(scope, 2, text))
}

/// A variable of several by chance: `a|b`; of one that has `_matchNr` one of its matches.
pub(super) fn random_from_variables(call: &Arguments, scope: &mut dyn Scope) -> String {
    let names = call.text(0);
    let mut values = Vec::new();
    for name in names.split('|') {
        let matches = scope.variable(&format!("{name}_matchNr"));
        match matches.and_then(|count| count.parse::<u32>().ok()) {
            Some(count) => {
                let value = |at| scope.variable(&format!("{name}_{at}"));
                values.extend((1..=count.min(10_000)).filter_map(value));
            }
            None => values.extend(scope.variable(name).filter(|value| !value.is_empty())),
        }
    }
    let value = match values.len() as u64 {
        0 => String::new(),
        count => values.swap_remove((scope.random() % count) as usize),
    };
    call.stored(scope, 1, value)
}

pub(super) fn uuid(_: &Arguments, scope: &mut dyn Scope) -> String {
    // RFC 9562, 5.4: version 4.
    let (high, low) = (scope.random(), scope.random());
    let high = high & !0xf000 | 0x4000;
    let low = low & !(0b11 << 62) | 0b10 << 62;
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    )
}

/// The sum of all arguments; a last one that is no number names a variable for it.
fn sum<T: std::str::FromStr + Copy + ToString>(
    call: &Arguments,
    scope: &mut dyn Scope,
    add: fn(T, T) -> T,
) -> Result<String, Thrown> {
    let (last, first) = call.values.split_last().ok_or_else(|| Thrown::number(""))?;
    let mut sum: T = number("0")?;
    for text in first {
        sum = add(sum, number(text)?);
    }
    let last = last.trim();
    if let Ok(number) = last.parse() {
        return Ok(add(sum, number).to_string());
    }
    let sum = sum.to_string();
    if !last.is_empty() {
        scope.set_variable(last, sum.clone());
    }
    Ok(sum)
}

pub(super) fn int_sum(call: &Arguments, scope: &mut dyn Scope) -> Result<String, Thrown> {
    sum(call, scope, i32::wrapping_add)
}

pub(super) fn long_sum(call: &Arguments, scope: &mut dyn Scope) -> Result<String, Thrown> {
    sum(call, scope, i64::wrapping_add)
}
