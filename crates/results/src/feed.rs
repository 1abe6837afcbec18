//! `Feed`: an input's bytes as they come. It reads once per call, so it never waits for more of a live pipe than it needs, and
//! its memory follows the bytes received, never a claimed length.

use std::io::{self, ErrorKind, Read};

/// Bytes asked of the system at once.
const READ: usize = 256 << 10;

/// An input's bytes as they come.
pub(crate) struct Feed {
    input: Box<dyn Read + Send>,
    buf: Vec<u8>,
    start: usize,
    end: usize,
    taken: u64,
    ended: bool,
}

impl Feed {
    pub(crate) fn new(input: Box<dyn Read + Send>) -> Self {
        Self { input, buf: Vec::new(), start: 0, end: 0, taken: 0, ended: false }
    }

    /// What came and was not yet consumed.
    pub(crate) fn pending(&self) -> &[u8] {
        &self.buf[self.start..self.end]
    }

    /// Place of the first pending byte in the input.
    pub(crate) fn at(&self) -> u64 {
        self.taken
    }

    /// The input has ended; `pending` is all there is.
    pub(crate) fn ended(&self) -> bool {
        self.ended
    }

    /// Drops the first `n` pending bytes.
    pub(crate) fn consume(&mut self, n: usize) {
        debug_assert!(n <= self.end - self.start);
        self.start += n;
        self.taken += n as u64;
    }

    /// Drops everything pending; says how much it was.
    pub(crate) fn consume_all(&mut self) -> usize {
        let n = self.end - self.start;
        self.consume(n);
        n
    }

    /// Reads once. At the end of the input it sets [`Feed::ended`].
    pub(crate) fn fill(&mut self) -> io::Result<()> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.start > 0 {
            self.buf.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.buf.len() - self.end < READ {
            self.buf.resize(self.end + READ.max(self.end), 0);
        }
        loop {
            match self.input.read(&mut self.buf[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(n) => self.end += n,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            return Ok(());
        }
    }

    /// Reads until `n` bytes are pending or the input has ended; says whether there are as many.
    pub(crate) fn need(&mut self, n: usize) -> io::Result<bool> {
        while self.pending().len() < n && !self.ended {
            self.fill()?;
        }
        Ok(self.pending().len() >= n)
    }

    /// The pending bytes, then the rest of the input, as a plain reader.
    pub(crate) fn into_read(self) -> impl Read {
        io::Cursor::new(self.pending().to_vec()).chain(self.input)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_bytes_in_order_whatever_is_consumed() {
        let all: Vec<u8> = (0..1_000_000u32).map(|i| (i % 251) as u8).collect();
        let mut feed = Feed::new(Box::new(io::Cursor::new(all.clone())));
        let mut seen = Vec::new();
        while !(feed.ended() && feed.pending().is_empty()) {
            feed.fill().unwrap();
            let take = (feed.pending().len() / 2 + 1).min(feed.pending().len());
            seen.extend_from_slice(&feed.pending()[..take]);
            feed.consume(take);
            assert_eq!(feed.at(), seen.len() as u64);
        }
        assert_eq!(seen, all);
    }
}
