//! `Delivery`: the bounded queue of payloads, and the thread that sends them, again where that may help.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Payloads that may wait.
const QUEUE_MAX: usize = 4096;
/// Bytes of payloads that may wait: 64 MiB.
const QUEUE_BYTES_MAX: usize = 64 << 20;
/// The first pause after a failure; each further one is twice as long.
const PAUSE_MIN: Duration = Duration::from_millis(250);
/// The longest pause, also where a server asks for a longer one.
const PAUSE_MAX: Duration = Duration::from_secs(10);
/// How often a payload is sent at most.
const ATTEMPTS_MAX: u32 = 8;
/// How long the end of a run waits for what is not sent yet.
const END_MAX: Duration = Duration::from_secs(10);
/// After how long the end of a run says what it waits for, and how often it looks until then.
const SAYS_AFTER: Duration = Duration::from_millis(if cfg!(test) { 50 } else { 1000 });
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Sends payloads somewhere.
pub(crate) trait Transport: Send {
    /// Sends a payload and waits for the answer, at most a few seconds.
    fn send(&mut self, payload: &[u8]) -> Result<(), SendError>;
}

/// Why a payload was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SendError {
    /// Whether it may be taken when it is sent again.
    pub(crate) is_passing: bool,
    /// How long the server asks to wait.
    pub(crate) pause: Option<Duration>,
    /// What happened.
    text: String,
}

/// Bytes of what a server says that an error shows.
const SHOWN_MAX: usize = 400;

impl SendError {
    /// Of a text that may be the server's: it becomes one line, and is cut.
    pub(crate) fn new(is_passing: bool, pause: Option<Duration>, text: &str) -> Self {
        let text = stdx::terminal_line(&stdx::cut_text(text.trim(), SHOWN_MAX));
        Self { is_passing, pause, text }
    }
}

/// What came of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// The output's name.
    pub output: String,
    /// Batches that were made.
    pub batches: u64,
    /// Batches that the server did not take.
    pub lost: u64,
    /// Samples of series beyond the limit of series.
    pub refused: u64,
    /// What the last failure was.
    pub error: Option<String>,
}

impl Delivered {
    /// What is not at the server, in a line; `None` where all is.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        let mut parts = Vec::new();
        if self.lost > 0 {
            let why = self.error.as_deref().unwrap_or("no time was left");
            let batches = stdx::counted(self.batches, "batch");
            parts.push(format!("{} of {batches} not delivered ({why})", self.lost));
        }
        if self.refused > 0 {
            let samples = stdx::counted(self.refused, "sample");
            parts.push(format!("{samples} not sent: there are too many series"));
        }
        (!parts.is_empty()).then(|| format!("output {}: {}", self.output, parts.join("; ")))
    }
}

/// Takes lines for people: what went wrong while the run goes on.
pub(crate) type Warn = Arc<dyn Fn(&str) + Send + Sync>;

