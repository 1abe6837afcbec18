//! What lies between client and server: the client's time, from the moment a request was sent, less the server's. It is the
//! network, and every queue before the server's clock starts.

use metrics::Histogram;
use metrics::server::Log;
use stdx::Nanos;

use super::side::ServerSide;
use super::table::Table;
use crate::number::{counted, duration, grouped};

/// The client's time less the server's.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkAndQueue {
    /// Request by request, where at least half of them are known to both by an id.
    pub by_request: Option<Histogram>,
    /// Requests known to both by an id, be they enough or not.
    pub joined: u64,
    /// Ids that were dropped without a match.
    pub ids_left_out: u64,
    /// The client's times, from the moment requests were sent.
    pub client: Histogram,
    /// The server's.
    pub server: Histogram,
    /// The log with the server's times.
    pub log: String,
}

impl NetworkAndQueue {
    /// What lies between; `None` where one of the two is not known.
    #[must_use]
    pub fn of(server: &ServerSide<'_>) -> Option<Self> {
        let seen = server.client.filter(|client| client.requests > 0)?;
        let client = crate::input::service(seen).unwrap_or(&seen.response).clone();
        let Log { total, source, .. } = server.application()?;
        let times = server.side.network_and_queue();
        let joined = times.map_or(0, Histogram::count);
        let enough = joined * 2 >= total.count().min(client.count());
        let by_request = times.filter(|_| enough).cloned();
        let ids_left_out = server.side.left_out().ids;
        Some(Self { by_request, joined, ids_left_out, client, server: total, log: source })
    }

    /// The mean of the differences, in nanoseconds. It is that of the joined requests, or the difference of the means, which is
    /// the same where both sides have the same requests.
    #[must_use]
    pub fn mean_ns(&self) -> i64 {
        match &self.by_request {
            Some(times) => signed(times.mean()),
            None => signed(self.client.mean()) - signed(self.server.mean()),
        }
    }

    /// The quantile of the differences where requests were joined; else the difference of the quantiles, in nanoseconds. It
    /// may be below zero.
    #[must_use]
    pub fn quantile_ns(&self, q: f64) -> i64 {
        match &self.by_request {
            Some(times) => signed(times.quantile(q)),
            None => signed(self.client.quantile(q)) - signed(self.server.quantile(q)),
        }
    }

    /// Whether both sides have the same number of requests, within a tenth.
    #[must_use]
    pub fn counts_agree(&self) -> bool {
        let (client, server) = (self.client.count(), self.server.count());
        client.abs_diff(server) * 10 <= client.max(server)
    }

    pub(super) fn table(&self) -> Table {
        const QUANTILES: [f64; 4] = [0.5, 0.9, 0.95, 0.99];
        let of = |name: &str, times: &Histogram| {
            let quantiles = QUANTILES.map(|q| duration(times.quantile(q)));
            [name.to_owned(), duration(times.mean())].into_iter().chain(quantiles).collect()
        };
        let between = [self.mean_ns()].into_iter().chain(QUANTILES.map(|q| self.quantile_ns(q)));
        let name = "network and queue".to_owned();
        let rows: [Vec<String>; 3] = [
            of("client, from sent", &self.client),
            of(&format!("server ({})", self.log), &self.server),
            std::iter::once(name).chain(between.map(difference)).collect(),
        ];
        Table::new("Network and queue", vec!["mean", "50", "90", "95", "99"], rows.into_iter())
    }

    /// Why it is not computed request by request.
    fn why_not(&self) -> String {
        let joined = grouped(self.joined);
        match (self.joined, self.ids_left_out) {
            (0, 0) => "no ids join them".to_owned(),
            (_, 0) => format!("ids join only {joined} of them"),
            _ => format!("ids join only {joined} of them: there are more ids than can be held"),
        }
    }

    /// How the difference was made.
    pub(super) fn note(&self) -> String {
        let (client, server) = (grouped(self.client.count()), grouped(self.server.count()));
        match &self.by_request {
            Some(times) => format!(
                "Network and queue: client less server, request by request: {} of {client} are known to both by their id.",
                grouped(times.count())
            ),
            None => format!(
                "Network and queue: mean less mean and quantile less quantile, of {} of the client's and {server} of the \
                 server's, since {}.{}",
                counted(self.client.count(), "request"),
                self.why_not(),
                if self.counts_agree() {
                    ""
                } else {
                    " They are not the same requests, and it means little."
                }
            ),
        }
    }
}

/// Nanoseconds with a sign.
fn signed(time: Nanos) -> i64 {
    i64::try_from(time.0).unwrap_or(i64::MAX)
}

fn difference(ns: i64) -> String {
    let size = duration(Nanos(ns.unsigned_abs()));
    if ns < 0 { format!("-{size}") } else { size }
}
