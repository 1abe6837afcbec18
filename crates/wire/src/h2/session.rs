//! `H2Session`: the connection, its streams and their events, over the `h2` crate.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::Future as _;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use h2::RecvStream;
use h2::client::{Builder, Connection, ResponseFuture, SendRequest};
use slab::Slab;
use stdx::OutOfMemory;

use super::error::H2Error;
use super::event::StreamEvent;
use super::meter::Meter;
use super::pipe::{Pipe, PipeEnd};
use super::request::H2Request;
use super::upload::Upload;
use super::wake::Wakes;
use crate::h1::response::INTERIM_MAX;

/// Bytes of one stream that the server may send before we have read them, as Go's client allows: 4 MiB.
const STREAM_WINDOW: u32 = 4 << 20;
/// The same of the whole connection: 1 GiB. What is read is given back at once, so that it is never held.
const CONNECTION_WINDOW: u32 = 1 << 30;
/// The largest list of response header fields, uncompressed: 256 KiB.
const HEADER_LIST_MAX: u32 = 256 << 10;
/// Streams we gave up, and for how long they are remembered: until then a late answer is passed over. A server that is
/// overloaded, which is what a load tester is for, answers thousands of timed-out hits late.
const RESETS_REMEMBERED: usize = 16_384;
const RESET_REMEMBERED_FOR: Duration = Duration::from_secs(30);
/// Answers to streams no longer remembered, over a connection's life. Each has us say RST_STREAM once more; past this many
/// the connection ends, so that no server can have us do so for ever.
const LATE_ANSWERS_MAX: usize = 65_536;

/// One connection, from our preface on.
#[derive(Debug)]
pub struct H2Session {
    pipe: Rc<RefCell<Pipe>>,
    requests: SendRequest<Bytes>,
    /// `None` once the connection has ended.
    connection: Option<Connection<PipeEnd, Bytes>>,
    streams: Slab<Stream>,
    meter: Meter,
    wakes: Wakes,
    /// Streams that may have more events.
    lively: VecDeque<u32>,
}

/// A stream that is open.
#[derive(Debug)]
struct Stream {
    /// Its number on the wire. RFC 9113, 5.1.1.
    id: u32,
    phase: Phase,
    /// Its request's body, where that is sent in parts.
    upload: Option<Box<Upload>>,
}

/// How far a stream is.
#[derive(Debug)]
enum Phase {
    /// No final head has come yet, and so many interim ones. RFC 9113, 8.1.
    Waiting {
        response: ResponseFuture,
        interim: u32,
    },
    Reading(RecvStream),
}

impl H2Session {
    /// A session whose preface and settings are ready to transmit. RFC 9113, 3.4.
    #[must_use]
    pub fn client() -> Self {
        let pipe = Rc::new(RefCell::new(Pipe::default()));
        let wakes = Wakes::default();
        let handshake = Builder::new()
            .initial_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_header_list_size(HEADER_LIST_MAX)
            .enable_push(false)
            .max_concurrent_reset_streams(RESETS_REMEMBERED)
            .reset_stream_duration(RESET_REMEMBERED_FOR)
            .max_local_error_reset_streams(Some(LATE_ANSWERS_MAX))
            .handshake(PipeEnd::of(&pipe));
        let mut ctx = Context::from_waker(wakes.connection());
        let Poll::Ready(Ok((requests, connection))) = pin!(handshake).poll(&mut ctx) else {
            unreachable!("the pipe takes the preface at once");
        };
        wakes.wake_connection();
        let connection = Some(connection);
        Self {
            pipe,
            requests,
            connection,
            streams: Slab::new(),
            meter: Meter::default(),
            wakes,
            lively: VecDeque::new(),
        }
    }

    /// Streams the server lets us have open at once; 100 until its settings came. RFC 9113, 5.1.2.
    #[must_use]
    pub fn streams_max(&self) -> usize {
        self.requests.current_max_send_streams()
    }

    /// The same, once the server has said it.
    #[must_use]
    pub fn streams_max_stated(&self) -> Option<usize> {
        self.meter.has_begun().then(|| self.streams_max())
    }

    /// Streams that are open.
    #[must_use]
    pub fn streams_open(&self) -> usize {
        self.streams.len()
    }

    /// Whether a stream can be opened now. `false` for good once the server said GOAWAY or the connection ended.
    pub fn can_open(&mut self) -> bool {
        let mut ctx = Context::from_waker(self.wakes.connection());
        self.connection.is_some()
            && self.streams.len() < self.streams_max()
            && matches!(self.requests.poll_ready(&mut ctx), Poll::Ready(Ok(())))
    }

