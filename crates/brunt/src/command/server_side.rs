//! The server's side as results bring it: rows moved onto the client's clock, and the ids by which hits are the same requests.

use metrics::Batch;
use metrics::server::{Row, Side};

use super::server_clock::Moved;

/// What results say of the servers.
#[derive(Debug, Default)]
pub(crate) struct ServerRows {
    /// All that was seen.
    pub(crate) side: Side,
    /// By how much rows are moved.
    pub(crate) moved: Moved,
}

/// The header by which servers tell a request's id; that of Rails, and of nginx where it is so configured.
const REQUEST_ID: &[u8] = b"x-request-id";

impl ServerRows {
    /// Nothing yet; rows will be moved by so much.
    pub(crate) fn new(moved: Moved) -> Self {
        Self { side: Side::new(), moved }
    }

    /// Takes a row.
    pub(crate) fn add(&mut self, row: Row) {
        self.side.add(&row.shifted(self.moved.by_ns));
    }

    /// Takes the hits whose answers' headers were kept and say an id.
    pub(crate) fn hits(&mut self, batch: &Batch) {
        for sample in batch.samples.iter().filter(|sample| sample.headers.len > 0) {
            if let Some(id) = header(batch.text(sample.headers), REQUEST_ID) {
                self.side.hit(id, sample.service());
            }
        }
    }
}

/// The value of the first header line of this name, which is in lower case.
pub(super) fn header<'a>(lines: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    lines.split(|byte| *byte == b'\n').find_map(|line| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let (found, value) = (&line[..colon], &line[colon + 1..]);
        found.eq_ignore_ascii_case(name).then(|| value.trim_ascii())
    })
}

#[cfg(test)]
mod tests {
    use metrics::Sample;
    use metrics::server::Served;
    use stdx::Nanos;

    use super::*;

    #[test]
    fn hits_meet_rows_by_the_header() {
        let mut rows = ServerRows::new(Moved::default());
        let served = Served { id: "a-1".to_owned(), total: Some(Nanos(30)), ..Served::default() };
        rows.add(Row::Served(served));
        let mut batch = Batch::default();
        let headers = batch.add_text(b"Server: x\r\nX-Request-Id: a-1\r\n");
        batch.samples.push(Sample { done: Nanos(50), headers, ..Sample::default() });
        batch.samples.push(Sample::default());
        rows.hits(&batch);
        assert_eq!(rows.side.beyond().map(|times| (times.count(), times.sum())), Some((1, 20)));
    }
}
