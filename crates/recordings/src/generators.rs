//! `Generators`: the last records of the load generators of several inputs, merged.

use metrics::Generator;

/// The last record of each input's load generator.
#[derive(Debug, Default)]
pub struct Generators {
    /// By the index of the input.
    seen: Vec<(usize, Generator)>,
}

impl Generators {
    /// Adds a newer record of an input's generator, which replaces the one before.
    pub fn note(&mut self, input: usize, generator: Generator) {
        match self.seen.iter_mut().find(|(of, _)| *of == input) {
            Some((_, known)) => *known = generator,
            None => self.seen.push((input, generator)),
        }
    }

    /// The generators of one run as one: the loads that they offered add up. `None` if no input has any.
    #[must_use]
    pub fn sum_within_run(&self) -> Option<Generator> {
        let mut merged = self.merged()?;
        let all = || self.seen.iter().map(|(_, generator)| generator);
        merged.users = all().map(|generator| generator.users).sum();
        merged.rate_per_s = all().map(|generator| generator.rate_per_s).sum();
        merged.max_in_flight = all().map(|generator| generator.max_in_flight).sum();
        Some(merged)
    }

    /// All generators as one; `None` if no input has any.
    #[must_use]
    pub fn merged(&self) -> Option<Generator> {
        let mut all = self.seen.iter().map(|(_, generator)| generator);
        all.next().cloned().map(|first| {
            all.fold(first, |mut merged, other| {
                merged.merge(other);
                merged
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_input_counts_once() {
        let ran = |sent| Generator { workers: 1, sent, finished: true, ..Generator::default() };
        let mut generators = Generators::default();
        assert_eq!(generators.merged(), None);
        generators.note(0, Generator { finished: false, ..ran(3) });
        generators.note(1, ran(10));
        generators.note(0, ran(7));
        let merged = generators.merged().unwrap();
        assert_eq!((merged.workers, merged.sent, merged.finished), (2, 17, true));
    }

    #[test]
    fn users_of_one_run_add_up() {
        let mut generators = Generators::default();
        assert_eq!(generators.sum_within_run(), None);
        for input in 0..4 {
            let generator = Generator { users: 16, rate_per_s: 2.5, ..Generator::default() };
            generators.note(input, generator);
        }
        let (apart, summed) = (generators.merged().unwrap(), generators.sum_within_run().unwrap());
        assert_eq!((apart.users, summed.users, summed.rate_per_s), (16, 64, 10.0));
    }
}
