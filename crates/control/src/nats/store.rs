//! Archives and leases in JetStream, by its own requests: two streams, of each subject the last message. The client library's layer
//! over JetStream would take most of its build time for four requests.

use std::fmt::Write as _;

use async_nats::{Client, HeaderMap, Message, RequestErrorKind, StatusCode};
use fleet::{Digest, Incarnation, Name};
use serde::Deserialize;
use serde_json::{Value, json};

use super::error::failed;
use crate::transport::{LEASE_TTL, Lease, TransportError, hex};

/// Bytes of an archive in one message: well below NATS's 1 MiB.
pub(super) const CHUNK: usize = 256 * 1024;

/// The stream of archives: `brunt-archive.HASH.NUMBER` and `brunt-archive.HASH.len`.
pub(crate) const ARCHIVES: &str = "brunt-archives";
pub(crate) const ARCHIVE: &str = "brunt-archive";

/// The stream of leases: `brunt-lease.RUN`.
pub(crate) const LEASES: &str = "brunt-leases";
pub(crate) const LEASE: &str = "brunt-lease";

/// How long an archive is stored (ns): longer than a test takes.
const ARCHIVE_AGE: u64 = 24 * 3600 * 1_000_000_000;

/// The most bytes of all archives; the oldest go first. JetStream sets them aside on its disk. Where less is left, half is asked for,
/// and half of that, down to the least that is of use.
const ARCHIVES_BYTES: u64 = 1 << 30;
const ARCHIVES_BYTES_MIN: u64 = 16 << 20;

/// What JetStream stores with a message, in bytes, at most: lengths, hashes and the subject.
const MESSAGE_OVERHEAD: usize = 256;

/// JetStream's error for a message whose subject has another last one than was expected.
const WRONG_LAST: u64 = 10_071;
/// Its errors for a stream that sets more aside than the account may have, than there is, or than a stream may have.
const NO_ROOM: [u64; 4] = [10_002, 10_023, 10_047, 10_122];

/// What was tried where JetStream refuses.
const MAKING: &str = "making a stream";
const STORING: &str = "storing in JetStream";

/// An answer of JetStream.
#[derive(Deserialize)]
struct Answer {
    error: Option<Refusal>,
    #[serde(default)]
    seq: u64,
    config: Option<StreamConfig>,
}

/// What of a stream's configuration shows whether it serves.
#[derive(Deserialize)]
struct StreamConfig {
    #[serde(default)]
    subjects: Vec<String>,
    #[serde(default)]
    allow_direct: bool,
    max_bytes: i64,
}

#[derive(Deserialize)]
struct Refusal {
    #[serde(default)]
    err_code: u64,
    #[serde(default)]
    description: String,
}

impl Refusal {
    fn into_error(self, action: &'static str) -> TransportError {
        let mut words = self.description;
        // Writing to a String cannot fail.
        let _ = write!(words, " ({})", self.err_code);
        refused(action, words)
    }
}

/// What became of a message that was to be stored.
enum StoreOutcome {
    At(u64),
    /// Another message is the last one of its subject.
    Conflict,
}

/// Makes both streams; those that are there already stay. Gives the bytes that archives have.
pub(super) async fn make_streams(client: Client) -> Result<u64, TransportError> {
    let leases = json!({
        "name": LEASES, "subjects": [format!("{LEASE}.*")], "storage": "file", "num_replicas": 1,
        "retention": "limits", "discard": "old", "max_msgs_per_subject": 1, "allow_direct": true,
        "max_age": LEASE_TTL.as_nanos() as u64,
    });
    match make_stream(&client, LEASES, &leases).await? {
        None => make_archives(&client).await,
        Some(refusal) => Err(refusal.into_error(MAKING)),
    }
}

/// Makes the stream of archives as large as the server has room for, and gives its bytes.
async fn make_archives(client: &Client) -> Result<u64, TransportError> {
    let mut bytes = ARCHIVES_BYTES;
    loop {
        let Some(refusal) = make_stream(client, ARCHIVES, &archives(bytes)).await? else {
            return Ok(bytes);
        };
        match archives_there(client).await {
            Ok(Some(bytes)) => return Ok(bytes),
            Ok(None) if bytes > ARCHIVES_BYTES_MIN && NO_ROOM.contains(&refusal.err_code) => {
                bytes /= 2;
            }
            // A server that an earlier brunt started does not answer that.
            Ok(None) | Err(_) => return Err(refusal.into_error(MAKING)),
        }
    }
}

