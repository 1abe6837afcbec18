//! The load generators: which are on this machine, the command line of each for the same load, and where its figures are.

use std::path::PathBuf;

use crate::process;

use super::{parse, scripts};

/// The results that a run wrote.
pub(super) const WRITTEN: &str = "written.bin";

/// What every command line needs.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    /// Where files of the bench lie.
    pub(super) dir: PathBuf,
    /// The brunt to measure.
    pub(super) brunt: String,
    /// What to ask for.
    pub(super) url: String,
    /// The same in HTTP/2 without TLS.
    pub(super) h2c_url: String,
    /// The same over TLS.
    pub(super) tls_url: String,
    /// A WebSocket that echoes.
    pub(super) ws_url: String,
    /// Action Cable.
    pub(super) cable_url: String,
    /// The core the clients run on.
    pub(super) core: usize,
    /// How long each run takes.
    pub(super) seconds: u64,
}

/// One command to measure against others.
#[derive(Clone, Debug)]
pub(super) struct Entrant {
    /// Its name in the table.
    pub(super) name: String,
    /// The command line, program first.
    pub(super) words: Vec<String>,
    /// Where the number of requests comes from.
    pub(super) count: Count,
}

/// Finds the number of requests in what a tool printed.
type Parse = fn(&str) -> Option<u64>;

/// Where the number of requests comes from.
#[derive(Clone, Debug)]
pub(super) enum Count {
    /// The tool prints it.
    Output(Parse),
    /// The tool prints it, and nginx has no part in it.
    Own(Parse),
    /// nginx counted it.
    Server,
    /// It wrote results; `brunt report -type=json` of this file gives the figures.
    Results(String, PathBuf),
    /// It sent nothing: the empty schedule measures how late it was.
    Scheduler,
}

/// The file with the one target, as Vegeta and brunt read it.
pub(super) const TARGETS: &str = "targets.txt";

impl Entrant {
    /// The same command with another program; none if this one does not run `program`.
    pub(super) fn with_program(&self, program: &str, other: &str) -> Option<Self> {
        let swap = |word: &String| if word == program { other.to_owned() } else { word.clone() };
        let words: Vec<String> = self.words.iter().map(swap).collect();
        let count = match &self.count {
            Count::Results(reader, file) => Count::Results(swap(reader), file.clone()),
            count => count.clone(),
        };
        (words != self.words).then(|| Self { name: format!("{}, before", self.name), words, count })
    }
}

impl Setting {
    /// The closed loop of so many connections, by every tool found here.
    pub(super) fn closed_by_all(&self, connections: u32) -> Vec<Entrant> {
        let mut entrants =
            ["poll", "uring"].map(|io| self.brunt_closed(connections, io, "none")).to_vec();
        let (c, s, url) = (connections, self.seconds, &self.url);
        let rows: [(&str, String, Parse); 6] = [
            ("wrk", format!("-t1 -c{c} -d{s}s {url}"), parse::wrk),
            ("ab", format!("-q -k -c {c} -t {s} -n 100000000 {url}"), parse::ab),
            ("hey", format!("-z {s}s -c {c} -cpus 1 {url}"), parse::hey),
            ("h2load", format!("--h1 -c{c} -t1 -D {s} {url}"), parse::h2load),
            ("oha", format!("--no-tui --output-format json -z {s}s -c {c} {url}"), parse::oha),
            (
                "k6",
                format!(
                    "run --quiet --no-usage-report -u {c} -d {s}s -e BENCH_URL={url} {}",
                    scripts::GET
                ),
                parse::k6,
            ),
        ];
        for (name, arguments, count) in rows {
            entrants.extend(self.peer(name, &arguments, Count::Output(count)));
        }
        let vegeta = format!("-rate=0 -max-workers={c} -duration={s}s");
        entrants.extend(self.vegeta(&vegeta));
        entrants
    }

    /// The closed loop by wrk and by brunt, with each way to wait for sockets.
    pub(super) fn closed_by_us_and_wrk(&self, connections: u32) -> Vec<Entrant> {
        let mut entrants = self.closed_by_all(connections);
        entrants.retain(|entrant| entrant.name == "wrk" || entrant.name.starts_with("brunt"));
        entrants
    }

