//! `Asserted`: what became of a script's thresholds and checks, gathered from the rows of one or several results.

use std::collections::HashMap;

use metrics::tally::Assertion;
use results::ASSERTIONS_MAX;

/// Thresholds and checks in the order of their rows; checks of one name and group are one.
#[derive(Debug, Default)]
pub(super) struct Asserted {
    list: Vec<Assertion>,
    /// Where a check stands, by its group and its name.
    places: HashMap<(String, String), usize>,
    more: u64,
}

impl Asserted {
    /// Takes a row.
    pub(super) fn add(&mut self, assertion: Assertion) {
        if let Assertion::Check(check) = &assertion {
            let key = (check.group.clone(), check.name.clone());
            let known = self.places.get(&key).and_then(|at| self.list.get_mut(*at));
            if let Some(Assertion::Check(known)) = known {
                known.passes = known.passes.saturating_add(check.passes);
                known.fails = known.fails.saturating_add(check.fails);
                return;
            }
            if self.list.len() < ASSERTIONS_MAX {
                self.places.insert(key, self.list.len());
            }
        }
        if self.list.len() < ASSERTIONS_MAX {
            self.list.push(assertion);
        } else {
            self.more += 1;
        }
    }

    /// All that were kept.
    pub(super) fn list(&self) -> &[Assertion] {
        &self.list
    }

    /// How many were not.
    pub(super) fn more(&self) -> u64 {
        self.more
    }
}

#[cfg(test)]
mod tests {
    use metrics::tally::Check;

    use super::*;

    #[test]
    fn checks_of_one_name_are_added_up_and_rows_are_bounded() {
        let check = |name: &str| {
            let (group, name) = (String::new(), name.to_owned());
            Assertion::Check(Check { group, name, passes: 2, fails: 1 })
        };
        let mut asserted = Asserted::default();
        ["a", "b", "a"].into_iter().for_each(|name| asserted.add(check(name)));
        let counts: Vec<u64> = asserted
            .list()
            .iter()
            .map(|one| if let Assertion::Check(check) = one { check.passes } else { 0 })
            .collect();
        assert_eq!(counts, [4, 2]);
        (0..ASSERTIONS_MAX).for_each(|n| asserted.add(check(&n.to_string())));
        assert_eq!((asserted.list().len(), asserted.more()), (ASSERTIONS_MAX, 2));
    }
}
