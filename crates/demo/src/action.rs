//! `Action`: what a machine or its sockets want done with a connection. It carries no bytes.

/// What a driver that lends its buffer is told; as [`net::Output`], whose bytes lie in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Send the bytes in the buffer.
    Send,
    /// Close the connection once its bytes are sent.
    Close,
    /// Reset the connection.
    Reset,
}
