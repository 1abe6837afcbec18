//! Keys for agents and for a server that are started elsewhere, in a cluster: made here, before they are.

use std::path::{Path, PathBuf};

use fleet::Name;
use nkeys::KeyPair;

use super::config::{self, ServerPaths};
use super::folder::make_private;
use super::join::AgentAccess;
use super::keys::{Keys, public, seed};
use super::permissions::{self, agent_inbox};
use super::token::AgentToken;
use super::url;
use crate::error::ControlError;
use crate::nats::{Login, NatsAccess};

/// What keys are made for.
#[derive(Clone, Debug)]
pub struct IssueOptions<'a> {
    /// The fleet's folder. It is made where it is missing; keys that it has stay.
    pub dir: &'a Path,
    /// The names that agents and this machine reach the server by; the agents, by the first.
    pub hosts: &'a [String],
    /// The server's port.
    pub port: u16,
    /// The port of this machine that leads to the server's.
    pub near_port: u16,
    /// The folders in which the server finds its certificate, and stores its streams.
    pub server_dirs: [&'a str; 2],
    /// The agents.
    pub agents: &'a [Name],
}

/// What a server is started with: the configuration names `server.pem` and `server-key.pem` in its folder.
pub struct IssuedServer {
    /// Its configuration.
    pub config: String,
    /// Its certificate, PEM.
    pub certificate: String,
    /// The certificate's key, PEM.
    pub certificate_key: String,
}

/// Makes the keys of a server and of its agents, and makes the folder the fleet's of that server. What was made before is the same
/// again.
///
/// # Errors
/// A file of the folder cannot be used, or an agent's name belongs to a machine that joined by itself.
pub fn issue(options: &IssueOptions<'_>) -> Result<(IssuedServer, Vec<AgentToken>), ControlError> {
    make_private(options.dir)?;
    let mut keys = Keys::of(options.dir, options.hosts)?;
    let certificate = keys.certificate_der().ok_or(ControlError::BadKeys)?;
    let access = |host: &str, port: u16, seed: String, inbox: String| NatsAccess {
        urls: vec![url(host, port)],
        certificate: Some(certificate.clone()),
        login: Login::Seed(seed),
        inbox,
    };
    let far = options.hosts.first().map_or("localhost", String::as_str);
    let mut tokens = Vec::with_capacity(options.agents.len());
    for name in options.agents {
        let stored = AgentAccess::of(options.dir, name);
        let own = match stored.load()? {
            Some(NatsAccess { login: Login::Seed(seed), .. }) => seed,
            _ => seed(&KeyPair::new_user()),
        };
        keys.admit(name, &public(&own))
            .map_err(|refusal| ControlError::NotLetIn(refusal.words(name)))?;
        let access = access(far, options.port, own, agent_inbox(name));
        stored.save(&access)?;
        tokens.push(AgentToken { name: name.clone(), access });
    }
    keys.save(options.dir)?;
    let inbox = permissions::COORDINATOR_INBOX.to_owned();
    access("127.0.0.1", options.near_port, keys.coordinator.clone(), inbox).save(options.dir)?;
    let [server_dir, store] = options.server_dirs.map(PathBuf::from);
    let paths = ServerPaths::of(&server_dir, store, None);
    let listen = ([0, 0, 0, 0], options.port).into();
    let server = IssuedServer {
        config: config::text(listen, &paths, &keys),
        certificate: keys.certificate.clone(),
        certificate_key: keys.certificate_key.clone(),
    };
    Ok((server, tokens))
}
