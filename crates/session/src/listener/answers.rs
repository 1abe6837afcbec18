//! `Answers`: how many answers are being given. One may end the process, which has to wait until it is out.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The answers that are being given. One may end the process, which has to wait until it is out.
#[derive(Clone, Debug, Default)]
pub struct Answers(Arc<AtomicUsize>);

/// An answer under way.
#[derive(Debug)]
pub(super) struct UnderWay(Answers);

/// So long answers are waited for at most.
const ANSWERS_MAX: Duration = Duration::from_secs(1);

impl Answers {
    pub(super) fn begin(&self) -> UnderWay {
        self.0.fetch_add(1, Ordering::SeqCst);
        UnderWay(self.clone())
    }

    /// Waits until none is under way, a second at most.
    pub fn finish(&self) {
        let until = Instant::now() + ANSWERS_MAX;
        while self.0.load(Ordering::SeqCst) > 0 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::SeqCst);
    }
}
