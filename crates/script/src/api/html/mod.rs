//! Module `k6/html`: pages as trees, queried as jQuery does. The steps between nodes are here; what scripts call is in
//! `js/html.js`, with the methods of each kind of element as a table.

mod attributes;
mod tree;

use std::collections::HashMap;
use std::rc::Rc;

use dom_query::{Document, Matcher, NodeData, NodeId, NodeRef};
use rquickjs::function::Opt;
use rquickjs::module::{Declarations, Exports, ModuleDef};
use rquickjs::{Class, Ctx, Exception, Function, Object, Result, Value};
use stdx::MemoryShare;

use self::tree::TreeError;
use super::js_builtins::{declare_all, export_all, js_builtin};
use super::web;
use crate::runtime::current::{interruptible, on_worker_stack};
use crate::runtime::ffi::{OpaqueHandle, WorkerLoan};
use crate::runtime::values::string_of;

/// The module.
pub(super) struct Html;

const NAMES: [&str; 1] = ["parseHTML"];
/// A page is parsed up to this many bytes: 64 MiB.
const PAGE_MAX: usize = 64 << 20;
/// A selector is read up to this many bytes, and brackets in it to this depth; what is longer or deeper matches nothing.
const SELECTOR_MAX: usize = 64 << 10;
const SELECTOR_DEPTH_MAX: usize = 32;
/// The text of a selection is given up to this many bytes: 512 MiB.
const TEXT_MAX: usize = 512 << 20;
/// After so many nodes it is asked whether the script is to end.
const NODES_BETWEEN_LOOKS: usize = 64;

/// A page: its nodes numbered in the order of the document.
struct Page {
    document: Document,
    nodes: Vec<NodeId>,
    numbers: HashMap<NodeId, u32>,
    /// Goes back with the page.
    _memory: MemoryShare,
}

type PageHandle<'js> = Class<'js, OpaqueHandle>;

impl Page {
    /// The page of a text.
    ///
    /// # Errors
    /// It is too large, there is no memory for it, or the script is to end.
    fn parsed(text: &str, stops: &dyn Fn() -> bool) -> std::result::Result<Self, TreeError> {
        let mut memory = MemoryShare::default();
        let document = tree::parsed(text, &mut memory, stops)?;
        let root = document.root();
        let mut nodes = vec![root.id];
        nodes.extend(root.descendants_it().map(|node| node.id));
        let numbers = nodes.iter().enumerate().map(|(at, id)| (*id, at as u32)).collect();
        Ok(Self { document, nodes, numbers, _memory: memory })
    }

    /// A page of nothing.
    fn empty() -> Self {
        let (nodes, numbers) = (Vec::new(), HashMap::new());
        Self { document: Document::default(), nodes, numbers, _memory: MemoryShare::default() }
    }

    fn node(&self, number: u32) -> Option<NodeRef<'_>> {
        self.document.tree.get(self.nodes.get(number as usize)?)
    }

    fn number(&self, node: Option<NodeRef<'_>>) -> Option<u32> {
        self.numbers.get(&node?.id).copied()
    }

    /// The numbers of those of these nodes that match, in their order; some of them once the script is to end.
    fn matching<'a>(
        &self,
        nodes: impl Iterator<Item = NodeRef<'a>>,
        matcher: &Matcher,
        stops: &dyn Fn() -> bool,
    ) -> Vec<u32> {
        let mut found = Vec::new();
        for (seen, node) in nodes.enumerate() {
            if (seen + 1).is_multiple_of(NODES_BETWEEN_LOOKS) && stops() {
                break;
            }
            if node.is_element() && node.is_match(matcher) {
                found.extend(self.number(Some(node)));
            }
        }
        found
    }
}

/// The page that is held.
fn page(handle: &PageHandle<'_>) -> Rc<Page> {
    let handle = Rc::clone(&handle.borrow().0);
    handle.downcast::<Page>().unwrap_or_else(|_| Rc::new(Page::empty()))
}

impl ModuleDef for Html {
    fn declare(declared: &Declarations<'_>) -> Result<()> {
        declare_all(declared, &NAMES)
    }

