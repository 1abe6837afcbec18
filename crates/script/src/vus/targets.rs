//! `KnownTargets`: what VUs ask for, kept once: the engine makes the very same `Arc` ready only once.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use workload::Target;

/// What is asked for, borrowed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'a> {
    pub(super) method: &'a str,
    pub(super) url: &'a str,
    pub(super) headers: &'a [(String, String)],
    pub(super) body: Option<&'a Arc<[u8]>>,
    /// The name that the script gives it; empty where it gives none.
    pub(super) name: &'a str,
}

/// The last targets of all VUs, each in the place that its content gives it.
#[derive(Debug, Default)]
pub(super) struct KnownTargets(Vec<Option<Arc<Target>>>);

/// So many are kept at most.
const PLACES: usize = 1024;
/// A target with a longer body is not kept.
const BODY_MAX: usize = 4 << 10;

impl KnownTargets {
    /// The target that is wanted: the one that is known, where it is the same.
    pub(super) fn get(&mut self, wanted: Wanted<'_>) -> Arc<Target> {
        if wanted.body.is_some_and(|body| body.len() > BODY_MAX) {
            return Arc::new(wanted.target());
        }
        if self.0.is_empty() {
            self.0.resize(PLACES, None);
        }
        let place = &mut self.0[(wanted.hash() % PLACES as u64) as usize];
        if let Some(known) = place.as_ref().filter(|known| wanted.is(known)) {
            return Arc::clone(known);
        }
        Arc::clone(place.insert(Arc::new(wanted.target())))
    }
}

impl Wanted<'_> {
    /// Of what mostly tells one target from another.
    fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.url.hash(&mut hasher);
        self.method.hash(&mut hasher);
        self.body.hash(&mut hasher);
        hasher.finish()
    }

    fn is(&self, known: &Target) -> bool {
        known.url == self.url
            && known.method == self.method
            && known.headers == self.headers
            && known.name == self.name
            && known.body.as_ref() == self.body.map_or(&[][..], |body| body)
    }

    fn target(&self) -> Target {
        Target {
            method: self.method.to_owned(),
            url: self.url.to_owned(),
            headers: self.headers.to_vec(),
            body: self.body.cloned().unwrap_or_default(),
            weight: 1,
            name: self.name.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_again_is_the_same() {
        let mut known = KnownTargets::default();
        let headers = [("A".to_owned(), "1".to_owned())];
        let (body, other): (Arc<[u8]>, Arc<[u8]>) =
            (b"x".as_slice().into(), b"y".as_slice().into());
        let wanted = Wanted {
            method: "POST",
            url: "http://h/",
            headers: &headers,
            body: Some(&body),
            name: "",
        };
        let first = known.get(wanted);
        assert!(Arc::ptr_eq(&first, &known.get(wanted)));
        for different in [
            Wanted { method: "PUT", ..wanted },
            Wanted { url: "http://h/2", ..wanted },
            Wanted { headers: &[], ..wanted },
            Wanted { name: "n", ..wanted },
            Wanted { body: Some(&other), ..wanted },
        ] {
            let target = known.get(different);
            assert!(different.is(&target) && !wanted.is(&target), "{different:?}");
        }
        // However many there are, no more are kept.
        for number in 0..5_000 {
            known.get(Wanted { url: &format!("http://h/{number}"), ..wanted });
        }
        assert_eq!(known.0.len(), PLACES);
    }
}
