//! Strangers: sites that only redirects named. A server can name any number of them, so a worker knows few, and the one not
//! asked for longest goes first, with its connections. Nothing under way is ended for it.

use std::collections::HashSet;

use net::Io;

use super::Worker;
use crate::origins::NamedBy;
use crate::request::Request;

impl<I: Io> Worker<I> {
    /// The origin of what a redirect leads to; `None` when there are too many.
    pub(super) fn redirect_host(&mut self, request: &Request, owner: u32) -> Option<u32> {
        let settings = &self.prepared.settings;
        let number = self.origins.number(request, owner, settings, NamedBy::Redirect)?;
        self.trim_redirect_hosts();
        Some(number)
    }

    /// Forgets the strangers not asked for longest, as far as there are too many and they are idle.
    pub(super) fn trim_redirect_hosts(&mut self) {
        if !self.origins.has_too_many_redirect_hosts() {
            return;
        }
        let busy: HashSet<u32> = self.hits.iter().map(|(_, hit)| hit.origin).collect();
        while self.origins.has_too_many_redirect_hosts()
            && let Some(site) = self.origins.oldest_idle_redirect_host(&busy)
        {
            for number in self.origins.origins_of_redirect_host(site) {
                while let Some(conn) = self.origin_ready(number) {
                    self.drop_conn(conn);
                }
            }
            self.origins.remove_redirect_host(site);
        }
    }

    /// A connection of an origin that can take a hit, no longer on its list.
    fn origin_ready(&mut self, number: u32) -> Option<u32> {
        self.origins.list[number as usize].ready.pop_last(&mut self.conns)
    }
}