    fn evaluate<'js>(ctx: &Ctx<'js>, exports: &Exports<'js>) -> Result<()> {
        let all = Object::new(ctx.clone())?;
        all.set("parseHTML", parser(ctx)?)?;
        export_all(exports, &all, &NAMES)
    }
}

/// Where a context keeps `parseHTML`, for the module and for responses.
const PARSER: &str = "\u{1}parseHTML";

/// Makes what the module and responses need, once a context.
pub(crate) fn install(ctx: &Ctx<'_>) -> Result<()> {
    let parser = made(ctx)?;
    ctx.globals().prop(PARSER, rquickjs::object::Property::from(parser))
}

/// `parseHTML`: a function of a text and of the URL it came from, that gives the `Selection` of the page.
pub(crate) fn parser<'js>(ctx: &Ctx<'js>) -> Result<Function<'js>> {
    ctx.globals().get(PARSER)
}

/// Makes `parseHTML`, with the classes of what it gives.
fn made<'js>(ctx: &Ctx<'js>) -> Result<Function<'js>> {
    let native = Object::new(ctx.clone())?;
    native.set("parse", Function::new(ctx.clone(), parse)?)?;
    native.set("find", Function::new(ctx.clone(), find)?)?;
    native.set("matches", Function::new(ctx.clone(), matches)?)?;
    native.set("name", Function::new(ctx.clone(), name)?)?;
    native.set("kind", Function::new(ctx.clone(), kind)?)?;
    native.set("value", Function::new(ctx.clone(), value)?)?;
    native.set("text", Function::new(ctx.clone(), text)?)?;
    native.set("html", Function::new(ctx.clone(), html)?)?;
    native.set("attributes", Function::new(ctx.clone(), attributes)?)?;
    native.set("attribute", Function::new(ctx.clone(), attribute)?)?;
    native.set("step", Function::new(ctx.clone(), step)?)?;
    native.set("children", Function::new(ctx.clone(), children)?)?;
    native.set("resolve", Function::new(ctx.clone(), resolve)?)?;
    native.set("part", Function::new(ctx.clone(), web::part)?)?;
    let elements = include_str!("../js/html_elements.js");
    native.set(
        "elements",
        js_builtin::<Function<'js>>(
            ctx,
            "html_elements",
            elements,
            Value::new_undefined(ctx.clone()),
        )?,
    )?;
    js_builtin(ctx, "html", include_str!("../js/html.js"), native)
}

fn parse<'js>(ctx: Ctx<'js>, text: Opt<Value<'js>>) -> Result<PageHandle<'js>> {
    let text = text.0.filter(|text| !text.is_undefined() && !text.is_null());
    let text = text.as_ref().map(string_of).transpose()?.unwrap_or_default();
    if text.len() > PAGE_MAX {
        return Err(Exception::throw_message(&ctx, "the page is longer than 64 MiB"));
    }
    match interruptible(&ctx, |stops: &dyn Fn() -> bool| Page::parsed(&text, stops))? {
        Ok(page) => Class::instance(ctx, OpaqueHandle::of(page)),
        Err(error) => Err(Exception::throw_message(&ctx, error.message())),
    }
}

/// The nodes below these that a selector matches, in the order of the document. A wrong selector matches none.
fn find<'js>(
    ctx: Ctx<'js>,
    handle: PageHandle<'js>,
    below: Vec<u32>,
    selector: String,
) -> Result<Vec<u32>> {
    let page = page(&handle);
    let loan = WorkerLoan::new(&*page);
    interruptible(&ctx, move |stops| {
        let (page, Some(matcher)) = (loan.get(), matcher(&selector)) else { return Vec::new() };
        let mut found = Vec::new();
        for root in below.into_iter().filter_map(|number| page.node(number)) {
            found.extend(page.matching(root.descendants_it(), &matcher, stops));
        }
        // Selections may overlap.
        found.sort_unstable();
        found.dedup();
        found
    })
}

