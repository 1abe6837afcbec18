//! `DialAddresses`: the addresses of one dial.

use std::net::IpAddr;
use std::sync::Arc;

/// The addresses that one dial tries, one after the other. They are the dial's own: the origin may know others, or have
/// moved on to its next endpoint, before the dial has come to an end.
#[derive(Clone, Debug, Default)]
pub(crate) struct DialAddresses {
    pub(crate) addresses: Arc<[IpAddr]>,
    pub(crate) port: u16,
    /// The first try's place among the addresses.
    pub(crate) first: u32,
}
