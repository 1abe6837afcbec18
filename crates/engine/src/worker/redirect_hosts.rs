//! Redirect hosts: sites that only redirects named. A server can name any number of them, so a worker knows few, and the one not
//! asked for longest goes first, with its connections. Nothing under way is ended for it.

use std::collections::HashSet;

use net::Io;

use super::Worker;
use crate::ids::{ConnId, HitId, OriginId};
use crate::named_by::NamedBy;
use crate::request::Request;

impl<I: Io> Worker<I> {
    /// The origin of what a redirect leads to; `None` when there are too many.
    pub(super) fn redirect_host(&mut self, request: &Request, owner: u32) -> Option<OriginId> {
        let settings = &self.prepared.settings;
        let origin_id = self.origins.id_of(request, owner, settings, NamedBy::Redirect)?;
        self.trim_redirect_hosts();
        Some(origin_id)
    }

    /// Sends a hit on its way to an origin.
    pub(super) fn dispatch_to(&mut self, hit_id: HitId, origin_id: OriginId) {
        let hit = &mut self.hits[hit_id];
        hit.origin = origin_id;
        hit.leads_elsewhere = self.origins.list[origin_id].named == NamedBy::Redirect;
        self.dispatch(hit_id);
    }

    /// A hit goes out. One that a redirect took elsewhere is counted only now, and once: its host may be refused before.
    pub(super) fn note_sent_elsewhere(&mut self, hit_id: HitId) {
        let hit = &mut self.hits[hit_id];
        if std::mem::take(&mut hit.leads_elsewhere)
            && let Some(request) = Self::request(&self.prepared, hit)
        {
            self.self_metrics.note_redirect_host(&request.url.host);
        }
    }

    /// Forgets the strangers not asked for longest, as far as there are too many and they are idle.
    pub(super) fn trim_redirect_hosts(&mut self) {
        if !self.origins.has_too_many_redirect_hosts() {
            return;
        }
        let busy: HashSet<OriginId> = self.hits.values().map(|hit| hit.origin).collect();
        while self.origins.has_too_many_redirect_hosts()
            && let Some(site) = self.origins.oldest_idle_redirect_host(&busy)
        {
            for origin_id in self.origins.origins_of_redirect_host(site) {
                while let Some(conn) = self.origin_ready(origin_id) {
                    self.drop_conn(conn);
                }
            }
            self.origins.remove_redirect_host(site);
        }
    }

    /// A connection of an origin that can take a hit, no longer on its list.
    fn origin_ready(&mut self, origin_id: OriginId) -> Option<ConnId> {
        self.origins.list[origin_id].ready.pop_last(&mut self.conns)
    }
}
