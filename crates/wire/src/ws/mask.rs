//! Masking. RFC 6455, 5.3: each byte of a client's payload is combined with one of the key's four.

/// Masks or unmasks `bytes`, eight at a time; they begin `offset` bytes into the frame's payload.
pub(super) fn apply(key: [u8; 4], offset: u64, bytes: &mut [u8]) {
    let mut key = key;
    key.rotate_left((offset % 4) as usize);
    let [a, b, c, d] = key;
    let wide = u64::from_ne_bytes([a, b, c, d, a, b, c, d]);
    let mut eights = bytes.chunks_exact_mut(8);
    for eight in &mut eights {
        let value = u64::from_ne_bytes((&*eight).try_into().expect("chunks of eight")) ^ wide;
        eight.copy_from_slice(&value.to_ne_bytes());
    }
    for (byte, key) in eights.into_remainder().iter_mut().zip(key.into_iter().cycle()) {
        *byte ^= key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_the_rfc_has_it() {
        // RFC 6455, 5.7: a masked "Hello".
        let mut bytes = [0x7f, 0x9f, 0x4d, 0x51, 0x58];
        apply([0x37, 0xfa, 0x21, 0x3d], 0, &mut bytes);
        assert_eq!(&bytes, b"Hello");
    }

    #[test]
    fn any_split_gives_the_same() {
        let plain: Vec<u8> = (0..100).collect();
        let key = [1, 2, 4, 8];
        let expect: Vec<u8> = plain.iter().enumerate().map(|(i, b)| b ^ key[i % 4]).collect();
        for cut in 0..plain.len() {
            let mut bytes = plain.clone();
            let (a, b) = bytes.split_at_mut(cut);
            apply(key, 0, a);
            apply(key, cut as u64, b);
            assert_eq!(bytes, expect, "{cut}");
        }
    }
}
