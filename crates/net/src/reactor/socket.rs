//! `Stream` and `Listener`: TCP and Unix sockets behind one face, always non-blocking.

#![allow(unsafe_code)]

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd};
use std::path::Path;
use std::time::Duration;

use mio::event::Source;
use mio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use mio::{Interest, Registry, Token};
use socket2::{Domain, SockAddr, SockRef, Socket, Type};

use crate::io::{Address, Dial, IoFailure, Progress};

/// Readable and writable, both reported once per edge.
const BOTH: Interest = Interest::READABLE.add(Interest::WRITABLE);
/// Connections that may wait to be accepted.
const BACKLOG: i32 = 4096;

/// A connection, TCP or Unix.
#[derive(Debug)]
pub(crate) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    /// Starts to connect.
    pub(crate) fn connect(dial: Dial<'_>) -> Result<Self, IoFailure> {
        match dial.to {
            Address::Ip(to) => {
                connect_tcp(*to, dial.from).map(Self::Tcp).map_err(|error| failure(&error))
            }
            Address::Unix(path) => UnixStream::connect(path)
                .map(Self::Unix)
                .map_err(|error| unix_failure(path, &error)),
        }
    }

    pub(crate) fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.register(registry, token, BOTH),
            Self::Unix(stream) => stream.register(registry, token, BOTH),
        }
    }

    /// Why connecting failed, if it did.
    pub(crate) fn connect_failure(&self) -> Option<IoFailure> {
        let error = match self {
            Self::Tcp(stream) => stream.take_error(),
            Self::Unix(stream) => stream.take_error(),
        };
        match error {
            Ok(None) => None,
            Ok(Some(error)) | Err(error) => Some(failure(&error)),
        }
    }

    pub(crate) fn recv(&mut self, buf: &mut [u8]) -> Progress {
        loop {
            let result = match self {
                Self::Tcp(stream) => stream.read(buf),
                Self::Unix(stream) => stream.read(buf),
            };
            if let Some(progress) = settle(result) {
                return progress;
            }
        }
    }

    /// Has [`Stream::recv_stamped`] give stamps. Where the system has none it gives none.
    pub(crate) fn stamp_arrivals(&self) {
        #[cfg(target_os = "linux")]
        if let Self::Tcp(stream) = self {
            super::stamps::enable(stream.as_raw_fd()).ok();
        }
    }

    /// As [`Stream::recv`], with the kernel's stamp (Unix time, ns) of what was read, where there is one.
    pub(crate) fn recv_stamped(&mut self, buf: &mut [u8]) -> (Progress, Option<i64>) {
        #[cfg(target_os = "linux")]
        if let Self::Tcp(stream) = self {
            loop {
                let (result, stamp) = super::stamps::recv(stream.as_raw_fd(), buf);
                if let Some(progress) = settle(result) {
                    return (progress, stamp);
                }
            }
        }
        (self.recv(buf), None)
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) -> Progress {
        loop {
            let result = match self {
                Self::Tcp(stream) => stream.write(bytes),
                Self::Unix(stream) => stream.write(bytes),
            };
            if let Some(progress) = settle(result) {
                return progress;
            }
        }
    }

    /// The descriptor, as long as the stream is not dropped.
    #[cfg(target_os = "linux")]
    pub(crate) fn as_raw_fd(&self) -> std::os::fd::RawFd {
        match self {
            Self::Tcp(stream) => stream.as_raw_fd(),
            Self::Unix(stream) => stream.as_raw_fd(),
        }
    }

    /// Makes the coming close a reset.
    pub(crate) fn linger_zero(&self) {
        // A socket that refuses is closed in an orderly way instead, which is the best left to do.
        match self {
            Self::Tcp(stream) => SockRef::from(stream).set_linger(Some(Duration::ZERO)).ok(),
            Self::Unix(_) => None,
        };
    }
}

/// The result of a read or write; `None` when a signal interrupted it.
fn settle(result: io::Result<usize>) -> Option<Progress> {
    match result {
        Ok(n) => Some(Progress::Bytes(n)),
        Err(error) => match error.kind() {
            io::ErrorKind::WouldBlock => Some(Progress::Later),
            io::ErrorKind::Interrupted => None,
            _ => Some(Progress::Failed(failure(&error))),
        },
    }
}