    /// The closed loop by brunt with each way to wait for sockets, with its results.
    pub(super) fn latencies(&self, connections: u32) -> Vec<Entrant> {
        let entrant = |io: &str| {
            let file = self.dir.join(format!("latency-{io}.bin"));
            let mut entrant = self.brunt_closed(connections, io, &file.to_string_lossy());
            entrant.count = Count::Results(self.brunt.clone(), file);
            entrant
        };
        ["poll", "uring"].map(entrant).to_vec()
    }

    /// A script of `http.get` and `check` by brunt and k6, and as many connections of wrk.
    pub(super) fn scripts(&self, users: u32) -> Vec<Entrant> {
        let words = format!("-u {users} -d {}s -e BENCH_URL={}", self.seconds, self.url);
        let wrk = format!("-t1 -c{users} -d{}s {}", self.seconds, self.url);
        let mut entrants = self.run(scripts::CHECK, &words, Count::Output(parse::k6));
        entrants.extend(self.peer("wrk", &wrk, Count::Output(parse::wrk)));
        entrants
    }

    /// Sockets whose messages are echoed, and sent again.
    pub(super) fn sockets(&self, users: u32) -> Vec<Entrant> {
        let (seconds, url) = (self.seconds, &self.ws_url);
        let words = format!("-u {users} -i {users} -e BENCH_URL={url} -e BENCH_SECONDS={seconds}");
        self.run(scripts::ECHO, &words, Count::Own(parse::k6_messages))
    }

    /// Broadcasts of Action Cable to so many subscribers. No peer speaks it but k6 with an extension, which is a build of its own.
    pub(super) fn broadcast(&self, users: u32) -> Vec<Entrant> {
        let words = format!("broadcast -users {users} -rate 100");
        vec![self.cable("brunt", &words, parse::deliveries)]
    }

    /// Sockets of Action Cable that send nothing, and a single one.
    pub(super) fn idle_sockets(&self, users: u32) -> Vec<Entrant> {
        [1, users]
            .map(|users| {
                let words = format!("idle -users {users} -within 1s");
                self.cable(&format!("brunt, sockets: {users}"), &words, parse::subscriptions)
            })
            .to_vec()
    }

    fn cable(&self, name: &str, words: &str, parse: Parse) -> Entrant {
        let words = format!(
            "{} cable {words} -channel ChatChannel -params {{\"id\":\"bench\"}} -cpus 1 -duration {}s {}",
            self.brunt, self.seconds, self.cable_url
        );
        Entrant { name: name.to_owned(), words: self.pinned(&words), count: Count::Own(parse) }
    }

    /// Users that do little: what they take is memory.
    pub(super) fn many_users(&self, users: u32) -> Vec<Entrant> {
        let words = format!("-u {users} -d {}s -e BENCH_URL={}", self.seconds, self.url);
        self.run(scripts::SLEEP, &words, Count::Own(parse::k6_iterations))
    }

    /// A script by brunt, and by k6 if it is here.
    fn run(&self, script: &str, words: &str, count: Count) -> Vec<Entrant> {
        let own = format!("{} run -q -cpus 1 {words} {script}", self.brunt);
        let own =
            Entrant { name: "brunt".to_owned(), words: self.pinned(&own), count: count.clone() };
        let k6 = format!("run --quiet --no-usage-report {words} {script}");
        [Some(own), self.peer("k6", &k6, count)].into_iter().flatten().collect()
    }

    /// Several requests unanswered on each connection.
    pub(super) fn pipelined(&self) -> Vec<Entrant> {
        let words = format!("-t 1 -k -c 4 -b 15 -d {} {}", self.seconds, self.url);
        let brunt = self.brunt_bench(&format!("-c 4 -pipeline 16 {}", self.url));
        [Some(brunt), self.peer("perfer", &words, Count::Server)].into_iter().flatten().collect()
    }

    /// Streams of one HTTP/2 connection.
    pub(super) fn streams(&self) -> Vec<Entrant> {
        let words = format!("-c1 -t1 -m32 -D {} {}", self.seconds, self.h2c_url);
        let brunt = self.brunt_bench(&format!("-h2c -c 1 -m 32 {}", self.h2c_url));
        let peer = self.peer("h2load", &words, Count::Output(parse::h2load));
        [Some(brunt), peer].into_iter().flatten().collect()
    }

