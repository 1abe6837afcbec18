//! A name server in the test's own thread, honest and hostile, on loopback.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};
use std::sync::Mutex;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::{Duration, Instant};

use simple_dns::rdata::{A, AAAA, CNAME, RData};
use simple_dns::{CLASS, Name, Packet, PacketFlag, QTYPE, RCODE, ResourceRecord, TYPE};
use stdx::Prng;

use super::client::Client;
use super::message::{Answer, Family, Query};
use super::resolver::{Source, answer_all};
use super::*;

/// How long a try may take in tests that wait for it to end.
const SHORT: Duration = Duration::from_millis(500);
/// How long anything may take in tests that do not.
const LONG: Duration = Duration::from_secs(20);

type Records = Vec<(&'static str, RData<'static>)>;

/// What the server answers; an empty list of messages is silence.
type Behaviour = fn(&Packet<'_>) -> Vec<Vec<u8>>;

/// A name server on UDP that ends when the test's process does.
fn serve(behaviour: Behaviour) -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a loopback port");
    let address = socket.local_addr().expect("an address");
    thread::spawn(move || {
        let mut buf = [0; 4096];
        while let Ok((len, from)) = socket.recv_from(&mut buf) {
            let query = Packet::parse(&buf[..len]).expect("our own question");
            assert!(query.has_flags(PacketFlag::RECURSION_DESIRED));
            for message in behaviour(&query) {
                socket.send_to(&message, from).expect("an answer");
            }
        }
    });
    address
}

/// An answer with these records, of the family that is asked for.
fn answer(query: &Packet<'_>, records: Records) -> Vec<u8> {
    let mut reply = Packet::new_reply(query.id());
    reply.questions.clone_from(&query.questions);
    let qtype = query.questions[0].qtype;
    for (owner, rdata) in records {
        let own = TYPE::CNAME == rdata.type_code() || qtype == QTYPE::TYPE(rdata.type_code());
        if own {
            let owner = Name::new(owner).expect("a name");
            reply.answers.push(ResourceRecord::new(owner, CLASS::IN, 60, rdata));
        }
    }
    reply.build_bytes_vec_compressed().expect("an answer")
}

fn coded(query: &Packet<'_>, rcode: RCODE) -> Vec<u8> {
    let mut reply = Packet::new_reply(query.id());
    reply.questions.clone_from(&query.questions);
    *reply.rcode_mut() = rcode;
    reply.build_bytes_vec().expect("an answer")
}

fn v4(last: u8) -> RData<'static> {
    RData::A(A::from(Ipv4Addr::new(192, 0, 2, last)))
}

fn v6(last: u16) -> RData<'static> {
    RData::AAAA(AAAA { address: Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, last).into() })
}

