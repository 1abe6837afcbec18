//! The flag `-server-offset` of commands that read results.

use cli::{Flag, ValueError, ValueKind, value};
use recordings::ServerOffset;

/// The row of options that hold the offset.
pub(crate) const fn row<T: AsMut<ServerOffset>>() -> Flag<T> {
    const DOCS: &str = "Add this to the server's times, if its clock is behind (ahead: -12ms); date: as its Date headers show.";
    Flag::new("server-offset", ValueKind::Text("TIME|date"), "0", DOCS, |options: &mut T, text| {
        server_offset(text).map(|offset| *options.as_mut() = offset)
    })
    .native()
}

/// A time that may be below zero, or `date`.
fn server_offset(text: &str) -> Result<ServerOffset, ValueError> {
    if text == "date" { Ok(ServerOffset::Date) } else { value::offset(text).map(ServerOffset::By) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_offset_is_a_time_or_the_date_header() {
        assert_eq!(server_offset("date"), Ok(ServerOffset::Date));
        assert_eq!(server_offset("-1ms"), Ok(ServerOffset::By(-1_000_000)));
    }
}
