//! `Prng`: seeded random numbers, the same on every machine. Not for secrets.
//!
//! The generator is xoshiro256++ (Blackman and Vigna, 2019), seeded through SplitMix64 as its authors advise.

/// A seeded generator of random numbers.
#[derive(Clone, Debug)]
pub struct Prng {
    state: [u64; 4],
}

/// Mixes two numbers into one that looks random: the choice for item `index` under `seed`, without any state.
#[must_use]
pub fn mix(seed: u64, index: u64) -> u64 {
    let mut z = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Mixes bytes into a number that is another one for other bytes, on every machine alike.
#[must_use]
pub fn mix_all(seed: u64, bytes: &[u8]) -> u64 {
    let seed = mix(seed, bytes.len() as u64);
    bytes.iter().fold(seed, |seed, byte| mix(seed, u64::from(*byte)))
}

impl Prng {
    /// A generator whose whole sequence follows from `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: [mix(seed, 0), mix(seed, 1), mix(seed, 2), mix(seed, 3)] }
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A number from `0..bound`, without bias that matters (2^-64). `bound` must not be 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        debug_assert!(bound > 0);
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// A number from the half-open interval `[0, 1)`, 53 bits of it random.
    pub fn next_f64(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number from the exponential distribution of mean 1: `-ln(1 - U)`.
    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.next_f64()).ln()
    }

    /// A number from the standard normal distribution (Box and Muller, 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = (2.0 * self.exponential()).sqrt();
        radius * (std::f64::consts::TAU * self.next_f64()).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_seed_same_sequence() {
        let (mut a, mut b) = (Prng::new(7), Prng::new(7));
        assert!((0..1000).all(|_| a.next_u64() == b.next_u64()));
        assert_ne!(Prng::new(7).next_u64(), Prng::new(8).next_u64());
    }

    #[test]
    fn moments_are_right() {
        let mut rng = Prng::new(1);
        let n = 200_000;
        let mean = |f: &mut dyn FnMut() -> f64| (0..n).map(|_| f()).sum::<f64>() / f64::from(n);
        assert!((mean(&mut || rng.next_f64()) - 0.5).abs() < 0.005);
        assert!((mean(&mut || rng.exponential()) - 1.0).abs() < 0.01);
        assert!(mean(&mut || rng.normal()).abs() < 0.01);
        assert!((0..1000).all(|_| rng.below(7) < 7));
    }
}
