//! OpenAPI 3.0, 3.1 and Swagger 2: one request an operation, with values that its schemas accept, and the tags as groups.
//! Webhooks and callbacks are not sent: they go the other way.

mod body;
mod document;
mod example;
mod flow;
mod merge;
mod parameter;
mod pattern;
mod problem;
mod scalar;
mod security;
mod server;
mod validate;

use serde_json::Value;

use crate::percent::encode_path;
use crate::{
    Exchange, Files, Group, Header, Import, ImportError, Input, Kind, Place, Source, Step, Text,
};
use document::{Document, members, text};
use example::Examples;
use parameter::{Parameter, ParameterPlace, parameters_of};
pub use problem::DocumentError;
use security::Credentials;

/// Reads a document.
pub(crate) fn import(input: &Input<'_>) -> Result<Import, ImportError> {
    let place = input.place(0);
    let not_read = |source| ImportError::NotADocument { place: place.clone(), source };
    let mut document = Document::parse(input.text).map_err(not_read)?;
    let mut import =
        Import { inputs: vec![(input.name.to_owned(), Kind::OpenApi)], ..Import::default() };
    add_other_documents(&mut document, input.files, &place, &mut import);
    note_what_stays(&document, &place, &mut import);
    let writer = Operations {
        document: &document,
        examples: Examples::new(&document),
        servers: server::Servers::default(),
        place,
    };
    let declared =
        document::list(&document.root, "tags").iter().filter_map(|tag| text(tag, "name"));
    let mut groups: Vec<Group> =
        declared.map(|name| Group { name: name.to_owned(), ..Group::default() }).collect();
    for path in &document.paths {
        let Some(item) = document.root["paths"].get(path).and_then(|item| document.resolve(item))
        else {
            import.note(
                writer.place.clone(),
                format!("{path}: its reference leads nowhere; left out"),
            );
            continue;
        };
        for method in METHODS {
            let Some(operation) = item.get(method).filter(|operation| operation.is_object()) else {
                continue;
            };
            let tags = security::tags(operation);
            if !input.tags.is_empty()
                && !tags.iter().any(|tag| input.tags.iter().any(|only| only == tag))
            {
                continue;
            }
            let exchange =
                writer.exchange(&Operation { path, method, item, operation }, &mut import);
            let chosen = tags.iter().find(|tag| input.tags.iter().any(|only| only == *tag));
            add(&mut groups, chosen.or(tags.first()).copied().unwrap_or_default(), exchange);
        }
    }
    import.groups = groups.into_iter().filter(|group| !group.steps.is_empty()).collect();
    Ok(import)
}

fn add(groups: &mut Vec<Group>, name: &str, exchange: Exchange) {
    let step = Step::Exchange(Box::new(exchange));
    match groups.iter_mut().find(|group| group.name == name) {
        Some(group) => group.steps.push(step),
        None => groups.push(Group { name: name.to_owned(), steps: vec![step] }),
    }
}

/// Reads the files that references name, as far as they may be read.
fn add_other_documents(
    document: &mut Document,
    files: &dyn Files,
    place: &Place,
    import: &mut Import,
) {
    let mut left_out: Vec<String> = Vec::new();
    for _ in 0..OTHER_DOCUMENTS_MAX {
        let missing = document.missing_names();
        let Some(name) = missing.into_iter().find(|name| !left_out.contains(name)) else { return };
        let is_address = name.contains("://");
        let content = if is_address { None } else { Some(files.read(&name)) };
        let problem = match content {
            None => "an address, which is not fetched".to_owned(),
            Some(Err(problem)) => problem.to_string(),
            Some(Ok(bytes)) => match document.add(&name, &String::from_utf8_lossy(&bytes)) {
                Ok(()) => continue,
                Err(problem) => problem.to_string(),
            },
        };
        import.note(place.clone(), format!("the reference to {name} is left out: {problem}"));
        left_out.push(name);
    }
    import.note(
        place.clone(),
        format!("more than {OTHER_DOCUMENTS_MAX} other documents: the rest is left out"),
    );
}

