//! Answers: a request and what was decided about it become bytes, and long ones a `Stream` that gives a piece at a time.

use stdx::{Bytes, Nanos};
use wire::h1::server::{
    Connection as Wish, Framing, ResponseHead, encode_chunk, encode_last_chunk, reason,
};

use crate::Stats;
use crate::bodies::{self, BOMB, BOMB_BLOCKS, PIECE};
use crate::route::{Coding, Route};

/// What happens to the connection after a response, as the response's head announces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The connection stays open, as HTTP/1.1 does by default; no field is sent.
    #[default]
    Keep,
    /// It stays, as an HTTP/1.0 client asked: `Connection: keep-alive`.
    KeepOld,
    /// It ends: `Connection: close`.
    Close,
}

/// Which parts of an answer the method wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Parts {
    #[default]
    Whole,
    /// The method is HEAD.
    HeadOnly,
}

/// A request as far as its answer depends on it.
#[derive(Debug)]
pub(crate) struct RequestInfo {
    pub(crate) route: Route,
    pub(crate) parts: Parts,
    pub(crate) fate: Fate,
    /// The request as text, kept for `/echo` alone.
    pub(crate) echo: Vec<u8>,
}

/// What was decided about a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// It is answered as it asked.
    Served,
    /// The queue was full: 503.
    Refused,
    /// The error rate hit it: 500.
    Failed,
    /// It is no HTTP: this status, and the end.
    Malformed(u16),
}

/// What follows on the bytes that were appended.
#[derive(Debug)]
pub(crate) enum Then {
    /// The answer is complete.
    Done,
    /// More of it comes from here.
    Stream(Stream),
    /// The connection ends, whatever the head said.
    Close,
    /// The connection is reset.
    Reset,
    /// Nothing ever.
    Never,
}

/// The rest of a long answer.
#[derive(Debug)]
pub(crate) enum Stream {
    Filler { at: u64, end: u64 },
    Headers { next: u64 },
    Chunks { at: u64 },
    Bomb { left: u32 },
    Drip { at: u64, end: u64, each: Nanos },
}

/// What a stream has after a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum More {
    Now,
    /// Not before so much time has passed.
    After(Nanos),
    Nothing,
}

/// The answers that are always the same, made once.
#[derive(Debug)]
pub(crate) struct Site {
    body: u64,
    page: [Prepared; 3],
    refused: [Prepared; 3],
    failed: [Prepared; 3],
}

/// One answer for one [`Fate`]; a body longer than [`PIECE`] is left out and streamed.
#[derive(Debug)]
struct Prepared {
    bytes: Vec<u8>,
    head_len: usize,
}

const PLAIN: (&str, &str) = ("Content-Type", "text/plain");
const JSON: (&str, &str) = ("Content-Type", "application/json");
/// What `/reset` and `/truncate` promise; they send half of it.
const BROKEN_LEN: u64 = 1000;
const GARBAGE: &[u8] = b"\x00\xff\xfe\x80 this was never HTTP \r\n\r\n\x01\x02\x03\r\n";

impl Site {
    /// Prepares the plain answer with `body` bytes, and those of a full queue and of a made error.
    pub(crate) fn new(body: Bytes) -> Self {
        let mut text = Vec::new();
        if body.0 <= PIECE as u64 {
            bodies::fill(&mut text, 0, body.0 as usize);
        }
        Self {
            body: body.0,
            page: prepare(200, &text, body.0),
            refused: prepare(503, b"the queue is full\n", 18),
            failed: prepare(500, b"as the error rate asks\n", 23),
        }
    }

    /// Appends the answer, or its beginning.
    pub(crate) fn answer(
        &self,
        asked: &RequestInfo,
        verdict: Verdict,
        stats: &Stats,
        out: &mut Vec<u8>,
    ) -> Then {
        match verdict {
            Verdict::Served => self.serve(asked, stats, out),
            Verdict::Refused => put(&self.refused, asked, out),
            Verdict::Failed => put(&self.failed, asked, out),
            Verdict::Malformed(status) => {
                text(asked, status, &[PLAIN], b"this is not HTTP/1\n", out);
                Then::Close
            }
        }
    }

