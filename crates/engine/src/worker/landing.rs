//! Where redirects led a hit that was answered: its row names what was asked for, and a log-in page looks like success there.

use metrics::Landing;
use net::Io;
use wire::url::Url;

use super::Worker;
use crate::ids::HitId;
use crate::request::Request;

impl<I: Io> Worker<I> {
    /// Counts a hit that succeeded after redirects to another path.
    pub(super) fn note_landing(&mut self, hit_id: HitId) {
        let hit = &self.hits[hit_id];
        let is_led = hit.redirects > 0 || hit.led_from.is_some();
        let is_success = (200..300).contains(&hit.progress.status);
        if !is_led || !is_success || !self.is_measured(hit.intended) {
            return;
        }
        let Some(last) = Self::request(&self.prepared, hit) else { return };
        let landings = &mut self.self_metrics.landings;
        if let Some(from) = &hit.led_from {
            return Landing::add(landings, from, path(&last.url), 1);
        }
        let Some(first) = Self::first_request(&self.prepared, hit) else { return };
        let is_here = first.url.host == last.url.host;
        if is_here && path(&first.url) == path(&last.url) {
            return;
        }
        let to = match is_here {
            true => path(&last.url).to_owned(),
            false => format!("{}{}", last.url.host, path(&last.url)),
        };
        Landing::add(landings, &asked(first), &to, 1);
    }
}

/// What was asked for, as reports group rows.
fn asked(request: &Request) -> String {
    match request.name.is_empty() {
        true => format!("{} {}", request.method, stdx::url_without_secrets(&request.url_text)),
        false => request.name.clone(),
    }
}

/// The path, which with and without a slash at its end is the same.
fn path(url: &Url) -> &str {
    let path = url.path_and_query.split('?').next().unwrap_or_default();
    path.strip_suffix('/').filter(|rest| !rest.is_empty()).unwrap_or(path)
}
