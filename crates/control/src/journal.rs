//! `Journal`: the records of a run on disk, in their order. A thread of its own appends and syncs them in batches.
//!
//! ```text
//! length u32 LE | first 8 bytes of the record's SHA-256 | record in postcard's format
//! ```
//!
//! A process that was killed leaves a torn record at the end, which the next one cuts off; it never counted. The file is locked while
//! it is written: what one coordinator acknowledged is in it before another reads it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufReader, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use fleet::{FRAME_MAX, Record};
use sha2::{Digest as _, Sha256};
use stdx::private_file;
use thiserror::Error;

/// Bytes before a record.
const HEAD: usize = 12;

/// The most bytes that are written between two syncs.
const BATCH_BYTES_MAX: usize = 8 * 1024 * 1024;

/// The time between two looks whether another process has let go of the file.
const LOCK_CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// Why a journal cannot be used.
#[derive(Debug, Error)]
pub enum JournalError {
    /// The file cannot be made, read or written.
    #[error("journal {}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        error: io::Error,
    },
    /// There is a run of this name already.
    #[error("there is a run of this name already: {}", .0.display())]
    Exists(PathBuf),
    /// Another process has the file, and does not let go of it.
    #[error("another process writes the journal {}; it has to end first", .0.display())]
    Locked(PathBuf),
}

/// What became of records.
#[derive(Debug)]
pub enum JournalEvent {
    /// The journal is on disk up to this record, counted from 1.
    Written(u64),
    /// Nothing more can be written.
    Failed(io::Error),
}

/// The records of a run, being written.
#[derive(Debug)]
pub struct Journal {
    /// What the coordinator takes of each agent before the command has it is bounded by its quota, and so is this queue.
    records: Sender<Vec<u8>>,
}

impl Journal {
    /// Begins the journal of a new run. `notify` is called on the journal's thread.
    ///
    /// # Errors
    /// The file exists, or cannot be made.
    pub fn create(
        path: &Path,
        notify: impl FnMut(JournalEvent) + Send + 'static,
    ) -> Result<Self, JournalError> {
        let made = OpenOptions::new().append(true).create_new(true).mode(0o600).open(path);
        let file = made.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => JournalError::Exists(path.to_owned()),
            _ => JournalError::File { path: path.to_owned(), error },
        })?;
        lock(&file, path, Duration::ZERO)?;
        Ok(Self::start(file, 0, notify))
    }

    /// Goes on with a journal: its records, and the journal to append to. A torn record at its end is cut off. A process that still
    /// writes the file may take the time `within` to end.
    ///
    /// # Errors
    /// The file cannot be read or cut, or another process writes it.
    pub fn resume(
        path: &Path,
        within: Duration,
        notify: impl FnMut(JournalEvent) + Send + 'static,
    ) -> Result<(Self, Vec<Record>), JournalError> {
        let failed = |error| JournalError::File { path: path.to_owned(), error };
        check(path).map_err(failed)?;
        let file = OpenOptions::new().append(true).open(path).map_err(failed)?;
        lock(&file, path, within)?;
        let (records, len) = read(path).map_err(failed)?;
        file.set_len(len).and_then(|()| file.sync_data()).map_err(failed)?;
        let journal = Self::start(file, records.len() as u64, notify);
        Ok((journal, records))
    }

    /// Appends a record; the journal's thread says when it is on disk.
    pub fn append(&self, record: &Record) {
        let frame = frame(record);
        // Its thread ended only where a write failed, and has said so.
        self.records.send(frame).ok();
    }

    fn start(file: File, written: u64, notify: impl FnMut(JournalEvent) + Send + 'static) -> Self {
        let (records, queue) = channel();
        thread::spawn(move || write(file, &queue, written, notify));
        Self { records }
    }
}

/// Refuses a journal that another user may have put there.
fn check(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), private_file::check_folder)
}

/// Locks the file for this process, as soon as another lets go of it.
fn lock(file: &File, path: &Path, within: Duration) -> Result<(), JournalError> {
    let until = Instant::now() + within;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if Instant::now() < until => {
                thread::sleep(LOCK_CHECK_INTERVAL);
            }
            Err(TryLockError::WouldBlock) => return Err(JournalError::Locked(path.to_owned())),
            Err(TryLockError::Error(error)) => {
                return Err(JournalError::File { path: path.to_owned(), error });
            }
        }
    }
}

/// Writes what waits, syncs it, and says so, until the journal is dropped.
fn write(
    mut file: File,
    queue: &Receiver<Vec<u8>>,
    mut written: u64,
    mut notify: impl FnMut(JournalEvent),
) {
    while let Ok(mut batch) = queue.recv() {
        let mut records = 1;
        while batch.len() < BATCH_BYTES_MAX
            && let Ok(more) = queue.try_recv()
        {
            batch.extend_from_slice(&more);
            records += 1;
        }
        if let Err(error) = file.write_all(&batch).and_then(|()| file.sync_data()) {
            notify(JournalEvent::Failed(error));
            return;
        }
        written += records;
        notify(JournalEvent::Written(written));
    }
}

fn frame(record: &Record) -> Vec<u8> {
    let body = postcard::to_allocvec(record).expect("a record in memory has no failing part");
    let mut frame = Vec::with_capacity(HEAD + body.len());
    frame.extend_from_slice(&(body.len() as u32).to_le_bytes());
    frame.extend_from_slice(&Sha256::digest(&body)[..8]);
    frame.extend_from_slice(&body);
    frame
}

