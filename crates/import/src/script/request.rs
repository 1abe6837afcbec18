//! A request as statements of a script: the call, its checks, what is taken from the answer.

use std::fmt::Write as _;

use super::body;
use super::expression::{address, text};
use super::extraction;
use super::fields;
use super::library::Helper;
use super::line::line;
use super::names::Names;
use crate::{
    Auth, Conversation, Cookies, Exchange, Header, Hearing, JsonStep, Piece, Redirects, Source,
    Text, quote,
};

/// What of a call is needed to write it.
struct Call {
    method: String,
    url: String,
    body: Option<String>,
    params: String,
}

/// The statements of an exchange, each line indented by `indent`.
pub(super) fn exchange(names: &mut Names, exchange: &Exchange, indent: &str) -> String {
    let mut out = String::new();
    for remark in &exchange.remarks {
        line(&mut out, indent, &format!("// {}", quote::comment(remark)));
    }
    let (before, call) = call(names, exchange, indent);
    out.push_str(&before);
    let request = request(names, exchange, &call);
    match &exchange.polling {
        Some(polling) => {
            let count = polling.attempts;
            line(
                &mut out,
                indent,
                &format!("for (let attempt = 0; attempt < {count}; attempt++) {{"),
            );
            let inner = format!("{indent}  ");
            line(&mut out, &inner, &format!("res = {request};"));
            out.push_str(&extraction::statements(names, exchange, &inner));
            if let Some(first) = exchange.extractions.first() {
                let variable = names.found(&first.variable);
                line(&mut out, &inner, &format!("if ({variable} !== undefined) break;"));
            }
            line(&mut out, &inner, &format!("sleep({});", seconds(polling.pause)));
            line(&mut out, indent, "}");
        }
        None => {
            line(&mut out, indent, &format!("res = {request};"));
            out.push_str(&extraction::statements(names, exchange, indent));
        }
    }
    out.push_str(&checks(names, exchange, indent));
    out
}

/// A request for `http.batch`.
pub(super) fn batch_entry(names: &mut Names, exchange: &Exchange, indent: &str) -> String {
    let (_, call) = call(names, exchange, indent);
    let body = call.body.as_deref().unwrap_or("null");
    format!("[{}, {}, {body}, {}]", quote::string(&call.method), call.url, call.params)
}

/// What an exchange is called: its name, or its method and path with `{}` for values.
pub(super) fn label(exchange: &Exchange) -> String {
    if !exchange.name.is_empty() {
        return exchange.name.clone();
    }
    let url = exchange.url.with_values_as("{}");
    let path = url
        .split_once("://")
        .map_or(url.as_str(), |(_, rest)| rest.find(['/', '?']).map_or("/", |at| &rest[at..]));
    let path = path.split(['?', '#']).next().unwrap_or(path);
    let path = if path.is_empty() { "/" } else { path };
    let path: String = path.chars().take(100).collect();
    format!("{} {path}", exchange.method)
}

fn call(names: &mut Names, exchange: &Exchange, indent: &str) -> (String, Call) {
    let mut url = address(names, &exchange.url);
    if let Some(Auth::Digest { user, password }) = &exchange.auth {
        names.helpers.insert(Helper::WithUser);
        url = format!("withUser({url}, {}, {})", text(names, user), text(names, password));
    }
    let written = body::write(names, exchange, indent);
    let fields = fields::of(exchange);
    let has_type = fields.iter().any(|field| field.name.eq_ignore_ascii_case("Content-Type"));
    let mut headers: Vec<(String, String)> =
        fields.iter().map(|header| header_member(names, header)).collect();
    if let Some(kind) = written.content_type.filter(|_| !has_type) {
        headers.push(("'Content-Type'".to_owned(), kind));
    }
    headers.extend(credentials(names, exchange.auth.as_ref()));
    let mut headers = object(&headers, indent);
    if let Some(Auth::AwsV4 { key, secret, session_token, region, service }) = &exchange.auth {
        names.helpers.extend([Helper::SignedV4, Helper::Crypto]);
        let mut keys = format!(
            "key: {}, secret: {}, region: {}, service: {}",
            text(names, key),
            text(names, secret),
            text(names, region),
            text(names, service)
        );
        if let Some(token) = session_token {
            keys.push_str(&format!(", token: {}", text(names, token)));
        }
        let given = if headers.is_empty() { "{}" } else { &headers };
        let body = written.expression.as_deref().unwrap_or("''");
        let method = quote::string(&exchange.method);
        headers = format!("signedV4({method}, {url}, {body}, {given}, {{ {keys} }})");
    }
    let params = params(exchange, &headers, indent);
    let call = Call { method: exchange.method.clone(), url, body: written.expression, params };
    (written.statements, call)
}

/// A header field as a member of an object. Addresses of the site follow its constant.
fn header_member(names: &mut Names, header: &Header) -> (String, String) {
    let is_address =
        ["Referer", "Origin"].iter().any(|name| header.name.eq_ignore_ascii_case(name));
    let value = if is_address { address(names, &header.value) } else { text(names, &header.value) };
    (quote::key(&header.name), value)
}

