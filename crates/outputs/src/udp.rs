//! Payloads over UDP: a datagram each. Nothing says whether they arrive.

use std::io;
use std::net::{ToSocketAddrs as _, UdpSocket};

use crate::delivery::{SendError, Transport};
use crate::error::OutputError;

/// Sends datagrams to an address.
pub(crate) struct UdpTransport {
    socket: UdpSocket,
    address: String,
}

impl UdpTransport {
    /// Sends to `HOST:PORT`.
    pub(crate) fn new(address: &str) -> Result<Self, OutputError> {
        let wrong = |_: io::Error| OutputError::Address(address.to_owned());
        let to = address.to_socket_addrs().map_err(wrong)?.next();
        let to = to.ok_or_else(|| OutputError::Address(address.to_owned()))?;
        let socket = UdpSocket::bind(if to.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" })?;
        socket.connect(to)?;
        Ok(Self { socket, address: address.to_owned() })
    }
}

impl Transport for UdpTransport {
    fn send(&mut self, payload: &[u8]) -> Result<(), SendError> {
        match self.socket.send(payload) {
            Ok(_) => Ok(()),
            // A port where nothing listens is heard of with the next datagram. Datagrams are never sent twice.
            Err(error) => {
                Err(SendError::new(false, None, &format!("udp {}: {error}", self.address)))
            }
        }
    }
}
