//! `Origins`: all origins of one worker, and the sites that only redirects named.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::Arc;

use stdx::{Nanos, NumberHash};

use crate::ids::{OriginId, Table};
use crate::named_by::NamedBy;
use crate::origin::{Origin, OriginKey};
use crate::request::Request;
use crate::settings::Settings;

/// The most origins of one worker, each user's own counted; redirects and lazy targets beyond it fail.
pub(crate) const ORIGINS_MAX: usize = 1 << 18;

/// The most sites of one worker that only redirects named; beyond it the one not asked for longest goes, once it is idle.
pub(crate) const REDIRECT_HOSTS_MAX: usize = 1024;

/// All origins of one worker.
#[derive(Debug, Default)]
pub(crate) struct Origins {
    pub(crate) list: Table<OriginId, Origin>,
    /// The numbers of what origins there are, whosever. They are never given twice.
    sites: HashMap<OriginKey, u64>,
    sites_made: u64,
    /// The sites that only redirects named.
    redirect_hosts: HashMap<u64, RedirectHost, NumberHash>,
    /// Redirects so far: the time by which strangers grow old.
    redirects: u64,
    /// The number of a site's origin of an owner.
    ids: HashMap<(u64, u32), OriginId, NumberHash>,
    /// Places in the list that forgotten origins have left.
    free: Vec<OriginId>,
    /// What each user's own are, where users have their own.
    owned: HashMap<u32, Vec<OriginId>, NumberHash>,
    /// What names are resolved to, where many origins are of one name.
    pub(crate) names: HashMap<String, Name>,
}

/// A site that only redirects named.
#[derive(Debug)]
struct RedirectHost {
    key: OriginKey,
    /// Its origins, one for each owner.
    origins: Vec<OriginId>,
    /// When a redirect last led to it.
    used: u64,
}

/// A name that many origins share.
#[derive(Debug, Default)]
pub(crate) struct Name {
    pub(crate) addresses: Arc<[IpAddr]>,
    /// Until when they may be used.
    pub(crate) fresh_until: Nanos,
    /// The origins that wait for them.
    pub(crate) asked: Vec<OriginId>,
    /// Dials so far.
    pub(crate) dials: u32,
}

impl Origins {
    /// The number of a request's origin for an owner, made where it is new; `None` when there are too many.
    pub(crate) fn id_of(
        &mut self,
        request: &Request,
        owner: u32,
        settings: &Settings,
        named: NamedBy,
    ) -> Option<OriginId> {
        let site = self.site(request, named)?;
        self.at(site, owner, request, settings)
    }