fn note_what_stays(document: &Document, place: &Place, import: &mut Import) {
    let keys = security::key_names(document);
    if keys.len() > 1 {
        import.note(
            place.clone(),
            format!("API_KEY is sent for each of the keys {}", keys.join(", ")),
        );
    }
    let webhooks = members(&document.root, "webhooks").count();
    if webhooks > 0 {
        import.note(
            place.clone(),
            format!("{webhooks} webhooks are left out: the server sends them"),
        );
    }
    let servers = document::list(&document.root, "servers");
    if servers.len() > 1 {
        import.note(place.clone(), format!("the first of {} servers is used", servers.len()));
    }
}

/// One operation and where it stands.
struct Operation<'a> {
    path: &'a str,
    method: &'a str,
    item: &'a Value,
    operation: &'a Value,
}

/// Makes requests of operations.
struct Operations<'a> {
    document: &'a Document,
    examples: Examples<'a>,
    servers: server::Servers,
    place: Place,
}

impl Operations<'_> {
    fn exchange(&self, at: &Operation<'_>, import: &mut Import) -> Exchange {
        let parameters = parameters_of(self.document, at.item, at.operation);
        let values: Vec<Parameter> = parameters
            .iter()
            .filter_map(|parameter| Parameter::read(self.document, &self.examples, parameter))
            .collect();
        let credentials = security::credentials(self.document, at.operation);
        let name = text(at.operation, "operationId")
            .map_or_else(|| format!("{} {}", at.method, at.path), str::to_owned);
        self.note_guesses(&name, &values, &credentials, import);
        let missing = missing_in_path(at.path, &values);
        for parameter in &missing {
            import.note(
                self.place.clone(),
                format!("{name}: the path's {parameter} is not described; 1 is sent"),
            );
        }
        let url = self.url(at, &values, &credentials);
        let mut headers = headers(&values, &credentials);
        let made = if self.document.is_swagger() {
            body::swagger_body(self.document, &self.examples, at.operation, &parameters)
        } else {
            body::body_of(self.document, &self.examples, at.operation)
        };
        let mut exchange = Exchange {
            place: self.place.clone(),
            name: name.clone(),
            method: at.method.to_ascii_uppercase(),
            url,
            statuses: statuses(at.operation),
            ..Exchange::default()
        };
        if let Some(made) = made.filter(|_| !matches!(at.method, "get" | "head" | "trace")) {
            if let Some(content_type) = made.content_type {
                headers.retain(|header| !header.name.eq_ignore_ascii_case("content-type"));
                headers.push(Header {
                    name: "Content-Type".to_owned(),
                    value: Text::literal(content_type),
                });
            }
            if made.is_guess {
                import.note(
                    self.place.clone(),
                    format!("{name}: no body was found that its schema accepts"),
                );
            }
            exchange.body = made.body;
        }
        exchange.headers = headers;
        exchange.auth = credentials.auth;
        exchange
    }

    fn note_guesses(
        &self,
        name: &str,
        values: &[Parameter],
        credentials: &Credentials,
        import: &mut Import,
    ) {
        for value in values.iter().filter(|value| value.is_guess) {
            import.note(
                self.place.clone(),
                format!("{name}: no value was found that the schema of {} accepts", value.name),
            );
        }
        for scheme in &credentials.left_out {
            import.note(self.place.clone(), format!("{name}: the security {scheme} is left out"));
        }
    }

    /// The address: server, path with its parameters, query.
    fn url(&self, at: &Operation<'_>, values: &[Parameter], credentials: &Credentials) -> Text {
        let mut url = server::server(&self.servers, self.document, at.item, at.operation);
        let (path, query) =
            at.path.split_once('?').map_or((at.path, None), |(path, query)| (path, Some(query)));
        url.push_str(if path.starts_with('/') { "" } else { "/" });
        let mut rest = path;
        while let Some((before, parameter, behind)) = next_parameter(rest) {
            url.push_str(&encode_path(before));
            let in_path = values
                .iter()
                .find(|value| value.place == ParameterPlace::Path && value.name == parameter);
            url.push_str(&in_path.map_or_else(|| "1".to_owned(), Parameter::in_path));
            rest = behind;
        }
        url.push_str(&encode_path(rest));
        let in_query = values.iter().filter(|value| value.place == ParameterPlace::Query);
        let pairs = in_query.flat_map(Parameter::in_query).map(Text::literal);
        let pairs = query.map(Text::literal).into_iter().chain(pairs);
        for (index, pair) in pairs.chain(credentials.query.iter().cloned()).enumerate() {
            url.push_str(if index == 0 { "?" } else { "&" });
            url.push(&pair);
        }
        url
    }
}

