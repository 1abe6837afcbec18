//! Seed 002 in small: a real lighttpd before three real Pumas of one thread, balanced by hash, in turn, and fairly, measured
//! with ab's command line; its five figures drawn as bars by one command.

use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::puma::Puma;
use crate::{Scratch, Started, brunt, free_port, run, start, text, until};

/// Requests of one run; the seed's were 2,000.
const REQUESTS: u64 = 600;

/// Stands in for a Mongrel: one thread that sleeps, so that two cores do not limit three of them, and a page as long as the
/// seed's. It keeps count of its requests in a file.
const APP: &str = "count = 0
run ->(_) { File.write('count', count += 1); sleep 0.004; [200, { 'content-type' => 'text/html' }, ['x' * 2495]] }
";

/// How many requests it served.
fn served(mongrel: &Puma) -> u64 {
    let count = std::fs::read_to_string(mongrel.scratch.path("count")).unwrap_or_default();
    count.parse().unwrap_or(0)
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
    let mongrels =
        ["mongrel-1", "mongrel-2", "mongrel-3"].map(|name| Puma::start(name, APP, "1:1"));
    let ports = mongrels.each_ref().map(|mongrel| mongrel.port);
    let mut line = "plot -bars=rate,duration,transfer,longest,median -json".to_owned();
    let variants = ["hash", "round-robin", "fair"];
    let proxies: Vec<(Started, u16)> =
        variants.iter().map(|balance| proxy(&scratch, balance, &ports)).collect();
    // Other tests load the machine meanwhile, so the variants take turns, three times.
    for (turn, at) in (0..9).map(|run| (run / 3, run % 3)) {
        let (balance, port) = (variants[at], proxies[at].1);
        let before = mongrels.each_ref().map(served);
        let file = text(&scratch.path(&format!("{balance}-{turn}.arrow")));
        let ran =
            run(&format!("ab -n {REQUESTS} -c 50 -q --results {file} http://127.0.0.1:{port}/"));
        ran.with_code(0).line("Failed requests:        0");
        line.push_str(&format!(" {balance}={file}"));
        let after = mongrels.each_ref().map(served);
        let mut each = [0, 1, 2].map(|at| after[at] - before[at]);
        each.sort_unstable();
        // One URL is one hash, so one server does all of it.
        let spread =
            if balance == "hash" { each == [0, 0, REQUESTS] } else { each[0] > REQUESTS / 4 };
        assert!(spread, "{balance}: {each:?}");
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
    // As many pages of 2,495 bytes, and their heads.
    let kilobytes = bar(&json, "transfer", "fair", "high") * bar(&json, "duration", "fair", "low");
    let pages = REQUESTS as f64 * 2495.0 / 1024.0;
    assert!((pages..1.17 * pages).contains(&kilobytes), "{kilobytes}");
    let page = std::fs::read_to_string(page).unwrap();
    assert_eq!(page.matches("<section class=\"card\"><svg").count(), 6);
    for title in ["Requests per second", "Total time taken", "Transfer rate", "Longest request"] {
        assert!(page.contains(title), "{title}");
    }
}
