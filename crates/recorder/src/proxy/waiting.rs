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

    /// What `answer` came to, and the exchange, which goes on.
    pub(super) async fn until<T>(
        mut self,
        answer: impl Future<Output = T>,
    ) -> (T, Option<ExchangeId>) {
        (answer.await, self.id.take())
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
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;
    use crate::exchange::RequestHead;
    use crate::limits::Limits;
    use crate::scope::Scope;

    /// The outcome of a future that needs no second poll. One that does is dropped.
    fn poll_once<T>(future: impl Future<Output = T>) -> Option<T> {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(outcome) => Some(outcome),
            Poll::Pending => None,
        }
    }

    #[test]
    fn an_exchange_whose_client_went_away_ends_with_the_reason() {
        let recording = Arc::new(Recording::new(Scope::AllHosts, Limits::default()));
        let begin = || recording.begin(RequestHead::default(), recording.now());
        let never = Waiting::new(&recording, begin()).until(std::future::pending::<()>());
        assert!(poll_once(never).is_none());
        let answered = Waiting::new(&recording, begin()).until(std::future::ready(7));
        assert!(matches!(poll_once(answered), Some((7, Some(_)))));
        let failures: Vec<_> =
            recording.finish().exchanges.into_iter().map(|one| one.failure).collect();
        let reason = "the client did not wait for the answer".to_owned();
        assert_eq!(failures, [Some(reason), None]);
    }
}
