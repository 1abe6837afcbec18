//! A reader on a thread of its own gives what the reader gives.

use std::io::{self, Cursor, Read};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use metrics::Batch;
use results::{Encoding, Item, ReadAhead, Reader};

use crate::rows::{Flat, decode, encode, flatten, plain};

/// The rows, losses and the error of these inputs.
fn ahead(inputs: &[&[u8]]) -> (Vec<Flat>, Vec<String>, Option<String>) {
    let named = inputs.iter().enumerate().map(|(at, bytes)| {
        let input: Box<dyn Read + Send> = Box::new(Cursor::new(bytes.to_vec()));
        (format!("in{at}"), input)
    });
    let reader = match Reader::open(named.collect()) {
        Ok(reader) => reader,
        Err(error) => return (Vec::new(), Vec::new(), Some(error.to_string())),
    };
    let mut reader = ReadAhead::start(reader).unwrap();
    let (mut batch, mut rows) = (Batch::default(), Vec::new());
    let error = loop {
        match reader.next(&mut batch) {
            Ok(Some(Item::Hits)) => rows.extend(flatten(&batch, reader.targets())),
            Ok(Some(_)) => {}
            Ok(None) => break None,
            Err(error) => break Some(error.to_string()),
        }
    };
    assert_eq!(reader.next(&mut batch).unwrap(), None);
    assert!(batch.samples.is_empty());
    (rows, reader.losses().to_vec(), error)
}

#[test]
fn rows_losses_and_errors_are_those_of_the_reader() {
    for encoding in Encoding::ALL {
        let whole = encode(encoding, &[plain(9_000, 0), plain(5, 90_000)], None);
        let other = encode(Encoding::Gob, &[plain(700, 30)], None);
        let mut damaged = whole.clone();
        let middle = damaged.len() / 2;
        damaged[middle..middle + 40].fill(0xff);
        let cut = &whole[..whole.len() - 3];
        for inputs in [&[&whole[..]][..], &[&whole, &other], &[cut], &[&damaged]] {
            let expected = decode(inputs);
            let error = expected.error.map(|error| error.to_string());
            assert_eq!(ahead(inputs), (expected.rows, expected.losses, error), "{encoding:?}");
        }
    }
}

/// An input that begins anew at its end, and says when it is dropped.
struct Endless(Cursor<Vec<u8>>, Sender<()>);

impl Read for Endless {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.0.read(into)? {
            0 => {
                self.0.set_position(0);
                self.0.read(into)
            }
            some => Ok(some),
        }
    }
}

impl Drop for Endless {
    fn drop(&mut self) {
        self.1.send(()).unwrap();
    }
}

#[test]
fn the_thread_ends_with_its_owner() {
    let (dropped, is_dropped) = channel();
    let stream = encode(Encoding::Json, &[plain(500, 0)], None);
    let input: Box<dyn Read + Send> = Box::new(Endless(Cursor::new(stream), dropped));
    let reader = Reader::open(vec![("in".to_owned(), input)]).unwrap();
    let mut reader = ReadAhead::start(reader).unwrap();
    let mut batch = Batch::default();
    for _ in 0..3 {
        assert_eq!(reader.next(&mut batch).unwrap(), Some(Item::Hits));
    }
    drop(reader);
    is_dropped.recv_timeout(Duration::from_secs(20)).expect("the input was dropped by the thread");
}
