//! What the generator says of itself: nothing planned is lost, and a generator that was held up says so.

use std::time::Duration;

use demo::{Config, ServiceTime};
use serde_json::Value;
use stdx::Nanos;

use crate::{Scratch, brunt, run, server, signal, start, until};

fn generator(json: &Value) -> (u64, u64, u64) {
    let number = |key: &str| {
        json["brunt"]["generator"][key].as_u64().unwrap_or_else(|| panic!("{key} in {json}"))
    };
    (number("planned"), number("sent"), number("not_sent"))
}

#[test]
fn planned_is_sent_and_not_sent() {
    let slow = Config {
        workers: 1,
        service: ServiceTime::Fixed(Nanos::from_millis(50)),
        ..Config::default()
    };
    let (_server, url) = server(slow);
    let scratch = Scratch::new("planned");
    let targets = scratch.file("targets", format!("GET {url}/\n"));
    let lines = [
        "-rate=100 -duration=1s",
        "-rate=100 -duration=1s -max-workers=2",
        "-rate=0 -max-workers=4 -duration=1s",
        "-shape=linear:10..100 -duration=1s",
        "-shape=poisson -rate=50 -duration=1s -seed=3",
    ];
    for line in lines {
        let ran = run(&format!("attack -targets={targets} {line} -json")).with_code(0);
        let (planned, sent, not_sent) = generator(&ran.json());
        assert_eq!(planned, sent + not_sent, "{line}");
        assert_eq!(ran.json()["requests"], sent, "{line}: every hit begun has its result");
    }
}

#[test]
fn a_generator_that_was_stopped_is_invalid() {
    let (server, url) = server(Config::default());
    let scratch = Scratch::new("sigstop");
    let targets = scratch.file("targets", format!("GET {url}/\n"));
    let attack = start(brunt(&format!("attack -targets={targets} -rate=500 -duration=3s -json")));
    until("requests arrive", || server.stats().requests > 100);
    signal("STOP", attack.pid());
    std::thread::sleep(Duration::from_millis(300));
    signal("CONT", attack.pid());
    let json = attack.wait().with_code(0).json();
    assert_eq!(json["brunt"]["verdict"], "INVALID", "{json}");
    assert_eq!(json["requests"], 1500, "the hits due meanwhile were sent late, not left out");
    let max = json["latencies"]["max"].as_u64().unwrap();
    assert!(max >= 250_000_000, "their wait counts: {max}");
}

#[test]
fn a_rate_that_cannot_be_reached_is_invalid() {
    let (_server, url) = server(Config::default());
    let scratch = Scratch::new("unreachable");
    let targets = scratch.file("targets", format!("GET {url}/\n"));
    let args = format!("attack -targets={targets} -rate=2000000 -duration=500ms -cpus=1 -json");
    let json = run(&args).with_code(0).json();
    assert_eq!(json["brunt"]["verdict"], "INVALID", "{json}");
    let (planned, sent, not_sent) = generator(&json);
    assert_eq!(planned, 1_000_000);
    assert_eq!(planned, sent + not_sent);
    assert!(not_sent > 0, "{json}");
}

#[test]
fn a_stalled_server_shows_in_response_time_and_not_in_service_time() {
    let (server, url) = server(Config { workers: 1, ..Config::default() });
    let scratch = Scratch::new("stall");
    let targets = scratch.file("targets", format!("GET {url}/\n"));
    let args = format!("attack -targets={targets} -rate=200 -max-workers=1 -duration=3s -json");
    let attack = start(brunt(&args));
    until("requests arrive", || server.stats().requests > 100);
    server.freeze(Duration::from_millis(500));
    let json = attack.wait().with_code(0).json();
    // One request was under way in the stall; a hundred more were due and waited for it.
    let response = json["latencies"]["95th"].as_u64().unwrap();
    let service = json["brunt"]["service"]["95th"].as_u64().unwrap_or_else(|| panic!("{json}"));
    assert!(response > 100_000_000, "{json}");
    assert!(service < 100_000_000, "{json}");
}

#[test]
fn the_same_seed_gives_the_same_schedule() {
    let (_server, url) = server(Config::default());
    let scratch = Scratch::new("seed");
    let targets = scratch.file("targets", format!("GET {url}/a\nGET {url}/b\n"));
    let attack = |seed: u32| {
        let args = format!(
            "attack -targets={targets} -shape=poisson -rate=100 -duration=1s -seed={seed} -json"
        );
        generator(&run(&args).with_code(0).json()).0
    };
    let (one, again) = (attack(7), attack(7));
    assert_eq!(one, again);
    assert!(
        (8..40).any(|seed| attack_count_differs(&attack, seed, one)),
        "another seed, another schedule"
    );
}

fn attack_count_differs(attack: &impl Fn(u32) -> u64, seed: u32, count: u64) -> bool {
    attack(seed) != count
}

#[test]
fn fail_on_invalid_has_its_code() {
    let scratch = Scratch::new("fail-on-invalid");
    let (_server, url) = server(Config::default());
    let targets = scratch.file("targets", format!("GET {url}/\n"));
    let whole = crate::text(&scratch.path("r.arrow"));
    run(&format!("attack -targets={targets} -rate=50 -duration=500ms -output={whole}"))
        .with_code(0);
    let bytes = std::fs::read(&whole).unwrap();
    let cut = scratch.file("cut.arrow", &bytes[..bytes.len() - 9]);
    run(&format!("report {cut}")).with_code(0);
    let ran = run(&format!("report --fail-on-invalid {cut}")).with_code(5);
    assert!(ran.stdout.contains("INVALID: "));
}
