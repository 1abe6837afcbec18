//! `Reply`: the body of an answer or a request on its way, copied as it passes.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Response, StatusCode};
use hyper::body::{Body, Frame, Incoming, SizeHint};

use crate::recording::{ExchangeId, Recording};

/// A body on its way.
#[derive(Debug)]
pub(super) struct Reply {
    source: Source,
    tap: Option<Tap>,
}

#[derive(Debug)]
enum Source {
    Incoming(Incoming),
    /// Our own text; `None` once it was taken.
    Text(Option<Bytes>),
}

/// Whose body it is that passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Request,
    Response,
}

/// Copies a body into a recording; that of an answer ends its exchange.
#[derive(Debug)]
pub(super) struct Tap {
    pub(super) recording: Arc<Recording>,
    pub(super) id: ExchangeId,
    pub(super) side: Side,
    /// Why it ended early.
    failure: Option<String>,
}

impl Tap {
    pub(super) fn new(
        recording: &Arc<Recording>,
        id: Option<ExchangeId>,
        side: Side,
    ) -> Option<Self> {
        let failure = None;
        id.map(|id| Self { recording: Arc::clone(recording), id, side, failure })
    }

    fn add(&self, bytes: &[u8]) {
        match self.side {
            Side::Request => self.recording.add_sent(self.id, bytes),
            Side::Response => self.recording.add_received(self.id, bytes),
        }
    }
}

impl Reply {
    pub(super) fn passing(body: Incoming, tap: Option<Tap>) -> Self {
        Self { source: Source::Incoming(body), tap }
    }

    pub(super) fn empty() -> Self {
        Self { source: Source::Text(None), tap: None }
    }

    fn end(&mut self) {
        let is_whole = self.is_end_stream();
        let Some(tap) = self.tap.take().filter(|tap| tap.side == Side::Response) else { return };
        let early = || "the client did not wait for the end".to_owned();
        let failure = tap.failure.clone().or_else(|| (!is_whole).then(early));
        tap.recording.end(tap.id, failure, tap.recording.now());
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        self.end();
    }
}

impl Body for Reply {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        ctx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let this = &mut *self;
        let frame = match &mut this.source {
            Source::Text(text) => text.take().map(|text| Ok(Frame::data(text))),
            Source::Incoming(body) => ready!(Pin::new(body).poll_frame(ctx)),
        };
        match (&frame, &mut this.tap) {
            (Some(Ok(frame)), Some(tap)) => frame.data_ref().into_iter().for_each(|x| tap.add(x)),
            (Some(Err(error)), Some(tap)) => tap.failure = Some(error.to_string()),
            (None, Some(_)) => {
                this.source = Source::Text(None);
                this.end();
            }
            (_, None) => {}
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        match &self.source {
            Source::Incoming(body) => body.is_end_stream(),
            Source::Text(text) => text.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.source {
            Source::Incoming(body) => body.size_hint(),
            Source::Text(text) => {
                SizeHint::with_exact(text.as_ref().map_or(0, |text| text.len() as u64))
            }
        }
    }
}

/// An answer of the proxy's own, for people.
pub(super) fn text(status: StatusCode, words: &str) -> Response<Reply> {
    typed(status, "text/plain; charset=utf-8", format!("brunt record: {words}\n"))
}

/// The same, of any type.
pub(super) fn typed(status: StatusCode, kind: &'static str, words: String) -> Response<Reply> {
    let mut response = Response::new(Reply { source: Source::Text(Some(words.into())), tap: None });
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
