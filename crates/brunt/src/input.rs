//! What the command reads: files and standard input by their names on the command line. After an interrupt an input
//! ends early, so that what was read can be reported. A wait for somebody who types is announced.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use anyhow::anyhow;
use net::machine;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::exit_code::{ExitCode, Failed};
use crate::output;

/// How many times the user asked us to stop (SIGINT, SIGTERM, SIGHUP), counted from when this was made. A terminal that goes
/// away hangs up more than once, which counts once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupts(Arc<Asked>);

#[derive(Debug, Default)]
struct Asked {
    times: AtomicUsize,
    /// The first signal's number.
    first: AtomicI32,
    hangups: AtomicUsize,
}

impl Asked {
    /// Takes a signal in; gives how many count so far.
    fn take(&self, signal: i32) -> usize {
        if signal == SIGHUP && self.hangups.fetch_add(1, Ordering::Relaxed) > 0 {
            return self.times.load(Ordering::Relaxed);
        }
        self.first.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed).ok();
        self.times.fetch_add(1, Ordering::Relaxed) + 1
    }
}

impl Interrupts {
    /// Counts from now on; the signals no longer end the process.
    ///
    /// # Errors
    /// The system refuses the handler.
    pub(crate) fn watch() -> Result<Self, Failed> {
        Self::watch_until(ExitCode::Ok)
    }

    /// The same; the last interrupt ends the process with this code.
    ///
    /// # Errors
    /// The same.
    pub(crate) fn watch_until(last: ExitCode) -> Result<Self, Failed> {
        let asked = Arc::new(Asked::default());
        // A watcher thread, since the handler itself may only touch a flag, and a flag does not count.
        let mut signals = signal_hook::iterator::Signals::new(watched())
            .map_err(|error| Failed::from(anyhow!("watching for signals: {error}")))?;
        let counter = Arc::clone(&asked);
        std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || {
                for signal in signals.forever() {
                    if counter.take(signal) >= ENOUGH {
                        std::process::exit(i32::from(last as u8));
                    }
                }
            })
            .map_err(|error| Failed::from(anyhow!("watching for signals: {error}")))?;
        Ok(Self(asked))
    }

    /// How many so far.
    #[must_use]
    pub(crate) fn seen(&self) -> usize {
        self.0.times.load(Ordering::Relaxed)
    }

    /// Ends the process as the first signal would have, had nobody watched: there is nothing to show for it.
    pub(crate) fn end_by_signal(&self) -> ! {
        let signal = self.0.first.load(Ordering::Relaxed);
        // Where the system refuses, the number that a shell makes of it.
        signal_hook::low_level::emulate_default_handler(signal).ok();
        std::process::exit(128 + signal);
    }
}

/// The signals that ask us to stop. Whom `nohup` started does not hear that a terminal went away.
fn watched() -> Vec<i32> {
    let hangup = (!machine::is_ignored(SIGHUP)).then_some(SIGHUP);
    [SIGINT, SIGTERM].into_iter().chain(hangup).collect()
}

/// The interrupt that ends the process on the spot, should whoever reads our output keep us waiting.
const ENOUGH: usize = 3;

/// The name that means standard input.
#[must_use]
pub(crate) fn is_stdin(name: &str) -> bool {
    name == "stdin" || name == "-"
}

/// Says what is waited for where somebody would have to type it.
pub(crate) fn announce_stdin(what: &str) {
    if io::stdin().is_terminal() {
        output::complain(&format!("brunt: reading {what} from standard input; end with Ctrl-D"));
    }
}

