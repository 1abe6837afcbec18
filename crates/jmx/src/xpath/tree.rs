//! `Tree`: a document as a list of nodes in their order.

use std::collections::HashSet;

use dom_query::NodeRef;

use super::{XmlError, parse_xml};

/// A document. The first node is its root; descendants of a node follow it without a gap.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(super) nodes: Vec<Node>,
    /// Prefixes and what they stand for, as elements declare them; the first of one name counts.
    pub(super) namespaces: Vec<(String, String)>,
    /// The prefixes among them.
    prefixes: HashSet<String>,
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// Its name without a prefix.
    pub(super) name: String,
    pub(super) prefix: Option<String>,
    pub(super) namespace: String,
    /// The text of a text, a comment or an attribute.
    pub(super) text: String,
    pub(super) parent: Option<usize>,
    /// The first node that no longer stands in it.
    pub(super) end: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Root,
    Element,
    Attribute,
    Text,
    Comment,
    Instruction,
}

/// Nodes of a page at most; what follows is left out.
const NODES_MAX: usize = 1_000_000;
/// Elements of a page stand in one another so deep at most.
const DEPTH_MAX: usize = 512;

impl Tree {
    /// XML as a tree.
    pub(crate) fn of_xml(text: &str) -> Result<Self, XmlError> {
        let document = parse_xml(text)?;
        let mut tree = Self::default();
        tree.add_xml(document.root(), None);
        Ok(tree)
    }

    /// A page as a tree, whatever is wrong with it.
    pub(crate) fn of_page(text: &str) -> Self {
        let page = crate::html::parse(text);
        let mut tree = Self::default();
        tree.add_page(&page.root(), None, 0);
        tree
    }

    fn open(&mut self, kind: Kind, name: &str, parent: Option<usize>) -> usize {
        let at = self.nodes.len();
        let (prefix, namespace, text) = (None, String::new(), String::new());
        let name = name.to_owned();
        self.nodes.push(Node { kind, name, prefix, namespace, text, parent, end: at + 1 });
        at
    }

    fn leaf(&mut self, kind: Kind, name: &str, text: &str, parent: Option<usize>) -> usize {
        let at = self.open(kind, name, parent);
        text.clone_into(&mut self.nodes[at].text);
        at
    }

    fn add_xml(&mut self, node: roxmltree::Node<'_, '_>, parent: Option<usize>) {
        let text = node.text().unwrap_or_default();
        match node.node_type() {
            roxmltree::NodeType::Text => {
                self.leaf(Kind::Text, "", text, parent);
            }
            roxmltree::NodeType::Comment => {
                self.leaf(Kind::Comment, "", text, parent);
            }
            roxmltree::NodeType::PI => {
                let instruction = node.pi();
                let name = instruction.map_or("", |instruction| instruction.target);
                let text = instruction.and_then(|instruction| instruction.value);
                self.leaf(Kind::Instruction, name, text.unwrap_or_default(), parent);
            }
            roxmltree::NodeType::Root => {
                let at = self.open(Kind::Root, "", parent);
                node.children().for_each(|child| self.add_xml(child, Some(at)));
                self.nodes[at].end = self.nodes.len();
            }
            roxmltree::NodeType::Element => {
                let at = self.open(Kind::Element, node.tag_name().name(), parent);
                self.nodes[at].prefix = prefix_of(node, node.tag_name().namespace());
                node.tag_name()
                    .namespace()
                    .unwrap_or_default()
                    .clone_into(&mut self.nodes[at].namespace);
                self.declare(node);
                for attribute in node.attributes() {
                    let leaf =
                        self.leaf(Kind::Attribute, attribute.name(), attribute.value(), Some(at));
                    let namespace = attribute.namespace();
                    self.nodes[leaf].prefix = prefix_of(node, namespace);
                    namespace.unwrap_or_default().clone_into(&mut self.nodes[leaf].namespace);
                }
                node.children().for_each(|child| self.add_xml(child, Some(at)));
                self.nodes[at].end = self.nodes.len();
            }
        }
    }

    /// Notes the prefixes that an element declares. Those around it are known: with none of its own it has as many as they.
    fn declare(&mut self, node: roxmltree::Node<'_, '_>) {
        let around = node.parent().map_or(0, |parent| parent.namespaces().count());
        if node.namespaces().count() == around {
            return;
        }
        for declared in node.namespaces() {
            let prefix = declared.name().unwrap_or_default();
            if !self.prefixes.contains(prefix) {
                self.prefixes.insert(prefix.to_owned());
                self.namespaces.push((prefix.to_owned(), declared.uri().to_owned()));
            }
        }
    }

