//! What is wrong with a k6 script before it runs: seen in its text, with file, line and cure.
//!
//! ```text
//!   ScriptFile, its text ─▶ sight (one walk over the syntax) ─▶ Sight ─┐
//!   Facts: options and metrics, of the script's init code ─────────────┴─▶ judge ─▶ Findings ─▶ text, JSON, SARIF
//! ```
//!
//! [`lint`] is the entry point. The crate runs nothing and reads no file; what only init code knows comes as [`Facts`].

mod finding;
mod judge;
mod place;
mod sight;
mod url_shape;
mod write;

pub use finding::{Finding, Rule, Severity};
pub use judge::{Facts, ScriptFile, lint};
pub use place::Place;
pub use write::{json, sarif, text};
