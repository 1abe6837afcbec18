//! k6's end-of-test summary: the text, `--summary-export` and what `handleSummary` is given, of a
//! [`Tally`](metrics::tally::Tally).

mod checks;
mod figures;
mod input;
mod json;
mod legacy;
mod md5;
mod text;

pub use metrics::tally::Judged;

pub use self::figures::is_trend_stat;
pub use self::input::{K6Input, K6Part};
pub use self::json::{K6Machine, k6_summary_data, k6_summary_export, k6_summary_machine};
pub use self::legacy::k6_summary_legacy;
pub(crate) use self::text::figure_text;
pub use self::text::k6_summary;
