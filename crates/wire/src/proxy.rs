//! `NoProxy`: which hosts are asked directly, by the rules of Go's `httpproxy`.

use crate::url::Url;

/// The hosts that are asked without a proxy, from `NO_PROXY`.
#[derive(Clone, Debug, Default)]
pub struct NoProxy {}

impl NoProxy {
    /// Reads a comma-separated list: names, `.suffix`, addresses, CIDR blocks, `*`, each with or without a port.
    #[must_use]
    pub fn parse(_list: &str) -> Self {
        todo!()
    }

    /// Whether `url` is asked directly. `localhost` and loopback addresses always are.
    #[must_use]
    pub fn is_direct(&self, _url: &Url) -> bool {
        todo!()
    }
}
