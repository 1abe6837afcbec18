//! The reactor against itself over loopback: what listens, and what only it does. As a client it is tested in
//! `src/tests.rs`, with `Uring`.

use super::*;

fn any_port() -> Address {
    Address::Ip("127.0.0.1:0".parse().expect("an address"))
}

/// Turns the reactor until `want` gives something, or five seconds passed.
fn turn_until<T>(
    reactor: &mut Reactor,
    mut want: impl FnMut(&mut Reactor, Event) -> Option<T>,
) -> T {
    let end = reactor.now() + Nanos::from_secs(5);
    while reactor.wait(Some(end)) < end {
        while let Some(event) = reactor.next_event() {
            if let Some(found) = want(reactor, event) {
                while reactor.next_event().is_some() {}
                return found;
            }
        }
    }
    panic!("nothing within five seconds")
}

fn connected_pair(reactor: &mut Reactor, address: &Address) -> (Sock, Sock) {
    let bound = reactor.listen(1, address).expect("listening");
    let client = reactor.open(2, Dial { to: &bound, from: None }).expect("opening");
    let (mut connected, mut server) = (false, None);
    let server = turn_until(reactor, |reactor, event| {
        match event {
            Event::Connected(2) => connected = true,
            Event::Accepted { listener: 1, sock } => {
                reactor.set_key(sock, 3);
                server = Some(sock);
            }
            other => panic!("unexpected {other:?}"),
        }
        server.filter(|_| connected)
    });
    (client, server)
}

fn check_exchange(address: &Address) {
    let mut reactor = Reactor::new(Instant::now()).expect("a reactor");
    let (client, server) = connected_pair(&mut reactor, address);
    assert_eq!(reactor.send(client, b"ping"), Progress::Bytes(4));
    let mut buf = [0; 64];
    turn_until(&mut reactor, |reactor, event| {
        let ready = matches!(event, Event::Ready(3, ready) if ready.readable);
        (ready && reactor.recv(server, &mut buf) == Progress::Bytes(4)).then_some(())
    });
    assert_eq!(&buf[..4], b"ping");
    assert_eq!(reactor.recv(server, &mut buf), Progress::Later);
    reactor.close(client);
    turn_until(&mut reactor, |reactor, event| {
        let closed = matches!(event, Event::Ready(3, ready) if ready.closed);
        (closed && reactor.recv(server, &mut buf) == Progress::Bytes(0)).then_some(())
    });
    assert!(matches!(reactor.send(client, b"x"), Progress::Failed(_)), "the client is closed");
}

#[test]
fn tcp_carries_bytes_and_the_end() {
    check_exchange(&any_port());
}

#[test]
fn unix_sockets_carry_bytes_and_the_end() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("reactor.sock");
    check_exchange(&Address::Unix(path.clone()));
    assert!(!path.exists(), "the listener removes its file");
}

#[test]
fn a_closed_socket_has_no_more_events() {
    let mut reactor = Reactor::new(Instant::now()).expect("a reactor");
    let server = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let to = Address::Ip(server.local_addr().expect("its address"));
    let client = reactor.open(7, Dial { to: &to, from: None }).expect("a socket");
    // The server's end comes with the connection: the reactor has two events for one notification.
    drop(server.accept().expect("a client"));
    let end = reactor.now() + Nanos::from_secs(5);
    reactor.wait(Some(end));
    assert_eq!(reactor.next_event(), Some(Event::Connected(7)));
    reactor.close(client);
    reactor.open(7, Dial { to: &to, from: None }).expect("the key's next socket");
    assert_eq!(reactor.next_event(), None);
}
