//! Ending hits: complete, failed, overdue, redirected; their rows; whether their connections are reused or closed.

use std::sync::Arc;

use metrics::{Batch, FailureKind, GrpcStatus, NO_TARGET, Outcome, Sample, Span};
use net::Io;
use stdx::Nanos;

use super::Worker;
use super::call_status::call_status;
use crate::captured::CapturedResponse;
use crate::conn::{Conn, State};
use crate::failure::Failure;
use crate::failure_reason::FailureReason;
use crate::hit::Hit;
use crate::host_policy::is_same_host;
use crate::ids::{ConnId, HitId, StreamId};
use crate::list::{List, WAITING};
use crate::request::{self, Request, Unsendable};
use crate::schedule::Schedule;
use crate::settings::{Redirects, Renewal};

impl<I: Io> Worker<I> {
    /// A response is complete. `clean` says that not a byte too many came.
    pub(super) fn complete(&mut self, conn_id: ConnId, clean: bool) {
        let conn = &mut self.conns[conn_id];
        let Some(hit) = conn.hit else { return };
        if conn.coded
            && let Some(Err(error)) = conn.content.as_mut().map(|content| content.finish())
        {
            return self.fail_connection(conn_id, &Failure::content(error));
        }
        if self.becomes_pipe(conn_id) {
            return self.make_pipe(conn_id);
        }
        // What was sent behind it is answered on it still.
        let is_last = self.conns[conn_id].pipelined.len() == 0;
        let is_renewed = is_last && self.is_to_be_renewed(conn_id);
        let conn = &mut self.conns[conn_id];
        let settled = conn.pipelined.len() > 0 || (clean && !conn.has_unsent());
        let keepalive = self.prepared.settings.keepalive && !self.hits[hit].kind.is_upgrade();
        let reusable = settled && keepalive && conn.decoder.can_reuse();
        let reusable = reusable && !is_renewed;
        if request::is_redirect(conn.decoder.status())
            && !self.hits[hit].kind.is_upgrade()
            && let Some(location) = conn.decoder.location().map(str::to_owned)
        {
            if let Some(max) = self.redirects_to(hit, &location) {
                self.release(conn_id, reusable);
                return self.follow_redirect(hit, &location, max);
            }
            self.note_redirect(hit, &location);
        }
        self.note_landing(hit);
        self.write_row(hit, None);
        self.release(conn_id, reusable);
        self.remove_hit(hit);
    }

    /// Whether a connection takes no further hit, since it is to be replaced.
    pub(super) fn is_to_be_renewed(&self, conn_id: ConnId) -> bool {
        let (renewal, now) = (self.prepared.settings.renewal, self.now);
        let conn = &self.conns[conn_id];
        renewal != Renewal::default()
            && renewal.is_due(now.saturating_sub(conn.dialled), conn.hits())
    }

    /// A connection has done its hit: it goes to the next one, to the idle, or away.
    fn release(&mut self, conn_id: ConnId, reusable: bool) {
        let conn = &mut self.conns[conn_id];
        conn.served += 1;
        self.decoders.give(conn.content.take());
        let origin_id = conn.origin;
        if let Some(hit) = conn.hit.take() {
            self.hits[hit].conn = None;
        }
        if !reusable {
            return self.retry_unanswered(conn_id, &Failure::eof());
        }
        if let Some(next) = conn.pipelined.pop_first(&mut self.hits) {
            conn.hit = Some(next);
            self.expect_response(conn_id);
            return self.mark_ready(conn_id);
        }
        let origin = &mut self.origins.list[origin_id];
        let listed = conn.is_ready();
        if !listed && origin.ready.len() >= self.idle_max {
            self.drop_conn(conn_id);
            return;
        }
        conn.state = State::Idle;
        conn.trim();
        if !listed {
            origin.ready.push(&mut self.conns, conn_id);
        }
        self.queue_service(origin_id);
    }

