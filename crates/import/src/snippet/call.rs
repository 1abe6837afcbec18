//! What the programs around scripts bring: Postman's `pm` and its older names, `client` of JetBrains, CryptoJS, and what JavaScript
//! itself has.

use super::evaluate::{Phase, Session};
use super::tree::Expression;
use super::value::{AnswerPart, Datum, Polarity};
use crate::percent::encode_component;
use crate::variables::{base64_of, with_defaults};
use crate::{Body, Digest, DigestAlgorithm, DigestForm, Encoding, Header, JsonStep, Source, Text};

impl Session<'_> {
    /// What a member of a value is.
    pub(super) fn member(&mut self, object: Datum, name: &str) -> Datum {
        match object {
            Datum::Part(AnswerPart::Json(answer, mut path)) => {
                path.push(JsonStep::Key(name.to_owned()));
                Datum::Part(AnswerPart::Json(answer, path))
            }
            Datum::Answer(answer) => match name {
                "code" | "status" => Datum::Part(AnswerPart::Status(answer)),
                "responseTime" => Datum::Part(AnswerPart::Time(answer)),
                "headers" => Datum::Headers(answer),
                "cookies" => Datum::Cookies(answer),
                "body" => Datum::Part(AnswerPart::Json(answer, Vec::new())),
                _ => Datum::Library(format!("response.{name}")),
            },
            Datum::Headers(answer) => Datum::Part(AnswerPart::Header(answer, name.to_owned())),
            Datum::Library(path) if path == "pm" && name == "response" => Datum::Answer(0),
            Datum::Library(path) if path == "pm" && name == "cookies" => Datum::Cookies(0),
            Datum::Library(path) if matches!(path.as_str(), "environment" | "globals" | "data") => {
                self.variables.get(name).map_or(Datum::Undefined, Datum::Text)
            }
            Datum::Library(path) => Datum::Library(format!("{path}.{name}")),
            Datum::Expectation(value, polarity) => self.expectation_member(value, polarity, name),
            Datum::Text(text) if name == "length" => text
                .as_literal()
                .map_or(Datum::Unknown, |text| Datum::Number(text.encode_utf16().count() as f64)),
            Datum::Array(items) if name == "length" => Datum::Number(items.len() as f64),
            object => object.member(name).cloned().unwrap_or(match object {
                Datum::Object(_) => Datum::Undefined,
                _ => Datum::Unknown,
            }),
        }
    }

    pub(super) fn call(&mut self, callee: &Expression, arguments: &[Expression]) -> Datum {
        let is_assertion = *callee
            == Expression::Member(
                Box::new(Expression::Name("client".to_owned())),
                "assert".to_owned(),
            );
        if let (true, Some(condition)) = (is_assertion, arguments.first()) {
            self.assertion(condition);
            return Datum::Undefined;
        }
        if let Expression::Member(object, name) = callee {
            let object = self.expression(object);
            let arguments: Vec<Datum> =
                arguments.iter().map(|argument| self.expression(argument)).collect();
            return self.call_method(object, name, arguments);
        }
        let callee = self.expression(callee);
        let arguments: Vec<Datum> =
            arguments.iter().map(|argument| self.expression(argument)).collect();
        match callee {
            Datum::Function(function) => self.call_function(&function, arguments),
            Datum::Library(path) => self.call_library(&path, &arguments),
            _ => Datum::Unknown,
        }
    }

    fn call_method(&mut self, object: Datum, name: &str, arguments: Vec<Datum>) -> Datum {
        let first = arguments.first().cloned().unwrap_or(Datum::Undefined);
        match (object, name) {
            (Datum::Library(path), _) => self.call_library(&format!("{path}.{name}"), &arguments),
            (Datum::Answer(answer), "json") => Datum::Part(AnswerPart::Json(answer, Vec::new())),
            (Datum::Answer(answer), "text") => Datum::Part(AnswerPart::Body(answer)),
            (Datum::Headers(answer), "get" | "valueOf")
            | (Datum::Answer(answer), "getResponseHeader") => first
                .as_literal()
                .map_or(Datum::Unknown, |name| Datum::Part(AnswerPart::Header(answer, name))),
            (Datum::Cookies(answer), "get") => first
                .as_literal()
                .map_or(Datum::Unknown, |name| Datum::Part(AnswerPart::Cookie(answer, name))),
            (Datum::Expectation(value, polarity), name) => {
                self.call_expectation(&value, polarity, name, &arguments)
            }
            (object @ Datum::Digest { .. }, "toString") => {
                let form = match &first {
                    Datum::Library(path) if path.ends_with("Base64") => DigestForm::Base64,
                    _ => DigestForm::Hex,
                };
                self.digest_text(&object, form).map_or(Datum::Unknown, Datum::Text)
            }
            (Datum::Date, "getTime" | "valueOf") => Datum::source(Source::UnixMilliseconds),
            (Datum::Date, "toISOString" | "toJSON") => Datum::source(Source::IsoTime),
            (Datum::Part(AnswerPart::Json(answer, path)), "toString" | "trim") => {
                Datum::Part(AnswerPart::Json(answer, path))
            }
            (Datum::Part(AnswerPart::Json(..) | AnswerPart::Body(_)), _) => Datum::Unknown,
            (Datum::Object(members), name) => {
                let function =
                    members.into_iter().find(|(key, _)| key == name).map(|(_, value)| value);
                match function {
                    Some(Datum::Function(function)) => self.call_function(&function, arguments),
                    _ => Datum::Unknown,
                }
            }
            (value, "toString" | "trim") => {
                self.text_of(&value).map_or(Datum::Unknown, Datum::Text)
            }
            (Datum::Text(text), name) => text_method(&text, name, &arguments),
            (Datum::Array(items), "join") => self.joined(&items, &first),
            _ => Datum::Unknown,
        }
    }

    fn joined(&mut self, items: &[Datum], separator: &Datum) -> Datum {
        let separator = separator.as_literal().unwrap_or_else(|| ",".to_owned());
        let mut text = Text::default();
        for (index, item) in items.iter().enumerate() {
            let Some(item) = self.text_of(item) else { return Datum::Unknown };
            text.push_str(if index == 0 { "" } else { &separator });
            text.push(&item);
        }
        Datum::Text(text)
    }

    pub(super) fn construct(&mut self, class: &Expression, arguments: &[Expression]) -> Datum {
        match class {
            Expression::Name(name) if name == "Date" && arguments.is_empty() => Datum::Date,
            _ => Datum::Unknown,
        }
    }

    fn call_library(&mut self, path: &str, arguments: &[Datum]) -> Datum {
        let first = arguments.first().cloned().unwrap_or(Datum::Undefined);
        let second = arguments.get(1).cloned().unwrap_or(Datum::Undefined);
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
                    .map_or(Datum::Unknown, |name| Datum::Part(AnswerPart::Header(0, name)));
            }
            "pm.test" | "client.test" => {
                if let Datum::Function(function) = second {
                    self.call_function(&function, Vec::new());
                }
            }
            "pm.expect" | "expect" => {
                return Datum::Expectation(Box::new(first), Polarity::Holds);
            }
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
        Datum::Undefined
    }

    /// The methods of every scope of variables.
    fn call_scope(&mut self, method: &str, name: &Datum, value: &Datum) -> Datum {
        let name = name.as_literal();
        match (method, name) {
            ("set", Some(name)) => self.set(&name, value),
            ("get", Some(name)) => {
                return self.variables.get(&name).map_or(Datum::Undefined, Datum::Text);
            }
            ("has", Some(name)) => {
                return Datum::Boolean(self.variables.get(&name).is_some());
            }
            ("unset" | "clear", Some(name)) => self.variables.unset(&name),
            ("replaceIn", Some(text)) => {
                return Datum::Text(self.variables.substitute(&text));
            }
            _ => self.note("this call of a script is left out"),
        }
        Datum::Undefined
    }

    fn call_function_of_language(
        &mut self,
        path: &str,
        first: &Datum,
        arguments: &[Datum],
    ) -> Datum {
        let text = |session: &mut Self| session.text_of(first);
        match path {
            "require" | "pm.require" => Datum::Library(match first.as_literal().as_deref() {
                Some("crypto-js" | "npm:crypto-js") => "CryptoJS".to_owned(),
                Some(name) => name.to_owned(),
                None => return Datum::Unknown,
            }),
            "JSON.parse" => match first {
                Datum::Part(AnswerPart::Body(answer)) => {
                    Datum::Part(AnswerPart::Json(*answer, Vec::new()))
                }
                value => value
                    .as_literal()
                    .and_then(|text| serde_json::from_str(&text).ok())
                    .map_or(Datum::Unknown, |value: serde_json::Value| Datum::of_json(&value)),
            },
            "JSON.stringify" => self.json_text(first).map_or(Datum::Unknown, Datum::Text),
            "String" | "Number" | "parseInt" | "parseFloat" => match first {
                Datum::Text(value) if path != "String" => value
                    .as_literal()
                    .and_then(|value| value.parse().ok())
                    .map_or_else(|| first.clone(), Datum::Number),
                Datum::Number(_) if path == "String" => {
                    text(self).map_or(Datum::Unknown, Datum::Text)
                }
                value => value.clone(),
            },
            "Math.random" => Datum::Random(0.0, 1.0),
            "Math.floor" | "Math.round" | "Math.trunc" | "Math.ceil" => match first {
                Datum::Random(low, high) => {
                    let (min, max) = (low.floor() as i64, high.floor() as i64);
                    Datum::source(Source::RandomInteger {
                        min,
                        max: max.max(min.saturating_add(1)),
                    })
                }
                Datum::Number(number) => Datum::Number(number.floor()),
                Datum::Text(_) => first.clone(),
                _ => Datum::Unknown,
            },
            "Date.now" => Datum::source(Source::UnixMilliseconds),
            "uuid.v4" | "uuid" | "crypto.randomUUID" => Datum::source(Source::Uuid),
            "btoa" => {
                text(self).and_then(|text| base64_of(&text)).map_or(Datum::Unknown, Datum::Text)
            }
            "encodeURIComponent" => text(self).map_or(Datum::Unknown, |text| {
                Datum::Text(text.encoded(encode_component, Encoding::Url))
            }),
            path if path.starts_with("CryptoJS.") => self.call_crypto(&path[9..], first, arguments),
            _ => {
                self.note(format!("{} of a script is not understood", stdx::terminal_line(path)));
                Datum::Unknown
            }
        }
    }

    fn call_crypto(&mut self, name: &str, first: &Datum, arguments: &[Datum]) -> Datum {
        let form = match name {
            "enc.Base64.stringify" => Some(DigestForm::Base64),
            "enc.Hex.stringify" => Some(DigestForm::Hex),
            _ => None,
        };
        if let Some(form) = form {
            let text = match first {
                Datum::Digest { .. } => self.digest_text(first, form),
                value if form == DigestForm::Base64 => {
                    self.text_of(value).and_then(|text| base64_of(&text))
                }
                _ => None,
            };
            return text.map_or(Datum::Unknown, Datum::Text);
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
                return Datum::Unknown;
            }
        };
        let key = arguments.get(1).cloned().and_then(|key| self.text_of(&key));
        match (self.text_of(first), needs_key, key) {
            (Some(message), true, Some(key)) => {
                Datum::Digest { algorithm, key: Some(key), message }
            }
            (Some(message), false, _) => Datum::Digest { algorithm, key: None, message },
            _ => Datum::Unknown,
        }
    }

    /// A digest as text.
    pub(super) fn digest_text(&mut self, digest: &Datum, form: DigestForm) -> Option<Text> {
        let Datum::Digest { algorithm, key, message } = digest else { return None };
        let (key, message) = (key.clone(), message.clone());
        Some(Text::value(Source::Digest(Box::new(Digest {
            algorithm: *algorithm,
            key,
            message,
            form,
        }))))
    }

    /// A value as JSON, with what is known in the run at its places.
    pub(super) fn json_text(&mut self, value: &Datum) -> Option<Text> {
        if let Some(json) = value.as_json() {
            return Some(Text::literal(json.to_string()));
        }
        let mut text = Text::default();
        match value {
            Datum::Object(members) => {
                text.push_str("{");
                for (index, (key, value)) in members.iter().enumerate() {
                    text.push_str(if index == 0 { "" } else { "," });
                    text.push_str(&format!("{}:", serde_json::Value::from(key.as_str())));
                    text.push(&self.json_text(value)?);
                }
                text.push_str("}");
            }
            Datum::Array(items) => {
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

    fn add_header(&mut self, field: &Datum) {
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

    pub(super) fn assign_member(&mut self, object: &Datum, member: &str, value: &Datum) {
        let path = match object {
            Datum::Library(path) => format!("{path}.{member}"),
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
fn text_method(text: &Text, name: &str, arguments: &[Datum]) -> Datum {
    let Some(text) = text.as_literal() else { return Datum::Unknown };
    let first = arguments.first().and_then(Datum::as_literal);
    let second = arguments.get(1).and_then(Datum::as_literal);
    match (name, first, second) {
        ("toUpperCase", ..) => Datum::literal(text.to_uppercase()),
        ("toLowerCase", ..) => Datum::literal(text.to_lowercase()),
        ("includes" | "has", Some(part), _) => Datum::Boolean(text.contains(&part)),
        ("startsWith", Some(part), _) => Datum::Boolean(text.starts_with(&part)),
        ("endsWith", Some(part), _) => Datum::Boolean(text.ends_with(&part)),
        ("concat", Some(part), _) => Datum::literal(format!("{text}{part}")),
        ("replace", Some(from), Some(to)) if !from.is_empty() => {
            Datum::literal(text.replacen(&from, &to, 1))
        }
        ("split", Some(by), _) if !by.is_empty() => {
            Datum::Array(text.split(&by).map(Datum::literal).collect())
        }
        _ => Datum::Unknown,
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