    fn page(&self, asked: &RequestInfo, out: &mut Vec<u8>) -> Then {
        let then = put(&self.page, asked, out);
        if self.body <= PIECE as u64 || asked.parts == Parts::HeadOnly {
            return then;
        }
        Then::Stream(Stream::Filler { at: 0, end: self.body })
    }

    fn serve(&self, asked: &RequestInfo, stats: &Stats, out: &mut Vec<u8>) -> Then {
        match &asked.route {
            Route::Page | Route::Slow(_) | Route::Redirect(0) => self.page(asked, out),
            Route::EarlyHints => {
                let hint = [("Link", "</style.css>; rel=preload; as=style")];
                head(Fate::Keep, 103, &hint, Framing::None, out);
                self.page(asked, out)
            }
            Route::Status(status) => {
                let line = format!("{status} {}\n", reason(*status));
                text(asked, *status, &[PLAIN], line.as_bytes(), out)
            }
            Route::Redirect(hops) => redirect(asked, &format!("/redirect/{}", hops - 1), out),
            Route::RedirectTo(url) => redirect(asked, url, out),
            Route::Wrong | Route::WsEcho(_) | Route::Cable => {
                text(asked, 400, &[PLAIN], b"no such number or URL\n", out)
            }
            Route::Echo => text(asked, 200, &[PLAIN], &asked.echo, out),
            Route::Pid => {
                text(asked, 200, &[PLAIN], format!("{}\n", std::process::id()).as_bytes(), out)
            }
            Route::Stats => text(asked, 200, &[JSON], format!("{stats}\n").as_bytes(), out),
            Route::Coded(coding) => {
                let name = coding_name(*coding);
                text(asked, 200, &[PLAIN, ("Content-Encoding", name)], bodies::coded(*coding), out)
            }
            Route::Chunked => chunked(asked, &[PLAIN], &[], out),
            Route::Trailers => {
                let trailers = b"X-Trailer: after the body\r\nX-Lines: 64\r\n";
                chunked(asked, &[PLAIN, ("Trailer", "X-Trailer, X-Lines")], trailers, out)
            }
            _ => fault(asked, out),
        }
    }
}

/// The routes that stream, break or keep silent.
fn fault(asked: &RequestInfo, out: &mut Vec<u8>) -> Then {
    let whole = asked.parts == Parts::Whole;
    let stream = |stream| if whole { Then::Stream(stream) } else { Then::Done };
    match asked.route {
        Route::Bytes(len) => {
            head(asked.fate, 200, &[PLAIN], Framing::Length(len), out);
            stream(Stream::Filler { at: 0, end: len })
        }
        Route::Drip { bytes, each } => {
            head(asked.fate, 200, &[PLAIN], Framing::Length(bytes), out);
            stream(Stream::Drip { at: 0, end: bytes, each })
        }
        Route::HugeHeaders => {
            out.extend_from_slice(b"HTTP/1.1 200 OK\r\n");
            Then::Stream(Stream::Headers { next: 0 })
        }
        Route::Endless => {
            head(asked.fate, 200, &[PLAIN], Framing::Chunked, out);
            stream(Stream::Chunks { at: 0 })
        }
        Route::Bomb => {
            let headers = [PLAIN, ("Content-Encoding", "gzip")];
            head(asked.fate, 200, &headers, Framing::Length(BOMB.len()), out);
            if whole {
                out.extend_from_slice(&BOMB.head);
            }
            stream(Stream::Bomb { left: BOMB_BLOCKS })
        }
        Route::Eof => {
            head(Fate::Close, 200, &[PLAIN], Framing::UntilClose, out);
            if whole {
                out.extend_from_slice(bodies::text().as_bytes());
            }
            Then::Close
        }
        Route::Reset | Route::Truncate => {
            head(asked.fate, 200, &[PLAIN], Framing::Length(BROKEN_LEN), out);
            bodies::fill(out, 0, BROKEN_LEN as usize / 2);
            if asked.route == Route::Reset { Then::Reset } else { Then::Close }
        }
        Route::Garbage => {
            out.extend_from_slice(GARBAGE);
            Then::Close
        }
        Route::Hang => Then::Never,
        _ => Then::Close,
    }
}