    /// The server ends a connection between two responses. What it did not begin to answer is sent again where that does
    /// no harm, and fails where it does. RFC 9112, 9.3.2.
    fn retry_unanswered(&mut self, conn_id: ConnId, failure: &Failure) {
        let mut again = List::<WAITING, HitId>::default();
        let conn = &mut self.conns[conn_id];
        let mut next = conn.hit.take().or_else(|| conn.pipelined.pop_first(&mut self.hits));
        while let Some(hit) = next {
            if self.may_retry(hit) {
                self.hits[hit].conn = None;
                self.mark_sent_again(hit);
                again.push(&mut self.hits, hit);
            } else {
                self.write_row(hit, Some((failure, None)));
                self.remove_hit(hit);
            }
            next = self.conns[conn_id].pipelined.pop_first(&mut self.hits);
        }
        self.drop_conn(conn_id);
        while let Some(hit) = again.pop_first(&mut self.hits) {
            self.dispatch(hit);
        }
    }

    /// A hit is about to be sent a second time, which its row does not show.
    pub(super) fn mark_sent_again(&mut self, hit_id: HitId) {
        let hit = &mut self.hits[hit_id];
        hit.retried = true;
        let (was_sent, intended) = (hit.sent.is_some(), hit.intended);
        self.self_metrics.sent_again += u64::from(was_sent && self.is_measured(intended));
    }

    /// A connection is about to go: the hits on it fail, but for the one that is ended by other means.
    fn fail_others(&mut self, conn_id: ConnId, but: Option<HitId>, failure: &Failure) {
        let conn = &mut self.conns[conn_id];
        let served = conn.hit.take_if(|hit| Some(*hit) != but);
        let mut next = served.or_else(|| conn.pipelined.pop_first(&mut self.hits));
        while let Some(hit) = next {
            if Some(hit) != but {
                // Its row names the connection, which it must have left before it is forgotten.
                self.write_row(hit, Some((failure, None)));
                self.remove_hit(hit);
            }
            next = self.conns[conn_id].pipelined.pop_first(&mut self.hits);
        }
    }

    /// The most redirects of a hit that is redirected there; `None` where it is not to go there.
    pub(super) fn redirects_to(&self, hit_id: HitId, location: &str) -> Option<u32> {
        match self.prepared.settings.redirects {
            Redirects::Keep => None,
            Redirects::Follow(max) => Some(max),
            Redirects::SameHost(max) => {
                let from = &Self::request(&self.prepared, &self.hits[hit_id])?.url;
                let to = from.join(location).ok()?;
                is_same_host(&from.host, &to.host).then_some(max)
            }
        }
    }

    /// Sends the request that a redirect asks for.
    pub(super) fn follow_redirect(&mut self, hit_id: HitId, location: &str, max: u32) {
        // The next one is to go out as soon as the answer of this one is there.
        let hit = &mut self.hits[hit_id];
        self.promptness.hasten(hit);
        if hit.redirects >= max {
            let method = Self::request(&self.prepared, hit).map_or("GET", |r| r.method.as_str());
            let unsendable = Unsendable {
                kind: FailureKind::Redirects,
                method: method.to_owned(),
                url_text: request::shown_location(location),
                reason: FailureReason::Redirects(max),
            };
            let failure = Failure::new(FailureKind::Redirects, unsendable.reason.clone());
            return self.fail_unsendable(hit_id, &failure, &unsendable);
        }
        hit.redirects += 1;
        let status = hit.progress.status;
        hit.progress.status = 0;
        let Some(from) = Self::request(&self.prepared, hit) else { return };
        match self.prepared.redirected(from, status, location) {
            Ok(request) => {
                let owner = self.hits[hit_id].owner;
                let origin = self.redirect_host(&request, owner);
                let hit = &mut self.hits[hit_id];
                let before = hit.own_request.replace(Arc::new(request));
                if self.prepared.planned(hit.target).is_none() && hit.lazy_request.is_none() {
                    hit.lazy_request = before;
                }
                match origin {
                    Some(origin) => self.dispatch_to(hit_id, origin),
                    None => {
                        self.fail(hit_id, &Failure::other(FailureKind::Target, "too many hosts"));
                    }
                }
            }
            Err(unsendable) => {
                let failure = Failure::new(unsendable.kind, unsendable.reason.clone());
                self.fail_unsendable(hit_id, &failure, &unsendable);
            }
        }
    }

