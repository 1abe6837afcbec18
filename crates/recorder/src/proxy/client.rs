//! `Client`: one connection of a client, and what it shares with all others.

use std::sync::Arc;

use tokio::sync::OwnedSemaphorePermit;

use super::upstream::Servers;
use crate::certificates::Certificates;
use crate::recording::Recording;

/// What all clients share.
#[derive(Debug)]
pub(super) struct Proxy {
    pub(super) recording: Arc<Recording>,
    pub(super) certificates: Certificates,
    pub(super) servers: Servers,
}

/// A client's connection; it has its place as long as anything of it goes on.
#[derive(Clone, Debug)]
pub(super) struct Client {
    pub(super) proxy: Arc<Proxy>,
    pub(super) _place: Arc<OwnedSemaphorePermit>,
}
