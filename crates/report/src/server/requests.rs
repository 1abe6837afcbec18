//! Tables of the requests in logs.

use metrics::Histogram;
use metrics::server::{Endpoint, Log};
use stdx::Nanos;

use super::side::ServerSide;
use super::table::{Table, percent};
use crate::number::{duration, grouped, number};

/// In the place of what a log does not say.
const UNTOLD: &str = "-";

/// What a log is called: with its host where there are several.
fn name(server: &ServerSide<'_>, log: &Log) -> String {
    let logs = server.side.logs();
    match logs.iter().any(|other| other.host != log.host) {
        true => format!("{} {}", log.host, log.source),
        false => log.source.clone(),
    }
}

/// The number of requests in each log, and their statuses.
pub(super) fn answers(server: &ServerSide<'_>) -> Table {
    let rows = server.side.logs().iter().map(|log| {
        let of =
            |from: u16, to: u16| log.statuses.range(from..to).map(|(_, count)| count).sum::<u64>();
        let classes = [of(200, 300), of(300, 400), of(400, 500), of(500, 600)];
        let other = log.requests - classes.iter().sum::<u64>();
        let rate = log.requests.saturating_sub(1) as f64 / log.span().as_secs_f64();
        let rate = if rate.is_finite() { format!("{}/s", number(rate)) } else { "-".to_owned() };
        let mut row = vec![name(server, log), grouped(log.requests), rate];
        row.extend(classes.iter().chain([&other]).map(|count| grouped(*count)));
        row
    });
    Table::new("Log", vec!["requests", "rate", "2xx", "3xx", "4xx", "5xx", "other"], rows)
}

/// Times of client and server, one below the other.
pub(super) fn times(server: &ServerSide<'_>) -> Table {
    let mut rows = Vec::new();
    if let Some(client) = server.client.filter(|client| client.requests > 0) {
        rows.push(row("client, from due".to_owned(), &client.response));
        rows.extend(
            crate::input::service(client).map(|times| row("client, from sent".to_owned(), times)),
        );
    }
    let own = rows.len();
    for log in server.side.logs().iter().filter(|log| log.is_timed()) {
        let name = name(server, log);
        let parts = [
            ("total", &log.total),
            ("views", &log.views),
            ("database", &log.database),
            ("queue", &log.queue),
        ];
        let timed = parts.into_iter().filter(|(_, times)| times.count() > 0);
        rows.extend(timed.map(|(part, times)| row(format!("{name} {part}"), times)));
    }
    // Without a log, other tables already have the client's times.
    rows.truncate(if rows.len() == own { 0 } else { rows.len() });
    let heads = vec!["requests", "mean", "50", "90", "95", "99", "max"];
    Table::new("Times of requests", heads, rows.into_iter())
}

fn row(name: String, times: &Histogram) -> Vec<String> {
    let quantiles = [0.5, 0.9, 0.95, 0.99].map(|q| duration(times.quantile(q)));
    let mut row = vec![name, grouped(times.count()), duration(times.mean())];
    row.extend(quantiles);
    row.push(duration(times.max()));
    row
}

/// Endpoints by the server's time that they took, the dearest first.
pub(super) fn endpoints(server: &ServerSide<'_>) -> Table {
    let Some(log) = server.application() else { return Table::default() };
    let mut all: Vec<&(String, Endpoint)> = log.endpoints().iter().collect();
    all.sort_by_key(|(_, one)| std::cmp::Reverse((one.total.sum(), one.requests)));
    let sum = log.total.sum().max(1) as f64;
    let rows = all.into_iter().map(|(name, one)| {
        let total = &one.total;
        let times = [total.mean(), total.quantile(0.5), total.quantile(0.99), total.max()];
        let if_timed = |text: String| if total.count() == 0 { UNTOLD.to_owned() } else { text };
        let mut row = vec![name.clone(), grouped(one.requests), grouped(one.errors)];
        row.push(if_timed(percent(total.sum() as f64 / sum)));
        row.extend(times.map(|time| if_timed(duration(time))));
        let requests = one.requests.max(1);
        let mean = |time: Nanos| duration(Nanos(time.0 / requests));
        row.extend([one.views, one.database].map(|time| time.map_or(UNTOLD.to_owned(), mean)));
        row
    });
    let heads =
        vec!["requests", "errors", "of time", "mean", "50", "99", "max", "views", "database"];
    Table::new(&format!("Endpoint ({})", log.source), heads, rows)
}
