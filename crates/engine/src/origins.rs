//! `Origins`: all origins of one worker, and the sites that only redirects named.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::Arc;

use stdx::Nanos;

use crate::origin::{Origin, OriginKey};
use crate::request::Request;
use crate::settings::Settings;

/// The most origins of one worker, each user's own counted; redirects and lazy targets beyond it fail.
pub(crate) const ORIGINS_MAX: usize = 1 << 18;

/// The most sites of one worker that only redirects named; beyond it the one not asked for longest goes, once it is idle.
pub(crate) const STRANGERS_MAX: usize = 1024;

/// Who named a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    /// The plan, a lazy target or a script.
    ByUser,
    /// A server, by a redirect.
    ByRedirect,
}

/// All origins of one worker.
#[derive(Debug, Default)]
pub(crate) struct Origins {
    pub(crate) list: Vec<Origin>,
    /// The numbers of what origins there are, whosever. They are never given twice.
    sites: HashMap<OriginKey, u64>,
    sites_made: u64,
    /// The sites that only redirects named.
    strangers: HashMap<u64, Stranger>,
    /// Redirects so far: the time by which strangers grow old.
    redirects: u64,
    /// The number of a site's origin of an owner.
    numbers: HashMap<(u64, u32), u32>,
    /// Places in the list that forgotten origins have left.
    free: Vec<u32>,
    /// What each user's own are, where users have their own.
    owned: HashMap<u32, Vec<u32>>,
    /// What names are resolved to, where many origins are of one name.
    pub(crate) names: HashMap<String, Name>,
}

/// A site that only redirects named.
#[derive(Debug)]
struct Stranger {
    key: OriginKey,
    /// Its origins, one for each owner.
    origins: Vec<u32>,
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
    pub(crate) asked: Vec<u32>,
    /// Dials so far.
    pub(crate) dials: u32,
}

impl Origins {
    /// The number of a request's origin for an owner, made where it is new; `None` when there are too many.
    pub(crate) fn number(
        &mut self,
        request: &Request,
        owner: u32,
        settings: &Settings,
        named: Named,
    ) -> Option<u32> {
        let site = self.site(request, named)?;
        self.at(site, owner, request, settings)
    }

