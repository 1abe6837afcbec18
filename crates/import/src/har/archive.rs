//! A HAR as its text has it: entries one by one, so that what stands before a cut or a fault is kept.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::entry::{Entry, text_of};

/// How many bytes of answers are kept for the search of values; what comes later is not searched.
pub(super) const ANSWER_BYTES_MAX: usize = 64 << 20;

/// What of a HAR is used.
#[derive(Default)]
pub(super) struct Archive {
    /// The program that wrote it.
    pub(super) creator: String,
    /// Pages: identifier and title.
    pub(super) pages: Vec<(String, String)>,
    /// Requests, in the order of the file.
    pub(super) entries: Vec<Entry>,
    /// Numbers of entries that are none: without an address or a method.
    pub(super) faulty: Vec<usize>,
    /// How many answers were too much to keep.
    pub(super) answers_dropped: usize,
    answer_bytes: usize,
    seen: usize,
}

impl Archive {
    /// The archive of a text, and the fault that ended it early.
    pub(super) fn of(text: &str) -> (Self, Option<serde_json::Error>) {
        let mut archive = Self::default();
        let mut reader = serde_json::Deserializer::from_str(text.trim_start_matches('\u{feff}'));
        let fault = reader.deserialize_map(Members { archive: &mut archive, depth: Depth::Root });
        (archive, fault.err())
    }

    fn add(&mut self, value: &Value) {
        self.seen += 1;
        match Entry::of(value, self.seen) {
            Some(mut entry) => {
                self.answer_bytes += entry.answer.text.len();
                if self.answer_bytes > ANSWER_BYTES_MAX {
                    self.answer_bytes -= entry.answer.text.len();
                    entry.answer.text = String::new();
                    self.answers_dropped += 1;
                }
                self.entries.push(entry);
            }
            None => self.faulty.push(self.seen),
        }
    }
}

/// Which object is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Root,
    Log,
}

struct Members<'a> {
    archive: &'a mut Archive,
    depth: Depth,
}

impl<'de> DeserializeSeed<'de> for Members<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Members<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object with \"log\" and its \"entries\"")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match (self.depth, key.as_str()) {
                (Depth::Root, "log") => {
                    map.next_value_seed(Members { archive: self.archive, depth: Depth::Log })?;
                }
                (Depth::Log, "entries") => map.next_value_seed(Entries(self.archive))?,
                (Depth::Log, "pages") => {
                    let pages: Value = map.next_value()?;
                    for page in pages.as_array().into_iter().flatten() {
                        let title = text_of(&page["title"]);
                        self.archive.pages.push((text_of(&page["id"]), title));
                    }
                }
                (Depth::Log, "creator") => {
                    let creator: Value = map.next_value()?;
                    self.archive.creator = text_of(&creator["name"]);
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

struct Entries<'a>(&'a mut Archive);

impl<'de> DeserializeSeed<'de> for Entries<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Entries<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a list of entries")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(value) = list.next_element::<Value>()? {
            self.0.add(&value);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_archive_gives_the_entries_before_the_cut() {
        let entry = |path: &str| {
            format!("{{\"request\":{{\"method\":\"GET\",\"url\":\"https://a.example/{path}\"}}}}")
        };
        let whole = format!(
            "\u{feff}{{\"log\":{{\"creator\":{{\"name\":\"x\"}},\"entries\":[{},{},7]}}}}",
            entry("1"),
            entry("2")
        );
        let (archive, fault) = Archive::of(&whole);
        assert!(fault.is_none());
        assert_eq!((archive.entries.len(), archive.faulty), (2, vec![3]));
        let (archive, fault) = Archive::of(&whole[..whole.len() - 20]);
        assert!(fault.is_some());
        assert_eq!(archive.entries.len(), 1);
        for end in (0..whole.len()).filter(|end| whole.is_char_boundary(*end)) {
            let (archive, _) = Archive::of(&whole[..end]);
            assert!(archive.entries.len() <= 2);
        }
    }
}
