//! A real nats-server with keys, permissions and TLS: what is let in, what is not, and a run through it.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use fleet::Name;

use super::{
    AgentAccess, AgentToken, FleetServer, FleetServerOptions, IssueOptions, JoinToken, TokenRules,
    issue, join, remove_agent, renew_token,
};
use crate::scratch::Scratch;
use crate::tests::{LIMIT, TestAgent, check_complete, files, follow, name, options};
use crate::transport::{Deliver, Incoming, Role, Subject, Transport, TransportError};
use crate::{ControlError, CoordinatorEvent, CoordinatorHost, NatsAccess, NatsTransport};

/// A running fleet in a folder of its own.
struct TestFleet {
    dir: Scratch,
    server: FleetServer,
}

impl TestFleet {
    fn start(test: &str) -> Self {
        let dir = Scratch::new(test);
        let server = up(dir.path(), "127.0.0.1:0").unwrap();
        Self { dir, server }
    }

    /// Ends the server as `kill -9` would, and starts it again at its port.
    fn restart(self) -> Self {
        let listen = self.server.listen().to_string();
        let pid = nix::unistd::Pid::from_raw(self.server.pid().cast_signed());
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).unwrap();
        let until = Instant::now() + LIMIT;
        while self.server.ended().is_none() && Instant::now() < until {
            thread::sleep(Duration::from_millis(10));
        }
        drop(self.server);
        let server = up(self.dir.path(), &listen).unwrap();
        Self { dir: self.dir, server }
    }

    fn try_join(&self, agent: &str, folder: &str) -> Result<NatsAccess, ControlError> {
        let token = JoinToken::read(&self.server.token()).unwrap();
        let stored = AgentAccess::of(&self.dir.path().join(folder), &name(agent));
        join(&token, &name(agent), &stored)
    }

    fn agent(&self, agent: &str) -> NatsTransport {
        connect(&self.try_join(agent, agent).unwrap()).0
    }

    fn coordinator(&self) -> NatsTransport {
        connect(&NatsAccess::of_coordinator(self.dir.path()).unwrap()).0
    }
}

fn up(dir: &Path, listen: &str) -> Result<FleetServer, ControlError> {
    let listen = listen.parse().unwrap();
    let token = TokenRules::default();
    let options = FleetServerOptions { dir: dir.to_owned(), listen, advertise: None, token };
    FleetServer::start(&options, |_| {})
}

/// A connection, and what it says of itself.
fn connect(access: &NatsAccess) -> (NatsTransport, Receiver<String>) {
    let (sender, notices) = sync_channel(64);
    let transport =
        NatsTransport::connect(access, move |text| sender.try_send(text).unwrap_or_default());
    (transport.unwrap(), notices)
}

fn inbox() -> (Deliver, Receiver<Incoming>) {
    let (sender, messages) = sync_channel(64);
    (Arc::new(move |message| sender.try_send(message).unwrap_or_default()), messages)
}

fn down(agent: &str) -> Subject {
    Subject::Down { run: name("r"), agent: name(agent) }
}

fn up_from(agent: &str) -> Subject {
    Subject::Up { run: name("r"), agent: name(agent) }
}

#[test]
fn agents_and_a_coordinator_meet_over_nats() {
    let fleet = TestFleet::start("nats-run");
    let agents = ["a", "b"].map(|agent| TestAgent::start(Arc::new(fleet.agent(agent)), agent, "1"));
    let transport: Arc<dyn Transport> = Arc::new(fleet.coordinator());
    for run in ["first", "second"] {
        let options = options(run, 2);
        let handle =
            CoordinatorHost::start(Arc::clone(&transport), fleet.dir.path(), options, files())
                .unwrap();
        check_complete(&follow(&handle, |_| {}), 2);
    }
    drop(agents);
    fleet.server.stop();
}

