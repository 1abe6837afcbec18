//! `SampleView`: what a sample has that extractors read and assertions judge.

use std::borrow::Cow;

/// A sample, as JMeter shows it to extractors and assertions.
#[derive(Clone, Debug, Default)]
pub struct SampleView<'a> {
    /// Its label.
    pub label: &'a str,
    /// The address, as rows of results have it; empty where there is none.
    pub url: &'a str,
    /// The body as it came, decoded of its content encoding.
    pub body: &'a [u8],
    /// The body as a text in the response's charset.
    pub text: &'a str,
    /// `200`, or `Non HTTP response code: ...`.
    pub code: &'a str,
    /// `OK`, or `Non HTTP response message: ...`.
    pub message: &'a str,
    /// The fields of the request, `name: value`, a line each.
    pub request_headers: &'a str,
    /// What was requested: `GET http://...`, a blank line, the body.
    pub request_data: &'a str,
    /// The status line and the fields of the response, a line each.
    pub response_headers: &'a str,
    /// The response's `Content-Type`.
    pub content_type: &'a str,
    /// How long it took, in whole milliseconds.
    pub elapsed_ms: u64,
    /// Whether it is taken for a success so far.
    pub is_success: bool,
    /// The bytes of the response's header as they came.
    pub header_bytes: u64,
    /// The bytes of the response's body as they came, still encoded.
    pub body_bytes: u64,
    /// Redirects and embedded resources, in their order.
    pub children: &'a [Self],
}

/// Samples stand in one another so deep at most, as JMeter looks for them.
const DEPTH_MAX: u32 = 4;
/// Samples that one extractor looks at, at most.
const SAMPLES_MAX: usize = 10_000;

/// Which texts an element applies to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The sample itself.
    Main,
    /// The samples below it.
    Children,
    /// The sample, and those below it.
    All,
    /// A variable.
    Variable(String),
}

impl Reach {
    /// The reach of an element whose property `scope` names it.
    pub(crate) fn of(word: &str, variable: impl FnOnce() -> String) -> Self {
        match word {
            "children" => Self::Children,
            "all" => Self::All,
            "variable" => Self::Variable(variable()),
            _ => Self::Main,
        }
    }

    /// The samples in reach; none where it is a variable.
    pub(crate) fn samples<'a>(&self, main: &'a SampleView<'a>) -> Vec<&'a SampleView<'a>> {
        let mut samples = Vec::new();
        if matches!(self, Self::Main | Self::All) {
            samples.push(main);
        }
        if matches!(self, Self::Children | Self::All) {
            below(main, &mut samples, 0);
        }
        samples
    }
}

/// Adds all children, and then for each of them its own.
fn below<'a>(sample: &'a SampleView<'a>, samples: &mut Vec<&'a SampleView<'a>>, depth: u32) {
    let room = SAMPLES_MAX.saturating_sub(samples.len());
    samples.extend(sample.children.iter().take(room));
    if depth < DEPTH_MAX {
        sample.children.iter().for_each(|child| below(child, samples, depth + 1));
    }
}

impl<'a> SampleView<'a> {
    /// All bytes of the response as they came.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.header_bytes + self.body_bytes
    }

    /// The body as the text of a document: of HTML and XML what is between the tags.
    #[must_use]
    pub fn document_text(&self) -> Cow<'a, str> {
        crate::html::document_text(self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reaches_find_their_samples() {
        let leaves = [SampleView { label: "x", ..SampleView::default() }];
        let children = [
            SampleView { label: "a", children: &leaves, ..SampleView::default() },
            SampleView { label: "b", ..SampleView::default() },
        ];
        let main = SampleView { label: "m", children: &children, ..SampleView::default() };
        let labels = |word: &str| {
            let reach = Reach::of(word, String::new);
            reach.samples(&main).iter().map(|sample| sample.label).collect::<String>()
        };
        assert_eq!(
            [labels(""), labels("parent"), labels("children"), labels("all"), labels("variable")],
            ["m", "m", "abx", "mabx", ""]
        );
    }
}
