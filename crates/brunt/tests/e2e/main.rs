//! End to end: the real binary in temporary directories, against the demo server in this process and a real nginx and lighttpd. Every
//! process is bounded in time and ended by its number.

#![allow(clippy::unwrap_used, reason = "these are tests, their shared parts too")]

mod ab;
mod autobahn;
mod bad_input;
mod bad_scripts;
mod bench;
mod browser;
mod cable_command;
mod canary;
mod case_studies;
mod certificates;
mod chromium;
mod cli;
mod compare;
mod conclusions;
mod damaged;
mod elsewhere;
mod endings;
mod examples;
mod figures;
mod fit;
mod fleet;
mod full_screen;
mod gates;
mod grpc;
mod grpc_command;
mod h2_misbehaviour;
mod honesty;
mod hostile;
mod http2;
mod imports;
mod jmeter;
mod k6conf;
mod lighttpd;
mod lint;
mod live_page;
mod many;
mod memory;
mod modules;
mod narrow;
mod nginx;
mod overwritten;
mod peers;
mod pipeline;
mod plot;
mod printed;
mod proxies;
mod puma;
mod rails;
mod recorder;
mod report_files;
mod results_files;
mod routes;
mod run_http;
mod run_network;
mod run_results;
mod run_tells;
mod saved_runs;
mod scripts;
mod seek;
mod sent_outputs;
mod server_side;
mod serving;
mod stopping;
mod store_ui;
mod strangers;
mod study;
mod tls_ends;
mod trust;
mod vegeta;
mod watch;

#[path = "../process/mod.rs"]
mod process;
#[path = "../process/tls_server.rs"]
mod tls_server;

use process::{
    LIMIT, Ran, Scratch, Started, brunt, feed, first_line, free_port, pipe, run, server, signal,
    start, start_within, text, until,
};
