//! `Part`: what one of several results says of the server by itself. Together they are one load to the report, whose backlog may hide
//! that of a part: a server that falls behind in the first of two runs works it off before the second.

use crate::conclusion::{Conclusion, markdown_texts};
use crate::object::{Object, json_list};
use crate::{Input, escape, page};

/// What one of several results says by itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    name: String,
    /// The first sentence of its conclusion.
    sentence: String,
    /// The outcome's name in JSON.
    outcome: &'static str,
    is_valid: bool,
}

impl Part {
    /// The part of this name, by all that a report of it alone is made from.
    #[must_use]
    pub fn of(name: &str, input: &Input<'_>) -> Self {
        let conclusion = Conclusion::of(input);
        Self {
            name: name.to_owned(),
            sentence: conclusion.first().to_owned(),
            outcome: conclusion.outcome_name(),
            is_valid: input.verdict.is_valid(),
        }
    }

    fn line(&self) -> String {
        let invalid = if self.is_valid { "" } else { " (INVALID)" };
        format!("{}{invalid}: {}", self.name, self.sentence)
    }

    fn json(&self) -> String {
        Object::new()
            .text("name", &self.name)
            .text("outcome", self.outcome)
            .text("verdict", if self.is_valid { "VALID" } else { "INVALID" })
            .text("text", &self.sentence)
            .end()
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
    Some(json_list(parts.iter().map(Part::json)))
}

fn lines(input: &Input<'_>) -> Vec<String> {
    input.parts.iter().map(Part::line).collect()
}