    /// The number of what a request is sent to, whosever; `None` when there are too many.
    pub(crate) fn site(&mut self, request: &Request, named: Named) -> Option<u64> {
        let full = self.sites.len() >= ORIGINS_MAX;
        let key = OriginKey::of(request);
        let site = match self.sites.entry(key.clone()) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(_) if full => return None,
            Entry::Vacant(place) => {
                self.sites_made += 1;
                if named == Named::ByRedirect {
                    let stranger = Stranger { key, origins: Vec::new(), used: 0 };
                    self.strangers.insert(self.sites_made, stranger);
                }
                *place.insert(self.sites_made)
            }
        };
        match named {
            Named::ByUser => drop(self.strangers.remove(&site)),
            Named::ByRedirect => self.led_to(site),
        }
        Some(site)
    }

    /// A redirect leads to a site.
    fn led_to(&mut self, site: u64) {
        self.redirects += 1;
        if let Some(stranger) = self.strangers.get_mut(&site) {
            stranger.used = self.redirects;
        }
    }

    /// The number of a site's origin for an owner, made where it is new; `None` when there are too many.
    pub(crate) fn at(
        &mut self,
        site: u64,
        owner: u32,
        request: &Request,
        settings: &Settings,
    ) -> Option<u32> {
        if let Some(&number) = self.numbers.get(&(site, owner)) {
            return Some(number);
        }
        let origin = Origin::new(OriginKey::of(request), owner, &request.url, settings);
        let number = match self.free.pop() {
            Some(number) => {
                self.list[number as usize] = origin;
                number
            }
            None if self.list.len() >= ORIGINS_MAX => return None,
            None => {
                self.list.push(origin);
                (self.list.len() - 1) as u32
            }
        };
        self.numbers.insert((site, owner), number);
        if let Some(stranger) = self.strangers.get_mut(&site) {
            stranger.origins.push(number);
        }
        if owner != 0 {
            self.owned.entry(owner).or_default().push(number);
        }
        Some(number)
    }

    /// Whether redirects alone named more sites than are to be remembered.
    pub(crate) fn has_too_many_strangers(&self) -> bool {
        self.strangers.len() > STRANGERS_MAX
    }

    /// The stranger not asked for longest of those where nothing is under way; `busy` are the origins of all hits. The one
    /// that a redirect led to last is about to be asked.
    pub(crate) fn oldest_idle_stranger(&self, busy: &HashSet<u32>) -> Option<u64> {
        let is_idle = |number: &u32| {
            let origin = &self.list[*number as usize];
            !busy.contains(number) && !origin.resolving && origin.is_idle()
        };
        let idle = self.strangers.iter().filter(|(_, stranger)| {
            stranger.used != self.redirects && stranger.origins.iter().all(is_idle)
        });
        idle.min_by_key(|(_, stranger)| stranger.used).map(|(site, _)| *site)
    }

    /// The origins of a stranger.
    pub(crate) fn of_stranger(&self, site: u64) -> Vec<u32> {
        self.strangers.get(&site).map(|stranger| stranger.origins.clone()).unwrap_or_default()
    }

    /// Forgets a stranger that has no connections left: its places are free for others.
    pub(crate) fn forget_stranger(&mut self, site: u64) {
        let Some(stranger) = self.strangers.remove(&site) else { return };
        self.sites.remove(&stranger.key);
        for number in stranger.origins {
            let origin = &mut self.list[number as usize];
            debug_assert_eq!(origin.open, 0, "what is forgotten has no connections");
            let owner = origin.owner;
            self.numbers.remove(&(site, owner));
            if let Some(owned) = self.owned.get_mut(&owner) {
                owned.retain(|own| *own != number);
            }
            let name = origin.endpoint().host.clone();
            if self.names.get(&name).is_some_and(|known| known.asked.is_empty()) {
                self.names.remove(&name);
            }
            self.free.push(number);
        }
    }

    /// The origins that are an owner's own.
    pub(crate) fn owned_by(&self, owner: u32) -> Vec<u32> {
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
        let common = crate::request::Common::of("", &Settings::default());
        Request::new(&target, &common, |_| Addressing::default()).expect("a request")
    }

    #[test]
    fn few_sites_that_only_redirects_named_are_remembered() {
        let (settings, mut origins) = (Settings::default(), Origins::default());
        // A hit is on its way to the first that a redirect names.
        let busy = HashSet::from([STRANGERS_MAX as u32]);
        let number = |origins: &mut Origins, host: &str, named| {
            let number = origins.number(&request(host), 0, &settings, named).expect("room");
            while origins.has_too_many_strangers() {
                let oldest = origins.oldest_idle_stranger(&busy).expect("most are idle");
                origins.forget_stranger(oldest);
            }
            number
        };
        for host in 0..STRANGERS_MAX {
            number(&mut origins, &format!("early-{host}"), Named::ByUser);
        }
        for host in 0..10_000 {
            number(&mut origins, &format!("r{host}"), Named::ByRedirect);
            // A user asks for the second.
            number(&mut origins, "r1", Named::ByUser);
        }
        let places = 2 * STRANGERS_MAX + 2;
        assert!(origins.list.len() <= places, "{} origins", origins.list.len());
        assert_eq!(origins.sites.len(), origins.numbers.len());
        assert!(origins.sites.len() <= places && origins.owned.is_empty());
        let again = number(&mut origins, "early-7", Named::ByUser);
        assert_eq!(again, 7, "what a user named stays where it is");
        assert_eq!(number(&mut origins, "r0", Named::ByRedirect), STRANGERS_MAX as u32);
        let known = number(&mut origins, "r9500", Named::ByRedirect);
        assert_eq!(origins.list[known as usize].host(), "r9500");
    }
}
