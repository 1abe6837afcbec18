//! `Body`: where a message's body ends, and its bytes without framing. It knows no content coding.

use super::Progress;

/// The longest chunk size line, extensions included: 4 KiB.
pub(super) const CHUNK_LINE_MAX: u32 = 4 << 10;
/// The largest trailer section: 64 KiB.
pub(super) const TRAILERS_MAX: u32 = 64 << 10;

/// The rest of a body. RFC 9112, 6.3.
#[derive(Clone, Copy, Debug)]
pub(super) enum Body {
    /// So many bytes are still to come.
    Length(u64),
    /// Chunks until the last one.
    Chunked(Chunked),
    /// Everything until the connection ends.
    UntilEof,
}

/// Why chunks cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChunkFault {
    Malformed,
    TooLarge,
}

impl Body {
    /// Takes bytes in; `out` gets those of the body, `trailers` those of the trailer section, its empty last line included.
    pub(super) fn handle_bytes(
        &mut self,
        input: &[u8],
        out: &mut impl FnMut(&[u8]),
        trailers: &mut impl FnMut(&[u8]),
    ) -> Result<Progress, ChunkFault> {
        match self {
            Self::Length(left) => {
                let consumed = take(left, input, out);
                Ok(Progress { consumed, done: *left == 0 })
            }
            Self::Chunked(chunked) => {
                let was_in_trailers = chunked.is_in_trailers();
                let progress = chunked.handle_bytes(input, out)?;
                if was_in_trailers || chunked.is_in_trailers() || progress.done {
                    let len = (chunked.trailer_bytes as usize).min(progress.consumed);
                    chunked.trailer_bytes = 0;
                    trailers(&input[progress.consumed - len..progress.consumed]);
                }
                Ok(progress)
            }
            Self::UntilEof => {
                if !input.is_empty() {
                    out(input);
                }
                Ok(Progress { consumed: input.len(), done: false })
            }
        }
    }
}

/// Hands on at most `left` bytes of `input` and counts them off.
fn take(left: &mut u64, input: &[u8], out: &mut impl FnMut(&[u8])) -> usize {
    let n = usize::try_from(*left).map_or(input.len(), |left| left.min(input.len()));
    if n > 0 {
        out(&input[..n]);
        *left -= n as u64;
    }
    n
}

/// The chunked coding, read byte by byte but for the data. RFC 9112, 7.1.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Chunked {
    state: State,
    /// The chunk's size, then what of it is still to come.
    size: u64,
    /// Bytes of this size line, or of the trailer section.
    line_bytes: u32,
    /// Bytes of the trailer section that were not handed on yet.
    trailer_bytes: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Before the first digit.
    #[default]
    SizeStart,
    Size,
    /// After the digits: white space and extensions, which are ignored.
    Extension,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    /// At the start of a trailer line, which is the last one if it is empty.
    TrailerStart,
    Trailer,
    TrailerLf,
    EndLf,
    End,
}

impl Chunked {
    fn handle_bytes(
        &mut self,
        input: &[u8],
        out: &mut impl FnMut(&[u8]),
    ) -> Result<Progress, ChunkFault> {
        let mut at = 0;
        while at < input.len() && self.state != State::End {
            if self.state == State::Data {
                at += take(&mut self.size, &input[at..], out);
                if self.size == 0 {
                    self.state = State::DataCr;
                }
            } else {
                self.state = self.handle_byte(input[at])?;
                at += 1;
            }
        }
        Ok(Progress { consumed: at, done: self.state == State::End })
    }

    fn is_in_trailers(&self) -> bool {
        use State::{EndLf, Trailer, TrailerLf, TrailerStart};
        matches!(self.state, TrailerStart | Trailer | TrailerLf | EndLf)
    }