fn alias(to: &'static str) -> RData<'static> {
    RData::CNAME(CNAME(Name::new(to).expect("a name")))
}

fn ips(texts: &[&str]) -> Vec<IpAddr> {
    texts.iter().map(|text| text.parse().expect("an address")).collect()
}

fn lookup(server: SocketAddr, name: &str, timeout: Duration) -> Result<Vec<IpAddr>, String> {
    Client::with_timeout(vec![server], timeout).lookup(name)
}

#[test]
fn both_families_and_aliases() {
    let dual =
        serve(|q| vec![answer(q, vec![("a.test", v4(1)), ("a.test", v4(2)), ("a.test", v6(3))])]);
    let expect = ips(&["192.0.2.1", "192.0.2.2", "2001:db8::3"]);
    assert_eq!(lookup(dual, "a.test", LONG), Ok(expect.clone()));
    assert_eq!(lookup(dual, "A.Test.", LONG), Ok(expect));

    let aliased = serve(|q| {
        let records = vec![
            ("end.test", v4(4)),
            ("other.test", v4(9)),
            ("b.test", alias("end.test")),
            ("a.test", alias("B.test")),
        ];
        vec![answer(q, records)]
    });
    assert_eq!(lookup(aliased, "a.test", LONG), Ok(ips(&["192.0.2.4"])));
}

#[test]
fn absent_names_say_so_as_go_does() {
    let absent = serve(|q| vec![coded(q, RCODE::NameError)]);
    let empty = serve(|q| vec![answer(q, vec![("other.test", v4(1))])]);
    let round = serve(|q| vec![answer(q, vec![("a.test", alias("a.test"))])]);
    for server in [absent, empty, round] {
        let error = format!("lookup a.test on {server}: no such host");
        assert_eq!(lookup(server, "a.test", LONG), Err(error));
    }
    let broken = serve(|q| vec![coded(q, RCODE::ServerFailure)]);
    let error = format!("lookup a.test on {broken}: server misbehaving");
    assert_eq!(lookup(broken, "a.test", LONG), Err(error));
    for name in ["", "a..test", &format!("{}.test", "x".repeat(64)), &"a.".repeat(200)] {
        assert_eq!(lookup(absent, name, LONG), Err(format!("lookup {name}: no such host")));
    }
}

#[test]
fn silence_is_a_timeout_and_the_next_server_is_asked() {
    let silent = serve(|_| Vec::new());
    let begun = Instant::now();
    let error = format!("lookup a.test on {silent}: i/o timeout");
    assert_eq!(lookup(silent, "a.test", SHORT), Err(error));
    assert!((2 * SHORT..LONG).contains(&begun.elapsed()), "two tries");
    let good = serve(|q| vec![answer(q, vec![("a.test", v4(1))])]);
    let client = Client::with_timeout(vec![silent, good], SHORT);
    for _ in 0..2 {
        assert_eq!(client.lookup("a.test"), Ok(ips(&["192.0.2.1"])));
    }
}

#[test]
fn one_family_is_enough() {
    let half = serve(|q| match q.questions[0].qtype {
        QTYPE::TYPE(TYPE::AAAA) => Vec::new(),
        _ => vec![answer(q, vec![("a.test", v4(1))])],
    });
    assert_eq!(lookup(half, "a.test", SHORT), Ok(ips(&["192.0.2.1"])));
}

#[test]
fn false_answers_are_passed_over() {
    let hostile = serve(|q| {
        let mut wrong_id = answer(q, vec![("a.test", v4(66))]);
        wrong_id[0] ^= 1;
        let mut other_question = Packet::new_reply(q.id());
        other_question.questions.clone_from(&q.questions);
        other_question.questions[0].qname = Name::new("evil.test").expect("a name");
        let name = Name::new("a.test").expect("a name");
        other_question.answers.push(ResourceRecord::new(name, CLASS::IN, 60, v4(66)));
        let other_question = other_question.build_bytes_vec().expect("an answer");
        let question_back = q.build_bytes_vec().expect("our question");
        let mut many = answer(q, Vec::new());
        many[6..12].fill(0xff);
        let mut looped = answer(q, Vec::new());
        looped[7] = 1;
        let here = u8::try_from(looped.len()).expect("short");
        looped.extend([0xc0, here, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 1, 2, 3, 4]);
        let good = answer(q, vec![("a.test", v4(1))]);
        let short = good[..good.len() - 1].to_vec();
        vec![vec![], vec![0; 3], wrong_id, other_question, question_back, many, looped, short, good]
    });
    // `short` of the A answer lacks a byte of its record; that of the empty AAAA answer lacks one of its question.
    assert_eq!(lookup(hostile, "a.test", LONG), Ok(ips(&["192.0.2.1"])));
}

#[test]
fn no_message_is_a_panic_or_an_answer_to_another() {
    let query = Query { name: "a.test", family: Family::V4, id: 0x1234 };
    let question = query.encode().expect("a name");
    let asked = Packet::parse(&question).expect("our question");
    let good = answer(&asked, vec![("a.test", alias("b.test")), ("b.test", v4(1))]);
    assert_eq!(query.decode(&good), Some(Answer::Addresses(ips(&["192.0.2.1"]))));
    let mut rng = Prng::new(53);
    for round in 0..20_000 {
        let mut bytes = good.clone();
        if round % 4 == 0 {
            bytes = (0..rng.below(80)).map(|_| rng.next_u64() as u8).collect();
        }
        for _ in 0..rng.below(4) {
            if let Some(index) = (!bytes.is_empty()).then(|| rng.below(bytes.len() as u64)) {
                bytes[index as usize] = rng.next_u64() as u8;
            }
        }
        bytes.truncate(rng.below(bytes.len() as u64 + 1) as usize);
        let mark = bytes.get(..2) == Some(&[0x12, 0x34]);
        if let Some(Answer::Addresses(found)) = query.decode(&bytes) {
            assert!(mark && found.len() <= 1);
        }
    }
}

/// Answers over UDP that they were cut off, and over TCP with so many addresses.
fn serve_cut_off(tcp: TcpListener, count: u8) -> SocketAddr {
    let address = tcp.local_addr().expect("an address");
    let udp = UdpSocket::bind(address).expect("the same port");
    thread::spawn(move || {
        let mut buf = [0; 512];
        while let Ok((len, from)) = udp.recv_from(&mut buf) {
            buf[2] |= 0x82; // QR and TC.
            udp.send_to(&buf[..len], from).expect("an answer");
        }
    });
    thread::spawn(move || {
        for stream in tcp.incoming() {
            let mut stream = stream.expect("a connection");
            let mut len = [0; 2];
            stream.read_exact(&mut len).expect("a length");
            let mut query = vec![0; usize::from(u16::from_be_bytes(len))];
            stream.read_exact(&mut query).expect("a question");
            let query = Packet::parse(&query).expect("our question");
            let reply = answer(&query, (0..count).map(|n| ("a.test", v4(n))).collect());
            let len = u16::try_from(reply.len()).expect("short").to_be_bytes();
            stream.write_all(&[&len, reply.as_slice()].concat()).expect("an answer");
        }
    });
    address
}

#[test]
fn cut_off_answers_are_asked_for_over_tcp() {
    let tcp = TcpListener::bind("127.0.0.1:0").expect("a loopback port");
    let server = serve_cut_off(tcp, 100);
    let resolver = Resolver::start(vec![server]).expect("threads");
    let found = ask(&resolver, "a.test").expect("addresses");
    assert_eq!(found.len(), Resolver::ADDRESSES_MAX);
    assert_eq!(found[..2], ips(&["192.0.2.0", "192.0.2.1"]));
}

fn ask(resolver: &Resolver, name: &str) -> Result<Vec<IpAddr>, String> {
    let (reply, answer) = sync_channel(64);
    resolver.ask(name, Box::new(move |found| reply.send(found).expect("the test waits")));
    answer.recv_timeout(LONG).expect("every question is answered")
}

#[test]
fn literals_and_localhost_need_no_server() {
    let closed = UdpSocket::bind("127.0.0.1:0").expect("a loopback port");
    let nobody = closed.local_addr().expect("an address");
    drop(closed);
    let resolver = Resolver::start(vec![nobody]).expect("threads");
    for (name, ip) in [("192.0.2.7", "192.0.2.7"), ("::1", "::1"), ("[2001:db8::1]", "2001:db8::1")]
    {
        assert_eq!(ask(&resolver, name), Ok(ips(&[ip])));
    }
    for name in ["localhost", "LocalHost.", "www.localhost"] {
        assert_eq!(ask(&resolver, name), Ok(ips(&["127.0.0.1", "::1"])));
    }
    let error = format!("lookup a.test on {nobody}: connection refused");
    assert_eq!(ask(&resolver, "a.test"), Err(error));
}

#[test]
fn the_queue_is_bounded_and_every_question_is_answered() {
    let silent = serve(|_| Vec::new());
    let (questions, waiting) = sync_channel(2);
    let resolver = Resolver { questions };
    let (reply, answers) = sync_channel(64);
    for _ in 0..5 {
        let reply = reply.clone();
        resolver.ask("a.test", Box::new(move |found| reply.send(found).expect("the test waits")));
    }
    let full = Err("lookup a.test: too many lookups under way".to_owned());
    assert_eq!(answers.try_iter().collect::<Vec<_>>(), vec![full; 3]);
    drop(resolver);
    let source = Source::Servers(Client::with_timeout(vec![silent], SHORT / 10));
    answer_all(&Mutex::new(waiting), &source);
    let timed_out = Err(format!("lookup a.test on {silent}: i/o timeout"));
    assert_eq!(answers.try_iter().collect::<Vec<_>>(), vec![timed_out; 2]);
}

#[test]
fn the_system_knows_localhost() {
    let resolver = Resolver::start(Vec::new()).expect("threads");
    assert!(ask(&resolver, "localhost").expect("addresses").iter().all(IpAddr::is_loopback));
}