/// A server and agents that are started elsewhere have what was made for them here.
#[test]
fn keys_that_were_issued_let_their_agents_in() {
    let dir = Scratch::new("nats-issued");
    let [fleet, server, store] = ["fleet", "server", "store"].map(|name| dir.path().join(name));
    let [server_text, store_text] = [&server, &store].map(|path| path.display().to_string());
    let port = super::with_port(([127, 0, 0, 1], 0).into()).unwrap().port();
    let names = ["c-0", "c-1"].map(name);
    let options = IssueOptions {
        dir: &fleet,
        hosts: &["localhost".to_owned(), "127.0.0.1".to_owned()],
        port,
        near_port: port,
        server_dirs: [&server_text, &store_text],
        agents: &names,
    };
    let (issued, tokens) = issue(&options).unwrap();
    std::fs::create_dir(&server).unwrap();
    let config = server.join("nats.conf");
    std::fs::write(&config, issued.config.replace("0.0.0.0", "127.0.0.1")).unwrap();
    std::fs::write(server.join("server.pem"), &issued.certificate).unwrap();
    std::fs::write(server.join("server-key.pem"), &issued.certificate_key).unwrap();
    let mut process = std::process::Command::new("nats-server");
    process.arg("-c").arg(&config).stderr(std::process::Stdio::null());
    let mut process = process.spawn().unwrap();
    let until = Instant::now() + LIMIT;
    let access = NatsAccess::of_coordinator(&fleet).unwrap();
    let coordinator = loop {
        match NatsTransport::connect(&access, |_| {}) {
            Ok(transport) => break transport,
            Err(error) => assert!(Instant::now() < until, "{error}"),
        }
    };
    let start = |token: &AgentToken| {
        TestAgent::start(Arc::new(connect(&token.access).0), token.name.as_str(), "1")
    };
    let agents: Vec<_> = tokens.iter().map(start).collect();
    let transport: Arc<dyn Transport> = Arc::new(coordinator);
    let run = self::options("issued", 2);
    let handle = CoordinatorHost::start(Arc::clone(&transport), &fleet, run, files()).unwrap();
    check_complete(&follow(&handle, |_| {}), 2);
    drop(agents);
    assert!(issue(&options).unwrap().1 == tokens, "the same again");
    std::fs::remove_file(fleet.join("agent-c-1.json")).unwrap();
    let refused = issue(&options).err().unwrap().to_string();
    assert!(refused.contains("another machine has the name c-1"), "{refused}");
    process.kill().unwrap();
    process.wait().unwrap();
}

/// The server reads its users again for each of them, and may know none while it does.
#[test]
fn many_machines_may_join_at_once() {
    let fleet = TestFleet::start("nats-many");
    thread::scope(|scope| {
        let join = |agent: usize| {
            let fleet = &fleet;
            scope.spawn(move || {
                let agent = format!("agent-{agent}");
                let access = fleet.try_join(&agent, &agent).unwrap();
                connect(&access);
            })
        };
        let joins: Vec<_> = (0..12).map(join).collect();
        joins.into_iter().for_each(|join| join.join().unwrap());
    });
}

#[test]
fn a_killed_server_changes_no_total() {
    let fleet = TestFleet::start("nats-killed");
    let agents = ["a", "b"].map(|agent| TestAgent::start(Arc::new(fleet.agent(agent)), agent, "1"));
    let transport: Arc<dyn Transport> = Arc::new(fleet.coordinator());
    let options = options("killed", 2);
    let handle =
        CoordinatorHost::start(Arc::clone(&transport), fleet.dir.path(), options, files()).unwrap();
    let mut fleet = Some(fleet);
    let mut restarts = 0;
    let story = follow(&handle, |event| {
        if matches!(event, CoordinatorEvent::Merge(..)) && restarts == 0 {
            restarts = 1;
            fleet = fleet.take().map(TestFleet::restart);
        }
    });
    assert_eq!(restarts, 1);
    check_complete(&story, 2);
    drop(agents);
}

