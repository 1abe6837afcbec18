//! `Secrets`: the keys of a fleet.

use std::fmt;

/// What the objects of a fleet hold that is for them alone.
#[derive(Clone, PartialEq, Eq)]
pub struct Secrets {
    /// The key of each agent, in the order of their indices: what `brunt agent -join FILE` reads.
    pub agents: Vec<String>,
    /// Those of the fleet's own server, where it has one.
    pub server: Option<ServerSecrets>,
}

/// What a fleet's own server is started with.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerSecrets {
    /// Its configuration, with the paths of [`crate::CONFIG_DIR`].
    pub config: String,
    /// Its certificate, PEM.
    pub certificate: String,
    /// The certificate's key, PEM.
    pub certificate_key: String,
}

/// Without its secrets.
impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secrets").field("agents", &self.agents.len()).finish_non_exhaustive()
    }
}
