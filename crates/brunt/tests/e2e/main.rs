//! The binary as its users run it: real processes, real sockets on loopback, exact output.

mod attack;
mod nginx;
mod process;
mod streams;
