//! `NatsTransport`: messages over NATS, leases in its JetStream. A thread of its own runs the client, so that the load
//! never waits for the network.

mod access;
mod error;
mod store;
#[cfg(test)]
mod tests;

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::{Duration, Instant};

use async_nats::Client;
use async_nats::client::RequestErrorKind;
use async_nats::connection::State;
use fleet::Name;
use futures_util::StreamExt;
use tokio::runtime::{Builder, Handle};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;

use crate::transport::{Deliver, Incoming, Lease, Role, Subject, Transport, TransportError};

pub use access::{Login, NatsAccess};
use error::{CONNECT_WITHIN, connect_error, failed, words};
pub(crate) use store::{LEASE, LEASES};

/// How long an answer of the server may take.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// How long a call of this module waits for its client's thread.
const CALL_WITHIN: Duration = Duration::from_secs(15);

/// Between two pings; the connection is dead after two without an answer.
const PING: Duration = Duration::from_secs(2);

/// Between two tries to connect again: an agent must be heard of within [`fleet::LOST_AFTER`] of the server's return.
const RECONNECT_EVERY: Duration = Duration::from_millis(250);

/// How often a key that the server does not know is tried, and how long apart.
const DIALS_MAX: u32 = 4;
const DIAL_EVERY: Duration = Duration::from_millis(300);

/// Messages that may wait on their way out and in; further ones are dropped.
const OUT_MAX: usize = 256;
const IN_MAX: usize = 1024;

/// A connection to a NATS server. It comes back by itself after the server was away.
pub struct NatsTransport {
    client: Client,
    runtime: Handle,
    out: Sender<(String, Vec<u8>)>,
    /// The client's thread ends with it.
    _stop: oneshot::Sender<()>,
}

impl std::fmt::Debug for NatsTransport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NatsTransport").finish_non_exhaustive()
    }
}

impl NatsTransport {
    /// Connects. `notice` gets a sentence each time that the connection is lost or comes back, or the server refuses something; it
    /// is called on the client's thread.
    ///
    /// # Errors
    /// The server cannot be reached, refuses this client, or shows another certificate.
    pub fn connect(
        access: &NatsAccess,
        notice: impl Fn(String) + Send + Sync + 'static,
    ) -> Result<Self, TransportError> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| failed("starting the client of NATS", error))?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        thread::Builder::new()
            .name("nats".to_owned())
            .spawn(move || runtime.block_on(stopped).unwrap_or_default())
            .map_err(|error| failed("starting the client of NATS", error))?;
        let notice = Arc::new((notice, AtomicBool::new(false)));
        let mut tries = 1;
        let client = loop {
            match dial(access, &handle, &notice) {
                // While nats-server reads its users again it may know none of them.
                Err(TransportError::UnknownKey(_)) if tries < DIALS_MAX => {
                    tries += 1;
                    thread::sleep(DIAL_EVERY);
                }
                outcome => break outcome?,
            }
        };
        let (out, queue) = channel(OUT_MAX);
        handle.spawn(publish(client.clone(), queue));
        Ok(Self { client, runtime: handle, out, _stop: stop })
    }

    /// Runs something on the client's thread and waits for it.
    pub(crate) fn run<T, F>(&self, work: impl FnOnce(Client) -> F) -> Result<T, TransportError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, TransportError>> + Send + 'static,
    {
        call(&self.runtime, work(self.client.clone()))?
    }

    /// Passes the messages of a subject, which may have wildcards, to `each`, on the client's thread.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub(crate) fn subscribe(
        &self,
        subject: String,
        mut each: impl FnMut(async_nats::Message) + Send + 'static,
    ) -> Result<(), TransportError> {
        self.run(|client| async move {
            let found = client.subscribe(subject).await;
            let mut messages = found.map_err(|error| failed("subscribing", error))?;
            client.flush().await.map_err(|error| failed("subscribing", error))?;
            tokio::spawn(async move {
                while let Some(message) = messages.next().await {
                    each(message);
                }
            });
            Ok(())
        })
    }
}

impl NatsTransport {
    /// Sends a message, which may be lost.
    pub(crate) fn send_to(&self, subject: String, bytes: Vec<u8>) {
        // A full queue loses the message, as the transport may.
        self.out.try_send((subject, bytes)).unwrap_or_default();
    }

