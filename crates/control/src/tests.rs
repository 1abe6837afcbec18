//! The hosts of coordinator and agents over a message system in this process, with a load generator that only counts.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use fleet::{Counts, Hello, Name, Outcome, Phase};
use stdx::Nanos;

use crate::scratch::Scratch;
use crate::{
    AgentHandle, AgentHost, AgentNotice, AgentOptions, AgentOrder, AgentReport, CoordinatorEvent,
    CoordinatorHandle, CoordinatorHost, CoordinatorOptions, CoordinatorOrder, MemoryTransport,
    RunFiles, Transport,
};

pub(crate) const LIMIT: Duration = Duration::from_secs(40);

/// Deltas that the load generator makes of one run, each of `HITS` requests.
const DELTAS: u64 = 8;
const HITS: u64 = 10;

pub(crate) fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

pub(crate) fn files() -> RunFiles {
    RunFiles { archive: b"the test".to_vec(), setup: Some(b"data".to_vec()) }
}

pub(crate) fn options(run: &str, agents: usize) -> CoordinatorOptions {
    CoordinatorOptions {
        run: name(run),
        version: "1".to_owned(),
        agents: Some(agents),
        labels: Vec::new(),
        archive: files().archive_digest(),
        setup: files().setup_digest(),
        ready_within: Nanos(20_000_000_000),
        lead: Nanos(2_000_000_000),
        drain_within: Nanos(10_000_000_000),
        goes_on: false,
    }
}

/// A load generator that makes its deltas 50 ms apart, run after run.
fn count(handle: &AgentHandle) {
    while let Ok(order) = handle.orders.recv() {
        match order {
            AgentOrder::Prepare(work) => {
                assert_eq!(
                    (&*work.archive, work.setup.as_deref()),
                    (&b"the test"[..], Some(&b"data"[..]))
                );
                handle.reports.send(AgentReport::Prepared(Ok(()))).unwrap();
            }
            AgentOrder::Start(at) => {
                thread::sleep(at.saturating_duration_since(Instant::now()));
                load(handle);
            }
            _ => {}
        }
    }
}

fn load(handle: &AgentHandle) {
    for _ in 0..DELTAS {
        let from = Instant::now();
        if let Ok(AgentOrder::Stop(_)) = handle.orders.recv_timeout(Duration::from_millis(50)) {
            break;
        }
        let counts = Counts { planned: HITS, answered: HITS, failed: 0, not_sent: 0 };
        let interval = (from, Instant::now());
        let measured = AgentReport::Measured { interval, counts, payload: vec![1; 100] };
        handle.reports.send(measured).unwrap();
    }
    handle.reports.send(AgentReport::Ended).unwrap();
}

/// An agent with a load generator, ended by its drop.
pub(crate) struct TestAgent(Option<AgentHost>, std::sync::mpsc::Receiver<AgentNotice>);

impl TestAgent {
    pub(crate) fn start(transport: Arc<dyn Transport>, agent: &str, version: &str) -> Self {
        let hello = Hello { version: version.to_owned(), cores: 2, labels: Vec::new() };
        let options = AgentOptions { name: name(agent), hello };
        let (sender, notices) = std::sync::mpsc::sync_channel(64);
        let notice = move |notice| sender.send(notice).unwrap_or_default();
        let (handle, host) = AgentHost::start(transport, options, notice).unwrap();
        thread::spawn(move || count(&handle));
        Self(Some(host), notices)
    }
}

impl Drop for TestAgent {
    fn drop(&mut self) {
        self.0.take().unwrap().stop();
    }
}

/// What the command of a run saw of it.
#[derive(Default)]
pub(crate) struct Story {
    pub(crate) merged: u64,
    refused: Vec<String>,
    pub(crate) start: Option<Instant>,
    pub(crate) outcome: Option<Outcome>,
    failed: Option<String>,
}

/// Follows a run to its end; `each` sees every event.
pub(crate) fn follow(handle: &CoordinatorHandle, mut each: impl FnMut(&CoordinatorEvent)) -> Story {
    let mut story = Story::default();
    let until = Instant::now() + LIMIT;
    while let Ok(event) =
        handle.events.recv_timeout(until.saturating_duration_since(Instant::now()))
    {
        each(&event);
        match event {
            CoordinatorEvent::Merge(_, delta) => story.merged += delta.counts.planned,
            CoordinatorEvent::Start { at, .. } => story.start = Some(at),
            CoordinatorEvent::Refused(agent, cause) => {
                story.refused.push(format!("{agent}: {cause}"));
            }
            CoordinatorEvent::Over(outcome) => {
                story.outcome = Some(*outcome);
                return story;
            }
            CoordinatorEvent::Failed(cause) => {
                story.failed = Some(cause);
                return story;
            }
            CoordinatorEvent::Phase(_) | CoordinatorEvent::Agents(_) => {}
        }
    }
    story
}

