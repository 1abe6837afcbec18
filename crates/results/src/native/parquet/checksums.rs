//! Checksums in a Parquet file, in keys of its footer that other readers pass over: CRC-32 (IEEE 802.3) of the bytes of each row
//! group, and of the footer itself.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, ParquetMetaData, RowGroupMetaData};

use super::pages::footer_start;
use crate::native::checksum::DAMAGED;
use crate::write::Output;

/// The key of the sums of the row groups: eight hexadecimal digits each, with commas between.
const GROUPS: &str = "brunt:crc32";
/// The key of the sum of the footer, to the end of the file. The last of the keys.
const FOOTER: &str = "brunt:crc32:footer";
/// What stands in the place of a sum while it is computed.
const BLANK: &str = "00000000";
/// Between a key and its value: the field's number and type, and the length of a sum. Source: Thrift's compact protocol.
const BETWEEN: usize = 2;
/// Bytes read at once.
const READ_BYTES: usize = 128 << 10;
/// Bytes of a footer that are read for its sum.
const FOOTER_MAX: u64 = 64 << 20;

/// The output, which sums what is written to it.
pub(super) struct Summed {
    output: Output,
    group: crc32fast::Hasher,
    /// What is held back: the end of the file, until its sum is in it.
    end: Option<Vec<u8>>,
}

impl Summed {
    pub(super) fn new(output: Output) -> Self {
        Self { output, group: crc32fast::Hasher::new(), end: None }
    }

    pub(super) fn begin_group(&mut self) {
        self.group.reset();
    }

    /// The sum of what was written since the group began.
    pub(super) fn group_sum(&self) -> String {
        digits(self.group.clone())
    }

    /// From now on the end of the file is written.
    pub(super) fn hold(&mut self) {
        self.end = Some(Vec::new());
    }

    /// Writes the end of the file with its sum.
    ///
    /// # Errors
    /// The output refuses.
    pub(super) fn seal(mut self) -> io::Result<Output> {
        let mut end = self.end.take().unwrap_or_default();
        let len = end.len().checked_sub(8).map(|at| {
            u32::from_le_bytes([end[at], end[at + 1], end[at + 2], end[at + 3]]) as usize + 8
        });
        if let Some(start) = len.and_then(|len| end.len().checked_sub(len))
            && let Some((at, sum)) = sum_of_footer(&end[start..])
        {
            end[start + at..start + at + sum.len()].copy_from_slice(sum.as_bytes());
        }
        self.output.write_all(&end)?;
        Ok(self.output)
    }
}

impl Write for Summed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(end) = &mut self.end {
            end.extend_from_slice(bytes);
            return Ok(bytes.len());
        }
        let written = self.output.write(bytes)?;
        self.group.update(&bytes[..written]);
        Ok(written)
    }

    /// Hands nothing to the system: only a whole file can be read.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The entry of the footer with the sums of the groups.
pub(super) fn of_groups(sums: &[String]) -> KeyValue {
    KeyValue::new(GROUPS.to_owned(), sums.join(","))
}

/// The entry of the footer with room for its own sum.
pub(super) fn blank_of_footer() -> KeyValue {
    KeyValue::new(FOOTER.to_owned(), BLANK.to_owned())
}

/// The sums of a file's row groups; none where another program wrote it.
#[derive(Default)]
pub(super) struct Checksums(Vec<String>);

impl Checksums {
    /// Those in the footer, whose own sum was right or missing.
    ///
    /// # Errors
    /// One of both kinds is missing, or there are more or fewer than groups.
    pub(super) fn of(file: &ParquetMetaData, has_own: bool) -> Result<Self, String> {
        let entries = file.file_metadata().key_value_metadata().into_iter().flatten();
        let groups = entries.filter(|entry| entry.key == GROUPS).find_map(|e| e.value.as_deref());
        let Some(groups) = groups else {
            return if has_own { Err(DAMAGED.to_owned()) } else { Ok(Self::default()) };
        };
        let sums: Vec<_> =
            groups.split(',').filter(|sum| !sum.is_empty()).map(str::to_owned).collect();
        let is_whole = has_own && sums.len() == file.num_row_groups();
        if is_whole { Ok(Self(sums)) } else { Err(DAMAGED.to_owned()) }
    }

    /// Reads the bytes of a row group.
    ///
    /// # Errors
    /// They have another sum, or cannot be read.
    pub(super) fn verify(
        &self,
        number: usize,
        group: &RowGroupMetaData,
        file: &File,
    ) -> Result<(), ParquetError> {
        let Some(expect) = self.0.get(number) else { return Ok(()) };
        let ranges = group.columns().iter().map(|column| column.byte_range());
        let (start, end) = ranges.fold((u64::MAX, 0), |(start, end), (at, len)| {
            (start.min(at), end.max(at.saturating_add(len)))
        });
        if sum(file, start, end)? == *expect {
            Ok(())
        } else {
            Err(ParquetError::General(DAMAGED.to_owned()))
        }
    }
}

/// Whether the footer has a sum of its own.
///
/// # Errors
/// It has, and its bytes have another; or it cannot be read.
pub(super) fn verify_footer(mut file: &File) -> Result<bool, String> {
    let read = |file: &mut &File| -> Result<Vec<u8>, ParquetError> {
        let start = footer_start(&mut *file)?;
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        file.take(FOOTER_MAX).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let footer = read(&mut file).map_err(|error| error.to_string())?;
    match sum_of_footer(&footer) {
        None => Ok(false),
        Some((at, sum)) if footer[at..at + sum.len()] == *sum.as_bytes() => Ok(true),
        Some(_) => Err(DAMAGED.to_owned()),
    }
}

/// Where in a footer its sum stands, and what it should be.
fn sum_of_footer(footer: &[u8]) -> Option<(usize, String)> {
    let key = footer.windows(FOOTER.len()).rposition(|bytes| bytes == FOOTER.as_bytes())?;
    let at = key + FOOTER.len() + BETWEEN;
    let after = footer.get(at + BLANK.len()..)?;
    let mut hasher = crc32fast::Hasher::new();
    for part in [&footer[..at], BLANK.as_bytes(), after] {
        hasher.update(part);
    }
    Some((at, digits(hasher)))
}

/// The sum of the file from `start` to `end`.
fn sum(mut file: &File, start: u64, end: u64) -> Result<String, ParquetError> {
    file.seek(SeekFrom::Start(start))?;
    let mut left = end.saturating_sub(start);
    let (mut hasher, mut buf) = (crc32fast::Hasher::new(), vec![0; READ_BYTES]);
    while left > 0 {
        let part = buf.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        file.read_exact(&mut buf[..part])?;
        hasher.update(&buf[..part]);
        left -= part as u64;
    }
    Ok(digits(hasher))
}

fn digits(hasher: crc32fast::Hasher) -> String {
    format!("{:08x}", hasher.finalize())
}
