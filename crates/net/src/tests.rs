//! What a client asks of a real machine, of each backend alike, over loopback. Where the kernel refuses `io_uring` these
//! tests fail with its reason; `BRUNT_TEST_URING=0` says that it is meant to.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use stdx::Nanos;

use crate::{Address, Dial, Event, Io, IoFailure, Key, Progress, Reactor, Sock, Uring, Waker};

/// Runs a test on each backend.
fn on_each(test: impl Fn(&mut dyn Io, &Waker)) {
    let start = Instant::now();
    let mut reactor = Reactor::new(start).expect("a reactor");
    let waker = reactor.waker();
    test(&mut reactor, &waker);
    if cfg!(target_os = "linux") && std::env::var_os("BRUNT_TEST_URING").is_none_or(|v| v != "0") {
        let mut uring = Uring::new(start).expect("a ring");
        let waker = uring.waker();
        test(&mut uring, &waker);
    }
}

/// Turns the loop until `want` gives something, or five seconds passed.
fn turn_until<T>(
    io: &mut dyn Io,
    mut want: impl FnMut(&mut dyn Io, Option<Event>) -> Option<T>,
) -> T {
    let end = io.now() + Nanos::from_secs(5);
    while io.now() < end {
        io.wait(Some(end));
        let mut found = None;
        while let Some(event) = io.next_event() {
            found = found.or_else(|| want(io, Some(event)));
        }
        if let Some(found) = found.or_else(|| want(io, None)) {
            return found;
        }
    }
    panic!("nothing within five seconds")
}

/// One turn that does not sleep: what was sent is handed to the kernel.
fn turn(io: &mut dyn Io) -> Vec<Event> {
    io.wait(Some(Nanos::ZERO));
    std::iter::from_fn(|| io.next_event()).collect()
}

fn listener() -> (TcpListener, Address) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let to = Address::Ip(listener.local_addr().expect("its address"));
    (listener, to)
}

fn connect(io: &mut dyn Io, key: Key, to: &Address) -> Sock {
    let sock = io.open(key, Dial { to, from: None }).expect("opening");
    turn_until(io, |_, event| (event? == Event::Connected(key)).then_some(()));
    sock
}

fn connected_pair(io: &mut dyn Io) -> (Sock, TcpStream) {
    let (listener, to) = listener();
    let sock = connect(io, 1, &to);
    let (peer, _) = listener.accept().expect("the client");
    peer.set_read_timeout(Some(Duration::from_secs(5))).expect("a limit");
    (sock, peer)
}

/// Reads from a socket until `len` bytes are there.
fn read(io: &mut dyn Io, sock: Sock, len: usize) -> Vec<u8> {
    let (mut all, mut buf) = (Vec::new(), vec![0; 50_000]);
    loop {
        match io.recv(sock, &mut buf) {
            Progress::Bytes(n) if n > 0 => all.extend_from_slice(&buf[..n]),
            Progress::Later => turn_until(io, |_, event| event.map(drop)),
            other => panic!("{other:?} after {} bytes", all.len()),
        }
        if all.len() >= len {
            return all;
        }
    }
}

/// Waits for what ends a socket's reading.
fn read_end(io: &mut dyn Io, sock: Sock) -> Progress {
    let mut buf = [0; 64];
    turn_until(io, |io, _| match io.recv(sock, &mut buf) {
        Progress::Later => None,
        Progress::Bytes(n @ 1..) => panic!("{n} bytes"),
        end => Some(end),
    })
}

/// Bytes that are out of place nowhere unnoticed.
fn pattern(len: usize) -> Vec<u8> {
    let mut rng = stdx::Prng::new(len as u64);
    (0..len).map(|_| rng.next_u64() as u8).collect()
}

