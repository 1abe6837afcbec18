//! `WorkerDemand`: how many workers a rate keeps busy. Each worker has connections of its own, which lie idle until its own next
//! hit, so that of many workers at a low rate each would find its connection closed by the server.

use std::collections::HashMap;

use workload::Targets;

/// Hits per second to one server that are worth a worker: its connection lies idle for 10 ms, and large answers, which take 10 ms
/// each, still fill no worker.
const RATE_OF_WORKER: f64 = 100.0;
/// Hits per second to all servers together that are worth a worker: it has 200 us for each, ten times what a hit over TLS takes.
const RATE_OF_MANY: f64 = 5_000.0;

/// How many workers a rate keeps busy, by the servers that it is spread over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorkerDemand {
    /// The least of the servers' shares of the hits; 0 where the servers are not known before the run.
    least_share: f64,
}

impl WorkerDemand {
    /// Looks at all targets once.
    pub(crate) fn of(targets: &Targets) -> Self {
        Self { least_share: least_share(targets) }
    }

    /// The workers that so many hits per second keep busy; at least 1.
    pub(crate) fn workers_at(self, rate_per_s: f64) -> u64 {
        let of_each = rate_per_s * self.least_share / RATE_OF_WORKER;
        of_each.max(rate_per_s / RATE_OF_MANY).ceil().max(1.0) as u64
    }
}

/// The least of the servers' shares of the hits. Servers differ by what their URLs begin with.
fn least_share(targets: &Targets) -> f64 {
    let mut weights: HashMap<&str, u64> = HashMap::new();
    for target in targets.list().iter().filter(|target| target.weight > 0) {
        *weights.entry(server_of(target.url)).or_default() += u64::from(target.weight);
    }
    let (least, all) = (weights.values().min(), weights.values().sum::<u64>());
    least.map_or(0.0, |least| *least as f64 / all as f64)
}

/// The scheme, host and port of a URL, as it spells them.
fn server_of(url: &str) -> &str {
    let host = url.find("://").map_or(0, |at| at + 3);
    let end = url[host..].find(['/', '?', '#']).map_or(url.len(), |at| host + at);
    &url[..end]
}

#[cfg(test)]
pub(crate) mod tests {
    use workload::Target;

    use super::*;

    /// A GET of each of these URLs, in these shares.
    pub(crate) fn targets(urls: &[(&str, u32)]) -> Targets {
        let target = |(url, weight): &(&str, u32)| Target {
            method: "GET".to_owned(),
            url: (*url).to_owned(),
            headers: Vec::new(),
            body: [].into(),
            weight: *weight,
            name: String::new(),
        };
        Targets::new(urls.iter().map(target).collect::<Vec<_>>())
    }

    #[test]
    fn regression_issue_41_the_rate_of_each_server_counts() {
        let demand = |urls: &[(&str, u32)]| WorkerDemand::of(&targets(urls));
        let one = demand(&[("http://a/x", 1), ("http://a/y?http://b", 1), ("http://a#c", 1)]);
        assert_eq!((one.workers_at(0.0), one.workers_at(200.0), one.workers_at(1e4)), (1, 2, 100));
        let two = demand(&[("http://a/x", 1), ("https://a/x", 1)]);
        assert_eq!((two.workers_at(200.0), two.workers_at(202.0)), (1, 2));
        let uneven = demand(&[("http://a", 97), ("http://b", 3), ("http://c", 0)]);
        assert_eq!(uneven.workers_at(3_000.0), 1, "b has 90/s");
        let urls: Vec<String> =
            (0..139).map(|host| format!("http://127.0.1.{host}:80/x")).collect();
        let many: Vec<(&str, u32)> = urls.iter().map(|url| (url.as_str(), 1)).collect();
        assert_eq!(demand(&many).workers_at(200.0), 1);
        assert_eq!(demand(&many).workers_at(20_000.0), 4, "all of them together");
        assert_eq!(demand(&[]).workers_at(4_000.0), 1, "lazy ones may be of as many servers");
    }
}
