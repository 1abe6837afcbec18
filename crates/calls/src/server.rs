//! `Server`: the server of calls: its address, and what it says of itself by reflection.

use anyhow::{Context as _, Result, anyhow, bail};
use engine::{Protocol, Redirects, Settings};
use grpc::{CallRequest, Definitions, Deframer, Reflection, ReflectionVersion};
use metrics::{FailureKind, GrpcStatus, Outcome};
use stdx::Nanos;
use workload::Target;

use crate::exchange::{Answer, exchange};

/// The largest message that a reflection may send: what the engine keeps of a body at most.
const MESSAGE_MAX: usize = 16 << 20;

/// The server of calls.
#[derive(Clone, Debug)]
pub struct Server {
    /// `HOST:PORT`.
    pub address: String,
    /// Whether TLS is left out.
    pub plaintext: bool,
    /// `:authority`, and with TLS the name that the server has to prove, where it is not the address.
    pub authority: Option<String>,
}

impl Server {
    /// A server at `HOST:PORT`.
    ///
    /// # Errors
    /// The text is no such address.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = || anyhow!("\"{text}\" is no address (expected HOST:PORT)");
        if text.contains("://") || text.contains('/') {
            return Err(wrong());
        }
        let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
        let is_host = !host.is_empty() && (!host.contains(':') || host.starts_with('['));
        if !is_host || port.parse::<u16>().is_err() {
            return Err(wrong());
        }
        Ok(Self { address: text.to_owned(), plaintext: false, authority: None })
    }

    /// The URL of a method's path.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        let scheme = if self.plaintext { "http" } else { "https" };
        let authority = self.authority.as_deref().unwrap_or(&self.address);
        format!("{scheme}://{authority}{path}")
    }

    /// Makes the settings those of calls to this server: HTTP/2 alone, straight to its address.
    pub fn apply(&self, settings: &mut Settings) {
        settings.protocol = Protocol::PriorKnowledge;
        settings.redirects = Redirects::Keep;
        // Without TLS a proxy would have to forward HTTP/2, which none does.
        settings.proxy.http = None;
        if let Some(authority) = &self.authority {
            let has_port = authority.rsplit_once(':').is_some_and(|(_, port)| !port.contains(']'));
            let port = if self.plaintext { 80 } else { 443 };
            let from = if has_port { authority.clone() } else { format!("{authority}:{port}") };
            settings.connect_to.push((from, self.address.clone()));
        }
    }

    /// The target of a call to a path.
    pub(crate) fn target(&self, path: &str, request: &CallRequest<'_>, body: Vec<u8>) -> Target {
        Target {
            method: "POST".to_owned(),
            url: self.url(path),
            headers: request.headers(),
            body: body.into(),
            weight: 1,
            name: path.trim_start_matches('/').to_owned(),
        }
    }

    /// Asks the server for its definitions; by the older service where it has not the newer.
    ///
    /// # Errors
    /// It cannot be reached, or does not describe itself.
    pub fn definitions(
        &self,
        metadata: &[(String, String)],
        settings: &Settings,
    ) -> Result<Definitions> {
        for version in [ReflectionVersion::V1, ReflectionVersion::V1Alpha] {
            if let Some(definitions) = self.reflect(version, metadata, settings)? {
                return Ok(definitions);
            }
        }
        bail!(
            "{}: the server has no reflection (give -proto FILE, or -protoset FILE)",
            self.address
        )
    }

    /// The definitions by one version of reflection; `None` where the server has not that one.
    fn reflect(
        &self,
        version: ReflectionVersion,
        metadata: &[(String, String)],
        settings: &Settings,
    ) -> Result<Option<Definitions>> {
        let mut dialogue = Reflection::default();
        loop {
            let messages = dialogue.next_requests();
            if messages.is_empty() {
                break;
            }
            let timeout_ns = settings.timeout.map(|Nanos(ns)| ns);
            let request = CallRequest { metadata, timeout_ns, user_agent: Some(USER_AGENT) };
            let body = CallRequest::body(&messages);
            let target = self.target(version.path(), &request, body);
            let answer = exchange(target, settings).context(self.address.clone())?;
            if is_unimplemented(&answer) {
                return Ok(None);
            }
            self.check(&answer)?;
            let responses = messages_of(&answer.body).context(self.address.clone())?;
            let taken = dialogue.handle_responses(responses.iter().map(Vec::as_slice));
            taken.with_context(|| format!("{}: reflection", self.address))?;
        }
        let mut definitions = Definitions::default();
        dialogue.finish(&mut definitions).with_context(|| self.address.clone())?;
        Ok(Some(definitions))
    }

    /// Refuses an answer that is no success.
    fn check(&self, answer: &Answer) -> Result<()> {
        let address = &self.address;
        let error = reason(&answer.error);
        match (answer.failure, answer.outcome) {
            (FailureKind::None, Outcome::Grpc(GrpcStatus::OK)) => Ok(()),
            (FailureKind::None, Outcome::Grpc(_)) if error.contains("content-type") => {
                bail!("{address}: it does not speak gRPC ({error})")
            }
            (FailureKind::None, _) => bail!("{address}: reflection: {error}"),
            (FailureKind::Malformed, _) | (FailureKind::GoAway, _) => {
                bail!("{address}: it does not speak gRPC, or wants TLS ({error})")
            }
            (FailureKind::Tls, _) => {
                bail!(
                    "{address}: {error} (-plaintext speaks without TLS, -insecure trusts every certificate)"
                )
            }
            _ => bail!("{address}: {error}"),
        }
    }
}

/// What we call ourselves in calls.
pub(crate) const USER_AGENT: &str = concat!("brunt/", env!("CARGO_PKG_VERSION"));

/// A failure's text without the request before it.
fn reason(error: &str) -> &str {
    let rest = error.strip_prefix("Post \"").and_then(|rest| rest.split_once("\": "));
    rest.map_or(error, |(_, reason)| reason)
}

fn is_unimplemented(answer: &Answer) -> bool {
    let Outcome::Grpc(status) = answer.outcome else { return false };
    // An HTTP server without gRPC answers 404, which means the same to clients of gRPC.
    status.name() == "UNIMPLEMENTED" && !answer.error.contains("HTTP status")
}

fn messages_of(body: &[u8]) -> Result<Vec<Vec<u8>>> {
    let mut deframer = Deframer::new(MESSAGE_MAX, None);
    deframer.push(body);
    let mut messages = Vec::new();
    while let Some(message) = deframer.next_message()? {
        messages.push(message);
    }
    Ok(messages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_host_and_a_port() {
        for good in ["h:1", "127.0.0.1:50051", "[::1]:443"] {
            assert!(Server::parse(good).is_ok(), "{good}");
        }
        for bad in ["h", "h:", ":1", "::1:5", "http://h:1", "h:99999", "h:1/x"] {
            assert!(Server::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn another_authority_leads_to_the_same_address() {
        let mut server = Server::parse("127.0.0.1:5").expect("an address");
        server.authority = Some("shop.example".to_owned());
        assert_eq!(server.url("/p.S/M"), "https://shop.example/p.S/M");
        let mut settings = Settings::default();
        server.apply(&mut settings);
        let to = ("shop.example:443".to_owned(), "127.0.0.1:5".to_owned());
        assert_eq!(settings.connect_to, [to]);
        server.plaintext = true;
        assert_eq!(server.url("/p.S/M"), "http://shop.example/p.S/M");
    }
}
