//! `WatchedServers`: what was seen of the servers that a load test watched, for its closing report.

use metrics::server::Side;
use metrics::{Batch, Summary};
use recordings::{ClockShift, ServerRows};
use report::server::ServerSide;
use session::{Observer, ObserverError};

/// The servers beside a load test. As an observer it collects the ids of responses, by which requests are found in servers' logs.
#[derive(Debug)]
pub(super) struct WatchedServers {
    rows: ServerRows,
}

impl WatchedServers {
    /// Nothing was seen yet. The servers' rows have this machine's clock.
    pub(super) fn new() -> Self {
        Self { rows: ServerRows::new(ClockShift::default()) }
    }

    /// Adds what the monitor saw until the end of the test.
    pub(super) fn add(&mut self, seen: &Side) {
        self.rows.side.merge(seen);
    }

    /// The servers' side beside the client's; `None` where nothing was seen of them.
    pub(super) fn beside<'a>(&'a self, client: &'a Summary) -> Option<ServerSide<'a>> {
        let side = &self.rows.side;
        let seen = ServerSide { side, client: Some(client), offset_ns: 0, offset_error_ns: None };
        (!side.is_empty()).then_some(seen)
    }
}

impl Observer for WatchedServers {
    fn rows(&mut self, batch: &Batch) -> Result<(), ObserverError> {
        self.rows.hits(batch);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use metrics::Sample;
    use metrics::server::{Row, ServedRequest};
    use stdx::Nanos;

    use super::*;

    #[test]
    fn hits_and_the_servers_log_meet() {
        let mut servers = WatchedServers::new();
        let summary = Summary::new();
        assert!(servers.beside(&summary).is_none(), "nothing was seen");
        let mut batch = Batch::default();
        let headers = batch.add_text(b"X-Request-Id: a-1\r\n");
        batch.samples.push(Sample { done: Nanos(50), headers, ..Sample::default() });
        servers.rows(&batch).unwrap();
        let mut seen = Side::new();
        seen.add(&Row::Served(ServedRequest {
            id: "a-1".to_owned(),
            total: Some(Nanos(30)),
            ..ServedRequest::default()
        }));
        servers.add(&seen);
        let side = servers.beside(&summary).unwrap();
        let outside = side.side.network_and_queue().unwrap();
        assert_eq!((outside.count(), outside.sum()), (1, 20), "50 ns at the client, 30 in the log");
    }
}
