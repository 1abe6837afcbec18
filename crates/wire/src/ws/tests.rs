//! Sessions against each other and against hostile bytes. What stands in RFC 6455 and RFC 7692 as an example is a case.

use proptest::prelude::*;

use super::frame::Opcode;
use super::*;

/// An event with its bytes owned.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Got {
    Text(String),
    Binary(Vec<u8>),
    Ping(Vec<u8>),
    Pong(Vec<u8>),
    Close(Option<u16>, String),
}

impl From<Event<'_>> for Got {
    fn from(event: Event<'_>) -> Self {
        match event {
            Event::Text(text) => Self::Text(text.into()),
            Event::Binary(bytes) => Self::Binary(bytes.into()),
            Event::Ping(bytes) => Self::Ping(bytes.into()),
            Event::Pong(bytes) => Self::Pong(bytes.into()),
            Event::Close { code, reason } => Self::Close(code, reason.into()),
        }
    }
}

fn deflated(server: Takeover, client: Takeover) -> Agreed {
    Agreed { deflate: Some(DeflateParams { server, client }), ..Agreed::default() }
}

fn both(takeover: Takeover) -> Agreed {
    deflated(takeover, takeover)
}

fn session(role: Role, agreed: &Agreed) -> WsSession {
    WsSession::new(role, agreed, Limits::default(), 7)
}

/// Feeds the session pieces of these lengths, over and over.
fn feed(
    session: &mut WsSession,
    bytes: &[u8],
    lens: &[usize],
) -> (Vec<Got>, Vec<u8>, Result<(), WsError>) {
    let (mut got, mut out, mut rest) = (Vec::new(), Vec::new(), bytes);
    for len in lens.iter().cycle() {
        let (piece, after) = rest.split_at(rest.len().min((*len).max(1)));
        let result = session.handle_bytes(piece, &mut out, &mut |event| got.push(event.into()));
        if result.is_err() || after.is_empty() {
            return (got, out, result);
        }
        rest = after;
    }
    unreachable!("there is a length at least")
}

/// What a client of this agreement makes of a server's bytes: the same whole and byte by byte.
fn client(agreed: &Agreed, bytes: &[u8]) -> (Vec<Got>, Vec<u8>, Result<(), WsError>) {
    let whole = feed(&mut session(Role::Client, agreed), bytes, &[bytes.len()]);
    let bytewise = feed(&mut session(Role::Client, agreed), bytes, &[1]);
    assert_eq!(whole, bytewise, "{bytes:x?}");
    whole
}

fn texts(texts: &[&str]) -> Vec<Got> {
    texts.iter().map(|text| Got::Text((*text).into())).collect()
}

#[test]
fn an_idle_session_is_small() {
    assert!(size_of::<WsSession>() <= 200, "{}", size_of::<WsSession>());
}

#[test]
fn examples_of_rfc_6455() {
    let plain = Agreed::default();
    // 5.7: a text in one frame, and in two.
    assert_eq!(client(&plain, b"\x81\x05Hello").0, texts(&["Hello"]));
    assert_eq!(client(&plain, b"\x01\x03Hel\x80\x02lo").0, texts(&["Hello"]));
    // A masked text and a masked pong, from a client.
    let masked =
        b"\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58\x8a\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58";
    let got = feed(&mut session(Role::Server, &plain), masked, &[masked.len()]).0;
    assert_eq!(got, [Got::Text("Hello".into()), Got::Pong(b"Hello".to_vec())]);
    // A ping is answered with its payload.
    let mut server = session(Role::Server, &plain);
    let (got, out, _) = feed(&mut server, b"\x89\x81\0\0\0\0x", &[3]);
    assert_eq!((got, out), (vec![Got::Ping(b"x".to_vec())], b"\x8a\x01x".to_vec()));
    // 256 bytes and 64 KiB.
    for len in [0, 125, 126, 256, 65_535, 65_536] {
        let (message, mut bytes) = (vec![9; len], Vec::new());
        session(Role::Server, &plain).send_binary(&message, &mut bytes).expect("sent");
        assert_eq!(client(&plain, &bytes).0, [Got::Binary(message)], "{len}");
    }
}

