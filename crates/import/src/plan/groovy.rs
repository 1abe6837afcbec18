//! Scripts of Groovy and BeanShell that are the same in JavaScript: assignments of variables, lines of the log.

use super::context::Context;
use super::library::Helper;
use crate::quote;

/// The lines of a script; `None` where one of them is not of those that are known.
pub(super) fn lines(context: &mut Context, script: &str) -> Option<Vec<String>> {
    let is_code = |line: &&str| {
        !line.is_empty() && !line.starts_with("//") && !line.starts_with("import java.util.")
    };
    let lines: Vec<&str> = script.lines().map(str::trim).filter(is_code).collect();
    let all: Option<Vec<String>> = lines.iter().map(|line| statement(context, line)).collect();
    all.filter(|lines| !lines.is_empty())
}

fn statement(context: &mut Context, line: &str) -> Option<String> {
    let line = line.trim_end_matches(';').trim();
    if line.len() > LINE_BYTES_MAX {
        return None;
    }
    if let Some(inner) = inside(line, "vars.put(").or_else(|| inside(line, "vars.putObject(")) {
        let (name, text) = two(inner)?;
        let name = literal(name)?;
        return Some(format!(
            "{} = {};",
            super::value::variable(&name),
            expression(context, text)?
        ));
    }
    if let Some(inner) = inside(line, "vars.remove(") {
        return Some(format!("delete {};", super::value::variable(&literal(inner)?)));
    }
    let logged =
        ["log.info(", "log.warn(", "log.error("].into_iter().find_map(|call| inside(line, call));
    if let Some(inner) = logged {
        return Some(format!("console.log({});", expression(context, inner)?));
    }
    let (head, text) = line.split_once('=')?;
    let (kind, name) = head.trim().split_once(' ')?;
    let declares = ["def", "String", "int", "long", "double", "var"].contains(&kind);
    let name = name.trim();
    (declares && is_name(name))
        .then(|| expression(context, text.trim()))?
        .map(|text| format!("const {name} = {text};"))
}

/// How long a line may be that is translated, in bytes: what stands within brackets is read once for each pair around it.
const LINE_BYTES_MAX: usize = 4 << 10;

/// The arguments of a call that is all of the text.
fn inside<'a>(text: &'a str, call: &str) -> Option<&'a str> {
    let inner = text.strip_prefix(call)?.strip_suffix(')')?;
    balance(inner).then_some(inner.trim())
}

/// Whether brackets close where they open, outside of texts.
fn balance(text: &str) -> bool {
    split_at(text, '\0').is_some()
}

/// The parts of a text between the signs that stand outside of brackets and texts; `None` where these do not close.
fn split_at(text: &str, sign: char) -> Option<Vec<&str>> {
    let (mut depth, mut quote, mut start) = (0_usize, None, 0);
    let mut parts = Vec::new();
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(letter),
            (None, '(') => depth += 1,
            (None, ')') => depth = depth.checked_sub(1)?,
            (None, letter) if letter == sign && depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + letter.len_utf8();
            }
            (None, _) => {}
        }
    }
    parts.push(text[start..].trim());
    (depth == 0 && quote.is_none()).then_some(parts)
}

/// A text on both sides of its first comma that is outside of brackets and texts.
fn two(inner: &str) -> Option<(&str, &str)> {
    let parts = split_at(inner, ',')?;
    let (first, _) = parts.split_first().filter(|(_, rest)| !rest.is_empty())?;
    let rest = inner.trim_start().strip_prefix(first)?.trim_start().strip_prefix(',')?;
    Some((first, rest.trim()))
}

fn literal(text: &str) -> Option<String> {
    let quote = text.chars().next().filter(|first| matches!(first, '"' | '\''))?;
    let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
    (!inner.contains([quote, '\\', '$'])).then(|| inner.to_owned())
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// An expression: texts, numbers, names, `vars.get`, and what is added up.
fn expression(context: &mut Context, text: &str) -> Option<String> {
    let text = text.trim();
    if let Some(parts) = sum(text) {
        let parts: Option<Vec<String>> =
            parts.iter().map(|part| expression(context, part)).collect();
        return parts.map(|parts| parts.join(" + "));
    }
    let text = text.strip_suffix(".toString()").unwrap_or(text);
    if let Some(text) = literal(text) {
        return Some(quote::string(&text));
    }
    if let Some(name) = inside(text, "vars.get(").and_then(literal) {
        return Some(super::value::variable(&name));
    }
    if let Some(inner) = inside(text, "String.valueOf(") {
        return Some(format!("String({})", expression(context, inner)?));
    }
    match text {
        "UUID.randomUUID()" | "java.util.UUID.randomUUID()" => {
            context.helper(Helper::Uuid);
            Some("uuid()".to_owned())
        }
        "System.currentTimeMillis()" => Some("Date.now()".to_owned()),
        "prev.getResponseDataAsString()" => Some("res.body".to_owned()),
        "prev.getResponseCode()" => Some("String(res.status)".to_owned()),
        number if number.parse::<f64>().is_ok() => Some(number.to_owned()),
        name if is_name(name) && !RESERVED.contains(&name) => Some(name.to_owned()),
        _ => None,
    }
}

/// Names that are objects of JMeter's, and words of the language.
const RESERVED: [&str; 12] = [
    "vars", "props", "ctx", "prev", "log", "sampler", "new", "null", "return", "this", "OUT",
    "args",
];

/// The parts of a sum; `None` where nothing is added.
fn sum(text: &str) -> Option<Vec<&str>> {
    let parts = split_at(text, '+')?;
    (parts.len() > 1 && parts.iter().all(|part| !part.is_empty())).then_some(parts)
}

/// A condition in Groovy, JEXL or JavaScript as one of JavaScript; `None` where it has other words than those that are known.
pub(super) fn condition(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (piece, left) = token(rest)?;
        out.push_str(&piece);
        rest = left;
    }
    Some(out)
}

