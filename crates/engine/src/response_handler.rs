//! `ResponseHandler`: takes a response apart for one hit: counts, decodes, captures what is asked for.

use std::sync::Arc;

use wire::content::{Accepted, Codings, ContentDecoder, ContentError};
use wire::h1::response::{Head, ResponseSink};
use wire::h1::{HeadMemo, Header, Version};

use crate::captured::CapturedResponse;
use crate::decoders::Decoders;
use crate::hit::Progress;
use crate::settings::{Capture, CapturedHeaders};

/// Takes a response apart for one hit.
#[derive(Debug)]
pub(crate) struct ResponseHandler<'a> {
    pub(crate) progress: &'a mut Progress,
    pub(crate) content: &'a mut Option<Box<ContentDecoder>>,
    /// Where the decoder of a coded body comes from.
    pub(crate) decoders: &'a mut Decoders,
    pub(crate) captured: &'a mut CapturedResponse,
    pub(crate) capture: Capture,
    /// The most that is captured of a body, whatever is asked for.
    pub(crate) body_most: u64,
    /// The bytes that the body may have; of a stream whose user takes it in parts [`Hit::PARTED`](crate::hit::Hit::PARTED).
    pub(crate) body_max: u64,
    pub(crate) decode: Decode,
    /// Whether this response's body is coded and decoded by us.
    pub(crate) coded: &'a mut bool,
    /// The last head of responses to the same target, where none of its fields alone are wanted.
    pub(crate) head_cache: Option<&'a mut HeadCache>,
    /// It is the response of an HTTP/2 stream.
    pub(crate) streamed: bool,
    /// What went wrong with the content coding, if anything.
    pub(crate) failure: Option<ContentError>,
}

/// The last head of responses to the same target.
#[derive(Debug, Default)]
pub(crate) struct HeadCache {
    head: HeadMemo,
    /// What was captured of it, shared by all users of the worker that get the same head.
    captured: Option<Arc<[u8]>>,
}

/// Which content codings are decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decode {
    /// All we know.
    All,
    /// What the request asked for.
    Accepted(Accepted),
    /// gzip, as Go's client does where it asked for it itself.
    GzipOnly,
    /// None.
    Nothing,
}

impl ResponseSink for ResponseHandler<'_> {
    fn head(&mut self, head: &Head<'_>) {
        self.begin(head.status);
        if !(200..400).contains(&head.status) {
            self.captured.reason.extend_from_slice(head.reason.as_bytes());
        }
        if self.decode != Decode::Nothing {
            self.begin_decoding(head);
        }
        if self.capture.headers != CapturedHeaders::Nothing {
            self.capture_headers(head);
            if self.captured.count_head().is_err() {
                self.failure = Some(ContentError::Memory);
            }
        }
        if self.capture.headers == CapturedHeaders::WholeHead {
            self.share_head();
        }
    }

    fn trailers(&mut self, fields: &[Header<'_>]) {
        let of_call = self.capture.headers == CapturedHeaders::Call;
        if !of_call && self.capture.headers != CapturedHeaders::WholeHead {
            return;
        }
        for field in fields.iter().filter(|field| !of_call || is_of_call(field.name)) {
            let out = &mut self.captured.trailers;
            out.extend_from_slice(field.name.as_bytes());
            out.extend_from_slice(b": ");
            out.extend_from_slice(field.value);
            out.extend_from_slice(b"\r\n");
        }
        if self.captured.count_head().is_err() {
            self.failure = Some(ContentError::Memory);
        }
    }

    fn memo(&mut self) -> Option<&mut HeadMemo> {
        self.head_cache.as_mut().map(|head_cache| &mut head_cache.head)
    }

    fn head_again(&mut self, status: u16) {
        self.begin(status);
        if let Some(head_cache) = &self.head_cache {
            self.captured
                .headers
                .extend_from_slice(head_cache.captured.as_deref().unwrap_or_default());
            self.captured.head.clone_from(&head_cache.captured);
        }
    }

    fn body(&mut self, bytes: &[u8]) {
        if !*self.coded {
            take(self.progress, self.captured, (self.capture, self.body_most), bytes);
            return;
        }
        let Some(decoder) = self.content.as_mut().filter(|_| self.failure.is_none()) else {
            return;
        };
        let capture = (self.capture, self.body_most);
        let (progress, captured) = (&mut *self.progress, &mut *self.captured);
        if let Err(error) =
            decoder.decode(bytes, &mut |piece| take(progress, captured, capture, piece))
        {
            self.failure = Some(error);
        }
    }
}

