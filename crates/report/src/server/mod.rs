//! The server's side beside the client's: machine, processes, requests by log, what lies between client and server, capacity,
//! endpoints, incidents. The same tables go into text, HTML and Markdown.

mod capacity;
mod figures;
mod json;
mod machine;
mod network_and_queue;
mod requests;
mod sections;
mod side;
mod table;
#[cfg(test)]
mod tests;

pub use capacity::Capacity;
pub(crate) use capacity::Cores;
pub use figures::{over_time, percentiles};
pub use network_and_queue::NetworkAndQueue;
pub(crate) use side::During;
pub use side::ServerSide;
pub use table::LiveTable;
pub(crate) use table::size;
