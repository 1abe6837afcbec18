//! Sockets that listen on a port: who has them, and the connections that wait in them until they are accepted.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use super::parse::{self, Listener};
use crate::Moment;
use crate::kernel_file::if_visible;
use crate::rows::Rows;

/// The sockets that listen on a port. The tables are read line by line: with many connections the whole is long, and those that
/// listen come first.
///
/// # Errors
/// A table cannot be opened: no descriptor is left, for example.
pub(super) fn listeners(proc: &Path, port: u16) -> io::Result<Vec<Listener>> {
    let mut found = Vec::new();
    for name in ["tcp", "tcp6"] {
        let Some(file) = if_visible(File::open(proc.join("net").join(name)))? else {
            continue;
        };
        let lines = BufReader::new(file).lines().map_while(Result::ok);
        found.extend(parse::listeners(lines, port));
    }
    Ok(found)
}

/// Adds how many connections wait to be accepted: a server whose threads are all taken accepts none.
pub(super) fn sample_queue(proc: &Path, port: u16, now: Moment, rows: &mut Rows) {
    let found = listeners(proc, port).unwrap_or_default();
    if !found.is_empty() {
        let waiting: u64 = found.iter().map(|one| one.waiting).sum();
        let values = vec![("accept_queue".to_owned(), waiting as f64)];
        rows.reading(now.unix, &format!("port {port}"), values);
    }
}
