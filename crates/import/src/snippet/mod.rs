//! The small scripts beside requests of Postman and of `.http` files: what they set, send and test, found by carrying out the part of
//! JavaScript that such scripts consist of on values that are known or come in an answer. No line of a script is copied: what is not
//! understood is reported with its line, and left out.

mod call;
mod evaluate;
mod expect;
mod parse;
mod send;
mod token;
mod tree;
mod value;

pub(crate) use evaluate::{Phase, run};
