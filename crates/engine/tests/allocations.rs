//! After the start, a worker on the keep-alive path allocates nothing: neither at a rate nor as a closed loop, whichever way
//! it waits for its sockets.
//!
//! The whole process is counted, so the server and the owner of the run must be as quiet: the server answers from
//! fixed buffers, and the owner sleeps.

use std::alloc::System;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use engine::{IoChoice, Run, RunEvent, Settings};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use stdx::Nanos;
use workload::arrival::{Rate, Shape};
use workload::{Load, Plan, Target, Targets};

#[global_allocator]
static GLOBAL: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const ANSWER: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\nServer: quiet\r\n\r\nhello world\n";

/// Answers every request that arrives whole in one read.
fn serve(mut conn: TcpStream) {
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = conn.read(&mut buffer) {
        assert!(buffer[..read].ends_with(b"\r\n\r\n"), "a request in pieces");
        if conn.write_all(ANSWER).is_err() {
            return;
        }
    }
}

fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    std::thread::spawn(move || {
        for conn in listener.incoming().flatten() {
            conn.set_nodelay(true).expect("no delay");
            std::thread::spawn(|| serve(conn));
        }
    });
    format!("http://{address}/")
}

fn plan(url: &str, load: Load) -> Plan {
    let target = Target {
        method: "GET".to_owned(),
        url: url.to_owned(),
        headers: vec![("Accept".to_owned(), "*/*".to_owned())],
        body: [].into(),
        weight: 1,
        name: String::new(),
    };
    Plan {
        warmup: stdx::Nanos::ZERO,
        think: stdx::Distribution::None,
        name: "quiet".to_owned(),
        load,
        duration: Some(Nanos::from_secs(30)),
        hits_max: None,
        targets: Targets::new(vec![target]),
        seed: 1,
        part: None,
    }
}

/// Takes the run's messages, and gives rows back; the hits that progress reported.
fn follow(run: &Run, time: Duration) -> u64 {
    let (mut hits, until) = (0, Instant::now() + time);
    while let Some(left) = until.checked_duration_since(Instant::now()) {
        match run.next_event(left) {
            Some(RunEvent::Rows(batch)) => run.recycle(batch),
            Some(RunEvent::Progress(told)) => hits += told.response.count(),
            _ => {}
        }
    }
    hits
}

/// What `during` allocated, in this whole process.
fn allocations(during: impl FnOnce()) -> usize {
    let region = Region::new(GLOBAL);
    during();
    let change = region.change();
    change.allocations + change.reallocations
}

/// The owner sleeps meanwhile, for longer than the second after which rows and counts are handed on.
fn check(load: Load, rows: bool, io: IoChoice) {
    // A connection a worker: a hiccup of the machine opens no more in mid-run.
    let settings =
        Settings { workers: 2, max_connections: Some(2), rows, io, ..Settings::default() };
    let run = Run::start(plan(&server(), load), &settings, None).expect("the run starts");
    // A hiccup of the machine may grow a table, once: then what follows must go without.
    let mut made = Vec::new();
    while made.last() != Some(&0) && made.len() < 3 {
        assert!(follow(&run, Duration::from_millis(2500)) > 1000);
        made.push(allocations(|| std::thread::sleep(Duration::from_millis(1200))));
    }
    assert_eq!(made.last(), Some(&0), "{io:?}: {made:?}");
    assert!(made.iter().sum::<usize>() <= 2, "{io:?}: {made:?}");
    assert!(follow(&run, Duration::from_millis(1500)) > 1000, "hits were under way");
}

#[test]
fn workers_under_way_allocate_nothing() {
    let uring = cfg!(target_os = "linux").then_some(IoChoice::Uring);
    for io in [Some(IoChoice::Reactor), uring].into_iter().flatten() {
        // 3600 rows a worker wait for the owner, in fewer batches than each worker has.
        let shape = Shape::constant(Rate::per_second(6000));
        check(Load::Open { shape, max_in_flight: None }, true, io);
        // Flat out no owner that sleeps gives batches back in time.
        check(Load::Closed { users: 4 }, false, io);
    }
}
