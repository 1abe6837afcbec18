//! An entry of a HAR, whatever program wrote it: a request, its answer, and messages of a WebSocket.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use url::Url;

use super::moment;

/// How long the body of an answer may be that is searched for values, in bytes.
const BODY_BYTES_MAX: usize = 4 << 20;

/// A request that was recorded.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// Which entry of the file it is, from 1.
    pub(super) number: usize,
    /// When it began, in milliseconds since 1970.
    pub(super) started_ms: Option<i64>,
    /// How long it took, in milliseconds.
    pub(super) took_ms: i64,
    pub(super) page: Option<String>,
    /// What the browser says it is: `document`, `fetch`, `script`; empty: not said.
    pub(super) resource: String,
    pub(super) method: String,
    pub(super) url: Url,
    /// The address as the file has it, without its fragment.
    pub(super) address: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) cookies: Vec<(String, String)>,
    pub(super) body: Payload,
    pub(super) answer: Answer,
    pub(super) messages: Vec<Message>,
}

/// The body of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Payload {
    None,
    Text(String),
    Bytes(Vec<u8>),
    Params(Vec<Param>),
    /// The file does not have it: so many bytes were sent.
    Missing(usize),
}

/// A field of a form.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Param {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) file_name: Option<String>,
    pub(super) content_type: Option<String>,
}

/// An answer.
#[derive(Debug, Clone, Default)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) cookies: Vec<SetCookie>,
    /// Its media type without parameters, in small letters.
    pub(super) mime: String,
    /// Its body, if it is text.
    pub(super) text: String,
}

/// A cookie that an answer sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SetCookie {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) path: String,
}

/// A message of a WebSocket.
#[derive(Debug, Clone)]
pub(super) struct Message {
    pub(super) is_sent: bool,
    pub(super) data: String,
    pub(super) is_text: bool,
}

impl Entry {
    /// The entry of a value; none if it has no address that can be called.
    pub(super) fn of(value: &Value, number: usize) -> Option<Self> {
        let request = &value["request"];
        let mut url = Url::parse(&text_of(&request["url"])).ok()?;
        url.set_fragment(None);
        let method = text_of(&request["method"]).to_ascii_uppercase();
        if method.is_empty() || !method.bytes().all(|byte| byte.is_ascii_graphic()) {
            return None;
        }
        let headers = sent_headers(request);
        let address = text_of(&request["url"]);
        let address = address.split('#').next().unwrap_or_default().to_owned();
        let messages = value["_webSocketMessages"].as_array().into_iter().flatten();
        Some(Self {
            number,
            started_ms: moment::milliseconds(&text_of(&value["startedDateTime"])),
            took_ms: value["time"].as_f64().map_or(0, |time| time.clamp(0.0, 1e9) as i64),
            page: value["pageref"].as_str().map(str::to_owned),
            resource: text_of(&value["_resourceType"]).to_ascii_lowercase(),
            cookies: sent_cookies(&headers, &request["cookies"]),
            body: sent_body(request, &headers),
            answer: answer_of(&value["response"]),
            messages: messages.filter_map(message_of).collect(),
            address: if address.is_ascii() { address } else { url.to_string() },
            headers,
            method,
            url,
        })
    }

    /// A header field of the request.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }

    /// When its answer was there, in milliseconds since 1970.
    pub(super) fn ended_ms(&self) -> Option<i64> {
        self.started_ms.map(|start| start.saturating_add(self.took_ms))
    }

    /// Scheme, host and port.
    pub(super) fn origin(&self) -> &str {
        let start = self.address.find("://").map_or(0, |at| at + 3);
        let end =
            self.address[start..].find(['/', '?']).map_or(self.address.len(), |at| start + at);
        &self.address[..end]
    }

    /// Whether it is a WebSocket.
    pub(super) fn is_socket(&self) -> bool {
        matches!(self.url.scheme(), "ws" | "wss")
            || self.answer.status == 101
            || self.resource == "websocket"
    }

    /// Whether a person went there: a page, not a part of one.
    pub(super) fn is_navigation(&self) -> bool {
        match self.header("sec-fetch-dest") {
            Some(dest) => dest == "document",
            None => self.resource == "document",
        }
    }

    /// How it is named to people.
    pub(super) fn label(&self) -> String {
        let path: String = self.url.path().chars().take(80).collect();
        format!("entry {} ({} {path})", self.number, self.method)
    }
}

impl Answer {
    /// A header field.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }

    /// The address that it leads to, if it is a redirect.
    pub(super) fn redirect(&self) -> Option<&str> {
        let leads = matches!(self.status, 301 | 302 | 303 | 307 | 308);
        leads.then(|| self.header("location")).flatten()
    }

