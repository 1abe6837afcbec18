//! What each of several results says of the server by itself, in a report of all. Together they are one load to the report, whose backlog may hide
//! that of a part: a server that falls behind in the first of two runs works it off before the second.

use crate::conclusion::{Conclusion, markdown_texts};
use crate::object::{Object, json_list};
use crate::part::Part;
use crate::{Input, escape, page};

/// The part of this name, by all that a report of it alone is made from.
#[must_use]
pub fn part_of(name: &str, input: &Input<'_>) -> Part {
    let conclusion = Conclusion::of(input);
    Part {
        name: name.to_owned(),
        sentence: conclusion.first().to_owned(),
        outcome: conclusion.outcome_name(),
        is_valid: input.verdict.is_valid(),
    }
}

/// A line each, before the whole's.
pub(crate) fn text(input: &Input<'_>) -> String {
    lines(input).iter().map(|line| format!("{}\n", escape::terminal(line))).collect()
}

/// The same as a list of Markdown.
pub(crate) fn markdown(input: &Input<'_>) -> String {
    markdown_texts(&lines(input))
}

/// The same as a list of a page.
pub(crate) fn html(out: &mut String, input: &Input<'_>) {
    let lines = lines(input);
    if lines.is_empty() {
        return;
    }
    out.push_str("<section class=\"card\"><h2>Parts</h2>\n<ul>\n");
    for line in lines {
        page::push(out, format_args!("<li>{}</li>\n", escape::xml(&line)));
    }
    out.push_str("</ul></section>\n");
}

/// A list of them; `None` of one.
pub(crate) fn json(input: &Input<'_>) -> Option<String> {
    let parts = (!input.parts.is_empty()).then_some(input.parts)?;
    Some(json_list(parts.iter().map(object)))
}

fn lines(input: &Input<'_>) -> Vec<String> {
    input.parts.iter().map(line).collect()
}

fn line(part: &Part) -> String {
    let invalid = if part.is_valid { "" } else { " (INVALID)" };
    format!("{}{invalid}: {}", part.name, part.sentence)
}

fn object(part: &Part) -> String {
    Object::new()
        .text("name", &part.name)
        .text("outcome", part.outcome)
        .text("verdict", if part.is_valid { "VALID" } else { "INVALID" })
        .text("text", &part.sentence)
        .end()
}
