//! `Pipe`: the connection as the `h2` crate sees it: bytes that came, and bytes to be sent, in memory.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes that may wait to be sent; past it writing stops until they are taken: 256 KiB.
const OUTPUT_MAX: usize = 256 << 10;
/// Bytes that came and may wait to be read: 1 MiB. Reading stops only where an answer to what came (a PING, SETTINGS) finds
/// no room, that is where the server sends and does not read; such a server must not have our memory.
const INPUT_MAX: usize = 1 << 20;

/// Both directions of a connection.
#[derive(Debug, Default)]
pub(super) struct Pipe {
    input: Vec<u8>,
    /// How much of `input` was read.
    read: usize,
    ended: bool,
    output: Vec<u8>,
    full: bool,
}

impl Pipe {
    /// Adds bytes that came; gives whether there was room for them.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> bool {
        self.input.drain(..self.read);
        self.read = 0;
        let fits = self.input.len() + bytes.len() <= INPUT_MAX;
        if fits {
            self.input.extend_from_slice(bytes);
        }
        fits
    }

    /// No more will come.
    pub(super) fn end(&mut self) {
        self.ended = true;
    }

    /// Appends what waits to be sent and gives whether there was no room for more; `None` where nothing waits.
    pub(super) fn drain(&mut self, out: &mut Vec<u8>) -> Option<bool> {
        if self.output.is_empty() {
            return None;
        }
        out.append(&mut self.output);
        Some(std::mem::take(&mut self.full))
    }
}

/// The `h2` crate's end of the pipe. The session uses the other end and wakes the connection itself, so no waker is stored here.
#[derive(Debug)]
pub(super) struct PipeEnd(Rc<RefCell<Pipe>>);

impl PipeEnd {
    pub(super) fn of(pipe: &Rc<RefCell<Pipe>>) -> Self {
        Self(Rc::clone(pipe))
    }
}

impl AsyncRead for PipeEnd {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut pipe = self.0.borrow_mut();
        let rest = &pipe.input[pipe.read..];
        if rest.is_empty() {
            return if pipe.ended { Poll::Ready(Ok(())) } else { Poll::Pending };
        }
        let len = rest.len().min(buf.remaining());
        buf.put_slice(&rest[..len]);
        pipe.read += len;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for PipeEnd {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut pipe = self.0.borrow_mut();
        if pipe.output.len() >= OUTPUT_MAX {
            pipe.full = true;
            return Poll::Pending;
        }
        pipe.output.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
