//! Faults of the machine and of its users, each against every command that can meet it: signals, kills at random moments, full and
//! read-only disks, closed pipes, no descriptors, memory or ports, name servers that are silent, clocks that jump, two writers of
//! one file. Whatever the fault, a command ends in time, with a code of docs/reference/exit-codes.md, with what it had, and says why.
//!
//! `cargo xtask faults` runs all; without its variables each case runs once. docs/design/hardening.md has the table.

#![allow(clippy::unwrap_used, reason = "these are tests, their shared parts too")]

mod case;
mod clock;
mod commands;
mod disk;
mod kills;
mod limits;
mod network;
mod pipes;
mod signals;
mod stage;
mod writers;

#[path = "../process/mod.rs"]
#[allow(dead_code, reason = "the other tests use the rest")]
mod process;

use process::{
    Ran, Scratch, Started, brunt, first_line, server, signal, start_within, text, until,
};
