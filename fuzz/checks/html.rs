//! A CSS selector on the first line, then a page: its tree is bounded by its length, and the selector ends.

#[path = "../../crates/script/src/api/html/attributes.rs"]
mod attributes;
#[allow(dead_code, reason = "its users are in its own crate")]
#[path = "../../crates/script/src/api/html/tree.rs"]
mod tree;

use dom_query::Matcher;

/// Nodes that a byte of a page may become, and those that every page has. `<p` opens an element; a tag that closes may have those
/// around it opened again (html5ever, "the adoption agency algorithm").
const NODES_PER_BYTE: usize = 4;
const NODES_OF_ALL: usize = 64;

/// Nodes that the selector matches; `None` where it is none.
///
/// # Panics
/// The tree has more nodes than the page is long.
pub(crate) fn check(bytes: &[u8]) -> Option<usize> {
    let text = String::from_utf8_lossy(bytes);
    let (selector, page) = text.split_once('\n')?;
    let mut memory = stdx::MemoryShare::default();
    let document = tree::parsed(page, &mut memory, &|| false).expect("a small page");
    let nodes = document.root().descendants().len();
    assert!(nodes <= NODES_OF_ALL + NODES_PER_BYTE * page.len(), "{nodes} nodes");
    let matcher = Matcher::new(selector).ok()?;
    Some(document.select_matcher(&matcher).length())
}