#[test]
fn a_run_has_one_coordinator() {
    let fleet = TestFleet::start("nats-lease");
    let (one, other) = (fleet.coordinator(), fleet.coordinator());
    let run = name("r");
    let lease = one.take_lease(&run).unwrap();
    assert!(matches!(other.take_lease(&run), Err(TransportError::LeaseHeld(_))));
    let lease = one.renew_lease(&lease).unwrap();
    let stolen = crate::Lease { revision: lease.revision - 1, ..lease.clone() };
    assert!(matches!(other.renew_lease(&stolen), Err(TransportError::LeaseHeld(_))));
    let second = other.take_lease(&name("s")).unwrap();
    assert!(second.incarnation > lease.incarnation);
    let fleet = fleet.restart();
    let until = Instant::now() + LIMIT;
    let renewed = loop {
        match one.renew_lease(&lease) {
            Ok(renewed) => break renewed,
            Err(error) => assert!(Instant::now() < until, "{error}"),
        }
    };
    assert_eq!(renewed.incarnation, lease.incarnation);
    fleet.server.stop();
}

/// What an agent may not send does not come, and what it may not read it does not get.
#[test]
fn agents_cannot_speak_or_read_as_others() {
    let fleet = TestFleet::start("nats-rights");
    let coordinator = fleet.coordinator();
    let (deliver, heard) = inbox();
    coordinator.listen(&Role::Coordinator(name("r")), deliver).unwrap();
    let access = ["a", "b"].map(|agent| fleet.try_join(agent, agent).unwrap());
    let [(a, a_notices), (b, _)] = access.each_ref().map(connect);
    let (deliver, heard_by_b) = inbox();
    b.listen(&Role::Agent(name("b")), deliver).unwrap();
    // A subscription that is refused is a notice, and then nothing.
    let (deliver, stolen) = inbox();
    a.listen(&Role::Agent(name("b")), deliver).unwrap();
    a.send(&up_from("b"), b"forged".to_vec());
    a.send(&down("b"), b"forged".to_vec());
    a.send(&up_from("a"), b"own".to_vec());
    let message = heard.recv_timeout(LIMIT).unwrap();
    assert_eq!((message.subject, message.bytes), (up_from("a"), b"own".to_vec()));
    coordinator.send(&down("b"), b"for b".to_vec());
    assert_eq!(heard_by_b.recv_timeout(LIMIT).unwrap().bytes, b"for b");
    let second = Duration::from_secs(1);
    assert!(stolen.recv_timeout(second).is_err() && heard.try_recv().is_err());
    assert!(heard_by_b.try_recv().is_err());
    let notices: Vec<String> = a_notices.try_iter().collect();
    let refused = |what: &str| {
        notices.iter().any(|text| {
            text.to_lowercase().contains("permissions violation") && text.contains(what)
        })
    };
    assert!(refused("brunt.*.down.b") && refused("brunt.r.up.b"), "{notices:?}");
}

#[test]
fn who_is_not_let_in_is_told_why() {
    let fleet = TestFleet::start("nats-door");
    let access = fleet.try_join("a", "first").unwrap();
    // It comes back with its key, also when it asks once more.
    let again = fleet.try_join("a", "first").unwrap();
    assert!(again == access);
    let taken = fleet.try_join("a", "second").unwrap_err().to_string();
    assert!(
        taken.contains("another machine has the name a; choose another one with -name"),
        "{taken}"
    );
    // Neither a key of one's own nor the token's lets anyone do more than ask.
    let foreign = NatsAccess {
        login: crate::Login::Seed(super::keys::seed(&nkeys::KeyPair::new_user())),
        ..access.clone()
    };
    let error = NatsTransport::connect(&foreign, |_| {}).unwrap_err();
    assert!(error.to_string().ends_with("does not know this key"), "{error}");
    let none = NatsAccess { login: crate::Login::None, ..access.clone() };
    assert!(NatsTransport::connect(&none, |_| {}).is_err());
    let token = JoinToken::read(&fleet.server.token()).unwrap();
    let (asker, notices) = connect(&token.0);
    asker.listen(&Role::Coordinator(name("r")), inbox().0).unwrap();
    assert!(asker.take_lease(&name("r")).is_err());
    assert!(notices.try_iter().any(|text| text.contains("brunt.hello.*")), "it reads nothing");
    // Another server's certificate is not believed.
    let other = TestFleet::start("nats-door-other");
    let forged = NatsAccess { urls: access.urls, ..other.try_join("a", "a").unwrap() };
    let error = NatsTransport::connect(&forged, |_| {}).unwrap_err().to_string();
    assert!(error.contains("certificate"), "{error}");
}

