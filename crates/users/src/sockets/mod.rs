//! WebSockets of users: how they are opened, what comes through them, what users do with them, and Action Cable on top.

mod cable;
mod commands;
mod events;
mod frames;
mod opening;
pub(crate) mod state;
