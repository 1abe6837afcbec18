//! Numbers for people: text, JSON, HTML, plots.
//!
//! ```text
//! Summary, Groups, Timeline, Traffic, Generator, Verdict ──▶ Input ──▶ text · json · html · markdown · junit
//! Summary                    ──▶ hist · hdrplot · vegeta::{text, json, hdrplot}
//! Batch ──▶ ab::Figures      ──▶ ab::{text, html, csv}
//! Summary, Phases, Generator ──▶ Measurement, Offered ──▶ wrk::text · perfer::text · hey::text · k6_like::text
//! Tally ──▶ K6Input          ──▶ k6_summary::{text, legacy, export, data, machine}
//! Batch, TargetTable, label  ──▶ PlotBuilder, BandBuilder ──▶ Figure ──▶ html · svg · png
//! Search, Steps, SearchOutcome ──▶ seek::{line, text, json, sheet}
//! Curve (label, Histogram)   ──▶ overlay::{percentiles, shares_of_requests, histogram, density} ──▶ Figure
//! Runs (label, Histograms)   ──▶ Differences ──▶ text · json · notes
//! Variant (label, runs)      ──▶ Contrasts ──▶ text · json · markdown · html
//! StudyInput (all runs)      ──▶ StudyReport ──▶ json · html
//! Sweep, Fit or Refusal      ──▶ fit::{text, json, figure}
//! ServerSide (Side, Summary) ──▶ sections of text · json · html · markdown; NetworkAndQueue, Capacity
//! Side, Histogram, Timeline  ──▶ server::{percentiles, over_time} ──▶ Figure, FigureSheet
//! Bar (label, values)        ──▶ BarSheet ──▶ html · svg · png · text · json
//! CablePlan, CableReport     ──▶ cable::{text, json}
//! Snapshot                   ──▶ live::frame
//! ```
//!
//! It does not know how the run was made, reads no clock, opens no file and no socket: every function returns its text or
//! bytes. Texts from a server or a file are escaped for their place in the output.

mod assertions;
mod attacked;
mod bars;
mod buckets;
mod by_target;
mod caveats;
mod columns;
mod conclusion;
mod connections;
mod contrasts;
mod differences;
mod escape;
mod events;
mod figure;
mod gates;
mod hdrplot;
mod html;
mod input;
mod intervals;
mod json;
mod judgement;
mod junit;
mod live_page;
mod load_performance;
mod markdown;
mod number;
mod object;
mod offered;
mod open_metrics;
mod page;
mod part;
mod parts;
mod plot;
mod provenance;
mod quantiles;
mod run_name;
mod script_metrics;
mod sheet;
mod spectrum;
mod study;
mod test_case;
mod text;

pub mod ab;
pub mod cable;
pub mod fit;
mod fleet;
pub mod hey;
pub mod k6_like;
pub mod k6_summary;
pub mod live;
pub mod overlay;
pub mod perfer;
pub mod seek;
pub mod server;
pub mod vegeta;
pub mod wrk;

pub use self::study::{StudyInput, StudyReport, StudyRun, StudyState, StudyVariant, StudyWorkload};
pub use assertions::text as assertion_text;
pub use attacked::{planned, words as attacked};
pub use bars::{BARS_MAX, Bar, BarChart, BarSheet, CHARTS_MAX};
pub use buckets::{BucketCounts, Buckets, BucketsError, hist};
pub use conclusion::{ServerResult, outcome_class, sentences_of as conclusion};
pub use contrasts::{Blind, Contrasts, RunMachine, RunSubject, Variant, VariantRun};
pub use differences::{Differences, Runs};
pub use escape::{terminal_lines, xml as escape_html};
pub use figure::{Axis, Colour, Figure, Mark, PngError, Scale, Series, Size, Stroke, Style};
pub use gates::failed_gates;
pub use hdrplot::hdrplot;
pub use html::html;
pub use input::Input;
pub use json::json;
pub use junit::junit;
pub use live_page::live_page;
pub use load_performance::load_performance;
pub use markdown::markdown;
pub use offered::{Measurement, Offered};
pub use open_metrics::open_metrics;
pub use page::{figure_card, served_page};
pub use part::Part;
pub use parts::part_of;
pub use plot::{
    BANDS_MAX, BandBuilder, POINTS_MAX, PlotBuilder, SERIES_MAX, THRESHOLD, ThresholdError,
};
pub use provenance::made_by;
pub use sheet::FigureSheet;
pub use text::{brief, text};
