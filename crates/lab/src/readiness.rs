//! `ReadinessProbe`: whether a server accepts requests: any response to a GET, or a connection.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

/// How a server is probed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReadinessProbe {
    /// Any response to a GET of this path.
    Http {
        /// `HOST:PORT`.
        host: String,
        /// With its leading slash.
        path: String,
    },
    /// A TCP connection.
    Tcp {
        /// `HOST:PORT`.
        host: String,
    },
}

/// How long one probe may take to connect, and to receive the first bytes.
const PROBE_MAX: Duration = Duration::from_secs(1);
/// How long a connection to a port in use may take: loopback connects at once.
const IN_USE_MAX: Duration = Duration::from_millis(200);

impl ReadinessProbe {
    /// Parses `http://HOST[:PORT]/PATH` or `tcp://HOST:PORT`.
    #[must_use]
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if let Some(rest) = text.strip_prefix("http://") {
            let (host, path) = rest.find('/').map_or((rest, "/"), |at| rest.split_at(at));
            let host = if has_port(host) { host.to_owned() } else { format!("{host}:80") };
            let path = path.to_owned();
            return (!host.starts_with(':')).then_some(Self::Http { host, path });
        }
        let host = text.strip_prefix("tcp://")?.trim_end_matches('/');
        (has_port(host) && !host.starts_with(':')).then(|| Self::Tcp { host: host.to_owned() })
    }

    /// The text is a probe, or may become one when its placeholders are replaced.
    #[must_use]
    pub(crate) fn may_become_probe(text: &str) -> bool {
        text.starts_with('{')
            || text.contains('{') && text.contains("://")
            || Self::parse(text).is_some()
    }

    /// The `HOST:PORT` of the server.
    #[must_use]
    pub(crate) fn host(&self) -> &str {
        match self {
            Self::Http { host, .. } | Self::Tcp { host } => host,
        }
    }

    /// The server responds now.
    #[must_use]
    pub(crate) fn answers(&self) -> bool {
        let Some(stream) = connect(self.host(), PROBE_MAX) else { return false };
        match self {
            Self::Tcp { .. } => true,
            Self::Http { host, path } => responds(stream, host, path).unwrap_or(false),
        }
    }

    /// Some process listens on the address.
    #[must_use]
    pub(crate) fn is_in_use(&self) -> bool {
        connect(self.host(), IN_USE_MAX).is_some()
    }
}

fn has_port(host: &str) -> bool {
    host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok_and(|port| port > 0))
}

fn addresses(host: &str) -> Vec<SocketAddr> {
    host.to_socket_addrs().map(Iterator::collect).unwrap_or_default()
}

fn connect(host: &str, within: Duration) -> Option<TcpStream> {
    addresses(host).iter().find_map(|at| TcpStream::connect_timeout(at, within).ok())
}

/// Any response counts, an error too.
fn responds(mut stream: TcpStream, host: &str, path: &str) -> std::io::Result<bool> {
    stream.set_read_timeout(Some(PROBE_MAX))?;
    stream.set_write_timeout(Some(PROBE_MAX))?;
    let head = format!(
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: brunt\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    let mut begin = [0; 5];
    stream.read_exact(&mut begin)?;
    Ok(&begin == b"HTTP/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn addresses_are_read() {
        let http = |host: &str, path: &str| {
            Some(ReadinessProbe::Http { host: host.to_owned(), path: path.to_owned() })
        };
        assert_eq!(ReadinessProbe::parse("http://127.0.0.1:81/a?b"), http("127.0.0.1:81", "/a?b"));
        assert_eq!(ReadinessProbe::parse("http://h"), http("h:80", "/"));
        assert_eq!(
            ReadinessProbe::parse("tcp://[::1]:6379"),
            Some(ReadinessProbe::Tcp { host: "[::1]:6379".into() })
        );
        for text in
            ["", "127.0.0.1:81", "https://h/", "tcp://h", "tcp://:1", "tcp://h:0", "http:///x"]
        {
            assert_eq!(ReadinessProbe::parse(text), None, "{text}");
        }
        assert!(
            ReadinessProbe::may_become_probe("{url}/up")
                && ReadinessProbe::may_become_probe("tcp://h:{port}")
        );
        assert!(!ReadinessProbe::may_become_probe("h:{port}"));
    }

    #[test]
    fn a_listener_is_probed() {
        // An address that no other test listens at: what is free there stays so.
        let here = TcpListener::bind("127.0.0.77:0").unwrap();
        let ready = ReadinessProbe::Tcp { host: here.local_addr().unwrap().to_string() };
        assert!(ready.is_in_use() && ready.answers());
        drop(here);
        assert!(!ready.is_in_use() && !ready.answers());
    }
}
