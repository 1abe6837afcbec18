//! `Labels`: the target table of what is read, and the way from a row's texts to its number. Its size is bounded: past
//! the bound a row carries its own `METHOD URL`.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use metrics::{Batch, LabelRef, NO_TARGET, Sample, Span, TargetLabel, TargetTable};
use stdx::{equal, shown_url};

/// Targets of a reader's table at most.
pub(crate) const TARGETS_MAX: usize = 1 << 16;
/// Bytes of text a reader's table may hold.
const TARGET_TEXT_MAX: usize = 64 << 20;

/// Targets that are known by their bytes; a power of two.
const SEEN: usize = 1 << 8;
/// Bytes of a target that is known so, at most.
const SEEN_LEN_MAX: usize = 1 << 10;

/// A target by its texts: the borrowed form of a [`TargetLabel`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TargetRef<'a> {
    pub(crate) attack: &'a str,
    pub(crate) method: &'a str,
    pub(crate) url: &'a str,
    pub(crate) name: &'a str,
    pub(crate) tags: &'a str,
}

impl<'a> TargetRef<'a> {
    /// The target of a sample. `attack` is its attack where the table has no target for it.
    pub(crate) fn of(
        sample: &Sample,
        batch: &'a Batch,
        targets: &'a TargetTable,
        attack: &'a str,
    ) -> Self {
        let mut target = match targets.get(sample.target) {
            Some(LabelRef { attack, method, url, name, tags }) => {
                Self { attack, method, url, name, tags }
            }
            None => Self { attack, ..Self::default() },
        };
        if sample.line.len > 0 {
            let line = as_text(batch.text(sample.line));
            (target.method, target.url) = line.split_once(' ').unwrap_or((line, ""));
        }
        if sample.name.len > 0 {
            target.name = as_text(batch.text(sample.name));
        }
        if sample.tags.len > 0 {
            target.tags = as_text(batch.text(sample.tags));
        }
        target
    }

    fn is(&self, label: LabelRef<'_>) -> bool {
        label.url == self.url
            && label.attack == self.attack
            && label.method == self.method
            && label.name == self.name
            && label.tags == self.tags
    }

    fn len(&self) -> usize {
        [self.attack, self.method, self.url, self.name, self.tags]
            .iter()
            .map(|text| text.len())
            .sum()
    }
}

/// The bytes as text, up to the first byte that is not UTF-8.
pub(crate) fn as_text(bytes: &[u8]) -> &str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    }
}

/// A target as it stands in the bytes of a record.
#[derive(Clone, Default)]
struct SeenTarget {
    /// Attack, method and URL, one after the other; empty where none is known.
    bytes: Vec<u8>,
    lens: [usize; 3],
    target: u32,
}

impl SeenTarget {
    fn is(&self, texts: [&[u8]; 3]) -> bool {
        let ([attack, method, url], [attacks, methods, urls]) = (texts, self.lens);
        // One by one: arrays are compared as memory, which waits for the stores that have only just written the row's lengths (a
        // fifth of `report`'s samples for gob; bench `records`).
        let has_its_lens = url.len() == urls && attack.len() == attacks && method.len() == methods;
        if self.bytes.is_empty() || !has_its_lens {
            return false;
        }
        let (known_attack, rest) = self.bytes.split_at(attacks);
        let (known_method, known_url) = rest.split_at(methods);
        equal(known_url, url) && equal(known_attack, attack) && equal(known_method, method)
    }
}

/// The target table of what is read.
#[derive(Default)]
pub(crate) struct Labels {
    table: TargetTable,
    ids: HashMap<u64, u32>,
    hasher: RandomState,
    last: u32,
    text: usize,
    /// The last targets by their bytes, each in the place that the end of its URL gives it.
    seen: Vec<SeenTarget>,
    /// The place of the last one: the next row mostly has the same.
    last_seen: usize,
}

/// Where a row's target is: in the table, or as far as that is full in texts of the row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlacedTarget {
    pub(crate) target: u32,
    pub(crate) line: Span,
    pub(crate) name: Span,
    pub(crate) tags: Span,
}

impl Labels {
    pub(crate) fn table(&self) -> &TargetTable {
        &self.table
    }

    /// The target's number; where the table is full, the number of its attack's row and the texts to go with it. A password
    /// in the URL, which another program may have written, is hidden.
    pub(crate) fn place(&mut self, target: TargetRef<'_>, batch: &mut Batch) -> PlacedTarget {
        let url = shown_url(target.url);
        // k6 names a request after its URL where the script gives none.
        let name = shown_url(target.name);
        let tags = stdx::redacted_json(target.tags);
        let target = TargetRef {
            url: &url,
            name: &name,
            tags: tags.as_deref().unwrap_or(target.tags),
            ..target
        };
        if let Some(id) = self.find_or_add(target, TARGETS_MAX) {
            return PlacedTarget { target: id, ..PlacedTarget::default() };
        }
        let line = batch.add_text(format!("{} {}", target.method, target.url).as_bytes());
        let rest = TargetRef { method: "", url: "", ..target };
        if let Some(id) = self.find_or_add(rest, 2 * TARGETS_MAX) {
            return PlacedTarget { target: id, line, ..PlacedTarget::default() };
        }
        let [name, tags] = [target.name, target.tags].map(|text| batch.add_text(text.as_bytes()));
        PlacedTarget { target: NO_TARGET, line, name, tags }
    }

