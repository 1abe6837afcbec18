//! MD5 (RFC 1321) of short texts: k6 numbers groups and checks by it.

/// Shifts of the four rounds.
const SHIFTS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];

/// The digest in hexadecimal.
pub(super) fn hex(text: &str) -> String {
    let mut message = text.as_bytes().to_vec();
    let bits = (message.len() as u64).wrapping_mul(8);
    message.push(0x80);
    // The length is in the last 8 bytes of the last block.
    message.resize((message.len() + 8).next_multiple_of(64), 0);
    let end = message.len() - 8;
    message[end..].copy_from_slice(&bits.to_le_bytes());
    let mut state = [0x6745_2301_u32, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    for block in message.chunks_exact(64) {
        let of = |at: usize| {
            u32::from_le_bytes([block[at], block[at + 1], block[at + 2], block[at + 3]])
        };
        let words: [u32; 16] = std::array::from_fn(|at| of(4 * at));
        add(&mut state, &words);
    }
    state.iter().flat_map(|word| word.to_le_bytes()).map(|byte| format!("{byte:02x}")).collect()
}

/// RFC 1321, 3.4.
fn add(state: &mut [u32; 4], words: &[u32; 16]) {
    let [mut a, mut b, mut c, mut d] = *state;
    for step in 0..64 {
        let (mixed, word) = match step / 16 {
            0 => ((b & c) | (!b & d), step),
            1 => ((d & b) | (!d & c), (5 * step + 1) % 16),
            2 => (b ^ c ^ d, (3 * step + 5) % 16),
            _ => (c ^ (b | !d), (7 * step) % 16),
        };
        let constant = (f64::sin((step + 1) as f64).abs() * 4_294_967_296.0) as u32;
        let sum = a.wrapping_add(mixed).wrapping_add(constant).wrapping_add(words[word]);
        let turned = sum.rotate_left(SHIFTS[step / 16][step % 4]);
        (a, d, c, b) = (d, c, b, b.wrapping_add(turned));
    }
    for (sum, word) in state.iter_mut().zip([a, b, c, d]) {
        *sum = sum.wrapping_add(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_md5() {
        for (text, expect) in [
            ("", "d41d8cd98f00b204e9800998ecf8427e"),
            ("::gr", "79c3ada2273c5a74cf892fb57ac0692a"),
            ("::gr::inner::deep", "d710cb333d4a7d22787d38656bc84966"),
            (
                "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
                "57edf4a22be3c955ac49da2e2107b67a",
            ),
            (&"a".repeat(56), "3b0c8ac703f828b04c6c197006d17218"),
            (&"a".repeat(64), "014842d480b571495a4a0363793f7367"),
        ] {
            assert_eq!(hex(text), expect, "{text}");
        }
    }
}
