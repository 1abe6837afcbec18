//! `Reader`: result streams in, batches out; several inputs are merged by time. It opens no file.

use std::io::Read;

use metrics::{Batch, Generator, TargetTable};

use crate::{Detail, Encoding, ReadError};

/// One input: its name, for messages, and its bytes.
pub type Input = (String, Box<dyn Read + Send>);

/// Result streams in, batches out.
pub struct Reader {
    targets: TargetTable,
}

/// What [`Reader::next`] found.
#[derive(Debug, PartialEq)]
pub enum Item {
    /// The batch was filled with at least one row.
    Hits,
    /// A generator's view of itself; a later one of the same input replaces it. The batch is empty.
    Generator {
        /// Which input it came from: its place in the list given to [`Reader::open`].
        input: usize,
        /// What it says.
        generator: Box<Generator>,
    },
}

impl Reader {
    /// Looks at the begin of each input. Blocks until enough came to tell its encoding.
    ///
    /// # Errors
    /// An input is empty, foreign, corrupt or cannot be read; the error names it.
    pub fn open(inputs: Vec<Input>) -> Result<Self, ReadError> {
        let _ = inputs;
        todo!()
    }

    /// Empties `batch` and fills it with the next rows, or gives a generator's record; `None` at the end of every
    /// input. Rows of a live pipe are handed out as soon as they are whole. `batch.epoch` may differ from call to call.
    /// Rows of several inputs come in order of their `done`.
    ///
    /// # Errors
    /// An input is corrupt or cannot be read. What came before was handed out.
    pub fn next(&mut self, batch: &mut Batch) -> Result<Option<Item>, ReadError> {
        let _ = batch;
        todo!()
    }

    /// The targets that the samples handed out so far number.
    #[must_use]
    pub fn targets(&self) -> &TargetTable {
        &self.targets
    }

    /// The encoding of each input.
    #[must_use]
    pub fn encodings(&self) -> Vec<Encoding> {
        todo!()
    }

    /// How much is known of each hit: the least of all inputs.
    #[must_use]
    pub fn detail(&self) -> Detail {
        todo!()
    }

    /// Sentences about what is missing: cut-off inputs. Complete once [`Reader::next`] gave `None`.
    #[must_use]
    pub fn losses(&self) -> &[String] {
        todo!()
    }
}
