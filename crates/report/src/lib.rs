//! Numbers for people: text, JSON, HTML, plots.
//!
//! ```text
//! Summary, Groups, Timeline, Traffic, Generator, Verdict ──▶ Input ──▶ text · json · html · markdown · junit
//! Summary                                       ──▶ hist · hdrplot
//! Batch ──▶ ab::Figures                         ──▶ ab::text · ab::html · ab::csv
//! Summary, Phases, Generator ──▶ Measurement, Offered  ──▶ wrk · perfer · hey · k6_like
//! Batch, TargetTable, label ──▶ PlotBuilder ──▶ Figure ──▶ html · svg · png
//! Search, Steps, Outcome    ──▶ seek_line · seek_text · seek_json · seek_figure
//! Curve (label, Histogram)  ──▶ percentiles · shares_of_requests · histogram · density ──▶ Figure
//! Runs (label, Histograms)  ──▶ Differences ──▶ text · json · notes
//! Variant (label, runs)    ──▶ Contrasts ──▶ text · json · markdown · html
//! StudyInput (all runs)    ──▶ StudyReport ──▶ json · html
//! Sweep, Fit or Refusal     ──▶ fit_text · fit_json · fit_figure
//! ServerSide (Side, Summary) ──▶ sections of text · json · html · markdown; Beyond, Capacity
//! Side, Histogram, Timeline ──▶ server_percentiles, server_over_time ──▶ Figure, FigureSheet
//! Bar (label, values)       ──▶ BarSheet ──▶ html · svg · png · text · json
//! CablePlan, Outcome        ──▶ cable_text · cable_json
//! Snapshot                  ──▶ live::frame
//! ```
//!
//! It knows not how the run was made, reads no clock, opens no file and no socket: every function gives its text or bytes
//! back. Texts that came from a server or a file are escaped for where they are put.

mod bars;
mod buckets;
mod cable;
mod caveats;
mod columns;
mod contrasts;
mod differences;
mod escape;
mod figure;
mod hdrplot;
mod hey;
mod html;
mod input;
mod json;
mod judgement;
mod junit;
mod k6_like;
mod k6_summary;
mod markdown;
mod number;
mod object;
mod offered;
mod overlay;
mod page;
mod perfer;
mod plot;
mod scaling;
mod seek;
mod server;
mod sheet;
mod spectrum;
mod study;
mod text;
mod wrk;

pub mod ab;
mod assertions;
pub mod live;

pub use self::cable::{CableInput, CableMemory, cable_json, cable_text};
pub use self::study::{StudyInput, StudyReport, StudyRun, StudyState, StudyVariant, StudyWorkload};
pub use bars::{BARS_MAX, Bar, BarChart, BarSheet, CHARTS_MAX};
pub use buckets::{BucketCounts, Buckets, BucketsError, hist};
pub use contrasts::{Blind, Contrasts, Variant, VariantRun};
pub use differences::{Differences, Runs};
pub use escape::terminal_lines;
pub use figure::{Axis, Colour, Figure, Mark, PngError, Scale, Series, Size, Stroke, Style};
pub use hdrplot::{hdrplot, hdrplot_vegeta};
pub use hey::{HEY_CSV_HEAD, hey, hey_csv_rows};
pub use html::html;
pub use input::Input;
pub use json::{json, json_vegeta};
pub use junit::junit;
pub use k6_like::k6_like;
pub use k6_summary::{
    Judged, K6Input, K6Machine, K6Part, is_trend_stat, k6_summary, k6_summary_data,
    k6_summary_export, k6_summary_legacy, k6_summary_machine,
};
pub use markdown::markdown;
pub use offered::{Measurement, Offered};
pub use overlay::{Curve, density, histogram, percentiles, shares_of_requests};
pub use perfer::{PerferStyle, PerferVersion, perfer};
pub use plot::{POINTS_MAX, PlotBuilder, SERIES_MAX, THRESHOLD, ThresholdError};
pub use scaling::{FitInput, fit_figure, fit_json, fit_text};
pub use seek::{SeekInput, seek_figure, seek_json, seek_line, seek_text};
pub use server::{Beyond, Capacity, ServerSide, server_over_time, server_percentiles};
pub use sheet::FigureSheet;
pub use text::{text, text_vegeta};
pub use wrk::{WrkStyle, wrk, wrk_head};
