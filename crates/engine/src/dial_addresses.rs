//! `DialAddresses`: the addresses of one dial.

use std::net::IpAddr;
use std::sync::Arc;

/// The addresses that one dial tries, one after the other. The dial has a copy: before it ends, the origin may have other
/// addresses, or another endpoint's.
#[derive(Clone, Debug, Default)]
pub(crate) struct DialAddresses {
    pub(crate) addresses: Arc<[IpAddr]>,
    pub(crate) port: u16,
    /// The network interface that link-local addresses are of; 0 where the system knows. RFC 4007, 11.2.
    pub(crate) zone: u32,
    /// The first try's place among the addresses.
    pub(crate) first: u32,
}
