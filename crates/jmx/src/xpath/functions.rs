//! The functions of XPath 1, and those of XPath 2 that plans use.

use super::XPathError;
use super::evaluate::{Evaluator, Place, Value};
use crate::extract::{MATCHES_MAX, Template};
use crate::pattern::Pattern;

/// Calls a function.
pub(super) fn call(
    evaluator: &Evaluator<'_>,
    name: &str,
    arguments: &[Value],
    place: Place,
) -> Result<Value, XPathError> {
    let here = Value::Nodes(vec![place.node]);
    let first = arguments.first().unwrap_or(&here);
    let text =
        |at: usize| arguments.get(at).map_or_else(String::new, |value| evaluator.text(value));
    let own = evaluator.text(first);
    let items = || evaluator.items(first.clone());
    let numbers = || items().iter().map(|item| evaluator.number(item)).collect::<Vec<f64>>();
    Ok(match name {
        "last" => Value::Number(place.size as f64),
        "position" => Value::Number(place.position as f64),
        "count" => Value::Number(items().len() as f64),
        "true" => Value::Truth(true),
        "false" => Value::Truth(false),
        "not" => Value::Truth(!evaluator.truth(first)),
        "boolean" => Value::Truth(evaluator.truth(first)),
        "exists" => Value::Truth(!items().is_empty()),
        "empty" => Value::Truth(items().is_empty()),
        "local-name" | "name" | "namespace-uri" => node_name(evaluator, name, first),
        "string" => Value::Text(own),
        "data" => texts(evaluator, items()),
        "number" => Value::Number(evaluator.number(first)),
        "concat" => {
            Value::Text(arguments.iter().map(|value| evaluator.text(value)).collect::<String>())
        }
        "string-join" => {
            let texts: Vec<String> = items().iter().map(|item| evaluator.text(item)).collect();
            Value::Text(texts.join(&text(1)))
        }
        "starts-with" => Value::Truth(own.starts_with(&text(1))),
        "ends-with" => Value::Truth(own.ends_with(&text(1))),
        "contains" => Value::Truth(own.contains(&text(1))),
        "substring-before" => {
            Value::Text(own.split_once(&text(1)).map_or("", |(before, _)| before).to_owned())
        }
        "substring-after" => {
            Value::Text(own.split_once(&text(1)).map_or("", |(_, after)| after).to_owned())
        }
        "substring" => substring(evaluator, &own, arguments),
        "string-length" => Value::Number(own.chars().count() as f64),
        "normalize-space" => Value::Text(own.split_whitespace().collect::<Vec<_>>().join(" ")),
        "translate" => Value::Text(translate(&own, &text(1), &text(2))),
        "upper-case" => Value::Text(own.to_uppercase()),
        "lower-case" => Value::Text(own.to_lowercase()),
        "matches" | "replace" | "tokenize" => by_pattern(name, &own, &text(1), &text(2))?,
        "floor" => Value::Number(evaluator.number(first).floor()),
        "ceiling" => Value::Number(evaluator.number(first).ceil()),
        "round" => Value::Number((evaluator.number(first) + 0.5).floor()),
        "abs" => Value::Number(evaluator.number(first).abs()),
        "sum" => Value::Number(numbers().iter().sum()),
        "max" | "min" | "avg" if numbers().is_empty() => Value::List(Vec::new()),
        "max" => Value::Number(numbers().into_iter().fold(f64::NEG_INFINITY, f64::max)),
        "min" => Value::Number(numbers().into_iter().fold(f64::INFINITY, f64::min)),
        "avg" => Value::Number(numbers().iter().sum::<f64>() / numbers().len() as f64),
        "distinct-values" => {
            let mut seen = std::collections::HashSet::new();
            let all = items().into_iter().map(|item| evaluator.text(&item));
            Value::List(all.filter(|text| seen.insert(text.clone())).map(Value::Text).collect())
        }
        "reverse" => Value::List(items().into_iter().rev().collect()),
        "head" => Value::List(items().into_iter().take(1).collect()),
        "tail" => Value::List(items().into_iter().skip(1).collect()),
        _ => return Err(XPathError::Unknown { name: format!("{name}()") }),
    })
}

fn texts(evaluator: &Evaluator<'_>, items: Vec<Value>) -> Value {
    Value::List(items.into_iter().map(|item| Value::Text(evaluator.text(&item))).collect())
}

fn node_name(evaluator: &Evaluator<'_>, function: &str, value: &Value) -> Value {
    let Value::Nodes(nodes) = value else { return Value::Text(String::new()) };
    let node = nodes.first().map(|node| &evaluator.tree.nodes[*node]);
    Value::Text(node.map_or_else(String::new, |node| match (function, &node.prefix) {
        ("namespace-uri", _) => node.namespace.clone(),
        ("name", Some(prefix)) => format!("{prefix}:{}", node.name),
        _ => node.name.clone(),
    }))
}

/// The letters from a place on, from 1; both numbers are rounded.
fn substring(evaluator: &Evaluator<'_>, text: &str, arguments: &[Value]) -> Value {
    let number = |at: usize| arguments.get(at).map(|value| (evaluator.number(value) + 0.5).floor());
    let from = number(1).unwrap_or(f64::NAN);
    let to = number(2).map_or(f64::INFINITY, |length| from + length);
    let letters = text.chars().enumerate().filter(|(at, _)| {
        let place = (*at + 1) as f64;
        place >= from && place < to
    });
    Value::Text(letters.map(|(_, letter)| letter).collect())
}

fn translate(text: &str, from: &str, to: &str) -> String {
    let to: Vec<char> = to.chars().collect();
    let letters =
        text.chars().filter_map(|letter| match from.chars().position(|known| known == letter) {
            Some(at) => to.get(at).copied(),
            None => Some(letter),
        });
    letters.collect()
}

fn by_pattern(function: &str, text: &str, pattern: &str, by: &str) -> Result<Value, XPathError> {
    let pattern = Pattern::of(pattern).map_err(|_| XPathError::BadPattern)?;
    if function == "matches" {
        return Ok(Value::Truth(pattern.is_found(text)));
    }
    let template = Template::parse(&by.replace('$', "$$").split("$$").enumerate().fold(
        String::new(),
        |written, (at, part)| {
            let digits = part.bytes().take_while(u8::is_ascii_digit).count();
            match at > 0 && digits > 0 {
                true => written + "$" + &part[..digits] + "$" + &part[digits..],
                false => written + part,
            }
        },
    ));
    let (mut pieces, mut rest) = (vec![String::new()], text);
    for found in pattern.matches(text, MATCHES_MAX) {
        let all = found.groups[0].as_deref().unwrap_or_default();
        let Some((before, after)) = rest.split_once(all).filter(|_| !all.is_empty()) else { break };
        let last = pieces.last_mut().expect("there is one piece at least");
        last.push_str(before);
        match function {
            "replace" => last.push_str(&template.fill(&found)),
            _ => pieces.push(String::new()),
        }
        rest = after;
    }
    pieces.last_mut().expect("there is one piece at least").push_str(rest);
    Ok(match function {
        "replace" => Value::Text(pieces.remove(0)),
        _ => Value::List(pieces.into_iter().map(Value::Text).collect()),
    })
}
