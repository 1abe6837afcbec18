//! The part of a sample that an extractor by texts looks at.

use crate::html;
use crate::sample::SampleView;

/// The text that a property `useHeaders` names.
pub(super) fn text_of(sample: &SampleView<'_>, word: &str) -> String {
    let text = match word.to_ascii_lowercase().as_str() {
        "true" => sample.response_headers,
        "request_headers" => sample.request_headers,
        "url" => sample.url,
        "code" => sample.code,
        "message" => sample.message,
        "unescaped" => return html::unescape(sample.text),
        "as_document" => return sample.document_text().into_owned(),
        _ => sample.text,
    };
    text.to_owned()
}
