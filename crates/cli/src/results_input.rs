//! Files and standard input that are read as streams of results. An interrupt ends them early, so that what was read can still
//! be reported.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use anyhow::anyhow;
use nix::unistd::{AccessFlags, access};

use crate::error::ExitError;
use crate::exit_code::ExitCode;
use crate::input::{announce_stdin, is_stdin};
use crate::interrupts::{INTERRUPT_CHECK_INTERVAL, Interrupts};
use crate::system_text::reason;

/// An input's name, for messages, and its bytes.
pub type NamedInput = (String, Box<dyn Read + Send>);

/// Opens results files; no name stands for standard input. `grace` is how long after an interrupt a silent standard input is
/// waited for.
///
/// # Errors
/// A file cannot be opened, or is named twice, in which case its rows would count twice; the error names it.
pub fn open_results(
    names: &[String],
    interrupts: &Interrupts,
    grace: Duration,
) -> Result<Vec<NamedInput>, ExitError> {
    let stdin = ["stdin".to_owned()];
    let names = if names.is_empty() { &stdin[..] } else { names };
    if let Some(twice) = named_twice(names) {
        let text = format!("{twice} is named twice, and its rows would count twice");
        return Err(ExitError::new(ExitCode::Usage, text));
    }
    names.iter().map(|name| open_one(name, interrupts, grace)).collect()
}

/// The first input that is one of those before it.
fn named_twice(names: &[String]) -> Option<&String> {
    let identity = |name: &String| match std::fs::metadata(name) {
        _ if is_stdin(name) => Some((0, 0)),
        Ok(meta) => Some((meta.dev(), meta.ino())),
        // Opening it will say why.
        Err(_) => None,
    };
    let all: Vec<_> = names.iter().map(identity).collect();
    let is_known = |at: &usize| all[*at].is_some() && all[..*at].contains(&all[*at]);
    (1..all.len()).find(is_known).map(|at| &names[at])
}

/// Opens one results file.
fn open_one(name: &str, interrupts: &Interrupts, grace: Duration) -> Result<NamedInput, ExitError> {
    if is_stdin(name) {
        announce_stdin("results");
        // A terminal has no writer that drains.
        let grace = if io::stdin().is_terminal() { Duration::ZERO } else { grace };
        let input = InterruptiblePipe::start(|| Ok(io::stdin().lock()), interrupts, grace);
        let input = input.map_err(|error| anyhow!("reading standard input: {}", reason(&error)))?;
        return Ok(("stdin".to_owned(), Box::new(input)));
    }
    let failed = |error: io::Error| unopened(format!("open {name}: {}", reason(&error)));
    let meta = std::fs::metadata(name).map_err(failed)?;
    if meta.is_dir() {
        return Err(unopened(format!("open {name}: is a directory")));
    }
    if meta.file_type().is_fifo() {
        // Opening it waits for its writer, so what the wait would end with is found out before.
        access(name, AccessFlags::R_OK).map_err(|error| failed(error.into()))?;
        let path = name.to_owned();
        return piped(name, InterruptiblePipe::start(|| File::open(path), interrupts, grace));
    }
    let file = File::open(name).map_err(failed)?;
    if !meta.is_file() {
        return piped(name, InterruptiblePipe::start(|| Ok(file), interrupts, grace));
    }
    let interrupts = interrupts.clone();
    Ok((name.to_owned(), Box::new(InterruptibleFile { file, interrupts, has_read: false })))
}

fn piped(name: &str, input: io::Result<InterruptiblePipe>) -> Result<NamedInput, ExitError> {
    let input = input.map_err(|error| anyhow!("reading {name}: {}", reason(&error)))?;
    Ok((name.to_owned(), Box::new(input)))
}

fn unopened(text: String) -> ExitError {
    ExitError { code: ExitCode::Input, error: anyhow!(text) }
}

/// A file that ends at an interrupt.
struct InterruptibleFile {
    file: File,
    interrupts: Interrupts,
    has_read: bool,
}

impl Read for InterruptibleFile {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.interrupts.seen() > 0 {
            if !self.has_read {
                self.interrupts.end_by_signal();
            }
            return Ok(0);
        }
        self.has_read = true;
        self.file.read(buf)
    }
}

/// Standard input or a named pipe, read by a thread of its own so that an interrupt can end the wait for it.
struct InterruptiblePipe {
    chunks: Receiver<io::Result<Vec<u8>>>,
    chunk: Vec<u8>,
    at: usize,
    interrupts: Interrupts,
    /// How long after the first interrupt a silent writer is waited for: it gets the interrupt too, and drains. After the second
    /// interrupt the limit is [`SECOND_GRACE`].
    grace: Duration,
    /// When the last chunk came.
    last_chunk: Option<Instant>,
    began: Instant,
    /// When the first interrupt was noticed.
    first_interrupt: Option<Instant>,
    /// When the second interrupt was noticed.
    second_interrupt: Option<Instant>,
    over: bool,
}