#[test]
fn a_fleet_is_the_same_after_a_restart_and_a_taken_port_is_named() {
    let fleet = TestFleet::start("nats-again");
    let token = fleet.server.token();
    let access = fleet.try_join("a", "a").unwrap();
    let listen = fleet.server.listen();
    let taken = up(&fleet.dir.path().join("other"), &listen.to_string()).unwrap_err().to_string();
    assert!(taken.contains("address already in use"), "{taken}");
    let fleet = fleet.restart();
    assert_eq!(fleet.server.token(), token);
    let (_agent, _) = connect(&access);
    let everywhere = up(&fleet.dir.path().join("everywhere"), "0.0.0.0:0").unwrap_err();
    assert!(everywhere.to_string().contains("needs -advertise HOST"), "{everywhere}");
    let none = NatsAccess::of_coordinator(Path::new("/nonexistent")).unwrap_err().to_string();
    assert!(none.contains("/nonexistent is not the folder of a fleet"), "{none}");
    let stored = AgentAccess::of(fleet.dir.path(), &Name::new("never").unwrap());
    assert!(stored.load().unwrap().is_none());
}

/// A server with a fleet's configuration, and one more user who sees every message.
struct WatchedServer {
    process: std::process::Child,
    dir: Scratch,
    tokens: Vec<AgentToken>,
    monitor: NatsAccess,
}

impl WatchedServer {
    fn start(test: &str) -> Self {
        let dir = Scratch::new(test);
        let [server, store] = ["server", "store"].map(|name| dir.path().join(name));
        let [server_text, store_text] = [&server, &store].map(|path| path.display().to_string());
        let port = super::with_port(([127, 0, 0, 1], 0).into()).unwrap().port();
        let options = IssueOptions {
            dir: &dir.path().join("fleet"),
            hosts: &["localhost".to_owned(), "127.0.0.1".to_owned()],
            port,
            near_port: port,
            server_dirs: [&server_text, &store_text],
            agents: &["a", "b"].map(name),
        };
        let (issued, tokens) = issue(&options).unwrap();
        let monitor = super::keys::seed(&nkeys::KeyPair::new_user());
        let user = format!("users: [\n    {{ nkey: {} }}\n", super::keys::public(&monitor));
        let config = issued.config.replace("0.0.0.0", "127.0.0.1").replace("users: [\n", &user);
        std::fs::create_dir(&server).unwrap();
        let path = server.join("nats.conf");
        std::fs::write(&path, config).unwrap();
        std::fs::write(server.join("server.pem"), &issued.certificate).unwrap();
        std::fs::write(server.join("server-key.pem"), &issued.certificate_key).unwrap();
        let mut process = std::process::Command::new("nats-server");
        process.arg("-c").arg(&path).stderr(std::process::Stdio::null());
        let process = process.spawn().unwrap();
        let monitor = NatsAccess {
            login: crate::Login::Seed(monitor),
            inbox: "_INBOX_monitor".to_owned(),
            ..tokens[0].access.clone()
        };
        let until = Instant::now() + LIMIT;
        while let Err(error) = NatsTransport::connect(&monitor, |_| {}) {
            assert!(Instant::now() < until, "{error}");
        }
        Self { process, dir, tokens, monitor }
    }

