//! `ServerRows`: the rows of servers in results, moved to the client's clock, and the ids that match them with hits.

use metrics::Batch;
use metrics::server::{Row, Side};

use super::clock_offset::ClockShift;
use super::header::header;

/// The rows of servers in results.
#[derive(Debug, Default)]
pub struct ServerRows {
    /// Figures of the rows.
    pub side: Side,
    /// By how much rows are moved.
    pub shift: ClockShift,
}

/// The header with a request's id; Rails sends it, and nginx if it is configured to.
const REQUEST_ID: &[u8] = b"x-request-id";

impl ServerRows {
    /// Without rows; those added are moved by `shift`.
    pub fn new(shift: ClockShift) -> Self {
        Self { side: Side::new(), shift }
    }

    /// Adds a row.
    pub fn add(&mut self, row: Row) {
        self.side.add(&row.shifted(self.shift.by_ns));
    }

    /// Adds the hits whose recorded headers have an id.
    pub fn hits(&mut self, batch: &Batch) {
        for sample in batch.samples.iter().filter(|sample| sample.headers.len > 0) {
            if let Some(id) = header(batch.text(sample.headers), REQUEST_ID) {
                self.side.hit(id, sample.service());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use metrics::Sample;
    use metrics::server::ServedRequest;
    use stdx::Nanos;

    use super::*;

    #[test]
    fn hits_meet_rows_by_the_header() {
        let mut rows = ServerRows::new(ClockShift::default());
        let served = ServedRequest {
            id: "a-1".to_owned(),
            total: Some(Nanos(30)),
            ..ServedRequest::default()
        };
        rows.add(Row::Served(served));
        let mut batch = Batch::default();
        let headers = batch.add_text(b"Server: x\r\nX-Request-Id: a-1\r\n");
        batch.samples.push(Sample { done: Nanos(50), headers, ..Sample::default() });
        batch.samples.push(Sample::default());
        rows.hits(&batch);
        assert_eq!(
            rows.side.network_and_queue().map(|times| (times.count(), times.sum())),
            Some((1, 20))
        );
    }
}
