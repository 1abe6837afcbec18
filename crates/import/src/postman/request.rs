//! One request of a collection as an exchange.

use serde_json::Value;
use thiserror::Error;

use super::folder::Folder;
use super::value::{in_one_line, text, value_text};
use super::{auth, body, url};
use crate::variables::Variables;
use crate::{Cookies, Exchange, Header, Redirects};

/// What of a request is left out.
#[derive(Debug, Error)]
pub(super) enum RequestProblem {
    #[error("it has no address, so its request fails")]
    NoAddress,
}

/// Fills the exchange with a request; scripts may have set some of it already. What is left out stands in its remarks.
pub(super) fn fill(
    variables: &mut Variables,
    request: &Value,
    folder: &Folder<'_>,
    exchange: &mut Exchange,
) -> Result<(), RequestProblem> {
    let method = text(request, "method").unwrap_or("GET").trim();
    if exchange.method.is_empty() {
        exchange.method = if method.is_empty() {
            "GET".to_owned()
        } else {
            variables_in(variables, method).to_ascii_uppercase()
        };
    }
    let by_scripts = std::mem::take(&mut exchange.headers);
    exchange.headers = headers(variables, request.get("header"));
    let is_kept = |header: &Header| {
        !by_scripts.iter().any(|other| other.name.eq_ignore_ascii_case(&header.name))
    };
    exchange.headers.retain(is_kept);
    exchange.headers.extend(by_scripts);
    let address = request
        .as_str()
        .map(Value::from)
        .or_else(|| request.get("url").cloned())
        .unwrap_or_default();
    if exchange.url.is_empty() {
        exchange.url = url::address(variables, &address);
    }
    auth::add(variables, folder.auth, exchange);
    let prunes = matches!(exchange.method.as_str(), "GET" | "HEAD" | "COPY" | "PURGE" | "UNLOCK");
    if !prunes || folder.behaves("disableBodyPruning") == Some(true) {
        body::add(variables, request.get("body"), exchange);
    }
    if folder.behaves("followRedirects") == Some(false) {
        exchange.redirects = Redirects::Stop;
    } else if folder.behaves("followOriginalHttpMethod") == Some(true) {
        exchange.redirects = Redirects::KeepMethod;
    }
    if folder.behaves("disableCookies") == Some(true) {
        exchange.cookies = Cookies::Forgotten;
    }
    if exchange.url.is_empty() { Err(RequestProblem::NoAddress) } else { Ok(()) }
}

fn variables_in(variables: &mut Variables, text: &str) -> String {
    crate::variables::with_defaults(&variables.substitute(text))
}

/// The header fields: a list of pairs, or lines of one text.
fn headers(variables: &mut Variables, header: Option<&Value>) -> Vec<Header> {
    let pairs: Vec<(String, String)> = match header {
        Some(Value::String(lines)) => lines
            .lines()
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
            .collect(),
        Some(Value::Array(fields)) => fields
            .iter()
            .filter(|field| field.get("disabled") != Some(&Value::Bool(true)))
            .filter_map(|field| {
                Some((text(field, "key")?.trim().to_owned(), value_text(field.get("value"))))
            })
            .collect(),
        _ => Vec::new(),
    };
    let is_sent = |name: &str| !name.is_empty() && !name.eq_ignore_ascii_case("content-length");
    let pairs = pairs.into_iter().filter(|(name, _)| is_sent(name));
    pairs
        .map(|(name, value)| Header {
            name: variables_in(variables, &name),
            value: in_one_line(&variables.substitute(&value)),
        })
        .collect()
}
