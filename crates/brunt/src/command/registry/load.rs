//! Commands that offer load of their own.

use cli::{CommandSpec, rows_of};

use crate::load;

/// `attack`.
pub(super) const ATTACK: CommandSpec = CommandSpec {
    name: "attack",
    summary: "Send requests at a rate, or as users, and stream the results.",
    operands: "[URL…]",
    about: load::attack::ABOUT,
    examples: &[
        (
            "brunt attack -rate=50 -duration=10s -output=results.arrow http://localhost:8080/",
            "50 requests a second for 10 s",
        ),
        (
            "echo \"GET http://localhost:8080/\" | brunt attack -duration=5s | tee -i results.bin | brunt report",
            "50 requests a second for 5 s, saved and reported",
        ),
        (
            "brunt attack -targets=targets -rate=200 -duration=1m -output=results.arrow",
            "a file of targets in turn",
        ),
        (
            "echo \"GET http://localhost:8080/\" | brunt attack -rate=0 -max-workers=64 -duration=10s",
            "a closed loop of 64 users",
        ),
        (
            "echo \"GET http://localhost:8080/\" | brunt attack -shape=linear:10..500 -duration=2m -output=ramp.arrow",
            "a ramp from 10 to 500 a second",
        ),
    ],
    rows: || rows_of(load::attack::flags::FLAGS),
    run: load::attack::run,
    validate: Some(load::attack::validate),
};

/// `bench`.
pub(super) const BENCH: CommandSpec = CommandSpec {
    name: "bench",
    summary: "Send requests over N connections as fast as they are answered.",
    operands: "[URL]",
    about: load::bench::ABOUT,
    examples: &[
        ("brunt bench -c 64 http://localhost:8080/", "64 connections for 10 s"),
        (
            "brunt bench -c 8 -n 10000 -no-keepalive http://localhost:8080/",
            "10,000 requests, each on a new connection",
        ),
        (
            "brunt bench -c 16 -d 1m -targets=targets -output=bench.arrow",
            "a file of targets in turn, results saved",
        ),
    ],
    rows: || rows_of(load::bench::flags::FLAGS),
    run: load::bench::run,
    validate: Some(load::bench::validate),
};

/// `grpc`.
pub(super) const GRPC: CommandSpec = CommandSpec {
    name: "grpc",
    summary: "Call a method of gRPC at a rate, or as workers; list and describe what a server offers.",
    operands: "HOST:PORT | list HOST:PORT [SERVICE] | describe HOST:PORT [SYMBOL]",
    about: load::grpc::ABOUT,
    examples: &[
        ("brunt grpc list localhost:50051 -plaintext", "the services of a server"),
        (
            "brunt grpc describe localhost:50051 shop.v1.Shop.Buy -plaintext -template",
            "a method, and an example of its message",
        ),
        (
            "brunt grpc localhost:50051 -plaintext -call shop.v1.Shop/Buy -data '{\"item\": \"tea\"}' -rate=200 -duration=30s",
            "200 calls a second for 30 s",
        ),
        (
            "brunt grpc localhost:50051 -plaintext -call shop.v1.Shop/Buy -data '{\"id\": \"{{newUUID}}\"}' -workers=50 -n 10000",
            "10,000 calls of 50 workers over one connection, each with an id of its own",
        ),
        (
            "brunt grpc shop.example:443 -proto shop.proto -call shop.v1.Shop/Buy -data @messages.json -fail-on 'status.UNAVAILABLE>0, p95>50ms'",
            "over TLS, without reflection, a file of messages in turn",
        ),
    ],
    rows: || rows_of(load::grpc::flags::FLAGS),
    run: load::grpc::run,
    validate: Some(load::grpc::validate),
};

/// `seek`.
pub(super) const SEEK: CommandSpec = CommandSpec {
    name: "seek",
    summary: "Find the highest rate, or number of connections or users, that meets an objective.",
    operands: "[URL | SCRIPT.js]",
    about: load::seek::ABOUT,
    examples: &[
        ("brunt seek http://localhost:8080/", "the highest rate with p95<500ms"),
        (
            "brunt seek -objective='p99<250ms, errors<0.1%' http://localhost:8080/",
            "the highest rate, with its interval",
        ),
        (
            "brunt seek -by=connections -objective='p95<50ms' -plot=curve.html http://localhost:8080/",
            "the most users of a closed loop, and the curve",
        ),
        (
            "brunt seek -objective='p95<300ms' -budget=2m http://localhost:8080/",
            "the best answer that two minutes give",
        ),
        (
            "brunt seek -objective='p99<1s' -step=1m -precision=2% -state=seek.json http://localhost:8080/",
            "a longer search that can be interrupted and continued",
        ),
        (
            "brunt seek -budget=5m -watch-port=3000 -e HOST=http://localhost:3000 login.js",
            "how often a second a script may begin, and what limits the server",
        ),
    ],
    rows: || rows_of(load::seek::flags::FLAGS),
    run: load::seek::run,
    validate: Some(load::seek::validate),
};

/// `cable`.
pub(super) const CABLE: CommandSpec = CommandSpec {
    name: "cable",
    summary: "Test Action Cable: echo, broadcast, idle sockets, thundering herds.",
    operands: "echo|broadcast|idle|herd URL",
    about: load::cable::ABOUT,
    examples: &[
        (
            "brunt cable echo ws://localhost:3000/cable -channel ChatChannel -params '{\"id\":\"demo\"}' -users 20",
            "20 users, each sends a message a second and waits for it",
        ),
        (
            "brunt cable broadcast ws://localhost:3000/cable -channel ChatChannel -params '{\"id\":\"demo\"}' \
             -users 200 -rate 10 -cookies 'uid=Kay{user}/{user}' -fail-on-loss",
            "does every user get every message?",
        ),
        (
            "brunt cable herd ws://localhost:3000/cable -channel ChatChannel -users 5000 -cuts 3 -jitter 5s",
            "5,000 users reconnect three times",
        ),
    ],
    rows: || rows_of(load::cable::flags::FLAGS),
    run: load::cable::run,
    validate: Some(load::cable::validate),
};
