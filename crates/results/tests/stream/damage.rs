//! Streams cut off anywhere, and foreign bytes: rows before the damage are read, nothing panics.

use proptest::prelude::*;
use results::{Encoding, ReadError};

use crate::rows::{decode, encode, plain};

/// Three flushes of five rows each.
fn stream(encoding: Encoding) -> Vec<u8> {
    encode(encoding, &[plain(5, 0), plain(5, 1000), plain(5, 2000)], None)
}

#[test]
fn arrow_cut_off_anywhere_loses_only_its_tail() {
    let whole = stream(Encoding::Arrow);
    let all = decode(&[&whole]).rows;
    assert_eq!(all.len(), 15);
    let mut most = 0;
    for len in 0..whole.len() {
        let found = decode(&[&whole[..len]]);
        if len < 4 {
            match found.error {
                Some(ReadError::Empty { .. }) => assert_eq!(len, 0),
                Some(ReadError::Detect { .. }) => assert!(len > 0),
                other => panic!("{len}: {other:?}"),
            }
            continue;
        }
        assert!(found.error.is_none(), "{len}: {:?}", found.error);
        assert_eq!(found.losses.len(), 1, "{len}");
        assert_eq!(found.rows.len() % 5, 0);
        assert!(found.rows.len() >= most && all.starts_with(&found.rows), "{len}");
        most = found.rows.len();
    }
    assert_eq!(most, 15);
}

#[test]
fn records_cut_off_anywhere_lose_only_the_last() {
    for encoding in [Encoding::Json, Encoding::Gob, Encoding::Csv] {
        let whole = stream(encoding);
        let all = decode(&[&whole]).rows;
        let mut most = 0;
        for len in 0..whole.len() {
            let found = decode(&[&whole[..len]]);
            match found.error {
                Some(ReadError::Empty { .. }) => assert_eq!(len, 0, "{encoding:?}"),
                Some(ReadError::Detect { .. }) => assert_eq!(most, 0, "{encoding:?} {len}"),
                None => {
                    assert!(found.rows.len() >= most, "{encoding:?} {len}");
                    // A last CSV line may end within a field and still be a row.
                    let sure = found.rows.len().saturating_sub(1);
                    assert_eq!(found.rows[..sure], all[..sure], "{encoding:?} {len}");
                    most = found.rows.len();
                }
                Some(error) => panic!("{encoding:?} {len}: {error}"),
            }
        }
        assert!(most >= 14, "{encoding:?}");
    }
}

#[test]
fn parquet_cut_off_is_an_error() {
    let whole = stream(Encoding::Parquet);
    for len in (8..whole.len()).step_by(97) {
        assert!(decode(&[&whole[..len]]).error.is_some(), "{len}");
    }
}

/// Rows are those that were written, or the stream is said to be damaged, or to be cut off.
#[test]
fn no_flipped_byte_of_ours_goes_unseen() {
    for encoding in [Encoding::Arrow, Encoding::Parquet] {
        let whole = stream(encoding);
        let expect = format!("{:?}", decode(&[&whole]).rows);
        let mut unseen = Vec::new();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (at % 8);
            let found = decode(&[&bytes]);
            let is_seen = found.error.is_some() || !found.losses.is_empty();
            if !is_seen && format!("{:?}", found.rows) != expect {
                unseen.push(at);
            }
        }
        assert!(unseen.is_empty(), "{unseen:?} in {encoding:?} of {} bytes", whole.len());
    }
}

#[test]
fn hostile_lengths_are_refused_before_they_cost_memory() {
    let mut arrow = vec![0xff; 4];
    arrow.extend_from_slice(&u32::MAX.to_le_bytes()[..3]);
    arrow.extend_from_slice(&[0x7f, 1, 2, 3]);
    assert!(matches!(decode(&[&arrow]).error, Some(ReadError::TooLarge { .. })));
    let mut gob = stream(Encoding::Gob);
    gob.extend_from_slice(&[0xf8, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0]);
    let found = decode(&[&gob]);
    assert!(matches!(found.error, Some(ReadError::Corrupt { .. })), "{:?}", found.error);
    assert_eq!(found.rows.len(), 15);
}

#[test]
fn wrong_records_are_named_by_their_place() {
    let mut csv = stream(Encoding::Csv);
    let at = csv.len();
    csv.extend_from_slice(b"1,two,3,4,5,,,,6,GET,http://h/,\n");
    let error = decode(&[&csv]).error.map(|error| error.to_string());
    let expect = format!(
        "reading \"in0\" as csv: at byte {at}: column 2 (code): \"two\" is no number that fits"
    );
    assert_eq!(error, Some(expect));
    let mut json = stream(Encoding::Json);
    json.extend_from_slice(b"{\"seq\":-1}\n");
    let found = decode(&[&json]);
    assert!(found.error.is_some() && found.rows.len() == 15);
}

#[test]
fn json_is_read_leniently() {
    let text = b"\n{\"code\":200,\"timestamp\":\"2023-11-14T23:13:20.5+01:00\",\"later\":[1]}\n\
        {\"attack\":null,\"seq\":1,\"headers\":null,\"body\":null,\"latency\":5}";
    let found = decode(&[text]);
    assert!(found.error.is_none(), "{:?}", found.error);
    assert_eq!(found.rows.len(), 2);
    assert_eq!(found.rows[0].intended, 1_700_000_000_500_000_000);
    assert_eq!((found.rows[1].seq, found.rows[1].offsets[2]), (1, 5));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn random_bytes_never_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..400), start in 0..6usize) {
        let starts: [&[u8]; 6] = [b"", &[0xff; 4], b"PAR1", b"{\"seq\":1}\n", b"1,200,3,4,5,,,,6,GET,u,\n", &[]];
        bytes.splice(0..0, starts[start].iter().copied());
        decode(&[&bytes]);
    }

    #[test]
    fn damaged_streams_never_panic(which in 0..5usize, hits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut bytes = stream(Encoding::ALL[which]);
        for (at, value) in hits {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        decode(&[&bytes]);
    }
}

/// Issue 19: a line that came whole in one piece was read, whatever its length.
#[test]
fn no_record_is_longer_than_its_limit() {
    let row = |body: usize| {
        let body = "QUFB".repeat(body / 4);
        format!("1600000000000000000,200,1000000,0,10,,{body},x,0,GET,http://h/,\n")
    };
    let longest = row((64 << 20) - 64);
    assert_eq!(decode(&[longest.as_bytes()]).rows.len(), 1);
    let input = row(8) + &row(64 << 20);
    let found = decode(&[input.as_bytes()]);
    assert_eq!(found.rows.len(), 1, "what came before it");
    let error = found.error.unwrap();
    assert!(matches!(error, ReadError::TooLarge { len, .. } if len > 64 << 20), "{error}");
}