    /// A connection is lost; the hits on it fail, or are sent again where it was only the wrong moment.
    pub(super) fn fail_connection(&mut self, conn_id: ConnId, failure: &Failure) {
        let conn = &self.conns[conn_id];
        if conn.streams.is_some() {
            return self.fail_streams(conn_id, failure);
        }
        if conn.state == State::Piped {
            return self.end_pipe(conn_id, Some(failure));
        }
        let stale = conn.state == State::Busy
            && conn.served > 0
            && !conn.decoder.started()
            && matches!(failure.kind, FailureKind::Eof | FailureKind::Reset);
        let Some(hit_id) = conn.hit else {
            self.drop_conn(conn_id);
            return;
        };
        if stale {
            return self.retry_unanswered(conn_id, failure);
        }
        // The row is written while the connection still holds what was kept of the response.
        self.write_row(hit_id, Some((failure, None)));
        self.fail_others(conn_id, Some(hit_id), &failure.of_others());
        self.drop_conn(conn_id);
        self.remove_hit(hit_id);
    }

    /// Whether a hit may be sent again: once, and where that does no harm.
    pub(super) fn may_retry(&self, hit_id: HitId) -> bool {
        let hit = &self.hits[hit_id];
        !hit.retried && Self::request(&self.prepared, hit).is_some_and(|r| r.replayable)
    }

    /// A hit that is on no connection fails.
    pub(super) fn fail(&mut self, hit_id: HitId, failure: &Failure) {
        self.write_row(hit_id, Some((failure, None)));
        self.remove_hit(hit_id);
    }

    /// Ends a hit that has no request: its target could not be made into one.
    pub(super) fn fail_unsendable(&mut self, hit_id: HitId, failure: &Failure, what: &Unsendable) {
        self.write_row(hit_id, Some((failure, Some(what))));
        self.remove_hit(hit_id);
    }

    /// Ends the hits that are overdue.
    pub(super) fn expire(&mut self) {
        while let Some(hit_id) = self.deadlines.overdue(&self.hits, self.now) {
            if !self.has_budget() {
                break;
            }
            let hit = &self.hits[hit_id];
            let failure = Failure::timeout(hit.progress.status != 0);
            self.abort_hit(hit_id, &failure);
        }
        self.fall_back();
    }

    /// Ends a hit wherever it is.
    pub(super) fn abort_hit(&mut self, hit_id: HitId, failure: &Failure) {
        let hit = &mut self.hits[hit_id];
        if let (Some(conn), Some(stream)) = (hit.conn, hit.stream) {
            self.cancel_stream(conn, stream);
            self.fail_stream(conn, stream, failure);
            return self.mark_ready(conn);
        }
        match hit.conn {
            Some(conn) => {
                self.write_row(hit_id, Some((failure, None)));
                self.fail_others(conn, Some(hit_id), &failure.of_others());
                self.drop_conn(conn);
            }
            None => {
                let origin = hit.origin;
                if let Some(origin) = self.origins.list.get_mut(origin) {
                    origin.waiting.remove(&mut self.hits, hit_id);
                }
                self.write_row(hit_id, Some((failure, None)));
            }
        }
        self.remove_hit(hit_id);
    }

    /// A hit has its row: its place is free.
    pub(super) fn remove_hit(&mut self, hit_id: HitId) {
        self.deadlines.remove(&mut self.hits, hit_id);
        if let Schedule::Open(open) = &self.schedule
            && self.hits.len() >= open.in_flight_max
        {
            self.freed_at = self.now;
        }
        let hit = self.hits.remove(hit_id);
        self.promptness.end(&hit);
        let contact = self.self_metrics.note_contact(&hit, self.now);
        if let Schedule::Closed(closed) = &mut self.schedule {
            let thought = self.prepared.plan.think_after(hit.seq);
            // A law with a long tail may draw more than there is time.
            closed.think(self.now, self.now.saturating_add(thought), contact);
        }
    }

