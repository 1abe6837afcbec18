//! k6's options.

mod defaults;
mod error;
mod fields;
mod http;
mod parts;
mod resolved;
mod scenarios;
mod tiers;
mod told;

pub use self::error::OptionsError;
pub use self::fields::{Fields, time_of};
pub use self::http::{DnsOptions, HttpOptions, TlsIdentity};
pub use self::parts::Rule;
pub use self::resolved::{Options, end};
pub use self::tiers::{Format, VARIABLES, merged, overridden};
pub use self::told::ToldOptions;
