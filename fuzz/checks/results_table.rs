//! The name of a column on the first line, then another program's file: its column of times is read within bounds. And the first line
//! as the generator's record of a result stream, which reads back as itself.

use results::{Table, TimeUnit, decode_generator, encode_generator, names_column};

/// What was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TableTotals {
    /// Times of the column.
    pub(crate) times: u64,
    /// Rows without one.
    pub(crate) skipped: u64,
    /// The first line is a generator's record.
    pub(crate) is_record: bool,
}

/// Reads the file; `None` where the file has no such column and the line is no record either.
///
/// # Panics
/// More rows than lines, or a record that does not read back.
pub(crate) fn check(bytes: &[u8]) -> Option<TableTotals> {
    let line = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let file = bytes.get(line + 1..).unwrap_or_default();
    let text = std::str::from_utf8(&bytes[..line]).ok()?;
    let is_record = is_record(text);
    let table = Table::open(file, text, TimeUnit::Seconds);
    assert_eq!(table.is_ok(), names_column(file, text), "a header is read in two ways");
    let Ok(mut table) = table else {
        return is_record.then_some(TableTotals { is_record, ..TableTotals::default() });
    };
    let mut times = 0;
    while table.next_time().expect("memory can be read").is_some() {
        times += 1;
    }
    let lines = file.split(|byte| *byte == b'\n').count() as u64;
    assert!(times + table.skipped() <= lines, "{times} and {} of {lines}", table.skipped());
    Some(TableTotals { times, skipped: table.skipped(), is_record })
}

fn is_record(text: &str) -> bool {
    let Ok(generator) = decode_generator(text) else { return false };
    let again = decode_generator(&encode_generator(&generator)).expect("our own record");
    assert_eq!(again, generator);
    true
}
