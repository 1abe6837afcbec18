//! A reader on a thread of its own gives what the reader gives.

use std::io::{self, Cursor, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use metrics::{Batch, Generator};
use results::{Encoding, Item, ReadAhead, ReadError, Reader};

use crate::rows::{Flat, encode, flatten, plain};

/// What is read of inputs.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    rows: Vec<Flat>,
    /// What is no row, after how many rows.
    items: Vec<(usize, Item)>,
    error: Option<String>,
    losses: Vec<String>,
    spans: Vec<(i64, i64, i64)>,
}

impl Seen {
    /// Takes a step in; gives whether another may follow.
    fn take(
        &mut self,
        step: Result<Option<Item>, ReadError>,
        rows: impl FnOnce() -> Vec<Flat>,
    ) -> bool {
        match step {
            Ok(Some(Item::Hits)) => self.rows.extend(rows()),
            Ok(Some(item)) => self.items.push((self.rows.len(), item)),
            Ok(None) => return false,
            Err(error) => {
                self.error = Some(error.to_string());
                return false;
            }
        }
        true
    }
}

fn open(inputs: &[&[u8]]) -> Result<Reader, ReadError> {
    let named = inputs.iter().enumerate().map(|(at, bytes)| -> results::Input {
        (format!("in{at}"), Box::new(Cursor::new(bytes.to_vec())))
    });
    Reader::open(named.collect())
}

fn at_once(mut reader: Reader) -> Seen {
    let (mut seen, mut batch) = (Seen::default(), Batch::default());
    loop {
        let step = reader.next(&mut batch);
        if !seen.take(step, || flatten(&batch, reader.targets())) {
            break;
        }
    }
    (seen.losses, seen.spans) = (reader.losses().to_vec(), reader.spans());
    seen
}

fn ahead(reader: Reader) -> Seen {
    let mut reader = ReadAhead::start(reader).unwrap();
    let (mut seen, mut batch) = (Seen::default(), Batch::default());
    loop {
        let step = reader.next(&mut batch);
        if !seen.take(step, || flatten(&batch, reader.targets())) {
            break;
        }
    }
    assert_eq!(reader.next(&mut batch).unwrap(), None);
    assert!(batch.samples.is_empty());
    (seen.losses, seen.spans) = (reader.losses().to_vec(), reader.spans());
    seen
}

#[test]
fn all_that_is_read_is_what_the_reader_reads() {
    let generator = Generator { workers: 1, planned: 9, sent: 9, ..Generator::default() };
    for encoding in Encoding::ALL {
        let whole = encode(encoding, &[plain(9_000, 0), plain(5, 90_000)], Some(&generator));
        let other = encode(Encoding::Gob, &[plain(700, 30)], None);
        let mut damaged = whole.clone();
        let middle = damaged.len() / 2;
        damaged[middle..middle + 40].fill(0xff);
        let cut = &whole[..whole.len() - 3];
        for inputs in [&[&whole[..]][..], &[&whole, &other], &[cut], &[&damaged]] {
            match (open(inputs), open(inputs)) {
                (Ok(one), Ok(same)) => assert_eq!(ahead(one), at_once(same), "{encoding:?}"),
                // Parquet is damaged at its end.
                (one, _) => assert_eq!((one.is_err(), encoding), (true, Encoding::Parquet)),
            }
        }
    }
}

/// An input that does something at its end, and says when it is dropped.
struct Endless<F: FnMut(&mut Cursor<Vec<u8>>)> {
    bytes: Cursor<Vec<u8>>,
    at_end: F,
    dropped: Sender<()>,
}

impl<F: FnMut(&mut Cursor<Vec<u8>>)> Read for Endless<F> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.bytes.read(into)? {
            0 => {
                (self.at_end)(&mut self.bytes);
                self.bytes.read(into)
            }
            some => Ok(some),
        }
    }
}

impl<F: FnMut(&mut Cursor<Vec<u8>>)> Drop for Endless<F> {
    fn drop(&mut self) {
        self.dropped.send(()).ok();
    }
}

#[test]
fn the_thread_ends_with_its_owner() {
    let (dropped, is_dropped) = channel();
    let bytes = Cursor::new(encode(Encoding::Json, &[plain(500, 0)], None));
    let input =
        Endless { bytes, at_end: |bytes: &mut Cursor<Vec<u8>>| bytes.set_position(0), dropped };
    let input: Box<dyn Read + Send> = Box::new(input);
    let reader = Reader::open(vec![("in".to_owned(), input)]).unwrap();
    let mut reader = ReadAhead::start(reader).unwrap();
    let mut batch = Batch::default();
    for _ in 0..3 {
        assert_eq!(reader.next(&mut batch).unwrap(), Some(Item::Hits));
    }
    drop(reader);
    is_dropped.recv_timeout(Duration::from_secs(20)).expect("the input was dropped by the thread");
}

#[test]
fn a_panic_of_the_thread_is_no_end() {
    let (dropped, _is_dropped) = channel();
    let bytes = Cursor::new(encode(Encoding::Json, &[plain(5, 0)], None));
    let at_end = |_: &mut Cursor<Vec<u8>>| panic!("as a decoder might");
    let input: Box<dyn Read + Send> = Box::new(Endless { bytes, at_end, dropped });
    let reader = Reader::open(vec![("in".to_owned(), input)]).unwrap();
    let mut reader = ReadAhead::start(reader).unwrap();
    let mut batch = Batch::default();
    assert_eq!(reader.next(&mut batch).unwrap(), Some(Item::Hits));
    let next = catch_unwind(AssertUnwindSafe(|| reader.next(&mut batch)));
    assert!(next.is_err(), "what was read is not all");
}
