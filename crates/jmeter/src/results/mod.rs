//! Results: samples, their rows in CSV and XML, the lines of the summariser.

pub(crate) mod csv;
pub(crate) mod options;
mod redacted;
pub(crate) mod sample;
pub(crate) mod statistics;
pub(crate) mod summariser;
pub mod xml;
