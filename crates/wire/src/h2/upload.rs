//! `Upload`: the body of a request that is sent in parts, each as soon as the server's windows leave room for it. RFC 9113, 5.2.

use std::collections::VecDeque;
use std::task::{Context, Poll};

use bytes::Bytes;
use h2::SendStream;
use stdx::{MemoryShare, OutOfMemory};

/// The body of a stream that is sent in parts, and whether the response to it is read.
#[derive(Debug)]
pub(super) struct Upload {
    sender: SendStream<Bytes>,
    /// Parts that wait for room in the windows.
    unsent: VecDeque<Bytes>,
    unsent_bytes: usize,
    memory: MemoryShare,
    end: End,
    /// The response is not read for now: what comes fills the stream's window, and then waits at the server.
    pub(super) is_paused: bool,
}

/// How far the end of a body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// More parts may come.
    Open,
    /// The last part is there.
    Wanted,
    /// END_STREAM was said, or the stream takes no more.
    Done,
}

impl Upload {
    pub(super) fn new(sender: SendStream<Bytes>) -> Self {
        Self {
            sender,
            unsent: VecDeque::new(),
            unsent_bytes: 0,
            memory: MemoryShare::default(),
            end: End::Open,
            is_paused: false,
        }
    }

    /// Bytes that wait for room in the windows.
    pub(super) const fn unsent_bytes(&self) -> usize {
        self.unsent_bytes
    }

    /// Adds a part; nothing happens after the end.
    ///
    /// # Errors
    /// There is no memory for what waits.
    pub(super) fn push(&mut self, part: Vec<u8>) -> Result<(), OutOfMemory> {
        if self.end != End::Open || part.is_empty() {
            return Ok(());
        }
        self.memory.resize(self.unsent_bytes + part.len())?;
        self.unsent_bytes += part.len();
        self.unsent.push_back(part.into());
        Ok(())
    }

    /// No further part comes.
    pub(super) fn finish(&mut self) {
        if self.end == End::Open {
            self.end = End::Wanted;
        }
    }

    /// Sends as much as there is room for; `ctx` is woken once there is more.
    pub(super) fn pump(&mut self, ctx: &mut Context<'_>) {
        let had = self.unsent_bytes;
        while let Some(room) = self.room(ctx) {
            let Some(front) = self.unsent.front_mut() else { break };
            let part = front.split_to(room.min(front.len()));
            if front.is_empty() {
                self.unsent.pop_front();
            }
            self.unsent_bytes -= part.len();
            let is_last = self.unsent.is_empty() && self.end == End::Wanted;
            match self.sender.send_data(part, is_last) {
                Ok(()) if is_last => self.end = End::Done,
                Ok(()) => {}
                Err(_) => self.close(),
            }
        }
        if self.unsent.is_empty() && self.end == End::Wanted {
            self.end = End::Done;
            // A stream that failed reports that where its response is read.
            self.sender.send_data(Bytes::new(), true).ok();
        }
        if self.unsent_bytes < had {
            // Less always fits.
            self.memory.resize(self.unsent_bytes).ok();
        }
    }

    /// Bytes that may be sent now, at least one; `None` where nothing waits or there is no room.
    fn room(&mut self, ctx: &mut Context<'_>) -> Option<usize> {
        while self.unsent_bytes > 0 {
            self.sender.reserve_capacity(self.unsent_bytes);
            let room = self.sender.capacity();
            if room > 0 {
                return Some(room);
            }
            match self.sender.poll_capacity(ctx) {
                Poll::Pending => return None,
                Poll::Ready(Some(Ok(_))) => {}
                Poll::Ready(Some(Err(_)) | None) => self.close(),
            }
        }
        None
    }

    /// The stream takes no more: what waits is dropped.
    fn close(&mut self) {
        self.unsent.clear();
        self.unsent_bytes = 0;
        self.end = End::Done;
    }
}
