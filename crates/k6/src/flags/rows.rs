//! The rows of each command's flags, for help and completions.

use cli::{Row, rows_of};

use super::run::RUN;
use super::scripts::{ARCHIVE, INSPECT, LINT, NEW, VENDOR};

/// The rows of `run`.
#[must_use]
pub fn run_rows() -> Vec<Row> {
    rows_of(RUN)
}

/// The rows of `inspect`.
#[must_use]
pub fn inspect_rows() -> Vec<Row> {
    rows_of(INSPECT)
}

/// The rows of `archive`.
#[must_use]
pub fn archive_rows() -> Vec<Row> {
    rows_of(ARCHIVE)
}

/// The rows of `lint`.
#[must_use]
pub fn lint_rows() -> Vec<Row> {
    rows_of(LINT)
}

/// The rows of `vendor`.
#[must_use]
pub fn vendor_rows() -> Vec<Row> {
    rows_of(VENDOR)
}

/// The rows of `new`.
#[must_use]
pub fn new_rows() -> Vec<Row> {
    rows_of(NEW)
}
