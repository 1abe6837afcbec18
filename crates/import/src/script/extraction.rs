//! What is taken from an answer, and what is checked in it, as JavaScript.

use std::fmt::Write as _;

use super::expression::text;
use super::library::Helper;
use super::line::line;
use super::names::Names;
use crate::{Between, Check, Decoding, Exchange, Extraction, Find, JsonStep, quote};

/// The statements that fill the variables of the session.
pub(super) fn statements(names: &mut Names, exchange: &Exchange, indent: &str) -> String {
    let mut out = String::new();
    for one in &exchange.extractions {
        let variable = names.found(&one.variable);
        let found = find(names, &one.find);
        let found = cut(names, found, one.cut.as_ref());
        let remark = quote::comment(&one.remark);
        let remark = if remark.is_empty() { String::new() } else { format!(" // {remark}") };
        let statement = match &one.find {
            // An answer that is no JSON is one without the value: its check says so, and the session goes on.
            Find::Json(_) => {
                format!(
                    "try {{ {variable} = {found}; }} catch (e) {{ {variable} = undefined; }}{remark}"
                )
            }
            _ => format!("{variable} = {found};{remark}"),
        };
        line(&mut out, indent, &statement);
        for decoding in decodings(one) {
            let decoded = decoded(names, decoding, &variable);
            line(
                &mut out,
                indent,
                &format!("if ({variable} !== undefined) {variable} = {decoded};"),
            );
        }
    }
    out
}

fn decodings(one: &Extraction) -> impl Iterator<Item = Decoding> + '_ {
    one.decodings.iter().copied()
}

fn cut(names: &mut Names, found: String, cut: Option<&Between>) -> String {
    match cut {
        None => found,
        Some(Between { left, right }) => {
            names.helpers.insert(Helper::Between);
            format!("between({found}, {}, {})", quote::string(left), quote::string(right))
        }
    }
}

fn find(names: &mut Names, find: &Find) -> String {
    match find {
        Find::Json(path) => json(path),
        Find::Header(name) => format!("res.headers{}", quote::member(&canonical(name))),
        Find::Cookie(name) => format!("(res.cookies{} || [{{}}])[0].value", quote::member(name)),
        Find::Html { selector, attribute } if attribute.is_empty() => {
            format!("res.html({}).first().text()", quote::string(selector))
        }
        Find::Html { selector, attribute } => {
            format!("res.html({}).attr({})", quote::string(selector), quote::string(attribute))
        }
        Find::Body(between) => cut(names, "res.body".to_owned(), Some(between)),
        Find::BodyItem { between: Between { left, right }, nth } => {
            names.helpers.insert(Helper::ItemBetween);
            let (left, right) = (quote::string(left), quote::string(right));
            format!("itemBetween(res.body, {left}, {right}, {nth})")
        }
        Find::Address => "res.url".to_owned(),
        Find::Status => "String(res.status)".to_owned(),
    }
}

/// `res.json('a.0.b')` where the path is simple, else the members one after the other.
fn json(path: &[JsonStep]) -> String {
    let simple = path.iter().all(|step| match step {
        JsonStep::Key(key) => {
            !key.is_empty()
                && key.chars().all(|char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-'))
        }
        JsonStep::Index(index) => *index >= 0,
    });
    if simple && !path.is_empty() {
        let steps: Vec<String> = path
            .iter()
            .map(|step| match step {
                JsonStep::Key(key) => key.clone(),
                JsonStep::Index(index) => index.to_string(),
            })
            .collect();
        return format!("res.json({})", quote::string(&steps.join(".")));
    }
    let mut out = "res.json()".to_owned();
    for step in path {
        match step {
            JsonStep::Key(key) => {
                let member = quote::member(key);
                out.push_str("?.");
                out.push_str(member.strip_prefix('.').unwrap_or(&member));
            }
            JsonStep::Index(index) => {
                let _ = write!(out, "?.at({index})");
            }
        }
    }
    out
}

/// A header field's name as k6 and Go write it: `x-csrf-token` is `X-Csrf-Token`.
fn canonical(name: &str) -> String {
    let mut start = true;
    name.chars()
        .map(|char| {
            let char = if start { char.to_ascii_uppercase() } else { char.to_ascii_lowercase() };
            start = char == '-';
            char
        })
        .collect()
}

fn decoded(names: &mut Names, decoding: Decoding, value: &str) -> String {
    match decoding {
        Decoding::Url => format!("decodeURIComponent({value})"),
        Decoding::UrlForm => format!("decodeURIComponent({value}.replace(/\\+/g, ' '))"),
        Decoding::Html => {
            names.helpers.insert(Helper::FromHtml);
            format!("fromHtml({value})")
        }
        Decoding::Json => format!("JSON.parse('\"' + {value} + '\"')"),
        Decoding::Base64 => {
            names.helpers.insert(Helper::Encoding);
            format!("encoding.b64decode({value}, 'std', 's')")
        }
    }
}

/// A member of the object that `check` takes.
pub(super) fn check(names: &mut Names, label: &str, check: &Check) -> String {
    let (title, test) = match check {
        Check::BodyContains(wanted) => {
            let shown = wanted.with_values_as("{}");
            (format!("has {shown}"), format!("String(r.body).includes({})", text(names, wanted)))
        }
        Check::HeaderIs(name, wanted) => {
            let shown = wanted.with_values_as("{}");
            let header = quote::member(&canonical(name));
            (
                format!("has {name}: {shown}"),
                format!("r.headers{header} === {}", text(names, wanted)),
            )
        }
        Check::HeaderExists(name) => {
            let header = quote::member(&canonical(name));
            (format!("has {name}"), format!("r.headers{header} !== undefined"))
        }
        Check::JsonIs(path, wanted) => {
            let value = json(path).replacen("res.", "r.", 1);
            let wanted = match wanted {
                serde_json::Value::String(wanted) => quote::string(wanted),
                serde_json::Value::Number(_)
                | serde_json::Value::Bool(_)
                | serde_json::Value::Null => wanted.to_string(),
                other => {
                    let wanted = quote::string(&other.to_string());
                    return titled(
                        label,
                        "has the JSON expected",
                        &format!("JSON.stringify({value}) === {wanted}"),
                    );
                }
            };
            (format!("has {} as expected", shown_path(path)), format!("{value} === {wanted}"))
        }
        Check::JsonExists(path) => {
            let value = json(path).replacen("res.", "r.", 1);
            (format!("has {}", shown_path(path)), format!("{value} !== undefined"))
        }
    };
    titled(label, &title, &test)
}

fn titled(label: &str, title: &str, test: &str) -> String {
    let title: String = quote::comment(title).chars().take(80).collect();
    format!("{}: (r) => {test}", quote::title(&format!("{label} {title}")))
}

/// A path as people write it.
fn shown_path(path: &[JsonStep]) -> String {
    path.iter().fold("$".to_owned(), |out, step| match step {
        JsonStep::Key(key) => format!("{out}.{key}"),
        JsonStep::Index(index) => format!("{out}[{index}]"),
    })
}
