//! What std lacks and every crate needs: nanoseconds, byte sizes, seeded random numbers and the distributions times are drawn from,
//! quick hashes and comparisons, counts with their nouns, lists as sentences have them, URLs and fields without what is secret, files that may be compressed.
//!
//! It holds no domain noun: nothing here knows a request, a histogram or a flag. It reads no clock.

mod byte_order_mark;
mod bytes;
mod compression;
mod count;
mod date;
mod distribution;
mod equal;
mod interned;
mod list;
mod memory;
mod number_hash;
pub mod private_file;
mod prng;
mod redaction;
pub mod shared;
mod shown_fields;
mod shown_text;
mod shown_url;
mod shown_value;
mod suggest;
mod terminal_text;
mod text_list;
mod time;

pub use byte_order_mark::{is_utf_16, plain_text, without_byte_order_mark};
pub use bytes::{Bytes, BytesError};
pub use compression::{Compression, Compressor, decompressed};
pub use count::{are, counted, greatest_common_divisor, plural, were};
pub use date::{date_of_day, days_since_1970};
pub use distribution::{Distribution, DistributionError};
pub use equal::equal;
pub use interned::Interned;
pub use list::{list_and, list_or};
pub use memory::{
    MemoryShare, OutOfMemory, limit_memory, memory_left, memory_limit, memory_limit_in_words,
    memory_refusals, within_memory,
};
pub use number_hash::{NumberHash, NumberHasher, mix_bytes};
pub use prng::{Prng, mix, mix_all};
pub use redaction::{
    is_redacted, names_secret, names_secret_field, redact, redact_for_run, redacted_names,
};
pub use shown_fields::{redacted_lines, redacted_value};
pub use shown_text::{cut_text, shown_selector, shown_text};
pub use shown_url::{
    redacted_json, redacted_message, redacted_query, shown_url, url_without_secrets,
    without_query_values,
};
pub use shown_value::{shown_error, shown_message, shown_value};
pub use suggest::nearest;
pub use terminal_text::{steers, terminal_line, terminal_lines};
pub use text_list::TextList;
pub use time::{DurationError, Nanos};
