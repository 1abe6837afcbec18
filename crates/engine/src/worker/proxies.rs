//! What is said to a proxy before the first request: TLS with it, the wish for a tunnel by CONNECT or by SOCKS; and all bytes
//! through the TLS with it. The credentials for a proxy are never sent outside of the way that its scheme names.

use metrics::FailureKind;
use net::Io;
use wire::h1::response::RequestMethod;
use wire::socks5::Socks5;

use super::Worker;
use crate::conn::State;
use crate::failure::Failure;
use crate::failure_reason::FailureReason;
use crate::ids::ConnId;
use crate::route::Route;

impl<I: Io> Worker<I> {
    /// The way to the server is open: next comes its TLS, or the request.
    pub(super) fn begin_with_server(&mut self, conn_id: ConnId) {
        let origin = self.conns[conn_id].origin;
        if self.origins.list[origin].secure() {
            self.secure(conn_id);
        } else {
            self.send_first(conn_id);
        }
    }

    /// Asks a proxy for a tunnel to the origin. RFC 9110, 9.3.6.
    pub(super) fn ask_for_tunnel(&mut self, conn_id: ConnId) {
        let conn = &mut self.conns[conn_id];
        let origin = &self.origins.list[conn.origin];
        let mut headers = self.prepared.settings.proxy.headers.as_ref().clone();
        if let Route::Tunnel(proxy) = &origin.route
            && let Some(authorization) = &proxy.authorization
        {
            headers.push(("Proxy-Authorization".to_owned(), authorization.clone()));
        }
        conn.state = State::Tunneling;
        conn.since = self.now;
        conn.decoder.begin(RequestMethod::Connect);
        match wire::h1::request::connect_request(&origin.authority(), &headers) {
            Ok(head) => self.transmit(conn_id, &head),
            Err(error) => {
                let failure = Failure::new(FailureKind::Proxy, FailureReason::Request(error));
                self.fail_connection(conn_id, &failure);
            }
        }
    }

    /// Says the first words to a SOCKS proxy.
    pub(super) fn greet_socks(&mut self, conn_id: ConnId) {
        let conn = &mut self.conns[conn_id];
        let origin = &self.origins.list[conn.origin];
        let Route::Socks(credentials) = &origin.route else { return };
        let socks = Socks5::new(origin.host(), origin.port(), credentials.clone());
        let greeting = socks.greeting();
        conn.state = State::Tunneling;
        conn.since = self.now;
        conn.socks = Some(Box::new(socks));
        self.transmit(conn_id, &greeting);
    }

    /// The proxy's answer to our wish for a tunnel.
    pub(super) fn tunnel_reply(&mut self, conn_id: ConnId, bytes: &[u8]) {
        if self.conns[conn_id].socks.is_some() {
            return self.socks_reply(conn_id, bytes);
        }
        let Some((decoder, mut handler)) = self.response_handler(conn_id) else { return };
        let outcome = decoder.handle_bytes(bytes, &mut handler);
        match outcome {
            Err(error) => {
                let failure = Failure::new(FailureKind::Proxy, FailureReason::Response(error));
                self.fail_connection(conn_id, &failure);
            }
            // A refusal is one before its body has come, which may have no end.
            Ok(progress) if !progress.done && decoder.status() == 0 => {}
            Ok(progress) => {
                let conn = &self.conns[conn_id];
                let status = conn.decoder.status();
                let Some(hit) = conn.hit else { return };
                self.hits[hit].progress = crate::hit::Progress::default();
                if !(200..300).contains(&status) || progress.consumed < bytes.len() {
                    let reason = String::from_utf8_lossy(&conn.captured.reason).into_owned();
                    let text = if reason.is_empty() { status.to_string() } else { reason };
                    return self
                        .fail_connection(conn_id, &Failure::other(FailureKind::Proxy, text));
                }
                self.begin_with_server(conn_id);
            }
        }
    }

    /// The answer of a SOCKS proxy.
    fn socks_reply(&mut self, conn_id: ConnId, bytes: &[u8]) {
        let conn = &mut self.conns[conn_id];
        let Some(socks) = &mut conn.socks else { return };
        let mut output = Vec::new();
        match socks.handle_bytes(bytes, &mut output) {
            Ok(true) => {
                conn.socks = None;
                self.begin_with_server(conn_id);
            }
            Ok(false) if output.is_empty() => {}
            Ok(false) => self.transmit(conn_id, &output),
            Err(error) => {
                let failure = Failure::other(FailureKind::Proxy, error.to_string());
                self.fail_connection(conn_id, &failure);
            }
        }
    }

    /// Puts bytes on the socket inside of the TLS with the proxy; without bytes, the records that wait.
    pub(super) fn put_through_proxy(&mut self, conn_id: ConnId, bytes: &[u8]) {
        let (mut rest, sock) = (bytes, self.sock_of(conn_id));
        let mut records = std::mem::take(&mut self.proxy_records);
        // The session takes a bounded part, and more once its records are out.
        while let Some(conn) = self.conns.get_mut(conn_id)
            && let Some(session) = &mut conn.proxy_tls
        {
            let taken = if rest.is_empty() { 0 } else { session.send(rest) };
            rest = &rest[taken..];
            records.clear();
            session.poll_transmit(&mut records);
            if !records.is_empty() {
                self.put_on_socket(conn_id, &records);
            }
            if rest.is_empty() || self.sock_of(conn_id) != sock {
                break;
            }
            if taken == 0 {
                let text = "the TLS session with the proxy takes no more";
                self.fail_connection(conn_id, &Failure::other(FailureKind::Proxy, text));
                break;
            }
        }
        self.proxy_records = records;
    }

    /// Takes a proxy's bytes out of the TLS with it.
    pub(super) fn feed_from_proxy(&mut self, conn_id: ConnId, bytes: &[u8]) {
        let sock = self.sock_of(conn_id);
        let Some(session) = &mut self.conns[conn_id].proxy_tls else { return };
        let was_handshaking = session.is_handshaking();
        let mut plain = std::mem::take(&mut self.proxy_plain);
        plain.clear();
        let outcome = session.handle_bytes(bytes, &mut plain);
        let is_ready = was_handshaking && !session.is_handshaking();
        let is_over = session.peer_closed() && !session.is_handshaking();
        self.put_through_proxy(conn_id, &[]);
        let is_there = |worker: &Self| sock.is_some() && worker.sock_of(conn_id) == sock;
        if let Err(error) = outcome {
            if is_there(self) {
                let text = format!("TLS with the proxy: {error}");
                self.fail_connection(conn_id, &Failure::other(FailureKind::Proxy, text));
            }
        } else {
            if is_ready && is_there(self) {
                self.greet_secure_proxy(conn_id);
            }
            if !plain.is_empty() && is_there(self) {
                self.feed_from_server(conn_id, &plain);
            }
            // RFC 8446, 6.1: nothing follows, even where the socket stays open until we close it.
            if is_over && is_there(self) {
                self.end_of_stream(conn_id);
            }
        }
        self.proxy_plain = plain;
    }

    /// The TLS with a proxy is there: it is asked for a tunnel, or for what the server has.
    fn greet_secure_proxy(&mut self, conn_id: ConnId) {
        let conn = &self.conns[conn_id];
        if let Some(hit) = conn.hit {
            self.hits[hit].tls += self.now.saturating_sub(conn.since);
        }
        match self.origins.list[conn.origin].route {
            Route::Tunnel(_) => self.ask_for_tunnel(conn_id),
            Route::Direct | Route::Unix(_) | Route::Forward(_) | Route::Socks(_) => {
                self.send_first(conn_id);
            }
        }
    }
}