/// A token of a condition, and what is left.
fn token(rest: &str) -> Option<(String, &str)> {
    let first = rest.chars().next()?;
    if matches!(first, '"' | '\'') {
        let end = rest[1..].find(first)? + 1;
        let left = &rest[end + 1..];
        return Some((text_with_variables(&rest[1..end])?, left));
    }
    if let Some(inner) = rest.strip_prefix("${") {
        let (name, left) = inner.split_once('}')?;
        return (!name.starts_with("__")).then(|| (super::value::variable(name), left));
    }
    if let Some(inner) = rest.strip_prefix("vars.get(") {
        let (name, left) = inner.split_once(')')?;
        return Some((super::value::variable(&literal(name.trim())?), left));
    }
    for (word, ours) in WORDS {
        if let Some(left) = rest.strip_prefix(word) {
            return Some((ours.to_owned(), left));
        }
    }
    let is_number = |letter: char| letter.is_ascii_digit() || letter == '.';
    if is_number(first) {
        let end = rest.find(|letter| !is_number(letter)).unwrap_or(rest.len());
        return Some((rest[..end].to_owned(), &rest[end..]));
    }
    None
}

/// Words that conditions may have, and theirs of JavaScript.
const WORDS: [(&str, &str); 22] = [
    (".toInteger()", ""),
    (".toLong()", ""),
    ("==", "=="),
    ("!=", "!="),
    ("<=", "<="),
    (">=", ">="),
    ("&&", "&&"),
    ("||", "||"),
    ("<", "<"),
    (">", ">"),
    ("!", "!"),
    ("(", "("),
    (")", ")"),
    ("+", "+"),
    ("-", "-"),
    ("%", "%"),
    ("*", "*"),
    (" ", " "),
    ("true", "true"),
    ("false", "false"),
    ("null", "undefined"),
    ("\n", " "),
];

/// A text in quotes, which may be one variable, or have some in it.
fn text_with_variables(inner: &str) -> Option<String> {
    if !inner.contains("${") {
        return (!inner.contains('\\')).then(|| quote::string(inner));
    }
    if let Some(name) = inner.strip_prefix("${").and_then(|name| name.strip_suffix('}'))
        && !name.contains(['$', '}'])
    {
        return (!name.starts_with("__"))
            .then(|| format!("String({})", super::value::variable(name)));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assignments_are_translated_and_others_are_not() {
        let of = |text: &str| lines(&mut Context::default(), text).map(|lines| lines.join(" "));
        assert_eq!(
            of("vars.put(\"id\", UUID.randomUUID().toString());").as_deref(),
            Some("vars.id = uuid();")
        );
        assert_eq!(
            of("def a = vars.get('x') + \"-\" + 1\nvars.put(\"b\", a)\nlog.info(\"b is \" + a)")
                .as_deref(),
            Some("const a = vars.x + '-' + 1; vars.b = a; console.log('b is ' + a);")
        );
        assert_eq!(of("vars.put( 'a' , ', ' + 'b,c' )").as_deref(), Some("vars.a = ', ' + 'b,c';"));
        for text in
            ["new File('x').text", "vars.put(name, 'x')", "if (a) { b }", "", "def x = foo.bar()"]
        {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn a_line_of_any_depth_and_length_is_no_overflow() {
        let of = |text: &str| lines(&mut Context::default(), text);
        let sum = format!("def x = a{}", " + a".repeat(500));
        assert_eq!(of(&sum).map(|lines| lines[0].matches(" + ").count()), Some(500));
        let nested = format!("def x = {}a{}", "String.valueOf(".repeat(200), ")".repeat(200));
        assert!(of(&nested).is_some());
        for text in [
            format!("def x = a{}", " + a".repeat(100_000)),
            format!("def x = {}a{}", "String.valueOf(".repeat(50_000), ")".repeat(50_000)),
        ] {
            assert_eq!(of(&text), None);
        }
    }

    #[test]
    fn conditions_are_translated() {
        for (text, expect) in [
            ("\"${a}\" == \"b\"", Some("String(vars.a) == 'b'")),
            ("${n} < 5 && ${m} != 2", Some("vars.n < 5 && vars.m != 2")),
            ("vars.get('a') == 'x'", Some("vars.a == 'x'")),
            ("vars.get(\"n\").toInteger() > 3", Some("vars.n > 3")),
            ("alert(1)", None),
            ("${__javaScript(1)} == 1", None),
        ] {
            assert_eq!(condition(text).as_deref(), expect, "{text}");
        }
    }
}
