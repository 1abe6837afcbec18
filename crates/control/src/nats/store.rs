//! Leases in JetStream, by its own requests: a stream, of each subject the last message. The client library's layer over JetStream
//! would take most of its build time for two requests.

use std::fmt::Write as _;
use std::time::Duration;

use async_nats::{Client, HeaderMap, Message, RequestErrorKind};
use fleet::{Incarnation, Name};
use serde::Deserialize;
use serde_json::json;

use super::error::failed;
use crate::transport::{LEASE_TTL, Lease, TransportError};

/// The stream of leases: `brunt-lease.RUN`.
pub(crate) const LEASES: &str = "brunt-leases";
pub(crate) const LEASE: &str = "brunt-lease";

/// JetStream's error for a message whose subject has another last one than was expected.
const WRONG_LAST: u64 = 10_071;
/// JSNotEnabledForAccountErr of nats-server: one that has just begun takes connections before the storage of its accounts is there.
const NOT_YET: u64 = 10_039;
/// How often it is asked again, and how long after each answer: three seconds in all.
const ATTEMPTS_MAX: u32 = 15;
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(200);
/// What was tried where JetStream refuses.
const MAKING: &str = "making a stream";
const STORING: &str = "storing in JetStream";

/// An answer of JetStream.
#[derive(Deserialize)]
struct Answer {
    error: Option<Refusal>,
    #[serde(default)]
    seq: u64,
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

/// Makes the stream; the one that is there already stays.
pub(super) async fn make_stream(client: Client) -> Result<(), TransportError> {
    let config = json!({
        "name": LEASES, "subjects": [format!("{LEASE}.*")], "storage": "file", "num_replicas": 1,
        "retention": "limits", "discard": "old", "max_msgs_per_subject": 1, "allow_direct": true,
        "max_age": LEASE_TTL.as_nanos() as u64,
    });
    let subject = format!("$JS.API.STREAM.CREATE.{LEASES}");
    let config = config.to_string().into_bytes();
    let mut attempts = 0;
    loop {
        let answer = request(&client, subject.clone(), None, config.clone()).await?;
        match read(&answer, MAKING)?.error {
            None => return Ok(()),
            Some(refusal) if refusal.err_code == NOT_YET && attempts < ATTEMPTS_MAX => {
                attempts += 1;
                tokio::time::sleep(BETWEEN_ATTEMPTS).await;
            }
            Some(refusal) => return Err(refusal.into_error(MAKING)),
        }
    }
}

/// Takes the lease of a run that has none. Its number in the stream, which only grows, is the incarnation.
pub(super) async fn take_lease(client: Client, run: Name) -> Result<Lease, TransportError> {
    make_stream(client.clone()).await?;
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
