//! Parquet with encodings by deltas, which brunt does not write and other programs may: made of a seed with the library's own writer,
//! and damaged where counts stand. `UPDATE=1` writes them among the seeds of `results_parquet`.

use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, Type};
use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::{BoolType, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};

use super::{check, corpus, seed};

/// A number of five bytes in Thrift's and the encodings' form: 2^31 - 1.
const HUGE: [u8; 5] = [0xff, 0xff, 0xff, 0xff, 0x07];

/// The same rows, with these encodings of numbers and of texts.
fn encoded(file: &[u8], numbers: Encoding, texts: Encoding) -> Vec<u8> {
    let reader = SerializedFileReader::new(Bytes::copy_from_slice(file)).expect("a seed");
    let metadata = reader.metadata().file_metadata();
    let schema = metadata.schema_descr();
    // Checksums would be those of other bytes.
    let keys = metadata.key_value_metadata().into_iter().flatten();
    let keys = keys.filter(|pair| !pair.key.starts_with("brunt:")).cloned().collect::<Vec<_>>();
    let mut properties = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_compression(Compression::UNCOMPRESSED)
        .set_dictionary_enabled(false)
        .set_key_value_metadata(Some(keys));
    for column in schema.columns() {
        let encoding = match column.physical_type() {
            Type::INT32 | Type::INT64 => numbers,
            Type::BYTE_ARRAY => texts,
            _ => Encoding::PLAIN,
        };
        properties = properties.set_column_encoding(column.path().clone(), encoding);
    }
    let mut out = Vec::new();
    let root = schema.root_schema_ptr();
    let mut writer = SerializedFileWriter::new(&mut out, root, Arc::new(properties.build()))
        .expect("the same schema");
    for number in 0..reader.num_row_groups() {
        let from = reader.get_row_group(number).expect("a group");
        let mut group = writer.next_row_group().expect("a group");
        let mut at = 0;
        while let Some(mut column) = group.next_column().expect("a column") {
            copy(&*from, at, &mut column);
            column.close().expect("a column");
            at += 1;
        }
        group.close().expect("a group");
    }
    writer.close().expect("a file");
    out
}

fn copy(from: &dyn RowGroupReader, at: usize, to: &mut SerializedColumnWriter<'_>) {
    let metadata: &RowGroupMetaData = from.metadata();
    match metadata.column(at).column_type() {
        Type::BOOLEAN => copy_values::<BoolType>(from, at, to),
        Type::INT32 => copy_values::<Int32Type>(from, at, to),
        Type::INT64 => copy_values::<Int64Type>(from, at, to),
        Type::BYTE_ARRAY => copy_values::<ByteArrayType>(from, at, to),
        other => panic!("results have no {other}"),
    }
}

fn copy_values<T: DataType>(
    from: &dyn RowGroupReader,
    at: usize,
    to: &mut SerializedColumnWriter<'_>,
) {
    let rows = from.metadata().num_rows() as usize;
    let is_nullable = from.metadata().column(at).column_descr().max_def_level() > 0;
    let mut reader = get_typed_column_reader::<T>(from.get_column_reader(at).expect("a column"));
    let (mut values, mut levels, mut count) = (Vec::new(), Vec::new(), 0);
    while count < rows {
        let levels = is_nullable.then_some(&mut levels);
        let (read, ..) =
            reader.read_records(rows - count, levels, None, &mut values).expect("a seed");
        assert!(read > 0, "a column ends early");
        count += read;
    }
    let levels = is_nullable.then_some(&levels[..]);
    to.typed::<T>().write_batch(&values, levels, None).expect("values that were read");
}

fn seeds() -> [(&'static str, Vec<u8>); 3] {
    let whole = seed("results_parquet/whole");
    let (numbers, plain) = (Encoding::DELTA_BINARY_PACKED, Encoding::PLAIN);
    [
        ("deltas", encoded(&whole, numbers, plain)),
        ("delta_lengths", encoded(&whole, numbers, Encoding::DELTA_LENGTH_BYTE_ARRAY)),
        ("delta_texts", encoded(&whole, numbers, Encoding::DELTA_BYTE_ARRAY)),
    ]
}

#[test]
fn numbers_by_deltas_are_read_and_texts_refused() {
    let whole = check(&seed("results_parquet/whole")).expect("a seed");
    for (name, bytes) in seeds() {
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(corpus().join("results_parquet").join(name), &bytes).expect("a seed");
        }
        let found = check(&bytes);
        if name == "deltas" {
            assert_eq!(found.expect(name), whole);
        } else {
            let error = found.expect_err(name).to_string();
            assert!(error.contains("lengths are encoded by deltas"), "{name}: {error}");
        }
    }
}

/// Each count in turn, wherever it stands, claims two billion.
#[test]
fn counts_that_lie_are_survived() {
    for (_, bytes) in seeds() {
        for at in (4..bytes.len() - HUGE.len()).step_by(bytes.len() / 2000 + 1) {
            let mut damaged = bytes.clone();
            damaged[at..at + HUGE.len()].copy_from_slice(&HUGE);
            // Whether it still reads is its own affair; that reading ends without a panic is ours.
            check(&damaged).ok();
            let inserted = [&bytes[..at], &HUGE[..], &bytes[at + 1..]].concat();
            check(&inserted).ok();
        }
    }
}
