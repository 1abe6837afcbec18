//! `JoinToken`: what a machine needs to ask a fleet to let it in, as one word.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use fleet::Name;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use stdx::Nanos;
use thiserror::Error;

use crate::nats::{Login, NatsAccess};
use crate::transport::digest;

/// What a token to ask with begins with.
const ASKS: &str = "brunt1-";
/// What a token begins with that is a machine's key itself.
const IS_KEY: &str = "bruntkey1-";
/// Bytes of the checksum.
const CHECK: usize = 4;

/// What a machine needs to ask a fleet to let it in. Who has it can ask, and nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinToken(pub(super) NatsAccess);

/// The key and the name of an agent that was let in before it was started. Who has it is that agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentToken {
    /// The agent's name.
    pub name: Name,
    /// How it signs in.
    pub access: NatsAccess,
}

/// What a joining token is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRules {
    /// How long new machines join by it.
    pub lasts: Nanos,
    /// How many of them.
    pub machines: u32,
}

impl Default for TokenRules {
    fn default() -> Self {
        Self { lasts: Nanos::from_secs(24 * 3600), machines: 1000 }
    }
}

impl TokenRules {
    /// What it is good for from this Unix time on, in seconds.
    pub(super) fn from(self, now_s: u64) -> TokenTerms {
        let lasts = self.lasts.0.div_ceil(1_000_000_000);
        TokenTerms { ends_s: now_s.saturating_add(lasts), left: self.machines }
    }
}

/// What a joining token is good for yet. Machines that are in come back by it all the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenTerms {
    /// When new machines join no more: Unix time, in seconds.
    pub ends_s: u64,
    /// How many more may join.
    pub left: u32,
}

/// Why a text is no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TokenError {
    /// It begins otherwise.
    #[error("a joining token begins with {ASKS}, the key of an agent with {IS_KEY}")]
    Foreign,
    /// Its checksum is another.
    #[error(
        "the joining token is damaged or cut off; copy the whole line that `brunt fleet up` printed last"
    )]
    Damaged,
}

/// The parts of an access that differ from fleet to fleet.
#[derive(Serialize, Deserialize)]
struct Content {
    urls: Vec<String>,
    certificate: Vec<u8>,
    seed: String,
}

impl JoinToken {
    pub(super) fn new(urls: Vec<String>, certificate: Vec<u8>, seed: String) -> Self {
        let inbox = super::permissions::JOIN_INBOX.to_owned();
        Self(NatsAccess { urls, certificate: Some(certificate), login: Login::Seed(seed), inbox })
    }

    /// The token of the same fleet with another key.
    pub(super) fn with_seed(&self, seed: &str) -> Self {
        Self(NatsAccess { login: Login::Seed(seed.to_owned()), ..self.0.clone() })
    }

    /// Whether a text is a token, and not the name of a file with one.
    #[must_use]
    pub fn is_token(text: &str) -> bool {
        text.starts_with(ASKS) || AgentToken::is_token(text)
    }

    /// Reads a token; white space around it is ignored.
    ///
    /// # Errors
    /// It is none, or not whole.
    pub fn read(text: &str) -> Result<Self, TokenError> {
        let Content { urls, certificate, seed } = decode(ASKS, text)?;
        Ok(Self::new(urls, certificate, seed))
    }

    /// The token as one word.
    #[must_use]
    pub fn text(&self) -> String {
        let NatsAccess { urls, certificate, login, .. } = &self.0;
        let seed = if let Login::Seed(seed) = login { seed.clone() } else { String::new() };
        let certificate = certificate.clone().unwrap_or_default();
        encode(ASKS, &Content { urls: urls.clone(), certificate, seed })
    }
}

impl AgentToken {
    /// Whether a text is the key of an agent.
    #[must_use]
    pub fn is_token(text: &str) -> bool {
        text.trim_start().starts_with(IS_KEY)
    }

    /// Reads one; white space around it is ignored.
    ///
    /// # Errors
    /// It is none, or not whole.
    pub fn read(text: &str) -> Result<Self, TokenError> {
        decode(IS_KEY, text)
    }

    /// The token as one word: a secret.
    #[must_use]
    pub fn text(&self) -> String {
        encode(IS_KEY, self)
    }
}

fn decode<T: DeserializeOwned>(prefix: &str, text: &str) -> Result<T, TokenError> {
    let body = text.trim().strip_prefix(prefix).ok_or(TokenError::Foreign)?;
    let bytes = URL_SAFE_NO_PAD.decode(body).map_err(|_| TokenError::Damaged)?;
    let (check, content) = bytes.split_at_checked(CHECK).ok_or(TokenError::Damaged)?;
    if digest(content).0[..CHECK] != *check {
        return Err(TokenError::Damaged);
    }
    postcard::from_bytes(content).map_err(|_| TokenError::Damaged)
}

fn encode(prefix: &str, content: &impl Serialize) -> String {
    // Writing texts and bytes to memory cannot fail.
    let content = postcard::to_allocvec(content).unwrap_or_default();
    let mut bytes = digest(&content).0[..CHECK].to_vec();
    bytes.extend(content);
    format!("{prefix}{}", URL_SAFE_NO_PAD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_comes_back_and_a_cut_one_is_named() {
        let urls = vec!["tls://127.0.0.1:4222".to_owned()];
        let token = JoinToken::new(urls, vec![7; 300], "SUAseed".to_owned());
        let text = token.text();
        assert_eq!(JoinToken::read(&format!(" {text}\n")), Ok(token));
        for cut in [ASKS.len(), ASKS.len() + 3, text.len() - 1] {
            assert_eq!(JoinToken::read(&text[..cut]), Err(TokenError::Damaged), "{cut}");
        }
        assert_eq!(JoinToken::read("SUAseed"), Err(TokenError::Foreign));
        assert!(!format!("{:?}", JoinToken::read(&text)).contains("SUAseed"));
        assert!(JoinToken::is_token(&text) && !AgentToken::is_token(&text));
    }

    #[test]
    fn an_agents_key_comes_back_with_its_name() {
        let access = NatsAccess::of_server("nats://me:secret@h:1", None);
        let token = AgentToken { name: Name::new("a-0").unwrap(), access };
        let text = token.text();
        assert_eq!(AgentToken::read(&format!("{text}\n")), Ok(token));
        assert!(AgentToken::is_token(&text) && JoinToken::is_token(&text));
        assert_eq!(JoinToken::read(&text), Err(TokenError::Foreign));
        assert_eq!(AgentToken::read(&text[..text.len() - 2]), Err(TokenError::Damaged));
        assert!(!format!("{:?}", AgentToken::read(&text)).contains("secret"));
    }
}
