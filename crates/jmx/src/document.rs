//! The XML of a plan: bounded in size and depth, without document types and entities of its own.

use std::borrow::Cow;

use roxmltree::{Document, Node, ParsingOptions};

/// Why a file is no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// It has more bytes than a plan may have.
    #[error("the plan has {bytes} bytes, more than {PLAN_BYTES_MAX}")]
    TooLong {
        /// How many.
        bytes: usize,
    },
    /// Elements stand in one another deeper than they may.
    #[error("line {line}: elements stand more than {DEPTH_MAX} deep in one another")]
    TooDeep {
        /// Where.
        line: u32,
    },
    /// There is nothing in it.
    #[error("the plan is empty")]
    Empty,
    /// It is no XML.
    #[error("no well-formed XML: {reason}")]
    Malformed {
        /// Where and why.
        reason: roxmltree::Error,
    },
    /// It is not JMeter's.
    #[error("no JMeter plan: its root is <{root}>, not <jmeterTestPlan>")]
    OtherRoot {
        /// What it is.
        root: String,
    },
}

/// Bytes of a plan at most: 32 MiB.
pub const PLAN_BYTES_MAX: usize = 32 << 20;
/// Elements stand in one another this deep at most.
pub const DEPTH_MAX: u32 = 256;
/// Elements, texts and attributes that the parser keeps at most.
const NODES_MAX: u32 = 4_000_000;

/// The text of a file: JMeter reads UTF-8, whatever encoding a file names.
pub(crate) fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, DocumentError> {
    if bytes.len() > PLAN_BYTES_MAX {
        return Err(DocumentError::TooLong { bytes: bytes.len() });
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(DocumentError::Empty);
    }
    Ok(String::from_utf8_lossy(bytes))
}

/// Parses a text whose depth is known to be bounded.
pub(crate) fn parse(text: &str) -> Result<Document<'_>, DocumentError> {
    bound_depth(text)?;
    let options =
        ParsingOptions { allow_dtd: false, nodes_limit: NODES_MAX, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options)
        .map_err(|reason| DocumentError::Malformed { reason })?;
    let root = document.root_element().tag_name().name();
    if root != "jmeterTestPlan" {
        return Err(DocumentError::OtherRoot { root: stdx::cut_text(root, 80).to_string() });
    }
    Ok(document)
}

/// As much of a plan as JMeter reads: a file is over for it where the first element in its root has ended, whatever follows.
pub(crate) fn as_read(text: &str) -> Cow<'_, str> {
    let mut depth = 0_u32;
    let mut root = "";
    for tag in Tags::of(text) {
        if depth == 0 && tag.kind == TagKind::Opens {
            root = tag_name(&text[tag.at..tag.end]);
        }
        depth = tag.depth_after(depth);
        let ends = matches!(tag.kind, TagKind::Closes | TagKind::Empty);
        if ends && depth == 1 {
            return Cow::Owned(format!("{}</{root}>", &text[..tag.end]));
        }
    }
    Cow::Borrowed(text)
}

/// Looks how deep elements stand in one another before the parser does, which goes down by calls.
pub(crate) fn bound_depth(text: &str) -> Result<(), DocumentError> {
    let mut depth = 0_u32;
    for tag in Tags::of(text) {
        depth = tag.depth_after(depth);
        if depth > DEPTH_MAX {
            return Err(DocumentError::TooDeep { line: 1 + newlines(&text.as_bytes()[..tag.at]) });
        }
    }
    Ok(())
}

/// The name of a tag that opens an element.
fn tag_name(tag: &str) -> &str {
    let name = tag.trim_start_matches('<');
    name.split(|c: char| c.is_whitespace() || matches!(c, '>' | '/')).next().unwrap_or_default()
}

/// What a piece of markup does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TagKind {
    Opens,
    Closes,
    Empty,
    /// A comment, an instruction, and what is none of all.
    Other,
}

/// A piece of markup, from its `<` on.
struct Tag {
    kind: TagKind,
    at: usize,
    end: usize,
}

impl Tag {
    const fn depth_after(&self, depth: u32) -> u32 {
        match self.kind {
            TagKind::Opens => depth + 1,
            TagKind::Closes => depth.saturating_sub(1),
            TagKind::Empty | TagKind::Other => depth,
        }
    }
}

/// The markup of a text, in its order.
struct Tags<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Tags<'a> {
    const fn of(text: &'a str) -> Self {
        Self { bytes: text.as_bytes(), at: 0 }
    }
}

