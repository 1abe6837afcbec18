//! Numbers and field lines appended to a buffer, without allocation. It checks nothing.

/// Appends `name: value` and the line's end.
pub(super) fn push_field(name: &str, value: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value.as_bytes());
    out.extend_from_slice(b"\r\n");
}

/// Appends `n` in decimal digits.
pub(super) fn push_decimal(n: u64, out: &mut Vec<u8>) {
    push_digits(n, 10, out);
}

/// Appends `n` in lower case hexadecimal digits.
pub(super) fn push_hexadecimal(n: u64, out: &mut Vec<u8>) {
    push_digits(n, 16, out);
}

fn push_digits(mut n: u64, base: u64, out: &mut Vec<u8>) {
    // 2^64 has 20 decimal digits.
    let (mut digits, mut at) = ([0; 20], 20);
    loop {
        at -= 1;
        digits[at] = b"0123456789abcdef"[(n % base) as usize];
        n /= base;
        if n == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_numbers() {
        for n in [0, 1, 9, 10, 255, 256, 1 << 40, u64::MAX] {
            let mut out = Vec::new();
            push_decimal(n, &mut out);
            out.push(b' ');
            push_hexadecimal(n, &mut out);
            assert_eq!(String::from_utf8_lossy(&out), format!("{n} {n:x}"));
        }
    }
}
