//! `TargetCache`: what VUs ask for, kept once: the engine makes the very same `Arc` ready only once.

use std::rc::Rc;
use std::sync::Arc;

use stdx::equal;
use workload::Target;

use crate::host::http::HttpRequest;
use crate::http::call::HttpCall;

/// The last targets of all VUs, each in the place that its content gives it.
#[derive(Debug, Default)]
pub(crate) struct TargetCache(Vec<Option<KnownTarget>>);

/// A target and what it was made of: what is still the very same need not be compared.
#[derive(Clone, Debug)]
struct KnownTarget {
    target: Arc<Target>,
    /// `None` of a hop's.
    url: Option<Rc<str>>,
    shared_headers: Option<Arc<[(String, String)]>>,
}

/// So many are kept at most.
const PLACES: usize = 1024;
/// A target with a longer body, or with longer texts, is not kept.
const BYTES_MAX: usize = 4 << 10;

impl TargetCache {
    /// The target of a call: the one that is known, where it is the same.
    pub(crate) fn get(&mut self, call: &HttpCall) -> Arc<Target> {
        if is_long(call) {
            return Arc::new(call.target());
        }
        if self.0.is_empty() {
            self.0.resize(PLACES, None);
        }
        let place = &mut self.0[(hash(call) % PLACES as u64) as usize];
        if let Some(known) = place.as_ref().filter(|known| known.is_of(call)) {
            return Arc::clone(&known.target);
        }
        Arc::clone(&place.insert(KnownTarget::new(call)).target)
    }
}

fn is_long(call: &HttpCall) -> bool {
    let headers = call.headers().iter().map(|(name, value)| name.len() + value.len());
    let texts = call.url().len() + call.given_name().len() + headers.sum::<usize>();
    texts > BYTES_MAX || call.body().is_some_and(|body| body.len() > BYTES_MAX)
}

/// Of the fields in which targets mostly differ. Who makes two of them share a place has one of them made anew each time, and no
/// more: it need not be hard to do.
fn hash(call: &HttpCall) -> u64 {
    let body = call.body().map_or(&[][..], |body| body);
    [call.url().as_bytes(), call.method().as_bytes(), body].into_iter().fold(0, stdx::mix_bytes)
        >> 32
}

impl KnownTarget {
    fn new(call: &HttpCall) -> Self {
        let first = call.first();
        Self {
            target: Arc::new(call.target()),
            url: first.map(|request| Rc::clone(&request.url)),
            shared_headers: first.and_then(|request| request.shared_headers.clone()),
        }
    }

    /// Whether the target is exactly that of a call.
    fn is_of(&self, call: &HttpCall) -> bool {
        let (target, first) = (&self.target, call.first());
        let same_url = match (&self.url, first) {
            (Some(known), Some(HttpRequest { url, .. })) => Rc::ptr_eq(known, url),
            _ => false,
        };
        let same_headers = match (&self.shared_headers, first) {
            (Some(known), Some(HttpRequest { shared_headers: Some(shared), .. })) => {
                Arc::ptr_eq(known, shared)
            }
            _ => false,
        };
        (same_url || target.url == call.url())
            && target.method == call.method()
            && (same_headers || target.headers == call.headers())
            && equal(&*target.name, call.given_name())
            && equal(&*target.body, call.body().map_or(&[][..], |body| body))
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::host::action::Ticket;
    use crate::host::http::HttpRequest;
    use crate::pool::slot::{RequestOwner, VuSlot};

    fn call(change: impl FnOnce(&mut HttpRequest)) -> HttpCall {
        let mut request = Box::new(HttpRequest {
            method: "POST".into(),
            url: "http://h/".into(),
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
            |request| request.method = "PUT".into(),
            |request| request.url = "http://h/2".into(),
            |request| request.headers.clear(),
            |request| request.name = Some("n".to_owned()),
            |request| request.body = Some(b"y".as_slice().into()),
        ];
        for change in changes {
            let different = call(change);
            let target = known.get(&different);
            let same = |call: &HttpCall| *target == call.target();
            assert!(same(&different) && !same(&wanted), "{different:?}");
        }
        let shared = |name: &str| Some(Arc::from([(name.to_owned(), "1".to_owned())]));
        let url: Rc<str> = "http://h/".into();
        for headers in [shared("A"), shared("B"), shared("B"), None, shared("A")] {
            let call = call(|request| {
                request.url = Rc::clone(&url);
                request.headers.clear();
                request.shared_headers = headers;
            });
            assert_eq!(*known.get(&call), call.target());
        }
        // However many there are, no more are kept.
        for number in 0..5_000 {
            known.get(&call(|request| request.url = format!("http://h/{number}").into()));
        }
        assert_eq!(known.0.len(), PLACES);
    }

    /// Issue 42, F6: a thousand URLs of half a megabyte each were kept.
    #[test]
    fn what_is_long_is_not_kept() {
        let long = "x".repeat(BYTES_MAX);
        let changes: [fn(&mut HttpRequest, String); 4] = [
            |request, long| request.url = format!("http://h/{long}").into(),
            |request, long| request.headers.push(("A".to_owned(), long)),
            |request, long| request.name = Some(long),
            |request, long| request.body = Some(format!("{long}x").into_bytes().into()),
        ];
        for change in changes {
            let mut known = TargetCache::default();
            let asked = call(|request| change(request, long.clone()));
            assert_eq!(*known.get(&asked), asked.target());
            assert!(known.0.is_empty());
        }
    }
}