fn connect_tcp(to: SocketAddr, from: Option<IpAddr>) -> io::Result<TcpStream> {
    let socket = Socket::new(Domain::for_address(to), Type::STREAM.nonblocking(), None)?;
    socket.set_tcp_nodelay(true)?;
    if let Some(from) = from.filter(|ip| !ip.is_unspecified()) {
        bind_without_port(&socket);
        socket.bind(&SocketAddr::new(from, 0).into())?;
    }
    match socket.connect(&SockAddr::from(to)) {
        Ok(()) => {}
        Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => {}
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
        Err(error) => return Err(error),
    }
    // SAFETY: the descriptor was just made by `Socket::new` and is given up by `into_raw_fd`, so it has one owner.
    Ok(unsafe { TcpStream::from_raw_fd(socket.into_raw_fd()) })
}

/// Lets the kernel choose the port at connect, when it knows the peer: a source address then has a port range per peer.
fn bind_without_port(socket: &Socket) {
    #[cfg(target_os = "linux")]
    {
        let on: libc::c_int = 1;
        // SAFETY: the option's value is an int that outlives the call. A kernel without the option refuses it, and the
        // bind then takes a port at once.
        unsafe {
            libc::setsockopt(
                socket.as_raw_fd(),
                libc::IPPROTO_IP,
                libc::IP_BIND_ADDRESS_NO_PORT,
                std::ptr::from_ref(&on).cast(),
                size_of::<libc::c_int>() as libc::socklen_t,
            );
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = socket.as_raw_fd();
}

/// A listening socket, TCP or Unix. A Unix socket's file is removed with it.
#[derive(Debug)]
pub(crate) enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener, std::path::PathBuf),
}

impl Listener {
    pub(crate) fn bind(address: &Address) -> io::Result<(Self, Address)> {
        match address {
            Address::Ip(address) => {
                let listener = listen_tcp(*address)?;
                let bound = listener.local_addr()?;
                Ok((Self::Tcp(listener), Address::Ip(bound)))
            }
            Address::Unix(path) => {
                let listener = UnixListener::bind(path)?;
                Ok((Self::Unix(listener, path.clone()), Address::Unix(path.clone())))
            }
        }
    }

    pub(crate) fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        match self {
            Self::Tcp(listener) => listener.register(registry, token, Interest::READABLE),
            Self::Unix(listener, _) => listener.register(registry, token, Interest::READABLE),
        }
    }

    /// The next connection; `None` when none waits.
    pub(crate) fn accept(&self) -> io::Result<Option<Stream>> {
        let accepted = match self {
            Self::Tcp(listener) => listener.accept().map(|(stream, _)| {
                // Without it small answers wait for the client's acknowledgement; a refusal costs only that.
                stream.set_nodelay(true).ok();
                Stream::Tcp(stream)
            }),
            Self::Unix(listener, _) => listener.accept().map(|(stream, _)| Stream::Unix(stream)),
        };
        match accepted {
            Ok(stream) => Ok(Some(stream)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Self::Unix(_, path) = self {
            // It may have been removed already.
            std::fs::remove_file(path).ok();
        }
    }
}

fn listen_tcp(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM.nonblocking(), None)?;
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    // SAFETY: the descriptor was just made by `Socket::new` and is given up by `into_raw_fd`, so it has one owner.
    Ok(unsafe { TcpListener::from_raw_fd(socket.into_raw_fd()) })
}

/// Why a Unix socket cannot be connected to. Of a file that is no socket the system says "refused" as well, and a path that is too
/// long does not get as far as the system.
#[cold]
fn unix_failure(path: &Path, error: &io::Error) -> IoFailure {
    use std::os::unix::fs::FileTypeExt as _;
    let is_no_socket = || std::fs::metadata(path).is_ok_and(|meta| !meta.file_type().is_socket());
    match failure(error) {
        IoFailure::Refused if is_no_socket() => IoFailure::Other(libc::ENOTSOCK),
        _ if error.kind() == io::ErrorKind::InvalidInput && error.raw_os_error().is_none() => {
            IoFailure::Other(libc::ENAMETOOLONG)
        }
        failure => failure,
    }
}

/// The failure behind a system's error.
pub(crate) fn failure(error: &io::Error) -> IoFailure {
    match error.raw_os_error() {
        Some(libc::ECONNREFUSED) => IoFailure::Refused,
        Some(libc::ECONNRESET) => IoFailure::Reset,
        Some(libc::EPIPE) => IoFailure::BrokenPipe,
        Some(libc::ETIMEDOUT) => IoFailure::TimedOut,
        Some(libc::EMFILE | libc::ENFILE) => IoFailure::DescriptorsExhausted,
        Some(libc::EADDRNOTAVAIL | libc::EADDRINUSE) => IoFailure::PortsExhausted,
        Some(libc::ENETUNREACH | libc::EHOSTUNREACH) => IoFailure::Unreachable,
        Some(number) => IoFailure::Other(number),
        None => IoFailure::Other(libc::EIO),
    }
}
