//! `Action`: what a machine or its sockets want done with a connection. It carries no bytes.

/// What a driver is to do; the same as [`net::Output`], but the bytes lie in a buffer that the driver has lent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Send the bytes in the buffer.
    Send,
    /// Close the connection once its bytes are sent.
    Close,
    /// Reset the connection.
    Reset,
}