/// What the system said, without the number.
#[must_use]
pub(crate) fn system_text(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

/// What the system said, as Go says it: lower case, without the number.
#[must_use]
pub(crate) fn reason(error: &io::Error) -> String {
    let text = system_text(error);
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// Reads a whole file, or standard input, of at most [`WHOLE_MAX`] bytes.
///
/// # Errors
/// It cannot be opened or read, or is larger; the error names it.
pub(crate) fn read_whole(name: &str) -> Result<Vec<u8>, Failed> {
    let failed = |text: String| Failed { code: ExitCode::Input, error: anyhow!(text) };
    let mut bytes = Vec::new();
    let read = if is_stdin(name) {
        io::stdin().lock().take(WHOLE_MAX + 1).read_to_end(&mut bytes)
    } else {
        let file = File::open(name).map_err(|error| {
            failed(format!("error opening {name}: open {name}: {}", reason(&error)))
        })?;
        file.take(WHOLE_MAX + 1).read_to_end(&mut bytes)
    };
    match read {
        Ok(_) if bytes.len() as u64 > WHOLE_MAX => {
            Err(failed(format!("{name} is larger than 1 GiB (read targets with -lazy)")))
        }
        Ok(_) => Ok(bytes),
        Err(error) => Err(failed(format!("reading {name}: {}", reason(&error)))),
    }
}

/// Reads a regular file that another file, or a script, names, of at most [`WHOLE_MAX`] bytes. A device has no end, and a pipe
/// may never have one.
///
/// # Errors
/// It is no such file, is larger, or cannot be read; the reason does not name it.
pub(crate) fn read_regular(path: impl AsRef<Path>) -> Result<Vec<u8>, String> {
    let path = path.as_ref();
    let said = |error: io::Error| reason(&error);
    // Before it is opened: that alone may wait for ever.
    if !std::fs::metadata(path).map_err(said)?.is_file() {
        return Err("it is no regular file".to_owned());
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(said)?;
    file.take(WHOLE_MAX + 1).read_to_end(&mut bytes).map_err(said)?;
    match bytes.len() as u64 > WHOLE_MAX {
        true => Err("it is larger than 1 GiB".to_owned()),
        false => Ok(bytes),
    }
}

/// The most that is read at once into memory: 1 GiB.
const WHOLE_MAX: u64 = 1 << 30;

/// Opens results files; none named is standard input.
///
/// # Errors
/// A file cannot be opened; the error names it.
pub(crate) fn open_results(
    names: &[String],
    interrupts: &Interrupts,
    patience: Duration,
) -> Result<Vec<results::Input>, Failed> {
    let stdin = ["stdin".to_owned()];
    let names = if names.is_empty() { &stdin[..] } else { names };
    names.iter().map(|name| open_one(name, interrupts, patience)).collect()
}

/// Opens one results file.
fn open_one(
    name: &str,
    interrupts: &Interrupts,
    patience: Duration,
) -> Result<results::Input, Failed> {
    if is_stdin(name) {
        announce_stdin("results");
        // Nobody drains into a terminal.
        let patience = if io::stdin().is_terminal() { Duration::ZERO } else { patience };
        let input = Piped::start(interrupts.clone(), patience)?;
        return Ok(("stdin".to_owned(), Box::new(input)));
    }
    let file =
        File::open(name).map_err(|error| unopened(format!("open {name}: {}", reason(&error))))?;
    if file.metadata().is_ok_and(|meta| meta.is_dir()) {
        return Err(unopened(format!("open {name}: is a directory")));
    }
    Ok((name.to_owned(), Box::new(Stored { file, interrupts: interrupts.clone() })))
}

fn unopened(text: String) -> Failed {
    Failed { code: ExitCode::Input, error: anyhow!(text) }
}

/// A file that ends when the user interrupts.
struct Stored {
    file: File,
    interrupts: Interrupts,
}

impl Read for Stored {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.interrupts.seen() > 0 { Ok(0) } else { self.file.read(buf) }
    }
}

/// Standard input, read by a thread of its own so that an interrupt can end the wait for it.
struct Piped {
    chunks: Receiver<io::Result<Vec<u8>>>,
    chunk: Vec<u8>,
    at: usize,
    interrupts: Interrupts,
    /// How long after the first interrupt a silent writer is still waited for: it is interrupted too, and drains. After the
    /// second it ends at once, and has [`LAST_WORDS`].
    patience: Duration,
    heard: Option<Instant>,
    began: Instant,
    /// When the second interrupt was noticed.
    hurried: Option<Instant>,
    over: bool,
}

/// How long a writer that was interrupted twice has for its last words, at most.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// Chunks of standard input that wait at most.
const CHUNKS_MAX: usize = 16;
/// Bytes read from standard input at once.
const CHUNK_BYTES: usize = 64 << 10;
/// How often an interrupt is looked for: one is heeded that late at most.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(50);

impl Piped {
    fn start(interrupts: Interrupts, patience: Duration) -> Result<Self, Failed> {
        let (sender, chunks) = sync_channel(CHUNKS_MAX);
        std::thread::Builder::new()
            .name("stdin".to_owned())
            .spawn(move || pump(&sender))
            .map_err(|error| Failed::from(anyhow!("reading standard input: {error}")))?;
        Ok(Self::of(chunks, interrupts, patience))
    }

    fn of(
        chunks: Receiver<io::Result<Vec<u8>>>,
        interrupts: Interrupts,
        patience: Duration,
    ) -> Self {
        Self {
            chunks,
            chunk: Vec::new(),
            at: 0,
            interrupts,
            patience,
            heard: None,
            began: Instant::now(),
            hurried: None,
            over: false,
        }
    }

    /// Nothing more is waited for.
    fn is_given_up(&mut self) -> bool {
        match self.interrupts.seen() {
            0 => false,
            1 => self.heard.unwrap_or(self.began).elapsed() >= self.patience,
            _ => {
                let hurried = self.hurried.get_or_insert_with(Instant::now);
                hurried.elapsed() >= self.patience.min(LAST_WORDS)
            }
        }
    }
}

/// Reads standard input to its end, or until nobody wants it.
fn pump(sender: &SyncSender<io::Result<Vec<u8>>>) {
    let mut stdin = io::stdin().lock();
    loop {
        let mut chunk = vec![0; CHUNK_BYTES];
        let message = match stdin.read(&mut chunk) {
            Ok(0) => return,
            Ok(len) => {
                chunk.truncate(len);
                Ok(chunk)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        if sender.send(message).is_err() {
            return;
        }
    }
}

impl Read for Piped {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        while self.at == self.chunk.len() {
            if self.over {
                return Ok(0);
            }
            if self.is_given_up() {
                if self.heard.is_none() {
                    self.interrupts.end_by_signal();
                }
                self.over = true;
                return Ok(0);
            }
            match self.chunks.recv_timeout(LOOK_EVERY) {
                Ok(chunk) => {
                    (self.chunk, self.at, self.heard) = (chunk?, 0, Some(Instant::now()));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => self.over = true,
            }
        }
        let len = buf.len().min(self.chunk.len() - self.at);
        buf[..len].copy_from_slice(&self.chunk[self.at..self.at + len]);
        self.at += len;
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_words_are_told_as_go_tells_them() {
        let error = File::open("/nowhere/at/all").unwrap_err();
        assert_eq!(system_text(&error), "No such file or directory");
        assert_eq!(reason(&error), "no such file or directory");
    }

    #[test]
    fn a_missing_file_is_named() {
        let interrupts = Interrupts::default();
        let names = ["/nowhere/at/all".to_owned()];
        let Err(failed) = open_results(&names, &interrupts, Duration::ZERO) else {
            panic!("opened a file that is not there");
        };
        assert_eq!(failed.to_string(), "open /nowhere/at/all: no such file or directory");
        assert_eq!(read_whole("/nowhere/at/all").unwrap_err().code, ExitCode::Input);
    }

    #[test]
    fn an_interrupt_ends_a_file() {
        let interrupts = Interrupts::default();
        let file = File::open("/dev/zero").unwrap();
        let mut stored = Stored { file, interrupts: interrupts.clone() };
        let mut buf = [0; 8];
        assert_eq!(stored.read(&mut buf).unwrap(), 8);
        interrupts.0.take(SIGINT);
        assert_eq!(stored.read(&mut buf).unwrap(), 0);
    }

    #[test]
    fn a_terminal_hangs_up_once() {
        let asked = Asked::default();
        let counts = [SIGHUP, SIGHUP, SIGINT, SIGHUP, SIGTERM].map(|signal| asked.take(signal));
        assert_eq!(counts, [1, 1, 2, 2, 3]);
        assert_eq!(asked.first.load(Ordering::Relaxed), SIGHUP);
    }

    #[test]
    fn after_the_second_interrupt_a_writer_has_its_last_words() {
        let (sender, chunks) = sync_channel(CHUNKS_MAX);
        let interrupts = Interrupts::default();
        let mut piped = Piped::of(chunks, interrupts.clone(), Duration::from_secs(60));
        interrupts.0.take(SIGINT);
        interrupts.0.take(SIGINT);
        sender.send(Ok(b"abc".to_vec())).unwrap();
        drop(sender);
        let mut all = Vec::new();
        assert_eq!((piped.read_to_end(&mut all).unwrap(), all.as_slice()), (3, &b"abc"[..]));
    }

    #[test]
    fn a_pipe_ends_with_its_writer_or_the_users_patience() {
        let (sender, chunks) = sync_channel(CHUNKS_MAX);
        let interrupts = Interrupts::default();
        let mut piped = Piped::of(chunks, interrupts.clone(), Duration::ZERO);
        sender.send(Ok(b"abc".to_vec())).unwrap();
        let mut buf = [0; 2];
        assert_eq!((piped.read(&mut buf).unwrap(), buf), (2, *b"ab"));
        assert_eq!(piped.read(&mut buf).unwrap(), 1);
        interrupts.0.take(SIGTERM);
        assert_eq!(
            piped.read(&mut buf).unwrap(),
            0,
            "the writer is silent and we were asked to stop"
        );
    }
}