/// A queue and its thread.
pub(crate) struct Delivery {
    shared: Arc<Shared>,
    thread: JoinHandle<()>,
    warn: Warn,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Vec<u8>>,
    queued_bytes: usize,
    /// When the thread gives up; set at the end of the run.
    deadline: Option<Instant>,
    made: u64,
    lost: u64,
    error: Option<String>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits so long, or until the end's deadline. Gives whether there is time left.
    fn pause(&self, pause: Duration) -> bool {
        let until = Instant::now() + pause;
        let mut state = self.lock();
        loop {
            let now = Instant::now();
            if state.deadline.is_some_and(|deadline| now >= deadline) {
                return false;
            }
            if now >= until {
                return true;
            }
            let end = state.deadline.map_or(until, |deadline| deadline.min(until));
            let wait = end.saturating_duration_since(now);
            let woken = self.changed.wait_timeout(state, wait);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The oldest payload; `None` once the run is over and all are sent, or no time is left.
    fn next(&self) -> Option<Vec<u8>> {
        let mut state = self.lock();
        loop {
            if state.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return None;
            }
            if let Some(payload) = state.queue.pop_front() {
                state.queued_bytes -= payload.len();
                return Some(payload);
            }
            if state.deadline.is_some() {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Delivery {
    pub(crate) fn start(name: &str, transport: Box<dyn Transport>, warn: Warn) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let (of_thread, name) = (Arc::clone(&shared), name.to_owned());
        let says = Arc::clone(&warn);
        let thread = std::thread::Builder::new()
            .name("output".to_owned())
            .spawn(move || Sender { shared: &of_thread, transport, warn, name }.run())?;
        Ok(Self { shared, thread, warn: says })
    }

    /// Queues a payload; without room the oldest ones make place, and are lost.
    pub(crate) fn push(&self, payload: Vec<u8>) {
        let mut state = self.shared.lock();
        state.made += 1;
        state.queued_bytes += payload.len();
        state.queue.push_back(payload);
        while state.queue.len() > QUEUE_MAX || state.queued_bytes > QUEUE_BYTES_MAX {
            let Some(oldest) = state.queue.pop_front() else { break };
            state.queued_bytes -= oldest.len();
            state.lost += 1;
        }
        self.shared.changed.notify_all();
    }

    /// No more payloads come: what is left has [`END_MAX`].
    pub(crate) fn end(&self) {
        self.shared.lock().deadline = Some(Instant::now() + END_MAX);
        self.shared.changed.notify_all();
    }

    /// Waits until all is sent, but no longer than [`END_MAX`] and one answer after the end.
    pub(crate) fn finish(self, output: String, refused: u64) -> Delivered {
        self.report_wait(&output);
        let ended = self.thread.join();
        let mut state = self.shared.lock();
        // What is still queued is lost with the thread.
        let lost = state.lost + state.queue.len() as u64;
        let error = match ended {
            Ok(()) => state.error.take(),
            Err(_) => Some("the thread that sends panicked".to_owned()),
        };
        Delivered { output, batches: state.made, lost, refused, error }
    }
}

impl Delivery {
    /// Reports that batches are left, where the last ones take long.
    fn report_wait(&self, output: &str) {
        let until = Instant::now() + SAYS_AFTER;
        while Instant::now() < until {
            if self.thread.is_finished() {
                return;
            }
            std::thread::sleep(LOOK_EVERY);
        }
        let waits = END_MAX.as_secs();
        (self.warn)(&format!(
            "output {output}: waiting for the server to take the last batches, at most {waits} s and an answer"
        ));
    }
}

/// What the thread works with.
struct Sender<'a> {
    shared: &'a Shared,
    transport: Box<dyn Transport>,
    warn: Warn,
    name: String,
}

impl Sender<'_> {
    fn run(&mut self) {
        let mut was_taken = true;
        while let Some(payload) = self.shared.next() {
            let taken = self.deliver(&payload, was_taken);
            if let Err(text) = &taken {
                let mut state = self.shared.lock();
                state.lost += 1;
                state.error = Some(text.clone());
            } else if !was_taken {
                (self.warn)(&format!("output {}: delivering again", self.name));
            }
            was_taken = taken.is_ok();
        }
    }

    /// Sends a payload until it is taken, refused for good, or out of attempts. The first failure of a row of them is said.
    fn deliver(&mut self, payload: &[u8], says: bool) -> Result<(), String> {
        let mut pause = PAUSE_MIN;
        for attempt in 1.. {
            let Err(error) = self.transport.send(payload) else { return Ok(()) };
            if attempt == 1 && says {
                (self.warn)(&format!("output {}: {}", self.name, error.text));
            }
            let wait = error.pause.unwrap_or(pause).min(PAUSE_MAX);
            if !error.is_passing || attempt == ATTEMPTS_MAX || !self.shared.pause(wait) {
                return Err(error.text);
            }
            pause = (pause * 2).min(PAUSE_MAX);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers in turn; afterwards all is taken.
    struct Answers(Vec<Result<(), SendError>>, Arc<Mutex<Vec<Vec<u8>>>>);

    impl Transport for Answers {
        fn send(&mut self, payload: &[u8]) -> Result<(), SendError> {
            if !self.0.is_empty() {
                self.0.remove(0)?;
            }
            self.1.lock().unwrap().push(payload.to_vec());
            Ok(())
        }
    }

    /// Issue 42, F13: a server's `grpc-message` of 15 MB was two lines of the log.
    #[test]
    fn an_error_shows_little_of_what_a_server_says() {
        let long = format!("status 13 {}\u{1b}]0;x", "x\n\u{202e}".repeat(1_000_000));
        let error = SendError::new(true, None, &long);
        assert!(error.text.len() < 3 * SHOWN_MAX && error.text.starts_with("status 13 x"));
        assert!(!error.text.chars().any(stdx::steers) && error.text.ends_with('…'));
    }

    fn refusal(is_passing: bool) -> Result<(), SendError> {
        let pause = Some(Duration::from_millis(1));
        Err(SendError::new(is_passing, pause, "busy"))
    }

    fn delivered(answers: Vec<Result<(), SendError>>, n: u8) -> (Delivered, Vec<Vec<u8>>, usize) {
        let (taken, lines) = (Arc::default(), Arc::new(Mutex::new(0)));
        let counted = Arc::clone(&lines);
        let warn: Warn = Arc::new(move |_| *counted.lock().unwrap() += 1);
        let transport = Box::new(Answers(answers, Arc::clone(&taken)));
        let delivery = Delivery::start("test", transport, warn).unwrap();
        (0..n).for_each(|byte| delivery.push(vec![byte]));
        delivery.end();
        let delivered = delivery.finish("test".to_owned(), 0);
        let taken = taken.lock().unwrap().clone();
        let lines = *lines.lock().unwrap();
        (delivered, taken, lines)
    }

    #[test]
    fn what_is_refused_for_a_moment_is_sent_again() {
        let (all, taken, lines) = delivered(vec![refusal(true), refusal(true)], 3);
        assert_eq!((all.batches, all.lost, lines), (3, 0, 1));
        assert_eq!(taken, [[0], [1], [2]]);
        assert_eq!(all.problem(), None);
    }

    #[test]
    fn an_end_that_takes_long_says_why() {
        let slow = SendError::new(true, Some(SAYS_AFTER * 2), "busy");
        let (all, taken, lines) = delivered(vec![Err(slow)], 1);
        assert_eq!((all.lost, taken.len()), (0, 1));
        assert_eq!(lines, 2, "the failure, and the wait");
    }

    #[test]
    fn what_is_refused_for_good_is_counted() {
        let (all, taken, lines) = delivered(vec![refusal(false), refusal(false)], 3);
        assert_eq!((all.batches, all.lost, taken.len()), (3, 2, 1));
        // The first failure, and that it goes on again.
        assert_eq!(lines, 2);
        let problem = "output test: 2 of 3 batches not delivered (busy)";
        assert_eq!(all.problem().as_deref(), Some(problem));
    }

    #[test]
    fn attempts_are_bounded() {
        let answers = (0..ATTEMPTS_MAX).map(|_| refusal(true)).collect();
        let (all, taken, _) = delivered(answers, 2);
        assert_eq!((all.lost, taken), (1, vec![vec![1]]));
    }
}
