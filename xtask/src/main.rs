//! Every chore, in Rust.
fn main() {}