/// The stream of archives with so many bytes.
fn archives(max_bytes: u64) -> Value {
    json!({
        "name": ARCHIVES, "subjects": [archive_subjects()], "storage": "file", "num_replicas": 1,
        "retention": "limits", "discard": "old", "max_msgs_per_subject": 1, "allow_direct": true,
        "max_age": ARCHIVE_AGE, "max_bytes": max_bytes,
    })
}

fn archive_subjects() -> String {
    format!("{ARCHIVE}.*.*")
}

/// Makes a stream, unless the very same is there; gives the server's refusal.
async fn make_stream(
    client: &Client,
    name: &str,
    config: &Value,
) -> Result<Option<Refusal>, TransportError> {
    let subject = format!("$JS.API.STREAM.CREATE.{name}");
    let answer = request(client, subject, None, config.to_string().into_bytes()).await?;
    read(&answer, MAKING).map(|answer| answer.error)
}

/// The bytes of a stream of archives that is there: made where the disk was fuller, or by another command at the same time.
async fn archives_there(client: &Client) -> Result<Option<u64>, TransportError> {
    let subject = format!("$JS.API.STREAM.INFO.{ARCHIVES}");
    let answer = request(client, subject, None, Vec::new()).await?;
    let config = read(&answer, MAKING)?.config;
    let ours =
        config.filter(|config| config.allow_direct && config.subjects == [archive_subjects()]);
    // -1 is without a limit.
    Ok(ours.map(|config| u64::try_from(config.max_bytes).unwrap_or(u64::MAX)))
}

/// Refuses an archive that is larger than half of the room for all: a run has two, of its script and of its data, and the later
/// one must not replace the earlier.
pub(super) fn require_room(len: usize, room: u64) -> Result<(), TransportError> {
    let needed = len + len.div_ceil(CHUNK).saturating_add(1) * MESSAGE_OVERHEAD;
    if needed as u64 <= room / 2 {
        return Ok(());
    }
    let text = format!(
        "an archive of {len} bytes is more than half of what {ARCHIVES} holds ({room} bytes): NATS had no room for more when it was made"
    );
    Err(refused(STORING, text))
}

/// The error for an archive whose first parts are gone: so many others came meanwhile.
pub(super) fn replaced(len: usize) -> TransportError {
    refused(STORING, format!("other archives have replaced one of {len} bytes"))
}

/// Whether all of an archive is there. The oldest messages go first, so the first part says it of all; the length is that of a whole
/// archive, since it is written last and withdrawn before parts are.
pub(super) async fn is_stored(client: Client, digest: Digest) -> Result<bool, TransportError> {
    Ok(match archive_len(client.clone(), digest).await? {
        None => false,
        Some(0) => true,
        Some(_) => chunk(client, digest, 0).await?.is_some(),
    })
}

/// Says of an archive that it is not whole.
pub(super) async fn withdraw_len(client: Client, digest: Digest) -> Result<(), TransportError> {
    store(&client, len_subject(digest), None, Vec::new()).await.map(drop)
}

fn len_subject(digest: Digest) -> String {
    format!("{ARCHIVE}.{}.len", hex(&digest))
}

/// The size of an archive in bytes; `None` where it is not there as a whole.
pub(super) async fn archive_len(
    client: Client,
    digest: Digest,
) -> Result<Option<usize>, TransportError> {
    let found = last(&client, ARCHIVES, len_subject(digest)).await?;
    Ok(found.and_then(|bytes| std::str::from_utf8(&bytes).ok()?.parse().ok()))
}

pub(super) async fn put_archive_len(
    client: Client,
    digest: Digest,
    len: usize,
) -> Result<(), TransportError> {
    store(&client, len_subject(digest), None, len.to_string().into_bytes()).await.map(drop)
}

