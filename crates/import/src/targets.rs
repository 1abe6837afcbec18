//! Writes an import as Vegeta's targets: lines of JSON if any request has a body, else the form of `GET URL` and header lines.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::{Auth, Body, Exchange, Import};

/// Why an import cannot be targets: targets are sent in any order and by themselves.
#[derive(Debug, thiserror::Error)]
pub enum TargetsError {
    /// A request needs what only a script can give it.
    #[error("{place}: {method} {url}: {need}; -to k6 can do it")]
    NeedsScript {
        /// Where in the input.
        place: crate::Place,
        /// The request's method.
        method: String,
        /// The request's address.
        url: String,
        /// What it needs.
        need: Need,
    },
}

/// What a request needs that targets lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Need {
    /// Variables, times, identifiers.
    #[error("it has a value that is known only when it is sent")]
    Value,
    /// Digest and signatures.
    #[error("its credentials depend on the answer or the time")]
    Credentials,
    /// A body of several files.
    #[error("its body cannot be made beforehand")]
    Body,
    /// A WebSocket.
    #[error("it is a WebSocket")]
    Socket,
}

/// The targets of an import, each request once, in order.
///
/// # Errors
/// If a request depends on something: another's answer, a variable, the time.
pub fn write_targets(import: &Import) -> Result<String, TargetsError> {
    let steps = import.groups.iter().flat_map(|group| &group.steps);
    for step in steps {
        if let crate::Step::Socket(conversation) = step {
            return Err(TargetsError::NeedsScript {
                place: conversation.place.clone(),
                method: "GET".to_owned(),
                url: conversation.url.with_values_as("{}"),
                need: Need::Socket,
            });
        }
    }
    let targets: Vec<Target> = import.exchanges().map(Target::of).collect::<Result<_, _>>()?;
    let in_json = targets.iter().any(|target| !target.body.is_empty());
    Ok(targets.iter().map(|target| if in_json { target.json() } else { target.http() }).collect())
}

struct Target<'a> {
    method: &'a str,
    url: &'a str,
    headers: Vec<(&'a str, String)>,
    body: Vec<u8>,
}

impl<'a> Target<'a> {
    fn of(exchange: &'a Exchange) -> Result<Self, TargetsError> {
        let refuse = |need| TargetsError::NeedsScript {
            place: exchange.place.clone(),
            method: exchange.method.clone(),
            url: exchange.url.with_values_as("{}"),
            need,
        };
        let url = exchange.url.as_literal().ok_or_else(|| refuse(Need::Value))?;
        let mut headers = vec![];
        for header in &exchange.headers {
            let value = header.value.as_literal().ok_or_else(|| refuse(Need::Value))?;
            headers.push((header.name.as_str(), value.to_owned()));
        }
        match &exchange.auth {
            None => {}
            Some(Auth::Basic { user, password }) => {
                let user = user.as_literal().ok_or_else(|| refuse(Need::Value))?;
                let password = password.as_literal().ok_or_else(|| refuse(Need::Value))?;
                let pair = STANDARD.encode(format!("{user}:{password}"));
                headers.push(("Authorization", format!("Basic {pair}")));
            }
            Some(Auth::Bearer(token)) => {
                let token = token.as_literal().ok_or_else(|| refuse(Need::Value))?;
                headers.push(("Authorization", format!("Bearer {token}")));
            }
            Some(_) => return Err(refuse(Need::Credentials)),
        }
        let body = match &exchange.body {
            Body::Filler { bytes } => vec![b'x'; *bytes],
            Body::None => vec![],
            Body::Text(text) => text.as_literal().ok_or_else(|| refuse(Need::Value))?.into(),
            Body::Bytes(bytes) => bytes.clone(),
            Body::File { .. } | Body::Multipart(_) => return Err(refuse(Need::Body)),
        };
        Ok(Self { method: &exchange.method, url, headers, body })
    }

    fn json(&self) -> String {
        let mut header = serde_json::Map::new();
        for (name, value) in &self.headers {
            let values = header.entry(*name).or_insert_with(|| json!([]));
            if let Some(values) = values.as_array_mut() {
                values.push(json!(value));
            }
        }
        let mut target = json!({"method": self.method, "url": self.url});
        if !header.is_empty() {
            target["header"] = header.into();
        }
        if !self.body.is_empty() {
            target["body"] = STANDARD.encode(&self.body).into();
        }
        format!("{target}\n")
    }

    fn http(&self) -> String {
        let line = |text: &str| text.replace(['\r', '\n'], " ");
        let mut out = format!("{} {}\n", line(self.method), line(self.url));
        for (name, value) in &self.headers {
            out.push_str(&format!("{}: {}\n", line(name), line(value)));
        }
        out.push('\n');
        out
    }
}
