//! `BarSheet`: one chart of bars a metric, over labelled results. A label of several runs has a bar up to their median, a
//! whisker from the least to the greatest, and a dot a run. It computes no metric.

mod draw;
mod model;
mod sheet;

pub use model::{BARS_MAX, Bar, BarChart, BarSheet, CHARTS_MAX};
