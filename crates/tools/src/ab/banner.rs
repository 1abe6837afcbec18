//! ab's banner.

/// ab's first line, with what stands in for it.
const TITLE: &str = "This is ApacheBench, Version 2.3";
/// The lines after it, each with ab's first word: the copyright is not ours to print, since nothing here is Apache's.
const CREDITS: [&str; 2] = [
    "Copyright of ApacheBench is its authors'; this is brunt, and none of their code",
    "Licensed under MIT or Apache-2.0; how they differ: docs/reference/ab.md",
];

/// The banner as text.
#[must_use]
pub(super) fn banner() -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!("{TITLE} <brunt {version}>\n{}\n{}\n\n", CREDITS[0], CREDITS[1])
}

/// The banner as HTML.
pub(super) fn banner_html() -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "<p>\n {TITLE} <i>&lt;brunt {version}&gt;</i><br>\n {}<br>\n {}<br>\n</p>\n<p>\n",
        CREDITS[0], CREDITS[1]
    )
}
