//! `.http` files as JetBrains' HTTP Client and VS Code's REST Client read them: requests with variables, environments, bodies from
//! files, answers that later requests use, and what simple handlers set and test.

mod body;
mod environment;
mod grammar;
mod reference;

use stdx::Nanos;

use crate::percent::encode_typed;
use crate::postman::{note_variables, with_scheme};
use crate::snippet::{self, Phase};
use crate::variables::{Variables, encoded_for, with_defaults};
use crate::{
    Auth, Cookies, Exchange, Files, Group, Header, Import, ImportError, Input, Kind, Place,
    Redirects, Source, Step, Text,
};
use body::{BodyContext, BodyForm};
use grammar::{Block, blocks, request_parts};
use reference::{Reference, references};

/// Reads a file.
pub(crate) fn import(input: &Input<'_>) -> Result<Import, ImportError> {
    let blocks = blocks(input.text);
    let mut walk = Walk {
        name: input.name,
        files: input.files,
        variables: Variables::default(),
        references: references(input.text),
        import: Import { inputs: vec![(input.name.to_owned(), Kind::Http)], ..Import::default() },
        steps: Vec::new(),
    };
    walk.give_environment(input)?;
    // A variable may be used above the line that defines it; of several definitions, the first one counts there.
    for (name, value) in blocks.iter().rev().flat_map(|block| block.variables.iter().rev()) {
        walk.variables.give(name, value);
    }
    for block in &blocks {
        walk.block(block);
    }
    note_variables(&walk.variables, &input.place(0), &mut walk.import);
    walk.import.groups = vec![Group { steps: walk.steps, ..Group::default() }];
    Ok(walk.import)
}

/// A walk through the blocks, in order.
struct Walk<'a> {
    name: &'a str,
    files: &'a dyn Files,
    variables: Variables,
    references: Vec<Reference>,
    import: Import,
    steps: Vec<Step>,
}

