//! The way of a thread through the controllers of its group: which sampler is next.
//!
//! Each controller keeps its own place, and is asked for the next sampler from its group's loop down, as JMeter's are. A turn has a
//! number of steps: a loop without a sampler gives the worker back, and goes on with the next turn.

mod choice;
mod logic;
mod loops;
mod state;
#[cfg(test)]
mod tests;
mod walker;

pub(crate) use logic::Logic;
pub(crate) use walker::{Ground, Next, Walker};
