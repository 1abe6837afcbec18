//! The value of `-server-offset`.

use cli::{ValueError, value};
use recordings::ServerOffset;

/// A time that may be below zero, or `date`.
pub(crate) fn server_offset(text: &str) -> Result<ServerOffset, ValueError> {
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
