//! ApacheBench's report from rows: its counts, its table of times, its layout. It copies ab's definitions, the odd ones
//! too, since its readers compare with ab; docs/reference/ab.md names those.
//!
//! ```text
//! Batch ──▶ Figures (counts, Times) ──▶ text · html · csv
//!           Setting (what was asked) ──┘
//! ```

mod figures;
mod layout;
mod log;
mod setting;
mod times;

pub use figures::{Figures, Outcome, Rules};
pub use layout::{Attributes, csv, html, text};
pub use log::{log, printable};
pub use setting::{Setting, Tls};
pub use times::{ROWS_MAX, Row};