#[test]
fn tcp_carries_bytes_and_the_end() {
    on_each(|io, _| {
        let (sock, mut peer) = connected_pair(io);
        assert_eq!(io.send(sock, b"pi"), Progress::Bytes(2));
        assert_eq!(io.send(sock, b"ng"), Progress::Bytes(2));
        turn(io);
        let mut buf = [0; 4];
        peer.read_exact(&mut buf).expect("the request");
        assert_eq!(&buf, b"ping");
        assert_eq!(io.recv(sock, &mut buf), Progress::Later);
        peer.write_all(b"pong").expect("an answer");
        assert_eq!(read(io, sock, 4), b"pong");
        peer.shutdown(std::net::Shutdown::Write).expect("half a close");
        assert_eq!(read_end(io, sock), Progress::Bytes(0));
        // The other half is open still.
        assert_eq!(io.send(sock, b"bye"), Progress::Bytes(3));
        io.close(sock);
        turn(io);
        let mut rest = Vec::new();
        peer.read_to_end(&mut rest).expect("the end");
        assert_eq!(rest, b"bye", "what was accepted before the close is sent");
        assert!(matches!(io.send(sock, b"x"), Progress::Failed(_)), "it is closed");
        assert!(matches!(io.recv(sock, &mut buf), Progress::Failed(_)), "it is closed");
    });
}

#[test]
fn unix_sockets_carry_bytes_and_the_end() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("client.sock");
    let listener = UnixListener::bind(&path).expect("a path");
    on_each(|io, _| {
        let sock = connect(io, 3, &Address::Unix(path.clone()));
        let (mut peer, _) = listener.accept().expect("the client");
        io.send(sock, b"ping");
        turn(io);
        let mut buf = [0; 4];
        peer.read_exact(&mut buf).expect("the request");
        peer.write_all(&buf).expect("an answer");
        drop(peer);
        assert_eq!(read(io, sock, 4), b"ping");
        assert_eq!(read_end(io, sock), Progress::Bytes(0));
        io.close(sock);
    });
    std::fs::remove_file(&path).expect("it is ours");
}

#[test]
fn a_reset_is_reported_as_one() {
    on_each(|io, _| {
        let (sock, peer) = connected_pair(io);
        socket2::SockRef::from(&peer).set_linger(Some(Duration::ZERO)).expect("an option");
        drop(peer);
        assert_eq!(read_end(io, sock), Progress::Failed(IoFailure::Reset));
        io.close(sock);
        let (sock, mut peer) = connected_pair(io);
        io.reset(sock);
        turn(io);
        let error = peer.read(&mut [0; 1]).expect_err("no orderly end");
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    });
}

#[test]
fn a_send_that_fails_is_reported() {
    on_each(|io, _| {
        let (sock, peer) = connected_pair(io);
        socket2::SockRef::from(&peer).set_linger(Some(Duration::ZERO)).expect("an option");
        drop(peer);
        // The first may find the reset before us or not; what follows does.
        let failed = turn_until(io, |io, _| match io.send(sock, b"x") {
            Progress::Failed(failure) => Some(failure),
            _ => {
                turn(io);
                None
            }
        });
        assert!(matches!(failed, IoFailure::Reset | IoFailure::BrokenPipe), "{failed:?}");
    });
}

#[test]
fn a_closed_port_refuses() {
    on_each(|io, _| {
        let (listener, to) = listener();
        drop(listener);
        let told = match io.open(7, Dial { to: &to, from: None }) {
            Err(failure) => failure,
            Ok(_) => turn_until(io, |_, event| match event? {
                Event::Refused(7, failure) => Some(failure),
                other => panic!("unexpected {other:?}"),
            }),
        };
        assert_eq!(told, IoFailure::Refused);
    });
}

#[test]
fn regression_issue_41_a_unix_socket_says_why_it_cannot_be_reached() {
    let scratch = tempfile::tempdir().unwrap();
    let stale = scratch.path().join("stale");
    drop(std::os::unix::net::UnixListener::bind(&stale).unwrap());
    let stale_path = stale.display().to_string();
    on_each(|io, _| {
        let mut failed = |path: &str| {
            let to = Address::Unix(path.into());
            io.open(7, Dial { to: &to, from: None }).unwrap_err().to_string()
        };
        assert_eq!(failed("/nowhere/at all"), "no such file or directory");
        assert_eq!(failed("/"), "socket operation on non-socket");
        assert_eq!(failed("/etc/passwd"), "socket operation on non-socket");
        assert_eq!(failed("/etc/passwd/x"), "not a directory");
        assert_eq!(failed(&"/long".repeat(100)), "file name too long");
        assert_eq!(failed(&stale_path), "connection refused");
    });
    std::fs::remove_file(&stale).unwrap();
}

