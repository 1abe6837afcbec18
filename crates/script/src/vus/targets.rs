//! `TargetCache`: what VUs ask for, kept once: the engine makes the very same `Arc` ready only once.

use std::sync::Arc;

use workload::Target;

use super::http_call::HttpCall;

/// The last targets of all VUs, each in the place that its content gives it.
#[derive(Debug, Default)]
pub(super) struct TargetCache(Vec<Option<Arc<Target>>>);

/// So many are kept at most.
const PLACES: usize = 1024;
/// A target with a longer body is not kept.
const BODY_MAX: usize = 4 << 10;

impl TargetCache {
    /// The target of a call: the one that is known, where it is the same.
    pub(super) fn get(&mut self, call: &HttpCall) -> Arc<Target> {
        if call.body().is_some_and(|body| body.len() > BODY_MAX) {
            return Arc::new(call.target());
        }
        if self.0.is_empty() {
            self.0.resize(PLACES, None);
        }
        let place = &mut self.0[(hash(call) % PLACES as u64) as usize];
        if let Some(known) = place.as_ref().filter(|known| is_of(call, known)) {
            return Arc::clone(known);
        }
        Arc::clone(place.insert(Arc::new(call.target())))
    }
}

/// Of the fields in which targets mostly differ. Who makes two of them share a place has one of them made anew each time, and no
/// more: it need not be hard to do.
fn hash(call: &HttpCall) -> u64 {
    let body = call.body().map_or(&[][..], |body| body);
    [call.url().as_bytes(), call.method().as_bytes(), body].into_iter().fold(0, hash_bytes) >> 32
}

/// A hash of eight bytes at a time.
fn hash_bytes(hash: u64, bytes: &[u8]) -> u64 {
    let mix =
        |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let (words, rest) = bytes.as_chunks();
    let hash = words
        .iter()
        .fold(mix(hash, bytes.len() as u64), |hash, word| mix(hash, u64::from_le_bytes(*word)));
    rest.iter().fold(hash, |hash, byte| mix(hash, u64::from(*byte)))
}

/// Whether a target is exactly that of a call.
fn is_of(call: &HttpCall, known: &Target) -> bool {
    known.url == call.url()
        && known.method == call.method()
        && known.headers == call.headers()
        && known.name == call.given_name()
        && known.body.as_ref() == call.body().map_or(&[][..], |body| body)
}

#[cfg(test)]
mod tests {
    use super::super::slot::{RequestOwner, VuSlot};
    use super::*;
    use crate::host::action::Ticket;
    use crate::host::http::HttpRequest;

    fn call(change: impl FnOnce(&mut HttpRequest)) -> HttpCall {
        let mut request = Box::new(HttpRequest {
            method: "POST".to_owned(),
            url: "http://h/".to_owned(),
            headers: vec![("A".to_owned(), "1".to_owned())],
            body: Some(b"x".as_slice().into()),
            ..HttpRequest::default()
        });
        change(&mut request);
        let owner = RequestOwner {
            slot: VuSlot(0),
            iteration: 0,
            ticket: Ticket(1),
            outlives_iteration: false,
        };
        HttpCall::first_hop(owner, request)
    }

    #[test]
    fn what_is_asked_for_again_is_the_same() {
        let mut known = TargetCache::default();
        let wanted = call(|_| {});
        let first = known.get(&wanted);
        assert!(Arc::ptr_eq(&first, &known.get(&wanted)));
        let changes: [fn(&mut HttpRequest); 5] = [
            |request| request.method = "PUT".to_owned(),
            |request| request.url = "http://h/2".to_owned(),
            |request| request.headers.clear(),
            |request| request.name = Some("n".to_owned()),
            |request| request.body = Some(b"y".as_slice().into()),
        ];
        for change in changes {
            let different = call(change);
            let target = known.get(&different);
            assert!(is_of(&different, &target) && !is_of(&wanted, &target), "{different:?}");
        }
        // However many there are, no more are kept.
        for number in 0..5_000 {
            known.get(&call(|request| request.url = format!("http://h/{number}")));
        }
        assert_eq!(known.0.len(), PLACES);
    }
}
