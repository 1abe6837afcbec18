//! Samplers: requests with what is done before and after them.

use jmx::{Class, Element, Properties, Role, Text, TextPiece};

use super::code::Code;
use super::context::Context;
use super::scope::{Inherited, is_true};
use super::value::{constant, number, shown, template, value};
use super::{assertion, before, extractor, timer};
use crate::quote;

/// Writes a sampler; `users` is how many there are, where that is known.
pub(super) fn write(
    context: &mut Context,
    element: &Element,
    above: &Inherited<'_>,
    users: Option<f64>,
    code: &mut Code,
) {
    let scope = above.below(element);
    code.space();
    let timers: Vec<&Element> = scope.of_role(Role::Timer).collect();
    timer::write(context, &timers, users, code);
    if element.class == Class::TestAction {
        return action(context, element, code);
    }
    for one in scope.of_role(Role::PreProcessor) {
        before::request(context, one, code);
    }
    match element.class {
        Class::HttpSampler => {
            request(context, element, &scope, code);
            for one in scope.of_role(Role::PostProcessor) {
                match one.class.is_jsr223() || one.class.is_beanshell() {
                    true => before::script(context, one, code),
                    false => extractor::write(context, one, code),
                }
            }
            let assertions: Vec<&Element> = scope.of_role(Role::Assertion).collect();
            assertion::write(context, &assertions, code);
        }
        class if class.is_jsr223() || class.is_beanshell() => {
            before::script(context, element, code);
        }
        _ => {
            let note = context.note(element, "it shows variables, and sends nothing");
            code.line(&note);
        }
    }
}

/// A Flow Control Action.
fn action(context: &mut Context, element: &Element, code: &mut Code) {
    match element.properties.written("ActionProcessor.action") {
        "1" => {
            context.imports.insert("sleep");
            let time =
                element.properties.text("ActionProcessor.duration").cloned().unwrap_or_default();
            let pause = match constant(Some(&time)) {
                Some(milliseconds) => format!("sleep({});", shown(milliseconds / 1_000.0)),
                None => format!("sleep({} / 1000);", number(context, &time)),
            };
            code.line(&pause);
        }
        "0" | "2" | "" => {
            context.imports.insert("exec");
            code.line(&format!("exec.test.abort({});", quote::string(element.name.written())));
        }
        _ => {
            let note = context.note(element, "the next loop is the next iteration here");
            code.line(&note);
            code.line("return;");
        }
    }
}

/// The request itself: `res = http.get(url, params)`.
fn request(context: &mut Context, element: &Element, scope: &Inherited<'_>, code: &mut Code) {
    context.imports.insert("http");
    let method = scope.property(element, "HTTPSampler.method").map_or("GET", Text::written);
    let method = method.to_ascii_uppercase();
    let form = Form::of(element, scope);
    let has_query = !form.is_raw && !sends_body(&method);
    let url = url(context, element, scope, has_query.then_some(&form));
    let body = if has_query { None } else { body(context, &form) };
    let params = params(context, element, scope);
    code.line(&call(&method, &url, body.as_deref(), &params));
}

fn sends_body(method: &str) -> bool {
    matches!(method, "POST" | "PUT" | "PATCH")
}

fn call(method: &str, url: &str, body: Option<&str>, params: &str) -> String {
    let function = match method {
        "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "OPTIONS" => method.to_ascii_lowercase(),
        "DELETE" => "del".to_owned(),
        _ => {
            return format!(
                "res = http.request({}, {url}, {}, {params});",
                quote::string(method),
                body.unwrap_or("null")
            );
        }
    };
    match (method, body) {
        ("GET" | "HEAD", None) => format!("res = http.{function}({url}, {params});"),
        ("GET" | "HEAD", Some(body)) => {
            format!("res = http.request('{method}', {url}, {body}, {params});")
        }
        (_, body) => format!("res = http.{function}({url}, {}, {params});", body.unwrap_or("null")),
    }
}

/// The arguments of a sampler.
struct Form<'a> {
    arguments: Vec<&'a Properties>,
    files: Vec<&'a Properties>,
    /// They are the body as it is.
    is_raw: bool,
}