    fn add_page(&mut self, node: &NodeRef<'_>, parent: Option<usize>, depth: usize) {
        if depth > DEPTH_MAX || self.nodes.len() > NODES_MAX {
            return;
        }
        if node.is_text() {
            self.leaf(Kind::Text, "", &node.text(), parent);
        } else if node.is_element() || parent.is_none() {
            let kind = if parent.is_none() { Kind::Root } else { Kind::Element };
            let name = node.node_name().unwrap_or_default();
            let at = self.open(kind, if parent.is_none() { "" } else { &name }, parent);
            for attribute in node.attrs() {
                self.leaf(Kind::Attribute, &attribute.name.local, &attribute.value, Some(at));
            }
            for child in node.children_it(false) {
                self.add_page(&child, Some(at), depth + 1);
            }
            self.nodes[at].end = self.nodes.len();
        }
    }

    /// The text of a node: of an element all texts in it.
    pub(super) fn text_of(&self, at: usize) -> String {
        let node = &self.nodes[at];
        match node.kind {
            Kind::Root | Kind::Element => {
                let inner = self.nodes[at..node.end].iter();
                inner.filter(|node| node.kind == Kind::Text).map(|node| &*node.text).collect()
            }
            _ => node.text.clone(),
        }
    }

    /// The first text of an element, whatever else stands in it; `None` where it begins with an element.
    pub(super) fn first_text(&self, at: usize) -> Option<String> {
        let node = &self.nodes[at];
        if node.kind != Kind::Element {
            return Some(self.text_of(at));
        }
        let first = self.children(at).next()?;
        (self.nodes[first].kind != Kind::Element).then(|| self.text_of(first))
    }

    /// The children of a node.
    pub(super) fn children(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.nodes[at].end;
        let mut next = at + 1;
        std::iter::from_fn(move || {
            while next < end && self.nodes[next].kind == Kind::Attribute {
                next += 1;
            }
            let child = (next < end).then_some(next)?;
            next = self.nodes[child].end;
            Some(child)
        })
    }

    /// A node as XML; elements declare the namespaces that are known where `declares`.
    pub(super) fn markup(&self, at: usize, declares: Declares) -> String {
        let mut text = String::new();
        self.write(at, declares, &mut text);
        text
    }

    fn write(&self, at: usize, declares: Declares, text: &mut String) {
        let node = &self.nodes[at];
        let name = match &node.prefix {
            Some(prefix) => format!("{prefix}:{}", node.name),
            None => node.name.clone(),
        };
        match node.kind {
            Kind::Text => text.push_str(&escaped(&node.text)),
            Kind::Comment => text.push_str(&format!("<!--{}-->", node.text)),
            Kind::Instruction => text.push_str(&format!("<?{name} {}?>", node.text)),
            Kind::Attribute => {
                let value = escaped(&node.text).replace('"', "&quot;");
                text.push_str(&format!("{name}=\"{value}\""));
            }
            Kind::Root => self.children(at).for_each(|child| self.write(child, declares, text)),
            Kind::Element => {
                text.push_str(&format!("<{name}"));
                if declares == Declares::All {
                    for (prefix, namespace) in
                        self.namespaces.iter().filter(|(_, uri)| !uri.is_empty())
                    {
                        let colon = if prefix.is_empty() { "" } else { ":" };
                        text.push_str(&format!(" xmlns{colon}{prefix}=\"{}\"", escaped(namespace)));
                    }
                }
                let attributes = (at + 1..node.end)
                    .take_while(|inner| self.nodes[*inner].kind == Kind::Attribute);
                for attribute in attributes {
                    text.push(' ');
                    self.write(attribute, declares, text);
                }
                if self.children(at).next().is_none() {
                    return text.push_str("/>");
                }
                text.push('>');
                self.children(at).for_each(|child| self.write(child, Declares::None, text));
                text.push_str(&format!("</{name}>"));
            }
        }
    }
}

/// Whether markup declares its namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Declares {
    All,
    None,
}

fn prefix_of(node: roxmltree::Node<'_, '_>, namespace: Option<&str>) -> Option<String> {
    let prefix = node.lookup_prefix(namespace?)?;
    (!prefix.is_empty()).then(|| prefix.to_owned())
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
