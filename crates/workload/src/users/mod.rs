//! Users that decide while the run goes on, as the engine sees them.

mod commands;
mod pipe;
mod response;
mod virtual_users;

pub use commands::{
    ChannelEnd, ChannelTls, Commands, CustomFailure, CustomOutcome, CustomSample, PipeCommand,
    RequestCommand, RequestKind, StreamCommand,
};
pub use pipe::{Backpressure, Pipe, PipeEvent, StreamEvent};
pub use response::{EngineResponse, FailureDetail};
pub use virtual_users::{StopMode, VirtualUsers, VuFactory};
