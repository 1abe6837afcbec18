//! The flags of `encode`.

use cli::{Flag, ValueKind};
use results::Encoding;

/// The flags of `encode` as typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EncodeFlags {
    /// `None`: the output's extension decides, else JSON.
    pub(crate) to: Option<String>,
    pub(crate) output: Option<String>,
}

/// The flags of `encode`.
pub(crate) const ENCODE: &[Flag<EncodeFlags>] = &[
    Flag::new(
        "to",
        ValueKind::Choice(Encoding::NAMES),
        "json",
        "Format to write; by default the extension of -output decides.",
        |t: &mut EncodeFlags, v| {
            t.to = Some(v.to_owned());
            Ok(())
        },
    )
    .native(),
    Flag::new(
        "to",
        ValueKind::Text("FORMAT"),
        "json",
        "Format to write: csv, gob or json.",
        |t: &mut EncodeFlags, v| {
            t.to = Some(v.to_owned());
            Ok(())
        },
    )
    .vegeta(),
    Flag::new(
        "output",
        ValueKind::Path,
        "stdout",
        "File for the results.",
        |t: &mut EncodeFlags, v| {
            t.output = Some(v.to_owned());
            Ok(())
        },
    )
    .also(&["o"]),
];
