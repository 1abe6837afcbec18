//! `ui`: the store of runs in the browser.
//!
//! ```text
//! browser ─▶ session::Listener ─▶ Site (token, routes) ─▶ pages: list, run, trend ◀── Store
//!                                        └─▶ documents: `brunt report`, `compare` and `plot` as processes of their own
//! ```

mod command;
mod documents;
mod flags;
mod pages;
mod query;
mod site;
mod trend;

pub(crate) use command::{ABOUT, run};
pub(crate) use flags::UI;