#[test]
fn examples_of_rfc_7692() {
    let kept = both(Takeover::Kept);
    // 7.2.3.1 to 7.2.3.5: one block, two frames, the window used again, a block without compression, a last block, two blocks.
    let hello: &[u8] = b"\xc1\x07\xf2\x48\xcd\xc9\xc9\x07\x00";
    let cases: [(&[u8], usize); 6] = [
        (hello, 1),
        (b"\x41\x03\xf2\x48\xcd\x80\x04\xc9\xc9\x07\x00", 1),
        (b"\xc1\x07\xf2\x48\xcd\xc9\xc9\x07\x00\xc1\x05\xf2\x00\x11\x00\x00", 2),
        (b"\xc1\x0b\x00\x05\x00\xfa\xff\x48\x65\x6c\x6c\x6f\x00", 1),
        (b"\xc1\x08\xf3\x48\xcd\xc9\xc9\x07\x00\x00", 1),
        (b"\xc1\x0d\xf2\x48\x05\x00\x00\x00\xff\xff\xca\xc9\xc9\x07\x00", 1),
    ];
    for (bytes, messages) in cases {
        assert_eq!(
            client(&kept, bytes),
            (texts(&["Hello"].repeat(messages)), Vec::new(), Ok(())),
            "{bytes:x?}"
        );
    }
    // An empty one (7.2.3.6), and a plain message between compressed ones.
    assert_eq!(client(&kept, b"\xc1\x01\x00").0, texts(&[""]));
    assert_eq!(
        client(&kept, &[hello, b"\x81\x01a", hello].concat()).0,
        texts(&["Hello", "a", "Hello"])
    );
    // Without a window the second message must stand alone; this one refers to what there is not.
    assert_eq!(client(&both(Takeover::Dropped), cases[2].0).0, texts(&["Hello", "H\0\0\0\0"]));
}

#[test]
fn control_frames_come_between_fragments() {
    let bytes = b"\x01\x02ab\x89\x01p\x00\x00\x8a\x00\x80\x01c";
    let (got, out, result) = client(&Agreed::default(), bytes);
    let expect = [Got::Ping(b"p".to_vec()), Got::Pong(Vec::new()), Got::Text("abc".into())];
    assert_eq!((got.as_slice(), result), (&expect[..], Ok(())));
    assert_eq!(out[..2], [0x8a, 0x81]);
}

#[test]
fn what_the_peer_must_not_do() {
    use WsError as E;
    let (plain, kept) = (Agreed::default(), both(Takeover::Kept));
    let cases: [(&Agreed, &[u8], WsError); 14] = [
        (&plain, b"\x81\x80\0\0\0\0", E::Masked),
        (&plain, b"\x80\x00", E::ContinuationAlone),
        (&plain, b"\x81\x01a\x80\x00", E::ContinuationAlone),
        (&plain, b"\x01\x01a\x81\x01b", E::MessageInside),
        (&plain, b"\xc1\x01\x00", E::ReservedBits),
        (&kept, b"\x41\x01\x00\xc0\x00", E::ReservedBits),
        (&plain, b"\x88\x01\x03", E::CloseBody),
        (&plain, b"\x88\x02\x03\xed", E::CloseCode(1005)),
        (&plain, b"\x88\x02\x00\x00", E::CloseCode(0)),
        (&plain, b"\x88\x03\x03\xe8\xff", E::Utf8),
        (&plain, b"\x81\x01\xff", E::Utf8),
        (&plain, b"\x01\x02\xe2\x82\x80\x00", E::Utf8),
        (&plain, b"\x82\x7f\x7f\xff\xff\xff\xff\xff\xff\xff", E::TooBig(64 << 20)),
        (&kept, b"\xc2\x02\xff\xff", E::Inflate),
    ];
    for (agreed, bytes, error) in cases {
        let mut session = session(Role::Client, agreed);
        let (_, out, result) = feed(&mut session, bytes, &[bytes.len()]);
        assert_eq!(result, Err(error), "{bytes:x?}");
        assert_eq!(
            feed(&mut super::tests::session(Role::Client, agreed), bytes, &[1]).2,
            Err(error)
        );
        // The failure is reported once, and the session cannot be used afterwards.
        let (got, _, _) =
            feed(&mut super::tests::session(Role::Server, agreed), &out, &[out.len()]);
        assert_eq!(got, [Got::Close(Some(error.close_code()), String::new())], "{bytes:x?}");
        assert_eq!(feed(&mut session, b"\x81\x01a", &[3]), (Vec::new(), Vec::new(), Err(error)));
        assert_eq!(session.send_text("a", &mut Vec::new()), Err(SendError::Closed));
    }
    let result = feed(&mut session(Role::Server, &plain), b"\x81\x00", &[2]).2;
    assert_eq!(result, Err(E::Unmasked));
}