    /// When a hit ends that ends now: when its answer came, where the kernel stamped what is being read.
    fn ended_at(&self, hit: &Hit) -> Nanos {
        let began = hit.sent.map(|sent| sent.max(hit.first_byte.unwrap_or(sent)));
        self.arrived.zip(began).map_or(self.now, |(at, began)| at.max(began))
    }

    /// Counts a hit and writes its row.
    pub(super) fn write_row(
        &mut self,
        hit_id: HitId,
        failed: Option<(&Failure, Option<&Unsendable>)>,
    ) {
        self.respond_to_user(hit_id, failed);
        let done = self.ended_at(&self.hits[hit_id]);
        self.note_answer(hit_id, failed.is_some(), done);
        let hit = &self.hits[hit_id];
        if hit.kind.is_dial() || !self.is_measured(hit.intended) {
            return;
        }
        let conn = hit.conn.map(|conn| &self.conns[conn]);
        let captured = conn.and_then(|conn| captured(conn, hit_id, hit.stream));
        let first = Self::first_request(&self.prepared, hit);
        let bytes_out = hit.body_bytes(first);
        let mut sample = sample(hit, done, failed.map(|(failure, _)| failure.kind), bytes_out);
        let form = self.prepared.settings.answers;
        let status = call_status(hit, captured, (form, sample.outcome));
        if let Some(status) = &status {
            sample.outcome = Outcome::Grpc(GrpcStatus::from_number(status.code.0));
        }
        let said = status.filter(|_| form.is_grpc()).map(|status| status.message);
        let begun = hit.intended.saturating_add(hit.lag);
        let waited = match self.arrived {
            Some(_) => Nanos::ZERO,
            None => self.self_metrics.waited_unread(begun, self.now),
        };
        self.on_time.record(done.saturating_sub(begun).saturating_sub(waited));
        self.self_metrics.kernel_times += u64::from(self.arrived.is_some() && hit.sent.is_some());
        if let Some((failure, _)) = failed {
            self.self_metrics.note_failure(failure.kind);
        }
        let request = Self::request(&self.prepared, hit);
        let named = failed.and_then(|(_, what)| what);
        let named = named.map(|what| (what.method.as_str(), what.url_text.as_str()));
        let failure_text = self.prepared.settings.failure_text;
        let mut texts_cut = u64::from(captured.is_some_and(|captured| captured.body_cut));
        self.recorder.add(sample, |batch, sample| {
            sample.error = match failed {
                Some((failure, _)) => {
                    let own = request.map(|r| (r.method.as_str(), r.url_text.as_str()));
                    let (method, url) = named.or(own).unwrap_or(("GET", ""));
                    let hit = failure.of_request(method, url);
                    add_with(batch, |texts| failure_text.write(&hit, texts))
                }
                None => answer_text(batch, sample, (captured, said.as_deref())),
            };
            texts_cut += u64::from(cut_error(batch, &mut sample.error));
            if hit.target.is_none() {
                name_row(batch, sample, (first, named));
            }
            if let Some(tags) = &hit.tags {
                sample.tags = batch.add_text(tags.as_bytes());
            }
            // A user has the body and the head already.
            let captured = captured.filter(|_| hit.user.is_none());
            if let Some(CapturedResponse { body, headers, .. }) = captured {
                sample.body = batch.add_text(body);
                // Those of calls were looked at for the outcome alone.
                let kept = if form.is_grpc() { &[][..] } else { headers };
                sample.headers = batch.add_text(kept);
            }
            sample.conn = conn.map_or(0, |conn| conn.serial);
        });
        self.self_metrics.texts_cut += texts_cut;
    }
}

/// What a connection keeps of a hit's response: its stream's, or its own if that is the hit it serves.
pub(super) fn captured(
    conn: &Conn,
    hit: HitId,
    stream: Option<StreamId>,
) -> Option<&CapturedResponse> {
    match stream {
        Some(stream) => Some(&conn.streams.as_ref()?.get(stream)?.captured),
        None => (conn.hit == Some(hit)).then_some(&conn.captured),
    }
}

