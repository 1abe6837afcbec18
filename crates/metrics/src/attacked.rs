//! `Attacked`: what a run attacked, as counts of its requests by target. It holds no response times; [`crate::Groups`] does. Its memory
//! is bounded: requests of targets that find no room are counted, not named.

use std::collections::HashMap;

use stdx::url_without_secrets;

use crate::{Batch, TargetTable};

/// Rows of the target table that are counted one by one; eight bytes each.
const NUMBERS_MAX: usize = 1 << 20;

/// Targets without a row in the table that are counted one by one.
const LINES_MAX: usize = 1000;

/// Requests by target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attacked {
    by_number: Vec<u64>,
    /// By `METHOD URL`, of hits without a row in the table.
    by_line: HashMap<Vec<u8>, u64>,
    unplaced: u64,
}

/// What was attacked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttackedTargets {
    /// Methods and URLs that got requests, at least one.
    pub count: u64,
    /// The one with the most requests; of several the first by method and URL.
    pub most: AttackedTarget,
    /// All requests, those of unknown targets included.
    pub requests: u64,
    /// Requests whose target is unknown or found no room; if there are any, `count` is a lower bound.
    pub unplaced: u64,
}

/// One method and URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttackedTarget {
    /// As written in the target.
    pub method: String,
    /// Without its password; not escaped.
    pub url: String,
    /// Its requests, failed ones included.
    pub requests: u64,
}

impl Attacked {
    /// Counts every sample of a batch; `targets` is the table that its samples number.
    pub fn add(&mut self, batch: &Batch, targets: &TargetTable) {
        for sample in &batch.samples {
            let number = sample.target as usize;
            if number < targets.len() {
                self.add_number(number);
            } else {
                self.add_line(batch.text(sample.line));
            }
        }
    }

    fn add_number(&mut self, number: usize) {
        if number >= NUMBERS_MAX {
            self.unplaced += 1;
            return;
        }
        if self.by_number.len() <= number {
            self.by_number.resize(number + 1, 0);
        }
        self.by_number[number] += 1;
    }

    fn add_line(&mut self, line: &[u8]) {
        if let Some(count) = self.by_line.get_mut(line) {
            *count += 1;
        } else if line.is_empty() || self.by_line.len() >= LINES_MAX {
            self.unplaced += 1;
        } else {
            self.by_line.insert(line.to_vec(), 1);
        }
    }

    /// What was attacked, by the table that the samples numbered; `None` if no target is known.
    #[must_use]
    pub fn targets(&self, table: &TargetTable) -> Option<AttackedTargets> {
        let all = self.list(table);
        let most = all.first()?.clone();
        let requests = all.iter().map(|one| one.requests).sum::<u64>() + self.unplaced;
        Some(AttackedTargets { count: all.len() as u64, most, requests, unplaced: self.unplaced })
    }

    /// Each method and URL that got requests, those with the most first. Rows that differ in their names or bodies alone are one
    /// target.
    #[must_use]
    pub fn list(&self, table: &TargetTable) -> Vec<AttackedTarget> {
        let mut counts: HashMap<(String, String), u64> = HashMap::new();
        let numbered = table.iter().zip(&self.by_number).filter(|(_, count)| **count > 0);
        for (label, requests) in numbered {
            let url = url_without_secrets(label.url);
            *counts.entry((label.method.to_owned(), url)).or_default() += requests;
        }
        for (line, requests) in &self.by_line {
            let line = String::from_utf8_lossy(line);
            let (method, url) = line.split_once(' ').unwrap_or(("", &line));
            let key = (method.to_owned(), url_without_secrets(url));
            *counts.entry(key).or_default() += requests;
        }
        let all = counts.into_iter();
        let target = |((method, url), requests)| AttackedTarget { method, url, requests };
        let mut all: Vec<AttackedTarget> = all.map(target).collect();
        // The order of a map is random; that of reports must not be.
        all.sort_by(|a, b| {
            let by_name = || (&a.method, &a.url).cmp(&(&b.method, &b.url));
            b.requests.cmp(&a.requests).then_with(by_name)
        });
        all
    }

    /// Whether every request's target is known and had room.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.unplaced == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NO_TARGET, Sample, TargetLabel};

    fn table(urls: &[&str]) -> TargetTable {
        let label = |url: &&str| TargetLabel {
            method: "GET".to_owned(),
            url: (*url).to_owned(),
            ..TargetLabel::default()
        };
        urls.iter().map(label).collect()
    }

    fn batch(numbers: &[u32], lines: &[&str]) -> Batch {
        let mut batch = Batch::default();
        for target in numbers {
            batch.samples.push(Sample { target: *target, ..Sample::default() });
        }
        for text in lines {
            let line = batch.add_text(text.as_bytes());
            batch.samples.push(Sample { target: NO_TARGET, line, ..Sample::default() });
        }
        batch
    }

    fn check(urls: &[&str], batch: &Batch, expect: Option<(u64, &str, u64, u64, u64)>) {
        let (mut attacked, table) = (Attacked::default(), table(urls));
        attacked.add(batch, &table);
        let targets = attacked.targets(&table);
        let got = targets.as_ref().map(|all| {
            let most = format!("{} {}", all.most.method, all.most.url);
            (all.count, most, all.most.requests, all.requests, all.unplaced)
        });
        let expect = expect.map(|(count, most, a, b, c)| (count, most.to_owned(), a, b, c));
        assert_eq!(got, expect);
    }

    #[test]
    fn targets_are_counted_by_method_and_url_wherever_they_are_written() {
        check(&[], &batch(&[], &[]), None);
        check(&["http://h/a"], &batch(&[], &[""]), None);
        check(&["http://h/a"], &batch(&[0, 0], &[]), Some((1, "GET http://h/a", 2, 2, 0)));
        let rows = ["http://h/a", "http://h/b", "http://h/b", "http://h/never"];
        let both = batch(&[0, 1, 2], &["GET http://h/b", "POST http://h/b", ""]);
        check(&rows, &both, Some((3, "GET http://h/b", 3, 6, 1)));
        let equal = batch(&[], &["GET http://h/z", "GET http://h/y"]);
        check(&[], &equal, Some((2, "GET http://h/y", 1, 2, 0)));
    }

    #[test]
    fn secrets_are_not_shown() {
        let url = "http://me:pw1234@h/?token=pw1234&page=2";
        let (mut attacked, table) = (Attacked::default(), table(&[url]));
        attacked.add(&batch(&[0], &[&format!("GET {url}")]), &table);
        let all = format!("{:?}", attacked.targets(&table));
        assert!(!all.contains("pw1234") && all.contains("page=2"), "{all}");
    }

    #[test]
    fn memory_is_bounded() {
        let lines: Vec<String> = (0..LINES_MAX + 7).map(|n| format!("GET http://h/{n}")).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let rooms = LINES_MAX as u64;
        check(&[], &batch(&[], &lines), Some((rooms, "GET http://h/0", 1, rooms + 7, 7)));
        let mut attacked = Attacked::default();
        attacked.add_number(NUMBERS_MAX);
        assert_eq!((attacked.by_number.len(), attacked.unplaced), (0, 1));
    }
}