/// A part of an archive; `None` where it is not there.
pub(super) async fn chunk(
    client: Client,
    digest: Digest,
    number: usize,
) -> Result<Option<Vec<u8>>, TransportError> {
    last(&client, ARCHIVES, format!("{ARCHIVE}.{}.{number}", hex(&digest))).await
}

pub(super) async fn put_chunk(
    client: Client,
    digest: Digest,
    number: usize,
    bytes: Vec<u8>,
) -> Result<(), TransportError> {
    let subject = format!("{ARCHIVE}.{}.{number}", hex(&digest));
    store(&client, subject, None, bytes).await.map(drop)
}

/// Takes the lease of a run that has none. Its number in the stream, which only grows, is the incarnation.
pub(super) async fn take_lease(client: Client, run: Name) -> Result<Lease, TransportError> {
    make_streams(client.clone()).await?;
    match store(&client, format!("{LEASE}.{run}"), Some(0), Vec::new()).await? {
        StoreOutcome::At(seq) => Ok(Lease { run, incarnation: Incarnation(seq), revision: seq }),
        StoreOutcome::Conflict => Err(TransportError::LeaseHeld(run)),
    }
}

pub(super) async fn renew_lease(client: Client, lease: Lease) -> Result<Lease, TransportError> {
    let subject = format!("{LEASE}.{}", lease.run);
    if let StoreOutcome::At(revision) =
        store(&client, subject.clone(), Some(lease.revision), Vec::new()).await?
    {
        return Ok(Lease { revision, ..lease });
    }
    // It ended, as after a server that was away for long; or another process has it.
    match store(&client, subject, Some(0), Vec::new()).await? {
        StoreOutcome::At(revision) => Ok(Lease { revision, ..lease }),
        StoreOutcome::Conflict => Err(TransportError::LeaseHeld(lease.run)),
    }
}

/// Stores a message where the last one of its subject has this number (0: there is none).
async fn store(
    client: &Client,
    subject: String,
    last: Option<u64>,
    bytes: Vec<u8>,
) -> Result<StoreOutcome, TransportError> {
    let headers = last.map(|last| {
        let mut headers = HeaderMap::new();
        headers.insert("Nats-Expected-Last-Subject-Sequence", last.to_string());
        headers
    });
    let answer = read(&request(client, subject, headers, bytes).await?, STORING)?;
    match &answer.error {
        Some(refusal) if refusal.err_code == WRONG_LAST => Ok(StoreOutcome::Conflict),
        _ => seq(answer, STORING).map(StoreOutcome::At),
    }
}

/// The last message of a subject.
async fn last(
    client: &Client,
    stream: &str,
    subject: String,
) -> Result<Option<Vec<u8>>, TransportError> {
    let api = format!("$JS.API.DIRECT.GET.{stream}.{subject}");
    let answer = request(client, api, None, Vec::new()).await?;
    match answer.status {
        None => Ok(Some(answer.payload.to_vec())),
        Some(StatusCode::NOT_FOUND) => Ok(None),
        Some(status) => {
            let words = answer.description.unwrap_or_default();
            Err(refused("reading from JetStream", format!("{status} {words}")))
        }
    }
}

async fn request(
    client: &Client,
    subject: String,
    headers: Option<HeaderMap>,
    bytes: Vec<u8>,
) -> Result<Message, TransportError> {
    let sent = match headers {
        Some(headers) => client.request_with_headers(subject, headers, bytes.into()).await,
        None => client.request(subject, bytes.into()).await,
    };
    sent.map_err(|error| match error.kind() {
        RequestErrorKind::NoResponders => {
            refused("asking NATS", "JetStream is not there, or lost its store".to_owned())
        }
        RequestErrorKind::TimedOut => refused("asking NATS", "no answer".to_owned()),
        _ => failed("asking NATS", error),
    })
}

fn read(message: &Message, action: &'static str) -> Result<Answer, TransportError> {
    serde_json::from_slice(&message.payload).map_err(|error| failed(action, error))
}

fn seq(answer: Answer, action: &'static str) -> Result<u64, TransportError> {
    match answer.error {
        None => Ok(answer.seq),
        Some(refusal) => Err(refusal.into_error(action)),
    }
}

fn refused(action: &'static str, words: String) -> TransportError {
    TransportError::Server { action, cause: words.into() }
}
