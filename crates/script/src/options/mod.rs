//! k6's options.

mod bounds;
mod consolidated;
mod defaults;
mod error;
mod fields;
mod http;
mod option_layers;
mod resolved;
mod scenarios;
mod shape;
mod thresholds;

pub use self::consolidated::ConsolidatedOptions;
pub use self::error::OptionsError;
pub use self::fields::{Fields, time_of};
pub use self::http::{DnsOptions, HttpOptions, TlsIdentity};
pub use self::option_layers::{VARIABLES, ValueFormat, merged, overridden};
pub use self::resolved::Options;
pub use self::shape::{canonical, nearest_option};
pub use self::thresholds::ThresholdOption;
