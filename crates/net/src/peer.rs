//! `Peer`: a server without I/O. The demo's event loop drives it over real sockets, the simulated world over simulated
//! ones; it cannot tell which.

use stdx::Nanos;

use crate::Key;

/// A server without I/O: what happened goes in by `handle_*`, what it does comes out by `poll_output`.
pub trait Peer {
    /// A client connected.
    fn handle_open(&mut self, now: Nanos, conn: Key);

    /// Bytes came from a client.
    fn handle_bytes(&mut self, now: Nanos, conn: Key, bytes: &[u8]);

    /// The client closed or reset; the number may be used again.
    fn handle_close(&mut self, now: Nanos, conn: Key);

    /// When [`Peer::handle_deadline`] is to be called next, if at all.
    fn next_deadline(&self) -> Option<Nanos>;

    /// The time that [`Peer::next_deadline`] named has come.
    fn handle_deadline(&mut self, now: Nanos);

    /// The next thing to do to a connection; `None` when there is nothing more for now.
    fn poll_output(&mut self) -> Option<(Key, Output)>;

    /// Everything that [`Peer::poll_output`] gave for this connection has been taken by the network: there is room
    /// again. The driver of a peer calls it each time its own store for the connection runs empty, and polls again
    /// after it: a peer with much to send, or with no end of it, gives no output until then.
    fn handle_drained(&mut self, now: Nanos, conn: Key) {
        let _ = (now, conn);
    }
}

/// What a [`Peer`] does to a connection. After `Close` or `Reset` it says no more about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Send these bytes.
    Bytes(Vec<u8>),
    /// Close after what was sent before.
    Close,
    /// Reset at once.
    Reset,
}
