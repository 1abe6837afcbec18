//! SHA-256 (FIPS 180-4). Written out here: every dependency of a build script delays the C compiler.

/// Words of 32 bits in a block.
const WORDS: usize = 16;

/// Bytes in a block.
const BLOCK: usize = 4 * WORDS;

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
const ROUND: [u32; 64] = [
    0x428a_2f98,
    0x7137_4491,
    0xb5c0_fbcf,
    0xe9b5_dba5,
    0x3956_c25b,
    0x59f1_11f1,
    0x923f_82a4,
    0xab1c_5ed5,
    0xd807_aa98,
    0x1283_5b01,
    0x2431_85be,
    0x550c_7dc3,
    0x72be_5d74,
    0x80de_b1fe,
    0x9bdc_06a7,
    0xc19b_f174,
    0xe49b_69c1,
    0xefbe_4786,
    0x0fc1_9dc6,
    0x240c_a1cc,
    0x2de9_2c6f,
    0x4a74_84aa,
    0x5cb0_a9dc,
    0x76f9_88da,
    0x983e_5152,
    0xa831_c66d,
    0xb003_27c8,
    0xbf59_7fc7,
    0xc6e0_0bf3,
    0xd5a7_9147,
    0x06ca_6351,
    0x1429_2967,
    0x27b7_0a85,
    0x2e1b_2138,
    0x4d2c_6dfc,
    0x5338_0d13,
    0x650a_7354,
    0x766a_0abb,
    0x81c2_c92e,
    0x9272_2c85,
    0xa2bf_e8a1,
    0xa81a_664b,
    0xc24b_8b70,
    0xc76c_51a3,
    0xd192_e819,
    0xd699_0624,
    0xf40e_3585,
    0x106a_a070,
    0x19a4_c116,
    0x1e37_6c08,
    0x2748_774c,
    0x34b0_bcb5,
    0x391c_0cb3,
    0x4ed8_aa4a,
    0x5b9c_ca4f,
    0x682e_6ff3,
    0x748f_82ee,
    0x78a5_636f,
    0x84c8_7814,
    0x8cc7_0208,
    0x90be_fffa,
    0xa450_6ceb,
    0xbef9_a3f7,
    0xc671_78f2,
];

/// The first 32 bits of the fractional parts of the square roots of the first 8 primes.
const START: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// A hash under way.
#[derive(Clone, Debug)]
pub(crate) struct Sha256 {
    state: [u32; 8],
    /// Bytes that do not fill a block yet.
    rest: Vec<u8>,
    /// Bytes hashed, those of `rest` included.
    length: u64,
}

impl Default for Sha256 {
    fn default() -> Self {
        Self { state: START, rest: Vec::with_capacity(BLOCK), length: 0 }
    }
}

impl Sha256 {
    /// Adds bytes.
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.length += bytes.len() as u64;
        let missing = (BLOCK - self.rest.len()).min(bytes.len());
        let (first, bytes) = bytes.split_at(missing);
        self.rest.extend_from_slice(first);
        if self.rest.len() < BLOCK {
            return;
        }
        compress(&mut self.state, &self.rest);
        let mut blocks = bytes.chunks_exact(BLOCK);
        for block in &mut blocks {
            compress(&mut self.state, block);
        }
        self.rest.clear();
        self.rest.extend_from_slice(blocks.remainder());
    }

    /// The hash in lower-case hexadecimal digits.
    pub(crate) fn finish(mut self) -> String {
        let bits = self.length * 8;
        let used = self.rest.len() + 1 + 8;
        let zeros = (BLOCK - used % BLOCK) % BLOCK;
        let mut end = vec![0x80];
        end.resize(1 + zeros, 0);
        end.extend_from_slice(&bits.to_be_bytes());
        self.update(&end);
        self.state.iter().map(|word| format!("{word:08x}")).collect()
    }
}

/// Hashes one block into the state.
fn compress(state: &mut [u32; 8], block: &[u8]) {
    let mut words = [0_u32; 64];
    for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
        *word = bytes.iter().fold(0, |word, byte| word << 8 | u32::from(*byte));
    }
    for at in WORDS..64 {
        let (early, late) = (words[at - 15], words[at - 2]);
        let small0 = early.rotate_right(7) ^ early.rotate_right(18) ^ early >> 3;
        let small1 = late.rotate_right(17) ^ late.rotate_right(19) ^ late >> 10;
        words[at] =
            words[at - 16].wrapping_add(small0).wrapping_add(words[at - 7]).wrapping_add(small1);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for (word, constant) in words.into_iter().zip(ROUND) {
        let big1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let choice = e & f ^ !e & g;
        let first =
            h.wrapping_add(big1).wrapping_add(choice).wrapping_add(constant).wrapping_add(word);
        let big0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let majority = a & b ^ a & c ^ b & c;
        let second = big0.wrapping_add(majority);
        (h, g, f, e, d, c, b, a) =
            (g, f, e, d.wrapping_add(first), c, b, a, first.wrapping_add(second));
    }
    for (word, value) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *word = word.wrapping_add(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, times: usize, expect: &str) {
        let mut hash = Sha256::default();
        for _ in 0..times {
            hash.update(text.as_bytes());
        }
        assert_eq!(hash.finish(), expect, "{text}");
    }

    /// The examples of FIPS 180-4, and the lengths around a block's end against `sha256sum`.
    #[test]
    fn known_texts_have_their_known_hashes() {
        check("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        check("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        let two_blocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        check(two_blocks, 1, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
        check("a", 1_000_000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
        check("x", 55, "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072");
        check("x", 56, "04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e");
        check("x", 63, "75220b47218278e656f2013bb8f0c455a25eaf01e86c64924e9d48d89776d6f2");
        check("x", 64, "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c");
        check("x", 65, "9537c5fdf120482f7d58d25e9ed583f52c02b4e304ea814db1633ad565aed7e9");
        check("x", 119, "000b48d4edf0fa7bee3c6236ecd2785baa5db4eeb8bb54341b029e0d9fa5fb0c");
        check("x", 120, "13f05a0b594787f5ecd315edc96141bd3243203d1b7d4f0836f37308b276ba98");
    }

    #[test]
    fn pieces_make_no_difference() {
        let text = "0123456789".repeat(50);
        for piece in [1, 7, 63, 64, 65, 200] {
            let mut hash = Sha256::default();
            text.as_bytes().chunks(piece).for_each(|bytes| hash.update(bytes));
            let mut whole = Sha256::default();
            whole.update(text.as_bytes());
            assert_eq!(hash.finish(), whole.finish(), "{piece}");
        }
    }
}
