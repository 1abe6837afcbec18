//! Functions of numbers and of chance.

use crate::arguments::Arguments;
use crate::scope::Scope;

/// Letters of a random text at most.
const LETTERS_MAX: usize = 1 << 20;

/// A number from `first` to `last`, both included.
pub(super) fn between(scope: &mut dyn Scope, first: i64, last: i64) -> i64 {
    let (first, last) = (i128::from(first.min(last)), i128::from(first.max(last)));
    let number = first + i128::from(scope.random()) % (last - first + 1);
    i64::try_from(number).expect("between two numbers of 64 bits")
}

pub(super) fn random(call: &Arguments, scope: &mut dyn Scope) -> String {
    let number = |text: Option<String>| text.and_then(|text| text.trim().parse::<i64>().ok());
    let (first, last) = (number(call.get(0)), number(call.get(1)));
    let (Some(first), Some(last)) = (first, last) else { return String::new() };
    let value = between(scope, first, last).to_string();
    call.stored(scope, 2, value)
}

pub(super) fn random_string(call: &Arguments, scope: &mut dyn Scope) -> String {
    let length = call.get(0).and_then(|text| text.trim().parse::<usize>().ok());
    let letters = call.get(1).filter(|letters| !letters.is_empty());
    let letters: Vec<char> = match &letters {
        Some(letters) => letters.chars().collect(),
        None => ('!'..='~').collect(),
    };
    let text = (0..length.unwrap_or(0).min(LETTERS_MAX))
        .map(|_| letters[(scope.random() % letters.len() as u64) as usize])
        .collect();
    call.stored(scope, 2, text)
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

/// The sum of all arguments that are numbers; a last one that is none names a variable.
fn sum(call: &Arguments, scope: &mut dyn Scope) -> i64 {
    let last = call.values.len().saturating_sub(1);
    let mut sum = 0_i64;
    let mut name = None;
    for at in 0..call.values.len() {
        let text = call.text(at);
        match text.trim().parse::<i64>() {
            Ok(number) => sum = sum.wrapping_add(number),
            Err(_) if at == last => name = Some(text),
            Err(_) => {}
        }
    }
    if let Some(name) = name.filter(|name| !name.trim().is_empty()) {
        scope.set_variable(name.trim(), sum.to_string());
    }
    sum
}

pub(super) fn int_sum(call: &Arguments, scope: &mut dyn Scope) -> String {
    (sum(call, scope) as i32).to_string()
}

pub(super) fn long_sum(call: &Arguments, scope: &mut dyn Scope) -> String {
    sum(call, scope).to_string()
}