#[test]
fn a_wait_is_never_early_beyond_its_cut_and_names_are_answered() {
    crate::machine::make_timers_punctual();
    on_each(|io, _| {
        for step in [50u64, 500, 1_500] {
            let until = io.now() + Nanos::from_micros(step);
            // A thread that is put aside between these lines may have so little time left that it does not sleep.
            assert!(io.wait(Some(until)) + crate::reactor::SLEEP_MIN >= until, "{step} µs");
        }
        io.resolve(9, "127.0.0.1");
        assert_eq!(
            turn_until(io, |_, event| event),
            Event::Resolved(9, Ok(vec!["127.0.0.1".parse().expect("an address")]))
        );
    });
}

#[test]
fn another_thread_wakes_it_each_time() {
    on_each(|io, waker| {
        for _ in 0..3 {
            let waker = waker.clone();
            let thread = std::thread::spawn(move || waker.wake());
            turn_until(io, |_, event| (event? == Event::Woken).then_some(()));
            thread.join().expect("the waking thread");
        }
    });
}

#[test]
fn more_than_all_buffers_hold_comes_whole_and_starves_nobody() {
    const LEN: usize = 12 << 20;
    let body = pattern(LEN);
    on_each(|io, _| {
        let (greedy, mut sender) = connected_pair(io);
        let (modest, mut other) = connected_pair(io);
        let expected = body.clone();
        let thread = std::thread::spawn(move || sender.write_all(&expected));
        // The greedy socket is not read; the modest one gets its bytes.
        for _ in 0..200 {
            other.write_all(b"hello").expect("room");
            assert_eq!(read(io, modest, 5), b"hello");
        }
        assert!(read(io, greedy, LEN) == body, "bytes are missing or out of order");
        thread.join().expect("the sender").expect("all was sent");
        io.close(greedy);
        io.close(modest);
    });
}

#[test]
fn more_sockets_than_buffers_all_get_their_bytes() {
    const SOCKETS: u32 = 400;
    on_each(|io, _| {
        let (listener, to) = listener();
        let pairs: Vec<(Sock, TcpStream)> = (0..SOCKETS)
            .map(|key| {
                let sock = connect(io, key, &to);
                (sock, listener.accept().expect("the client").0)
            })
            .collect();
        for (_, peer) in &pairs {
            (&*peer).write_all(b"12345").expect("room");
        }
        // They wait unread, in our buffers or the kernel's.
        for _ in 0..10 {
            turn(io);
        }
        for (sock, _) in &pairs {
            assert_eq!(read(io, *sock, 5), b"12345");
        }
        pairs.iter().for_each(|(sock, _)| io.close(*sock));
    });
}

/// Answers that come one by one are all received into the same few buffers, however many there are.
#[cfg(target_os = "linux")]
#[test]
fn small_answers_touch_few_buffers() {
    if std::env::var_os("BRUNT_TEST_URING").is_some_and(|v| v == "0") {
        return;
    }
    let mut uring = Uring::new(Instant::now()).expect("a ring");
    let mut pairs: Vec<_> = (0..40).map(|_| connected_pair(&mut uring)).collect();
    for _ in 0..25 {
        for (sock, peer) in &mut pairs {
            peer.write_all(b"hello").expect("a write");
            assert_eq!(read(&mut uring, *sock, 5), b"hello");
        }
    }
    assert_eq!(uring.buffers_in_use(), 16, "1,000 answers");
    pairs.iter_mut().for_each(|(_, peer)| peer.write_all(b"hello").expect("a write"));
    pairs.iter().for_each(|(sock, _)| assert_eq!(read(&mut uring, *sock, 5), b"hello"));
    let more = uring.buffers_in_use();
    assert!((17..=128).contains(&more), "40 answers at once want more than 16: {more}");
}