    /// Whether its body is JSON.
    pub(super) fn is_json(&self) -> bool {
        self.mime.contains("json")
            || (!self.is_html() && self.text.trim_start().starts_with(['{', '[']))
    }

    /// Whether its body is a page or a part of one.
    pub(super) fn is_html(&self) -> bool {
        self.mime.contains("html")
    }
}

fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

/// A string as it is, a number as its digits, else nothing.
pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Bool(truth) => truth.to_string(),
        _ => String::new(),
    }
}

/// Header fields; the same twice is one (chrome-har writes each of them twice).
fn headers_of(list: &Value) -> Vec<(String, String)> {
    let mut headers: Vec<(String, String)> = vec![];
    let mut seen: BTreeSet<(String, String)> = BTreeSet::new();
    for header in list.as_array().into_iter().flatten() {
        let pair = (text_of(&header["name"]), text_of(&header["value"]));
        let is_new = seen.insert((pair.0.to_ascii_lowercase(), pair.1.clone()));
        if !pair.0.is_empty() && is_new {
            headers.push(pair);
        }
    }
    headers
}

/// The header fields of a request. Some writers have the type of its body beside the body alone.
fn sent_headers(request: &Value) -> Vec<(String, String)> {
    let mut headers = headers_of(&request["headers"]);
    let mime = text_of(&request["postData"]["mimeType"]);
    if mime.contains('/') && header(&headers, "content-type").is_none() {
        headers.push(("Content-Type".to_owned(), mime));
    }
    headers
}