/// Those of these nodes that a selector matches.
fn matches<'js>(
    ctx: Ctx<'js>,
    handle: PageHandle<'js>,
    of: Vec<u32>,
    selector: String,
) -> Result<Vec<u32>> {
    let page = page(&handle);
    let loan = WorkerLoan::new(&*page);
    interruptible(&ctx, move |stops| {
        let (page, Some(matcher)) = (loan.get(), matcher(&selector)) else { return Vec::new() };
        page.matching(of.into_iter().filter_map(|number| page.node(number)), &matcher, stops)
    })
}

/// What jQuery's own pseudo-classes are in CSS.
const PSEUDO: [(&str, &str); 9] = [
    (":checked", ":is([checked],option[selected])"),
    (":enabled", ":is(input,button,select,textarea,option,optgroup,fieldset):not([disabled])"),
    (":disabled", ":is(input,button,select,textarea,option,optgroup,fieldset)[disabled]"),
    (":input", ":is(input,textarea,select,button)"),
    (":button", ":is(button,input[type=button])"),
    (":containsOwn(", ":contains("),
    (":parent", ":not(:empty)"),
    (":header", ":is(h1,h2,h3,h4,h5,h6)"),
    (":selected", "[selected]"),
];

fn matcher(selector: &str) -> Option<Matcher> {
    if selector.len() > SELECTOR_MAX || nesting(selector) > SELECTOR_DEPTH_MAX {
        return None;
    }
    let mut text = selector.to_owned();
    for (theirs, ours) in PSEUDO {
        if text.contains(theirs) {
            text = text.replace(theirs, ours);
        }
    }
    Matcher::new(&quoted(&unequal(&text))).ok()
}

/// How deep brackets are nested in a text at most; those in strings count as well.
fn nesting(text: &str) -> usize {
    let (mut depth, mut most) = (0_usize, 0);
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        most = most.max(depth);
    }
    most
}

/// `:contains(text)` is `:contains("text")`.
fn quoted(selector: &str) -> String {
    const OPENING: &str = ":contains(";
    let (mut text, mut rest) = (String::new(), selector);
    while let Some((before, after)) = rest.split_once(OPENING) {
        text.push_str(before);
        text.push_str(OPENING);
        rest = after;
        if let Some(end) = after.find(')').filter(|_| !after.starts_with(['"', '\''])) {
            let inner = after[..end].trim().replace('\\', "\\\\").replace('"', "\\\"");
            text.push_str(&format!("\"{inner}\""));
            rest = &after[end..];
        }
    }
    text + rest
}

/// `[name!=value]` is `:not([name=value])`.
fn unequal(selector: &str) -> String {
    let mut text = selector.to_owned();
    while let Some(at) = text.find("!=") {
        let Some(open) = text[..at].rfind('[') else { break };
        let Some(close) = text[at..].find(']').map(|end| at + end) else { break };
        let inner = format!("{}={}", &text[open + 1..at], &text[at + 2..close]);
        text.replace_range(open..=close, &format!(":not([{inner}])"));
    }
    text
}

/// The name of a node as the DOM has it, but in small letters.
fn name(handle: PageHandle<'_>, number: u32) -> String {
    let page = page(&handle);
    let Some(node) = page.node(number) else { return String::new() };
    node.query_or(String::new(), |node| match &node.data {
        NodeData::Document | NodeData::Fragment => "#document".to_owned(),
        NodeData::Text { .. } => "#text".to_owned(),
        NodeData::Comment { .. } => "#comment".to_owned(),
        NodeData::Doctype { name, .. } => name.to_string(),
        NodeData::Element(element) => element.node_name().to_string(),
        NodeData::ProcessingInstruction { .. } => "#instruction".to_owned(),
    })
}

/// The DOM's number of the kind of a node.
fn kind(handle: PageHandle<'_>, number: u32) -> u32 {
    let page = page(&handle);
    let Some(node) = page.node(number) else { return 0 };
    node.query_or(0, |node| match &node.data {
        NodeData::Element(_) => 1,
        NodeData::Text { .. } => 3,
        NodeData::ProcessingInstruction { .. } => 7,
        NodeData::Comment { .. } => 8,
        NodeData::Document | NodeData::Fragment => 9,
        NodeData::Doctype { .. } => 10,
    })
}

