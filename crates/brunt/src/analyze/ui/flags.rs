//! The flags of `ui`.

use cli::{Flag, text};

/// The address where the flag names none.
pub(super) const ADDRESS: &str = "127.0.0.1:8765";

/// The flags of `ui` as typed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct UiFlags {
    /// The folder of the store.
    pub(crate) store: Option<String>,
    /// The address to listen at.
    pub(crate) listen: Option<String>,
}

/// The flags of `ui`.
pub(crate) const UI: &[Flag<UiFlags>] = &[
    text!(
        UiFlags,
        "store",
        "DIR",
        "Folder of the store of runs; by default the project's .brunt/runs.",
        store
    )
    .native(),
    text!(UiFlags, "listen", "ADDR:PORT", "Address to listen at; port 0 takes a free one.", listen)
        .with_default(ADDRESS)
        .native(),
];