impl Walk<'_> {
    fn give_environment(&mut self, input: &Input<'_>) -> Result<(), ImportError> {
        let Some(content) = input.environment else { return Ok(()) };
        let environment = environment::read(content, input.environment_name).map_err(|source| {
            ImportError::NotJson { place: Place::new("the environment", source.line()), source }
        })?;
        for (name, value) in environment.variables {
            self.variables.give(&name, &value);
        }
        if let Some(note) = environment.note {
            self.import.note(input.place(0), note);
        }
        Ok(())
    }

    fn note(&mut self, line: usize, text: impl Into<String>) {
        self.import.note(Place::new(self.name, line), text);
    }

    fn block(&mut self, block: &Block) {
        for (name, value) in &block.variables {
            self.variables.give(name, value);
        }
        for (line, what) in &block.left_out {
            self.note(*line, format!("{what} is left out"));
        }
        if block.request.is_empty() {
            return;
        }
        let (method, address) = request_parts(&block.request);
        if let Some(note) = self.refusal(&method, &address) {
            self.note(block.line, note);
            return;
        }
        let mut exchange =
            Exchange { place: Place::new(self.name, block.line), ..Exchange::default() };
        exchange.name =
            if block.title.is_empty() { block.name.clone() } else { block.title.clone() };
        self.scripts(&block.before, Phase::Before, &mut exchange);
        exchange.method = if method == "GRAPHQL" { "POST".to_owned() } else { method.clone() };
        self.fields(block, &mut exchange);
        exchange.url = self.address(&address, &mut exchange);
        let is_graphql = method == "GRAPHQL" || take_graphql_mark(&mut exchange);
        let form = if is_graphql { BodyForm::GraphQl } else { BodyForm::Plain };
        let mut context =
            BodyContext { variables: &mut self.variables, files: self.files, notes: Vec::new() };
        let made = context.body(&block.body, form, &mut exchange.headers);
        let notes = context.notes;
        exchange.body = made;
        notes.into_iter().for_each(|note| self.note(block.line, note));
        self.directives(block, &mut exchange);
        self.refer(block, &mut exchange);
        let at = self.steps.len();
        self.scripts(&block.after, Phase::After, &mut exchange);
        self.steps.insert(at, Step::Exchange(Box::new(exchange)));
    }

    /// Why a request is left out: it is none of HTTP, or its address is none.
    fn refusal(&mut self, method: &str, address: &str) -> Option<String> {
        if matches!(method, "WEBSOCKET" | "GRPC" | "RSOCKET" | "MQTT" | "SSE") {
            return Some(format!("a {method} request is left out"));
        }
        if address.starts_with("curl ") {
            return Some(
                "a curl command is left out (import it from a file of its own)".to_owned(),
            );
        }
        let address = with_defaults(&self.variables.substitute(address));
        let shown = stdx::terminal_line(&address);
        has_blank_in_host(&address).then(|| format!("{shown} is no address: it is left out"))
    }

    /// Carries out the scripts of a phase; what they do beside the exchange follows what is there.
    fn scripts(&mut self, scripts: &[(usize, String)], phase: Phase, exchange: &mut Exchange) {
        for (line, source) in scripts {
            let outcome = snippet::run(source, phase, &mut self.variables, exchange);
            self.steps.extend(outcome.steps);
            for (inner, note) in outcome.notes {
                self.note(line + inner - 1, note);
                let text = source.lines().nth(inner - 1).unwrap_or_default().trim();
                exchange.remarks.push(format!("Left out of a script: {text}"));
            }
        }
    }

    /// The header fields, and the credentials that one of them may stand for.
    fn fields(&mut self, block: &Block, exchange: &mut Exchange) {
        for (name, value) in &block.headers {
            if name.eq_ignore_ascii_case("content-length") || name.is_empty() {
                continue;
            }
            if name.eq_ignore_ascii_case("authorization")
                && let Some(auth) = self.auth(value)
            {
                exchange.auth = Some(auth);
                continue;
            }
            exchange.headers.retain(|header| !(phase_set(header, name)));
            let value = self.variables.substitute(value);
            exchange.headers.push(Header { name: name.clone(), value });
        }
    }

    /// Credentials that are written in words: `Basic user password`, `Digest user password`, `AWS key secret region:… service:…`.
    fn auth(&mut self, value: &str) -> Option<Auth> {
        let (scheme, rest) = value.split_once(char::is_whitespace)?;
        let rest = rest.trim();
        let words = words(rest);
        let mut text = |text: &str| self.variables.substitute(text);
        match (scheme.to_ascii_lowercase().as_str(), words.as_slice()) {
            ("basic" | "digest", [user, password]) => {
                Some(credentials(scheme, text(user), text(password)))
            }
            ("basic" | "digest", [both]) => {
                let (user, password) = split_outside_braces(both)?;
                Some(credentials(scheme, text(user), text(password)))
            }
            ("aws", [key, secret, options @ ..]) => {
                let option = |name: &str| options.iter().find_map(|word| word.strip_prefix(name));
                let session_token = option("token:").map(&mut text);
                let (region, service) = (
                    option("region:").unwrap_or("us-east-1"),
                    option("service:").unwrap_or("execute-api"),
                );
                Some(Auth::AwsV4 {
                    key: text(key),
                    secret: text(secret),
                    session_token,
                    region: text(region),
                    service: text(service),
                })
            }
            _ => None,
        }
    }

    /// The address; a path alone goes to the host of the `Host` field.
    fn address(&mut self, address: &str, exchange: &mut Exchange) -> Text {
        let address = address.split_once('#').map_or(address, |(before, _)| before);
        let mut text = encoded_for(&self.variables.substitute(address), encode_typed);
        if with_defaults(&text).starts_with('/') {
            let at =
                exchange.headers.iter().position(|header| header.name.eq_ignore_ascii_case("host"));
            let host = at
                .map(|at| exchange.headers.remove(at).value)
                .unwrap_or_else(|| Text::literal("localhost"));
            let is_secure = with_defaults(&host).ends_with(":443");
            let mut whole = Text::literal(if is_secure { "https://" } else { "http://" });
            whole.push(&host);
            whole.push(&text);
            text = whole;
        }
        with_scheme(text)
    }

    fn directives(&mut self, block: &Block, exchange: &mut Exchange) {
        for (word, value) in &block.directives {
            match word.as_str() {
                "no-redirect" | "noRedirect" => exchange.redirects = Redirects::Stop,
                "no-cookie-jar" | "noCookieJar" => exchange.cookies = Cookies::Forgotten,
                "timeout" => exchange.timeout = duration(value),
                "no-log" | "no-auto-encoding" | "note" | "prompt" | "connection-timeout"
                | "title" | "description" => (),
                _ => self.note(block.line, format!("@{} is left out", stdx::terminal_line(word))),
            }
        }
    }

    /// Takes out of this request's answer what others refer to.
    fn refer(&mut self, block: &Block, exchange: &mut Exchange) {
        let is_own =
            |reference: &&Reference| !block.name.is_empty() && reference.request == block.name;
        let own: Vec<(String, String, Option<crate::Extraction>)> = self
            .references
            .iter()
            .filter(is_own)
            .map(|reference| (reference.text.clone(), reference.variable(), reference.extraction()))
            .collect();
        for (text, variable, extraction) in own {
            match extraction {
                Some(extraction) => {
                    exchange.extractions.push(extraction);
                    self.variables.set(&text, Text::value(Source::Variable(variable)));
                }
                None => self.note(
                    block.line,
                    format!("{{{{{}}}}} is not understood", stdx::terminal_line(&text)),
                ),
            }
        }
    }
}

