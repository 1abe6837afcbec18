//! `Received`: a message of a WebSocket that came.

use super::facts::Facts;

/// A message that came, as a source of values.
pub(super) struct Received {
    pub(super) unit: usize,
    pub(super) marker: String,
    pub(super) facts: Facts,
}
