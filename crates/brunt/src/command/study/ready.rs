//! `Ready`: how it is found out whether a server takes requests: any answer to a GET, or a connection. And who listens on a
//! port already.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ready {
    /// Any answer to a GET of this path will do.
    Http {
        /// `HOST:PORT`.
        host: String,
        /// With its slash.
        path: String,
    },
    /// A connection will do.
    Tcp {
        /// `HOST:PORT`.
        host: String,
    },
}

/// How long one try may take to connect, and to hear the first bytes.
const TRY: Duration = Duration::from_secs(1);
/// How long a connection that says whether a port is taken may take: loopback answers at once.
const TAKEN: Duration = Duration::from_millis(200);

impl Ready {
    /// Reads `http://HOST[:PORT]/PATH` or `tcp://HOST:PORT`.
    #[must_use]
    pub(super) fn read(text: &str) -> Option<Self> {
        if let Some(rest) = text.strip_prefix("http://") {
            let (host, path) = rest.find('/').map_or((rest, "/"), |at| rest.split_at(at));
            let host = if has_port(host) { host.to_owned() } else { format!("{host}:80") };
            let path = path.to_owned();
            return (!host.starts_with(':')).then_some(Self::Http { host, path });
        }
        let host = text.strip_prefix("tcp://")?.trim_end_matches('/');
        (has_port(host) && !host.starts_with(':')).then(|| Self::Tcp { host: host.to_owned() })
    }

    /// A text with placeholders may become one.
    #[must_use]
    pub(super) fn is_written_so(text: &str) -> bool {
        text.starts_with('{')
            || text.contains('{') && text.contains("://")
            || Self::read(text).is_some()
    }

    /// Where it listens.
    #[must_use]
    pub(super) fn host(&self) -> &str {
        match self {
            Self::Http { host, .. } | Self::Tcp { host } => host,
        }
    }

    /// It answers now.
    #[must_use]
    pub(super) fn answers(&self) -> bool {
        let Some(stream) = connect(self.host(), TRY) else { return false };
        match self {
            Self::Tcp { .. } => true,
            Self::Http { host, path } => asked(stream, host, path).unwrap_or(false),
        }
    }

    /// Somebody listens there already.
    #[must_use]
    pub(super) fn is_taken(&self) -> bool {
        connect(self.host(), TAKEN).is_some()
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

/// Any answer at all, an error's too, says that somebody serves.
fn asked(mut stream: TcpStream, host: &str, path: &str) -> std::io::Result<bool> {
    stream.set_read_timeout(Some(TRY))?;
    stream.set_write_timeout(Some(TRY))?;
    let head = format!(
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: brunt\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    let mut begin = [0; 5];
    stream.read_exact(&mut begin)?;
    Ok(&begin == b"HTTP/")
}

/// Who listens where, in words, as far as the system tells; empty where it does not.
#[must_use]
pub(super) fn holder(host: &str) -> String {
    let port = host.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
    port.and_then(listener)
        .map_or(String::new(), |(pid, name)| format!(" by {name} (process {pid})"))
}

/// The process that listens on a port of this machine (Linux; `None` elsewhere, and of other users' processes).
fn listener(port: u16) -> Option<(u32, String)> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"];
    let inodes: Vec<String> = tables
        .iter()
        .filter_map(|table| std::fs::read_to_string(table).ok())
        .flat_map(|table| listening(&table, port))
        .collect();
    let sockets: Vec<String> = inodes.iter().map(|inode| format!("socket:[{inode}]")).collect();
    let processes = std::fs::read_dir("/proc").ok()?.flatten();
    processes.into_iter().find_map(|entry| {
        let pid = entry.file_name().to_str()?.parse::<u32>().ok()?;
        let held = std::fs::read_dir(entry.path().join("fd")).ok()?.flatten().any(|descriptor| {
            let link = std::fs::read_link(descriptor.path());
            link.is_ok_and(|link| sockets.iter().any(|socket| link.as_os_str() == socket.as_str()))
        });
        let name = || std::fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
        held.then(|| (pid, name().trim().to_owned()))
    })
}

/// The inodes of listening sockets (state 0A) on this port, of a table in the form of `/proc/net/tcp`.
fn listening(table: &str, port: u16) -> Vec<String> {
    let inode = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let local = words.get(1)?.rsplit_once(':')?.1;
        let matches = u16::from_str_radix(local, 16) == Ok(port) && *words.get(3)? == "0A";
        matches.then(|| words.get(9).map(|inode| (*inode).to_owned())).flatten()
    };
    table.lines().skip(1).filter_map(inode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn addresses_are_read() {
        let http = |host: &str, path: &str| {
            Some(Ready::Http { host: host.to_owned(), path: path.to_owned() })
        };
        assert_eq!(Ready::read("http://127.0.0.1:81/a?b"), http("127.0.0.1:81", "/a?b"));
        assert_eq!(Ready::read("http://h"), http("h:80", "/"));
        assert_eq!(Ready::read("tcp://[::1]:6379"), Some(Ready::Tcp { host: "[::1]:6379".into() }));
        for text in
            ["", "127.0.0.1:81", "https://h/", "tcp://h", "tcp://:1", "tcp://h:0", "http:///x"]
        {
            assert_eq!(Ready::read(text), None, "{text}");
        }
        assert!(Ready::is_written_so("{url}/up") && Ready::is_written_so("tcp://h:{port}"));
        assert!(!Ready::is_written_so("h:{port}"));
    }

    #[test]
    fn a_listener_is_found_by_its_port() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
                     0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1\n   \
                     1: 0100007F:1F90 0100007F:1F91 01 00000000:00000000 00:00000000 00000000     0        0 4712 1\n";
        assert_eq!(listening(table, 8080), ["4711"]);
        assert!(listening(table, 8081).is_empty());
        let here = TcpListener::bind("127.0.0.1:0").unwrap();
        let ready = Ready::Tcp { host: here.local_addr().unwrap().to_string() };
        assert!(ready.is_taken() && ready.answers());
        if cfg!(target_os = "linux") {
            let pid = std::process::id().to_string();
            assert!(holder(ready.host()).contains(&pid), "{}", holder(ready.host()));
        }
        drop(here);
        assert!(!ready.is_taken() && !ready.answers());
    }
}
