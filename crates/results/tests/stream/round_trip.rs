//! What is written is read again: everything in the native encodings, Vegeta's fields in Vegeta's.

use std::io;

use metrics::{Batch, FailureKind, Generator, Sample};
use proptest::prelude::*;
use results::{Detail, Encoding};
use stdx::Nanos;

use crate::rows::{EPOCH, Flat, batch, decode, encode, flatten, info, plain, targets};

/// The rows as written; rows without a target are of the stream's attack.
fn written(batches: &[Batch]) -> Vec<Flat> {
    let mut rows: Vec<Flat> = batches.iter().flat_map(|batch| flatten(batch, &targets())).collect();
    for row in rows.iter_mut().filter(|row| row.asked[2].starts_with("http://lazy/")) {
        row.asked[0] = info().attack;
    }
    rows
}

fn check(encoding: Encoding, batches: &[Batch]) {
    let found = decode(&[&encode(encoding, batches, None)]);
    assert!(found.error.is_none(), "{:?}", found.error);
    assert_eq!(found.losses, Vec::<String>::new());
    assert_eq!(found.forms, [encoding]);
    let (mut rows, mut expect) = (found.rows, written(batches));
    if !encoding.is_native() {
        // The kind of failure is in the text only.
        rows.iter_mut().for_each(|row| row.failure = FailureKind::None);
        expect.iter_mut().for_each(|row| *row = row.vegeta());
    }
    assert_eq!(rows, expect);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_encoding(batches in prop::collection::vec(batch(20), 1..4)) {
        for encoding in Encoding::ALL {
            check(encoding, &batches);
        }
    }
}

#[test]
fn many_messages() {
    let batches: Vec<Batch> = (0..12).map(|i| plain(10_000, i * 10_000)).collect();
    for encoding in Encoding::ALL {
        check(encoding, &batches);
    }
}

#[test]
fn generator_records_keep_their_place() {
    let mut generator = Generator { planned: 10, sent: 10, finished: true, ..Generator::default() };
    generator.lag.record(Nanos(1234));
    for encoding in [Encoding::Arrow, Encoding::Parquet] {
        let found = decode(&[&encode(encoding, &[plain(10, 0)], Some(&generator))]);
        assert_eq!(found.generators, [generator.clone()], "{encoding:?}");
        assert_eq!((found.rows.len(), found.detail), (10, Some(Detail::Full)));
    }
}

/// An input that gives these pieces, at most one a read.
struct Pieces {
    pieces: std::vec::IntoIter<Vec<u8>>,
    /// What a read of fewer bytes left of a piece.
    rest: Vec<u8>,
}

impl io::Read for Pieces {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.rest.is_empty() {
            self.rest = self.pieces.next().unwrap_or_default();
        }
        let taken = self.rest.len().min(into.len());
        into[..taken].copy_from_slice(&self.rest[..taken]);
        self.rest.drain(..taken);
        Ok(taken)
    }
}

#[test]
fn of_several_generator_records_the_last_that_is_here_is_given() {
    let out = crate::rows::Shared::default();
    let mut writer = results::writer(Encoding::Arrow, Box::new(out.clone()), &info()).unwrap();
    let mut pieces = Vec::new();
    for sent in 1..=3 {
        writer.batch(&plain(5, 0), &targets()).unwrap();
        writer.generator(&Generator { sent, ..Generator::default() }).unwrap();
        writer.flush().unwrap();
        pieces.push(std::mem::take(&mut *out.0.lock().unwrap()));
    }
    // Also where the stream is cut off.
    for (end, losses) in [(true, 0), (false, 1)] {
        let mut pieces = pieces.clone();
        if end {
            pieces.push(vec![0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
        }
        let found = decode(&[&pieces.concat()]);
        assert_eq!(found.generators.iter().map(|g| g.sent).collect::<Vec<_>>(), [3]);
        assert_eq!((found.rows.len(), found.losses.len()), (15, losses));
        // Of a live pipe each is given before the next piece is waited for.
        let input: results::Input = {
            let pipe = Pieces { pieces: pieces.into_iter(), rest: Vec::new() };
            ("pipe".to_owned(), Box::new(pipe))
        };
        let mut reader = results::Reader::open(vec![input]).unwrap();
        let (mut batch, mut seen) = (Batch::default(), Vec::new());
        while let Some(item) = reader.next(&mut batch).unwrap() {
            seen.push(match item {
                results::Item::Generator { generator, .. } => generator.sent,
                _ => 0,
            });
        }
        assert_eq!(seen, [0, 1, 0, 2, 0, 3]);
    }
    // Where the rest is damaged, the record before the damage is not lost with it.
    let last = pieces[2].len() / 2;
    pieces[2][last] ^= 1;
    let found = decode(&[&pieces.concat()]);
    assert!(found.error.is_some());
    assert_eq!(found.generators.iter().map(|g| g.sent).collect::<Vec<_>>(), [2]);
    assert_eq!(found.rows.len(), 10);
}

#[test]
fn unknown_times_stay_unknown() {
    let info = results::StreamInfo { detail: Detail::StartAndEnd, ..info() };
    for encoding in [Encoding::Arrow, Encoding::Parquet] {
        let out = crate::rows::Shared::default();
        let mut writer = results::writer(encoding, Box::new(out.clone()), &info).unwrap();
        writer.batch(&plain(5, 0), &targets()).unwrap();
        writer.finish().unwrap();
        let found = decode(&[&out.0.lock().unwrap()]);
        assert_eq!(found.detail, Some(Detail::StartAndEnd), "{encoding:?}");
        assert_eq!(found.rows[0].offsets, [0, 600_000, 600_000]);
    }
}

#[test]
fn more_texts_than_a_dictionary_holds() {
    let mut batch = Batch { epoch: EPOCH, ..Batch::default() };
    for seq in 0..40_000u64 {
        let error = batch.add_text(format!("read tcp 127.0.0.1:{seq}: reset").as_bytes());
        let line = batch.add_text(format!("GET http://lazy/{seq}").as_bytes());
        let target = metrics::NO_TARGET;
        batch.samples.push(Sample { seq, error, line, target, ..Sample::default() });
    }
    check(Encoding::Arrow, &[batch]);
}

/// A batch of them is handed out before its texts are too long, in the midst of a block.
#[test]
fn hits_with_long_texts() {
    let mut batch = plain(100, 0);
    for at in 0..batch.samples.len() {
        let body = vec![at as u8; 300 << 10];
        batch.samples[at].body = batch.add_text(&body);
    }
    check(Encoding::Arrow, &[batch]);
}

#[test]
fn streams_one_after_the_other_are_one() {
    for encoding in [Encoding::Arrow, Encoding::Csv, Encoding::Json, Encoding::Gob] {
        let [one, two] = [plain(5, 0), plain(7, 100)];
        let both = [encode(encoding, &[one], None), encode(encoding, &[two], None)].concat();
        let found = decode(&[&both]);
        assert!(found.error.is_none(), "{:?}", found.error);
        assert_eq!((found.rows.len(), found.losses.len()), (12, 0), "{encoding:?}");
    }
}
