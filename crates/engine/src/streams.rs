//! `Streams`: what is under way on one HTTP/2 connection: the session, and the hit of each stream.

use wire::content::ContentDecoder;
use wire::h2::H2Session;

use crate::captured::CapturedResponse;

/// What is under way on one HTTP/2 connection.
#[derive(Debug)]
pub(crate) struct Streams {
    pub(crate) session: H2Session,
    /// By the session's numbers, which it uses again.
    list: Vec<Stream>,
}

/// One stream and what is kept of its response.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    /// The hit it serves; `None` while its number is free.
    pub(crate) hit: Option<u32>,
    pub(crate) content: Option<Box<ContentDecoder>>,
    /// Whether this response's body is coded, and decoded by us.
    pub(crate) coded: bool,
    pub(crate) captured: CapturedResponse,
    /// The `Location` of a 3xx.
    pub(crate) location: Option<String>,
}

impl Streams {
    pub(crate) fn new() -> Self {
        Self { session: H2Session::client(), list: Vec::new() }
    }

    /// A stream was opened for a hit.
    pub(crate) fn begin(&mut self, number: u32, hit: u32) {
        while self.list.len() <= number as usize {
            self.list.push(Stream::default());
        }
        let stream = &mut self.list[number as usize];
        stream.hit = Some(hit);
        stream.coded = false;
        stream.location = None;
        stream.captured.clear();
    }

    pub(crate) fn get(&self, number: u32) -> Option<&Stream> {
        self.list.get(number as usize)
    }

    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut Stream> {
        self.list.get_mut(number as usize)
    }

    /// A stream's number is free; gives the hit it served.
    pub(crate) fn end(&mut self, number: u32) -> Option<u32> {
        let stream = self.list.get_mut(number as usize)?;
        stream.captured.trim();
        stream.hit.take()
    }

    /// The numbers there have been, free ones too.
    pub(crate) fn numbers(&self) -> std::ops::Range<u32> {
        0..self.list.len() as u32
    }
}
