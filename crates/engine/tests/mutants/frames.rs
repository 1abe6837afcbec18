//! The units of each protocol, and their bytes put together again.

use crate::mutation::Grammar;

/// HTTP/1: lines, bodies included.
pub(crate) const LINES: Grammar = Grammar { split: lines, join: concat };
/// HTTP/2: frames.
pub(crate) const H2_FRAMES: Grammar = Grammar { split: h2_frames, join: concat };
/// WebSockets: the lines of the handshake, then frames.
pub(crate) const WS_FRAMES: Grammar = Grammar { split: ws_frames, join: concat };
/// Messages of WebSockets: each unit is the first byte of its frame and its payload; the frame around it is written anew.
pub(crate) const WS_MESSAGES: Grammar = Grammar { split: ws_messages, join: frame_messages };

/// The header of a frame of HTTP/2. RFC 9113, 4.1.
const H2_HEAD: usize = 9;
/// How an answer to a handshake begins.
const HTTP1: &[u8] = b"HTTP/1.1 ";

fn concat(units: &[Vec<u8>]) -> Vec<u8> {
    units.concat()
}

fn lines(bytes: &[u8]) -> Vec<Vec<u8>> {
    bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
}

fn h2_frames(bytes: &[u8]) -> Vec<Vec<u8>> {
    units(bytes, |rest| {
        let head = rest.get(..H2_HEAD)?;
        Some(H2_HEAD + u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize)
    })
}

fn ws_frames(bytes: &[u8]) -> Vec<Vec<u8>> {
    let (head, frames) = bytes.split_at(handshake_len(bytes));
    let mut all = lines(head);
    all.extend(units(frames, |rest| {
        ws_lens(rest).map(|(head, payload)| head.saturating_add(payload))
    }));
    all
}

fn ws_messages(bytes: &[u8]) -> Vec<Vec<u8>> {
    let (head, frames) = bytes.split_at(handshake_len(bytes));
    let mut all = Vec::new();
    if !head.is_empty() {
        all.push(head.to_vec());
    }
    for frame in
        units(frames, |rest| ws_lens(rest).map(|(head, payload)| head.saturating_add(payload)))
    {
        let from = ws_lens(&frame).map_or(frame.len(), |(head, _)| head.min(frame.len()));
        all.push([&frame[..frame.len().min(1)], &frame[from..]].concat());
    }
    all
}

/// RFC 6455, 5.2: a frame of a server, which has no mask.
fn frame_messages(units: &[Vec<u8>]) -> Vec<u8> {
    let mut out = Vec::new();
    for unit in units {
        let Some((first, payload)) = unit.split_first() else { continue };
        if unit.starts_with(HTTP1) {
            out.extend_from_slice(unit);
            continue;
        }
        out.push(*first);
        match payload.len() {
            len @ 0..126 => out.push(len as u8),
            len @ 126..=0xffff => {
                out.push(126);
                out.extend((len as u16).to_be_bytes());
            }
            len => {
                out.push(127);
                out.extend((len as u64).to_be_bytes());
            }
        }
        out.extend_from_slice(payload);
    }
    out
}

/// Bytes of the handshake's head, if the output begins with one.
fn handshake_len(bytes: &[u8]) -> usize {
    if !bytes.starts_with(HTTP1) {
        return 0;
    }
    bytes.windows(4).position(|end| end == b"\r\n\r\n").map_or(bytes.len(), |at| at + 4)
}

/// Bytes of a frame's header and of its payload.
fn ws_lens(frame: &[u8]) -> Option<(usize, usize)> {
    match frame.get(1)? & 0x7f {
        126 => Some((4, u16::from_be_bytes(frame.get(2..4)?.try_into().ok()?).into())),
        127 => {
            let len = u64::from_be_bytes(frame.get(2..10)?.try_into().ok()?);
            Some((10, usize::try_from(len).ok()?))
        }
        len => Some((2, len.into())),
    }
}

/// Takes units of the lengths that `len` says; what is no whole unit is the last one.
fn units(bytes: &[u8], len: impl Fn(&[u8]) -> Option<usize>) -> Vec<Vec<u8>> {
    let (mut rest, mut all) = (bytes, Vec::new());
    while !rest.is_empty() {
        let end = len(rest).unwrap_or(rest.len()).clamp(1, rest.len());
        let (unit, after) = rest.split_at(end);
        all.push(unit.to_vec());
        rest = after;
    }
    all
}

#[test]
fn what_is_split_is_joined_again() {
    let head = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n".as_slice();
    let long = [&[0x81, 126, 0, 200][..], &[b'x'; 200][..]].concat();
    let sockets = [head, &b"\x81\x02hi"[..], &long[..], &b"\x89\0"[..]].concat();
    let frames = [0, 0, 1, 0, 0, 0, 0, 0, 1, b'x', 0, 0, 0, 4, 1, 0, 0, 0, 0];
    let cases = [
        (LINES, head, 3),
        (H2_FRAMES, &frames[..], 2),
        (WS_FRAMES, sockets.as_slice(), 6),
        (WS_MESSAGES, sockets.as_slice(), 4),
    ];
    for (grammar, bytes, count) in cases {
        let split = (grammar.split)(bytes);
        assert_eq!(split.len(), count);
        assert_eq!((grammar.join)(&split), bytes);
    }
}
