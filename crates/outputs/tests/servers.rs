//! Outputs against servers that take, refuse, answer rubbish, or never answer. What real servers make of them is tested with the
//! command, against a real Prometheus and a real InfluxDB.

#![expect(clippy::unwrap_used, reason = "a test says by a panic that it failed")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use metrics::tally::{Contains, Kind, MetricId};
use outputs::{Delivered, Environment, Sample};

/// What a server does with a request.
#[derive(Clone, Copy)]
enum Answer {
    Status(&'static str),
    Garbage,
    Nothing,
}

/// A request as it came: the head's first line and headers, and the body.
type Request = (String, Vec<u8>);

/// Serves HTTP on a free port; the answers come in turn, and then `204`.
fn serve(answers: &'static [Answer]) -> (String, Receiver<Request>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = listener.local_addr().unwrap().to_string();
    let (seen, requests) = channel();
    std::thread::spawn(move || {
        let mut answers = answers.iter();
        // Sockets that are never answered stay open.
        let mut open = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            while let Some(request) = read(&mut stream) {
                seen.send(request).ok();
                let answer = answers.next().unwrap_or(&Answer::Status("204 No Content"));
                let text = match answer {
                    Answer::Status(status) => {
                        let again =
                            if status.starts_with("429") { "retry-after: 0\r\n" } else { "" };
                        format!("HTTP/1.1 {status}\r\n{again}content-length: 0\r\n\r\n")
                    }
                    Answer::Garbage => "\0\0 what?\r\n\r\n".to_owned(),
                    Answer::Nothing => {
                        open.push(stream.try_clone().unwrap());
                        break;
                    }
                };
                stream.write_all(text.as_bytes()).unwrap();
                if matches!(answer, Answer::Garbage) {
                    break;
                }
            }
        }
    });
    (place, requests)
}

fn read(stream: &mut TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut len) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            len = value.trim().parse().unwrap();
        }
        if line == "\r\n" {
            break;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; len];
    reader.read_exact(&mut body).ok()?;
    Some((head, body))
}

/// Sends so many samples of each kind to an output; gives what came of it, and the lines for people.
fn sent(output: &str, of: &Environment, n: u32) -> (Delivered, Vec<String>) {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let said = Arc::clone(&lines);
    let opened = outputs::open(output, of, move |line| said.lock().unwrap().push(line.to_owned()));
    let mut exporter = opened.unwrap().unwrap();
    let tags = [("method".to_owned(), "GET".to_owned()), ("name".to_owned(), "home".to_owned())];
    for at in 0..n {
        let values = [
            (MetricId::HTTP_REQS, "http_reqs", Kind::Counter, Contains::Default, 1.0),
            (MetricId::VUS, "vus", Kind::Gauge, Contains::Default, f64::from(at)),
            (MetricId::CHECKS, "checks", Kind::Rate, Contains::Default, f64::from(at % 4).min(1.0)),
            (MetricId::HTTP_REQ_DURATION, "http_req_duration", Kind::Trend, Contains::Time, 20.0),
        ];
        for (metric, name, kind, contains, value) in values {
            let unix_ns = 1_700_000_000_000_000_000 + i64::from(at);
            let (tags, metadata) = (&tags[..], &[][..]);
            exporter.add(&Sample { metric, name, kind, contains, unix_ns, value, tags, metadata });
        }
        exporter.poll();
    }
    let delivered = exporter.finish();
    let lines = lines.lock().unwrap().clone();
    (delivered, lines)
}

fn url(place: &str) -> String {
    format!("experimental-prometheus-rw=http://user:secret@{place}/api/v1/write")
}

#[test]
fn a_server_that_is_busy_gets_it_again() {
    let answers = &[Answer::Status("429 Too Many Requests"), Answer::Status("503 Sorry")];
    let (place, requests) = serve(answers);
    let (delivered, lines) = sent(&url(&place), &Environment::default(), 8);
    assert_eq!((delivered.batches, delivered.lost), (1, 0));
    let all: Vec<Request> = requests.try_iter().collect();
    assert_eq!(all.len(), 3);
    assert!(all.iter().all(|request| request.1 == all[0].1));
    assert!(all[0].0.contains("x-prometheus-remote-write-version: 0.1.0"), "{}", all[0].0);
    assert!(
        lines.len() == 1 && lines[0].contains("429") && !lines[0].contains("secret"),
        "{lines:?}"
    );
    // What is written is readable: the names and the labels' values.
    let bytes = snap::raw::Decoder::new().decompress_vec(&all[0].1).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    for name in
        ["k6_http_reqs_total", "k6_vus", "k6_checks_rate", "k6_http_req_duration_p99", "home"]
    {
        assert!(text.contains(name), "{name}: {text}");
    }
}

