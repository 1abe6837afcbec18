//! The page of a run under way: a shell whose script asks for the run's events. It loads nothing from elsewhere.

use crate::escape;
use crate::figure::variables;

const SCRIPT: &str = include_str!("../assets/live.js");
const STYLE: &str = include_str!("../assets/live.css");

/// What is inline may run, and the page may talk to where it came from.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'";

/// The page of a run of this title.
#[must_use]
pub fn live_page(title: &str) -> String {
    let (title, colours) = (escape::xml(title), variables());
    format!(
        r#"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title} - brunt</title>
<style>{colours}{STYLE}</style>
</head>
<body>
<noscript>The live page needs JavaScript.</noscript>
<main id="live"></main>
<script>{SCRIPT}</script>
</body>
</html>
"#
    )
}
