//! `RecordBatch`: rows, column by column.

use std::time::Duration;

use super::array::{Array, Values};
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

    /// From the first of the rows' times to the last; none without such a column.
    pub(super) fn span(&self) -> Option<Duration> {
        let times = self.columns.iter().find(|column| column.name == "timestamp")?;
        let Values::Int64(times) = &times.array.values else { return None };
        let (first, last) = (times.iter().min()?, times.iter().max()?);
        Some(Duration::from_nanos(last.abs_diff(*first)))
    }
}
