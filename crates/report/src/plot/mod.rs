//! Response times over time, one series per attack and outcome, from batches streamed in.

mod builder;
mod lttb;

pub use builder::{POINTS_MAX, PlotBuilder, SERIES_MAX, THRESHOLD, ThresholdError};