/// A conversation over a WebSocket, and the check that all of it was said.
pub(super) fn conversation(names: &mut Names, conversation: &Conversation, indent: &str) -> String {
    names.helpers.insert(Helper::Converse);
    let url = address(names, &conversation.url);
    let headers: Vec<(String, String)> =
        conversation.headers.iter().map(|header| header_member(names, header)).collect();
    let headers = object(&headers, indent);
    let params =
        if headers.is_empty() { "{}".to_owned() } else { format!("{{ headers: {headers} }}") };
    let mut out = String::new();
    line(&mut out, indent, &format!("res = converse({url}, {params}, ["));
    for message in &conversation.messages {
        let after = message.after.as_deref();
        let after =
            after.map_or(String::new(), |after| format!("after: {}, ", quote::string(after)));
        let said = text(names, &message.text);
        let needs = needs(names, conversation, &message.text);
        let said = if needs.is_empty() { said } else { format!("() => {said}, {needs}") };
        line(&mut out, indent, &format!("  {{ {after}text: {said} }},"));
    }
    let end = hearings(names, &conversation.hearings, indent);
    line(&mut out, indent, &format!("]{end});"));
    let title = quote::title(&format!("{} says all", conversation.name));
    let count = conversation.messages.len();
    let test = format!("(r) => r.status === 101 && r.sent === {count}");
    line(&mut out, indent, &format!("check(res, {{ {title}: {test} }});"));
    out
}

/// The member that names the values of other messages which a message waits for; empty: none.
fn needs(names: &mut Names, conversation: &Conversation, message: &Text) -> String {
    let mut values: Vec<String> = vec![];
    for hearing in &conversation.hearings {
        let is_it = |piece: &Piece| matches!(piece, Piece::Value(value) if matches!(&value.source, Source::Variable(name) if *name == hearing.variable));
        if message.pieces.iter().any(is_it) {
            values.push(names.found(&hearing.variable));
        }
    }
    if values.is_empty() {
        return String::new();
    }
    format!("needs: () => [{}]", values.join(", "))
}

/// The functions that take values of the messages that came, as an argument of `converse`.
fn hearings(names: &mut Names, hearings: &[Hearing], indent: &str) -> String {
    if hearings.is_empty() {
        return String::new();
    }
    names.helpers.insert(Helper::FromMessages);
    let mut out = ", [\n".to_owned();
    for hearing in hearings {
        let variable = names.found(&hearing.variable);
        let steps: Vec<String> = hearing.path.iter().map(step).collect();
        let (marker, nth) = (quote::string(&hearing.marker), hearing.nth);
        let value = format!("fromMessages(heard, {marker}, {nth}, [{}])", steps.join(", "));
        line(&mut out, indent, &format!("  (heard) => {{ {variable} = {value}; }},"));
    }
    out.push_str(indent);
    out.push(']');
    out
}

fn step(step: &JsonStep) -> String {
    match step {
        JsonStep::Key(key) => quote::string(key),
        JsonStep::Index(index) => index.to_string(),
    }
}

/// The header fields of credentials that are known beforehand.
fn credentials(names: &mut Names, auth: Option<&Auth>) -> Option<(String, String)> {
    let value = match auth? {
        Auth::Basic { user, password } => {
            names.helpers.insert(Helper::Encoding);
            let mut pair = user.clone();
            pair.push_str(":");
            pair.push(password);
            format!("'Basic ' + encoding.b64encode({})", text(names, &pair))
        }
        Auth::Bearer(token) => {
            let mut value = Text::literal("Bearer ");
            value.push(token);
            text(names, &value)
        }
        Auth::Digest { .. } | Auth::AwsV4 { .. } => return None,
    };
    Some(("Authorization".to_owned(), value))
}

/// An object of one line if it fits, else of a line for each member; empty text for no members.
fn object(members: &[(String, String)], indent: &str) -> String {
    if members.is_empty() {
        return String::new();
    }
    let parts: Vec<String> = members.iter().map(|(key, value)| format!("{key}: {value}")).collect();
    let short = format!("{{ {} }}", parts.join(", "));
    if short.len() <= 80 && !short.contains('\n') {
        return short;
    }
    let mut out = "{\n".to_owned();
    for part in parts {
        let _ = writeln!(out, "{indent}    {part},");
    }
    let _ = write!(out, "{indent}  }}");
    out
}

