//! Where redirects led a hit that was answered: its row names what was asked for, and a log-in page looks like success there.

use metrics::{LANDINGS_MAX, Landing};
use net::Io;
use wire::url::Url;

use super::Worker;
use crate::ids::HitId;
use crate::request::Request;
use crate::self_metrics::KnownRedirect;

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
        let due = self.recorder.unix_ns(hit.intended);
        let landings = &mut self.self_metrics.landings;
        if let Some(from) = &hit.led_from {
            Landing::add(landings, one(from.to_string(), path(&last.url).to_owned(), due));
            return;
        }
        let Some(first) = Self::first_request(&self.prepared, hit) else { return };
        if let Some(to) = elsewhere(&first.url, &last.url) {
            Landing::add(landings, one(asked(first), to, due));
        }
    }

    /// Counts a hit whose answer is a redirect to another path that is not followed. A user's redirects are its own affair.
    pub(super) fn note_redirect(&mut self, hit_id: HitId, location: &str) {
        let hit = &self.hits[hit_id];
        if hit.user.is_some() || !self.is_measured(hit.intended) {
            return;
        }
        let (target, due) = (hit.target, self.recorder.unix_ns(hit.intended));
        let known = self.self_metrics.redirects.iter().find(|known| known.is(target, location));
        if let Some(known) = known {
            if let Some(at) = known.landing {
                self.self_metrics.landings[at].count(due);
            }
            return;
        }
        let Some(last) = Self::request(&self.prepared, hit) else { return };
        let Some(first) = Self::first_request(&self.prepared, hit) else { return };
        let Ok(to) = last.url.join(location) else { return };
        let landing = elsewhere(&first.url, &to).and_then(|to| {
            let landing = Landing { is_redirect: true, ..one(asked(first), to, due) };
            Landing::add(&mut self.self_metrics.landings, landing)
        });
        if let Some(target) = target.filter(|_| self.self_metrics.redirects.len() < LANDINGS_MAX) {
            let known = KnownRedirect { target, location: location.to_owned(), landing };
            self.self_metrics.redirects.push(known);
        }
    }
}

/// One request, which was due then (Unix ns).
fn one(from: String, to: String, due: i64) -> Landing {
    Landing { from, to, requests: 1, is_redirect: false, first: due, last: due }
}

/// The path of a page that is not the one that was asked for, with its host where that is another one.
fn elsewhere(asked: &Url, last: &Url) -> Option<String> {
    match asked.host == last.host {
        true if path(asked) == path(last) => None,
        true => Some(path(last).to_owned()),
        false => Some(format!("{}{}", last.host, path(last))),
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