impl ResponseHandler<'_> {
    fn begin(&mut self, status: u16) {
        self.progress.status = status;
        self.progress.bytes_in = 0;
        *self.coded = false;
    }

    /// Shares the captured lines with all responses that have the same head.
    fn share_head(&mut self) {
        let head: Arc<[u8]> = self.captured.headers.as_slice().into();
        if let Some(head_cache) = self.head_cache.as_mut() {
            // Until the head itself is kept as well the memo holds that of another.
            head_cache.head.forget();
            head_cache.captured = Some(Arc::clone(&head));
        }
        self.captured.head = Some(head);
    }

    /// Takes a decoder for this body. A coding that is unknown, or was not asked for, is left as it is.
    fn begin_decoding(&mut self, head: &Head<'_>) {
        let mut codings = Codings::default();
        let mut only_gzip = true;
        for field in head.headers {
            if field.name.len() == CONTENT_ENCODING.len()
                && field.name.eq_ignore_ascii_case(CONTENT_ENCODING)
            {
                codings.push_field(field.value);
                only_gzip &= field.value.eq_ignore_ascii_case(b"gzip");
            }
        }
        let is_wanted = match self.decode {
            Decode::All => true,
            Decode::Accepted(accepted) => accepted.allows(&codings),
            Decode::GzipOnly => only_gzip,
            Decode::Nothing => false,
        };
        if codings.is_identity() || !is_wanted {
            return;
        }
        let decoder = self.decoders.take(&codings);
        *self.coded = decoder.is_ok();
        *self.content = decoder.ok();
    }

    /// Keeps the header lines. Where Go's client would decode, it takes the coding's fields out, and so do we.
    fn capture_headers(&mut self, head: &Head<'_>) {
        let is_for_script = self.capture.headers == CapturedHeaders::WholeHead;
        if is_for_script {
            self.capture_status_line(head);
        }
        for field in head.headers {
            if let CapturedHeaders::Named(names) = self.capture.headers
                && !names.iter().any(|name| field.name.eq_ignore_ascii_case(name))
            {
                continue;
            }
            if self.capture.headers == CapturedHeaders::Call && !is_of_call(field.name) {
                continue;
            }
            let hidden = *self.coded
                && self.decode == Decode::GzipOnly
                && (field.name.eq_ignore_ascii_case(CONTENT_ENCODING)
                    || field.name.eq_ignore_ascii_case("content-length"));
            if hidden {
                continue;
            }
            let out = &mut self.captured.headers;
            out.extend_from_slice(field.name.as_bytes());
            out.extend_from_slice(b": ");
            // A script gets what the server sent.
            let shown =
                if is_for_script { None } else { stdx::redacted_value(field.name, field.value) };
            match shown {
                Some(shown) => out.extend_from_slice(shown.as_bytes()),
                None => out.extend_from_slice(field.value),
            }
            out.extend_from_slice(b"\r\n");
        }
    }

    fn capture_status_line(&mut self, head: &Head<'_>) {
        let out = &mut self.captured.headers;
        out.extend_from_slice(match head.version {
            _ if self.streamed => b"HTTP/2.0 ",
            Version::Http10 => b"HTTP/1.0 ",
            Version::Http11 => b"HTTP/1.1 ",
        });
        out.extend_from_slice(head.status.to_string().as_bytes());
        out.push(b' ');
        out.extend_from_slice(head.reason.as_bytes());
        out.extend_from_slice(b"\r\n");
    }
}

const CONTENT_ENCODING: &str = "content-encoding";

/// Whether the end of a call of gRPC is read from a field.
fn is_of_call(name: &str) -> bool {
    const FIELDS: [&str; 4] = ["content-type", "grpc-status", "grpc-message", "grpc-encoding"];
    FIELDS.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Counts a piece of the decoded body and keeps what is to be kept of it.
fn take(
    progress: &mut Progress,
    captured: &mut CapturedResponse,
    (capture, most): (Capture, u64),
    piece: &[u8],
) {
    let room = capture.body_max.min(most).saturating_sub(captured.body.len() as u64);
    let keep = piece.len().min(usize::try_from(room).unwrap_or(usize::MAX));
    captured.add_body(&piece[..keep]);
    captured.body_cut |= keep < piece.len() && capture.body_max >= most;
    progress.bytes_in += if capture.count_kept_only { keep } else { piece.len() } as u64;
}
