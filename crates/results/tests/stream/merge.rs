//! Several inputs, and inputs that come slowly.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, channel};

use metrics::{Batch, Generator};
use results::{Encoding, Item, ReadError, Reader};

use crate::rows::{decode, encode, plain, targets};

#[test]
fn several_inputs_come_in_order_of_time() {
    let inputs: Vec<Vec<u8>> = Encoding::ALL
        .into_iter()
        .enumerate()
        .map(|(i, encoding)| encode(encoding, &[plain(3_000 + i as u64, 7 * i as u64)], None))
        .collect();
    let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
    let found = decode(&inputs);
    assert!(found.error.is_none(), "{:?}", found.error);
    assert_eq!(found.rows.len(), 15_010);
    assert_eq!(found.forms, Encoding::ALL);
    let ends: Vec<i128> =
        found.rows.iter().map(|row| row.intended + i128::from(row.offsets[2])).collect();
    assert!(ends.is_sorted());
    assert_eq!(decode(&inputs).rows, found.rows);
}

#[test]
fn generators_of_streams_one_after_the_other_add_up() {
    let ran = |not_sent| Generator {
        workers: 1,
        planned: 5 + not_sent,
        sent: 5,
        not_sent,
        finished: true,
        ..Generator::default()
    };
    let one = |not_sent| encode(Encoding::Arrow, &[plain(5, 0)], Some(&ran(not_sent)));
    let found = decode(&[&[one(3), one(0), one(0)].concat()]);
    assert_eq!((found.rows.len(), &found.losses[..]), (15, &[][..]));
    let counts: Vec<_> = found.generators.iter().map(|g| (g.planned, g.sent, g.not_sent)).collect();
    assert_eq!(counts, [(8, 5, 3), (13, 10, 3), (18, 15, 3)]);
}

#[test]
fn what_follows_a_stream_and_is_none_is_reported() {
    let arrow = encode(Encoding::Arrow, &[plain(5, 0)], None);
    let found = decode(&[&[&arrow[..], &encode(Encoding::Gob, &[plain(5, 0)], None)].concat()]);
    assert_eq!(found.rows.len(), 5);
    assert_eq!(found.losses, ["\"in0\" is followed by bytes that are no Arrow stream"]);
    assert!(decode(&[&arrow]).losses.is_empty());
}

#[test]
fn empty_and_foreign_inputs_are_named() {
    let good = encode(Encoding::Gob, &[plain(1, 0)], None);
    let foreign: [&[u8]; 6] =
        [b"x", b"\n\n", b"GET http://h/\n", b"{\"method\":\"GET\"}\n", b"1,2,3\n", &[0x80; 40]];
    for bytes in foreign {
        let found = decode(&[&good, bytes]);
        let Some(ReadError::Detect { input }) = &found.error else { panic!("{found:?}") };
        assert_eq!(input, "in1");
    }
    let found = decode(&[&good, b""]);
    assert!(
        matches!(&found.error, Some(ReadError::Empty { input }) if input == "in1"),
        "{found:?}"
    );
}

/// Gives what is sent to it, at most one piece a read; a read without a piece is a test failure, since it would block.
struct Pieces {
    pieces: Receiver<Vec<u8>>,
    /// What a read of fewer bytes left of a piece.
    rest: Vec<u8>,
}

impl Read for Pieces {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.rest.is_empty() {
            self.rest = self.pieces.try_recv().map_err(|_| io::Error::other("would block"))?;
        }
        let taken = self.rest.len().min(to.len());
        to[..taken].copy_from_slice(&self.rest[..taken]);
        self.rest.drain(..taken);
        Ok(taken)
    }
}

#[test]
fn rows_are_handed_out_as_soon_as_they_are_whole() {
    for encoding in [Encoding::Arrow, Encoding::Csv, Encoding::Json, Encoding::Gob] {
        let out = crate::rows::Shared::default();
        let mut writer =
            results::writer(encoding, Box::new(out.clone()), &crate::rows::info()).unwrap();
        let (send, receive) = channel();
        let mut reader = None;
        let mut receive = Some(receive);
        let mut batch = Batch::default();
        for second in 0..3 {
            writer.batch(&plain(4, second * 1000), &targets()).unwrap();
            writer.flush().unwrap();
            send.send(std::mem::take(&mut *out.0.lock().unwrap())).unwrap();
            let reader = reader.get_or_insert_with(|| {
                let pipe = Pieces { pieces: receive.take().unwrap(), rest: Vec::new() };
                Reader::open(vec![("pipe".into(), Box::new(pipe))]).unwrap()
            });
            assert_eq!(reader.next(&mut batch).unwrap(), Some(Item::Hits), "{encoding:?}");
            assert_eq!(batch.samples.len(), 4, "{encoding:?}");
        }
    }
}
