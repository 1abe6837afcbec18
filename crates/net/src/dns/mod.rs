//! `Resolver`: names to addresses, on threads of its own and never on a worker's. It caches nothing and knows no hosts
//! file: with name servers given (`-resolvers`) it asks them alone, without them it asks the system.

mod client;
mod message;
mod resolver;
mod system;
#[cfg(test)]
mod tests;

pub use resolver::{Resolver, ResolverCallback};