    /// Whether no stream will ever be opened again.
    pub fn is_closing(&mut self) -> bool {
        let mut ctx = Context::from_waker(self.wakes.connection());
        self.connection.is_none()
            || matches!(self.requests.poll_ready(&mut ctx), Poll::Ready(Err(_)))
    }

    /// Opens a stream with a request; gives the stream's number, which is free again with its last event.
    ///
    /// # Errors
    /// The connection takes no more streams.
    pub fn open(&mut self, request: &H2Request, hit: u64) -> Result<u32, H2Error> {
        let body = request.body();
        let (response, mut sender) =
            self.requests.send_request(request.head(hit), body.is_empty())?;
        if !body.is_empty() {
            sender.send_data(body.clone(), true)?;
        }
        Ok(self.insert(response, None))
    }

    /// Opens a stream with a request whose body follows in [parts](Self::push_part); gives the stream's number.
    ///
    /// # Errors
    /// The connection takes no more streams.
    pub fn open_in_parts(&mut self, request: &H2Request, hit: u64) -> Result<u32, H2Error> {
        let (response, sender) = self.requests.send_request(request.head_of_parts(hit), false)?;
        Ok(self.insert(response, Some(Box::new(Upload::new(sender)))))
    }

    fn insert(&mut self, response: ResponseFuture, upload: Option<Box<Upload>>) -> u32 {
        let id = response.stream_id().as_u32();
        let phase = Phase::Waiting { response, interim: 0 };
        let stream = self.streams.insert(Stream { id, phase, upload }) as u32;
        self.meter.begin(stream, id);
        // The first look at it leaves our waker there.
        self.lively.push_back(stream);
        stream
    }

    /// Adds a part to the body of a stream that was [opened](Self::open_in_parts) for parts. It waits until the server's windows have
    /// room; how much waits is for the caller to bound, by [`Self::unsent_bytes`].
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn push_part(&mut self, stream: u32, part: Vec<u8>) -> Result<(), OutOfMemory> {
        self.change_upload(stream, |upload| upload.push(part)).unwrap_or(Ok(()))
    }

    /// The body of a stream has no further part: END_STREAM follows what waits. RFC 9113, 8.1.
    pub fn end_parts(&mut self, stream: u32) {
        self.change_upload(stream, Upload::finish);
    }

    /// Bytes of a stream's body that wait for room in the server's windows.
    #[must_use]
    pub fn unsent_bytes(&self, stream: u32) -> usize {
        let upload = self.streams.get(stream as usize).and_then(|stream| stream.upload.as_ref());
        upload.map_or(0, |upload| upload.unsent_bytes())
    }

    /// Reads no more of the body of a stream that was opened for parts: once its window is full the server waits.
    pub fn pause(&mut self, stream: u32) {
        self.change_upload(stream, |upload| upload.is_paused = true);
    }

    /// Reads on.
    pub fn resume(&mut self, stream: u32) {
        self.change_upload(stream, |upload| upload.is_paused = false);
    }

    fn change_upload<T>(
        &mut self,
        stream: u32,
        change: impl FnOnce(&mut Upload) -> T,
    ) -> Option<T> {
        let upload = self.streams.get_mut(stream as usize)?.upload.as_mut()?;
        self.lively.push_back(stream);
        Some(change(upload))
    }

    /// Ends a stream for us: RST_STREAM with CANCEL. No event of it follows.
    pub fn cancel(&mut self, stream: u32) {
        // The crate resets a stream once its handle is dropped.
        if let Some(stream) = self.streams.try_remove(stream as usize) {
            self.meter.end(stream.id);
        }
    }

    /// The bytes of a stream's response that came since it was last asked, framing included; those of a stream that has
    /// ended until its number is used again. RFC 9113, 4.1: HEADERS, CONTINUATION and DATA frames.
    pub fn take_wire_bytes(&mut self, stream: u32) -> u64 {
        self.meter.take(stream)
    }

    /// Takes bytes of the connection, 64 KiB at a time or so.
    ///
    /// # Errors
    /// [`H2Error::Flood`]: too many bytes wait until the server reads what we answered. The connection is of no more use.
    pub fn handle_bytes(&mut self, bytes: &[u8]) -> Result<(), H2Error> {
        self.wakes.wake_connection();
        self.meter.pass(bytes);
        if self.pipe.borrow_mut().feed(bytes) { Ok(()) } else { Err(H2Error::Flood) }
    }

