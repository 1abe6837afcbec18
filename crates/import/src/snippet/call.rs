//! What the programs around scripts bring: Postman's `pm` and its older names, `client` of JetBrains, CryptoJS, and what JavaScript
//! itself has.

use super::evaluate::{Phase, Session};
use super::tree::Expression;
use super::value::{AnswerPart, Known, Polarity};
use crate::percent::encode_component;
use crate::variables::{base64_of, with_defaults};
use crate::{Body, Digest, DigestAlgorithm, DigestForm, Encoding, Header, JsonStep, Source, Text};

impl Session<'_> {
    /// What a member of a value is.
    pub(super) fn member(&mut self, object: Known, name: &str) -> Known {
        match object {
            Known::Part(AnswerPart::Json(answer, mut path)) => {
                path.push(JsonStep::Key(name.to_owned()));
                Known::Part(AnswerPart::Json(answer, path))
            }
            Known::Answer(answer) => match name {
                "code" | "status" => Known::Part(AnswerPart::Status(answer)),
                "responseTime" => Known::Part(AnswerPart::Time(answer)),
                "headers" => Known::Headers(answer),
                "cookies" => Known::Cookies(answer),
                "body" => Known::Part(AnswerPart::Json(answer, Vec::new())),
                _ => Known::Library(format!("response.{name}")),
            },
            Known::Headers(answer) => Known::Part(AnswerPart::Header(answer, name.to_owned())),
            Known::Library(path) if path == "pm" && name == "response" => Known::Answer(0),
            Known::Library(path) if path == "pm" && name == "cookies" => Known::Cookies(0),
            Known::Library(path) if matches!(path.as_str(), "environment" | "globals" | "data") => {
                self.variables.get(name).map_or(Known::Undefined, Known::Text)
            }
            Known::Library(path) => Known::Library(format!("{path}.{name}")),
            Known::Expectation(value, polarity) => self.expectation_member(value, polarity, name),
            Known::Text(text) if name == "length" => text
                .as_literal()
                .map_or(Known::Unknown, |text| Known::Number(text.encode_utf16().count() as f64)),
            Known::Array(items) if name == "length" => Known::Number(items.len() as f64),
            object => object.member(name).cloned().unwrap_or(match object {
                Known::Object(_) => Known::Undefined,
                _ => Known::Unknown,
            }),
        }
    }

    pub(super) fn call(&mut self, callee: &Expression, arguments: &[Expression]) -> Known {
        let is_assertion = *callee
            == Expression::Member(
                Box::new(Expression::Name("client".to_owned())),
                "assert".to_owned(),
            );
        if let (true, Some(condition)) = (is_assertion, arguments.first()) {
            self.assertion(condition);
            return Known::Undefined;
        }
        if let Expression::Member(object, name) = callee {
            let object = self.expression(object);
            let arguments: Vec<Known> =
                arguments.iter().map(|argument| self.expression(argument)).collect();
            return self.call_method(object, name, arguments);
        }
        let callee = self.expression(callee);
        let arguments: Vec<Known> =
            arguments.iter().map(|argument| self.expression(argument)).collect();
        match callee {
            Known::Function(function) => self.call_function(&function, arguments),
            Known::Library(path) => self.call_library(&path, &arguments),
            _ => Known::Unknown,
        }
    }

    fn call_method(&mut self, object: Known, name: &str, arguments: Vec<Known>) -> Known {
        let first = arguments.first().cloned().unwrap_or(Known::Undefined);
        match (object, name) {
            (Known::Library(path), _) => self.call_library(&format!("{path}.{name}"), &arguments),
            (Known::Answer(answer), "json") => Known::Part(AnswerPart::Json(answer, Vec::new())),
            (Known::Answer(answer), "text") => Known::Part(AnswerPart::Body(answer)),
            (Known::Headers(answer), "get" | "valueOf")
            | (Known::Answer(answer), "getResponseHeader") => first
                .as_literal()
                .map_or(Known::Unknown, |name| Known::Part(AnswerPart::Header(answer, name))),
            (Known::Cookies(answer), "get") => first
                .as_literal()
                .map_or(Known::Unknown, |name| Known::Part(AnswerPart::Cookie(answer, name))),
            (Known::Expectation(value, polarity), name) => {
                self.call_expectation(&value, polarity, name, &arguments)
            }
            (object @ Known::Digest { .. }, "toString") => {
                let form = match &first {
                    Known::Library(path) if path.ends_with("Base64") => DigestForm::Base64,
                    _ => DigestForm::Hex,
                };
                self.digest_text(&object, form).map_or(Known::Unknown, Known::Text)
            }
            (Known::Date, "getTime" | "valueOf") => Known::source(Source::UnixMilliseconds),
            (Known::Date, "toISOString" | "toJSON") => Known::source(Source::IsoTime),
            (Known::Part(AnswerPart::Json(answer, path)), "toString" | "trim") => {
                Known::Part(AnswerPart::Json(answer, path))
            }
            (Known::Part(AnswerPart::Json(..) | AnswerPart::Body(_)), _) => Known::Unknown,
            (Known::Object(members), name) => {
                let function =
                    members.into_iter().find(|(key, _)| key == name).map(|(_, value)| value);
                match function {
                    Some(Known::Function(function)) => self.call_function(&function, arguments),
                    _ => Known::Unknown,
                }
            }
            (value, "toString" | "trim") => {
                self.text_of(&value).map_or(Known::Unknown, Known::Text)
            }
            (Known::Text(text), name) => text_method(&text, name, &arguments),
            (Known::Array(items), "join") => self.joined(&items, &first),
            _ => Known::Unknown,
        }
    }

    fn joined(&mut self, items: &[Known], separator: &Known) -> Known {
        let separator = separator.as_literal().unwrap_or_else(|| ",".to_owned());
        let mut text = Text::default();
        for (index, item) in items.iter().enumerate() {
            let Some(item) = self.text_of(item) else { return Known::Unknown };
            text.push_str(if index == 0 { "" } else { &separator });
            text.push(&item);
        }
        Known::Text(text)
    }

    pub(super) fn construct(&mut self, class: &Expression, arguments: &[Expression]) -> Known {
        match class {
            Expression::Name(name) if name == "Date" && arguments.is_empty() => Known::Date,
            _ => Known::Unknown,
        }
    }

    fn call_library(&mut self, path: &str, arguments: &[Known]) -> Known {
        let first = arguments.first().cloned().unwrap_or(Known::Undefined);
        let second = arguments.get(1).cloned().unwrap_or(Known::Undefined);
        let (owner, method) = path.rsplit_once('.').unwrap_or(("", path));
        if SCOPES.contains(&owner) {
            return self.call_scope(method, &first, &second);
        }
        match path {
            "postman.setEnvironmentVariable" | "postman.setGlobalVariable" => {
                return self.call_scope("set", &first, &second);
            }
            "postman.getEnvironmentVariable" | "postman.getGlobalVariable" => {
                return self.call_scope("get", &first, &second);
            }
            "postman.clearEnvironmentVariable" | "postman.clearGlobalVariable" => {
                return self.call_scope("unset", &first, &second);
            }
            "postman.getResponseHeader" => {
                return first
                    .as_literal()
                    .map_or(Known::Unknown, |name| Known::Part(AnswerPart::Header(0, name)));
            }
            "pm.test" | "client.test" => {
                if let Known::Function(function) = second {
                    self.call_function(&function, Vec::new());
                }
            }
            "pm.expect" | "expect" => return Known::Expectation(Box::new(first), Polarity::Holds),
            "pm.sendRequest" => self.send(&first, second),
            "pm.request.headers.add"
            | "pm.request.headers.upsert"
            | "pm.request.addHeader"
            | "pm.request.upsertHeader" => {
                self.add_header(&first);
            }
            "pm.request.headers.remove" | "pm.request.removeHeader" => {
                let name = first.as_literal().unwrap_or_default();
                self.answers[0].headers.retain(|header| !header.name.eq_ignore_ascii_case(&name));
            }
            path if path.starts_with("response.to.") => {
                return self.call_answer_expectation(&path[12..], &first, &second);
            }
            path if path.starts_with("console.") || path == "client.log" => (),
            _ => return self.call_function_of_language(path, &first, arguments),
        }
        Known::Undefined
    }

    /// The methods of every scope of variables.
    fn call_scope(&mut self, method: &str, name: &Known, value: &Known) -> Known {
        let name = name.as_literal();
        match (method, name) {
            ("set", Some(name)) => self.set(&name, value),
            ("get", Some(name)) => {
                return self.variables.get(&name).map_or(Known::Undefined, Known::Text);
            }
            ("has", Some(name)) => return Known::Boolean(self.variables.get(&name).is_some()),
            ("unset" | "clear", Some(name)) => self.variables.unset(&name),
            ("replaceIn", Some(text)) => return Known::Text(self.variables.substitute(&text)),
            _ => self.note("this call of a script is left out"),
        }
        Known::Undefined
    }

    fn call_function_of_language(
        &mut self,
        path: &str,
        first: &Known,
        arguments: &[Known],
    ) -> Known {
        let text = |session: &mut Self| session.text_of(first);
        match path {
            "require" | "pm.require" => Known::Library(match first.as_literal().as_deref() {
                Some("crypto-js" | "npm:crypto-js") => "CryptoJS".to_owned(),
                Some(name) => name.to_owned(),
                None => return Known::Unknown,
            }),
            "JSON.parse" => match first {
                Known::Part(AnswerPart::Body(answer)) => {
                    Known::Part(AnswerPart::Json(*answer, Vec::new()))
                }
                value => value
                    .as_literal()
                    .and_then(|text| serde_json::from_str(&text).ok())
                    .map_or(Known::Unknown, |value: serde_json::Value| Known::of_json(&value)),
            },
            "JSON.stringify" => self.json_text(first).map_or(Known::Unknown, Known::Text),
            "String" | "Number" | "parseInt" | "parseFloat" => match first {
                Known::Text(value) if path != "String" => value
                    .as_literal()
                    .and_then(|value| value.parse().ok())
                    .map_or_else(|| first.clone(), Known::Number),
                Known::Number(_) if path == "String" => {
                    text(self).map_or(Known::Unknown, Known::Text)
                }
                value => value.clone(),
            },
            "Math.random" => Known::Random(0.0, 1.0),
            "Math.floor" | "Math.round" | "Math.trunc" | "Math.ceil" => match first {
                Known::Random(low, high) => {
                    let (min, max) = (low.floor() as i64, high.floor() as i64);
                    Known::source(Source::RandomInteger {
                        min,
                        max: max.max(min.saturating_add(1)),
                    })
                }
                Known::Number(number) => Known::Number(number.floor()),
                Known::Text(_) => first.clone(),
                _ => Known::Unknown,
            },
            "Date.now" => Known::source(Source::UnixMilliseconds),
            "uuid.v4" | "uuid" | "crypto.randomUUID" => Known::source(Source::Uuid),
            "btoa" => {
                text(self).and_then(|text| base64_of(&text)).map_or(Known::Unknown, Known::Text)
            }
            "encodeURIComponent" => text(self).map_or(Known::Unknown, |text| {
                Known::Text(text.encoded(encode_component, Encoding::Url))
            }),
            path if path.starts_with("CryptoJS.") => self.call_crypto(&path[9..], first, arguments),
            _ => {
                self.note(format!("{} of a script is not understood", stdx::terminal_line(path)));
                Known::Unknown
            }
        }
    }

    fn call_crypto(&mut self, name: &str, first: &Known, arguments: &[Known]) -> Known {
        let form = match name {
            "enc.Base64.stringify" => Some(DigestForm::Base64),
            "enc.Hex.stringify" => Some(DigestForm::Hex),
            _ => None,
        };
        if let Some(form) = form {
            let text = match first {
                Known::Digest { .. } => self.digest_text(first, form),
                value if form == DigestForm::Base64 => {
                    self.text_of(value).and_then(|text| base64_of(&text))
                }
                _ => None,
            };
            return text.map_or(Known::Unknown, Known::Text);
        }
        if name == "enc.Utf8.parse" || name == "enc.Utf8.stringify" {
            return first.clone();
        }
        let (algorithm, needs_key) = match name {
            "MD5" => (DigestAlgorithm::Md5, false),
            "SHA1" => (DigestAlgorithm::Sha1, false),
            "SHA256" => (DigestAlgorithm::Sha256, false),
            "SHA512" => (DigestAlgorithm::Sha512, false),
            "HmacMD5" => (DigestAlgorithm::Md5, true),
            "HmacSHA1" => (DigestAlgorithm::Sha1, true),
            "HmacSHA256" => (DigestAlgorithm::Sha256, true),
            "HmacSHA512" => (DigestAlgorithm::Sha512, true),
            _ => {
                self.note(format!("CryptoJS.{} is not understood", stdx::terminal_line(name)));
                return Known::Unknown;
            }
        };
        let key = arguments.get(1).cloned().and_then(|key| self.text_of(&key));
        match (self.text_of(first), needs_key, key) {
            (Some(message), true, Some(key)) => {
                Known::Digest { algorithm, key: Some(key), message }
            }
            (Some(message), false, _) => Known::Digest { algorithm, key: None, message },
            _ => Known::Unknown,
        }
    }

    /// A digest as text.
    pub(super) fn digest_text(&mut self, digest: &Known, form: DigestForm) -> Option<Text> {
        let Known::Digest { algorithm, key, message } = digest else { return None };
        let (key, message) = (key.clone(), message.clone());
        Some(Text::value(Source::Digest(Box::new(Digest {
            algorithm: *algorithm,
            key,
            message,
            form,
        }))))
    }

    /// A value as JSON, with what is known in the run at its places.
    pub(super) fn json_text(&mut self, value: &Known) -> Option<Text> {
        if let Some(json) = value.as_json() {
            return Some(Text::literal(json.to_string()));
        }
        let mut text = Text::default();
        match value {
            Known::Object(members) => {
                text.push_str("{");
                for (index, (key, value)) in members.iter().enumerate() {
                    text.push_str(if index == 0 { "" } else { "," });
                    text.push_str(&format!("{}:", serde_json::Value::from(key.as_str())));
                    text.push(&self.json_text(value)?);
                }
                text.push_str("}");
            }
            Known::Array(items) => {
                text.push_str("[");
                for (index, value) in items.iter().enumerate() {
                    text.push_str(if index == 0 { "" } else { "," });
                    text.push(&self.json_text(value)?);
                }
                text.push_str("]");
            }
            value => {
                let inner = self.text_of(value)?;
                let escape = |literal: &str| {
                    let quoted = serde_json::Value::from(literal).to_string();
                    quoted[1..quoted.len() - 1].to_owned()
                };
                text.push_str("\"");
                text.push(&inner.encoded(escape, Encoding::Json));
                text.push_str("\"");
            }
        }
        Some(text)
    }

    fn add_header(&mut self, field: &Known) {
        let value = field.member("value").cloned().and_then(|value| self.text_of(&value));
        let line = field.as_literal();
        let parts = line.as_deref().and_then(|line| line.split_once(':'));
        let header = match (field.text_member("key"), value, parts) {
            (Some(name), Some(value), _) => Header { name, value },
            (_, _, Some((name, value))) => {
                Header { name: name.trim().to_owned(), value: Text::literal(value.trim()) }
            }
            _ => return self.note("a header field that a script adds is left out"),
        };
        let value = self.variables.substitute(&with_marks(&header.value));
        let header = Header {
            value: if header.value.as_literal().is_some() { value } else { header.value },
            ..header
        };
        let headers = &mut self.answers[0].headers;
        headers.retain(|other| !other.name.eq_ignore_ascii_case(&header.name));
        headers.push(header);
    }

    pub(super) fn assign_member(&mut self, object: &Known, member: &str, value: &Known) {
        let path = match object {
            Known::Library(path) => format!("{path}.{member}"),
            _ => String::new(),
        };
        match (path.as_str(), self.text_of(value)) {
            ("pm.request.body.raw", Some(text)) if self.phase == Phase::Before => {
                self.answers[0].body = Body::Text(text);
            }
            ("pm.request.url", Some(text)) if self.phase == Phase::Before => {
                self.answers[0].url = text;
            }
            ("pm.request.method", Some(text)) if self.phase == Phase::Before => {
                self.answers[0].method = with_defaults(&text).to_ascii_uppercase();
            }
            _ => self.note("this assignment of a script is left out"),
        }
    }
}