#[test]
fn texts_fail_before_they_are_whole() {
    // Of a frame of 100 bytes (and of a first fragment) ten came, and the sixth can be nothing.
    for first in [0x81, 0x01] {
        let bytes = [&[first, 100][..], b"Hello\xf8\x88\x80\x80\x80"].concat();
        assert_eq!(client(&Agreed::default(), &bytes).2, Err(WsError::Utf8));
    }
}

#[test]
fn close_handshakes() {
    let plain = Agreed::default();
    let (mut a, mut b) = (session(Role::Client, &plain), session(Role::Server, &plain));
    let mut out = Vec::new();
    a.close(Some(1000), "bye", &mut out);
    a.close(Some(1001), "again", &mut out);
    assert!(a.sent_close() && !a.is_closed());
    // Nothing after the close counts.
    out.extend_from_slice(b"\xff\xff");
    let (got, reply, _) = feed(&mut b, &out, &[1]);
    assert_eq!(got, [Got::Close(Some(1000), "bye".into())]);
    assert_eq!(reply, b"\x88\x02\x03\xe8");
    assert!(b.is_closed());
    // The side that closed first still gets the messages on their way.
    let (got, out, _) = feed(&mut a, &[b"\x81\x01x\x89\x00", &reply[..]].concat(), &[2]);
    let expect =
        [Got::Text("x".into()), Got::Ping(Vec::new()), Got::Close(Some(1000), String::new())];
    assert_eq!((got.as_slice(), out.len(), a.is_closed()), (&expect[..], 0, true));
    // Without a code, and with the one that stands for none.
    for code in [None, Some(1005)] {
        let mut out = Vec::new();
        session(Role::Server, &plain).close(code, "lost", &mut out);
        assert_eq!(out, b"\x88\x00");
        assert_eq!(client(&plain, &out).0, [Got::Close(None, String::new())]);
    }
    // A reason is cut between two characters.
    let mut out = Vec::new();
    session(Role::Server, &plain).close(Some(4000), &"é".repeat(100), &mut out);
    assert_eq!(client(&plain, &out).0, [Got::Close(Some(4000), "é".repeat(61))]);
}

#[test]
fn messages_are_bounded_as_sent_and_as_inflated() {
    let limits = Limits { message_bytes_max: 1000, ..Limits::default() };
    let check = |agreed: &Agreed, bytes: &[u8], expect: Result<(), WsError>| {
        for lens in [bytes.len(), 1] {
            let mut session = WsSession::new(Role::Client, agreed, limits, 1);
            assert_eq!(feed(&mut session, bytes, &[lens]).2, expect);
        }
    };
    let plain = Agreed::default();
    let frame = |head: &[u8], len| [head, &vec![b'a'; len][..]].concat();
    check(&plain, &frame(b"\x82\x7e\x03\xe8", 1000), Ok(()));
    check(&plain, b"\x82\x7e\x03\xe9", Err(WsError::TooBig(1000)));
    let halves = [frame(b"\x02\x7e\x01\xf4", 500), frame(b"\x80\x7e\x01\xf4", 500)].concat();
    check(&plain, &halves, Ok(()));
    check(&plain, &[&halves[..504], b"\x80\x7e\x01\xf5"].concat(), Err(WsError::TooBig(1000)));
    for (len, expect) in [
        (1000, Ok(())),
        (1001, Err(WsError::TooBig(1000))),
        (50_000_000, Err(WsError::TooBig(1000))),
    ] {
        let (agreed, mut bytes) = (both(Takeover::Dropped), Vec::new());
        session(Role::Server, &agreed).send_binary(&vec![0; len], &mut bytes).expect("sent");
        assert!(bytes.len() < 500_000, "it is a bomb");
        check(&agreed, &bytes, expect);
    }
}

