//! `Decoders`: a worker's content decoders between two bodies. A body takes one and gives it back, so that an idle connection
//! holds none; few are kept, and of those with large windows one.

use wire::content::{Codings, ContentDecoder, ContentError};

/// Decoders of 64 KiB a coding that are kept.
const SMALL_MAX: usize = 16;
/// Decoders with windows of megabytes that are kept.
const LARGE_MAX: usize = 1;

/// A worker's content decoders that no body needs.
#[derive(Debug, Default)]
#[expect(clippy::vec_box, reason = "bodies hold them so: nothing is moved or allocated")]
pub(crate) struct Decoders {
    small: Vec<Box<ContentDecoder>>,
    large: Vec<Box<ContentDecoder>>,
}

impl Decoders {
    /// A decoder for a body with these codings.
    ///
    /// # Errors
    /// A coding is unknown; the body must be taken as it is.
    pub(crate) fn take(&mut self, codings: &Codings) -> Result<Box<ContentDecoder>, ContentError> {
        for list in [&mut self.small, &mut self.large] {
            if let Some(at) = list.iter().position(|known| known.fits(codings)) {
                let mut decoder = list.swap_remove(at);
                decoder.reset(codings)?;
                return Ok(decoder);
            }
        }
        ContentDecoder::new(codings).map(Box::new)
    }

    /// A body has ended: its decoder is for the next one, or its memory is freed.
    pub(crate) fn give(&mut self, decoder: Option<Box<ContentDecoder>>) {
        let Some(decoder) = decoder else { return };
        let (list, max) = match decoder.is_large() {
            true => (&mut self.large, LARGE_MAX),
            false => (&mut self.small, SMALL_MAX),
        };
        if list.len() >= max {
            // That of codings that come no more goes first.
            list.remove(0);
        }
        list.push(decoder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codings(value: &str) -> Codings {
        let mut codings = Codings::default();
        codings.push_field(value.as_bytes());
        codings
    }

    #[test]
    fn few_decoders_wait_for_the_next_body() {
        let mut decoders = Decoders::default();
        let taken: Vec<_> = ["gzip", "br", "zstd", "br, br"]
            .into_iter()
            .cycle()
            .take(400)
            .map(|value| decoders.take(&codings(value)).expect("they are known"))
            .collect();
        taken.into_iter().for_each(|decoder| decoders.give(Some(decoder)));
        assert_eq!((decoders.small.len(), decoders.large.len()), (SMALL_MAX, LARGE_MAX));
        assert!(decoders.take(&codings("exotic")).is_err());
        let gzip = decoders.take(&codings("gzip")).expect("it is known");
        assert_eq!(decoders.small.len(), SMALL_MAX - 1, "it is used again");
        assert!(!gzip.is_large());
    }
}
