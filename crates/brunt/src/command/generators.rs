//! `Generators`: what the load generators of several inputs said last of themselves, added up.

use metrics::Generator;

/// The last view of each input's generator.
#[derive(Debug, Default)]
pub(super) struct Generators {
    /// By the input's place.
    seen: Vec<(usize, Generator)>,
}

impl Generators {
    /// Takes a newer view of an input's generator, which replaces the one before.
    pub(super) fn note(&mut self, input: usize, generator: Generator) {
        match self.seen.iter_mut().find(|(of, _)| *of == input) {
            Some((_, known)) => *known = generator,
            None => self.seen.push((input, generator)),
        }
    }

    /// The same of the generators of one run: what each of them was to offer, all of them offered together.
    #[must_use]
    pub(super) fn together(&self) -> Option<Generator> {
        let mut merged = self.merged()?;
        let all = || self.seen.iter().map(|(_, generator)| generator);
        merged.users = all().map(|generator| generator.users).sum();
        merged.rate_per_s = all().map(|generator| generator.rate_per_s).sum();
        merged.max_in_flight = all().map(|generator| generator.max_in_flight).sum();
        Some(merged)
    }

    /// All of them as one; `None` where no input has any.
    #[must_use]
    pub(super) fn merged(&self) -> Option<Generator> {
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
        assert_eq!(generators.together(), None);
        for input in 0..4 {
            let told = Generator { users: 16, rate_per_s: 2.5, ..Generator::default() };
            generators.note(input, told);
        }
        let (apart, together) = (generators.merged().unwrap(), generators.together().unwrap());
        assert_eq!((apart.users, together.users, together.rate_per_s), (16, 64, 10.0));
    }
}
