//! Where an operation is sent: its own servers, its path's, the document's, else BASE_URL.

use std::cell::RefCell;

use serde_json::Value;

use super::document::{Document, list, members, text};
use super::parameter::scalar_text;
use crate::{Source, Text};

/// The servers of a document in the order of their first use: each has a variable of the environment.
#[derive(Default)]
pub(super) struct Servers {
    addresses: RefCell<Vec<String>>,
}

impl Servers {
    /// A server that the document names: another one is given by SERVER_URL (the second's is SERVER_URL_2), for BASE_URL completes
    /// addresses without a host.
    fn variable(&self, address: String) -> Text {
        let mut addresses = self.addresses.borrow_mut();
        let at = addresses.iter().position(|other| *other == address).unwrap_or(addresses.len());
        if at == addresses.len() {
            addresses.push(address.clone());
        }
        let name = if at == 0 { "SERVER_URL".to_owned() } else { format!("SERVER_URL_{}", at + 1) };
        Text::value(Source::Env { name, default: Some(address) })
    }
}

/// The address before the path, without a slash at its end.
pub(super) fn server(
    servers: &Servers,
    document: &Document,
    path_item: &Value,
    operation: &Value,
) -> Text {
    let address = if document.is_swagger() {
        swagger_address(&document.root)
    } else {
        let levels = [operation, path_item, &document.root];
        let named =
            levels.into_iter().map(|level| list(level, "servers")).find(|named| !named.is_empty());
        named.and_then(<[Value]>::first).map(with_variables).unwrap_or_default()
    };
    let address = address.trim_end_matches('/');
    if address.starts_with("//") {
        return servers.variable(format!("https:{address}"));
    }
    if address.split_once("://").is_some_and(|(_, host)| !host.is_empty()) {
        return servers.variable(address.to_owned());
    }
    let mut text =
        Text::value(Source::Env { name: "BASE_URL".to_owned(), default: Some(LOCAL.to_owned()) });
    let path = address.trim_start_matches('/');
    if !path.is_empty() {
        text.push_str(&format!("/{path}"));
    }
    text
}

/// The address of a server with its variables' defaults.
fn with_variables(server: &Value) -> String {
    let mut address = text(server, "url").unwrap_or_default().to_owned();
    for (name, variable) in members(server, "variables") {
        let first = list(variable, "enum").first();
        let value = variable.get("default").or(first).map(scalar_text).unwrap_or_default();
        address = address.replace(&format!("{{{name}}}"), &value);
    }
    address
}

/// Swagger 2: scheme, host and base path apart. Without a host, only the path.
fn swagger_address(root: &Value) -> String {
    let path = text(root, "basePath").unwrap_or_default().trim_matches('/');
    let slash = if path.is_empty() { "" } else { "/" };
    match text(root, "host") {
        Some(host) if !host.is_empty() => {
            let schemes: Vec<&str> =
                list(root, "schemes").iter().filter_map(Value::as_str).collect();
            let scheme = if schemes.contains(&"https") {
                "https"
            } else {
                schemes.first().copied().unwrap_or("https")
            };
            format!("{scheme}://{host}{slash}{path}")
        }
        _ => format!("{slash}{path}"),
    }
}

/// The server of a document that names none.
pub(super) const LOCAL: &str = "http://localhost:8080";
