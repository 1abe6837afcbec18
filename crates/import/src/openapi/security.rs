//! What an operation's security demands, with credentials from the environment: TOKEN, API_KEY, USERNAME and PASSWORD.

use serde_json::Value;

use super::document::{Document, list, members, text};
use crate::percent::encode_component;
use crate::{Auth, Encoding, Header, Source, Text};

/// What a request carries for its security.
#[derive(Default)]
pub(super) struct Credentials {
    pub auth: Option<Auth>,
    pub headers: Vec<Header>,
    /// Pairs of the query, encoded.
    pub query: Vec<Text>,
    pub cookies: Vec<Text>,
    /// Schemes that no script can carry out.
    pub left_out: Vec<String>,
}

/// The credentials of an operation: those of the first alternative of which every scheme is understood.
pub(super) fn credentials(document: &Document, operation: &Value) -> Credentials {
    let demand = operation.get("security").or_else(|| document.root.get("security"));
    let alternatives = demand.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut all = alternatives.iter().map(|alternative| of_alternative(document, alternative));
    let Some(first) = all.next() else { return Credentials::default() };
    if first.left_out.is_empty() {
        return first;
    }
    all.find(|credentials| credentials.left_out.is_empty()).unwrap_or(first)
}

fn of_alternative(document: &Document, alternative: &Value) -> Credentials {
    let root = &document.root;
    let swagger = root.get("securityDefinitions");
    let schemes =
        swagger.or_else(|| root.get("components").and_then(|all| all.get("securitySchemes")));
    let mut credentials = Credentials::default();
    for name in alternative.as_object().into_iter().flatten().map(|(name, _)| name) {
        let scheme =
            schemes.and_then(|all| all.get(name)).and_then(|scheme| document.resolve(scheme));
        match scheme {
            Some(scheme) if credentials.add(scheme) => (),
            _ => credentials.left_out.push(name.clone()),
        }
    }
    credentials
}

impl Credentials {
    /// Whether the scheme is understood.
    fn add(&mut self, scheme: &Value) -> bool {
        match text(scheme, "type") {
            Some("basic") => self.auth = Some(basic()),
            Some("oauth2" | "openIdConnect") => self.auth = Some(Auth::Bearer(env("TOKEN"))),
            Some("http") => {
                match text(scheme, "scheme").unwrap_or("bearer").to_ascii_lowercase().as_str() {
                    "basic" => self.auth = Some(basic()),
                    "bearer" => self.auth = Some(Auth::Bearer(env("TOKEN"))),
                    "digest" => {
                        self.auth =
                            Some(Auth::Digest { user: env("USERNAME"), password: env("PASSWORD") });
                    }
                    _ => {
                        let mut value = Text::literal(format!(
                            "{} ",
                            text(scheme, "scheme").unwrap_or_default()
                        ));
                        value.push(&env("TOKEN"));
                        self.headers.push(Header { name: "Authorization".to_owned(), value });
                    }
                }
            }
            Some("apiKey") => return self.add_key(scheme),
            _ => return false,
        }
        true
    }

    fn add_key(&mut self, scheme: &Value) -> bool {
        let Some(name) = text(scheme, "name") else { return false };
        match text(scheme, "in") {
            Some("header") => {
                self.headers.push(Header { name: name.to_owned(), value: env("API_KEY") });
            }
            Some("query") => self.query.push(pair(name)),
            Some("cookie") => self.cookies.push(pair(name)),
            _ => return false,
        }
        true
    }
}

/// The name and the key, encoded.
fn pair(name: &str) -> Text {
    let mut text = Text::literal(format!("{}=", encode_component(name)));
    text.push_value(Source::Env { name: "API_KEY".to_owned(), default: None }, vec![Encoding::Url]);
    text
}

fn basic() -> Auth {
    Auth::Basic { user: env("USERNAME"), password: env("PASSWORD") }
}

fn env(name: &str) -> Text {
    Text::value(Source::Env { name: name.to_owned(), default: None })
}

/// The names of the header fields that credentials fill, so that a parameter of that name is not sent twice.
pub(super) fn is_filled(credentials: &Credentials, header: &str) -> bool {
    let own = credentials.headers.iter().any(|field| field.name.eq_ignore_ascii_case(header));
    own || credentials.auth.is_some() && header.eq_ignore_ascii_case("authorization")
}

/// How many keys the document's schemes name: one variable of the environment holds for all of them.
pub(super) fn key_names(document: &Document) -> Vec<String> {
    let schemes = |value: &'_ Value, key: &'static str| {
        members(value, key)
            .filter_map(|(_, scheme)| document.resolve(scheme))
            .filter(|scheme| text(scheme, "type") == Some("apiKey"))
            .filter_map(|scheme| text(scheme, "name").map(str::to_owned))
            .collect::<Vec<_>>()
    };
    let mut names = schemes(&document.root, "securityDefinitions");
    names.extend(
        document
            .root
            .get("components")
            .map(|all| schemes(all, "securitySchemes"))
            .unwrap_or_default(),
    );
    names.sort();
    names.dedup();
    names
}

/// The names of an operation's tags.
pub(super) fn tags(operation: &Value) -> Vec<&str> {
    list(operation, "tags").iter().filter_map(Value::as_str).collect()
}
