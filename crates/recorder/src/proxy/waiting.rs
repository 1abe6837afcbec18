//! `Waiting`: an exchange whose answer has not begun. Its client may go away meanwhile (a closed tab, another page), and then the
//! future that waits is dropped, and nothing else would end the exchange.

use std::sync::Arc;

use crate::recording::{ExchangeId, Recording};

/// Ends its exchange with a reason where it is dropped before the answer came.
pub(super) struct Waiting {
    recording: Arc<Recording>,
    id: Option<ExchangeId>,
}

impl Waiting {
    pub(super) fn new(recording: &Arc<Recording>, id: Option<ExchangeId>) -> Self {
        Self { recording: Arc::clone(recording), id }
    }

    /// The answer, or the reason why there is none, is there: the exchange goes on.
    pub(super) fn end(mut self) -> Option<ExchangeId> {
        self.id.take()
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            let reason = "the client did not wait for the answer".to_owned();
            self.recording.end(id, Some(reason), self.recording.now());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::RequestHead;
    use crate::limits::Limits;
    use crate::scope::Scope;

    #[test]
    fn an_exchange_whose_client_went_away_ends_with_the_reason() {
        let recording = Arc::new(Recording::new(Scope::AllHosts, Limits::default()));
        let begin = || recording.begin(RequestHead::default(), recording.now());
        drop(Waiting::new(&recording, begin()));
        let kept = Waiting::new(&recording, begin()).end();
        assert!(kept.is_some());
        let failures: Vec<_> =
            recording.finish().exchanges.into_iter().map(|one| one.failure).collect();
        let reason = "the client did not wait for the answer".to_owned();
        assert_eq!(failures, [Some(reason), None]);
    }
}