    /// The connection ended; streams that were not complete fail.
    pub fn handle_eof(&mut self) {
        self.pipe.borrow_mut().end();
        self.wakes.wake_connection();
    }

    /// The next thing that happened, and on which stream; `None` when there is nothing more.
    pub fn poll_event(&mut self) -> Option<(u32, StreamEvent)> {
        loop {
            while let Some(stream) = self.lively.pop_front() {
                if let Some(event) = self.poll_stream(stream) {
                    return Some((stream, event));
                }
            }
            if self.wakes.take_streams(&mut self.lively) {
                continue;
            }
            if !self.wakes.take_connection() {
                return None;
            }
            self.poll_connection();
        }
    }

    fn poll_stream(&mut self, number: u32) -> Option<StreamEvent> {
        let mut ctx = Context::from_waker(self.wakes.stream(number));
        let stream = self.streams.get_mut(number as usize)?;
        if let Some(upload) = &mut stream.upload {
            upload.pump(&mut ctx);
            if upload.is_paused && matches!(stream.phase, Phase::Reading(_)) {
                return None;
            }
        }
        let event = match &mut stream.phase {
            Phase::Waiting { response, interim } => {
                match poll_head(response, self.meter.heads(number), interim, &mut ctx) {
                    Poll::Pending => return None,
                    Poll::Ready(Ok(response)) => {
                        let (head, body) = response.into_parts();
                        stream.phase = Phase::Reading(body);
                        StreamEvent::Head { status: head.status, headers: head.headers }
                    }
                    Poll::Ready(Err(error)) => StreamEvent::Failed(error),
                }
            }
            Phase::Reading(body) => match body.poll_data(&mut ctx) {
                Poll::Pending => return None,
                Poll::Ready(Some(Ok(data))) => {
                    // A stream that failed meanwhile has no window to be given back.
                    body.flow_control().release_capacity(data.len()).ok();
                    StreamEvent::Data(data)
                }
                Poll::Ready(Some(Err(error))) => StreamEvent::Failed(error.into()),
                // Trailers come with the end, and have come where the body has ended.
                Poll::Ready(None) => match body.poll_trailers(&mut ctx) {
                    Poll::Pending => return None,
                    Poll::Ready(Ok(trailers)) => {
                        StreamEvent::End { trailers: trailers.map(Box::new) }
                    }
                    Poll::Ready(Err(error)) => StreamEvent::Failed(error.into()),
                },
            },
        };
        match event {
            StreamEvent::Head { .. } | StreamEvent::Data(_) => self.lively.push_back(number),
            StreamEvent::End { .. } | StreamEvent::Failed(_) => self.close(number),
        }
        Some(event)
    }

    fn close(&mut self, number: u32) {
        let stream = self.streams.remove(number as usize);
        self.meter.end(stream.id);
    }

    /// Lets the `h2` crate read and write frames.
    fn poll_connection(&mut self) {
        let mut ctx = Context::from_waker(self.wakes.connection());
        if let Some(connection) = &mut self.connection
            && Pin::new(connection).poll(&mut ctx).is_ready()
        {
            // Its streams report the reason themselves.
            self.connection = None;
        }
    }

    /// Appends the bytes that wait to be sent. What did not fit into the pipe follows after the next
    /// [`H2Session::poll_event`]; gives whether there were any.
    pub fn poll_transmit(&mut self, out: &mut Vec<u8>) -> bool {
        let was_full = self.pipe.borrow_mut().drain(out);
        if let Some(full) = was_full {
            if full {
                self.wakes.wake_connection();
            }
            return true;
        }
        false
    }
}

/// The final head of a response, of which so many heads came. Interim ones are counted and passed over; without a bound a server
/// could send them for ever.
fn poll_head(
    response: &mut ResponseFuture,
    heads: u32,
    interim: &mut u32,
    ctx: &mut Context<'_>,
) -> Poll<Result<http::Response<RecvStream>, H2Error>> {
    // Mostly there is one head, the final one: to look for others costs a tenth of what a stream does.
    if heads <= 1 {
        let polled = Pin::new(response).poll(ctx).map_err(H2Error::from);
        if polled.is_pending() {
            *interim = heads;
        }
        return polled;
    }
    while let Poll::Ready(Some(Ok(_))) = response.poll_informational(ctx) {
        *interim += 1;
        if *interim > INTERIM_MAX {
            return Poll::Ready(Err(H2Error::TooManyInterim));
        }
    }
    Pin::new(response).poll(ctx).map_err(H2Error::from)
}