impl<'a> Form<'a> {
    fn of(element: &'a Element, scope: &Inherited<'a>) -> Self {
        let defaults = scope.of_class(Class::HttpDefaults).map(|one| &one.properties);
        let all = defaults.chain([&element.properties]);
        let inner = all.filter_map(|properties| properties.inner("HTTPsampler.Arguments"));
        let arguments: Vec<&Properties> =
            inner.flat_map(|inner| inner.elements("Arguments.arguments")).collect();
        let files = element.properties.inner("HTTPsampler.Files");
        let has_names = arguments.iter().any(|one| !one.written("Argument.name").is_empty());
        Self {
            is_raw: is_true(element, "HTTPSampler.postBodyRaw")
                || (!arguments.is_empty() && !has_names),
            files: files
                .into_iter()
                .flat_map(|inner| inner.elements("HTTPFileArgs.files"))
                .collect(),
            arguments,
        }
    }
}

fn url(
    context: &mut Context,
    element: &Element,
    scope: &Inherited<'_>,
    query: Option<&Form<'_>>,
) -> String {
    let of = |name: &str| scope.property(element, name);
    let path = of("HTTPSampler.path").cloned().unwrap_or_default();
    let is_whole = path.written().starts_with("http://") || path.written().starts_with("https://");
    let slash = Text::parse("/");
    let texts: Vec<Text> = match is_whole {
        true => vec![path],
        false => {
            let protocol =
                of("HTTPSampler.protocol").cloned().unwrap_or_else(|| Text::parse("http"));
            let domain = of("HTTPSampler.domain").cloned().unwrap_or_default();
            let port = of("HTTPSampler.port").filter(|port| !is_default(port, &protocol)).cloned();
            let needs_slash = !path.written().starts_with('/')
                && path.pieces().first().is_none_or(|first| matches!(first, TextPiece::Literal(_)));
            let mut texts = vec![protocol, Text::parse("://"), domain];
            texts.extend(port.into_iter().flat_map(|port| [Text::parse(":"), port]));
            texts.extend(needs_slash.then_some(slash));
            texts.push(path);
            texts
        }
    };
    let mut pieces: Vec<TextPiece<'_>> = texts.iter().flat_map(Text::pieces).collect();
    let query =
        query.map(|form| query_of(context, form, has_question(&pieces))).unwrap_or_default();
    join(&mut pieces);
    address(context, &pieces, &query)
}

/// A part of a query: text as it goes out, or an expression.
enum QueryPart {
    Literal(String),
    Expression(String),
}

