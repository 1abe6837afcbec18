//! `Figure`: every figure that a run of a study may have, by name, with its unit and which direction is the better one.

/// What a figure is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Nanos,
    /// Per second.
    PerSecond,
    /// A share, 0 to 1.
    Share,
    /// Bytes.
    Bytes,
    /// Bytes per second.
    BytesPerSecond,
    /// Cores that were busy.
    Cores,
    /// Nothing: a count or a load average.
    Plain,
}

/// Which direction is for the better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Less of it.
    Less,
    /// More of it.
    More,
    /// Neither: it depends on the load. A server that answers more in the same time uses more cores, and a run that takes
    /// longer may have had more work.
    Neither,
}

/// A figure of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figure {
    /// Its name, which is never changed.
    pub name: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// What it is counted in.
    pub unit: Unit,
    /// Which direction is the better one.
    pub better: Better,
}

const fn less(name: &'static str, title: &'static str, unit: Unit) -> Figure {
    Figure { name, title, unit, better: Better::Less }
}

const fn more(name: &'static str, title: &'static str, unit: Unit) -> Figure {
    Figure { name, title, unit, better: Better::More }
}

const fn plain(name: &'static str, title: &'static str, unit: Unit) -> Figure {
    Figure { name, title, unit, better: Better::Neither }
}

impl Figure {
    /// All of them, in the order in which a report has them. `rtt`, `ready`, `fan_out` and `lost` are a cable test's, `limit`
    /// a search's; `server` is what a variant's servers took together, `machine` the whole machine beside the run.
    pub const ALL: [Self; 29] = [
        more("limit", "Highest load within the objective", Unit::Plain),
        more("throughput", "Successes per second", Unit::PerSecond),
        plain("duration", "Total time taken", Unit::Nanos),
        plain("transfer", "Transfer rate", Unit::BytesPerSecond),
        less("latency.mean", "Mean response time", Unit::Nanos),
        less("latency.p50", "Median response time", Unit::Nanos),
        less("latency.p90", "90th percentile", Unit::Nanos),
        less("latency.p95", "95th percentile", Unit::Nanos),
        less("latency.p99", "99th percentile", Unit::Nanos),
        less("latency.max", "Longest response time", Unit::Nanos),
        less("errors", "Requests without success", Unit::Share),
        less("rtt.mean", "Mean round trip", Unit::Nanos),
        less("rtt.p50", "Median round trip", Unit::Nanos),
        less("rtt.p95", "95th percentile of round trips", Unit::Nanos),
        less("rtt.p99", "99th percentile of round trips", Unit::Nanos),
        less("ready.p50", "Median time to a subscription", Unit::Nanos),
        less("ready.p99", "99th percentile of times to a subscription", Unit::Nanos),
        less("fan_out.p50", "Median time to a delivery", Unit::Nanos),
        less("fan_out.p99", "99th percentile of times to a delivery", Unit::Nanos),
        less("lost", "Messages lost", Unit::Share),
        plain("server.cpu", "CPU of the servers", Unit::Cores),
        less("server.cpu_per_request", "CPU of the servers per request", Unit::Nanos),
        less("server.rss", "Memory of the servers", Unit::Bytes),
        less("server.mean", "Mean time by the server's log", Unit::Nanos),
        less("server.p50", "Median by the server's log", Unit::Nanos),
        less("server.p99", "99th percentile by the server's log", Unit::Nanos),
        plain("machine.cpu", "CPU of the machine", Unit::Share),
        plain("machine.load1", "Load average", Unit::Plain),
        less("start", "Time until the servers were ready", Unit::Nanos),
    ];

    /// The figure of this name, or of another name of it: `p50` is `latency.p50`.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        let name = metrics::metric_name::canonical(name);
        Self::ALL.iter().find(|figure| figure.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contrast::Measure;

    #[test]
    fn names_are_distinguished_and_hold_what_is_compared() {
        let mut names: Vec<&str> = Figure::ALL.iter().map(|figure| figure.name).collect();
        for measure in Measure::ALL {
            let figure = Figure::named(measure.name()).unwrap();
            assert_eq!(figure.better == Better::More, measure == Measure::Throughput);
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Figure::ALL.len());
        assert_eq!(Figure::named("latency.p98"), None);
        let names = ["p99", "99th", "latency.p99", "rtt.median", "longest"];
        let found = names.map(|name| Figure::named(name).map(|figure| figure.name));
        let whole = ["latency.p99", "latency.p99", "latency.p99", "rtt.p50", "latency.max"];
        assert_eq!(found, whole.map(Some));
        let neither = Figure::ALL.iter().filter(|figure| figure.better == Better::Neither);
        let neither: Vec<&str> = neither.map(|figure| figure.name).collect();
        assert_eq!(neither, ["duration", "transfer", "server.cpu", "machine.cpu", "machine.load1"]);
    }
}