#[test]
fn a_database_is_asked_for_until_the_server_answers() {
    for first in [Answer::Status("503 Starting"), Answer::Garbage] {
        let (place, requests) = serve(Box::leak(Box::new([first])));
        let output = format!("influxdb=http://{place}/load");
        let (delivered, _) = sent(&output, &Environment::default(), 8);
        assert_eq!((delivered.batches, delivered.lost), (1, 0));
        let heads: Vec<String> = requests.try_iter().map(|request| request.0).collect();
        let creates = |head: &&String| head.starts_with("POST /query?q=CREATE%20DATABASE");
        assert_eq!(heads.iter().take(2).filter(creates).count(), 2, "{heads:?}");
        assert!(heads.len() == 3 && heads[2].starts_with("POST /write?db=load"), "{heads:?}");
    }
}

/// InfluxDB that has just started says that it has made a database, and then does not know it.
#[test]
fn a_database_that_is_not_there_yet_is_asked_for_again() {
    let (place, requests) = serve(&[Answer::Status("200 OK"), Answer::Status("404 Not Found")]);
    let (delivered, lines) =
        sent(&format!("influxdb=http://{place}/load"), &Environment::default(), 8);
    assert_eq!((delivered.batches, delivered.lost), (1, 0), "{lines:?}");
    let heads = requests.try_iter().map(|request| request.0);
    let kinds: Vec<bool> = heads.map(|head| head.starts_with("POST /query?q=CREATE")).collect();
    assert_eq!(kinds, [true, false, true, false]);
}

#[test]
fn a_server_that_refuses_costs_a_line() {
    let (place, _requests) = serve(&[Answer::Status("400 Bad Request")]);
    let (delivered, lines) = sent(&url(&place), &Environment::default(), 8);
    assert_eq!((delivered.batches, delivered.lost, lines.len()), (1, 1, 1));
    let problem = delivered.problem().unwrap();
    assert!(problem.contains("1 of 1 batch not delivered") && problem.contains("400"), "{problem}");
    assert!(!problem.contains("secret"), "{problem}");
}

#[test]
fn rubbish_and_silence_end_in_time() {
    for answer in [&[Answer::Garbage, Answer::Status("200 OK")][..], &[Answer::Nothing; 9]] {
        let (place, _requests) = serve(answer);
        let began = Instant::now();
        let (delivered, _) = sent(&url(&place), &Environment::default(), 8);
        let is_silent = matches!(answer[0], Answer::Nothing);
        assert_eq!(delivered.lost, u64::from(is_silent), "{delivered:?}");
        assert!(began.elapsed() < Duration::from_secs(25), "{:?}", began.elapsed());
    }
}

#[test]
fn a_server_that_is_not_there_is_counted() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = taken.local_addr().unwrap().to_string();
    drop(taken);
    let began = Instant::now();
    let (delivered, lines) =
        sent(&format!("opentelemetry=grpc://{place}"), &Environment::default(), 4);
    assert_eq!((delivered.lost, lines.len()), (1, 2), "the failure, and the wait: {lines:?}");
    assert!(began.elapsed() < Duration::from_secs(25), "{:?}", began.elapsed());
}