/// A writer that is not silent is waited for as many times as long: its requests under way may take 30 s, their timeout.
const DRAIN_PARTS: u32 = 8;
/// The longest wait for a writer after the second interrupt.
const SECOND_GRACE: Duration = Duration::from_secs(2);
/// The most chunks of a pipe that are queued.
const CHUNKS_MAX: usize = 16;
/// Bytes read from a pipe at once.
const CHUNK_BYTES: usize = 64 << 10;

impl InterruptiblePipe {
    fn start<R: Read>(
        open: impl FnOnce() -> io::Result<R> + Send + 'static,
        interrupts: &Interrupts,
        grace: Duration,
    ) -> io::Result<Self> {
        let (sender, chunks) = sync_channel(CHUNKS_MAX);
        std::thread::Builder::new().name("pipe".to_owned()).spawn(move || match open() {
            Ok(pipe) => pump(pipe, &sender),
            // It is no longer waited for.
            Err(error) => sender.send(Err(error)).unwrap_or_default(),
        })?;
        Ok(Self::of(chunks, interrupts.clone(), grace))
    }

    fn of(chunks: Receiver<io::Result<Vec<u8>>>, interrupts: Interrupts, grace: Duration) -> Self {
        Self {
            chunks,
            chunk: Vec::new(),
            at: 0,
            interrupts,
            grace,
            last_chunk: None,
            began: Instant::now(),
            first_interrupt: None,
            second_interrupt: None,
            over: false,
        }
    }

    /// Whether the wait for more is over.
    fn is_given_up(&mut self) -> bool {
        match self.interrupts.seen() {
            0 => false,
            1 => {
                let first_interrupt = *self.first_interrupt.get_or_insert_with(Instant::now);
                let silent_since = self.last_chunk.unwrap_or(self.began).max(first_interrupt);
                first_interrupt.elapsed() >= self.grace.saturating_mul(DRAIN_PARTS)
                    || silent_since.elapsed() >= self.grace
            }
            _ => {
                let second_interrupt = self.second_interrupt.get_or_insert_with(Instant::now);
                second_interrupt.elapsed() >= self.grace.min(SECOND_GRACE)
            }
        }
    }
}

