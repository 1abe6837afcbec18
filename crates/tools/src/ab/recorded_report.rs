//! `AbReport`: ab's layout of results that something else measured (`report -type=ab`).

use metrics::{Batch, NO_TARGET, TargetTable};
use report::Input;
use report::ab::{self, Figures, Rules, Setting};
use stdx::Nanos;

use super::address::Address;

/// ab's layout of stored results. What ab takes from its command line comes from the first row and the generator's record.
#[derive(Debug)]
pub struct AbReport {
    figures: Figures,
    /// The URL of the first row.
    url: Option<String>,
}

impl Default for AbReport {
    fn default() -> Self {
        // Each failed request counts once: this is not compared with a run of ab.
        Self { figures: Figures::new(Rules::default()), url: None }
    }
}

impl AbReport {
    /// Counts a batch.
    pub fn add(&mut self, batch: &Batch, targets: &TargetTable) {
        self.figures.add(batch);
        if self.url.is_none()
            && let Some(first) = batch.samples.first()
        {
            self.url = Some(match targets.get(first.target) {
                Some(label) if first.target != NO_TARGET => label.url.to_owned(),
                _ => {
                    let line = String::from_utf8_lossy(batch.text(first.line)).into_owned();
                    line.split_once(' ').map_or(String::new(), |(_, url)| url.to_owned())
                }
            });
        }
    }

    /// The report.
    pub fn text(&self, input: &Input<'_>) -> String {
        let summary = input.summary;
        let first = self
            .url
            .as_deref()
            .map(|url| if has_path(url) { url.to_owned() } else { format!("{url}/") });
        let address = first.as_deref().and_then(Address::parse);
        let sent = self.figures.request_body_bytes;
        let setting = Setting {
            hostname: address.as_ref().map_or(String::new(), |address| address.hostname.clone()),
            port: address.as_ref().map_or(0, |address| address.port),
            path: address.as_ref().map_or(String::new(), |address| address.path.clone()),
            concurrency: users(input),
            taken: taken(summary),
            keep_alive: self.figures.kept_alive() > 0,
            bytes_sent: Some(sent).filter(|&sent| sent > 0),
            ..Setting::default()
        };
        ab::text(&setting, &self.figures)
    }
}

/// The users of a closed loop; else how many hits were under way on average, by Little's law.
fn users(input: &Input<'_>) -> u64 {
    let users = input.generator.map_or(0, |generator| generator.users);
    if users > 0 { users } else { input.summary.concurrency().round() as u64 }
}

/// From the first hit due to the last one ended.
fn taken(summary: &metrics::Summary) -> Nanos {
    let span = summary.end.saturating_sub(summary.earliest);
    Nanos(if summary.requests == 0 { 0 } else { u64::try_from(span).unwrap_or(0) })
}

/// Whether a URL says more than where the server is.
fn has_path(url: &str) -> bool {
    url.split_once("://").map_or(url, |(_, rest)| rest).contains('/')
}