    fn key(&self, seed: &str) -> NatsAccess {
        NatsAccess { login: crate::Login::Seed(seed.to_owned()), ..self.monitor.clone() }
    }
}

impl Drop for WatchedServer {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

/// Subjects of every kind: of each party, of JetStream, of the system.
const SUBJECTS: [&str; 25] = [
    "brunt.admin",
    "brunt.hello.a",
    "brunt.hello.b",
    "brunt.r.up.a",
    "brunt.r.up.b",
    "brunt.r.fetch.a",
    "brunt.r.fetch.b",
    "brunt.r.down.a",
    "brunt.r.down.b",
    "brunt.r.part.a",
    "brunt.r.part.b",
    "brunt.join",
    "brunt-lease.r",
    "brunt-archive.x.0",
    "_INBOX_coordinator.x",
    "_INBOX_join.x",
    "_INBOX_admin.x",
    "_INBOX_agent_b.x",
    "$JS.API.STREAM.DELETE.brunt-leases",
    "$JS.API.STREAM.PURGE.brunt-leases",
    "$JS.API.STREAM.CREATE.other",
    "$JS.API.DIRECT.GET.brunt-leases.brunt-lease.r",
    "$JS.API.CONSUMER.CREATE.brunt-leases",
    "$JS.ACK.brunt-leases.x.1.1.1.1.0",
    "$SYS.REQ.SERVER.PING",
];

/// What a key sends where it may not, does not come there: neither directly, nor as the answer to what it may send.
#[test]
fn no_key_reaches_a_subject_that_is_not_its_own() {
    use super::permissions::{Party, Permissions};
    let server = WatchedServer::start("nats-keys");
    let fleet = server.dir.path().join("fleet");
    let keys = super::keys::Keys::of(&fleet, &["127.0.0.1".to_owned()]).unwrap();
    let (coordinator, _) = connect(&NatsAccess::of_coordinator(&fleet).unwrap());
    let lease = coordinator.take_lease(&name("r")).unwrap();
    let (watcher, _) = connect(&server.monitor);
    let (sender, seen) = sync_channel(4096);
    let see = move |message: async_nats::Message| sender.try_send(message).unwrap_or_default();
    watcher.subscribe(">".to_owned(), see).unwrap();
    let parties = [
        (Party::Agent("a"), server.tokens[0].access.clone()),
        (Party::Join, server.key(&keys.join)),
        (Party::Admin, server.key(&keys.admin)),
    ];
    for (party, access) in parties {
        let Permissions { publish, subscribe } = party.permissions();
        let may = |list: &[String], subject: &str| list.iter().any(|one| matches(one, subject));
        let (key, notices) = connect(&access);
        let own: Vec<&&str> = SUBJECTS.iter().filter(|subject| may(&publish, subject)).collect();
        assert!(!own.is_empty(), "{party:?}");
        for subject in SUBJECTS {
            key.send_to(subject.to_owned(), b"direct".to_vec());
            for allowed in &own {
                key.send_with_reply((**allowed).to_owned(), subject.to_owned()).unwrap();
            }
        }
        for subject in SUBJECTS.iter().filter(|subject| !may(&subscribe, subject)) {
            // The refusal is a notice.
            key.subscribe((*subject).to_owned(), |_| {}).unwrap();
            let until = Instant::now() + LIMIT;
            let is_refused = || {
                let text = notices.recv_timeout(LIMIT).unwrap_or_default();
                text.to_lowercase().contains("subscription") && text.contains(*subject)
            };
            while !is_refused() {
                assert!(Instant::now() < until, "{party:?} may read {subject}");
            }
        }
        key.send_to((**own[0]).to_owned(), b"end".to_vec());
        loop {
            let message = seen.recv_timeout(LIMIT).expect("the last message comes");
            if &*message.payload == b"end" {
                break;
            }
            let is_foreign = SUBJECTS.contains(&&*message.subject);
            assert!(!is_foreign || may(&publish, &message.subject), "{party:?}: {message:?}");
        }
    }
    coordinator.renew_lease(&lease).expect("no message of these keys took the lease");
}

/// Whether a subject is one of a pattern's.
fn matches(pattern: &str, subject: &str) -> bool {
    let (mut words, mut patterns) = (subject.split('.'), pattern.split('.'));
    loop {
        match (patterns.next(), words.next()) {
            (Some(">"), Some(_)) | (None, None) => return true,
            (Some(one), Some(word)) if one == "*" || one == word => {}
            _ => return false,
        }
    }
}

/// An agent that was put out is cut off and does not come back; a new token puts out who has the old one, and none that is in.
#[test]
fn who_was_let_in_can_be_put_out() {
    let fleet = TestFleet::start("nats-withdrawn");
    let old = fleet.server.token();
    let [a, b] = ["a", "b"].map(|agent| fleet.try_join(agent, agent).unwrap());
    remove_agent(fleet.dir.path(), &name("a")).unwrap();
    let until = Instant::now() + LIMIT;
    while NatsTransport::connect(&a, |_| {}).is_ok() {
        assert!(Instant::now() < until, "its key is of no use any more");
    }
    connect(&b);
    let back = fleet.try_join("a", "a").unwrap_err().to_string();
    assert!(back.contains("a was put out of it"), "{back}");
    fleet.try_join("a", "another-key").unwrap();
    let none = remove_agent(fleet.dir.path(), &name("c")).unwrap_err().to_string();
    assert!(none.contains("no agent c"), "{none}");
    let rules = TokenRules { machines: 1, ..TokenRules::default() };
    let new = renew_token(fleet.dir.path(), rules).unwrap();
    assert_ne!(new, old);
    let join_by = |token: &str, agent: &str| {
        let stored = AgentAccess::of(&fleet.dir.path().join(agent), &name(agent));
        join(&JoinToken::read(token).unwrap(), &name(agent), &stored).map(drop)
    };
    while NatsTransport::connect(&JoinToken::read(&old).unwrap().0, |_| {}).is_ok() {
        assert!(Instant::now() < until, "the old token is of no use any more");
    }
    join_by(&old, "b").expect("one that is in comes back");
    join_by(&new, "d").unwrap();
    let spent = join_by(&new, "e").unwrap_err().to_string();
    assert!(spent.contains("as many machines joined"), "{spent}");
}

/// A server whose `fleet up` was killed does not stand in the way of the next one; one that is in use does.
#[test]
fn the_server_of_a_killed_process_is_replaced() {
    let fleet = TestFleet::start("nats-orphan");
    let (listen, token) = (fleet.server.listen().to_string(), fleet.server.token());
    let held = up(fleet.dir.path(), &listen).unwrap_err().to_string();
    assert!(held.contains("another brunt fleet up holds"), "{held}");
    // What is left of a process that was killed: a server by the same configuration, and no lock.
    fleet.server.stop();
    let dir = fleet.dir.path().canonicalize().unwrap();
    let mut orphan = std::process::Command::new("nats-server");
    orphan.arg("-c").arg(dir.join("nats.conf")).stderr(std::process::Stdio::null());
    let mut orphan = orphan.spawn().unwrap();
    let until = Instant::now() + LIMIT;
    while std::net::TcpStream::connect(&listen).is_err() {
        assert!(Instant::now() < until, "it listens");
        thread::sleep(Duration::from_millis(10));
    }
    let reaped = thread::spawn(move || orphan.wait().unwrap());
    let server = up(fleet.dir.path(), &listen).unwrap();
    assert_eq!(server.token(), token);
    assert!(!reaped.join().unwrap().success() || server.ended().is_none());
    server.stop();
}
