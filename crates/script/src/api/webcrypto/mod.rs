//! The global `crypto`: W3C Web Cryptography as far as k6 has it.

mod asymmetric;
mod elliptic;
mod error;
mod key;
mod subtle;
mod symmetric;

pub(super) use self::subtle::{install, random};