pub(crate) fn check_complete(story: &Story, agents: u64) {
    let outcome = story.outcome.as_ref().unwrap_or_else(|| panic!("no end: {:?}", story.failed));
    assert_eq!(outcome.cause, None, "{outcome:?}");
    assert_eq!(story.merged, agents * DELTAS * HITS);
    assert_eq!(outcome.counts().planned, agents * DELTAS * HITS);
    for agent in &outcome.agents {
        assert!(agent.complete && agent.counts == agent.totals, "{agent:?}");
    }
}

#[test]
fn agents_carry_out_one_run_after_the_other() {
    let (dir, transport) = (Scratch::new("hosts"), MemoryTransport::reliable());
    let agents = ["a", "b"].map(|agent| TestAgent::start(Arc::new(transport.clone()), agent, "1"));
    for run in ["first", "second"] {
        let options = options(run, 2);
        let handle =
            CoordinatorHost::start(Arc::new(transport.clone()), dir.path(), options, files())
                .unwrap();
        check_complete(&follow(&handle, |_| {}), 2);
    }
    drop(agents);
}

#[test]
fn messages_that_are_lost_and_doubled_change_no_total() {
    let dir = Scratch::new("hosts-lossy");
    let transport = MemoryTransport::with_faults(7, 0.2, 0.2);
    let _agents =
        ["a", "b", "c"].map(|agent| TestAgent::start(Arc::new(transport.clone()), agent, "1"));
    let options = options("lossy", 3);
    let handle =
        CoordinatorHost::start(Arc::new(transport.clone()), dir.path(), options, files()).unwrap();
    check_complete(&follow(&handle, |_| {}), 3);
}

#[test]
fn a_run_takes_as_many_as_it_needs_and_the_others_wait_for_the_next() {
    let (dir, transport) = (Scratch::new("hosts-wait"), MemoryTransport::reliable());
    let _agents =
        ["a", "b", "c"].map(|agent| TestAgent::start(Arc::new(transport.clone()), agent, "1"));
    let start = |run, agents| {
        let options = options(run, agents);
        CoordinatorHost::start(Arc::new(transport.clone()), dir.path(), options, files()).unwrap()
    };
    let (two, one) = (start("two", 2), start("one", 1));
    check_complete(&follow(&two, |_| {}), 2);
    check_complete(&follow(&one, |_| {}), 1);
}

#[test]
fn another_version_is_refused_by_name() {
    let (dir, transport) = (Scratch::new("hosts-version"), MemoryTransport::reliable());
    let old = TestAgent::start(Arc::new(transport.clone()), "old", "0");
    let _agent = TestAgent::start(Arc::new(transport.clone()), "a", "1");
    let handle = CoordinatorHost::start(
        Arc::new(transport.clone()),
        dir.path(),
        options("versions", 1),
        files(),
    );
    let story = follow(&handle.unwrap(), |_| {});
    check_complete(&story, 1);
    assert_eq!(story.refused, ["old: its version is 0, the run's is 1"]);
    let cause = "its version is 0, the run's is 1".to_owned();
    assert_eq!(old.1.recv_timeout(LIMIT).unwrap(), AgentNotice::Refused(name("versions"), cause));
}

#[test]
fn a_run_has_one_coordinator_and_a_newer_one_takes_over() {
    let (dir, transport) = (Scratch::new("hosts-takeover"), MemoryTransport::reliable());
    let _agents = ["a", "b"].map(|agent| TestAgent::start(Arc::new(transport.clone()), agent, "1"));
    let shared = || Arc::new(transport.clone());
    let first = options("taken", 2);
    let handle = CoordinatorHost::start(shared(), dir.path(), first.clone(), files()).unwrap();
    let second = CoordinatorHost::start(shared(), dir.path(), first, files()).unwrap_err();
    assert_eq!(second.to_string(), "another process coordinates the run taken");
    let mut resumed = None;
    let story = follow(&handle, |event| {
        if matches!(event, CoordinatorEvent::Merge(..)) && resumed.is_none() {
            transport.end_lease(&name("taken"));
            resumed = Some(CoordinatorHost::resume(shared(), dir.path(), &name("taken")).unwrap());
        }
    });
    check_complete(&follow(&resumed.expect("load began"), |_| {}), 2);
    // The first may have heard all deltas too, before it lost the lease; it never goes on beside the second.
    assert!(story.outcome.is_some() || story.failed.is_some());
}