fn sent_cookies(headers: &[(String, String)], list: &Value) -> Vec<(String, String)> {
    let in_headers: Vec<(String, String)> = headers
        .iter()
        .filter(|(name, _)| name.eq_ignore_ascii_case("cookie"))
        .flat_map(|(_, value)| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    if !in_headers.is_empty() {
        return in_headers;
    }
    let list = list.as_array().into_iter().flatten();
    list.map(|cookie| (text_of(&cookie["name"]), text_of(&cookie["value"])))
        .filter(|(name, _)| !name.is_empty())
        .collect()
}

fn sent_body(request: &Value, headers: &[(String, String)]) -> Payload {
    let data = &request["postData"];
    let length = header(headers, "content-length").and_then(|value| value.parse().ok());
    let length = length.or_else(|| request["bodySize"].as_u64()).unwrap_or(0);
    let length = usize::try_from(length).unwrap_or(usize::MAX).min(64 << 20);
    let text = text_of(&data["text"]);
    let is_base64 = ["encoding", "_encoding"].iter().any(|key| data[key] == "base64");
    if !text.is_empty() {
        if !is_base64 {
            return Payload::Text(text);
        }
        return match STANDARD.decode(text.trim()).map(String::from_utf8) {
            Ok(Ok(text)) => Payload::Text(text),
            Ok(Err(bytes)) => Payload::Bytes(bytes.into_bytes()),
            Err(_) => Payload::Missing(length),
        };
    }
    let params: Vec<Param> =
        data["params"].as_array().into_iter().flatten().map(param_of).collect();
    match (params.is_empty(), length) {
        (false, _) => Payload::Params(params),
        (true, 0) => Payload::None,
        (true, length) => Payload::Missing(length),
    }
}

fn param_of(param: &Value) -> Param {
    let value = &param["value"];
    let is_nested = value.is_object() || value.is_array();
    Param {
        name: text_of(&param["name"]),
        value: if is_nested { value.to_string() } else { text_of(value) },
        file_name: param["fileName"].as_str().map(str::to_owned),
        content_type: param["contentType"].as_str().map(str::to_owned),
    }
}

fn answer_of(response: &Value) -> Answer {
    let content = &response["content"];
    let mut headers = headers_of(&response["headers"]);
    let status = response["status"].as_u64().and_then(|status| status.try_into().ok());
    let location = text_of(&response["redirectURL"]);
    if header(&headers, "location").is_none() && !location.is_empty() {
        headers.push(("Location".to_owned(), location));
    }
    let mime = header(&headers, "content-type").map(str::to_owned);
    let mime = mime.filter(|mime| !mime.is_empty()).unwrap_or(text_of(&content["mimeType"]));
    let mime = mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let mut answer = Answer {
        status: status.unwrap_or(0),
        cookies: set_cookies(&headers, &response["cookies"]),
        mime,
        text: String::new(),
        headers,
    };
    if !is_binary(&answer.mime) {
        answer.text = body_text(content);
    }
    answer
}

fn is_binary(mime: &str) -> bool {
    ["image/", "font/", "video/", "audio/", "application/font", "application/wasm"]
        .iter()
        .any(|start| mime.starts_with(start))
}

fn body_text(content: &Value) -> String {
    let Some(text) = content["text"].as_str() else { return String::new() };
    if text.len() > BODY_BYTES_MAX * 2 {
        return String::new();
    }
    let text = if content["encoding"] == "base64" {
        let bytes = STANDARD.decode(text.trim()).unwrap_or_default();
        String::from_utf8(bytes).unwrap_or_default()
    } else {
        text.to_owned()
    };
    if text.len() > BODY_BYTES_MAX { String::new() } else { text }
}

/// The cookies of `Set-Cookie`: a field for each, or joined by line ends (Firefox) or by `, ` (Safari).
fn set_cookies(headers: &[(String, String)], list: &Value) -> Vec<SetCookie> {
    let mut cookies: Vec<SetCookie> = headers
        .iter()
        .filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie"))
        .flat_map(|(_, value)| value.split('\n'))
        .flat_map(split_joined)
        .filter_map(|line| {
            let mut parts = line.split(';');
            let (name, value) = parts.next()?.trim().split_once('=')?;
            let path = parts.find_map(|part| {
                let (key, path) = part.trim().split_once('=')?;
                key.eq_ignore_ascii_case("path").then_some(path)
            });
            let path = path.filter(|path| path.starts_with('/')).unwrap_or("/");
            Some(SetCookie { name: name.into(), value: value.into(), path: path.into() })
        })
        .collect();
    for cookie in list.as_array().into_iter().flatten() {
        let (name, value) = (text_of(&cookie["name"]), text_of(&cookie["value"]));
        if !name.is_empty() && !cookies.iter().any(|seen| seen.name == name) {
            cookies.push(SetCookie { name, value, path: "/".into() });
        }
    }
    cookies
}

/// Cuts at commas that a new cookie follows: `, name=`. A comma in a date has a space and digits behind it.
fn split_joined(value: &str) -> Vec<&str> {
    let mut lines = vec![];
    let mut start = 0;
    for (at, _) in value.match_indices(", ") {
        let rest = &value[at + 2..];
        let name = rest.split(['=', ';', ',', ' ']).next().unwrap_or_default();
        if !name.is_empty() && rest[name.len()..].starts_with('=') {
            lines.push(&value[start..at]);
            start = at + 2;
        }
    }
    lines.push(&value[start..]);
    lines
}

fn message_of(value: &Value) -> Option<Message> {
    let is_sent = match value["type"].as_str()? {
        "send" | "request" => true,
        "receive" | "response" => false,
        _ => return None,
    };
    let is_text = value["opcode"].as_u64().is_none_or(|code| code == 1);
    Some(Message { is_sent, data: text_of(&value["data"]), is_text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_are_found_however_they_are_joined() {
        let names = |value: &str| -> Vec<String> {
            let headers = [("Set-Cookie".to_owned(), value.to_owned())];
            set_cookies(&headers, &Value::Null).into_iter().map(|cookie| cookie.name).collect()
        };
        assert_eq!(names("a=1; Path=/\nb=2"), ["a", "b"]);
        assert_eq!(names("a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/, b=2"), ["a", "b"]);
        assert_eq!(names("a=1"), ["a"]);
    }

    #[test]
    fn the_type_of_a_body_may_stand_beside_it() {
        let of = |json: &str| sent_headers(&serde_json::from_str(json).unwrap());
        let beside = r#"{"postData":{"mimeType":"text/css"}}"#;
        assert_eq!(of(beside), [("Content-Type".to_owned(), "text/css".to_owned())]);
        let both = r#"{"headers":[{"name":"content-type","value":"a/b"}],"postData":{"mimeType":"text/css"}}"#;
        assert_eq!(of(both), [("content-type".to_owned(), "a/b".to_owned())]);
    }

    #[test]
    fn bodies_of_all_writers_are_read() {
        let body = |json: &str| {
            let request: Value = serde_json::from_str(json).unwrap();
            sent_body(&request, &headers_of(&request["headers"]))
        };
        assert_eq!(body(r#"{"postData":{"text":"a=1"}}"#), Payload::Text("a=1".into()));
        assert_eq!(
            body(r#"{"postData":{"text":"YT0x","encoding":"base64"}}"#),
            Payload::Text("a=1".into())
        );
        let length =
            r#"{"postData":{"mimeType":"x"},"headers":[{"name":"Content-Length","value":"7"}]}"#;
        assert_eq!(body(length), Payload::Missing(7));
        assert_eq!(body("{}"), Payload::None);
        let Payload::Params(params) = body(r#"{"postData":{"params":[{"name":"n","value":5}]}}"#)
        else {
            panic!()
        };
        assert_eq!((params[0].name.as_str(), params[0].value.as_str()), ("n", "5"));
    }
}