/// The text with a mark for what is known in the run only.
fn with_marks(text: &Text) -> String {
    text.as_literal().map_or_else(|| text.with_values_as(""), str::to_owned)
}

/// Methods of texts that are the same in every run.
fn text_method(text: &Text, name: &str, arguments: &[Known]) -> Known {
    let Some(text) = text.as_literal() else { return Known::Unknown };
    let first = arguments.first().and_then(Known::as_literal);
    let second = arguments.get(1).and_then(Known::as_literal);
    match (name, first, second) {
        ("toUpperCase", ..) => Known::literal(text.to_uppercase()),
        ("toLowerCase", ..) => Known::literal(text.to_lowercase()),
        ("includes" | "has", Some(part), _) => Known::Boolean(text.contains(&part)),
        ("startsWith", Some(part), _) => Known::Boolean(text.starts_with(&part)),
        ("endsWith", Some(part), _) => Known::Boolean(text.ends_with(&part)),
        ("concat", Some(part), _) => Known::literal(format!("{text}{part}")),
        ("replace", Some(from), Some(to)) if !from.is_empty() => {
            Known::literal(text.replacen(&from, &to, 1))
        }
        ("split", Some(by), _) if !by.is_empty() => {
            Known::Array(text.split(&by).map(Known::literal).collect())
        }
        _ => Known::Unknown,
    }
}

/// What holds variables.
const SCOPES: [&str; 8] = [
    "pm.environment",
    "pm.collectionVariables",
    "pm.globals",
    "pm.variables",
    "pm.iterationData",
    "client.global",
    "request.variables",
    "request.environment",
];
