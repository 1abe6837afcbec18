//! `CableUsers`: one worker's users. They come, subscribe, do what the pattern says, and come back where they are dropped.
//!
//! ```text
//! poll ─▶ act (due users: connect, perform) ─▶ stop waiting ─▶ pattern (echo, broadcast, herd) ─▶ watch pings ─▶ done?
//! handle_response ─▶ connect.rs     handle_pipe_event ─▶ receive.rs ─▶ connect.rs, echo.rs, broadcast.rs
//! ```

mod broadcast;
mod broadcast_schedule;
mod connect;
mod echo;
mod herd;
mod part_broadcast;
mod part_messages;
mod pending_echoes;
mod poll;
mod presence;
mod receive;
mod server_message;
mod state;
mod timer_queue;
mod user;
mod user_table;

pub(crate) use part_messages::{PartLog, SUBSCRIBED_FOR};
pub(crate) use state::CableUsers;