/// A collector of OpenTelemetry: one call, over real HTTP/2. Gives its path, its headers and its message.
fn collector() -> (String, Receiver<(String, http::HeaderMap, Bytes)>) {
    let (place_sender, place) = channel();
    let (sender, calls) = channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            place_sender.send(listener.local_addr().unwrap().to_string()).unwrap();
            let (stream, _) = listener.accept().await.unwrap();
            let mut connection = h2::server::handshake(stream).await.unwrap();
            let (request, mut respond) = connection.accept().await.unwrap().unwrap();
            // The connection is driven while the body is read.
            tokio::spawn(async move { while connection.accept().await.is_some() {} });
            let (head, mut body) = request.into_parts();
            let mut message = Vec::new();
            while let Some(data) = body.data().await {
                let data = data.unwrap();
                body.flow_control().release_capacity(data.len()).unwrap();
                message.extend_from_slice(&data);
            }
            let answer = http::Response::builder().header("content-type", "application/grpc");
            let mut stream = respond.send_response(answer.body(()).unwrap(), false).unwrap();
            stream.send_data(Bytes::from_static(&[0; 5]), false).unwrap();
            let mut trailers = http::HeaderMap::new();
            trailers.insert("grpc-status", "0".parse().unwrap());
            stream.send_trailers(trailers).unwrap();
            sender.send((head.uri.path().to_owned(), head.headers, message.into())).unwrap();
            std::future::pending::<()>().await;
        });
    });
    (place.recv().unwrap(), calls)
}

#[test]
fn a_collector_gets_a_call_of_grpc() {
    let (place, calls) = collector();
    let variables = Environment::of(&[
        ("K6_OTEL_GRPC_EXPORTER_INSECURE", "true"),
        ("K6_OTEL_GRPC_EXPORTER_ENDPOINT", &place),
        ("K6_OTEL_METRIC_PREFIX", "k6_"),
        ("K6_OTEL_HEADERS", "x-scope=a%20b"),
    ]);
    let (delivered, lines) = sent("opentelemetry", &variables, 8);
    assert_eq!((delivered.batches, delivered.lost, lines.len()), (1, 0, 0), "{lines:?}");
    let (path, headers, message) = calls.recv().unwrap();
    assert_eq!(path, "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export");
    assert_eq!(
        (&headers["content-type"], &headers["x-scope"]),
        (&"application/grpc".parse().unwrap(), &"a b".parse().unwrap())
    );
    assert_eq!(message[0], 0);
    let len = u32::from_be_bytes(message[1..5].try_into().unwrap());
    assert_eq!(len as usize, message.len() - 5);
    // ExportMetricsServiceRequest.resource_metrics[0].scope_metrics[0].metrics
    let resource = fields(&message[5..]).remove(0).1;
    let scope = fields(&resource).into_iter().find(|(field, _)| *field == 2).unwrap().1;
    let metrics = fields(&scope).into_iter().filter(|(field, _)| *field == 2);
    let named: Vec<(String, Vec<u32>)> = metrics
        .map(|(_, metric)| {
            let parts = fields(&metric);
            let name = String::from_utf8(parts[0].1.clone()).unwrap();
            (name, parts[1..].iter().map(|(field, _)| *field).collect())
        })
        .collect();
    // Metric.sum is 7, gauge 5, exponential_histogram 10, unit 3.
    let expect = [
        ("k6_http_reqs", vec![7]),
        ("k6_vus", vec![5]),
        ("k6_checks.total", vec![7]),
        ("k6_http_req_duration", vec![3, 10]),
    ];
    assert_eq!(named, expect.map(|(name, parts)| (name.to_owned(), parts)));
}

/// The fields of a message: numbers of fixed and variable length as their bytes.
fn fields(mut bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let len = match key & 7 {
            0 => {
                let value = varint(&mut bytes);
                fields.push(((key >> 3) as u32, value.to_le_bytes().to_vec()));
                continue;
            }
            1 => 8,
            2 => varint(&mut bytes) as usize,
            other => panic!("wire type {other}"),
        };
        let (value, rest) = bytes.split_at(len);
        fields.push(((key >> 3) as u32, value.to_vec()));
        bytes = rest;
    }
    fields
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let byte = bytes[0];
        *bytes = &bytes[1..];
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return value;
        }
    }
    unreachable!()
}

#[test]
fn a_listener_of_statsd_gets_lines() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let place = socket.local_addr().unwrap();
    let (delivered, _) = sent(&format!("datadog={place}"), &Environment::default(), 2);
    assert_eq!(delivered.lost, 0);
    let mut bytes = [0; 2048];
    let len = socket.recv(&mut bytes).unwrap();
    let text = String::from_utf8_lossy(&bytes[..len]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 8);
    assert_eq!(lines[0], "k6.http_reqs:1|c|#method:GET,name:home");
    assert_eq!(lines[7], "k6.http_req_duration:20|ms|#method:GET,name:home");
}