/// The content of a text or a comment.
fn value(handle: PageHandle<'_>, number: u32) -> Option<String> {
    let page = page(&handle);
    page.node(number)?.query(|node| match &node.data {
        NodeData::Text { contents } | NodeData::Comment { contents } => Some(contents.to_string()),
        _ => None,
    })?
}

/// The texts of these nodes, one after the other.
fn text<'js>(ctx: Ctx<'js>, handle: PageHandle<'js>, of: Vec<u32>) -> Result<String> {
    let page = page(&handle);
    let loan = WorkerLoan::new(&*page);
    let all = interruptible(&ctx, move |stops| {
        let mut all = String::new();
        for node in of.into_iter().filter_map(|number| loan.get().node(number)) {
            if stops() || all.len() > TEXT_MAX {
                break;
            }
            all.push_str(&node.text());
        }
        all
    })?;
    if all.len() > TEXT_MAX {
        return Err(Exception::throw_message(&ctx, "the text is longer than 512 MiB"));
    }
    Ok(all)
}

fn html<'js>(ctx: Ctx<'js>, handle: PageHandle<'js>, number: u32) -> String {
    let page = page(&handle);
    let loan = WorkerLoan::new(&*page);
    on_worker_stack(&ctx, move || {
        loan.get().node(number).map(|node| node.inner_html().to_string()).unwrap_or_default()
    })
}

fn attributes(handle: PageHandle<'_>, number: u32) -> Vec<Vec<String>> {
    let page = page(&handle);
    let Some(node) = page.node(number) else { return Vec::new() };
    let attributes = node.attrs().into_iter();
    attributes.map(|attr| vec![attr.name.local.to_string(), attr.value.to_string()]).collect()
}

fn attribute(handle: PageHandle<'_>, number: u32, name: String) -> Option<String> {
    page(&handle).node(number)?.attr(&name).map(|value| value.to_string())
}

/// The node one step away.
fn step(handle: PageHandle<'_>, number: u32, way: String) -> Option<u32> {
    let page = page(&handle);
    let node = page.node(number)?;
    page.number(match way.as_str() {
        "parent" => node.parent(),
        "next" => node.next_sibling(),
        "previous" => node.prev_sibling(),
        "nextElement" => node.next_element_sibling(),
        _ => node.prev_element_sibling(),
    })
}

/// The nodes right below one.
fn children(handle: PageHandle<'_>, number: u32, elements: bool) -> Vec<u32> {
    let page = page(&handle);
    let Some(node) = page.node(number) else { return Vec::new() };
    let below = node.children_it(false).filter(|child| !elements || child.is_element());
    below.filter_map(|child| page.number(Some(child))).collect()
}

/// A link as seen from a page; as it is written where that says nothing.
fn resolve(base: String, link: String) -> String {
    let base = url::Url::parse(&base).ok();
    match url::Url::options().base_url(base.as_ref()).parse(&link) {
        Ok(url) => String::from(url),
        Err(_) => link,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jquerys_selectors_become_css() {
        for (theirs, ours) in [
            ("a[b!=c] d", "a:not([b=c]) d"),
            ("[a!='b'][c!=d]", ":not([a='b']):not([c=d])"),
            ("a[b=c]", "a[b=c]"),
        ] {
            assert_eq!(unequal(theirs), ours);
        }
        assert_eq!(
            quoted("p:contains(a b) q:contains('c')"),
            "p:contains(\"a b\") q:contains('c')"
        );
        let nested = |depth| ":not(".repeat(depth) + "a" + &")".repeat(depth);
        let long = "a,".repeat(SELECTOR_MAX) + "a";
        for wrong in
            [":::", "", "a[", "!=", &nested(SELECTOR_DEPTH_MAX + 1), &nested(100_000), &long]
        {
            assert!(matcher(wrong).is_none(), "{}", &wrong[..wrong.len().min(20)]);
        }
        assert!(matcher(&nested(SELECTOR_DEPTH_MAX)).is_some());
    }
}
