//! `RecordBatch`: rows, column by column.

use super::array::Array;
use super::schema::DataType;

/// One column with its name and type.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) data_type: DataType,
    pub(super) array: Array,
}

/// Rows, column by column.
#[derive(Debug)]
pub(super) struct RecordBatch {
    pub(super) rows: usize,
    pub(super) columns: Vec<Column>,
}

impl RecordBatch {
    /// Takes a column out.
    pub(super) fn take(&mut self, name: &str) -> Option<Column> {
        let at = self.columns.iter().position(|column| column.name == name)?;
        Some(self.columns.swap_remove(at))
    }
}