/// What was seen of a hit that ends now.
fn sample(hit: &Hit, now: Nanos, failed: Option<FailureKind>, bytes_out: u64) -> Sample {
    let sent = hit.sent.unwrap_or(now);
    Sample {
        seq: hit.seq,
        intended: hit.intended,
        sent,
        // Where nothing was sent, what came was a proxy's answer or a handshake.
        first_byte: hit.sent.and(hit.first_byte).unwrap_or(now),
        done: now,
        dns: hit.dns,
        dial: hit.dial,
        tls: hit.tls,
        bytes_out: if hit.sent.is_some() { bytes_out } else { 0 },
        bytes_in: hit.progress.bytes_in,
        wire_in: hit.progress.wire_in,
        target: hit.target.unwrap_or(NO_TARGET),
        outcome: Outcome::http(if failed.is_some() { 0 } else { hit.progress.status }),
        failure: failed.unwrap_or_default(),
        reused: hit.reused,
        ..Sample::default()
    }
}

/// Names the row of a hit that is of no target of the plan: what was asked for, and what the request is called.
fn name_row(
    batch: &mut Batch,
    sample: &mut Sample,
    (first, named): (Option<&Request>, Option<(&str, &str)>),
) {
    let asked = first.map(|request| (request.method.as_str(), request.url_text.as_str()));
    if let Some((method, url)) = asked.or(named) {
        sample.line = add_with(batch, |texts| {
            texts.extend_from_slice(method.as_bytes());
            texts.push(b' ');
            texts.extend_from_slice(url.as_bytes());
        });
    }
    let name = first.map_or(&[][..], |request| request.name.as_bytes());
    sample.name = add_with(batch, |texts| texts.extend_from_slice(name));
}

/// Adds a text that is written in place.
pub(super) fn add_with(batch: &mut Batch, write: impl FnOnce(&mut Vec<u8>)) -> Span {
    let start = batch.texts.len();
    write(&mut batch.texts);
    match (u32::try_from(start), u32::try_from(batch.texts.len() - start)) {
        (Ok(start), Ok(len)) => Span { start, len },
        _ => {
            batch.texts.truncate(start);
            Span::default()
        }
    }
}

/// Cuts the text added last, if it is an error longer than [`ERROR_MAX`]; gives whether it was. Servers choose what
/// stands in it: a reason phrase, a `Location`.
fn cut_error(batch: &mut Batch, error: &mut Span) -> bool {
    if error.len as usize <= ERROR_MAX {
        return false;
    }
    let start = error.start as usize;
    let mut len = ERROR_MAX;
    // A character that does not fit as a whole is left out.
    while batch.texts[start + len] & 0xc0 == 0x80 {
        len -= 1;
    }
    batch.texts.truncate(start + len);
    error.len = len as u32;
    true
}

/// The longest error text of a row: 16 KiB.
const ERROR_MAX: usize = 16 << 10;

/// The error of an answer; none where it is a success.
fn answer_text(
    batch: &mut Batch,
    sample: &Sample,
    (captured, said): (Option<&CapturedResponse>, Option<&str>),
) -> Span {
    match (sample.outcome, said.filter(|said| !said.is_empty())) {
        _ if sample.is_success() => Span::default(),
        (Outcome::Grpc(status), None) => batch.add_text(status.name().as_bytes()),
        (Outcome::Grpc(status), Some(said)) => add_with(batch, |texts| {
            texts.extend_from_slice(status.name().as_bytes());
            texts.extend_from_slice(b": ");
            texts.extend_from_slice(said.as_bytes());
        }),
        (outcome, _) => status_line(batch, outcome.code(), captured),
    }
}

/// `404 Not Found`: the error of an answer that is no success.
fn status_line(batch: &mut Batch, status: u16, captured: Option<&CapturedResponse>) -> Span {
    add_with(batch, |texts| {
        texts.extend_from_slice(status.to_string().as_bytes());
        if let Some(captured) = captured.filter(|captured| !captured.reason.is_empty()) {
            texts.push(b' ');
            texts.extend_from_slice(&captured.reason);
        }
    })
}
