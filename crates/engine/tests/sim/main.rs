//! Whole runs in the simulated world, from seeds: the plan's oracles hold whatever the world does.

mod alike;
mod cable;
mod changes;
mod channels;
mod closing;
mod faults;
mod h2_frames;
mod laws;
mod pipes;
mod records;
mod seek;
mod sleeps;
mod streams;
mod turns;
mod unsent;
mod watched;
mod world;