fn has_question(pieces: &[TextPiece<'_>]) -> bool {
    pieces.iter().any(|piece| matches!(piece, TextPiece::Literal(text) if text.contains('?')))
}

fn is_default(port: &Text, protocol: &Text) -> bool {
    matches!((protocol.written(), port.written()), ("http", "80") | ("https", "443") | (_, "0"))
}

fn join(pieces: &mut Vec<TextPiece<'_>>) {
    pieces.retain(|piece| !matches!(piece, TextPiece::Literal("")));
}

/// The address as a string, or a template where it has values in it.
fn address(context: &mut Context, pieces: &[TextPiece<'_>], query: &[QueryPart]) -> String {
    let is_literal = pieces.iter().all(|piece| matches!(piece, TextPiece::Literal(_)))
        && query.iter().all(|part| matches!(part, QueryPart::Literal(_)));
    let text: String = pieces
        .iter()
        .map(|piece| match piece {
            TextPiece::Literal(text) => *text,
            _ => "",
        })
        .collect();
    if is_literal {
        let literal = |part: &QueryPart| match part {
            QueryPart::Literal(text) | QueryPart::Expression(text) => text.clone(),
        };
        let query: String = query.iter().map(literal).collect();
        return quote::string(&format!("{text}{query}"));
    }
    let template = template(context, pieces);
    let part = |part: &QueryPart| match part {
        QueryPart::Literal(text) => quote::template_part(text),
        QueryPart::Expression(text) => format!("${{{text}}}"),
    };
    let query: String = query.iter().map(part).collect();
    format!("{}{query}`", template.strip_suffix('`').unwrap_or(&template))
}

/// The arguments as a query. Nothing is written for a string or a template yet: which of them it becomes is seen once all is there.
fn query_of(context: &mut Context, form: &Form<'_>, mut has_query: bool) -> Vec<QueryPart> {
    use QueryPart::{Expression, Literal};
    let mut out = Vec::new();
    for argument in &form.arguments {
        let sign = if std::mem::replace(&mut has_query, true) { "&" } else { "?" };
        let encodes = argument.written("HTTPArgument.always_encode") == "true";
        let mut part = |name: &str| {
            let text = argument.text(name).cloned().unwrap_or_default();
            match (text.is_constant(), encodes) {
                (true, true) => Literal(jmx::url_encode(text.written())),
                (true, false) => Literal(text.written().to_owned()),
                (false, true) => {
                    Expression(format!("encodeURIComponent({})", value(context, &text)))
                }
                (false, false) => Expression(value(context, &text)),
            }
        };
        let name = part("Argument.name");
        let value = part("Argument.value");
        out.extend([Literal(sign.to_owned()), name, Literal("=".to_owned()), value]);
    }
    out
}

/// The body: a text as it is, or a form.
fn body(context: &mut Context, form: &Form<'_>) -> Option<String> {
    let text = |one: &Properties, name: &str| one.text(name).cloned().unwrap_or_default();
    if form.is_raw {
        let texts: Vec<Text> =
            form.arguments.iter().map(|one| text(one, "Argument.value")).collect();
        let pieces: Vec<TextPiece<'_>> = texts.iter().flat_map(Text::pieces).collect();
        return Some(match pieces.as_slice() {
            [TextPiece::Literal(one)] if !one.contains('\n') => quote::string(one),
            all => template(context, all),
        });
    }
    let mut members = Vec::new();
    for one in &form.arguments {
        let (name, content) = (text(one, "Argument.name"), text(one, "Argument.value"));
        let key = match name.is_constant() {
            true => quote::key(name.written()),
            false => format!("[{}]", value(context, &name)),
        };
        members.push(format!("{key}: {}", value(context, &content)));
    }
    for file in &form.files {
        members.push(file_member(context, file));
    }
    (!members.is_empty()).then(|| format!("{{ {} }}", members.join(", ")))
}

fn file_member(context: &mut Context, file: &Properties) -> String {
    let path = file.written("File.path").to_owned();
    let opened =
        context.file(&path, "bytes", |name, at| format!("const {name} = open({at}, 'b');"));
    let name = path.rsplit('/').next().unwrap_or_default();
    let kind = match file.written("File.mimetype") {
        "" => String::new(),
        kind => format!(", {}", quote::string(kind)),
    };
    let member = match file.written("File.paramname") {
        "" => "file",
        name => name,
    };
    format!("{}: http.file({opened}, {}{kind})", quote::key(member), quote::string(name))
}

/// The parameters: headers, limits, the name in metrics.
fn params(context: &mut Context, element: &Element, scope: &Inherited<'_>) -> String {
    let mut members = Vec::new();
    let headers = headers(context, scope);
    if !headers.is_empty() {
        members.push(format!("headers: {{ {} }}", headers.join(", ")));
    }
    let follows = element.properties.written("HTTPSampler.follow_redirects") == "true"
        || is_true(element, "HTTPSampler.auto_redirects");
    if !follows {
        members.push("redirects: 0".to_owned());
    }
    if let Some(limit) = scope.property(element, "HTTPSampler.response_timeout") {
        let limit = match constant(Some(limit)) {
            Some(limit) => format!("'{}ms'", shown(limit)),
            None => number(context, limit),
        };
        members.push(format!("timeout: {limit}"));
    }
    members.push(format!("tags: {{ name: {} }}", value(context, &element.name)));
    format!("{{ {} }}", members.join(", "))
}

/// The header fields: those of the nearest manager win.
fn headers(context: &mut Context, scope: &Inherited<'_>) -> Vec<String> {
    let mut fields: Vec<(String, Text)> = Vec::new();
    for manager in scope.of_class(Class::HeaderManager) {
        for header in manager.properties.elements("HeaderManager.headers") {
            let name = header.written("Header.name").to_owned();
            fields.retain(|(known, _)| !known.eq_ignore_ascii_case(&name));
            fields.push((name, header.text("Header.value").cloned().unwrap_or_default()));
        }
    }
    fields.retain(|(name, _)| !name.is_empty());
    fields
        .iter()
        .map(|(name, text)| format!("{}: {}", quote::key(name), value(context, text)))
        .collect()
}