impl Iterator for Tags<'_> {
    type Item = Tag;

    fn next(&mut self) -> Option<Tag> {
        let rest = &self.bytes[self.at..];
        let at = self.at + rest.iter().position(|byte| *byte == b'<')?;
        let (kind, length) = markup(&self.bytes[at..]);
        self.at = at + length;
        Some(Tag { kind, at, end: self.at })
    }
}

/// The kind and the length of the markup at a text's beginning.
fn markup(rest: &[u8]) -> (TagKind, usize) {
    let plain = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")];
    for (start, end) in plain {
        if rest.starts_with(start.as_bytes()) {
            return (TagKind::Other, end_of(rest, end.as_bytes()));
        }
    }
    let length = end_of_tag(rest);
    let tag = &rest[..length];
    let kind = match tag {
        _ if tag.starts_with(b"</") => TagKind::Closes,
        _ if tag.starts_with(b"<!") || !tag.ends_with(b">") => TagKind::Other,
        _ if tag.ends_with(b"/>") => TagKind::Empty,
        _ => TagKind::Opens,
    };
    (kind, length)
}

fn newlines(bytes: &[u8]) -> u32 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u32
}

/// Where a text that begins here has ended.
fn end_of(rest: &[u8], end: &[u8]) -> usize {
    let found = rest.windows(end.len()).position(|window| window == end);
    found.map_or(rest.len(), |at| at + end.len())
}

/// Where a tag that begins here has ended; what is quoted does not end it.
fn end_of_tag(rest: &[u8]) -> usize {
    let mut quote = None;
    for (at, byte) in rest.iter().enumerate() {
        match (quote, byte) {
            (None, b'>') => return at + 1,
            (None, b'"' | b'\'') => quote = Some(*byte),
            (Some(open), byte) if open == *byte => quote = None,
            _ => {}
        }
    }
    rest.len()
}

/// The elements in a node.
pub(crate) fn elements<'a, 'input>(
    node: Node<'a, 'input>,
) -> impl Iterator<Item = Node<'a, 'input>> {
    node.children().filter(Node::is_element)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        let text = decode(text.as_bytes()).expect("decoded").into_owned();
        parse(&text).expect_err("refused").to_string()
    }

    #[test]
    fn what_is_no_plan_is_refused() {
        assert!(error("{}").contains("no well-formed XML"));
        assert!(error("<html/>").contains("its root is <html>"));
        assert!(error("<jmeterTestPlan>").contains("no well-formed XML"));
        assert!(error("\n<?xml version=\"1.0\"?><jmeterTestPlan/>").contains("no well-formed XML"));
        assert_eq!(decode(b" \n"), Err(DocumentError::Empty));
    }

    #[test]
    fn entities_of_its_own_are_refused() {
        let laughs = "<!DOCTYPE a [<!ENTITY b \"&c;&c;\"><!ENTITY c \"ha\">]><jmeterTestPlan>&b;</jmeterTestPlan>";
        assert!(error(laughs).contains("DTD"), "{}", error(laughs));
        assert!(error("<jmeterTestPlan>&b;</jmeterTestPlan>").contains("no well-formed XML"));
    }

    #[test]
    fn a_plan_ends_where_the_tree_in_its_root_does() {
        let plan = |end: &str| {
            format!(
                "<?xml version='1.0'?><!-- <a> --><jmeterTestPlan v='>'>\n<hashTree><a/></hashTree>{end}"
            )
        };
        for end in [
            "",
            "</jmeterTestPla>",
            "</jmeterTestPlan>\n<more>",
            "<hashTree><b></hashTree>",
            " & \0",
        ] {
            let text = plan(end);
            let text = as_read(&text);
            let document = parse(&text).expect(end);
            let trees = elements(document.root_element()).count();
            assert_eq!(trees, 1, "{end}");
        }
        for whole in [
            "<jmeterTestPlan><hashTree><a></hashTree></jmeterTestPlan>",
            "<jmeterTestPlan><hashTree>",
        ] {
            assert!(parse(&as_read(whole)).is_err(), "{whole}");
        }
    }

    #[test]
    fn depth_and_length_are_bounded() {
        let deep = format!("<jmeterTestPlan>\n{}", "<a b='>'>".repeat(1_000_000));
        assert_eq!(error(&deep), "line 2: elements stand more than 256 deep in one another");
        let flat =
            format!("<jmeterTestPlan>{}</jmeterTestPlan>", "<a/><!--<a>--><b></b>".repeat(500));
        assert!(parse(&flat).is_ok());
        let long = vec![b' '; PLAN_BYTES_MAX + 1];
        assert!(matches!(decode(&long), Err(DocumentError::TooLong { .. })));
    }
}
