//! Scripts run in small worlds of the tests' own: what they ask for, what they measure, how they end. One binary, since each one
//! links all of the crate.

mod fuzz_corpus;
mod grpc;
mod http;
mod imports;
mod json;
mod libraries;
mod limits;
mod modules;
mod realm;
mod vu;
mod vus;
mod walk;
mod x509;
