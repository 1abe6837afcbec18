//! The result stream from the outside: round trips, golden bytes of real Go, damage, merging, the sink.

#![expect(clippy::unwrap_used, reason = "a test says by a panic that it failed")]

mod ahead;
mod damage;
mod golden;
mod jtl;
mod merge;
mod observed;
mod round_trip;
mod rows;
mod sink;
