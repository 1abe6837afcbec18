//! A server of TLS on a free port, which reads the head of one request a connection and leaves the rest to the test.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use demo::Identity;
use wire::tls::{ServerSetup, TlsSession, rustls, server_config};

/// A connection whose request was read.
pub(crate) struct TlsConn {
    pub(crate) socket: TcpStream,
    pub(crate) session: TlsSession,
    /// The head of the request, with the empty line at its end.
    pub(crate) head: Vec<u8>,
}

impl TlsConn {
    /// Reads a request; `None` where the client goes away.
    fn accept(mut socket: TcpStream, config: &Arc<rustls::ServerConfig>) -> Option<Self> {
        let mut session = TlsSession::server(config).unwrap();
        let (mut head, mut out, mut buf) = (Vec::new(), Vec::new(), vec![0; 64 << 10]);
        while !head.ends_with(b"\r\n\r\n") {
            let Ok(len @ 1..) = socket.read(&mut buf) else { return None };
            session.handle_bytes(&buf[..len], &mut head).unwrap();
            session.poll_transmit(&mut out);
            socket.write_all(&out).unwrap();
            out.clear();
        }
        Some(Self { socket, session, head })
    }

    /// The records that are still to be sent.
    pub(crate) fn records(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        self.session.poll_transmit(&mut out);
        out
    }
}

/// Serves each connection by `answer`, on a thread of its own; gives the server's `https://ADDRESS`.
pub(crate) fn serve_tls(
    identity: Identity,
    answer: impl Fn(TlsConn) + Clone + Send + 'static,
) -> String {
    let (cert_pem, key_pem) = (identity.certificate_pem.into(), identity.key_pem.into());
    let config = server_config(&ServerSetup { cert_pem, key_pem }).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            let (config, answer) = (Arc::clone(&config), answer.clone());
            std::thread::spawn(move || TlsConn::accept(socket, &config).map(answer));
        }
    });
    url
}
