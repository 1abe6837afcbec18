//! UTF-8 checked while it comes, so that a text which cannot become valid is refused in the midst of a frame.

use super::fault::WsError;

/// What has been seen of a text that comes in pieces: the first bytes of a character that is not whole yet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Utf8 {
    begun: [u8; 4],
    len: u8,
}

impl Utf8 {
    /// Takes the next piece. Whether the text may end where it ends is not its business.
    ///
    /// # Errors
    /// No continuation can make the text valid.
    pub(super) fn handle_bytes(&mut self, mut piece: &[u8]) -> Result<(), WsError> {
        while let (1.., Some((byte, rest))) = (self.len, piece.split_first()) {
            self.begun[usize::from(self.len)] = *byte;
            self.len += 1;
            piece = rest;
            let begun = self.begun;
            self.check(&begun[..usize::from(self.len)])?;
        }
        if piece.is_empty() { Ok(()) } else { self.check(piece) }
    }

    /// Checks bytes that begin with a character, and keeps the start of one that is not whole: three bytes at most.
    fn check(&mut self, bytes: &[u8]) -> Result<(), WsError> {
        self.len = 0;
        let Err(error) = std::str::from_utf8(bytes) else { return Ok(()) };
        if error.error_len().is_some() {
            return Err(WsError::Utf8);
        }
        let begun = &bytes[error.valid_up_to()..];
        self.begun[..begun.len()].copy_from_slice(begun);
        self.len = begun.len() as u8;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many single bytes are taken before the text is refused, and whether it may end where it ends.
    fn bytewise(bytes: &[u8]) -> (usize, bool) {
        let mut utf8 = Utf8::default();
        let taken = bytes.iter().take_while(|byte| utf8.handle_bytes(&[**byte]).is_ok()).count();
        (taken, utf8.len == 0)
    }

    #[test]
    fn refused_at_the_first_byte_that_cannot_be() {
        let cases: [(&[u8], usize, bool); 10] = [
            (b"abc", 3, true),
            ("aé€😀z".as_bytes(), 11, true),
            (b"\xf0\x9f\x98", 3, false),
            (b"\xce\xba\xe1", 3, false),
            // A surrogate, one past the last code point, too long a form, a lone continuation, no byte of UTF-8.
            (b"a\xed\xa0\x80", 2, true),
            (b"\xf4\x90\x80\x80", 1, true),
            (b"\xc0\x80", 0, true),
            (b"\xe0\x80\x80", 1, true),
            (b"\x80", 0, true),
            (b"\xff", 0, true),
        ];
        for (bytes, taken, whole) in cases {
            let found = bytewise(bytes);
            assert_eq!(found.0, taken, "{bytes:x?}");
            assert!(taken < bytes.len() || found.1 == whole, "{bytes:x?}");
        }
    }

    #[test]
    fn any_split_in_two_gives_the_same() {
        let text = "κόσμε 😀 plain é".as_bytes();
        for cut in 0..=text.len() {
            let mut utf8 = Utf8::default();
            let (a, b) = text.split_at(cut);
            assert_eq!((utf8.handle_bytes(a), utf8.handle_bytes(b)), (Ok(()), Ok(())), "{cut}");
            assert_eq!(utf8.len, 0);
        }
    }
}
