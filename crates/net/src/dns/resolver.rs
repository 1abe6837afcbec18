//! `Resolver`: the threads that resolve names, and the queue before them.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::client::Client;
use super::system;

/// What is done with the answer: addresses (at least one, IPv4 first if name servers were asked), or why there are
/// none, in Go's words. It runs on a resolver thread, or within [`Resolver::ask`]; it must not block.
pub type ResolverCallback = Box<dyn FnOnce(Result<Vec<IpAddr>, String>) + Send>;

/// Resolves names on two threads of its own. It is shared by all workers; its threads end after it is dropped.
#[derive(Debug)]
pub struct Resolver {
    pub(super) questions: SyncSender<Question>,
}

/// A name to resolve.
pub(super) struct Question {
    name: String,
    reply: ResolverCallback,
}

/// Where a resolver thread asks.
pub(super) enum Source {
    System,
    Servers(Client),
}

impl Resolver {
    /// Threads that resolve names: as many lookups are under way at once.
    pub const THREADS: usize = 2;
    /// The most lookups that wait for a thread; one more fails at once.
    pub const WAITING_MAX: usize = 4096;
    /// The most addresses of one answer; more are left out.
    pub const ADDRESSES_MAX: usize = 64;

    /// Starts the threads. Without `servers` the system's resolver is asked.
    ///
    /// # Errors
    /// The system refuses a thread.
    pub fn start(servers: Vec<SocketAddr>) -> io::Result<Self> {
        let (questions, waiting) = sync_channel(Self::WAITING_MAX);
        let waiting = Arc::new(Mutex::new(waiting));
        let source = Arc::new(match servers.is_empty() {
            true => Source::System,
            false => Source::Servers(Client::new(servers)),
        });
        for index in 0..Self::THREADS {
            let (waiting, source) = (Arc::clone(&waiting), Arc::clone(&source));
            thread::Builder::new()
                .name(format!("dns-{index}"))
                .spawn(move || answer_all(&waiting, &source))?;
        }
        Ok(Self { questions })
    }

    /// Resolves `name` and calls `reply` once: at once for an IP literal and where too many wait, else later, from
    /// another thread. Never blocks. `localhost` is this machine, whatever name servers would say of it.
    pub fn ask(&self, name: &str, reply: ResolverCallback) {
        if let Some(ip) = literal(name) {
            return reply(Ok(vec![ip]));
        }
        let question = Question { name: name.to_owned(), reply };
        if let Err(TrySendError::Full(question) | TrySendError::Disconnected(question)) =
            self.questions.try_send(question)
        {
            (question.reply)(Err(format!("lookup {name}: too many lookups under way")));
        }
    }
}

/// The address that a literal is, with or without an IPv6 address's brackets.
fn literal(name: &str) -> Option<IpAddr> {
    let bare = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(name);
    bare.parse().ok()
}

/// A resolver thread: answers one question after the other until the resolver is dropped.
pub(super) fn answer_all(waiting: &Mutex<Receiver<Question>>, source: &Source) {
    loop {
        // A reply that panics poisons nothing: the lock is not held while it runs.
        let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(question) = next else { return };
        let answer = match source {
            Source::System => system::lookup(&question.name),
            Source::Servers(_) if is_localhost(&question.name) => Ok(loopback()),
            Source::Servers(client) => client.lookup(&question.name),
        };
        (question.reply)(answer.map(bounded));
    }
}

/// Whether a name means this machine wherever it is asked for. // RFC 6761, 6.3.
fn is_localhost(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
}

fn loopback() -> Vec<IpAddr> {
    vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]
}

/// The first so many addresses, each once, in their order.
fn bounded(addresses: Vec<IpAddr>) -> Vec<IpAddr> {
    let mut kept = Vec::new();
    for ip in addresses {
        if kept.len() < Resolver::ADDRESSES_MAX && !kept.contains(&ip) {
            kept.push(ip);
        }
    }
    kept
}
