//! `TargetList`: targets in order, of which there may be millions. One takes the letters of its URL, its name and some 24 bytes:
//! methods, header fields and bodies are held once, however many targets have them.

use std::fmt;
use std::sync::Arc;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use stdx::{Interned, TextList};

use crate::target::Target;

/// Targets in order.
#[derive(Clone, Default)]
pub struct TargetList {
    urls: Arc<TextList>,
    /// Their names, up to the last target that has one.
    names: Arc<TextList>,
    heads: Interned<Head>,
    /// The head of each.
    head_of: Arc<Vec<u32>>,
    bodies: Interned<Arc<[u8]>>,
    /// The body of each.
    body_of: Vec<u32>,
}

/// What many targets have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Head {
    method: String,
    headers: Vec<(String, String)>,
    weight: u32,
}

/// A target of a list; its fields are those of a [`Target`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetRef<'a> {
    /// The method, as sent.
    pub method: &'a str,
    /// The URL, as given.
    pub url: &'a str,
    /// Header fields in order, names as given; repeats are kept.
    pub headers: &'a [(String, String)],
    /// The request body; may be empty.
    pub body: &'a Arc<[u8]>,
    /// How often it is chosen, relative to the others.
    pub weight: u32,
    /// A name to group by; may be empty.
    pub name: &'a str,
}

/// The texts that the rows of a list's targets are labelled with, shared with the list.
#[derive(Clone, Debug)]
pub struct TargetTexts {
    /// The URLs, as given.
    pub urls: Arc<TextList>,
    /// The names, up to the last target that has one.
    pub names: Arc<TextList>,
    /// The methods; many targets have the same.
    pub methods: Vec<String>,
    /// Which of the methods each target has.
    pub method_of: Arc<Vec<u32>>,
}

impl TargetList {
    /// How many targets there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.urls.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.urls.is_empty()
    }

    /// The target of this index.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<TargetRef<'_>> {
        let url = self.urls.get(index)?;
        let Head { method, headers, weight } = self.heads.get(self.head_of[index]);
        let body = self.bodies.get(self.body_of[index]);
        let name = self.names.get(index).unwrap_or_default();
        Some(TargetRef { method, url, headers, body, weight: *weight, name })
    }

    /// The targets in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = TargetRef<'_>> + Clone {
        (0..self.len()).map(|index| self.get(index).expect("an index of the list"))
    }

    /// Adds a target.
    pub fn push(&mut self, target: Target) {
        let Target { method, url, headers, body, weight, name } = target;
        if !name.is_empty() {
            let names = Arc::make_mut(&mut self.names);
            while names.len() < self.urls.len() {
                names.push("");
            }
            names.push(&name);
        }
        Arc::make_mut(&mut self.urls).push(&url);
        let head = self.heads.add(Head { method, headers, weight });
        Arc::make_mut(&mut self.head_of).push(head);
        self.body_of.push(self.bodies.add(body));
    }

    /// What the rows of these targets are labelled with.
    #[must_use]
    pub fn texts(&self) -> TargetTexts {
        TargetTexts {
            urls: Arc::clone(&self.urls),
            names: Arc::clone(&self.names),
            methods: self.heads.values().iter().map(|head| head.method.clone()).collect(),
            method_of: Arc::clone(&self.head_of),
        }
    }
}

impl TargetRef<'_> {
    /// The same with texts of its own.
    #[must_use]
    pub fn to_target(self) -> Target {
        Target {
            method: self.method.to_owned(),
            url: self.url.to_owned(),
            headers: self.headers.to_vec(),
            body: Arc::clone(self.body),
            weight: self.weight,
            name: self.name.to_owned(),
        }
    }
}

impl FromIterator<Target> for TargetList {
    fn from_iter<I: IntoIterator<Item = Target>>(targets: I) -> Self {
        let mut list = Self::default();
        targets.into_iter().for_each(|target| list.push(target));
        list
    }
}

impl From<Vec<Target>> for TargetList {
    fn from(targets: Vec<Target>) -> Self {
        targets.into_iter().collect()
    }
}

impl fmt::Debug for TargetList {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_list().entries(self.iter().map(TargetRef::to_target)).finish()
    }
}

impl PartialEq for TargetList {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Serialize for TargetList {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        // Its length is known: the compact form of a fleet's messages has it first.
        to.collect_seq(self.iter().map(TargetRef::to_target))
    }
}

impl<'de> Deserialize<'de> for TargetList {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_seq(ListVisitor)
    }
}

/// Takes targets one by one, so that a long list is nowhere as so many targets.
struct ListVisitor;

impl<'de> Visitor<'de> for ListVisitor {
    type Value = TargetList;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a list of targets")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut targets: A) -> Result<TargetList, A::Error> {
        let mut list = TargetList::default();
        while let Some(target) = targets.next_element()? {
            list.push(target);
        }
        Ok(list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(url: &str, name: &str, body: &[u8]) -> Target {
        Target {
            method: if body.is_empty() { "GET" } else { "POST" }.to_owned(),
            url: url.to_owned(),
            headers: vec![("X-Tenant".to_owned(), name.to_owned())],
            body: body.into(),
            weight: 1 + body.len() as u32,
            name: name.to_owned(),
        }
    }

    fn targets() -> Vec<Target> {
        vec![
            target("http://a/1", "", b""),
            target("http://a/2", "", b"x"),
            target("http://b/", "home", b"x"),
            target("http://b/", "", b""),
        ]
    }

    #[test]
    fn targets_come_out_as_they_went_in() {
        let list: TargetList = targets().into();
        assert_eq!((list.len(), list.is_empty(), list.iter().len()), (4, false, 4));
        assert!(list.iter().map(TargetRef::to_target).eq(targets()));
        assert_eq!((list.get(4), TargetList::default().get(0)), (None, None));
        assert_eq!(format!("{list:?}"), format!("{:?}", targets()));
        let one = |list: &TargetList, at| Arc::as_ptr(list.get(at).unwrap().body);
        assert_eq!(one(&list, 1), one(&list, 2), "a body is held once");
    }

    #[test]
    fn the_list_is_written_as_the_targets_are() {
        let list: TargetList = targets().into();
        let text = serde_json::to_string(&list).unwrap();
        assert_eq!(text, serde_json::to_string(&targets()).unwrap());
        assert_eq!(serde_json::from_str::<TargetList>(&text).unwrap(), list);
    }

    #[test]
    fn texts_are_those_of_the_list() {
        let list: TargetList = targets().into();
        let texts = list.texts();
        let methods: Vec<&str> =
            texts.method_of.iter().map(|at| texts.methods[*at as usize].as_str()).collect();
        assert_eq!(methods, ["GET", "POST", "POST", "GET"]);
        assert_eq!((texts.urls.get(2), texts.names.get(2)), (Some("http://b/"), Some("home")));
        assert_eq!(texts.names.len(), 3);
    }
}
