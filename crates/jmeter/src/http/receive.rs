//! The answer to a request: the result filled in, cookies and cache noted.

use jmx::Class;
use md5::Digest as _;
use stdx::Nanos;
use users::{HttpFailure, HttpResponse, response_head};
use wire::content::{Codings, ContentDecoder, ContentError};
use wire::url::Url;

use super::cache::Observation;
use super::charset::{charset_of, decode};
use super::field::value;
use super::send::cookie_manager;
use crate::plan::node::SamplerNode;
use crate::results::sample::SampleResult;
use crate::thread::scope::Thread;

/// Bytes of a decoded body at most: 64 MiB.
const BODY_MAX: usize = 64 << 20;
/// Java's charset where an answer names none.
const CHARSET: &str = "UTF-8";

/// Fills the result of a request in.
pub(crate) fn fill(
    sample: &mut SampleResult,
    response: HttpResponse,
    node: &SamplerNode,
    thread: &mut Thread,
) {
    set_times(sample, &response);
    if let Some(failure) = &response.failure {
        return fail(sample, failure, &response);
    }
    let head = response.head.clone().unwrap_or_default();
    let fields: Vec<(String, String)> = response_head::fields(&head)
        .filter(|(name, _)| !name.trim().is_empty())
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .collect();
    sample.code = response.status.to_string();
    sample.message = reason(&head);
    sample.is_success = (200..400).contains(&response.status);
    sample.response_headers = lines(&head);
    sample.header_bytes = head.len() as u64 + 2;
    sample.body_bytes = response.wire_bytes.1.saturating_sub(sample.header_bytes);
    sample.content_type = value(&fields, "Content-Type").unwrap_or_default().to_owned();
    sample.data_type = data_type(&sample.content_type);
    if matches!(response.status, 204 | 304) {
        sample.data_type = "";
    }
    match plain(response.body.unwrap_or_default(), &fields) {
        Ok(body) => sample.body = body,
        Err(fault) => return refuse(sample, fault.0, fault.1),
    }
    let charset = charset_of(&sample.content_type).unwrap_or_else(|| CHARSET.to_owned());
    sample.text = decode(&sample.body, &charset).into_owned();
    sample.encoding = charset;
    note(sample, &fields, node, thread);
}

/// The times of a sample: what the client waited for and what it received.
fn set_times(sample: &mut SampleResult, response: &HttpResponse) {
    let times = &response.timings;
    let connect = times.connecting.saturating_add(times.tls_handshaking);
    let ms = |time: Nanos| time.0 / 1_000_000;
    sample.connect_ms = ms(connect);
    sample.latency_ms = ms(connect.saturating_add(times.sending).saturating_add(times.waiting));
    sample.elapsed_ms = ms(connect.saturating_add(times.duration()));
}

/// An answer that did not come.
fn fail(sample: &mut SampleResult, failure: &HttpFailure, response: &HttpResponse) {
    let (class, message) =
        failure.whole.split_once('\t').unwrap_or(("java.io.IOException", &failure.whole));
    let message = match class {
        "org.apache.http.ConnectionClosedException" => {
            premature_end(response).unwrap_or_else(|| message.to_owned())
        }
        _ => message.to_owned(),
    };
    sample.latency_ms = sample.latency_ms.min(sample.elapsed_ms);
    refuse(sample, class, &message);
}

/// The words of Apache's client for a body that ends too early.
fn premature_end(response: &HttpResponse) -> Option<String> {
    let head = response.cut_head.as_deref()?;
    let length = response_head::values(head, "content-length").next()?;
    let received = response.body.as_ref().map_or(0, Vec::len);
    let expected: u64 = length.trim().parse().ok()?;
    let grouped = |number: u64| {
        let digits = number.to_string();
        let parts = digits.as_bytes().rchunks(3).rev();
        parts.map(|part| String::from_utf8_lossy(part)).collect::<Vec<_>>().join(",")
    };
    Some(format!(
        "Premature end of Content-Length delimited message body (expected: {}; received: {})",
        grouped(expected),
        grouped(received as u64)
    ))
}

