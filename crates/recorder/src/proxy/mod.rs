//! The proxy: one thread of its own that accepts clients and carries what they send.

mod address;
mod backward;
mod client;
mod fields;
mod forward;
mod messages;
mod page;
mod reply;
mod serve;
#[cfg(test)]
mod tests;
mod tunnel;
mod upgrade;
mod upstream;
mod waiting;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, oneshot};
use wire::tls::ClientSetup;

use crate::authority::Authority;
use crate::certificates::Certificates;
use crate::error::RecorderError;
use crate::limits::CONNECTIONS_MAX;
use crate::recording::Recording;
use client::{Client, Proxy};
use upstream::Servers;

/// What a recorder is started with.
#[derive(Debug)]
pub struct Settings {
    /// Where it listens; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Who signs what clients see.
    pub authority: Authority,
    /// How servers are verified: by the system's certificates where it names none. What is offered to them is not taken from here.
    pub servers: ClientSetup,
}

/// A proxy that runs. It ends with [`Recorder::stop`], or when it is dropped.
#[derive(Debug)]
pub struct Recorder {
    address: SocketAddr,
    key_hash: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Recorder {
    /// Starts a proxy whose clients' requests go into `recording`.
    ///
    /// # Errors
    /// The address is taken, the certificates cannot be used, or the system refuses a thread.
    pub fn start(settings: Settings, recording: Arc<Recording>) -> Result<Self, RecorderError> {
        let asked = settings.listen;
        let refused = |error| RecorderError::Listen { address: asked, error };
        let listener = TcpListener::bind(asked).map_err(refused)?;
        listener.set_nonblocking(true).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let certificates = Certificates::new(settings.authority)?;
        let key_hash = certificates.key_hash();
        let servers = Servers::new(&settings.servers, address)?;
        let proxy = Arc::new(Proxy { recording, certificates, servers });
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(RecorderError::Start)?;
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new().name("recorder".to_owned());
        let thread = thread.spawn(move || run(runtime, proxy, listener, stopped));
        let thread = Some(thread.map_err(RecorderError::Start)?);
        Ok(Self { address, key_hash, stop: Some(stop), thread })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The hash by which Chromium trusts this process alone (`--ignore-certificate-errors-spki-list`).
    #[must_use]
    pub fn key_hash(&self) -> &str {
        &self.key_hash
    }

    /// Ends it, and with it every connection.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        // The thread may have ended by itself.
        self.stop.take().map(|stop| stop.send(()).ok());
        self.thread.take().map(|thread| thread.join().ok());
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.end();
    }
}

fn run(runtime: Runtime, proxy: Arc<Proxy>, listener: TcpListener, stopped: oneshot::Receiver<()>) {
    runtime.block_on(async {
        let accepting = tokio::spawn(accept(proxy, listener));
        // An owner that is gone wants an end as well.
        stopped.await.ok();
        accepting.abort();
    });
    // Names that are being resolved are not waited for.
    runtime.shutdown_background();
}

/// Accepts clients, as many at a time as the limit says.
async fn accept(proxy: Arc<Proxy>, listener: TcpListener) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        match listener.accept().await {
            Ok((stream, _)) => {
                let client = Client { proxy: Arc::clone(&proxy), _place: Arc::new(place) };
                tokio::spawn(serve::serve(client, stream));
            }
            // Out of descriptors: it passes when a client leaves.
            Err(_) => tokio::time::sleep(std::time::Duration::from_millis(50)).await,
        }
    }
    Ok(())
}