/// Issue 19, S5: a kernel without memory for what was handed over ended the worker with a panic.
#[cfg(target_os = "linux")]
#[test]
fn a_kernel_that_refuses_is_asked_again() {
    if std::env::var_os("BRUNT_TEST_URING").is_some_and(|v| v == "0") {
        return;
    }
    let mut uring = Uring::new(Instant::now()).expect("a ring");
    let (listener, to) = listener();
    let (first, mut peer) = connected_pair(&mut uring);
    let (second, mut other) = connected_pair(&mut uring);
    turn(&mut uring);
    uring.refuse(u32::MAX);
    uring.send(first, b"he");
    uring.send(second, b"bye");
    for _ in 0..20 {
        turn(&mut uring);
    }
    // What the kernel has yet to read stays as it is, and the descriptor of a closed socket is given to no other.
    assert_eq!(uring.send(first, b"llo"), Progress::Later);
    uring.close(second);
    let third = uring.open(3, Dial { to: &to, from: None }).expect("opening");
    let begin = Instant::now();
    let soon = uring.now() + Nanos::from_millis(20);
    while uring.now() < soon {
        uring.wait(Some(soon));
        assert_eq!(uring.next_event(), None, "nothing came");
    }
    assert!(begin.elapsed() < Duration::from_secs(2), "time goes on for those who wait");
    uring.refuse(15);
    let (mut writable, mut connected) = (false, false);
    turn_until(&mut uring, |_, event| {
        writable |= matches!(event, Some(Event::Ready(1, ready)) if ready.writable);
        connected |= event == Some(Event::Connected(3));
        (writable && connected).then_some(())
    });
    assert_eq!(uring.send(first, b"llo"), Progress::Bytes(3));
    assert_eq!(uring.send(third, b"third"), Progress::Bytes(5));
    turn(&mut uring);
    let read = |peer: &mut TcpStream, len: usize| {
        let mut bytes = vec![0; len];
        peer.read_exact(&mut bytes).expect("what was sent");
        bytes
    };
    assert_eq!(read(&mut peer, 5), b"hello");
    assert_eq!(read(&mut other, 3), b"bye");
    assert_eq!(other.read(&mut [0]).expect("an end"), 0, "and then it was closed");
    let (mut third, _) = listener.accept().expect("the third");
    third.set_read_timeout(Some(Duration::from_secs(5))).expect("a limit");
    assert_eq!(read(&mut third, 5), b"third");
}

/// What does not fit into the kernel's queue while it refuses waits on this side, in its order.
#[cfg(target_os = "linux")]
#[test]
fn nothing_is_lost_to_a_kernel_that_refuses() {
    if std::env::var_os("BRUNT_TEST_URING").is_some_and(|v| v == "0") {
        return;
    }
    let mut uring = Uring::new(Instant::now()).expect("a ring");
    let (listener, to) = listener();
    listener.set_nonblocking(true).expect("a listener");
    turn(&mut uring);
    uring.refuse(u32::MAX);
    let keys = 0..300;
    let opened: Vec<_> = (keys.clone())
        .map(|key| uring.open(key, Dial { to: &to, from: None }).expect("opening"))
        .collect();
    assert_eq!(turn(&mut uring), []);
    uring.refuse(25);
    let (mut peers, mut missing) = (Vec::new(), keys.collect::<std::collections::BTreeSet<_>>());
    turn_until(&mut uring, |_, event| {
        peers.extend(std::iter::from_fn(|| listener.accept().ok()));
        if let Some(Event::Connected(key)) = event {
            assert!(missing.remove(&key), "{key}");
        }
        missing.is_empty().then_some(())
    });
    opened.into_iter().for_each(|sock| uring.close(sock));
}

