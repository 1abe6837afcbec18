//! Pages: the shell around tables and charts. One file that loads nothing from elsewhere; its content security policy forbids
//! it too.

use crate::escape;
use crate::figure::{Figure, Size, card_content, details, script_data, variables};

const SCRIPT: &str = include_str!("../../assets/chart.js");
const STYLE: &str = include_str!("../../assets/chart.css");

/// Nothing may be loaded; what is inline may run.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
                      img-src data: blob:; base-uri 'none'; form-action ";

/// How charts answer; seen only where the script runs.
pub(crate) const HINT: &str = "<p class=\"hint\">Drag in a chart to zoom, double-click to reset, click a name to hide its line. \
                               Arrow keys read the chart that has the focus, + and - zoom, Escape resets.</p>";
/// The size of the picture of a page that shows one figure.
const WHOLE_PAGE: Size = Size { width: 1160, height: 560 };

/// A whole page. `body` is HTML, with the pictures of the figures in elements `<div class="chart" data-figure="N">`, which the
/// script makes answer.
pub(crate) fn shell(title: &str, body: &str, figures: &[Figure]) -> String {
    page(title, body, figures, "'none'")
}

/// A page of a server of ours, whose forms go back to it. `body` is HTML: texts in it are escaped by [`escape_html`](crate::escape_html).
#[must_use]
pub fn served_page(title: &str, body: &str, figures: &[Figure]) -> String {
    page(title, body, figures, "'self'")
}

fn page(title: &str, body: &str, figures: &[Figure], forms: &str) -> String {
    let title = escape::xml(title);
    // Names of series, which the script draws.
    let (data, colours) = (stdx::terminal_line(&script_data(figures)), variables());
    format!(
        r#"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}{forms}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>{colours}{STYLE}</style>
</head>
<body>
{body}
<script type="application/json" id="figures">{data}</script>
<script>{SCRIPT}</script>
</body>
</html>
"#
    )
}

/// A page of one figure that fills the window, and of tables, which are HTML, below it.
pub(crate) fn figure(figure: &Figure, tables: &str) -> String {
    let title = escape::xml(&figure.title);
    let notes: String =
        figure.notes.iter().map(|note| format!("<p>{}</p>\n", escape::xml(note))).collect();
    let (content, values) = (card_content(figure, WHOLE_PAGE), details(figure));
    let body = format!(
        r#"<main class="wide">
<header><h1>{title}</h1></header>
<section class="card"><h2>&nbsp;</h2><div class="chart tall" data-figure="0">{content}</div>{values}</section>
{tables}<footer>
{notes}{HINT}
</footer>
</main>"#
    );
    shell(&figure.title, &body, std::slice::from_ref(figure))
}
