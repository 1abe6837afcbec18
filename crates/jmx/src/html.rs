//! HTML as texts: its references resolved, its tags left out.

use std::borrow::Cow;

use dom_query::{Document, NodeRef};

/// Bytes of a page that is parsed at most; what follows is left out.
const PAGE_BYTES_MAX: usize = 8 << 20;

/// A page as a tree.
pub(crate) fn parse(text: &str) -> Document {
    Document::from(&*stdx::cut_text(text, PAGE_BYTES_MAX))
}

/// A text with `&amp;` and its kind resolved.
pub(crate) fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.bytes().take(40).position(|byte| byte == b';');
        match end.and_then(|end| Some((letters_of(&rest[1..end])?, end))) {
            Some((letters, end)) => {
                plain.push_str(&letters);
                rest = &rest[end + 1..];
            }
            None => {
                plain.push('&');
                rest = &rest[1..];
            }
        }
    }
    plain + rest
}

/// The letters that a reference stands for; its name is without `&` and `;`.
fn letters_of(name: &str) -> Option<String> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(code).map(String::from);
    }
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    // The parser has the table of all names.
    let written = format!("&{name};");
    let letters = Document::from(written.as_str()).text().to_string();
    (letters != written).then_some(letters)
}

/// The text of a document: of HTML and XML without tags, scripts and styles; another text as it is.
pub(crate) fn document_text(text: &str) -> Cow<'_, str> {
    if !text.trim_start().starts_with('<') {
        return Cow::Borrowed(text);
    }
    let document = parse(text);
    document.select("script, style, noscript").remove();
    Cow::Owned(document.root().text().trim().to_owned())
}

/// Elements that begin on a line of their own.
const BLOCKS: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "br",
    "caption",
    "dd",
    "details",
    "dialog",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "legend",
    "li",
    "main",
    "nav",
    "ol",
    "p",
    "pre",
    "section",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "ul",
];

/// The text of an element as jsoup has it: blanks are single ones, and blocks are apart.
pub(crate) fn visible_text(node: &NodeRef<'_>) -> String {
    let is_block = |node: &NodeRef<'_>| {
        node.node_name().is_some_and(|name| BLOCKS.contains(&&*name.to_ascii_lowercase()))
    };
    let mut text = String::new();
    for part in node.descendants_it() {
        if is_block(&part) || part.prev_sibling().is_some_and(|before| is_block(&before)) {
            text.push(' ');
        }
        if part.is_text() && !part.parent().is_some_and(|parent| is_data(&parent)) {
            text.push_str(&part.text());
        }
    }
    text.split_ascii_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether what stands in an element is no text for people.
fn is_data(node: &NodeRef<'_>) -> bool {
    node.has_name("script") || node.has_name("style")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_become_letters() {
        for (text, expect) in [
            ("a &lt;b&gt; &amp;amp; &quot;", "a <b> &amp; \""),
            ("&#65;&#x42;&euro;&eacute;", "AB€é"),
            ("& &; &nosuch; &#xffffffff; &amp", "& &; &nosuch; &#xffffffff; &amp"),
        ] {
            assert_eq!(unescape(text), expect);
        }
    }

    #[test]
    fn documents_lose_their_tags() {
        let page = "<html><head><style>b{}</style></head><body><p>one <b>two</b></p></body></html>";
        assert_eq!(document_text(page), "one two");
        assert_eq!(document_text("a < b"), "a < b");
    }
}
