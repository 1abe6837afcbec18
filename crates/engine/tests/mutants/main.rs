//! Hostile servers by mutation, in the simulated world: the answers of sound servers are flipped, cut, repeated, put in another order,
//! split and delayed, as a seed says. Whatever comes, every hit ends, counted, and so does the run; memory is bounded; the same seed
//! gives the same run. `cargo xtask fuzz --mutate N` has N answers for each protocol (`MUTANTS`), on an optimised build.

#[allow(dead_code, reason = "the other tests of the simulated world use the rest")]
#[path = "../sim/world.rs"]
mod world;

mod cable;
mod frames;
mod hostile;
mod http1;
mod http2;
mod mutation;
mod trial;
