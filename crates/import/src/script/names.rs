//! The names that a script uses: constants for hosts, variables of the environment and files; functions; what was found.

use std::collections::{BTreeMap, BTreeSet};

use super::library::Helper;
use crate::{Import, Piece, Source, Text, quote};

/// Names given so far, and what they stand for.
#[derive(Default)]
pub(super) struct Names {
    taken: BTreeSet<String>,
    origins: Vec<(String, String)>,
    environment: Vec<(String, Option<String>, String)>,
    files: Vec<(FileUse, String)>,
    found: BTreeMap<String, String>,
    /// The helpers that the script needs.
    pub(super) helpers: BTreeSet<Helper>,
}

/// A file that the script opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileUse {
    pub(super) path: String,
    pub(super) form: FileForm,
}

/// As what a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileForm {
    Text,
    Bytes,
}

impl Names {
    /// Names for all origins and variables of the environment of an import, before anything is written.
    pub(super) fn of(import: &Import) -> Self {
        let mut names = Self::default();
        let mut origins: Vec<String> = vec![];
        let mut urls: Vec<&Text> = import.exchanges().map(|exchange| &exchange.url).collect();
        for step in import.groups.iter().flat_map(|group| &group.steps) {
            match step {
                crate::Step::Socket(conversation) => urls.push(&conversation.url),
                crate::Step::SetCookie { url, .. } => urls.push(url),
                _ => {}
            }
        }
        // Pages first: the constant of a page's host is also that of its WebSocket.
        urls.sort_by_key(|url| url.literal_start().starts_with("ws"));
        for url in urls {
            let Some(origin) = origin(url.literal_start()) else { continue };
            let page = page_origin(origin);
            if !origins.iter().any(|seen| seen == origin || Some(seen) == page.as_ref()) {
                origins.push(origin.to_owned());
            }
        }
        for_each_text(import, &mut |text| names.add_environment(text));
        let single = origins.len() == 1;
        for origin in origins {
            let host = origin.split_once("://").map_or("", |(_, host)| host);
            let wanted = if single { "BASE_URL".to_owned() } else { quote::constant(host) };
            let name = names.unique(&wanted);
            names.origins.push((origin, name));
        }
        names
    }

    fn add_environment(&mut self, text: &Text) {
        for value in text.values() {
            let Source::Env { name, default } = &value.source else { continue };
            self.environment(name, default.as_deref());
        }
    }

    /// The name `wanted`, with a number if it is taken.
    pub(super) fn unique(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        let mut number = 2;
        while !self.taken.insert(name.clone()) {
            name = format!("{wanted}{number}");
            number += 1;
        }
        name
    }

    /// The expression of an origin and what follows the origin, if the address begins with one.
    pub(super) fn split_origin<'a>(&self, start: &'a str) -> Option<(String, &'a str)> {
        let origin = origin(start)?;
        let rest = &start[origin.len()..];
        let constant = |wanted: &str| self.origins.iter().find(|(seen, _)| seen == wanted);
        if let Some((_, name)) = constant(origin) {
            return Some((name.clone(), rest));
        }
        let (_, name) = constant(&page_origin(origin)?)?;
        Some((format!("{name}.replace('http', 'ws')"), rest))
    }

    /// The constant of a variable of the environment: one for each value that the input gives it, for it may change on the way.
    pub(super) fn environment(&mut self, name: &str, default: Option<&str>) -> String {
        for (seen, value, constant) in &mut self.environment {
            if seen == name && (value.is_none() || default.is_none() || value.as_deref() == default)
            {
                *value = value.take().or_else(|| default.map(str::to_owned));
                return constant.clone();
            }
        }
        let constant = self.unique(&quote::constant(name));
        self.environment.push((name.to_owned(), default.map(str::to_owned), constant.clone()));
        constant
    }

    /// The constant of a file.
    pub(super) fn file(&mut self, path: &str, form: FileForm) -> String {
        let wanted = FileUse { path: path.to_owned(), form };
        if let Some((_, name)) = self.files.iter().find(|(seen, _)| *seen == wanted) {
            return name.clone();
        }
        let base = path.rsplit(['/', '\\']).next().unwrap_or(path);
        let name = self.unique(&quote::identifier(base));
        self.files.push((wanted, name.clone()));
        name
    }

    /// The member of `found` that holds a variable of the session.
    pub(super) fn found(&mut self, variable: &str) -> String {
        if let Some(name) = self.found.get(variable) {
            return format!("found.{name}");
        }
        let wanted = quote::identifier(variable);
        let mut name = wanted.clone();
        let mut number = 2;
        while self.found.values().any(|seen| *seen == name) {
            name = format!("{wanted}{number}");
            number += 1;
        }
        self.found.insert(variable.to_owned(), name.clone());
        format!("found.{name}")
    }

    /// Whether a variable of the session is used at all.
    pub(super) fn has_found(&self) -> bool {
        !self.found.is_empty()
    }

    /// The script's constants, a line each: hosts, variables, files.
    pub(super) fn constants(&self, open_prefix: &str) -> String {
        let mut out = String::new();
        for (origin, name) in &self.origins {
            out.push_str(&format!(
                "const {name} = __ENV{} || {};\n",
                quote::member(name),
                quote::string(origin)
            ));
        }
        for (variable, default, name) in &self.environment {
            let default = quote::string(default.as_deref().unwrap_or(""));
            out.push_str(&format!(
                "const {name} = __ENV{} || {default};\n",
                quote::member(variable)
            ));
        }
        for (file, name) in &self.files {
            let path = quote::string(&opened_path(open_prefix, &file.path));
            let mode = if file.form == FileForm::Bytes { ", 'b'" } else { "" };
            out.push_str(&format!("const {name} = open({path}{mode});\n"));
        }
        out
    }
}

