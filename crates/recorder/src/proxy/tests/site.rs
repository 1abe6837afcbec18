//! `Site`: a server of a few lines.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A server that answers each request with what its function makes of it.
pub(super) struct Site {
    pub(super) port: u16,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Site {
    pub(super) fn start(answer: fn(&str) -> Vec<u8>) -> Self {
        Self::serve(move |mut stream, seen| {
            while let Ok(request) = read_request(&mut stream) {
                let answer = answer(&request);
                seen.lock().unwrap().push(request);
                if stream.write_all(&answer).is_err() {
                    return;
                }
            }
        })
    }

    /// A server that does what it wants with each connection.
    pub(super) fn serve(
        handle: impl Fn(TcpStream, &Mutex<Vec<String>>) + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Mutex::new(vec![]));
        let (record, handle) = (Arc::clone(&seen), Arc::new(handle));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (record, handle) = (Arc::clone(&record), Arc::clone(&handle));
                std::thread::spawn(move || handle(stream, &record));
            }
        });
        Self { port, seen }
    }

    /// The requests so far, head and body.
    pub(super) fn requests(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

/// A request as text.
pub(super) fn read_request(stream: &mut impl Read) -> std::io::Result<String> {
    let head = read_head(stream)?;
    let lower = head.to_ascii_lowercase();
    let length = lower.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body)?;
    Ok(head + &String::from_utf8_lossy(&body))
}

/// A head, up to its empty line.
pub(super) fn read_head(stream: &mut impl Read) -> std::io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

/// An answer with a body.
pub(super) fn answer(kind: &str, more: &str, body: &str) -> Vec<u8> {
    let len = body.len();
    format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n{more}Content-Length: {len}\r\n\r\n{body}")
        .into_bytes()
}