    /// Unary calls of gRPC by so many callers: by brunt and ghz on one connection, by scripts on one each.
    pub(super) fn calls(&self, users: u32) -> Vec<Entrant> {
        let address = self.h2c_url.trim_start_matches("http://").trim_end_matches('/');
        let (brunt, s, proto) = (&self.brunt, self.seconds, scripts::PROTO);
        let own = format!(
            "{brunt} grpc {address} -plaintext -proto {proto} -call bench.Bench/Get -workers {users} -cpus 1 -duration {s}s"
        );
        let ghz = format!(
            "--insecure --proto {proto} --call bench.Bench/Get -c {users} -z {s}s --cpus 1 {address}"
        );
        let words = format!("-u {users} -d {s}s -e BENCH_URL={address}");
        let mut entrants = self.run(scripts::CALL, &words, Count::Server);
        for entrant in &mut entrants {
            entrant.name.push_str(", script");
        }
        let (name, words) = ("brunt".to_owned(), self.pinned(&own));
        entrants.insert(0, Entrant { name, words, count: Count::Server });
        entrants.extend(self.peer("ghz", &ghz, Count::Server));
        entrants
    }

    /// The closed loop of 64 over TLS.
    pub(super) fn tls(&self) -> Vec<Entrant> {
        let words = format!("-t1 -c64 -d{}s {}", self.seconds, self.tls_url);
        let brunt = self.brunt_bench(&format!("-insecure -http2=false -c 64 {}", self.tls_url));
        let peer = self.peer("wrk", &words, Count::Output(parse::wrk));
        [Some(brunt), peer].into_iter().flatten().collect()
    }

    fn brunt_bench(&self, rest: &str) -> Entrant {
        let words = format!("{} bench -q -cpus 1 -d {}s {rest}", self.brunt, self.seconds);
        Entrant { name: "brunt".to_owned(), words: self.pinned(&words), count: Count::Server }
    }

    /// The closed loop of 64 by brunt, with and without results.
    pub(super) fn written(&self) -> Vec<Entrant> {
        let file = self.dir.join(WRITTEN);
        let mut writing = self.brunt_closed(64, "auto", &file.to_string_lossy());
        writing.name = "brunt -output file".to_owned();
        let mut bare = self.brunt_closed(64, "auto", "none");
        bare.name = "brunt -output none".to_owned();
        vec![bare, writing]
    }

    /// The closed loop of 64 for so long that there are some five million results.
    pub(super) fn many_records(&self, file: &str) -> Vec<String> {
        let long = Self { seconds: 25, ..self.clone() };
        long.brunt_closed(64, "auto", file).words
    }

    /// The open loop at 5,000/s: Vegeta, brunt, brunt with its own clock for answers, and brunt with a tick.
    pub(super) fn open_5k(&self) -> Vec<Entrant> {
        let mut entrants = vec![
            self.brunt_open("brunt exact", 5_000, "", "exact5k"),
            self.brunt_open(
                "brunt -answer-clock worker",
                5_000,
                "-answer-clock worker",
                "worker5k",
            ),
            // Vegeta's sends come in bursts some 1.15 ms apart, as its results say (bench/README.md).
            self.brunt_open("brunt --tick 1ms", 5_000, "--tick 1ms", "tick5k"),
        ];
        entrants.extend(self.vegeta(&format!("-rate=5000 -duration={}s", self.seconds)));
        entrants
    }

    /// The open loop at 20,000/s: Vegeta, brunt exact, brunt with a tick.
    pub(super) fn open_20k(&self) -> Vec<Entrant> {
        let mut entrants = vec![
            self.brunt_open("brunt exact", 20_000, "", "exact"),
            self.brunt_open("brunt --tick 200us", 20_000, "--tick 200us", "tick"),
        ];
        entrants.extend(self.vegeta(&format!("-rate=20000 -duration={}s", self.seconds)));
        entrants
    }

    /// The open loop at 50,000/s, and a scheduler that sends nothing.
    pub(super) fn open_50k(&self) -> Vec<Entrant> {
        let words =
            format!("{} scheduler --json --rate 50000 --duration {}s", self.brunt, self.seconds);
        vec![
            self.brunt_open("brunt exact", 50_000, "", "fast"),
            Entrant {
                name: "empty scheduler".to_owned(),
                words: self.pinned(&words),
                count: Count::Scheduler,
            },
        ]
    }

    fn brunt_closed(&self, users: u32, io: &str, output: &str) -> Entrant {
        let (brunt, s) = (&self.brunt, self.seconds);
        let words = format!(
            "{brunt} attack -targets={TARGETS} -rate=0 -max-workers={users} -cpus 1 --io={io} -duration={s}s -output={output}"
        );
        Entrant {
            name: format!("brunt --io {io}"),
            words: self.pinned(&words),
            count: Count::Server,
        }
    }

