//! `Streams`: what is under way on one HTTP/2 connection: the session, and the hit of each stream.

use wire::content::ContentDecoder;
use wire::h2::H2Session;

use crate::captured::CapturedResponse;
use crate::ids::{HitId, StreamId, Table};

/// What is under way on one HTTP/2 connection.
#[derive(Debug)]
pub(crate) struct Streams {
    pub(crate) session: H2Session,
    /// By the session's numbers, which it reuses.
    list: Table<StreamId, Stream>,
}

/// One stream and what is kept of its response.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    /// The hit it serves; `None` while its number is free.
    pub(crate) hit: Option<HitId>,
    pub(crate) content: Option<Box<ContentDecoder>>,
    /// Whether this response's body is coded, and decoded by us.
    pub(crate) coded: bool,
    pub(crate) captured: CapturedResponse,
    /// The `Location` of a 3xx.
    pub(crate) location: Option<String>,
}

impl Streams {
    pub(crate) fn new() -> Self {
        Self { session: H2Session::client(), list: Table::default() }
    }

    /// A stream was opened for a hit.
    pub(crate) fn begin(&mut self, id: StreamId, hit: HitId) {
        while self.list.get(id).is_none() {
            self.list.push(Stream::default());
        }
        let stream = &mut self.list[id];
        stream.hit = Some(hit);
        stream.coded = false;
        stream.location = None;
        stream.captured.clear();
    }

    pub(crate) fn get(&self, id: StreamId) -> Option<&Stream> {
        self.list.get(id)
    }

    pub(crate) fn get_mut(&mut self, id: StreamId) -> Option<&mut Stream> {
        self.list.get_mut(id)
    }

    /// A stream's number is free; gives the hit it served.
    pub(crate) fn end(&mut self, id: StreamId) -> Option<HitId> {
        let stream = self.list.get_mut(id)?;
        stream.captured.trim();
        stream.hit.take()
    }

    /// The ids there have been, free ones too.
    pub(crate) fn ids(&self) -> impl Iterator<Item = StreamId> + use<> {
        self.list.ids()
    }
}