/// Blocks without content cost the inflater a thousand times what they cost their sender.
#[test]
fn compressed_messages_are_not_all_blocks() {
    use flate2::{Compress, Compression, FlushCompress, Status};
    let deflate = |message: &[u8], level: u32, flush_each: usize| {
        let (mut compress, mut out) = (Compress::new(Compression::new(level), false), Vec::new());
        for part in message.chunks(flush_each) {
            out.reserve(part.len() * 2 + 64);
            let step = compress.compress_vec(part, &mut out, FlushCompress::Sync);
            assert_eq!(step.expect("it compresses"), Status::Ok);
        }
        out.truncate(out.len() - 4);
        out
    };
    let noise: Vec<u8> = (0..300_000).map(|i| stdx::mix(3, i) as u8).collect();
    // Four blocks of ten bits: not the last one, with the codes that are fixed, and at its end at once.
    let four: u64 = 2 | 2 << 10 | 2 << 20 | 2 << 30;
    let cases = [
        (b"\x03\x00".repeat(1 << 22), Err(WsError::Hollow)),
        (four.to_le_bytes()[..5].repeat(1 << 20), Err(WsError::Hollow)),
        (b"\x03\x00".repeat(64), Ok(0)),
        (deflate(&noise, 0, 1 << 20), Ok(noise.len())),
        (deflate(&noise, 6, 100), Ok(noise.len())),
        (deflate(&noise[..8000], 6, 1), Ok(8000)),
    ];
    for (at, (payload, expect)) in cases.iter().enumerate() {
        let len = (payload.len() as u64).to_be_bytes();
        let head = match payload.len() {
            0..126 => vec![0xc2, len[7]],
            126..65536 => vec![0xc2, 0x7e, len[6], len[7]],
            _ => [&[0xc2, 0x7f], &len[..]].concat(),
        };
        let frame = [&head[..], payload].concat();
        for lens in [frame.len(), 777] {
            let (got, _, result) =
                feed(&mut session(Role::Client, &both(Takeover::Kept)), &frame, &[lens]);
            let len = got.first().map_or(0, |got| match got {
                Got::Binary(bytes) => bytes.len(),
                other => panic!("{other:?}"),
            });
            assert_eq!(result.map(|()| len), *expect, "case {at} by {lens}");
        }
    }
}

#[test]
fn compressed_only_where_it_pays() {
    let mut out = Vec::new();
    let mut server = session(Role::Server, &both(Takeover::Dropped));
    let noise: Vec<u8> = (0..200).map(|i| stdx::mix(3, i) as u8).collect();
    for (message, first) in [(vec![b'a'; 63], 0x82), (vec![b'a'; 64], 0xc2), (noise, 0x82)] {
        out.clear();
        server.send_binary(&message, &mut out).expect("sent");
        assert_eq!(out[0], first);
    }
    // With a window the second copy is a few bytes.
    let mut server = session(Role::Server, &both(Takeover::Kept));
    let noise: Vec<u8> = (0..2000).map(|i| stdx::mix(3, i) as u8).collect();
    let mut lens = [0; 2];
    for len in &mut lens {
        out.clear();
        server.send_binary(&noise, &mut out).expect("sent");
        *len = out.len();
    }
    assert!(lens[0] > 1900 && lens[1] < 100, "{lens:?}");
}

#[test]
fn controls_are_short_and_not_after_a_close() {
    let (mut client, mut out) = (session(Role::Client, &Agreed::default()), Vec::new());
    assert_eq!(client.ping(&[0; 126], &mut out), Err(SendError::ControlTooLong(126)));
    assert_eq!((client.ping(&[0; 125], &mut out), out.len()), (Ok(()), 131));
    client.close(None, "", &mut out);
    assert_eq!(client.pong(b"", &mut out), Err(SendError::Closed));
}

/// A message to send, in frames of these lengths.
#[derive(Clone, Debug)]
struct Sent {
    message: Got,
    cuts: Vec<usize>,
}

fn sent() -> impl Strategy<Value = Sent> {
    let message = prop_oneof![
        "[a-cé€😀]{0,400}".prop_map(Got::Text),
        proptest::collection::vec(0u8..4, 0..2000).prop_map(Got::Binary),
        proptest::collection::vec(any::<u8>(), 0..300).prop_map(Got::Binary),
        proptest::collection::vec(any::<u8>(), 0..125).prop_map(Got::Ping),
        proptest::collection::vec(any::<u8>(), 0..125).prop_map(Got::Pong),
    ];
    (message, proptest::collection::vec(0usize..200, 0..4))
        .prop_map(|(message, cuts)| Sent { message, cuts })
}