/// A path of the input, as the script opens it.
fn opened_path(prefix: &str, path: &str) -> String {
    if path.starts_with('/') {
        return path.to_owned();
    }
    let path = path.trim_start_matches("./");
    if prefix.is_empty() { format!("./{path}") } else { format!("{prefix}/{path}") }
}

/// The origin of the page that opens a WebSocket there.
fn page_origin(origin: &str) -> Option<String> {
    origin.strip_prefix("ws").map(|rest| format!("http{rest}"))
}

/// The scheme, host and port that an address begins with, if they are all of them literal and hold no credentials.
fn origin(start: &str) -> Option<&str> {
    let (scheme, rest) = start.split_once("://")?;
    if !matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https" | "ws" | "wss") {
        return None;
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let host = &rest[..end];
    (!host.is_empty() && !host.contains('@')).then(|| &start[..scheme.len() + 3 + end])
}

/// Every text of an import that may hold a value.
fn for_each_text(import: &Import, see: &mut impl FnMut(&Text)) {
    for step in import.groups.iter().flat_map(|group| &group.steps) {
        if let crate::Step::Assign { value, .. } | crate::Step::SetCookie { value, .. } = step {
            see(value);
        }
        if let crate::Step::Socket(conversation) = step {
            see(&conversation.url);
            conversation.headers.iter().for_each(|header| see(&header.value));
            conversation.messages.iter().for_each(|message| see(&message.text));
        }
    }
    for exchange in import.exchanges() {
        see(&exchange.url);
        exchange.headers.iter().for_each(|header| see(&header.value));
        match &exchange.body {
            crate::Body::Text(text) => see(text),
            crate::Body::Multipart(multipart) => multipart.parts.iter().for_each(|part| {
                see(&part.name);
                part.file_name.iter().for_each(&mut *see);
                if let crate::Content::Text(text) = &part.content {
                    see(text);
                }
            }),
            _ => {}
        }
        for_each_credential(exchange, see);
    }
}

fn for_each_credential(exchange: &crate::Exchange, see: &mut impl FnMut(&Text)) {
    match &exchange.auth {
        Some(crate::Auth::Basic { user, password } | crate::Auth::Digest { user, password }) => {
            see(user);
            see(password);
        }
        Some(crate::Auth::Bearer(token)) => see(token),
        Some(crate::Auth::AwsV4 { key, secret, session_token, region, service }) => {
            [key, secret, region, service].into_iter().for_each(&mut *see);
            session_token.iter().for_each(see);
        }
        None => {}
    }
}

/// Whether a text holds no value.
pub(super) fn is_literal(text: &Text) -> bool {
    text.pieces.iter().all(|piece| matches!(piece, Piece::Literal(_)))
}
