//! Runs over real sockets: what only they have, or what takes more than one thread.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use engine::{LazyTargets, LoadChange, ReadyRun, Run, RunEvent, Settings, cut};
use metrics::{Batch, Snapshot};
use stdx::Nanos;
use workload::arrival::{Rate, Shape};
use workload::{Load, Plan, Segment, Target, Targets};

/// Sends `/start` on to `/end` and answers everything else.
fn serve(mut conn: TcpStream) {
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = conn.read(&mut buffer) {
        let answer = if buffer[..read].starts_with(b"GET /start") {
            "HTTP/1.1 302 Found\r\nLocation: /end\r\nContent-Length: 0\r\n\r\n"
        } else {
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        };
        if conn.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

/// A server's address; `peers` gets the address of each connection.
fn server(peers: Sender<IpAddr>, answer: fn(TcpStream)) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    std::thread::spawn(move || {
        for conn in listener.incoming().flatten() {
            peers.send(conn.peer_addr().expect("a peer").ip()).ok();
            std::thread::spawn(move || answer(conn));
        }
    });
    format!("http://{address}")
}

fn target(url: &str) -> Target {
    Target {
        method: "GET".to_owned(),
        url: url.to_owned(),
        headers: Vec::new(),
        body: [].into(),
        weight: 1,
        name: String::new(),
    }
}

/// Hits at 50/s for half a second.
fn plan(targets: Vec<Target>) -> Plan {
    let shape = Shape::constant(Rate::per_second(50));
    Plan {
        warmup: stdx::Nanos::ZERO,
        think: stdx::Distribution::None,
        name: String::new(),
        load: Load::Open { shape, max_in_flight: None },
        hits_max: None,
        duration: Some(Nanos::from_millis(500)),
        targets: Targets::new(targets),
        seed: 1,
        part: None,
    }
}

fn follow(plan: Plan, settings: &Settings, lazy: Option<LazyTargets>) -> (Vec<Batch>, Snapshot) {
    events(&Run::start(plan, settings, lazy).expect("the run starts"))
}

fn events(run: &Run) -> (Vec<Batch>, Snapshot) {
    let mut batches = Vec::new();
    loop {
        match run.next_event(Duration::from_secs(10)).expect("the run goes on") {
            RunEvent::Rows(batch) => batches.push(batch),
            RunEvent::Progress(_) => {}
            RunEvent::Finished(last) => return (batches, *last),
        }
    }
}

#[test]
fn rows_of_lazy_targets_say_what_was_asked_for_first() {
    let (peers, _heard) = channel();
    let start = format!("{}/start", server(peers, serve));
    let end = Err("no more".to_owned());
    let lazy = [Ok(target(&start)), Ok(target("ftp://a/")), end].into_iter();
    let (batches, last) = follow(plan(Vec::new()), &Settings::default(), Some(Box::new(lazy)));
    let rows = batches.iter().flat_map(|batch| batch.samples.iter().map(move |row| (batch, row)));
    let text = |batch: &Batch, span| String::from_utf8_lossy(batch.text(span)).into_owned();
    let seen: BTreeSet<(String, String)> =
        rows.map(|(batch, row)| (text(batch, row.line), text(batch, row.error))).collect();
    let lines: Vec<&str> = seen.iter().map(|(line, _)| line.as_str()).collect();
    assert_eq!(lines, [" ", "GET ftp://a/", &format!("GET {start}")]);
    let nameless = seen.first().map(|(_, error)| error.as_str());
    assert_eq!(nameless, Some("no more"), "a hit without a target has its words alone");
    assert_eq!((last.generator.sent, last.generator.not_sent, last.successes), (3, 0, 1));
}

#[test]
fn a_run_starts_at_its_instant() {
    let (peers, _heard) = channel();
    let url = server(peers, std::mem::forget);
    let settings = Settings { timeout: Some(Nanos::from_millis(100)), ..Settings::default() };
    let ready = ReadyRun::new(plan(vec![target(&url)]), &settings, None).expect("it is ready");
    let at = Instant::now() + Duration::from_millis(300);
    let run = ready.start(at);
    assert_eq!(run.elapsed(), Nanos::ZERO, "before the start");
    let (batches, last) = events(&run);
    assert!(at.elapsed() >= Duration::from_millis(500), "time 0 is the instant");
    let first = batches.iter().flat_map(|batch| &batch.samples).map(|hit| hit.sent).min();
    assert!(first.is_some(), "{first:?}");
    assert_eq!(last.generator.planned, 25);
}

#[test]
fn a_start_that_has_passed_counts_as_lag() {
    let (peers, _heard) = channel();
    let url = server(peers, std::mem::forget);
    let settings = Settings { timeout: Some(Nanos::from_millis(100)), ..Settings::default() };
    let ready = ReadyRun::new(plan(vec![target(&url)]), &settings, None).expect("it is ready");
    let at = Instant::now() - Duration::from_millis(200);
    let (_, last) = events(&ready.start(at));
    assert_eq!(last.generator.planned, 25);
    assert!(last.generator.lag.max() >= Nanos::from_millis(150), "{}", last.generator.lag.max());
}

#[test]
fn what_is_overdue_can_be_skipped() {
    let (peers, _heard) = channel();
    let url = server(peers, std::mem::forget);
    let settings = Settings { timeout: Some(Nanos::from_millis(50)), ..Settings::default() };
    let ready = ReadyRun::new(plan(vec![target(&url)]), &settings, None).expect("it is ready");
    // Before its start no worker has begun anything.
    let at = Instant::now() + Duration::from_secs(1);
    let run = ready.start(at);
    run.stopper().skip_overdue(at + Duration::from_millis(310));
    let (batches, last) = events(&run);
    let sent: Vec<u64> =
        batches.iter().flat_map(|batch| &batch.samples).map(|hit| hit.seq).collect();
    assert_eq!((last.generator.sent, last.generator.not_sent), (9, 16));
    assert!(sent.iter().all(|seq| *seq >= 16), "{sent:?}");
}

/// Three agents at different weights send each hit of the schedule once, by its number.
#[test]
fn parts_send_the_whole() {
    let (peers, _heard) = channel();
    let url = server(peers, std::mem::forget);
    let settings =
        Settings { workers: 2, timeout: Some(Nanos::from_millis(50)), ..Settings::default() };
    let mut seen = Vec::new();
    for segment in ["0:1/2", "1/2:3/4", "3/4:1"] {
        let segment = Segment::parse(segment, Some("0,1/2,3/4,1")).expect("a segment");
        let whole = plan(vec![target(&url)]);
        let (plan, settings) = cut(whole, settings.clone(), segment.vus()).expect("a part");
        let (batches, _) = follow(plan, &settings, None);
        let hits = batches.iter().flat_map(|batch| &batch.samples);
        seen.extend(hits.map(|hit| (hit.seq, hit.intended)));
    }
    seen.sort_unstable();
    let due = |number: u64| (number, Nanos::from_millis(20) * number);
    assert_eq!(seen, (0..25).map(due).collect::<Vec<_>>());
}

/// The requests of a long list are made one by one, when it is their turn: they are the same, redirects included.
#[test]
fn regression_issue_41_a_long_list_is_sent_like_a_short_one() {
    let (peers, _heard) = channel();
    let url = server(peers, serve);
    let path = |at: usize| {
        if at.is_multiple_of(2) { format!("{url}/{at}") } else { format!("{url}/start") }
    };
    let rows = |len: usize| {
        let list = (0..len).map(|at| target(&path(at))).collect();
        let settings = Settings { rows: true, ..Settings::default() };
        let (batches, last) = follow(plan(list), &settings, None);
        assert_eq!((last.generator.sent, last.generator.server_here), (25, true));
        let hits = batches.iter().flat_map(|batch| &batch.samples);
        let mut rows: Vec<_> = hits.map(|hit| (hit.seq, hit.target, hit.outcome.code())).collect();
        rows.sort_unstable();
        rows
    };
    assert_eq!(rows(10_050), rows(50));
}

#[test]
fn hits_that_were_due_and_had_a_lazy_target_are_not_sent() {
    let (peers, _heard) = channel();
    let url = server(peers, std::mem::forget);
    let shape = Shape::constant(Rate::per_second(50));
    let load = Load::Open { shape, max_in_flight: Some(1) };
    let lazy = (0..20).map(move |_| Ok(target(&url)));
    let settings = Settings { timeout: Some(Nanos::from_secs(1)), ..Settings::default() };
    let plan = Plan { load, ..plan(Vec::new()) };
    let (_, last) = follow(plan, &settings, Some(Box::new(lazy)));
    // Twenty-five fell due; one was under way all the time, and for five there was no target.
    assert_eq!((last.generator.sent, last.generator.not_sent), (1, 19));
}

/// A server is asked by one worker alone where its share of the rate keeps no more busy.
#[test]
fn regression_issue_41_many_servers_have_one_pool_of_connections() {
    let (peers, _heard) = channel();
    let targets = (0..7).map(|_| target(&server(peers.clone(), serve))).collect();
    let shape = Shape::constant(Rate::per_second(350));
    let plan = Plan { load: Load::Open { shape, max_in_flight: None }, ..plan(targets) };
    let settings = Settings { workers: 4, ..Settings::default() };
    let connections = || {
        let (_, last) = follow(plan.clone(), &settings, None);
        assert_eq!((last.generator.sent, last.successes), (175, 175));
        last.generator.connections
    };
    // Where an answer comes late its server gets a second one, and all do where a worker is put aside.
    let fewest = [(); 5].map(|()| connections()).into_iter().min();
    assert!(fewest.is_some_and(|fewest| (7..=9).contains(&fewest)), "{fewest:?}");
}

#[test]
fn regression_issue_41_a_load_that_may_change_has_one_pool_until_it_is_raised() {
    let (peers, _heard) = channel();
    let plan = plan(vec![target(&server(peers, serve))]);
    let settings = Settings { workers: 3, load_may_change: true, ..Settings::default() };
    let connections = || {
        let run = Run::start(plan.clone(), &settings, None).expect("the run starts");
        let (_, last) = events(&run);
        assert_eq!((last.generator.sent, last.generator.workers), (25, 3));
        last.generator.connections
    };
    // A worker that is put aside sends several at once.
    let fewest = [(); 5].map(|()| connections()).into_iter().min();
    assert!(fewest.is_some_and(|fewest| (1..=2).contains(&fewest)), "{fewest:?}");
    let run = Run::start(plan, &settings, None).expect("the run starts");
    run.change_load(LoadChange::Rate(Rate::per_second(600))).expect("it may be raised");
    let (_, last) = events(&run);
    assert!(last.generator.sent > 200, "{}", last.generator.sent);
    assert!(last.generator.connections >= 3, "{}", last.generator.connections);
}

/// Every address of 127.0.0.0/8 is ours on Linux alone.
#[cfg(target_os = "linux")]
#[test]
fn local_addresses_take_turns_whatever_stays_open() {
    let (peers, heard) = channel();
    let url = server(peers, std::mem::forget);
    let local = |text: &str| text.parse::<IpAddr>().expect("an address");
    let settings = Settings {
        local_addrs: vec![local("127.0.0.2"), local("127.0.0.3")],
        timeout: Some(Nanos::from_secs(1)),
        ..Settings::default()
    };
    // No answer comes, so each hit has a connection of its own, made long after the one before it.
    let (_, last) = follow(plan(vec![target(&url)]), &settings, None);
    assert_eq!(last.generator.connections, 25);
    let from: Vec<IpAddr> = heard.try_iter().collect();
    assert_eq!(from.iter().filter(|ip| **ip == local("127.0.0.2")).count(), 13);
    assert_eq!(from.len(), 25);
}
