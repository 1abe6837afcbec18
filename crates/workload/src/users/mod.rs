//! Users that decide while the run goes on, as the engine sees them.

mod commands;
mod pipe;
mod response;
mod virtual_users;

pub use commands::{
    Commands, CustomFailure, CustomOutcome, CustomSample, PipeCommand, RequestCommand,
};
pub use pipe::{Backpressure, Pipe, PipeEvent};
pub use response::{EngineResponse, FailureDetail};
pub use virtual_users::{StopMode, VirtualUsers, VuFactory};
