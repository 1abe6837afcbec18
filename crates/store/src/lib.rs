//! The run store: a folder of runs, a folder each. The manifest of a run, readable JSON, is the truth; there is no index.
//!
//! ```text
//! Store::begin(Begin) ─▶ OpenRun ─ results, documents ─▶ OpenRun::finish(Finish)
//!                           │ killed: its lock is gone, and the run is listed as cut off
//! Store::list ─▶ Listing ─▶ Selector (an id, a name, last, best, git:REF) ─▶ Run
//! ```
//!
//! A run appears under its id with its manifest, lock and all, at once (a rename); a manifest is replaced by a rename. So two
//! runs at a time, a full disk and a killed process leave the store whole. It neither reads results nor prints anything.

mod archive;
mod clock;
mod error;
mod facts;
mod file;
mod format;
mod git;
mod leftovers;
mod list;
mod manifest;
mod open_run;
mod own_file;
mod place;
mod secrets;
mod selector;
#[allow(clippy::module_inception, reason = "the type that the crate is named for")]
mod store;
#[cfg(test)]
mod tests;

pub use error::StoreError;
pub use facts::{Git, Input, Machine, ancestors, hash_of};
pub use format::{MANIFEST, VERSION};
pub use list::{Filter, Listing, Problem};
pub use manifest::{Figures, Manifest, ResponseTimes, ServerResult, State};
pub use open_run::{Finish, OpenRun};
pub use place::folder_of;
pub use secrets::without_secrets;
pub use selector::{Scope, Selector};
pub use store::{Begin, Run, Store};
