//! `Random`: a thread's random numbers, which follow from the run's seed and the thread's number.

/// Random numbers of one thread.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// Of the thread of this number in a run of this seed.
    pub(crate) fn new(seed: u64, number: u64) -> Self {
        Self(stdx::mix(seed, number))
    }

    /// All 64 bits of the next one.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(1);
        stdx::mix(self.0, 0x9e37_79b9)
    }

    /// A number below `end`; 0 where there is none.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { (self.next() % end as u64) as usize }
    }

    /// A number from 0 to below 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number of the normal distribution, by Box and Muller: mean 0, deviation 1.
    pub(crate) fn gaussian(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (2.0 * std::f64::consts::PI * self.unit()).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_from_the_seed() {
        let (mut one, mut same, mut other) =
            (Random::new(1, 1), Random::new(1, 1), Random::new(1, 2));
        assert_eq!(one.next(), same.next());
        assert_ne!(one.next(), other.next());
        let mean = (0..10_000).map(|_| one.gaussian()).sum::<f64>() / 10_000.0;
        assert!(mean.abs() < 0.05, "{mean}");
        assert!((0..1000).all(|_| one.below(3) < 3 && (0.0..1.0).contains(&one.unit())));
    }
}