    /// Sends a message whose answer is to go to a subject of the sender's choice.
    #[cfg(test)]
    pub(crate) fn send_with_reply(
        &self,
        subject: String,
        reply: String,
    ) -> Result<(), TransportError> {
        self.run(|client| async move {
            let sent = client.publish_with_reply(subject, reply, "reply".into()).await;
            sent.map_err(|error| failed("sending", error))
        })
    }

    /// Makes the stream of leases where it is missing.
    ///
    /// # Errors
    /// The server cannot be reached, or has no JetStream.
    pub(crate) fn make_stream(&self) -> Result<(), TransportError> {
        self.run(store::make_stream)
    }

    /// Sends a message and waits for its answer.
    ///
    /// # Errors
    /// There is none in time.
    pub(crate) fn request(
        &self,
        subject: String,
        bytes: Vec<u8>,
    ) -> Result<Vec<u8>, TransportError> {
        self.run(|client| async move {
            let answer = client.request(subject, bytes.into()).await;
            let answer = answer.map_err(|error| match error.kind() {
                RequestErrorKind::NoResponders => TransportError::NoFleet,
                _ => failed("asking the fleet", error),
            })?;
            Ok(answer.payload.to_vec())
        })
    }
}

/// Sends what waits, one message after the other. What is sent while the server is away is dropped: the fleet says it again.
async fn publish(client: Client, mut queue: Receiver<(String, Vec<u8>)>) {
    while let Some((subject, bytes)) = queue.recv().await {
        if client.connection_state() == State::Connected {
            // An error is a connection that was lost just now.
            client.publish(subject, bytes.into()).await.unwrap_or_default();
        }
    }
}

impl Transport for NatsTransport {
    fn listen(&self, role: &Role, deliver: Deliver) -> Result<(), TransportError> {
        for subject in role.subjects() {
            let deliver = Arc::clone(&deliver);
            self.subscribe(subject, move |message| {
                let at = Instant::now();
                if let Some(subject) = Subject::parse(&message.subject) {
                    deliver(Incoming { subject, bytes: message.payload.to_vec(), at });
                }
            })?;
        }
        Ok(())
    }

    fn send(&self, subject: &Subject, bytes: Vec<u8>) {
        self.send_to(subject.to_string(), bytes);
    }

    fn send_large(&self, subject: &Subject, bytes: Vec<u8>) {
        let subject = subject.to_string();
        let sent = self.run(|client| async move {
            if client.connection_state() != State::Connected {
                return Ok(());
            }
            let published = client.publish(subject, bytes.into()).await;
            published.map_err(|error| failed("sending a file", error))?;
            client.flush().await.map_err(|error| failed("sending a file", error))
        });
        // It is lost, as a message may be: who misses it asks again.
        sent.unwrap_or_default();
    }

    fn is_away(&self) -> bool {
        self.client.connection_state() != State::Connected
    }

    fn take_lease(&self, run: &Name) -> Result<Lease, TransportError> {
        let name = run.clone();
        self.run(|client| store::take_lease(client, name))
    }

    fn renew_lease(&self, lease: &Lease) -> Result<Lease, TransportError> {
        let lease = lease.clone();
        self.run(|client| store::renew_lease(client, lease))
    }
}

/// Connects once; events become notices.
fn dial<F: Fn(String) + Send + Sync + 'static>(
    access: &NatsAccess,
    handle: &Handle,
    notice: &Arc<(F, AtomicBool)>,
) -> Result<Client, TransportError> {
    let notice = Arc::clone(notice);
    let options = access
        .options()?
        .connection_timeout(CONNECT_WITHIN)
        .request_timeout(Some(ANSWER_WITHIN))
        .ping_interval(PING)
        .reconnect_delay_callback(|_| RECONNECT_EVERY)
        .client_capacity(OUT_MAX)
        .subscription_capacity(IN_MAX)
        .ignore_discovered_servers()
        .event_callback(move |event| {
            let notice = Arc::clone(&notice);
            async move {
                let (say, was_lost) = &*notice;
                if let Some(text) = words(&event, was_lost) {
                    say(text);
                }
            }
        });
    let urls = access.urls.join(",");
    call(handle, async move { options.connect(urls).await })?
        .map_err(|error| connect_error(&error, &access.urls))
}

/// Runs a future on the client's thread and waits for it.
fn call<T: Send + 'static>(
    runtime: &Handle,
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T, TransportError> {
    let (answer, answered) = sync_channel(1);
    runtime.spawn(async move {
        // Who asked may have given up.
        answer.send(work.await).unwrap_or_default();
    });
    answered.recv_timeout(CALL_WITHIN).map_err(|_| TransportError::Closed)
}