/// What stands before the first `{parameter}` of a path, its name, and what stands behind it.
fn next_parameter(path: &str) -> Option<(&str, &str, &str)> {
    let (before, after) = path.split_once('{')?;
    let (parameter, behind) = after.split_once('}')?;
    Some((before, parameter, behind))
}

/// The names in a path that no parameter describes.
fn missing_in_path(path: &str, values: &[Parameter]) -> Vec<String> {
    let mut missing = Vec::new();
    let mut rest = path;
    while let Some((_, parameter, behind)) = next_parameter(rest) {
        if !values
            .iter()
            .any(|value| value.place == ParameterPlace::Path && value.name == parameter)
        {
            missing.push(parameter.to_owned());
        }
        rest = behind;
    }
    missing
}

/// The header fields: parameters, keys, and one `Cookie`.
fn headers(values: &[Parameter], credentials: &Credentials) -> Vec<Header> {
    let field = |value: &Parameter| Header { name: value.name.clone(), value: header_value(value) };
    let of_place = |place| values.iter().filter(move |value| value.place == place);
    let mut headers: Vec<Header> = of_place(ParameterPlace::Header)
        .filter(|value| !security::is_filled(credentials, &value.name))
        .map(field)
        .collect();
    headers.extend(credentials.headers.iter().cloned());
    let cookies = of_place(ParameterPlace::Cookie).map(|value| Text::literal(value.in_cookie()));
    let mut cookie = Text::default();
    for (index, pair) in cookies.chain(credentials.cookies.iter().cloned()).enumerate() {
        cookie.push_str(if index == 0 { "" } else { "; " });
        cookie.push(&pair);
    }
    if !cookie.is_empty() {
        headers.push(Header { name: "Cookie".to_owned(), value: cookie });
    }
    headers
}

/// A described `Authorization` has no example that a server takes: the token of the environment goes there.
fn header_value(value: &Parameter) -> Text {
    if value.name.eq_ignore_ascii_case("authorization") {
        let mut text = Text::literal("Bearer ");
        text.push_value(Source::Env { name: "TOKEN".to_owned(), default: None }, Vec::new());
        return text;
    }
    Text::literal(value.in_header())
}

/// The statuses of success that the document names; empty where it leaves them open.
fn statuses(operation: &Value) -> Vec<u16> {
    let named: Vec<&str> = members(operation, "responses").map(|(status, _)| status).collect();
    let success: Vec<u16> = named
        .iter()
        .filter_map(|status| status.parse().ok())
        .filter(|status| (200..400).contains(status))
        .collect();
    let is_open =
        named.iter().any(|status| matches!(status.to_ascii_uppercase().as_str(), "2XX" | "3XX"));
    if is_open { Vec::new() } else { success }
}

/// In the order in which a path's operations are sent.
const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];
/// Files that references lead to.
const OTHER_DOCUMENTS_MAX: usize = 200;
