//! Extractors: values of an answer become variables.

use jmx::{Class, Element, Text};

use super::code::Code;
use super::context::Context;
use super::jsonpath::steps;
use super::library::Helper;
use super::value::{number, value};
use crate::quote;

/// Writes what an extractor does with the answer `res`.
pub(super) fn write(context: &mut Context, element: &Element, code: &mut Code) {
    match element.class {
        Class::RegexExtractor => regex(context, element, code),
        Class::BoundaryExtractor => boundary(context, element, code),
        Class::JsonExtractor => json(context, element, code),
        Class::HtmlExtractor => css(context, element, code),
        Class::ResultAction => {
            let note = context.note(element, "what becomes of a thread after a failure is not translated; a threshold with abortOnFail ends a test");
            code.line(&note);
        }
        Class::JmesPathExtractor => refuse(context, element, code, "JMESPath has no equal in k6"),
        Class::XPathExtractor | Class::XPath2Extractor => {
            refuse(
                context,
                element,
                code,
                "XPath has no equal in k6; res.html() takes CSS selectors",
            );
        }
        _ => refuse(context, element, code, "it is not translated"),
    }
}

fn refuse(context: &mut Context, element: &Element, code: &mut Code, why: &str) {
    let note = context.note(element, why);
    code.line(&note);
}

/// How a match is chosen: the properties for its number and its default.
struct Choice<'a> {
    number: &'a str,
    default: &'a str,
    /// The default is an empty text.
    empty: &'a str,
}

fn pick(
    context: &mut Context,
    element: &Element,
    (name, values): (&Text, &str),
    choice: &Choice<'_>,
    code: &mut Code,
) {
    context.helper(Helper::Pick);
    let text = |name: &str| element.properties.text(name).filter(|text| !text.written().is_empty());
    let number = text(choice.number).map_or_else(|| "0".to_owned(), |text| number(context, text));
    let is_empty = element.properties.written(choice.empty) == "true";
    let default = match text(choice.default) {
        Some(default) => format!(", {}", value(context, default)),
        None if is_empty => ", ''".to_owned(),
        None => String::new(),
    };
    let name = value(context, name);
    code.line(&format!("pick({name}, {values}, {number}{default});"));
}

/// The part of an answer that a property names.
fn field(context: &mut Context, written: &str) -> String {
    match written {
        "true" => {
            context.helper(Helper::HeaderText);
            "headerText(res)".to_owned()
        }
        "code" => "String(res.status)".to_owned(),
        "message" => "res.status_text".to_owned(),
        "URL" => "res.request.url".to_owned(),
        "request_headers" => "JSON.stringify(res.request.headers)".to_owned(),
        _ => "res.body".to_owned(),
    }
}

fn property(element: &Element, name: &str) -> Text {
    element.properties.text(name).cloned().unwrap_or_default()
}

fn regex(context: &mut Context, element: &Element, code: &mut Code) {
    context.helper(Helper::RegexValues);
    let field = field(context, element.properties.written("RegexExtractor.useHeaders"));
    let [pattern, template] =
        ["RegexExtractor.regex", "RegexExtractor.template"].map(|name| property(element, name));
    let template = if template.written().is_empty() { Text::parse("$1$") } else { template };
    let (pattern, template) = (value(context, &pattern), value(context, &template));
    let name = property(element, "RegexExtractor.refname");
    let choice = Choice {
        number: "RegexExtractor.match_number",
        default: "RegexExtractor.default",
        empty: "RegexExtractor.default_empty_value",
    };
    let values = format!("regexValues({field}, {pattern}, {template})");
    pick(context, element, (&name, &values), &choice, code);
}

fn boundary(context: &mut Context, element: &Element, code: &mut Code) {
    context.helper(Helper::BoundaryValues);
    let field = field(context, element.properties.written("BoundaryExtractor.useHeaders"));
    let [left, right] =
        ["BoundaryExtractor.lboundary", "BoundaryExtractor.rboundary"].map(|name| {
            let text = property(element, name);
            value(context, &text)
        });
    let name = property(element, "BoundaryExtractor.refname");
    let choice = Choice {
        number: "BoundaryExtractor.match_number",
        default: "BoundaryExtractor.default",
        empty: "BoundaryExtractor.default_empty_value",
    };
    let values = format!("boundaryValues({field}, {left}, {right})");
    pick(context, element, (&name, &values), &choice, code);
}

/// Several names and paths in one element, with `;` between them.
fn json(context: &mut Context, element: &Element, code: &mut Code) {
    let parts = |name: &str| -> Vec<String> {
        element.properties.written(name).split(';').map(|part| part.trim().to_owned()).collect()
    };
    let [names, paths] =
        ["JSONPostProcessor.referenceNames", "JSONPostProcessor.jsonPathExprs"].map(parts);
    let [numbers, defaults] =
        ["JSONPostProcessor.match_numbers", "JSONPostProcessor.defaultValues"].map(parts);
    for (at, (name, path)) in names.iter().zip(&paths).enumerate() {
        let Some(steps) = steps(path) else {
            refuse(
                context,
                element,
                code,
                &format!("the JSONPath {path} has no equal here: write the search in JavaScript"),
            );
            continue;
        };
        context.helper(Helper::JsonValues);
        context.helper(Helper::Pick);
        let number = numbers.get(at).and_then(|number| number.parse::<i64>().ok()).unwrap_or(0);
        let default = defaults.get(at).filter(|default| !default.is_empty());
        let default = default
            .map_or_else(String::new, |text| format!(", {}", value(context, &Text::parse(text))));
        let name = quote::string(name);
        code.line(&format!("pick({name}, jsonValues(res, {steps}), {number}{default});"));
    }
}

fn css(context: &mut Context, element: &Element, code: &mut Code) {
    let [selector, attribute] =
        ["HtmlExtractor.expr", "HtmlExtractor.attribute"].map(|name| property(element, name));
    let get = match attribute.written() {
        "" => "one.text()".to_owned(),
        _ => format!("one.attr({})", value(context, &attribute)),
    };
    let selector = value(context, &selector);
    let values = format!("res.html().find({selector}).map((n, one) => {get})");
    let name = property(element, "HtmlExtractor.refname");
    let choice = Choice {
        number: "HtmlExtractor.match_number",
        default: "HtmlExtractor.default",
        empty: "HtmlExtractor.default_empty_value",
    };
    pick(context, element, (&name, &values), &choice, code);
}
