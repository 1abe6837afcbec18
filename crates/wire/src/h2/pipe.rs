//! `Pipe`: the connection as the `h2` crate sees it: bytes that came, and bytes to be sent, in memory.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes that may wait to be sent; past it writing stops until they are taken: 256 KiB.
const OUTPUT_MAX: usize = 256 << 10;

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
    /// Adds bytes that came.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        if self.read == self.input.len() {
            self.input.clear();
            self.read = 0;
        }
        self.input.extend_from_slice(bytes);
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

/// The `h2` crate's end of the pipe. Who uses the other end wakes the connection himself, so no waker is kept here.
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
