//! Texts of a plan, with their variables and functions, as expressions of JavaScript.

use jmx::{Text, TextPiece};

use super::context::Context;
use super::library::Helper;
use crate::quote;

/// The expression of a text.
pub(super) fn value(context: &mut Context, text: &Text) -> String {
    let pieces = text.pieces();
    match pieces.as_slice() {
        [] => "''".to_owned(),
        [TextPiece::Literal(literal)] => quote::string(literal),
        [one] => expression(context, one),
        all => template(context, all),
    }
}

/// A template of pieces.
pub(super) fn template(context: &mut Context, pieces: &[TextPiece<'_>]) -> String {
    let mut out = String::from("`");
    for piece in pieces {
        match piece {
            TextPiece::Literal(literal) => out.push_str(&quote::template_part(literal)),
            other => out.push_str(&format!("${{{}}}", expression(context, other))),
        }
    }
    out.push('`');
    out
}

/// The expression of a number.
pub(super) fn number(context: &mut Context, text: &Text) -> String {
    let written = text.written().trim();
    if text.is_constant() {
        return written.parse::<f64>().map_or_else(|_| "0".to_owned(), shown);
    }
    format!("Number({})", value(context, text))
}

/// A number as people write it.
pub(super) fn shown(number: f64) -> String {
    let rounded = (number * 1e6).round() / 1e6;
    format!("{rounded}")
}

/// The number of a text, where it is always the same.
pub(super) fn constant(text: Option<&Text>) -> Option<f64> {
    text.filter(|text| text.is_constant())?.written().trim().parse().ok()
}

/// The member of `vars` for a variable.
pub(super) fn variable(name: &str) -> String {
    format!("vars{}", quote::member(name))
}

fn expression(context: &mut Context, piece: &TextPiece<'_>) -> String {
    match piece {
        TextPiece::Literal(literal) => quote::string(literal),
        TextPiece::Variable(name) => variable(name),
        TextPiece::Call { name, arguments } => call(context, name, arguments),
    }
}

fn call(context: &mut Context, name: &str, arguments: &[Text]) -> String {
    let written = |at: usize| arguments.get(at).map_or("", Text::written);
    match name {
        "__P" | "__property" => {
            let default = match (name, written(1), written(2)) {
                ("__P", "", _) => "1",
                ("__P", default, _) => default,
                (_, _, default) => default,
            };
            context.property(written(0), default)
        }
        "__UUID" => with_helper(context, Helper::Uuid, "uuid()"),
        "__threadNum" => with_module(context, "exec", "exec.vu.idInTest"),
        "__threadGroupName" => with_module(context, "exec", "exec.scenario.name"),
        "__counter" if written(0).eq_ignore_ascii_case("true") => {
            with_module(context, "exec", "(exec.vu.iterationInScenario + 1)")
        }
        "__counter" => with_module(context, "exec", "(exec.scenario.iterationInTest + 1)"),
        "__time" => {
            let form = time_form(written(0));
            if matches!(form, TimeForm::Pattern(_)) {
                context.helper(Helper::FormatDate);
            }
            stored(time(form), arguments.get(1))
        }
        "__Random" => {
            context.helper(Helper::RandomInteger);
            let [from, to] = [0, 1].map(|at| argument_number(context, arguments, at));
            stored(format!("randomInteger({from}, {to})"), arguments.get(2))
        }
        "__RandomString" => {
            context.helper(Helper::RandomString);
            let (length, letters) =
                (argument_number(context, arguments, 0), argument(context, arguments, 1));
            stored(format!("randomString({length}, {letters})"), arguments.get(2))
        }
        "__urlencode" => format!("encodeURIComponent({})", argument(context, arguments, 0)),
        "__urldecode" => format!("decodeURIComponent({})", argument(context, arguments, 0)),
        "__V" => format!("vars[{}]", argument(context, arguments, 0)),
        "__changeCase" => changed_case(context, arguments),
        "__intSum" | "__longSum" => sum(context, arguments),
        "__digest" => digest(context, arguments),
        "__setProperty" => {
            format!(
                "''/* {} is not set: users share nothing */",
                quote::comment(written(0)).replace("*/", "")
            )
        }
        _ => unknown(context, name),
    }
}

fn with_helper(context: &mut Context, helper: Helper, call: &str) -> String {
    context.helper(helper);
    call.to_owned()
}

fn with_module(context: &mut Context, module: &'static str, call: &str) -> String {
    context.imports.insert(module);
    call.to_owned()
}

fn argument(context: &mut Context, arguments: &[Text], at: usize) -> String {
    arguments.get(at).map_or_else(|| "''".to_owned(), |text| value(context, text))
}

fn argument_number(context: &mut Context, arguments: &[Text], at: usize) -> String {
    arguments.get(at).map_or_else(|| "0".to_owned(), |text| number(context, text))
}

/// A value that is also stored in the variable that the last argument names.
fn stored(expression: String, name: Option<&Text>) -> String {
    match name.map(|name| name.written().trim()).filter(|name| !name.is_empty()) {
        Some(name) => format!("({} = {expression})", variable(name)),
        None => expression,
    }
}

/// How a time is written: as a number, or by a pattern of Java's.
enum TimeForm {
    Milliseconds,
    Divided(String),
    Pattern(String),
}

fn time_form(written: &str) -> TimeForm {
    match (written.trim(), written.trim().strip_prefix('/')) {
        ("", _) => TimeForm::Milliseconds,
        (_, Some(divisor)) => TimeForm::Divided(divisor.to_owned()),
        ("YMD", _) => TimeForm::Pattern("yyyyMMdd".to_owned()),
        ("HMS", _) => TimeForm::Pattern("HHmmss".to_owned()),
        ("YMDHMS", _) => TimeForm::Pattern("yyyyMMdd-HHmmss".to_owned()),
        (pattern, _) => TimeForm::Pattern(pattern.to_owned()),
    }
}

fn time(form: TimeForm) -> String {
    match form {
        TimeForm::Milliseconds => "Date.now()".to_owned(),
        TimeForm::Divided(divisor) => match divisor.parse::<u32>() {
            Ok(divisor) if divisor > 0 => format!("Math.floor(Date.now() / {divisor})"),
            _ => "Date.now()".to_owned(),
        },
        TimeForm::Pattern(pattern) => {
            format!("formatDate({}, new Date())", quote::string(&pattern))
        }
    }
}

fn changed_case(context: &mut Context, arguments: &[Text]) -> String {
    let text = argument(context, arguments, 0);
    match arguments.get(1).map_or("", Text::written) {
        "LOWER" => format!("String({text}).toLowerCase()"),
        _ => format!("String({text}).toUpperCase()"),
    }
}

fn sum(context: &mut Context, arguments: &[Text]) -> String {
    let numbers: Vec<String> = arguments
        .iter()
        .filter(|text| !text.is_constant() || text.written().trim().parse::<i64>().is_ok())
        .map(|text| number(context, text))
        .collect();
    format!("({})", numbers.join(" + "))
}

fn digest(context: &mut Context, arguments: &[Text]) -> String {
    context.imports.insert("crypto");
    let algorithm =
        arguments.first().map_or("", Text::written).to_ascii_lowercase().replace('-', "");
    let known = ["md5", "sha1", "sha256", "sha384", "sha512"].contains(&algorithm.as_str());
    match known {
        true => format!("crypto.{algorithm}({}, 'hex')", argument(context, arguments, 1)),
        false => unknown(context, "__digest"),
    }
}

/// A function that has no equal: its value is empty, and the helper says so when it is called.
fn unknown(context: &mut Context, name: &str) -> String {
    context.helper(Helper::Missing);
    format!("missing({})", quote::string(name))
}
