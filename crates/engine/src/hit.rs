//! `Hit`: one hit under way, from its start to its row.

use std::sync::Arc;

use stdx::Nanos;
use workload::{ChannelTls, RequestKind};

use crate::contact::Contact;
use crate::ids::{Arena, ConnId, HitId, OriginId, StreamId};
use crate::list::{BY_DEADLINE, Link, Linked, WAITING};
use crate::parted_body::PartedBody;
use crate::request::Request;

/// The hits under way.
pub(crate) type Hits = Arena<HitId, Hit>;

/// One hit under way. The times are offsets from the run's start.
#[derive(Debug)]
pub(crate) struct Hit {
    pub(crate) seq: u64,
    /// Index of the plan's target; of a lazy target there is none.
    pub(crate) target: Option<u32>,
    /// What is sent instead of the target's own request: a redirect's, a lazy target's or a user's.
    pub(crate) own_request: Option<Arc<Request>>,
    /// The lazy target's own request, once a redirect's has taken its place.
    pub(crate) lazy_request: Option<Arc<Request>>,
    /// The cache of response heads that it uses: hits with the same number here share one.
    pub(crate) head_cache: u32,
    pub(crate) intended: Nanos,
    /// How late the generator itself began it; zero where a limit was late, or where a closed loop has no due times.
    pub(crate) lag: Nanos,
    pub(crate) sent: Option<Nanos>,
    /// When its last byte was, where it did not go out at once; else zero.
    pub(crate) all_sent: Nanos,
    pub(crate) first_byte: Option<Nanos>,
    pub(crate) dns: Nanos,
    pub(crate) dial: Nanos,
    pub(crate) tls: Nanos,
    /// When it began to wait for a name; zero where it did not.
    pub(crate) name_asked_at: Nanos,
    pub(crate) deadline: Nanos,
    /// The origin it is sent to.
    pub(crate) origin: OriginId,
    /// The connection it is on.
    pub(crate) conn: Option<ConnId>,
    /// The stream it is on, of an HTTP/2 connection.
    pub(crate) stream: Option<StreamId>,
    pub(crate) redirects: u32,
    /// A redirect leads it to a host that nothing else named, and it has not been sent there yet.
    pub(crate) leads_elsewhere: bool,
    /// The user whose connections it goes on, from 1; 0 where users share them.
    pub(crate) owner: u32,
    /// Of the closed loop's user that began it, before it.
    pub(crate) contact: Contact,
    /// The user that waits for it, where users decide.
    pub(crate) user: Option<u32>,
    /// What its user asked for first, where redirects led here.
    pub(crate) led_from: Option<Arc<str>>,
    /// The tags of its row, where users give it some.
    pub(crate) tags: Option<Arc<str>>,
    /// What it is to its connection.
    pub(crate) kind: RequestKind,
    /// TLS of the channel that it connects.
    pub(crate) tls_given: Option<Arc<ChannelTls>>,
    /// Its body, where that is sent in parts.
    pub(crate) parted: Option<Box<PartedBody>>,
    /// The bytes that the body of its response may have; [`Hit::PARTED`] where a user takes it in parts.
    pub(crate) body_max: u64,
    pub(crate) progress: Progress,
    /// It went out on a kept-alive connection.
    pub(crate) reused: bool,
    /// It was sent again: the server had closed the connection, or said that it would not answer.
    pub(crate) retried: bool,
    /// Its answer is to be read as soon as it comes.
    pub(crate) urgent: bool,
    by_deadline: Link,
    waiting: Link,
}

/// How far the response is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    pub(crate) status: u16,
    pub(crate) bytes_in: u64,
    pub(crate) wire_in: u64,
}

impl Hit {
    /// No limit: a user takes the body of the response as it comes.
    pub(crate) const PARTED: u64 = 0;

    /// The bytes of the response's body, where its user wants it whole, up to a limit of its own.
    pub(crate) fn whole_body_max(&self) -> Option<u64> {
        let is_call = matches!(self.kind, RequestKind::Call(_));
        (is_call && self.body_max != u64::MAX).then_some(self.body_max)
    }

    pub(crate) fn new(seq: u64, intended: Nanos) -> Self {
        Self {
            seq,
            target: None,
            own_request: None,
            lazy_request: None,
            head_cache: 0,
            intended,
            lag: Nanos::ZERO,
            sent: None,
            all_sent: Nanos::ZERO,
            first_byte: None,
            dns: Nanos::ZERO,
            dial: Nanos::ZERO,
            tls: Nanos::ZERO,
            name_asked_at: Nanos::ZERO,
            deadline: Nanos::MAX,
            origin: OriginId(0),
            conn: None,
            stream: None,
            redirects: 0,
            leads_elsewhere: false,
            owner: 0,
            contact: Contact::Made,
            user: None,
            led_from: None,
            tags: None,
            kind: RequestKind::Plain,
            tls_given: None,
            parted: None,
            body_max: u64::MAX,
            progress: Progress::default(),
            reused: false,
            retried: false,
            urgent: false,
            by_deadline: Link::default(),
            waiting: Link::default(),
        }
    }
}

impl Hit {
    /// Bytes of its body: of the one that was sent in parts, or of its first request's.
    pub(crate) fn body_bytes(&self, first: Option<&Request>) -> u64 {
        match &self.parted {
            Some(parted) => parted.bytes,
            None => first.map_or(0, |request| request.template.body_bytes()),
        }
    }
}

impl Linked<BY_DEADLINE> for Hit {
    fn link(&mut self) -> &mut Link {
        &mut self.by_deadline
    }
}

impl Linked<WAITING> for Hit {
    fn link(&mut self) -> &mut Link {
        &mut self.waiting
    }
}
