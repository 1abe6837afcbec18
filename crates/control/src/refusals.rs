//! `Refusals`: who was refused and why, so that a user reads it once, and how often it was said since: not a line for each message of
//! a machine that asks without end.

use std::collections::BTreeMap;

use fleet::Name;

/// The most pairs of a name and a reason that are told one by one.
const PAIRS_MAX: usize = 256;

/// Who was refused, and why.
#[derive(Debug, Default)]
pub(crate) struct Refusals {
    counts: BTreeMap<(Name, String), u64>,
    /// Refusals of further pairs.
    others: u64,
}

impl Refusals {
    /// Takes note of a refusal; gives its reason where it is to be told: the first time, and with the count the 10th, 100th and so on.
    pub(crate) fn note(&mut self, name: &Name, cause: &str) -> Option<String> {
        let pair = (name.clone(), fleet::cut_text(cause));
        if self.counts.len() >= PAIRS_MAX && !self.counts.contains_key(&pair) {
            self.others += 1;
            let text =
                || format!("{cause}; further names that are refused are counted, and not told");
            return (self.others == 1).then(text);
        }
        let count = self.counts.entry(pair).or_default();
        *count += 1;
        match *count {
            1 => Some(cause.to_owned()),
            count if is_round(count) => Some(format!("{cause} ({count} times)")),
            _ => None,
        }
    }
}

/// Whether a number is a power of ten.
fn is_round(count: u64) -> bool {
    count == 10_u64.pow(count.ilog10())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_told_once_and_then_counted() {
        let mut refusals = Refusals::default();
        let name = |text: &str| Name::new(text).unwrap();
        let a = name("a");
        let told: Vec<String> = (0..1500).filter_map(|_| refusals.note(&a, "too old")).collect();
        assert_eq!(
            told,
            ["too old", "too old (10 times)", "too old (100 times)", "too old (1000 times)"]
        );
        assert_eq!(refusals.note(&a, "another reason").as_deref(), Some("another reason"));
        let flood = (0..10_000).filter_map(|at| refusals.note(&name(&format!("n{at}")), "no"));
        assert_eq!(flood.count(), PAIRS_MAX - 1);
        assert!(refusals.counts.len() <= PAIRS_MAX);
    }
}