#[test]
fn the_command_ends_the_load() {
    let (dir, transport) = (Scratch::new("hosts-abort"), MemoryTransport::reliable());
    let _agent = TestAgent::start(Arc::new(transport.clone()), "a", "1");
    let options = options("aborted", 1);
    let handle =
        CoordinatorHost::start(Arc::new(transport.clone()), dir.path(), options, files()).unwrap();
    let story = follow(&handle, |event| {
        if matches!(event, CoordinatorEvent::Phase(Phase::Running)) {
            let order = CoordinatorOrder::Abort("p99 > 300ms".to_owned());
            handle.orders.send(order).unwrap();
        }
    });
    let outcome = story.outcome.expect("the run ends");
    assert_eq!(outcome.cause.as_deref(), Some("p99 > 300ms"));
    assert!(story.merged < DELTAS * HITS);
}

#[test]
fn an_archive_that_is_not_there_is_named() {
    let (dir, transport) = (Scratch::new("hosts-archive"), MemoryTransport::reliable());
    let _agent = TestAgent::start(Arc::new(transport.clone()), "a", "1");
    let options = CoordinatorOptions { archive: fleet::Digest([7; 32]), ..options("missing", 1) };
    let expected = format!("the run has no file {}", crate::hex(&options.archive));
    let handle =
        CoordinatorHost::start(Arc::new(transport.clone()), dir.path(), options, files()).unwrap();
    let outcome = follow(&handle, |_| {}).outcome.expect("the run ends");
    assert_eq!(outcome.cause, Some(format!("a: {expected}")));
}

#[test]
fn an_agent_whose_command_is_gone_takes_the_next_run() {
    let (dir, transport) = (Scratch::new("hosts-orphan"), MemoryTransport::reliable());
    let agents = ["a", "b"].map(|agent| TestAgent::start(Arc::new(transport.clone()), agent, "1"));
    let options = options("orphaned", 2);
    let handle =
        CoordinatorHost::start(Arc::new(transport.clone()), dir.path(), options, files()).unwrap();
    let mut is_cut = false;
    let story = follow(&handle, |event| {
        if matches!(event, CoordinatorEvent::Merge(..)) && !is_cut {
            is_cut = true;
            // Nothing of this run comes through any more.
            transport.cut_off(&name("orphaned"));
        }
    });
    assert!(story.outcome.is_some_and(|outcome| outcome.cause.is_some()), "its agents are lost");
    let next =
        CoordinatorOptions { ready_within: Nanos(40_000_000_000), ..self::options("next", 2) };
    let handle =
        CoordinatorHost::start(Arc::new(transport.clone()), dir.path(), next, files()).unwrap();
    check_complete(&follow(&handle, |_| {}), 2);
    drop(agents);
}

/// A file of several parts comes whole, also where parts are lost and doubled.
#[test]
fn a_large_archive_comes_whole_over_a_bad_way() {
    let dir = Scratch::new("hosts-large");
    let transport = MemoryTransport::with_faults(3, 0.3, 0.3);
    let hello = Hello { version: "1".to_owned(), cores: 1, labels: Vec::new() };
    let agent = AgentOptions { name: name("a"), hello };
    let (handle, host) = AgentHost::start(Arc::new(transport.clone()), agent, |_| {}).unwrap();
    let archive: Vec<u8> = (0..700_000u32).flat_map(u32::to_le_bytes).collect();
    let files = RunFiles { archive: archive.clone(), setup: Some(Vec::new()) };
    let options = CoordinatorOptions {
        archive: files.archive_digest(),
        setup: files.setup_digest(),
        ..options("large", 1)
    };
    let run = CoordinatorHost::start(Arc::new(transport.clone()), dir.path(), options, files);
    let order = handle.orders.recv_timeout(LIMIT).unwrap();
    let AgentOrder::Prepare(work) = order else { panic!("{order:?}") };
    assert!(work.archive == archive && work.setup == Some(Vec::new()));
    drop((run, handle));
    host.stop();
}

/// An agent that sends without end makes neither the command grow nor others be lost.
#[test]
fn an_agent_that_floods_harms_no_other() {
    let (dir, transport) = (Scratch::new("hosts-flood"), MemoryTransport::reliable());
    let _agents = ["a", "b"].map(|agent| TestAgent::start(Arc::new(transport.clone()), agent, "1"));
    let options = options("flooded", 2);
    let handle =
        CoordinatorHost::start(Arc::new(transport.clone()), dir.path(), options, files()).unwrap();
    let is_over = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let flood = {
        let (transport, is_over) = (transport.clone(), Arc::clone(&is_over));
        let up = crate::Subject::Up { run: name("flooded"), agent: name("liar") };
        thread::spawn(move || {
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                transport.send(&up, vec![b'b'; 200_000]);
            }
        })
    };
    check_complete(&follow(&handle, |_| {}), 2);
    is_over.store(true, std::sync::atomic::Ordering::Relaxed);
    flood.join().unwrap();
}