/// Makes a result one of an exception of Java's.
pub(crate) fn refuse(sample: &mut SampleResult, class: &str, message: &str) {
    sample.code = format!("Non HTTP response code: {class}");
    sample.message = format!("Non HTTP response message: {message}");
    sample.is_success = false;
    sample.data_type = "text";
    sample.text = format!("{class}: {message}\n");
    sample.body = sample.text.clone().into_bytes();
    sample.encoding = CHARSET.to_owned();
    (sample.header_bytes, sample.body_bytes) = (0, sample.body.len() as u64);
}

fn reason(head: &[u8]) -> String {
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let line = line.trim_end();
    line.splitn(3, ' ').nth(2).unwrap_or_default().to_owned()
}

/// The lines of a head, each ended by a newline.
fn lines(head: &[u8]) -> String {
    String::from_utf8_lossy(head).replace("\r\n", "\n")
}

fn data_type(content_type: &str) -> &'static str {
    let lower = content_type.trim().to_ascii_lowercase();
    match lower.as_str() {
        "" => "",
        kind if ["image/", "audio/", "video/"].iter().any(|start| kind.starts_with(start)) => "bin",
        _ => "text",
    }
}

/// Why a body in a content coding is none: Java's exception and its message.
type CodingFault = (&'static str, &'static str);

/// The body without its content codings, as far as they are known.
fn plain(body: Vec<u8>, fields: &[(String, String)]) -> Result<Vec<u8>, CodingFault> {
    let mut codings = Codings::default();
    for (_, value) in
        fields.iter().filter(|(name, _)| name.eq_ignore_ascii_case("Content-Encoding"))
    {
        codings.push_field(value.as_bytes());
    }
    if codings.is_identity() || body.is_empty() {
        return Ok(body);
    }
    let Ok(mut decoder) = ContentDecoder::new(&codings) else { return Ok(body) };
    let (mut out, mut is_full) = (Vec::new(), false);
    let taken = decoder.decode(&body, &mut |piece| {
        is_full |= out.len() + piece.len() > BODY_MAX;
        if !is_full {
            out.extend_from_slice(piece);
        }
    });
    match taken.and_then(|()| decoder.finish()) {
        Ok(()) if is_full => {
            Err(("java.lang.OutOfMemoryError", "more than 64 MiB without its coding"))
        }
        Ok(()) => Ok(out),
        Err(ContentError::Truncated) => {
            Err(("java.io.EOFException", "Unexpected end of ZLIB input stream"))
        }
        Err(_) => Err(("java.util.zip.ZipException", "Not in GZIP format")),
    }
}

/// Puts the MD5 of a body in its place.
pub(crate) fn hash(sample: &mut SampleResult) {
    let sum = md5::Md5::digest(&sample.body);
    sample.text = sum.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
    sample.body = sample.text.clone().into_bytes();
}

/// Notes cookies and what the cache may keep.
fn note(
    sample: &SampleResult,
    fields: &[(String, String)],
    node: &SamplerNode,
    thread: &mut Thread,
) {
    note_cookies(sample, fields, node, thread);
    let is_noted = sample.method == "GET" && sample.code.starts_with('2');
    if let Some(manager) = node.configs_of(Class::CacheManager).next().filter(|_| is_noted) {
        let element = std::sync::Arc::clone(&manager.element);
        let obeys =
            crate::plan::property::flag(&element.properties, "useExpires", thread) == Some(true);
        let most = crate::plan::property::text(&element.properties, "maxSize", thread);
        let now_s = thread.unix_s();
        let seen = Observation { now_s, obeys, entries_max: most.trim().parse().unwrap_or(5_000) };
        thread.cache_store(manager).note(&sample.url, fields, seen);
    }
}

fn note_cookies(
    sample: &SampleResult,
    fields: &[(String, String)],
    node: &SamplerNode,
    thread: &mut Thread,
) {
    let now_s = thread.unix_s();
    if let Some(manager) = cookie_manager(node, thread)
        && let Ok(url) = Url::parse(&sample.url)
    {
        for (_, field) in fields.iter().filter(|(name, _)| name.eq_ignore_ascii_case("Set-Cookie"))
        {
            let kept = thread.cookie_store(manager).set(field, &url, now_s);
            if let Some((name, value)) = kept {
                thread.save_cookie(&name, value);
            }
        }
    }
}
