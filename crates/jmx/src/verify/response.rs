//! The Response Assertion.

use super::{AssertionFailure, assertion_reach};
use crate::element::Element;
use crate::extract::value;
use crate::pattern::{Pattern, PatternError};
use crate::sample::{Reach, SampleView};
use crate::scope::Scope;

const MATCH: u32 = 1;
const CONTAINS: u32 = 2;
const NOT: u32 = 4;
const EQUALS: u32 = 8;
const SUBSTRING: u32 = 16;
const OR: u32 = 32;

pub(super) fn judge(
    element: &Element,
    scope: &mut dyn Scope,
    sample: &SampleView<'_>,
) -> Option<AssertionFailure> {
    let properties = &element.properties;
    let test = value(properties, "Assertion.test_type", scope).trim().parse().unwrap_or(0);
    let (field, text) = field_of(element, scope, sample);
    if text.is_empty() {
        return (test & NOT == 0).then(AssertionFailure::null);
    }
    let custom = value(properties, "Assertion.custom_message", scope);
    let fail = |message: String| {
        Some(AssertionFailure::failure(if custom.is_empty() { message } else { custom.clone() }))
    };
    let mut missed = String::new();
    for written in properties.texts("Asserion.test_strings") {
        let written = written.evaluate(scope);
        let found = match holds(test, &text, &written) {
            Ok(found) => found,
            Err(error) => {
                let class = "org.apache.oro.text.MalformedCachePatternException";
                return Some(AssertionFailure::error(format!(
                    "Bad test configuration {class}: Invalid expression: {written}\n{error}"
                )));
            }
        };
        match (found != (test & NOT != 0), test & OR != 0) {
            (true, true) => return None,
            (true, false) => {}
            (false, true) => {
                missed.push_str(&message(test, &field, &text, &written));
                missed.push('\t');
            }
            (false, false) => return fail(message(test, &field, &text, &written)),
        }
    }
    if test & OR == 0 {
        None
    } else {
        fail(if missed.is_empty() { "\t".to_owned() } else { missed })
    }
}

/// What is judged, and its name in messages.
fn field_of(element: &Element, scope: &mut dyn Scope, sample: &SampleView<'_>) -> (String, String) {
    if let Reach::Variable(name) = assertion_reach(element, scope) {
        let text = scope.variable(&name).unwrap_or_default();
        return (format!("variable({name})"), text);
    }
    let field = value(&element.properties, "Assertion.test_field", scope);
    let (name, text) = match field.as_str() {
        "Assertion.response_data" => ("text", sample.text),
        "Assertion.response_data_as_document" => {
            return ("document".to_owned(), sample.document_text().into_owned());
        }
        "Assertion.response_code" => ("code", sample.code),
        "Assertion.response_message" => ("message", sample.message),
        "Assertion.request_headers" => ("request headers", sample.request_headers),
        "Assertion.request_data" => ("request data", sample.request_data),
        "Assertion.response_headers" => ("headers", sample.response_headers),
        _ => ("URL", sample.url),
    };
    (name.to_owned(), text.to_owned())
}

fn holds(test: u32, text: &str, written: &str) -> Result<bool, PatternError> {
    Ok(if test & CONTAINS != 0 {
        Pattern::of(written)?.is_found(text)
    } else if test & EQUALS != 0 {
        text == written
    } else if test & SUBSTRING != 0 {
        text.contains(written)
    } else {
        Pattern::of(written)?.is_whole(text)
    })
}

fn message(test: u32, field: &str, text: &str, written: &str) -> String {
    const WORDS: [(u32, &str); 8] = [
        (CONTAINS, "to contain"),
        (SUBSTRING, "to contain"),
        (NOT | CONTAINS, "not to contain"),
        (NOT | SUBSTRING, "not to contain"),
        (MATCH, "to match"),
        (NOT | MATCH, "not to match"),
        (EQUALS, "to equal"),
        (NOT | EQUALS, "not to equal"),
    ];
    let words = WORDS.iter().find(|(known, _)| *known == test);
    let words = words.map_or("something using", |(_, words)| *words);
    let pattern = if test & EQUALS != 0 { comparison(text, written) } else { written.to_owned() };
    format!("Test failed: {field} expected {words} /{pattern}/")
}

/// Letters that are shown at most of what is alike and of what differs.
const SHOWN_MAX: usize = 100;

/// Where two texts differ: what is alike before and behind, and what lies between in brackets.
fn comparison(received: &str, expected: &str) -> String {
    let (received, expected): (Vec<char>, Vec<char>) =
        (received.chars().collect(), expected.chars().collect());
    let alike = received.iter().zip(&expected).take_while(|(one, other)| one == other).count();
    let (mut end, mut other) = (received.len(), expected.len());
    while end > alike + 1 && other > alike + 1 && received[end - 1] == expected[other - 1] {
        end -= 1;
        other -= 1;
    }
    let begin = last(&received[..alike]);
    // Texts may be so alike that the one ends where the difference begins.
    let (end, other) = (end.max(alike), other.max(alike));
    let behind = first(&received[end..]);
    let (mut one, mut two) = (first(&received[alike..end]), first(&expected[alike..other]));
    let (one_len, two_len) = (one.chars().count(), two.chars().count());
    let pad = " ".repeat(one_len.abs_diff(two_len));
    match one_len > two_len {
        true => two.push_str(&pad),
        false => one.push_str(&pad),
    }
    format!(
        "\n\n****** received  : {begin}[[[{one}]]]{behind}\n\n****** comparison: {begin}[[[{two}]]]{behind}\n\n"
    )
}

fn first(letters: &[char]) -> String {
    let shown: String = letters.iter().take(SHOWN_MAX).collect();
    if letters.len() > SHOWN_MAX { shown + "..." } else { shown }
}

fn last(letters: &[char]) -> String {
    match letters.len().checked_sub(SHOWN_MAX) {
        Some(skipped) if skipped > 0 => {
            format!("...{}", letters[skipped..].iter().collect::<String>())
        }
        _ => letters.iter().collect(),
    }
}
