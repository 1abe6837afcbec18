//! Golden files. `vegeta.gob` was written by Go 1.26's `encoding/gob` from Vegeta's struct; the other two are what Vegeta's
//! documented forms demand of the same rows.

use results::Encoding;

use crate::rows::{Flat, Shared, decode};

const GOB: &[u8] = include_bytes!("../golden/vegeta.gob");
const CSV: &[u8] = include_bytes!("../golden/vegeta.csv");
const JSON: &[u8] = include_bytes!("../golden/vegeta.json");

#[test]
fn the_three_are_equal() {
    let rows = decode(&[GOB]).rows;
    assert_eq!(rows.len(), 3);
    let second = Flat {
        seq: 1,
        intended: 1_700_000_000_143_456_789,
        offsets: [0, 30_000_000_000, 30_000_000_000],
        sizes: [7, 0, 0],
        failure: metrics::FailureKind::Eof,
        asked: ["first", "POST", "http://127.0.0.1:8090/a?b=1&c=<2>", "", ""].map(String::from),
        texts: [b"Get \"http://127.0.0.1:8090/\": EOF".to_vec(), vec![], vec![]],
        ..Flat::default()
    };
    assert_eq!(rows[1], second);
    assert_eq!(rows[2].texts[2], b"Set-Cookie: a=1\r\nSet-Cookie: b=2\r\n");
    assert_eq!(decode(&[CSV]).rows, rows);
    assert_eq!(decode(&[JSON]).rows, rows);
}

/// Reads `from` and writes it again.
fn again(from: &[u8], to: Encoding) -> Vec<u8> {
    let out = Shared::default();
    let mut reader =
        results::Reader::open(vec![("in".into(), Box::new(std::io::Cursor::new(from.to_vec())))])
            .unwrap();
    let info = results::StreamInfo::default();
    let mut writer = results::writer(to, Box::new(out.clone()), &info).unwrap();
    let mut batch = metrics::Batch::default();
    while reader.next(&mut batch).unwrap().is_some() {
        writer.batch(&batch, reader.targets()).unwrap();
    }
    writer.finish().unwrap();
    let bytes = out.0.lock().unwrap();
    bytes.clone()
}

/// Files of other implementations read as the CSV of the same rows; our encodings of them read the same.
#[test]
fn arrow_and_parquet_of_others_are_read() {
    const CSV: &[u8] = include_bytes!("../golden/columns/rust.csv");
    let files: [(&str, &[u8]); 7] = [
        ("rust.arrow", include_bytes!("../golden/columns/rust.arrow")),
        ("shared.arrow", include_bytes!("../golden/columns/shared.arrow")),
        ("rust.parquet", include_bytes!("../golden/columns/rust.parquet")),
        ("pyarrow.arrow", include_bytes!("../golden/columns/pyarrow.arrow")),
        ("pyarrow-plain.arrow", include_bytes!("../golden/columns/pyarrow-plain.arrow")),
        ("pyarrow.parquet", include_bytes!("../golden/columns/pyarrow.parquet")),
        ("pyarrow-v2.parquet", include_bytes!("../golden/columns/pyarrow-v2.parquet")),
    ];
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    for (name, file) in files {
        assert_eq!(text(again(file, Encoding::Csv)), text(CSV.to_vec()), "{name}");
        for encoding in [Encoding::Arrow, Encoding::Parquet] {
            let ours = again(file, encoding);
            assert_eq!(text(again(&ours, Encoding::Csv)), text(CSV.to_vec()), "{name}");
        }
    }
}

#[test]
fn csv_is_written_to_the_byte() {
    for from in [GOB, CSV, JSON] {
        assert_eq!(again(from, Encoding::Csv), CSV);
    }
}

/// Byte for byte but for the two bytes of each row's zone, which is the machine's.
#[test]
fn gob_is_written_to_the_byte() {
    let written = again(GOB, Encoding::Gob);
    assert_eq!(without_zones(&written), without_zones(GOB));
}

fn without_zones(gob: &[u8]) -> Vec<u8> {
    let mut bytes = gob.to_vec();
    // A time: length 15, version 1, then seconds since year 1, which begin so for this century.
    let time = [15, 1, 0, 0, 0, 0x0e];
    let mut found = 0;
    for at in 0..bytes.len() - time.len() {
        if bytes[at..].starts_with(&time) {
            bytes[at + 14..at + 16].fill(0);
            found += 1;
        }
    }
    assert_eq!(found, 3);
    bytes
}

/// Byte for byte but for the zone.
#[test]
fn json_is_written_to_the_byte() {
    let written = String::from_utf8(again(GOB, Encoding::Json)).unwrap();
    let expect = String::from_utf8(JSON.to_vec()).unwrap();
    for (line, expect) in written.lines().zip(expect.lines()) {
        let cut = |line: &str| {
            let (before, rest) = line.split_once("\"timestamp\":\"").unwrap();
            let (_, after) = rest.split_once("\",\"latency\"").unwrap();
            format!("{before}{after}")
        };
        assert_eq!(cut(line), cut(expect));
    }
    assert_eq!(written.lines().count(), 3);
    assert_eq!(decode(&[written.as_bytes()]).rows, decode(&[GOB]).rows);
}
