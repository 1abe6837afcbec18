//! k6's end-of-test summary: the text, `--summary-export` and what `handleSummary` is given, of a
//! [`Tally`](metrics::tally::Tally).

mod checks;
mod figures;
mod input;
mod json;
mod legacy;
mod md5;
mod text;

pub use self::figures::is_trend_stat;
pub use self::input::{K6Input, K6Part};
pub use self::json::{K6Machine, data, export, machine};
pub use self::legacy::legacy;
pub(crate) use self::text::figure_text;
pub use self::text::text;
