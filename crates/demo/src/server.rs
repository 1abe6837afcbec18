//! `Server`: a [`ServerMachine`] over real sockets, on one thread of its own. It binds what it is asked to and prints nothing.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use net::{Address, Io, Reactor, Waker};
use wire::tls::rustls::ServerConfig;
use wire::tls::{ServerSetup, server_config};

use crate::driver::{Driver, LISTENERS};
use crate::{Config, ServerMachine, Stats};

/// A running server. Dropping it stops it.
#[derive(Debug)]
pub struct Server {
    addresses: Vec<Address>,
    shared: Arc<Mutex<Shared>>,
    waker: Waker,
    thread: Option<JoinHandle<()>>,
}

/// The state that the server's thread and its owner share.
#[derive(Debug, Default)]
struct Shared {
    stats: Stats,
    stopping: bool,
    freeze: Option<Duration>,
}

impl Server {
    /// Listens on all of `addresses` (port 0 takes a free one) and serves from a thread of its own, until stopped. With
    /// [`Config::tls`] the IP addresses speak TLS; Unix sockets never do.
    ///
    /// # Errors
    /// The configuration cannot be (`InvalidInput`), an address cannot be bound, or the system has no thread left.
    pub fn start(config: Config, addresses: &[Address]) -> io::Result<Self> {
        let tls = config.tls.as_ref().map(|identity| {
            let cert_pem = identity.certificate_pem.clone().into_bytes();
            server_config(&ServerSetup { cert_pem, key_pem: identity.key_pem.clone().into_bytes() })
        });
        let tls = tls.transpose().map_err(invalid)?;
        let machine = ServerMachine::new(config).map_err(invalid)?;
        let mut reactor = Reactor::new(Instant::now())?;
        let mut bound = Vec::new();
        for (key, address) in (LISTENERS..).zip(addresses) {
            bound.push(reactor.listen(key, address)?);
        }
        let speaks = bound.iter().map(|address| tls_on(address, tls.as_ref())).collect();
        let waker = reactor.waker();
        let driver = Driver::new(reactor, machine, speaks);
        let shared = Arc::<Mutex<Shared>>::default();
        let thread = std::thread::Builder::new().name("demo".to_owned()).spawn({
            let shared = Arc::clone(&shared);
            move || run(driver, &shared)
        })?;
        Ok(Self { addresses: bound, shared, waker, thread: Some(thread) })
    }

    /// The addresses listened on, in the order asked for, with their real ports.
    #[must_use]
    pub fn addresses(&self) -> &[Address] {
        &self.addresses
    }

    /// What was counted up to the last turn of its loop.
    #[must_use]
    pub fn stats(&self) -> Stats {
        lock(&self.shared).stats
    }

    /// Lets the whole server stand still for a while, as if its process were stopped: it neither reads nor answers, and
    /// its workers do not go on either. The kernel still accepts connections. Returns at once; a second call before the
    /// first took effect replaces it.
    pub fn freeze(&self, time: Duration) {
        lock(&self.shared).freeze = Some(time);
        self.waker.wake();
    }

    /// Closes everything and waits for the thread's end (after a freeze that is under way). Gives the last counters.
    pub fn stop(mut self) -> Stats {
        self.end();
        self.stats()
    }

    fn end(&mut self) {
        lock(&self.shared).stopping = true;
        self.waker.wake();
        if let Some(thread) = self.thread.take() {
            // It only fails by a panic, which has been printed; there is nothing to add to it here.
            thread.join().ok();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

fn run(mut driver: Driver<Reactor>, shared: &Mutex<Shared>) {
    loop {
        driver.turn();
        let mut shared = lock(shared);
        shared.stats = driver.machine().stats();
        if shared.stopping {
            return;
        }
        if let Some(time) = shared.freeze.take() {
            drop(shared);
            let before = driver.io.now();
            std::thread::sleep(time);
            let after = driver.io.now();
            driver.skip(after.saturating_sub(before));
        }
    }
}

fn tls_on(address: &Address, tls: Option<&Arc<ServerConfig>>) -> Option<Arc<ServerConfig>> {
    matches!(address, Address::Ip(_)).then(|| tls.cloned()).flatten()
}

fn invalid(error: impl std::error::Error + Send + Sync + 'static) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, error)
}

/// The lock, also after a panic of the other side: the counters in it are whole at any time.
fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
