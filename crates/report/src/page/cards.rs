//! Cards of a page: one around each chart, and one around each table.

use std::fmt::Write as _;

use crate::escape;
use crate::figure::{Figure, Size, card_content, details};

/// The size of a picture in a card that shares its row with another one.
const HALF_ROW: Size = Size { width: 560, height: 300 };
/// The size of a picture in a card as wide as the page.
const WHOLE_ROW: Size = Size { width: 1140, height: 300 };

/// A cell with more characters than this may break into lines.
const LONG: usize = 32;

/// Adds to the page; writing to a `String` cannot fail.
pub(crate) fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
}

/// The figures, each in a card of its own; the page's data must have them in the same order.
pub(crate) fn charts(out: &mut String, figures: &[Figure]) {
    charts_from(out, 0, figures);
}

/// The same of figures that come in the page's data after so many others.
pub(crate) fn charts_from(out: &mut String, first: usize, figures: &[Figure]) {
    if figures.is_empty() {
        return;
    }
    out.push_str("<div class=\"pair\">\n");
    for (at, figure) in figures.iter().enumerate() {
        // The last of an odd number has its row for itself.
        let is_alone = at + 1 == figures.len() && figures.len() % 2 == 1;
        card(out, figure, first + at, if is_alone { WHOLE_ROW } else { HALF_ROW });
    }
    out.push_str("</div>\n");
}

/// The figure with this number in the page's data, in a card as wide as the page.
pub(crate) fn chart(out: &mut String, figure: &Figure, number: usize) {
    card(out, figure, number, WHOLE_ROW);
}

/// A card with a figure's title, its picture of that size, and its notes as text.
fn card(out: &mut String, figure: &Figure, number: usize, size: Size) {
    let (title, content) = (escape::xml(&figure.title), card_content(figure, size));
    let wide = if size == WHOLE_ROW { " wide" } else { "" };
    push(
        out,
        format_args!(
            "<section class=\"card{wide}\"><h2>{title}</h2><div class=\"chart\" data-figure=\"{number}\">{content}</div>"
        ),
    );
    for note in &figure.notes {
        push(out, format_args!("<p class=\"note\">{}</p>", escape::xml(note)));
    }
    out.push_str(&details(figure));
    out.push_str("</section>\n");
}

/// The card of a figure, which is number `number` of those that its page is given, from 0: HTML.
#[must_use]
pub fn figure_card(figure: &Figure, number: usize) -> String {
    let mut out = String::new();
    chart(&mut out, figure, number);
    out
}

/// A card with a table. Cells are escaped here; the first of a row is its name.
pub(crate) fn table(
    out: &mut String,
    title: &str,
    heads: &[&str],
    rows: &[Vec<String>],
    more: usize,
) {
    let title = escape::xml(title);
    push(
        out,
        format_args!(
            "<section class=\"card\"><h2>{title}</h2><div class=\"scroll\" data-name=\"{title}\"><table>\n"
        ),
    );
    if heads.iter().any(|head| !head.is_empty()) {
        let cells =
            heads.iter().map(|head| format!("<th scope=\"col\">{}</th>", escape::xml(head)));
        push(out, format_args!("<thead><tr>{}</tr></thead>\n", cells.collect::<String>()));
    }
    out.push_str("<tbody>\n");
    for row in rows {
        out.push_str("<tr>");
        for (column, cell) in row.iter().enumerate() {
            let cell = escape::xml(cell);
            match column {
                0 => push(out, format_args!("<th scope=\"row\" class=\"text\">{cell}</th>")),
                _ if row[column].chars().count() > LONG => {
                    push(out, format_args!("<td class=\"text\">{cell}</td>"));
                }
                _ => push(out, format_args!("<td>{cell}</td>")),
            }
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>");
    if more > 0 {
        push(out, format_args!("<p class=\"faint\">{more} more are not shown.</p>"));
    }
    out.push_str("</section>\n");
}
