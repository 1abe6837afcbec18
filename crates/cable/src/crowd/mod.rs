//! `Crowd`: one worker's users. They come, subscribe, do what the pattern says, and come back where they are dropped.
//!
//! ```text
//! poll ─▶ act (who is due: connect, perform) ─▶ stop waiting ─▶ pattern (echo, speech, herd) ─▶ watch pings ─▶ done?
//! answer ─▶ connect.rs     received ─▶ hear.rs ─▶ connect.rs, echo.rs, speech.rs
//! ```

mod agenda;
mod connect;
mod echo;
mod flights;
mod hear;
mod heard;
mod herd;
mod poll;
mod speech;
mod state;
mod turns;
mod user;

pub(crate) use state::Crowd;