    /// The state after one byte of framing. A bare LF ends no line here: accepting it is how requests are smuggled.
    fn handle_byte(&mut self, byte: u8) -> Result<State, ChunkFault> {
        self.count_line()?;
        match (self.state, byte) {
            (State::SizeStart | State::Size, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                self.push_digit(byte)
            }
            (State::Size | State::Extension, b'\r') => Ok(State::SizeLf),
            (State::Size, b' ' | b'\t' | b';') => Ok(State::Extension),
            (State::Extension, byte) if byte != b'\n' => Ok(State::Extension),
            (State::SizeLf, b'\n') => {
                self.line_bytes = 0;
                Ok(if self.size == 0 { State::TrailerStart } else { State::Data })
            }
            (State::DataCr, b'\r') => Ok(State::DataLf),
            (State::DataLf, b'\n') => {
                self.line_bytes = 0;
                Ok(State::SizeStart)
            }
            (State::TrailerStart, b'\r') => Ok(State::EndLf),
            (State::Trailer, b'\r') => Ok(State::TrailerLf),
            (State::TrailerStart | State::Trailer, byte) if byte != b'\n' => Ok(State::Trailer),
            (State::TrailerLf, b'\n') => Ok(State::TrailerStart),
            (State::EndLf, b'\n') => Ok(State::End),
            _ => Err(ChunkFault::Malformed),
        }
    }

    fn count_line(&mut self) -> Result<(), ChunkFault> {
        let limit = match self.state {
            State::TrailerStart | State::Trailer | State::TrailerLf | State::EndLf => {
                self.trailer_bytes += 1;
                TRAILERS_MAX
            }
            _ => CHUNK_LINE_MAX,
        };
        self.line_bytes += 1;
        if self.line_bytes > limit { Err(ChunkFault::TooLarge) } else { Ok(()) }
    }

    fn push_digit(&mut self, digit: u8) -> Result<State, ChunkFault> {
        let value = match digit {
            b'0'..=b'9' => digit - b'0',
            _ => (digit | 0x20) - b'a' + 10,
        };
        let shifted = self.size.checked_mul(16).ok_or(ChunkFault::TooLarge)?;
        self.size = shifted | u64::from(value);
        Ok(State::Size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(input: &[u8]) -> Result<(Vec<u8>, Progress), ChunkFault> {
        let mut data = Vec::new();
        let mut body = Body::Chunked(Chunked::default());
        let progress =
            body.handle_bytes(input, &mut |bytes| data.extend_from_slice(bytes), &mut |_| {})?;
        Ok((data, progress))
    }

    /// RFC 9112, 7.1.
    #[test]
    fn reads_chunks() {
        let cases: [(&str, &str, usize); 7] = [
            ("0\r\n\r\n", "", 0),
            ("5\r\nhello\r\n0\r\n\r\n", "hello", 0),
            ("5\r\nhello\r\n00000\r\n\r\nHTTP", "hello", 4),
            ("A;name=value\r\n0123456789\r\n0\r\n\r\n", "0123456789", 0),
            ("a \r\n0123456789\r\n0 ; x=\"y\"\r\n\r\n", "0123456789", 0),
            ("1\r\na\r\n1\r\nb\r\n0\r\nX-Sum: 1\r\nX: y\r\n\r\n", "ab", 0),
            ("000000000000000001\r\na\r\n0\r\n\r\n", "a", 0),
        ];
        for (input, data, left) in cases {
            let (got, progress) = decode(input.as_bytes()).expect(input);
            assert_eq!(got, data.as_bytes(), "{input:?}");
            assert_eq!(progress, Progress { consumed: input.len() - left, done: true });
        }
    }

    #[test]
    fn refuses_broken_chunks() {
        let cases = [
            "\r\n",
            "g\r\n",
            "-1\r\n",
            "+1\r\na\r\n",
            " 1\r\na\r\n",
            "0x1\r\na\r\n",
            ";x\r\n",
            "1\na\n0\n\n",
            "1\r\nab\r\n",
            "1\r\na\n0\r\n\r\n",
            "1;a\nb\r\n",
            "0\r\n\n",
            "0\r\nX: y\n\r\n",
            "0\r\n\rX",
        ];
        for input in cases {
            assert_eq!(decode(input.as_bytes()), Err(ChunkFault::Malformed), "{input:?}");
        }
    }

    #[test]
    fn limits_hold() {
        let too_large = Err(ChunkFault::TooLarge);
        assert_eq!(decode(b"10000000000000000\r\n"), too_large);
        let endless_extension = [b"1;".to_vec(), vec![b'x'; 1 << 20]].concat();
        assert_eq!(decode(&endless_extension), too_large);
        let endless_trailers = [b"0\r\n".to_vec(), b"a: b\r\n".repeat(1 << 16)].concat();
        assert_eq!(decode(&endless_trailers), too_large);
        assert_eq!(decode(&vec![b'0'; 1 << 16]), too_large);
    }
}
