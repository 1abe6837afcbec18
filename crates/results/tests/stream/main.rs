//! The result stream from the outside: round trips, golden bytes of real Go, damage, merging, the sink.

mod damage;
mod golden;
mod merge;
mod round_trip;
mod rows;
mod sink;