    /// The number of what a request is sent to, whosever; `None` when there are too many.
    pub(crate) fn site(&mut self, request: &Request, named: NamedBy) -> Option<u64> {
        let full = self.sites.len() >= ORIGINS_MAX;
        let key = OriginKey::of(request);
        let site = match self.sites.entry(key.clone()) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(_) if full => return None,
            Entry::Vacant(place) => {
                self.sites_made += 1;
                if named == NamedBy::Redirect {
                    let redirect_host = RedirectHost { key, origins: Vec::new(), used: 0 };
                    self.redirect_hosts.insert(self.sites_made, redirect_host);
                }
                *place.insert(self.sites_made)
            }
        };
        match named {
            NamedBy::User => self.named_by_user(site),
            NamedBy::Redirect => self.led_to(site),
        }
        Some(site)
    }

    /// The plan or a script names a site as well: it is no stranger any more.
    fn named_by_user(&mut self, site: u64) {
        let Some(redirect_host) = self.redirect_hosts.remove(&site) else { return };
        for id in redirect_host.origins {
            self.list[id].named = NamedBy::User;
        }
    }

    /// A redirect leads to a site.
    fn led_to(&mut self, site: u64) {
        self.redirects += 1;
        if let Some(redirect_host) = self.redirect_hosts.get_mut(&site) {
            redirect_host.used = self.redirects;
        }
    }

    /// The number of a site's origin for an owner, made where it is new; `None` when there are too many.
    pub(crate) fn at(
        &mut self,
        site: u64,
        owner: u32,
        request: &Request,
        settings: &Settings,
    ) -> Option<OriginId> {
        if let Some(&id) = self.ids.get(&(site, owner)) {
            return Some(id);
        }
        let is_stranger = self.redirect_hosts.contains_key(&site);
        let named = if is_stranger { NamedBy::Redirect } else { NamedBy::User };
        let mut origin = Origin::new(OriginKey::of(request), owner, &request.url, settings);
        origin.named = named;
        let id = match self.free.pop() {
            Some(id) => {
                self.list[id] = origin;
                id
            }
            None if self.list.len() >= ORIGINS_MAX => return None,
            None => self.list.push(origin),
        };
        self.ids.insert((site, owner), id);
        if let Some(redirect_host) = self.redirect_hosts.get_mut(&site) {
            redirect_host.origins.push(id);
        }
        if owner != 0 {
            self.owned.entry(owner).or_default().push(id);
        }
        Some(id)
    }

    /// Whether redirects alone named more sites than are to be remembered.
    pub(crate) fn has_too_many_redirect_hosts(&self) -> bool {
        self.redirect_hosts.len() > REDIRECT_HOSTS_MAX
    }

    /// The stranger not asked for longest of those where nothing is under way; `busy` are the origins of all hits. The one
    /// that a redirect led to last is about to be asked.
    pub(crate) fn oldest_idle_redirect_host(&self, busy: &HashSet<OriginId>) -> Option<u64> {
        let is_idle = |id: &OriginId| {
            let origin = &self.list[*id];
            !busy.contains(id) && !origin.resolving && origin.is_idle()
        };
        let idle = self.redirect_hosts.iter().filter(|(_, redirect_host)| {
            redirect_host.used != self.redirects && redirect_host.origins.iter().all(is_idle)
        });
        idle.min_by_key(|(_, redirect_host)| redirect_host.used).map(|(site, _)| *site)
    }

    /// The origins of a stranger.
    pub(crate) fn origins_of_redirect_host(&self, site: u64) -> Vec<OriginId> {
        self.redirect_hosts
            .get(&site)
            .map(|redirect_host| redirect_host.origins.clone())
            .unwrap_or_default()
    }

    /// Forgets a stranger that has no connections left: its places are free for others.
    pub(crate) fn remove_redirect_host(&mut self, site: u64) {
        let Some(redirect_host) = self.redirect_hosts.remove(&site) else { return };
        self.sites.remove(&redirect_host.key);
        for id in redirect_host.origins {
            let origin = &mut self.list[id];
            debug_assert_eq!(origin.open, 0, "what is forgotten has no connections");
            let owner = origin.owner;
            self.ids.remove(&(site, owner));
            if let Some(owned) = self.owned.get_mut(&owner) {
                owned.retain(|own| *own != id);
            }
            let name = origin.endpoint().host.clone();
            if self.names.get(&name).is_some_and(|known| known.asked.is_empty()) {
                self.names.remove(&name);
            }
            self.free.push(id);
        }
    }

    /// The origins that are an owner's own.
    pub(crate) fn owned_by(&self, owner: u32) -> Vec<OriginId> {
        self.owned.get(&owner).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Addressing;

    fn request(host: &str) -> Request {
        let target = workload::Target {
            method: "GET".to_owned(),
            url: format!("http://{host}/"),
            headers: Vec::new(),
            body: Arc::from([]),
            weight: 1,
            name: String::new(),
        };
        let defaults = crate::request::RequestDefaults::of("", &Settings::default());
        Request::new(&target, &defaults, |_| Addressing::default()).expect("a request")
    }

    #[test]
    fn few_sites_that_only_redirects_named_are_remembered() {
        let (settings, mut origins) = (Settings::default(), Origins::default());
        // A hit is on its way to the first that a redirect names.
        let busy = HashSet::from([OriginId(REDIRECT_HOSTS_MAX as u32)]);
        let number = |origins: &mut Origins, host: &str, named| {
            let number = origins.id_of(&request(host), 0, &settings, named).expect("room");
            while origins.has_too_many_redirect_hosts() {
                let oldest = origins.oldest_idle_redirect_host(&busy).expect("most are idle");
                origins.remove_redirect_host(oldest);
            }
            number
        };
        for host in 0..REDIRECT_HOSTS_MAX {
            number(&mut origins, &format!("early-{host}"), NamedBy::User);
        }
        for host in 0..10_000 {
            number(&mut origins, &format!("r{host}"), NamedBy::Redirect);
            // A user asks for the second.
            number(&mut origins, "r1", NamedBy::User);
        }
        let places = 2 * REDIRECT_HOSTS_MAX + 2;
        assert!(origins.list.len() <= places, "{} origins", origins.list.len());
        assert_eq!(origins.sites.len(), origins.ids.len());
        assert!(origins.sites.len() <= places && origins.owned.is_empty());
        let again = number(&mut origins, "early-7", NamedBy::User);
        assert_eq!(again, OriginId(7), "what a user named stays where it is");
        assert_eq!(
            number(&mut origins, "r0", NamedBy::Redirect),
            OriginId(REDIRECT_HOSTS_MAX as u32)
        );
        let known = number(&mut origins, "r9500", NamedBy::Redirect);
        assert_eq!(origins.list[known].host(), "r9500");
    }
}
