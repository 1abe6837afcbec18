//! Assertions as checks.

use jmx::{Class, Element, Text};

use super::code::Code;
use super::context::Context;
use super::jsonpath::steps;
use super::library::Helper;
use super::value::{constant, number, value};
use crate::quote;

/// Writes the checks of an answer `res`; those that have no equal are comments.
pub(super) fn write(context: &mut Context, assertions: &[&Element], code: &mut Code) {
    let mut members: Vec<String> = Vec::new();
    let mut titles: Vec<String> = Vec::new();
    for element in assertions {
        match test(context, element) {
            Ok(test) => {
                let title = title(element, &mut titles);
                members.push(format!("{title}: {test},"));
            }
            Err(why) => {
                let note = context.note(element, why);
                code.line(&note);
            }
        }
    }
    if members.is_empty() {
        return;
    }
    context.imports.insert("check");
    code.open("check(res, {");
    members.iter().for_each(|member| code.line(member));
    code.close("});");
}

/// The name of an assertion as a key; several of one name get numbers.
fn title(element: &Element, titles: &mut Vec<String>) -> String {
    let name = element.name.written().replace("::", ": :");
    let same = titles.iter().filter(|known| **known == name).count();
    titles.push(name.clone());
    match same {
        0 => quote::key(&name),
        more => quote::key(&format!("{name} {}", more + 1)),
    }
}

/// A function of the answer `r`; `Err` has why there is none.
fn test(context: &mut Context, element: &Element) -> Result<String, &'static str> {
    match element.class {
        Class::ResponseAssertion => response(context, element),
        Class::DurationAssertion => {
            let limit = text(element, "DurationAssertion.duration");
            Ok(format!("(r) => r.timings.duration <= {}", number(context, &limit)))
        }
        Class::SizeAssertion => size(context, element),
        Class::JsonAssertion => json(context, element),
        Class::Md5Assertion => {
            context.imports.insert("crypto");
            let hash = text(element, "MD5HexAssertion.size");
            Ok(format!("(r) => crypto.md5(r.body, 'hex') === {}", value(context, &hash)))
        }
        Class::XPathAssertion | Class::XPath2Assertion | Class::XmlAssertion => {
            Err("XML and XPath have no equal in k6")
        }
        Class::JmesPathAssertion => Err("JMESPath has no equal in k6"),
        _ => Err("a script that is an assertion is not translated: write its condition as a check"),
    }
}

fn text(element: &Element, name: &str) -> Text {
    element.properties.text(name).cloned().unwrap_or_default()
}

/// Bits of a response assertion's type.
const MATCHES: u32 = 1;
const NOT: u32 = 4;
const EQUALS: u32 = 8;
const SUBSTRING: u32 = 16;
const OR: u32 = 32;

fn response(context: &mut Context, element: &Element) -> Result<String, &'static str> {
    let field = match element.properties.written("Assertion.test_field") {
        "Assertion.response_code" => "String(r.status)",
        "Assertion.response_message" => "r.status_text",
        "Assertion.response_headers" => {
            context.helper(Helper::HeaderText);
            "headerText(r)"
        }
        "Assertion.request_headers" => "JSON.stringify(r.request.headers)",
        "Assertion.request_data" => "String(r.request.body)",
        "Assertion.sample_label" => "r.request.url",
        "Assertion.response_data_as_document" => {
            return Err("documents as text have no equal in k6");
        }
        _ => "String(r.body)",
    };
    let kind = constant(element.properties.text("Assertion.test_type")).unwrap_or(2.0) as u32;
    let list = ["Asserion.test_strings", "Assertion.test_strings"];
    let list = list.into_iter().find(|name| !element.properties.list(name).is_empty());
    let strings: Vec<&Text> = element.properties.texts(list.unwrap_or_default()).collect();
    let tests: Vec<String> = strings
        .into_iter()
        .map(|wanted| {
            let wanted = value(context, wanted);
            let one = one_test(field, &wanted, kind);
            if kind & NOT != 0 { format!("!{}", bracketed(&one)) } else { one }
        })
        .collect();
    match tests.is_empty() {
        true => Err("it has no texts to look for, and holds always"),
        false => {
            let joint = if kind & OR != 0 { " || " } else { " && " };
            Ok(format!("(r) => {}", tests.join(joint)))
        }
    }
}

fn one_test(field: &str, wanted: &str, kind: u32) -> String {
    match () {
        () if kind & EQUALS != 0 => format!("{field} === {wanted}"),
        () if kind & SUBSTRING != 0 => format!("{field}.includes({wanted})"),
        () if kind & MATCHES != 0 => format!("new RegExp(`^(?:${{{wanted}}})$`).test({field})"),
        () => format!("new RegExp({wanted}, 'm').test({field})"),
    }
}

fn bracketed(test: &str) -> String {
    if test.contains(" === ") { format!("({test})") } else { test.to_owned() }
}

fn size(context: &mut Context, element: &Element) -> Result<String, &'static str> {
    let operator = match element.properties.written("SizeAssertion.operator") {
        "2" => "!==",
        "3" => ">",
        "4" => "<",
        "5" => ">=",
        "6" => "<=",
        _ => "===",
    };
    let is_body =
        element.properties.written("Assertion.test_field") == "SizeAssertion.response_data";
    if !is_body {
        return Err("k6 knows the size of bodies alone, not that of whole answers");
    }
    let size = text(element, "SizeAssertion.size");
    Ok(format!("(r) => r.body.length {operator} {}", number(context, &size)))
}

fn json(context: &mut Context, element: &Element) -> Result<String, &'static str> {
    let steps = steps(element.properties.written("JSON_PATH"))
        .ok_or("this JSONPath has no equal here: write the search in JavaScript")?;
    context.helper(Helper::JsonValues);
    let is = |name: &str| element.properties.written(name) == "true";
    let found = format!("jsonValues(r, {steps})");
    let wanted = text(element, "EXPECTED_VALUE");
    let test = match (is("JSONVALIDATION"), is("EXPECT_NULL"), is("ISREGEX")) {
        (false, ..) => format!("{found}.length > 0"),
        (true, true, _) => format!("{found}.includes('null')"),
        (true, false, true) => {
            let wanted = value(context, &wanted);
            format!("{found}.some((one) => new RegExp(`^(?:${{{wanted}}})$`).test(one))")
        }
        (true, false, false) => format!("{found}.includes({})", value(context, &wanted)),
    };
    Ok(if is("INVERT") { format!("(r) => !({test})") } else { format!("(r) => {test}") })
}
