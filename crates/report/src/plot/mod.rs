//! Response times over time, one series per attack and outcome, from batches streamed in.

mod bands;
mod builder;
mod lttb;

pub use bands::{BANDS_MAX, BandBuilder};
pub use builder::{POINTS_MAX, PlotBuilder, SERIES_MAX, THRESHOLD, ThresholdError};