/// Whether the host of an address has a blank, as a line of prose has.
fn has_blank_in_host(address: &str) -> bool {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    host.trim().contains(char::is_whitespace)
}

fn credentials(scheme: &str, user: Text, password: Text) -> Auth {
    if scheme.eq_ignore_ascii_case("digest") {
        Auth::Digest { user, password }
    } else {
        Auth::Basic { user, password }
    }
}

/// Whether a script before the request has set that field.
fn phase_set(header: &Header, name: &str) -> bool {
    header.name.eq_ignore_ascii_case(name) && name.eq_ignore_ascii_case("content-type")
}

/// VS Code marks GraphQL by a field of its own, which is not sent.
fn take_graphql_mark(exchange: &mut Exchange) -> bool {
    let before = exchange.headers.len();
    let is_mark = |header: &Header| {
        header.name.eq_ignore_ascii_case("x-request-type")
            && with_defaults(&header.value).eq_ignore_ascii_case("graphql")
    };
    exchange.headers.retain(|header| !is_mark(header));
    exchange.headers.len() < before
}

/// Words between spaces that stand outside of `{{…}}`.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let (mut start, mut depth) = (None, 0_usize);
    for (at, char) in text.char_indices() {
        match char {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => (),
        }
        if char.is_whitespace() && depth == 0 {
            words.extend(start.take().map(|start| &text[start..at]));
        } else {
            start.get_or_insert(at);
        }
    }
    words.extend(start.map(|start| &text[start..]));
    words
}

/// The parts before and behind the first colon outside of `{{…}}`.
fn split_outside_braces(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    for (at, char) in text.char_indices() {
        match char {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ':' if depth == 0 => return Some((&text[..at], &text[at + 1..])),
            _ => (),
        }
    }
    None
}

/// `5`, `5 s`, `500 ms`, `2 m`: seconds without a unit.
fn duration(text: &str) -> Option<Nanos> {
    let len = text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..len].parse().ok()?;
    let milliseconds = match text[len..].trim() {
        "ms" => number,
        "m" => number.checked_mul(60_000)?,
        _ => number.checked_mul(1_000)?,
    };
    Some(Nanos::from_millis(milliseconds.min(86_400_000)))
}