    fn brunt_open(&self, name: &str, rate: u32, more: &str, file: &str) -> Entrant {
        let (brunt, s) = (&self.brunt, self.seconds);
        let file = self.dir.join(format!("{file}.bin"));
        let output = file.display();
        let words = format!(
            "{brunt} attack -targets={TARGETS} -rate={rate} -cpus 1 {more} -duration={s}s -output={output}"
        );
        let count = Count::Results(brunt.clone(), file.clone());
        Entrant { name: name.to_owned(), words: self.pinned(&words), count }
    }

    /// Vegeta, if it is here, with its results in a file.
    fn vegeta(&self, load: &str) -> Option<Entrant> {
        let program = process::find("vegeta")?.to_string_lossy().into_owned();
        let file = self.dir.join("vegeta.gob");
        let arguments =
            format!("-cpus=1 attack -targets={TARGETS} {load} -output={}", file.display());
        self.peer("vegeta", &arguments, Count::Results(program, file))
    }

    /// A peer, if it is here.
    fn peer(&self, name: &str, arguments: &str, count: Count) -> Option<Entrant> {
        let program = process::find(name)?.to_string_lossy().into_owned();
        let words = self.pinned(&format!("{program} {arguments}"));
        Some(Entrant { name: name.to_owned(), words, count })
    }

    /// The words of a command line, kept on the clients' core.
    fn pinned(&self, line: &str) -> Vec<String> {
        let core = self.core.to_string();
        let before = ["taskset", "-c", core.as_str()];
        before.into_iter().chain(line.split_whitespace()).map(str::to_owned).collect()
    }
}

/// What each tool here calls its version, `name: version` each.
pub(super) fn versions(brunt: &str) -> Vec<String> {
    let here = PathBuf::from(".");
    let asked = [
        ("nginx", "nginx -v 2>&1"),
        ("wrk", "wrk -v 2>&1 | head -1"),
        ("ab", "ab -V | head -1"),
        ("hey", "dpkg-query -W -f '${Version}' hey 2>/dev/null || echo unknown"),
        ("h2load", "h2load --version"),
        ("oha", "oha --version"),
        ("k6", "k6 version"),
        ("vegeta", "vegeta -version | head -1"),
        ("ghz", "ghz --version 2>&1 | head -1"),
    ];
    let mut versions: Vec<String> = asked
        .iter()
        .filter(|(name, _)| process::find(name).is_some())
        .map(|(name, line)| {
            let text = process::capture(&here, "sh", &["-c", line]).unwrap_or_default();
            format!("{name}: {}", text.trim())
        })
        .collect();
    let own = process::capture(&here, brunt, &["-version"]).unwrap_or_default();
    versions.push(format!("brunt: {}", own.lines().next().unwrap_or("unknown")));
    versions
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting() -> Setting {
        Setting {
            dir: PathBuf::from("/tmp/b"),
            brunt: "/b/brunt".to_owned(),
            url: "http://127.0.0.1:1/".to_owned(),
            h2c_url: "http://127.0.0.1:2/".to_owned(),
            tls_url: "https://127.0.0.1:3/".to_owned(),
            ws_url: "ws://127.0.0.1:4/ws-echo".to_owned(),
            cable_url: "ws://127.0.0.1:4/cable".to_owned(),
            core: 1,
            seconds: 3,
        }
    }

    #[test]
    fn commands_are_pinned_and_say_the_same_load() {
        let entrants = setting().closed_by_all(64);
        assert_eq!(
            entrants[0].words.join(" "),
            "taskset -c 1 /b/brunt attack -targets=targets.txt -rate=0 -max-workers=64 -cpus 1 --io=poll -duration=3s -output=none"
        );
        assert!(entrants.iter().all(|one| one.words[..3] == ["taskset", "-c", "1"]));
        assert!(entrants.iter().all(|one| one.words.join(" ").contains("64")));
        assert!(setting().closed_by_us_and_wrk(8).len() <= 3);
        let script = &setting().scripts(16)[0].words.join(" ");
        assert!(
            script.ends_with("-u 16 -d 3s -e BENCH_URL=http://127.0.0.1:1/ check.js"),
            "{script}"
        );
        let exact = &setting().open_20k()[0];
        assert!(!exact.words.contains(&"--tick".to_owned()));
        assert!(exact.words.contains(&"-rate=20000".to_owned()));
    }
}
