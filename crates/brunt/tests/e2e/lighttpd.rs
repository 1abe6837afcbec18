//! Seed 002 in small: a real lighttpd before three single-threaded servers, balanced by hash, in turn, and fairly; its five
//! figures drawn as bars by one command.

use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

use demo::{Config, Server, ServiceTime};

use crate::{Scratch, Started, brunt, free_port, run, server, start, text, until};

/// What a Mongrel's place is taken by: one worker that sleeps, so that two cores do not limit three of them, and a page as
/// long as the seed's.
fn mongrel() -> (Server, u16) {
    let service = ServiceTime::parse("fixed:4ms").unwrap();
    let body = stdx::Bytes(2495);
    let (server, url) = server(Config { workers: 1, service, body, ..Config::default() });
    let port = url.rsplit(':').next().unwrap().parse().unwrap();
    (server, port)
}

/// A running lighttpd; ended by its number when dropped.
fn proxy(scratch: &Scratch, balance: &str, behind: &[u16]) -> (Started, u16) {
    let binary = ["/usr/sbin/lighttpd", "/usr/bin/lighttpd", "/usr/local/sbin/lighttpd"]
        .into_iter()
        .find(|path| Path::new(path).exists())
        .expect("this test needs a real lighttpd: apt-get install -y lighttpd");
    let (port, dir) = (free_port(), text(&scratch.0));
    let hosts: Vec<String> = behind
        .iter()
        .map(|port| format!("( \"host\" => \"127.0.0.1\", \"port\" => {port} )"))
        .collect();
    let config = format!(
        "server.modules = ( \"mod_proxy\" )\nserver.document-root = \"{dir}\"\nserver.bind = \"127.0.0.1\"\nserver.port = {port}\n\
         server.errorlog = \"{dir}/{balance}.log\"\nserver.max-keep-alive-requests = 100000\n\
         proxy.balance = \"{balance}\"\nproxy.server = ( \"\" => ( {} ) )\n",
        hosts.join(", ")
    );
    let config = scratch.file(&format!("{balance}.conf"), config);
    let mut command = Command::new(binary);
    command.args(["-D", "-f", &config]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let process = start(command);
    until("lighttpd listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    (process, port)
}

/// The `low`, `median` or `high` value of a label's runs.
fn bar(json: &serde_json::Value, metric: &str, label: &str, which: &str) -> f64 {
    let charts = json["metrics"].as_array().unwrap();
    let chart = charts.iter().find(|chart| chart["name"] == metric).unwrap();
    let bars = chart["bars"].as_array().unwrap();
    bars.iter().find(|bar| bar["label"] == label).unwrap()[which].as_f64().unwrap()
}

#[test]
fn the_seeds_order_and_its_five_figures() {
    let scratch = Scratch::new("lighttpd");
    let (servers, ports): (Vec<Server>, Vec<u16>) = (0..3).map(|_| mongrel()).unzip();
    let mut line = "plot -bars=rate,duration,transfer,longest,median -json".to_owned();
    let variants = ["hash", "round-robin", "fair"];
    let proxies: Vec<(Started, u16)> =
        variants.iter().map(|balance| proxy(&scratch, balance, &ports)).collect();
    // Other tests load the machine meanwhile, so the variants take turns, three times.
    for (turn, at) in (0..9).map(|run| (run / 3, run % 3)) {
        let (balance, port) = (variants[at], proxies[at].1);
        let before: Vec<u64> = servers.iter().map(|server| server.stats().requests).collect();
        let file = text(&scratch.path(&format!("{balance}-{turn}.arrow")));
        run(&format!("bench -n 1000 -c 50 -q -output={file} http://127.0.0.1:{port}/"))
            .with_code(0);
        line.push_str(&format!(" {balance}={file}"));
        let served = servers.iter().zip(before).map(|(server, n)| server.stats().requests - n);
        let mut served: Vec<u64> = served.collect();
        served.sort_unstable();
        // One URL is one hash, so one server does all of it.
        let spread = if balance == "hash" { served == [0, 0, 1000] } else { served[0] > 250 };
        assert!(spread, "{balance}: {served:?}");
    }
    let page = scratch.path("bars.html");
    let mut command = brunt(&format!("{line} -output={}", text(&page)));
    command.args(["-value", "load average:hash=1.15,round-robin=3.15,fair=3.28"]);
    let json = start(command).wait().with_code(0).json();
    // The two that share the work are alike, and which of them is ahead is noise; hash has one server of three.
    // The best of each variant's runs are compared: what disturbs a run makes it slower, and never faster.
    for balance in ["round-robin", "fair"] {
        for (metric, best) in [("rate", "high"), ("transfer", "high")] {
            let [shared, one] = [balance, "hash"].map(|label| bar(&json, metric, label, best));
            assert!(shared > 1.7 * one, "{metric}, {balance}: {json}");
        }
        for (metric, best) in [("duration", "low"), ("median", "low")] {
            let [shared, one] = [balance, "hash"].map(|label| bar(&json, metric, label, best));
            assert!(shared * 1.7 < one, "{metric}, {balance}: {json}");
        }
    }
    // 1,000 pages of 2,495 bytes and their heads.
    let kilobytes = bar(&json, "transfer", "fair", "high") * bar(&json, "duration", "fair", "low");
    assert!((2436.0..2850.0).contains(&kilobytes), "{kilobytes}");
    let page = std::fs::read_to_string(page).unwrap();
    assert_eq!(page.matches("<section class=\"card\"><svg").count(), 6);
    for title in ["Requests per second", "Total time taken", "Transfer rate", "Longest request"] {
        assert!(page.contains(title), "{title}");
    }
}
