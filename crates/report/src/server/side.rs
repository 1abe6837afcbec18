//! `ServerSide`: what was seen of the servers, beside what the client saw.

use metrics::Summary;
use metrics::server::{Log, Measure, Side};

/// What was seen of the servers, beside what the client saw.
#[derive(Clone, Copy, Debug)]
pub struct ServerSide<'a> {
    /// What was seen of the servers.
    pub side: &'a Side,
    /// The client's summary of the same run, if there is one.
    pub client: Option<&'a Summary>,
    /// By how much the servers' clock was moved onto the client's, in nanoseconds; 0 where it was not.
    pub offset_ns: i64,
    /// How wrong that may be, in nanoseconds, where it was measured; absent where it was given.
    pub offset_error_ns: Option<i64>,
}

impl ServerSide<'_> {
    /// The requests of the log nearest to the application, of all hosts together.
    pub(crate) fn application(&self) -> Option<Log> {
        self.side.applications()
    }

    /// The mean of a measure during the run, where it has a course with readings in that time; else of all readings.
    pub(crate) fn mean(&self, measure: &Measure) -> f64 {
        self.mean_during(measure, During::Run)
    }

    /// The same during another time.
    pub(crate) fn mean_during(&self, measure: &Measure, during: During) -> f64 {
        let Some(client) = self.client.filter(|client| client.requests > 0) else {
            return measure.mean();
        };
        let end = match during {
            During::Run => client.end,
            During::Load => client.latest,
        };
        let within = |at: &(i64, f64)| (client.earliest..=end).contains(&at.0);
        let (sum, count) =
            measure.course().filter(within).fold((0.0, 0u32), |(sum, n), (_, y)| (sum + y, n + 1));
        match (count, during) {
            (0, During::Run) => measure.mean(),
            (0, During::Load) => self.mean(measure),
            _ => sum / f64::from(count),
        }
    }
}

/// A time that means are taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum During {
    /// From the first request that was due to the last end.
    Run,
    /// From the first request that was due to the last one: without the wait for the last answers, in which an overloaded server
    /// may have nothing to do.
    Load,
}