/// Sends it as one frame, then cuts that frame into several where it is a message.
fn encode(session: &mut WsSession, sent: &Sent, out: &mut Vec<u8>) {
    let mut bytes = Vec::new();
    let done = match &sent.message {
        Got::Text(text) => session.send_text(text, &mut bytes),
        Got::Binary(binary) => session.send_binary(binary, &mut bytes),
        Got::Ping(payload) => session.ping(payload, &mut bytes),
        Got::Pong(payload) => session.pong(payload, &mut bytes),
        Got::Close(code, reason) => return session.close(*code, reason, out),
    };
    done.expect("an open session");
    let (header, len) = frame::Header::parse(&bytes).expect("a header").expect("a whole one");
    if header.opcode.is_control() {
        return out.extend(bytes);
    }
    let mut payload = bytes.split_off(len);
    mask::apply(header.key.unwrap_or_default(), 0, &mut payload);
    let mut rest = payload.as_slice();
    for (at, cut) in sent.cuts.iter().chain([&usize::MAX]).enumerate() {
        let (piece, after) = rest.split_at(rest.len().min(*cut));
        let opcode = if at == 0 { header.opcode } else { Opcode::Continuation };
        let (last, compressed) = (at == sent.cuts.len(), at == 0 && header.compressed);
        frame::Header { opcode, last, compressed, key: header.key, len: piece.len() as u64 }
            .encode(out);
        let start = out.len();
        out.extend_from_slice(piece);
        mask::apply(header.key.unwrap_or_default(), 0, &mut out[start..]);
        rest = after;
    }
}

fn agreements() -> impl Strategy<Value = Agreed> {
    let side = prop_oneof![Just(Takeover::Kept), Just(Takeover::Dropped)];
    let some = (side.clone(), side).prop_map(|(server, client)| deflated(server, client));
    prop_oneof![Just(Agreed::default()), some]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn messages_arrive_as_they_were_sent(
        agreed in agreements(),
        role in prop_oneof![Just(Role::Client), Just(Role::Server)],
        messages in proptest::collection::vec(sent(), 1..8),
        lens in proptest::collection::vec(1usize..300, 1..6),
        deflate_bytes_min in 0usize..100,
    ) {
        let other = if role == Role::Client { Role::Server } else { Role::Client };
        let limits = Limits { deflate_bytes_min, ..Limits::default() };
        let mut sender = WsSession::new(role, &agreed, limits, 3);
        let mut bytes = Vec::new();
        for one in &messages {
            encode(&mut sender, one, &mut bytes);
        }
        let (got, pongs, result) = feed(&mut session(other, &agreed), &bytes, &lens);
        let expect: Vec<Got> = messages.iter().map(|one| one.message.clone()).collect();
        prop_assert_eq!(result, Ok(()));
        prop_assert_eq!(&got, &expect);
        // Each ping had its pong.
        let (answers, _, _) = feed(&mut sender, &pongs, &[pongs.len()]);
        let pinged = expect.into_iter().filter_map(|got| match got { Got::Ping(payload) => Some(Got::Pong(payload)), _ => None });
        prop_assert_eq!(answers, pinged.collect::<Vec<_>>());
    }

    #[test]
    fn any_bytes_give_the_same_in_any_split(
        bytes in proptest::collection::vec(prop_oneof![any::<u8>(), Just(0x81), Just(0x01), Just(0x02), Just(0xc1), Just(0x80), Just(0)], 1..60),
        lens in proptest::collection::vec(1usize..9, 1..6),
    ) {
        let agreed = both(Takeover::Kept);
        let whole = feed(&mut session(Role::Client, &agreed), &bytes, &[bytes.len()]);
        let split = feed(&mut session(Role::Client, &agreed), &bytes, &lens);
        prop_assert_eq!(whole, split);
    }
}

/// A message that is neither deflate data nor, as far as it is, UTF-8.
#[test]
fn a_message_with_two_faults_has_the_same_one_in_any_split() {
    let bytes = [129, 0, 193, 15, 2, 193, 18, 129, 193, 0, 22, 0, 93, 0, 128, 0, 0, 0, 0];
    let agreed = both(Takeover::Kept);
    let [whole, split] =
        [bytes.len(), 1].map(|len| feed(&mut session(Role::Client, &agreed), &bytes, &[len]));
    assert_eq!((&whole, &whole.2), (&split, &Err(WsError::Utf8)));
}
