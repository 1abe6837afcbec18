//! Credentials of requests: their own, else those of the nearest folder.

use serde_json::Value;

use super::value::{in_one_line, text, value_text};
use crate::percent::encode_component;
use crate::variables::{Variables, with_defaults};
use crate::{Auth, Encoding, Exchange, Header, Text};

/// Adds the credentials; a kind that is not understood is noted in the remarks.
pub(super) fn add(variables: &mut Variables, auth: Option<&Value>, exchange: &mut Exchange) {
    let Some(auth) = auth else { return };
    let kind = text(auth, "type").unwrap_or("noauth");
    let parameters = auth.get(kind);
    let mut parameter = |name: &str| variables.substitute(&parameter(parameters, name));
    let made = match kind {
        "noauth" => return,
        "basic" => Auth::Basic { user: parameter("username"), password: parameter("password") },
        "digest" => Auth::Digest { user: parameter("username"), password: parameter("password") },
        "bearer" => {
            let token = parameter("token");
            if token.as_literal() == Some("") {
                return;
            }
            Auth::Bearer(in_one_line(&token))
        }
        "oauth2" => {
            return add_token(
                &parameter("accessToken"),
                &parameter("addTokenTo"),
                &parameter("headerPrefix"),
                exchange,
            );
        }
        "awsv4" => Auth::AwsV4 {
            key: parameter("accessKey"),
            secret: parameter("secretKey"),
            session_token: Some(parameter("sessionToken"))
                .filter(|token| !with_defaults(token).is_empty()),
            region: or(parameter("region"), "us-east-1"),
            service: or(parameter("service"), "execute-api"),
        },
        "apikey" => {
            let place = with_defaults(&parameter("in"));
            let (name, value) = (parameter("key"), parameter("value"));
            return add_key(&name, &value, &place, exchange);
        }
        other => {
            exchange.remarks.push(format!(
                "credentials of the kind {} are left out",
                stdx::terminal_line(other)
            ));
            return;
        }
    };
    exchange.headers.retain(|header| !header.name.eq_ignore_ascii_case("authorization"));
    exchange.auth = Some(made);
}

/// A parameter of credentials: a member of an object (2.0), or of a list of pairs (2.1).
fn parameter(parameters: Option<&Value>, name: &str) -> String {
    match parameters {
        Some(Value::Array(pairs)) => {
            let pair = pairs.iter().find(|pair| text(pair, "key") == Some(name));
            value_text(pair.and_then(|pair| pair.get("value")))
        }
        Some(object) => value_text(object.get(name)),
        None => String::new(),
    }
}

fn or(text: Text, default: &str) -> Text {
    if with_defaults(&text).is_empty() { Text::literal(default) } else { text }
}

fn add_token(token: &Text, place: &Text, prefix: &Text, exchange: &mut Exchange) {
    if token.is_empty() {
        exchange
            .remarks
            .push("the OAuth 2 token is left out: the collection does not hold it".to_owned());
        return;
    }
    if with_defaults(place) == "queryParams" {
        return add_key(&Text::literal("access_token"), token, "query", exchange);
    }
    let prefix = with_defaults(prefix);
    let mut value = Text::literal(if prefix.is_empty() {
        "Bearer ".to_owned()
    } else {
        format!("{} ", prefix.trim())
    });
    value.push(&in_one_line(token));
    exchange.headers.retain(|header| !header.name.eq_ignore_ascii_case("authorization"));
    exchange.headers.push(Header { name: "Authorization".to_owned(), value });
}

fn add_key(name: &Text, value: &Text, place: &str, exchange: &mut Exchange) {
    let name = with_defaults(name);
    if name.is_empty() {
        return;
    }
    if place != "query" {
        exchange.headers.retain(|header| !header.name.eq_ignore_ascii_case(&name));
        exchange.headers.push(Header { name, value: in_one_line(value) });
        return;
    }
    let has_query = exchange.url.with_values_as("").contains('?');
    exchange.url.push_str(if has_query { "&" } else { "?" });
    exchange.url.push_str(&format!("{}=", encode_component(&name)));
    let value = value.encoded(encode_component, Encoding::Url);
    exchange.url.push(&value);
}