impl Stream {
    /// Appends the next piece, about [`PIECE`] bytes at most.
    pub(crate) fn piece(&mut self, out: &mut Vec<u8>) -> More {
        match self {
            Self::Filler { at, end } => {
                let len = (*end - *at).min(PIECE as u64);
                bodies::fill(out, *at, len as usize);
                *at += len;
                if at == end { More::Nothing } else { More::Now }
            }
            Self::Headers { next } => {
                for n in *next..*next + 256 {
                    out.extend_from_slice(format!("X-Filler-{n}: {n:040}\r\n").as_bytes());
                }
                *next += 256;
                More::Now
            }
            Self::Chunks { at } => {
                let mut chunk = Vec::with_capacity(PIECE);
                bodies::fill(&mut chunk, *at, PIECE);
                encode_chunk(&chunk, out);
                *at += PIECE as u64;
                More::Now
            }
            Self::Bomb { left } => {
                let blocks = (*left).min((PIECE / BOMB.block.len()).max(1) as u32);
                (0..blocks).for_each(|_| out.extend_from_slice(&BOMB.block));
                *left -= blocks;
                if *left > 0 {
                    return More::Now;
                }
                out.extend_from_slice(&BOMB.tail);
                More::Nothing
            }
            Self::Drip { at, end, each } => {
                bodies::fill(out, *at, usize::from(at < end));
                *at += 1;
                if at < end { More::After(*each) } else { More::Nothing }
            }
        }
    }
}

fn prepare(status: u16, body: &[u8], body_len: u64) -> [Prepared; 3] {
    [Fate::Keep, Fate::KeepOld, Fate::Close].map(|fate| {
        let mut bytes = Vec::new();
        head(fate, status, &[PLAIN], Framing::Length(body_len), &mut bytes);
        let head_len = bytes.len();
        bytes.extend_from_slice(body);
        Prepared { bytes, head_len }
    })
}

fn put(prepared: &[Prepared; 3], asked: &RequestInfo, out: &mut Vec<u8>) -> Then {
    let one = &prepared[asked.fate as usize];
    let len = if asked.parts == Parts::HeadOnly { one.head_len } else { one.bytes.len() };
    out.extend_from_slice(&one.bytes[..len]);
    Then::Done
}

/// Appends an answer whose body is at hand.
fn text(
    asked: &RequestInfo,
    status: u16,
    headers: &[(&str, &str)],
    body: &[u8],
    out: &mut Vec<u8>,
) -> Then {
    // RFC 9110, 6.4.1: these have no body and no length.
    if matches!(status, 204 | 304) {
        head(asked.fate, status, &[], Framing::None, out);
        return Then::Done;
    }
    head(asked.fate, status, headers, Framing::Length(body.len() as u64), out);
    if asked.parts == Parts::Whole {
        out.extend_from_slice(body);
    }
    Then::Done
}

fn redirect(asked: &RequestInfo, to: &str, out: &mut Vec<u8>) -> Then {
    text(asked, 302, &[PLAIN, ("Location", to)], b"elsewhere\n", out)
}

/// Appends the text in chunks of growing length: 1, 2, 4 and so on.
fn chunked(
    asked: &RequestInfo,
    headers: &[(&str, &str)],
    trailers: &[u8],
    out: &mut Vec<u8>,
) -> Then {
    head(asked.fate, 200, headers, Framing::Chunked, out);
    if asked.parts == Parts::HeadOnly {
        return Then::Done;
    }
    let text = bodies::text();
    let (mut rest, mut len) = (text.as_bytes(), 1);
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at(len.min(rest.len()));
        encode_chunk(chunk, out);
        (rest, len) = (after, len * 2);
    }
    if trailers.is_empty() {
        encode_last_chunk(out);
    } else {
        out.extend_from_slice(b"0\r\n");
        out.extend_from_slice(trailers);
        out.extend_from_slice(b"\r\n");
    }
    Then::Done
}

fn head(fate: Fate, status: u16, headers: &[(&str, &str)], framing: Framing, out: &mut Vec<u8>) {
    let mut headers = headers.to_vec();
    if fate == Fate::KeepOld {
        headers.push(("Connection", "keep-alive"));
    }
    let connection = if fate == Fate::Close { Wish::Close } else { Wish::Keep };
    ResponseHead { status, headers: &headers, framing, connection }.encode(out);
}

fn coding_name(coding: Coding) -> &'static str {
    match coding {
        Coding::Gzip => "gzip",
        Coding::Deflate => "deflate",
        Coding::Brotli => "br",
        Coding::Zstd => "zstd",
    }
}
