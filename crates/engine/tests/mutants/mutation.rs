//! How the bytes of a sound server become those of a hostile one. All of it follows from the random numbers that are handed in.

use stdx::{Nanos, Prng};

/// One of so many outputs is mutated, on average: the others take the protocol to where a mutation meets an open stream.
const MUTATED_ONE_IN: u64 = 2;
/// The most mutations of one output.
const MUTATIONS_MAX: u64 = 4;
/// The most bytes of a mutated output.
const OUTPUT_BYTES_MAX: usize = 64 << 10;
/// The most times that a unit is repeated.
const REPEATS_MAX: u64 = 64;
/// Units of earlier outputs that are remembered, to come again where nothing waits for them.
const REMEMBERED: usize = 64;
/// The most pieces that an output comes in.
const PIECES_MAX: u64 = 6;
/// The longest pause before a piece.
const PAUSE_MAX: Nanos = Nanos::from_millis(40);
/// Bytes that parsers have opinions on.
const ODD: [&[u8]; 12] = [
    b"\r\n",
    b"\r\n\r\n",
    b"\0",
    b"\xff\xff\xff\xff",
    b"\x7f\xff\xff\xff",
    b"\x80\0\0\0",
    b"18446744073709551616",
    b"-1",
    b"Content-Length: 5\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"\xc3\x28",
    b"[[[[{\"a\":",
];

/// What the next output comes to.
pub(crate) struct Mutation {
    /// The pieces, each with the pause before it.
    pub(crate) pieces: Vec<(Nanos, Vec<u8>)>,
    /// What becomes of the connection after them.
    pub(crate) end: End,
    /// Whether the bytes are no longer the server's.
    pub(crate) is_changed: bool,
}

/// What becomes of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It stays open.
    Open,
    /// It is closed.
    Close,
    /// It is reset.
    Reset,
}

/// A protocol's units: lines, frames, messages. What `join` makes of the units of `split` is what was split.
#[derive(Clone, Copy)]
pub(crate) struct Grammar {
    /// Takes an output to its units.
    pub(crate) split: fn(&[u8]) -> Vec<Vec<u8>>,
    /// Puts units together.
    pub(crate) join: fn(&[Vec<u8>]) -> Vec<u8>,
}

/// Mutates the outputs of one run.
pub(crate) struct Mutator {
    rng: Prng,
    grammar: Grammar,
    remembered: Vec<Vec<u8>>,
}

impl Mutator {
    pub(crate) fn new(seed: u64, grammar: Grammar) -> Self {
        Self { rng: Prng::new(seed), grammar, remembered: Vec::new() }
    }

    /// The next output, mutated or not.
    pub(crate) fn mutate(&mut self, bytes: Vec<u8>) -> Mutation {
        let mut mutation = Mutation {
            pieces: Vec::new(),
            end: End::Open,
            is_changed: self.one_in(MUTATED_ONE_IN),
        };
        let bytes =
            if mutation.is_changed { self.change(&bytes, &mut mutation.end) } else { bytes };
        mutation.pieces = self.cut_up(&bytes);
        mutation
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.rng.below(count) == 0
    }

    /// A place from 0 to `len`, both included.
    fn place(&mut self, len: usize) -> usize {
        self.rng.below(len as u64 + 1) as usize
    }

    fn change(&mut self, bytes: &[u8], end: &mut End) -> Vec<u8> {
        let mut units = (self.grammar.split)(bytes);
        for _ in 0..=self.rng.below(MUTATIONS_MAX) {
            match self.rng.below(10) {
                0..5 => self.change_bytes(&mut units),
                5..9 => self.change_order(&mut units),
                _ if self.one_in(2) => *end = End::Close,
                _ => *end = End::Reset,
            }
        }
        for unit in units.iter().take(4) {
            if self.remembered.len() < REMEMBERED {
                self.remembered.push(unit.clone());
            } else {
                let at = self.rng.below(REMEMBERED as u64) as usize;
                self.remembered[at].clone_from(unit);
            }
        }
        let mut bytes = (self.grammar.join)(&units);
        bytes.truncate(OUTPUT_BYTES_MAX);
        bytes
    }

    /// Flips, overwrites, cuts or inserts within one unit.
    fn change_bytes(&mut self, units: &mut [Vec<u8>]) {
        if units.is_empty() {
            return;
        }
        let index = self.rng.below(units.len() as u64) as usize;
        let unit = &mut units[index];
        let at = self.rng.below(unit.len() as u64 + 1) as usize;
        match self.rng.below(6) {
            0 if at < unit.len() => unit[at] ^= 1 << self.rng.below(8),
            1 if at < unit.len() => unit[at] = self.rng.next_u64() as u8,
            2 => unit.truncate(at),
            3 => drop(unit.drain(..at)),
            4 => {
                let odd = ODD[self.rng.below(ODD.len() as u64) as usize];
                unit.splice(at..at, odd.iter().copied());
            }
            _ => {
                let count = 1 + self.rng.below(16);
                let noise: Vec<u8> = (0..count).map(|_| self.rng.next_u64() as u8).collect();
                unit.splice(at..at, noise);
            }
        }
    }

    /// Repeats, drops, exchanges or adds units.
    fn change_order(&mut self, units: &mut Vec<Vec<u8>>) {
        if units.is_empty() {
            return;
        }
        let (first, second) =
            (self.rng.below(units.len() as u64), self.rng.below(units.len() as u64));
        let (first, second) = (first as usize, second as usize);
        match self.rng.below(5) {
            0 => units.swap(first, second),
            1 => drop(units.remove(first)),
            2 => {
                let count = 1 + self.rng.below(REPEATS_MAX) as usize;
                let copies = std::iter::repeat_n(units[first].clone(), count);
                units.splice(first..first, copies.collect::<Vec<_>>());
            }
            3 if !self.remembered.is_empty() => {
                let index = self.rng.below(self.remembered.len() as u64) as usize;
                let at = self.place(units.len());
                units.insert(at, self.remembered[index].clone());
            }
            _ => units.rotate_left(first),
        }
    }

    /// Splits the bytes at random places, some of them after a pause.
    fn cut_up(&mut self, bytes: &[u8]) -> Vec<(Nanos, Vec<u8>)> {
        let count = if self.one_in(2) { 1 } else { 1 + self.rng.below(PIECES_MAX) };
        let mut cuts: Vec<usize> = (1..count).map(|_| self.place(bytes.len())).collect();
        cuts.push(bytes.len());
        cuts.sort_unstable();
        let (mut from, mut pieces) = (0, Vec::new());
        for to in cuts {
            let pause =
                if self.one_in(4) { Nanos(self.rng.below(PAUSE_MAX.0)) } else { Nanos::ZERO };
            if to > from {
                pieces.push((pause, bytes[from..to].to_vec()));
            }
            from = to;
        }
        pieces
    }
}
