//! Users that decide for themselves: their requests become hits, and they are told what became of them.

use net::Io;
use workload::{Ask, Ending, Reply};

use super::Worker;
use super::begin::Picked;
use super::finish::kept;
use crate::failure::Failure;
use crate::hit::Hit;
use crate::pace::Pace;

impl<I: Io> Worker<I> {
    /// Lets the users do what is due, and begins what they ask for.
    pub(super) fn poll_users(&mut self) {
        let Pace::Users(users) = &mut self.pace else { return };
        self.now = self.io.now();
        let mut asks = std::mem::take(&mut self.asks);
        self.wake = users.poll(self.now, &mut asks);
        let over = users.is_over();
        for ask in asks.drain(..) {
            self.begin_ask(ask);
        }
        self.asks = asks;
        if over {
            self.pace = Pace::Over;
        }
    }

    fn begin_ask(&mut self, ask: Ask) {
        self.watch.planned += 1;
        self.watch.sent += 1;
        let mut hit = Hit::new(self.asked, self.now);
        self.asked += 1;
        hit.user = Some(ask.user);
        if self.prepared.settings.own_connections {
            // Nobody's is 0.
            hit.owner = ask.owner.saturating_add(1);
            if ask.anew {
                self.close_idle(hit.owner);
            }
        }
        hit.deadline = self.now.saturating_add(ask.timeout);
        self.begin_hit(hit, Picked::Lazy(Box::new(ask.target)));
    }

    /// What is under way ends, too.
    pub(super) fn stop_users(&mut self) {
        if let Pace::Users(users) = &mut self.pace {
            users.stop(Ending::Now);
        }
    }

    /// A hit ends: its user is told.
    pub(super) fn tell_user(&mut self, number: u32, failed: Option<&Failure>) {
        let hit = &self.hits[number as usize];
        let (Some(user), Pace::Users(users)) = (hit.user, &mut self.pace) else { return };
        let conn = hit.conn.map(|conn| &self.conns[conn as usize]);
        let kept = conn.and_then(|conn| kept(conn, number, hit.stream));
        let request = Self::request(&self.prepared, hit);
        let failure = failed.map(|failure| {
            let mut text = Vec::new();
            let (method, url) =
                request.map_or(("", ""), |r| (r.method.as_str(), r.url_text.as_str()));
            failure.write(method, url, &mut text);
            (failure.kind.name(), String::from_utf8_lossy(&text).into_owned())
        });
        users.answer(
            user,
            &Reply {
                due: hit.intended,
                sent: hit.sent,
                first_byte: hit.first_byte,
                done: self.now,
                dial: hit.dial,
                tls: hit.tls,
                status: if failure.is_some() { 0 } else { hit.progress.status },
                head: kept.map_or(&[], |kept| &kept.headers),
                body: kept.map_or(&[], |kept| &kept.body),
                bytes_out: request.map_or(0, |request| request.template.wire_bytes()),
                wire_in: hit.progress.wire_in,
                failure,
                detail: failed.map(|failure| failure.detail).unwrap_or_default(),
                remote: conn
                    .filter(|_| hit.sent.is_some())
                    .and_then(|conn| self.origins.remote(conn)),
                secured: conn.and_then(|conn| conn.tls.as_ref()?.terms()),
            },
        );
    }
}
