//! WebSockets through the proxy.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use wire::ws::{Agreed, Event, Limits, Role, WsSession};

use super::Proxied;
use super::site::{Site, read_head};
use crate::exchange::{Direction, Payload};
use crate::scope::Scope;

/// A server that sends each text back, and one word first.
fn echo(mut stream: TcpStream, head: &str) {
    assert!(!head.to_lowercase().contains("sec-websocket-extensions"), "{head}");
    let answer = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                  Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
    stream.write_all(answer.as_bytes()).unwrap();
    let mut session = WsSession::new(Role::Server, &Agreed::default(), Limits::default(), 1);
    let mut out = Vec::new();
    session.send_text("welcome", &mut out).unwrap();
    let mut bytes = [0; 4096];
    loop {
        if stream.write_all(&out).is_err() {
            return;
        }
        out.clear();
        let Ok(len @ 1..) = stream.read(&mut bytes) else { return };
        let mut texts = Vec::new();
        let mut each = |event: Event<'_>| {
            if let Event::Text(text) = event {
                texts.push(text.to_owned());
            }
        };
        session.handle_bytes(&bytes[..len], &mut out, &mut each).unwrap();
        for text in texts {
            session.send_text(&text, &mut out).unwrap();
        }
    }
}

/// Reads until so many texts have come.
fn receive(stream: &mut TcpStream, session: &mut WsSession, count: usize) -> Vec<String> {
    let mut texts = Vec::new();
    while texts.len() < count {
        let mut bytes = [0; 4096];
        let len = stream.read(&mut bytes).unwrap();
        assert!(len > 0, "{texts:?}");
        let mut each = |event: Event<'_>| {
            if let Event::Text(text) = event {
                texts.push(text.to_owned());
            }
        };
        session.handle_bytes(&bytes[..len], &mut Vec::new(), &mut each).unwrap();
    }
    texts
}

#[test]
fn messages_pass_and_are_recorded() {
    let site = Site::serve(|mut stream, _| {
        let head = read_head(&mut stream).unwrap();
        echo(stream, &head);
    });
    let proxied = Proxied::new(Scope::FirstPage);
    // As browsers do: WebSockets without TLS go through a tunnel too.
    let mut stream = proxied.tunnel(site.port);
    let port = site.port;
    write!(
        stream,
        "GET /cable HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n"
    )
    .unwrap();
    let head = read_head(&mut stream).unwrap();
    assert!(
        head.starts_with("HTTP/1.1 101") && head.to_lowercase().contains("upgrade: websocket"),
        "{head}"
    );
    let mut session = WsSession::new(Role::Client, &Agreed::default(), Limits::default(), 2);
    assert_eq!(receive(&mut stream, &mut session, 1), ["welcome"]);
    for text in ["one", "zwei ü"] {
        let mut out = Vec::new();
        session.send_text(text, &mut out).unwrap();
        stream.write_all(&out).unwrap();
        assert_eq!(receive(&mut stream, &mut session, 1), [text]);
    }
    drop(stream);
    let record = proxied.finish(1);
    let messages = record.exchanges[0].messages.iter();
    let messages: Vec<(Direction, &Payload)> =
        messages.map(|message| (message.direction, &message.payload)).collect();
    let text = |text: &str| Payload::Text(text.to_owned());
    assert_eq!(
        messages,
        [
            (Direction::Received, &text("welcome")),
            (Direction::Sent, &text("one")),
            (Direction::Received, &text("one")),
            (Direction::Sent, &text("zwei ü")),
            (Direction::Received, &text("zwei ü")),
        ]
    );
    assert_eq!(record.exchanges[0].response.as_ref().unwrap().status, 101);
}