/// The records of a file, and its length up to the last whole one.
fn read(path: &Path) -> io::Result<(Vec<Record>, u64)> {
    let mut from = BufReader::new(File::open(path)?);
    let (mut records, mut len) = (Vec::new(), 0);
    while let Some((record, bytes)) = read_record(&mut from)? {
        records.push(record);
        len += bytes;
    }
    Ok((records, len))
}

/// The next record with its bytes; `None` at the end, or where the bytes are no whole record.
fn read_record(from: &mut impl Read) -> io::Result<Option<(Record, u64)>> {
    let mut head = Vec::new();
    from.by_ref().take(HEAD as u64).read_to_end(&mut head)?;
    let Some((len, sum)) = head.split_first_chunk::<4>() else { return Ok(None) };
    let len = u64::from(u32::from_le_bytes(*len));
    if len > RECORD_MAX {
        return Ok(None);
    }
    let mut body = Vec::new();
    from.by_ref().take(len).read_to_end(&mut body)?;
    let is_whole = body.len() as u64 == len && Sha256::digest(&body)[..8] == *sum;
    let record = is_whole.then(|| postcard::from_bytes(&body).ok()).flatten();
    Ok(record.map(|record| (record, HEAD as u64 + len)))
}

/// The largest record that is read: a delta with the largest payload, or the shares of the largest fleet, has room in it.
const RECORD_MAX: u64 = 64 * FRAME_MAX as u64;

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use fleet::{Counts, Delta, Name, Seq};
    use stdx::Nanos;

    use super::*;
    use crate::scratch::Scratch;

    fn records() -> Vec<Record> {
        let counts = Counts { planned: 5, answered: 5, failed: 0, not_sent: 0 };
        let delta = Delta {
            seq: Seq(1),
            from: Nanos(0),
            to: Nanos(1),
            counts,
            totals: counts,
            payload: vec![7; 1000],
            payloads_lost: 0,
            last: true,
        };
        let agent = Name::new("a").unwrap();
        vec![
            Record::Started { at: Nanos(1) },
            Record::Delta { agent, delta },
            Record::Stopping { cause: "enough".to_owned() },
        ]
    }

    /// Writes all records and waits until they are on disk.
    fn write_all(path: &Path) {
        let (sender, events) = mpsc::sync_channel(64);
        let journal = Journal::create(path, move |event| sender.send(event).unwrap()).unwrap();
        records().iter().for_each(|record| journal.append(record));
        while let Ok(event) = events.recv_timeout(Duration::from_secs(10)) {
            match event {
                JournalEvent::Written(3) => return,
                JournalEvent::Written(_) => {}
                JournalEvent::Failed(error) => panic!("{error}"),
            }
        }
        panic!("not written");
    }

    /// Goes on with a journal; its last writer may have yet to end.
    fn resume(path: &Path) -> (Journal, Vec<Record>) {
        Journal::resume(path, Duration::from_secs(10), |_| {}).unwrap()
    }

    #[test]
    fn a_journal_has_one_writer() {
        let dir = Scratch::new("journal-locked");
        let path = dir.path().join("journal");
        let first = Journal::create(&path, |_| {}).unwrap();
        let refused = Journal::resume(&path, Duration::ZERO, |_| {}).unwrap_err();
        assert!(matches!(refused, JournalError::Locked(_)), "{refused}");
        records().iter().for_each(|record| first.append(record));
        drop(first);
        assert_eq!(resume(&path).1, records(), "all that was appended");
    }

    #[test]
    fn records_come_back_and_the_run_is_not_begun_twice() {
        let dir = Scratch::new("journal");
        let path = dir.path().join("journal");
        write_all(&path);
        let (sender, events) = mpsc::sync_channel(64);
        let notify = move |event| sender.send(event).unwrap();
        let (journal, read) = Journal::resume(&path, Duration::from_secs(10), notify).unwrap();
        assert_eq!(read, records());
        journal.append(&Record::Over);
        let event = events.recv_timeout(Duration::from_secs(10)).unwrap();
        assert!(matches!(event, JournalEvent::Written(4)), "{event:?}");
        assert!(matches!(Journal::create(&path, |_| {}), Err(JournalError::Exists(_))));
    }

    #[test]
    fn a_torn_record_is_cut_off_at_any_byte() {
        let dir = Scratch::new("journal-torn");
        let path = dir.path().join("journal");
        write_all(&path);
        let whole = std::fs::read(&path).unwrap();
        let last = frame(&records()[2]).len();
        for cut in 1..=last {
            std::fs::write(&path, &whole[..whole.len() - cut]).unwrap();
            let (_, read) = resume(&path);
            assert_eq!(read, records()[..2], "{cut} bytes are missing");
            assert_eq!(std::fs::metadata(&path).unwrap().len(), (whole.len() - last) as u64);
        }
    }

    #[test]
    fn a_damaged_record_ends_the_journal() {
        let dir = Scratch::new("journal-damaged");
        let path = dir.path().join("journal");
        write_all(&path);
        let mut bytes = std::fs::read(&path).unwrap();
        let second = frame(&records()[0]).len();
        bytes[second + HEAD + 500] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        let (_, read) = resume(&path);
        assert_eq!(read, records()[..1]);
    }
}