/// More sockets than the ring has buffers, each held with bytes unread, leave room for one that is not.
#[test]
fn sockets_that_are_held_starve_nobody() {
    on_each(|io, _| {
        let mut held: Vec<_> = (0..300).map(|_| connected_pair(io)).collect();
        let (sock, mut peer) = connected_pair(io);
        for (_, peer) in &mut held {
            peer.write_all(&pattern(1_000)).expect("room");
        }
        for (sock, _) in &held {
            let mut first = [0];
            while io.recv(*sock, &mut first) == Progress::Later {
                turn_until(io, |_, event| event.map(drop));
            }
            assert_eq!(first[0], pattern(1_000)[0]);
            io.pause(*sock);
        }
        // Paused sockets give no events, though their peers send.
        for (_, peer) in &mut held {
            peer.write_all(&pattern(50_000)).expect("room");
        }
        for _ in 0..20 {
            peer.write_all(b"ping").expect("room");
            assert_eq!(read(io, sock, 4), b"ping");
        }
        for (sock, _) in held {
            io.resume(sock);
            let all = read(io, sock, 50_999);
            assert_eq!((&all[..999], &all[999..]), (&pattern(1_000)[1..], &pattern(50_000)[..]));
            io.close(sock);
        }
    });
}

#[test]
fn a_slow_reader_gets_all_in_order() {
    const LEN: usize = 16 << 20;
    let body = pattern(LEN);
    on_each(|io, _| {
        let (sock, mut peer) = connected_pair(io);
        let (mut from, mut full) = (0, false);
        let mut send = |io: &mut dyn Io| {
            while from < LEN {
                match io.send(sock, &body[from..LEN.min(from + 100_000)]) {
                    Progress::Bytes(n) => from += n,
                    Progress::Later => return true,
                    Progress::Failed(failure) => panic!("{failure}"),
                }
            }
            false
        };
        // Until neither the socket nor we take more, and no event says otherwise.
        for _ in 0..1_000 {
            full = send(io);
            if turn(io).is_empty() && full {
                break;
            }
        }
        assert!(full, "sixteen megabytes fit nowhere");
        let thread = std::thread::spawn(move || {
            let mut all = vec![0; LEN];
            peer.read_exact(&mut all).map(|()| all)
        });
        turn_until(io, |io, _| (!send(io)).then_some(()));
        // The last bytes are ours to hand over still; the reader has a limit of its own.
        while !thread.is_finished() {
            let soon = io.now() + Nanos::MILLI;
            io.wait(Some(soon));
            while io.next_event().is_some() {}
        }
        let all = thread.join().expect("the reader").expect("all of it");
        assert!(all == body, "bytes are missing or out of order");
        io.close(sock);
    });
}

#[test]
fn a_closed_socket_has_no_more_events() {
    on_each(|io, _| {
        let (listener, to) = listener();
        for round in 0..200 {
            let old = connect(io, 7, &to);
            let (mut peer, _) = listener.accept().expect("the client");
            io.send(old, b"request");
            turn(io);
            peer.write_all(b"old").expect("room");
            // The kernel may have the bytes for us already, and we may know of it.
            if round % 2 == 0 {
                turn(io);
            }
            io.close(old);
            let new = connect(io, 7, &to);
            let (mut peer, _) = listener.accept().expect("the client");
            peer.write_all(b"new").expect("room");
            assert_ne!(old, new);
            assert_eq!(read(io, new, 3), b"new");
            assert_eq!(read_end_of(io, new, peer), Progress::Bytes(0));
            io.close(new);
        }
        assert_eq!(turn(io), []);
    });
}

fn read_end_of(io: &mut dyn Io, sock: Sock, peer: TcpStream) -> Progress {
    drop(peer);
    read_end(io, sock)
}

#[test]
fn many_short_connections_leave_nothing_behind() {
    on_each(|io, _| {
        let (listener, to) = listener();
        let open = || std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        let before = open();
        for _ in 0..2_000 {
            let sock = connect(io, 1, &to);
            let (mut peer, _) = listener.accept().expect("the client");
            io.send(sock, b"x");
            turn(io);
            peer.read_exact(&mut [0; 1]).expect("the request");
            io.close(sock);
            turn(io);
            assert_eq!(peer.read(&mut [0; 1]).expect("an orderly end"), 0);
        }
        // Other tests open descriptors meanwhile, and not two thousand.
        assert!(open() < before + 1_500);
    });
}
