//! A result stream of any kind: whatever it holds, reading it ends, with rows, a loss or an error.

use std::io::Cursor;

use metrics::Batch;
use results::{InputForm, ReadError, Reader};

/// What was read from a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StreamContent {
    /// What it was taken for.
    pub(crate) form: InputForm,
    /// Its rows.
    pub(crate) rows: usize,
    /// Sentences about what it lost.
    pub(crate) losses: usize,
}

/// The most batches and ends that so many bytes can hold.
const ITEMS_PER_BYTE: usize = 64;

/// Reads the stream to its end, whatever encoding it turns out to have.
///
/// # Errors
/// It is no result stream, or a corrupt one.
///
/// # Panics
/// Reading does not end, or the reader breaks its word.
pub(crate) fn check(bytes: &[u8]) -> Result<StreamContent, ReadError> {
    let input = Cursor::new(bytes.to_vec());
    let mut reader = Reader::open(vec![("seed".to_owned(), Box::new(input))])?;
    let mut batch = Batch::default();
    let (mut rows, mut items) = (0, 0);
    while reader.next(&mut batch)?.is_some() {
        rows += batch.samples.len();
        items += 1;
        assert!(items <= 1024 + bytes.len() * ITEMS_PER_BYTE, "reading does not end");
        batch.clear();
    }
    let forms = reader.forms();
    assert_eq!(forms.len(), 1);
    Ok(StreamContent { form: forms[0], rows, losses: reader.losses().len() })
}
