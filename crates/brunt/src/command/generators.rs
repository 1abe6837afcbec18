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
}