fn params(exchange: &Exchange, headers: &str, indent: &str) -> String {
    let mut members: Vec<(String, String)> = vec![];
    let mut add = |key: &str, value: String| members.push((key.to_owned(), value));
    if !headers.is_empty() {
        add("headers", headers.to_owned());
    }
    if let Some(Auth::Digest { .. }) = exchange.auth {
        add("auth", "'digest'".to_owned());
    }
    match &exchange.redirects {
        Redirects::Stop => add("redirects", "0".to_owned()),
        Redirects::By(rules) if rules.is_plain() => add("redirects", rules.hops_max.to_string()),
        _ => {}
    }
    match &exchange.cookies {
        Cookies::Session => {}
        Cookies::Forgotten => add("jar", "new http.CookieJar()".to_owned()),
        Cookies::Jar(name) => add("jar", format!("jars[{}]", quote::string(name))),
    }
    if let Some(timeout) = exchange.timeout {
        add("timeout", format!("'{}ms'", timeout.0 / 1_000_000));
    }
    if exchange.url.values().next().is_some() {
        add("tags", format!("{{ name: {} }}", quote::string(&label(exchange))));
    }
    if members.is_empty() {
        return String::new();
    }
    let parts: Vec<String> = members.iter().map(|(key, value)| format!("{key}: {value}")).collect();
    let short = format!("{{ {} }}", parts.join(", "));
    if short.len() <= 90 && !short.contains('\n') {
        return short;
    }
    let lines: String = parts.iter().map(|part| format!("{indent}  {part},\n")).collect();
    format!("{{\n{lines}{indent}}}")
}

/// The call as an expression.
fn request(names: &mut Names, exchange: &Exchange, call: &Call) -> String {
    let Call { method, url, body, params } = call;
    let method_text = quote::string(method);
    if let Some(keeps) = redirect_rules(&exchange.redirects) {
        names.helpers.insert(Helper::Follow);
        let params = if params.is_empty() { "{}" } else { params };
        let body = body.as_deref().unwrap_or("null");
        return format!("follow({method_text}, {url}, {body}, {params}, {keeps})");
    }
    let function = match method.as_str() {
        "GET" | "HEAD" if body.is_some() => None,
        "GET" => Some("get"),
        "HEAD" => Some("head"),
        "POST" => Some("post"),
        "PUT" => Some("put"),
        "PATCH" => Some("patch"),
        "DELETE" => Some("del"),
        "OPTIONS" => Some("options"),
        _ => None,
    };
    let takes_body = !matches!(method.as_str(), "GET" | "HEAD") || body.is_some();
    let mut arguments = vec![url.clone()];
    if takes_body && (body.is_some() || !params.is_empty()) {
        arguments.push(body.clone().unwrap_or_else(|| "null".to_owned()));
    }
    if !params.is_empty() {
        arguments.push(params.clone());
    }
    match function {
        Some(function) => format!("http.{function}({})", arguments.join(", ")),
        None => {
            if body.is_none() && params.is_empty() {
                return format!("http.request({method_text}, {url})");
            }
            let body = body.as_deref().unwrap_or("null");
            let params = if params.is_empty() { "{}" } else { params };
            format!("http.request({method_text}, {url}, {body}, {params})")
        }
    }
}

/// The rules that `follow` is called with; none where the client follows by itself.
fn redirect_rules(redirects: &Redirects) -> Option<String> {
    let rules = match redirects {
        Redirects::KeepMethod => {
            return Some("{ method: true, body: [301, 302, 303], hops: 50 }".to_owned());
        }
        Redirects::By(rules) if !rules.is_plain() => rules,
        _ => return None,
    };
    let statuses: Vec<String> = rules.keeps_body.iter().map(u16::to_string).collect();
    let method = if rules.keeps_method { "method: true, " } else { "" };
    let trusts = if rules.trusts_hosts { ", trusts: true" } else { "" };
    let hops = rules.hops_max;
    Some(format!("{{ {method}body: [{}], hops: {hops}{trusts} }}", statuses.join(", ")))
}

/// The check of an answer: its status, what else is known, and that what was looked for is there.
fn checks(names: &mut Names, exchange: &Exchange, indent: &str) -> String {
    let label = label(exchange);
    let mut members = vec![status_check(&label, &exchange.statuses)];
    for check in &exchange.checks {
        members.push(extraction::check(names, &label, check));
    }
    for found in &exchange.extractions {
        let title = quote::title(&format!("{label} has {}", quote::comment(&found.variable)));
        members.push(format!("{title}: () => {} !== undefined", names.found(&found.variable)));
    }
    let mut out = String::new();
    if members.len() == 1 && members[0].len() < 90 {
        line(&mut out, indent, &format!("check(res, {{ {} }});", members[0]));
        return out;
    }
    line(&mut out, indent, "check(res, {");
    for member in members {
        line(&mut out, indent, &format!("  {member},"));
    }
    line(&mut out, indent, "});");
    out
}

fn status_check(label: &str, statuses: &[u16]) -> String {
    match statuses {
        [] => format!(
            "{}: (r) => r.status > 0 && r.status < 400",
            quote::title(&format!("{label} succeeds"))
        ),
        [status] => {
            format!(
                "{}: (r) => r.status === {status}",
                quote::title(&format!("{label} is {status}"))
            )
        }
        several => {
            let list: Vec<String> = several.iter().map(u16::to_string).collect();
            let title = quote::title(&format!("{label} is {}", list.join(" or ")));
            format!("{title}: (r) => [{}].includes(r.status)", list.join(", "))
        }
    }
}

/// Seconds as a script has them.
pub(super) fn seconds(time: stdx::Nanos) -> String {
    let milliseconds = time.0 / 1_000_000;
    let text = format!("{}.{:03}", milliseconds / 1000, milliseconds % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