    /// [`Labels::place`] of attack, method and URL as bytes that may not be UTF-8. What was placed lately needs no look at its
    /// characters.
    pub(crate) fn place_bytes(&mut self, texts: [&[u8]; 3], batch: &mut Batch) -> PlacedTarget {
        let known =
            |seen: &SeenTarget| PlacedTarget { target: seen.target, ..PlacedTarget::default() };
        if let Some(seen) = self.seen.get(self.last_seen).filter(|seen| seen.is(texts)) {
            return known(seen);
        }
        let slot = slot_of(texts[2]);
        if let Some(seen) = self.seen.get(slot).filter(|seen| seen.is(texts)) {
            self.last_seen = slot;
            return known(seen);
        }
        let [attack, method, url] = texts.map(String::from_utf8_lossy);
        let target =
            TargetRef { attack: &attack, method: &method, url: &url, ..TargetRef::default() };
        let placed = self.place(target, batch);
        let is_whole = placed == PlacedTarget { target: placed.target, ..PlacedTarget::default() };
        let len: usize = texts.iter().map(|text| text.len()).sum();
        if is_whole && placed.target != NO_TARGET && len <= SEEN_LEN_MAX {
            self.seen.resize(SEEN, SeenTarget::default());
            let (bytes, lens) = (texts.concat(), texts.map(<[u8]>::len));
            self.seen[slot] = SeenTarget { bytes, lens, target: placed.target };
        }
        placed
    }

    fn find_or_add(&mut self, target: TargetRef<'_>, rows_max: usize) -> Option<u32> {
        if self.table.get(self.last).is_some_and(|label| target.is(label)) {
            return Some(self.last);
        }
        let TargetRef { attack, method, url, name, tags } = target;
        let mut hash = self.hasher.hash_one((url, attack, method, name, tags));
        while let Some(&id) = self.ids.get(&hash) {
            if self.table.get(id).is_some_and(|label| target.is(label)) {
                self.last = id;
                return Some(id);
            }
            hash = hash.wrapping_add(1);
        }
        let rows = self.table.len();
        if rows >= rows_max || self.text + target.len() > TARGET_TEXT_MAX {
            return None;
        }
        self.text += target.len();
        self.table.push(TargetLabel {
            attack: target.attack.to_owned(),
            method: target.method.to_owned(),
            url: target.url.to_owned(),
            name: target.name.to_owned(),
            tags: target.tags.to_owned(),
        });
        self.last = rows as u32;
        self.ids.insert(hash, self.last);
        Some(self.last)
    }
}

/// A URL's place among those that were seen: by its length and its end, where URLs of one server differ.
fn slot_of(url: &[u8]) -> usize {
    let end = &url[url.len().saturating_sub(16)..];
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    end.iter().fold(url.len() as u64, mix) as usize % SEEN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_and_the_table_is_bounded() {
        let (mut labels, mut batch) = (Labels::default(), Batch::default());
        let urls: Vec<String> = (0..TARGETS_MAX + 10).map(|i| format!("http://h/{i}")).collect();
        let target_of = |url| TargetRef { attack: "a", method: "GET", url, ..TargetRef::default() };
        for (i, url) in urls.iter().enumerate().take(TARGETS_MAX) {
            let placed = PlacedTarget { target: i as u32, ..PlacedTarget::default() };
            assert_eq!(labels.place(target_of(url), &mut batch), placed);
        }
        assert_eq!(labels.place(target_of(&urls[7]), &mut batch).target, 7);
        let PlacedTarget { target, line, .. } =
            labels.place(target_of(&urls[TARGETS_MAX + 5]), &mut batch);
        assert_eq!(labels.table().get(target).unwrap().attack, "a");
        assert_eq!(batch.text(line), format!("GET {}", urls[TARGETS_MAX + 5]).as_bytes());
        let sample = Sample { target, line, ..Sample::default() };
        let back = TargetRef::of(&sample, &batch, labels.table(), "");
        assert_eq!(back, target_of(&urls[TARGETS_MAX + 5]));
    }
    #[test]
    fn targets_found_by_their_bytes_are_those_found_by_their_texts() {
        let (mut labels, mut batch) = (Labels::default(), Batch::default());
        let mut texts = Labels::default();
        let urls: Vec<String> = (0..2_000).map(|i| format!("http://u:p@h/{}", i % 700)).collect();
        let cases: [(&[u8], &[u8]); 4] =
            [(b"a", b"GET"), (b"aG", b"ET"), (b"", b""), (b"\xff", b"\xfe")];
        for (at, url) in urls.iter().enumerate() {
            let (attack, method) = cases[at / 3 % cases.len()];
            let bytes = labels.place_bytes([attack, method, url.as_bytes()], &mut batch);
            let [attack, method] = [attack, method].map(String::from_utf8_lossy);
            let target =
                TargetRef { attack: &attack, method: &method, url, ..TargetRef::default() };
            assert_eq!(bytes, texts.place(target, &mut batch), "{at}");
        }
        assert_eq!(labels.table(), texts.table());
        assert!(labels.table().iter().all(|label| !label.url.contains("u:p")));
    }
}