/// Reads a pipe to its end, or until the receiver is gone.
fn pump(mut pipe: impl Read, sender: &SyncSender<io::Result<Vec<u8>>>) {
    loop {
        let mut chunk = vec![0; CHUNK_BYTES];
        let message = match pipe.read(&mut chunk) {
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

impl Read for InterruptiblePipe {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        while self.at == self.chunk.len() {
            if self.over {
                return Ok(0);
            }
            if self.is_given_up() {
                if self.last_chunk.is_none() {
                    // What came before the interrupt may wait to be read.
                    let Ok(chunk) = self.chunks.try_recv() else { self.interrupts.end_by_signal() };
                    (self.chunk, self.at, self.last_chunk) = (chunk?, 0, Some(Instant::now()));
                    continue;
                }
                self.over = true;
                return Ok(0);
            }
            match self.chunks.recv_timeout(INTERRUPT_CHECK_INTERVAL) {
                Ok(chunk) => {
                    (self.chunk, self.at, self.last_chunk) = (chunk?, 0, Some(Instant::now()));
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
    use signal_hook::consts::{SIGINT, SIGTERM};

    use super::*;

    #[test]
    fn a_missing_file_is_named() {
        let interrupts = Interrupts::default();
        let names = ["/nowhere/at/all".to_owned()];
        let Err(failed) = open_results(&names, &interrupts, Duration::ZERO) else {
            panic!("opened a file that is not there");
        };
        assert_eq!(failed.to_string(), "open /nowhere/at/all: no such file or directory");
    }

    /// Issue 19: `report g g` counted each row twice.
    #[test]
    fn no_input_is_named_twice() {
        let scratch = tempfile::tempdir().unwrap();
        let dir = scratch.path().join("twice");
        std::fs::create_dir_all(&dir).unwrap();
        let [one, other, link] = ["one", "other", "link"].map(|name| dir.join(name));
        std::fs::write(&one, "1").unwrap();
        std::fs::write(&other, "1").unwrap();
        std::os::unix::fs::symlink(&one, &link).unwrap();
        let name = |path: &std::path::Path| path.display().to_string();
        let twice = |names: &[String]| named_twice(names).cloned();
        assert_eq!(twice(&[name(&one), name(&other), "missing".into(), "missing".into()]), None);
        assert_eq!(twice(&[name(&one), name(&other), name(&link)]), Some(name(&link)));
        assert_eq!(twice(&["-".into(), name(&one), "stdin".into()]), Some("stdin".into()));
        std::fs::remove_dir_all(&dir).unwrap();
    }

    /// Issue 19: it was an error of what the input holds, in the system's words.
    #[test]
    fn what_cannot_be_opened_is_no_damaged_input() {
        let scratch = tempfile::tempdir().unwrap();
        let dir = scratch.path().join("unopened");
        std::fs::create_dir_all(&dir).unwrap();
        let (socket, pipe) = (dir.join("socket"), dir.join("pipe"));
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::empty()).unwrap();
        // The superuser may read what no user may.
        let is_readable = access(&pipe, AccessFlags::R_OK).is_ok();
        let cases = [(socket, "no such device or address"), (pipe, "permission denied")];
        for (path, words) in cases.into_iter().take(if is_readable { 1 } else { 2 }) {
            let path = path.display().to_string();
            let opened =
                open_results(std::slice::from_ref(&path), &Interrupts::default(), Duration::ZERO);
            let Err(failed) = opened else { panic!("opened {path}") };
            assert_eq!(failed.to_string(), format!("open {path}: {words}"));
            assert_eq!(failed.code, ExitCode::Input);
        }
        std::fs::remove_dir_all(&dir).unwrap();
    }

    /// Issue 19: who waited for the writer of a named pipe was not stopped by the first two interrupts.
    #[test]
    fn an_interrupt_ends_a_named_pipe() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("named");
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let interrupts = Interrupts::default();
        let names = [path.display().to_string()];
        // It has no writer yet.
        let mut opened = open_results(&names, &interrupts, Duration::ZERO).unwrap();
        let mut writer = File::options().write(true).open(&path).unwrap();
        io::Write::write_all(&mut writer, b"abc").unwrap();
        let (_, pipe) = &mut opened[0];
        let mut buf = [0; 8];
        assert_eq!(pipe.read(&mut buf).unwrap(), 3);
        interrupts.count(SIGINT);
        assert_eq!(pipe.read(&mut buf).unwrap(), 0, "its writer lives on");
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn an_interrupt_ends_a_file() {
        let interrupts = Interrupts::default();
        let file = File::open("/dev/zero").unwrap();
        let mut stored =
            InterruptibleFile { file, interrupts: interrupts.clone(), has_read: false };
        let mut buf = [0; 8];
        assert_eq!(stored.read(&mut buf).unwrap(), 8);
        interrupts.count(SIGINT);
        assert_eq!(stored.read(&mut buf).unwrap(), 0);
    }

    #[test]
    fn after_the_second_interrupt_a_writer_may_still_end() {
        let (sender, chunks) = sync_channel(CHUNKS_MAX);
        let interrupts = Interrupts::default();
        let mut piped = InterruptiblePipe::of(chunks, interrupts.clone(), Duration::from_secs(60));
        interrupts.count(SIGINT);
        interrupts.count(SIGINT);
        sender.send(Ok(b"abc".to_vec())).unwrap();
        drop(sender);
        let mut all = Vec::new();
        assert_eq!((piped.read_to_end(&mut all).unwrap(), all.as_slice()), (3, &b"abc"[..]));
    }

    /// Issue 41: `vegeta report` ended at once, before the last rows came.
    #[test]
    fn a_writer_that_was_silent_may_still_end_after_an_interrupt() {
        let (sender, chunks) = sync_channel(CHUNKS_MAX);
        let interrupts = Interrupts::default();
        let mut piped = InterruptiblePipe::of(chunks, interrupts.clone(), Duration::from_secs(60));
        let long_ago = Instant::now().checked_sub(Duration::from_secs(90));
        piped.began = long_ago.unwrap_or(piped.began);
        piped.last_chunk = long_ago;
        interrupts.count(SIGINT);
        assert!(!piped.is_given_up(), "the interrupt has just come");
        sender.send(Ok(b"last".to_vec())).unwrap();
        drop(sender);
        let mut all = Vec::new();
        assert_eq!((piped.read_to_end(&mut all).unwrap(), all.as_slice()), (4, &b"last"[..]));
    }

    /// Of a writer that goes on for ever, as one that got no interrupt may, not all is waited for.
    #[test]
    fn a_writer_that_goes_on_is_given_up() {
        let (_sender, chunks) = sync_channel(CHUNKS_MAX);
        let interrupts = Interrupts::default();
        let mut piped =
            InterruptiblePipe::of(chunks, interrupts.clone(), Duration::from_millis(10));
        interrupts.count(SIGINT);
        piped.first_interrupt = Instant::now().checked_sub(Duration::from_millis(90));
        piped.last_chunk = Some(Instant::now());
        assert!(piped.first_interrupt.is_none() || piped.is_given_up());
    }

    #[test]
    fn a_pipe_ends_with_its_writer_or_after_the_grace() {
        let (sender, chunks) = sync_channel(CHUNKS_MAX);
        let interrupts = Interrupts::default();
        let mut piped = InterruptiblePipe::of(chunks, interrupts.clone(), Duration::ZERO);
        sender.send(Ok(b"abc".to_vec())).unwrap();
        let mut buf = [0; 2];
        assert_eq!((piped.read(&mut buf).unwrap(), buf), (2, *b"ab"));
        assert_eq!(piped.read(&mut buf).unwrap(), 1);
        interrupts.count(SIGTERM);
        assert_eq!(
            piped.read(&mut buf).unwrap(),
            0,
            "the writer is silent and we were asked to stop"
        );
    }
}
