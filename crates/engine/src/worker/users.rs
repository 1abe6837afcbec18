//! Virtual users: their requests become hits, and they get the responses.

use std::net::SocketAddr;
use std::sync::Arc;

use metrics::IterationCounts;
use net::{Address, Io};
use workload::{EngineResponse, FailureDetail, RequestCommand, StopMode, Target};

use super::Worker;
use super::begin::HitTarget;
use super::finish::captured;
use super::request_cache::{CachedRequest, RequestCache};
use crate::conn::Conn;
use crate::failure::Failure;
use crate::hit::Hit;
use crate::ids::{HitId, OriginId};
use crate::named_by::NamedBy;
use crate::origins::Origins;
use crate::request::Unsendable;
use crate::schedule::Schedule;

impl<I: Io> Worker<I> {
    /// Lets the users do what is due, and begins what they ask for.
    pub(super) fn poll_users(&mut self) {
        if !matches!(self.schedule, Schedule::Users(_)) {
            return;
        }
        self.now = self.io.now();
        let mut commands = std::mem::take(&mut self.commands);
        commands.budget = self.poll_budget();
        let Schedule::Users(users) = &mut self.schedule else { return };
        self.next_poll = users.poll(self.now, &mut commands);
        // A request that cannot be sent is answered as soon as it is begun, below.
        self.has_answers = false;
        let over = users.is_over();
        self.self_metrics.not_begun = users.not_begun();
        let (due, ended) = users.due_and_ended();
        self.self_metrics.iterations.note(self.now, IterationCounts { due, ended });
        for end in commands.channel_ends.drain(..) {
            self.close_channel(end);
        }
        for ask in commands.requests.drain(..) {
            self.start_request(ask);
        }
        self.apply_commands(&mut commands);
        self.commands = commands;
        if over {
            self.schedule = Schedule::Ended;
            // No user waits for the hits under way.
            while let Some(hit) = self.deadlines.first() {
                self.abort_hit(hit, &Failure::unwanted());
            }
        }
    }

    fn start_request(&mut self, ask: RequestCommand) {
        if !ask.kind.is_dial() {
            self.self_metrics.planned += 1;
            self.self_metrics.sent += 1;
        }
        let mut hit = Hit::new(self.next_seq, self.now);
        self.next_seq += 1;
        (hit.user, hit.kind, hit.tags) = (Some(ask.user), ask.kind, ask.tags);
        (hit.led_from, hit.tls_given) = (ask.led_from, ask.tls);
        hit.parted = ask.kind.is_stream().then(Box::default);
        hit.body_max = if hit.parted.is_some() { Hit::PARTED } else { ask.body_max.max(1) };
        if self.prepared.settings.own_connections {
            // 0 is a hit without an owner.
            hit.owner = ask.owner.saturating_add(1);
            if ask.fresh_connection {
                self.close_idle(hit.owner);
            }
        }
        hit.deadline = self.now.saturating_add(ask.timeout);
        let named = if ask.redirected { NamedBy::Redirect } else { NamedBy::User };
        let is_stream = ask.kind.is_stream();
        let hit = self.begin_hit(hit, HitTarget::Requested(ask.target, named));
        if is_stream {
            self.note_user_stream(ask.user, hit);
        }
    }

    /// A user's target made ready, unless it is among the last: gives its origin.
    pub(super) fn cached_request(
        &mut self,
        target: &Arc<Target>,
        named: NamedBy,
        hit: &mut Hit,
    ) -> Result<Option<OriginId>, Unsendable> {
        let slot = RequestCache::slot(target);
        let known = self.request_cache.0.get(slot).and_then(Option::as_ref);
        let known = known.filter(|known| Arc::ptr_eq(&known.target, target));
        let known = known.filter(|known| known.request.is_of(hit.kind));
        // What only a redirect named may have been forgotten since.
        let known = known.filter(|known| known.named == named);
        if let Some(CachedRequest { request, site, .. }) = known {
            (hit.own_request, hit.head_cache) = (Some(Arc::clone(request)), slot as u32);
            let (settings, owner) = (&self.prepared.settings, hit.owner);
            return Ok(match named {
                NamedBy::User => self.origins.at(*site, owner, request, settings),
                NamedBy::Redirect => {
                    let request = Arc::clone(request);
                    self.redirect_host(&request, owner)
                }
            });
        }
        let request = Arc::new(self.prepared.request_of(target, hit)?);
        (hit.own_request, hit.head_cache) = (Some(Arc::clone(&request)), slot as u32);
        let Some(site) = self.origins.site(&request, named) else { return Ok(None) };
        let settings = &self.prepared.settings;
        let origin = self.origins.at(site, hit.owner, &request, settings);
        let target = Arc::clone(target);
        self.request_cache.keep(slot, CachedRequest { target, request, site, named });
        self.trim_redirect_hosts();
        Ok(origin)
    }

    /// What is under way ends, too.
    pub(super) fn stop_users(&mut self) {
        if let Schedule::Users(users) = &mut self.schedule {
            users.stop(StopMode::Immediate);
        }
    }

    /// Passes the response of a hit that ends to its user.
    pub(super) fn respond_to_user(
        &mut self,
        hit_id: HitId,
        failed: Option<(&Failure, Option<&Unsendable>)>,
    ) {
        let hit = &self.hits[hit_id];
        let pipe = hit.conn.and_then(|conn| self.pipe_of(conn));
        let (Some(user), Schedule::Users(users)) = (hit.user, &mut self.schedule) else { return };
        let conn = hit.conn.map(|conn| &self.conns[conn]);
        let captured = conn.and_then(|conn| captured(conn, hit_id, hit.stream));
        let request = Self::request(&self.prepared, hit);
        let failure = failed.map(|(failure, what)| {
            let mut text = Vec::new();
            let named = what.map(|what| (what.method.as_str(), what.url_text.as_str()));
            let own = request.map(|r| (r.method.as_str(), r.url_text.as_str()));
            let (method, url) = named.or(own).unwrap_or_default();
            self.prepared.settings.failure_text.write(&failure.of_request(method, url), &mut text);
            (failure.kind.name(), String::from_utf8_lossy(&text).into_owned())
        });
        self.has_answers = true;
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
                head: captured.and_then(|captured| captured.head.clone()),
                body: captured.map_or(&[], |captured| &captured.body),
                trailers: captured.map_or(&[], |captured| &captured.trailers),
                bytes_out: request
                    .filter(|_| hit.sent.is_some())
                    .map_or(0, |r| r.template.wire_bytes()),
                wire_in: hit.progress.wire_in,
                failure,
                detail: match failed {
                    Some((failure, _)) => failure.detail,
                    None if captured.is_some_and(|captured| captured.body_cut) => {
                        FailureDetail::BodyCut
                    }
                    None => FailureDetail::None,
                },
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
    match origins.list[conn.origin].address(&conn.addresses, conn.attempt)? {
        Address::Ip(address) => Some(address),
        Address::Unix(_) => None,
    }
}
