//! Users that decide for themselves: their requests become hits, and they are told what became of them.

use std::net::SocketAddr;
use std::sync::Arc;

use net::{Address, Io};
use workload::{EngineResponse, RequestCommand, StopMode, Target};

use super::Worker;
use super::begin::Picked;
use super::finish::kept;
use super::prepared_asks::{PreparedAsk, PreparedAsks};
use crate::conn::Conn;
use crate::failure::Failure;
use crate::hit::Hit;
use crate::origins::{Named, Origins};
use crate::pace::Pace;
use crate::request::Unsendable;

impl<I: Io> Worker<I> {
    /// Lets the users do what is due, and begins what they ask for.
    pub(super) fn poll_users(&mut self) {
        if !matches!(self.pace, Pace::Users(_)) {
            return;
        }
        self.now = self.io.now();
        let mut commands = std::mem::take(&mut self.commands);
        commands.budget = self.share();
        let Pace::Users(users) = &mut self.pace else { return };
        self.wake = users.poll(self.now, &mut commands);
        let over = users.is_over();
        for ask in commands.requests.drain(..) {
            self.begin_ask(ask);
        }
        self.obey_users(&mut commands);
        self.commands = commands;
        if over {
            self.pace = Pace::Over;
            // Nobody waits for what is under way.
            while let Some(hit) = self.by_deadline.first() {
                self.end_early(hit, &Failure::unwanted());
            }
        }
    }

    fn begin_ask(&mut self, ask: RequestCommand) {
        self.watch.planned += 1;
        self.watch.sent += 1;
        let mut hit = Hit::new(self.asked, self.now);
        self.asked += 1;
        (hit.user, hit.upgrades) = (Some(ask.user), ask.upgrades);
        if self.prepared.settings.own_connections {
            // Nobody's is 0.
            hit.owner = ask.owner.saturating_add(1);
            if ask.fresh_connection {
                self.close_idle(hit.owner);
            }
        }
        hit.deadline = self.now.saturating_add(ask.timeout);
        let named = if ask.redirected { Named::ByRedirect } else { Named::ByUser };
        self.begin_hit(hit, Picked::Asked(ask.target, named));
    }

    /// A user's target made ready, unless it is among the last: gives its origin.
    pub(super) fn asked_request(
        &mut self,
        target: &Arc<Target>,
        named: Named,
        hit: &mut Hit,
    ) -> Result<Option<u32>, Unsendable> {
        let place = PreparedAsks::place(target);
        let known = self.prepared_asks.0.get(place).and_then(Option::as_ref);
        let known = known.filter(|known| Arc::ptr_eq(&known.target, target));
        let known = known.filter(|known| known.request.upgrades == hit.upgrades);
        // What only a redirect named may have been forgotten since.
        let known = known.filter(|known| known.named == named);
        if let Some(PreparedAsk { request, site, .. }) = known {
            (hit.own_request, hit.memo) = (Some(Arc::clone(request)), place as u32);
            let (settings, owner) = (&self.prepared.settings, hit.owner);
            return Ok(match named {
                Named::ByUser => self.origins.at(*site, owner, request, settings),
                Named::ByRedirect => {
                    let request = Arc::clone(request);
                    self.stranger(&request, owner)
                }
            });
        }
        let request = Arc::new(self.prepared.request_of(target, hit)?);
        (hit.own_request, hit.memo) = (Some(Arc::clone(&request)), place as u32);
        let Some(site) = self.origins.site(&request, named) else { return Ok(None) };
        let settings = &self.prepared.settings;
        let origin = self.origins.at(site, hit.owner, &request, settings);
        let target = Arc::clone(target);
        self.prepared_asks.keep(place, PreparedAsk { target, request, site, named });
        self.trim_strangers();
        Ok(origin)
    }

    /// What is under way ends, too.
    pub(super) fn stop_users(&mut self) {
        if let Pace::Users(users) = &mut self.pace {
            users.stop(StopMode::Immediate);
        }
    }

    /// A hit ends: its user is told.
    pub(super) fn tell_user(
        &mut self,
        number: u32,
        failed: Option<(&Failure, Option<&Unsendable>)>,
    ) {
        let hit = &self.hits[number as usize];
        let pipe = hit.conn.and_then(|conn| self.pipe_of(conn));
        let (Some(user), Pace::Users(users)) = (hit.user, &mut self.pace) else { return };
        let conn = hit.conn.map(|conn| &self.conns[conn as usize]);
        let kept = conn.and_then(|conn| kept(conn, number, hit.stream));
        let request = Self::request(&self.prepared, hit);
        let failure = failed.map(|(failure, what)| {
            let mut text = Vec::new();
            let named = what.map(|what| (what.method.as_str(), what.url_text.as_str()));
            let own = request.map(|r| (r.method.as_str(), r.url_text.as_str()));
            let (method, url) = named.or(own).unwrap_or_default();
            failure.write(method, url, &mut text);
            (failure.kind.name(), String::from_utf8_lossy(&text).into_owned())
        });
        users.handle_response(
            user,
            &EngineResponse {
                due: hit.intended,
                sent: hit.sent,
                all_sent: hit.sent.map(|sent| sent.max(hit.all_sent)),
                first_byte: hit.first_byte,
                done: self.now,
                dial: hit.dial,
                tls: hit.tls,
                status: if failure.is_some() { 0 } else { hit.progress.status },
                head: kept.and_then(|kept| kept.head.clone()),
                body: kept.map_or(&[], |kept| &kept.body),
                bytes_out: request
                    .filter(|_| hit.sent.is_some())
                    .map_or(0, |r| r.template.wire_bytes()),
                wire_in: hit.progress.wire_in,
                failure,
                detail: failed.map(|(failure, _)| failure.detail).unwrap_or_default(),
                remote: conn
                    .filter(|_| hit.sent.is_some())
                    .and_then(|conn| remote(&self.origins, conn)),
                pipe,
                secured: conn.and_then(|conn| conn.tls.as_ref()?.terms()),
            },
        );
    }
}

/// The address at the other end of a connection; `None` where it is a Unix socket.
fn remote(origins: &Origins, conn: &Conn) -> Option<SocketAddr> {
    match origins.list[conn.origin as usize].address(&conn.tries, conn.attempt)? {
        Address::Ip(address) => Some(address),
        Address::Unix(_) => None,
    }
}
