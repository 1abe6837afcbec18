//! Everything in `examples/`, run as its README says, against servers on free ports.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::{Ran, Scratch, Started, brunt, first_line, free_port, run, start, start_within, text};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// A `brunt serve` on a free port, and its URL without the last slash.
fn serve(flags: &str) -> (Started, String) {
    let mut server = start(brunt(&format!("serve --listen 127.0.0.1:0 {flags}")));
    let line = first_line(server.child().stdout.as_mut().unwrap());
    let url = line.strip_prefix("listening on ").unwrap().split(' ').next().unwrap().to_owned();
    (server, url)
}

/// How a file of `examples/` is tried.
enum Trial {
    /// A k6 script with these flags: it ends with 0, and all its checks hold.
    Script(&'static str),
    /// A shell script with this length of its loads, which may end with these codes and leaves these files, none of them empty.
    Shell(&'static str, &'static [i32], &'static [&'static str]),
    /// A test of its own, here or beside another part, which has this name.
    Own(&'static str),
    /// What other examples read; the first of them is named.
    Input(&'static str),
    /// A build server's or a cluster's description, of which these words are checked: the machine has none of them.
    Words(&'static [&'static str]),
}

use Trial::{Input, Own, Script, Shell, Words};

const LOAD_TEST: Trial = Words(&["ci/load-test.sh", "MAIN_URL", "CHANGE_URL", "results"]);

/// Every file of `examples/`.
const EXAMPLES: &[(&str, Trial)] = &[
    ("README.md", Own("the_list_names_every_example")),
    ("attack/cable.sh", Shell("1s", &[0], &[])),
    ("attack/fleet.sh", Shell("1s", &[0], &["fleet.arrow"])),
    ("attack/formats.sh", Shell("1s", &[0], &["run.json", "run.html", "run.csv", "run.parquet"])),
    ("attack/gates.sh", Shell("1s", &[0], &["gates.xml", "gates.md", "gates.html"])),
    ("attack/grpc.sh", Own("the_examples_of_grpc_call")),
    ("attack/limit.sh", Shell("10s", &[0, 6], &["limit.html"])),
    ("attack/prometheus.sh", Shell("1s", &[0], &[])),
    ("attack/session.sh", Shell("1s", &[0], &["jar.txt", "session.arrow"])),
    ("attack/shapes.sh", Shell("1s", &[0], &["shapes.html"])),
    ("attack/steady.sh", Shell("1s", &[0], &["steady.arrow"])),
    ("attack/store.sh", Shell("1s", &[0], &[".brunt/runs"])),
    ("attack/users.sh", Shell("1s", &[0], &["users.arrow"])),
    ("attack/vegeta.sh", Shell("1s", &[0], &[])),
    ("attack/versions.sh", Shell("1s", &[0], &["versions.html"])),
    ("attack/watch.sh", Shell("1s", &[0], &["watched.html"])),
    ("ci/Jenkinsfile", LOAD_TEST),
    ("ci/action.yml", LOAD_TEST),
    ("ci/azure-pipelines.yml", LOAD_TEST),
    ("ci/circleci.yml", LOAD_TEST),
    ("ci/github.yml", Words(&["uses: ./change/ci", "pull_request"])),
    ("ci/gitlab.yml", LOAD_TEST),
    ("ci/load-test.sh", Own("the_load_test_of_a_pull_request_finds_a_slower_change")),
    ("data/shop.proto", Input("attack/grpc.sh")),
    ("data/users.csv", Input("scripts/csv.js")),
    ("docker/compose.yml", Own("the_commands_of_containers_are_brunts")),
    ("grafana/exporter.json", Input("README.md")),
    ("grafana/histograms.json", Input("README.md")),
    ("grafana/trend-stats.json", Input("README.md")),
    ("imports/access.log", Input("imports/log.sh")),
    ("imports/curl.sh", Shell("1s", &[0], &["requests.js"])),
    ("imports/har.sh", Shell("1s", &[0], &["login.js"])),
    ("imports/log.sh", Shell("1s", &[0], &["yesterday.txt", "yesterday.rate", "replay.arrow"])),
    ("imports/login.har", Input("imports/har.sh")),
    ("imports/openapi.sh", Shell("1s", &[0], &["api.js"])),
    ("imports/openapi.yaml", Input("imports/openapi.sh")),
    ("imports/requests.sh", Input("imports/curl.sh")),
    ("jmeter/plan.jmx", Own("the_plan_of_jmeter_is_run")),
    ("kubernetes/job.yaml", Own("the_commands_of_containers_are_brunts")),
    ("kubernetes/role.yaml", Words(&["kind: Role", "brunt-fleet"])),
    ("rails/shop.ru", Input("README.md")),
    ("scripts/arrivals.js", Own("the_script_with_arrivals_has_its_schedule")),
    ("scripts/batch.js", Script("-u 2 -d 1s")),
    ("scripts/breakpoint.js", Script("-e LENGTH=1s")),
    ("scripts/chat.js", Script("-u 2 -d 1s")),
    ("scripts/cookies.js", Script("-u 2 -d 1s")),
    ("scripts/csv.js", Script("-u 2 -d 1s")),
    ("scripts/failures.js", Script("-u 2 -d 1s")),
    ("scripts/form.js", Script("-u 2 -d 1s")),
    ("scripts/graphql.js", Script("-u 2 -d 1s")),
    ("scripts/grpc.js", Own("the_examples_of_grpc_call")),
    ("scripts/json.js", Script("-u 2 -d 1s")),
    ("scripts/login.js", Script("-u 2 -i 4")),
    ("scripts/metrics.js", Script("-u 2 -d 1s")),
    ("scripts/pages.js", Script("-u 2 -d 1s")),
    ("scripts/ramp.js", Script("-s 1s:3")),
    ("scripts/scenarios.js", Script("-e LENGTH=1s")),
    ("scripts/setup.js", Script("-u 2 -d 1s")),
    ("scripts/soak.js", Script("-s 1s:3")),
    ("scripts/spike.js", Script("-s 1s:3")),
    ("scripts/sse.js", Script("-u 2 -d 1s")),
    ("scripts/summary.js", Script("-u 2 -d 1s")),
    ("scripts/tags.js", Script("-u 2 -d 1s")),
    ("scripts/think.js", Script("-u 2 -d 1s")),
    ("scripts/turbo.js", Script("-u 2 -d 1s")),
    ("scripts/upload.js", Script("-u 2 -d 1s")),
    ("scripts/websocket.js", Script("-u 2 -d 1s")),
    ("search.json", Input("targets.txt")),
    ("shop/shop.py", Input("scripts/login.js")),
    ("study/puma.toml", Own("the_study_of_puma_finds_more_threads_faster")),
    ("study/study.toml", Own("the_study_is_run")),
    ("study/ten.txt", Input("study/study.toml")),
    ("study/unlimited.txt", Input("study/study.toml")),
    ("study/wait.ru", Input("study/puma.toml")),
    ("targets.txt", Own("the_targets_file_is_attacked")),
];

/// The files below a folder of `examples/`, as the table has them.
fn files_below(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_below(&path));
        } else {
            found.push(text(path.strip_prefix(examples()).unwrap()));
        }
    }
    found
}

fn content(example: &str) -> String {
    std::fs::read_to_string(examples().join(example)).unwrap()
}

#[test]
fn every_example_has_a_row_and_says_what_it_shows() {
    let mut files = files_below(&examples());
    files.retain(|file| !file.contains("__pycache__"));
    files.sort();
    let rows: Vec<&str> = EXAMPLES.iter().map(|(file, _)| *file).collect();
    assert_eq!(files, rows, "each file of examples/ has a row, in order");
    for (file, trial) in EXAMPLES {
        let words = content(file);
        let mut lines =
            words.lines().filter(|line| !line.starts_with("#!") && !line.starts_with("<?"));
        let first = lines.next().unwrap();
        match trial {
            Script(_) | Shell(..) | Words(_) => {
                assert!(first.starts_with("// ") || first.starts_with("# "), "{file}: {first}");
            }
            Input(reader) => {
                let name = Path::new(file).file_name().unwrap().to_str().unwrap();
                let port = words.contains("else 8090").then_some("127.0.0.1:8090");
                let named =
                    content(reader).contains(port.unwrap_or(name)) || *reader == "README.md";
                assert!(named, "{reader} does not read {file}");
            }
            Own(test) => {
                assert!(include_str!("examples.rs").contains(&format!("fn {test}()")), "{test}");
            }
        }
        if let Words(words) = trial {
            let content = content(file);
            let missing: Vec<_> = words.iter().filter(|word| !content.contains(**word)).collect();
            assert!(missing.is_empty(), "{file} lacks {missing:?}");
        }
    }
}

#[test]
fn the_list_names_every_example() {
    let list = content("README.md");
    for (file, _) in EXAMPLES.iter().filter(|(file, _)| *file != "README.md") {
        let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
        let named = list.contains(&format!("({file})")) || list.contains(&format!("({folder}/)"));
        assert!(named, "examples/README.md does not list {file}");
    }
}

/// The servers that examples ask: `brunt serve` with Action Cable, and the shop, which needs python3.
struct Servers {
    _serve: Started,
    _shop: Started,
    serve: String,
    shop: String,
}

impl Servers {
    fn start() -> Self {
        let (serve, url) = serve("--cable");
        let mut command = Command::new("python3");
        command.arg("-B").arg(examples().join("shop/shop.py")).arg("0");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut shop = start_within(command, Duration::from_secs(300));
        let line = first_line(shop.child().stdout.as_mut().unwrap());
        let shop_url = line.trim().strip_prefix("listening on ").unwrap().to_owned();
        Self { _serve: serve, _shop: shop, serve: url, shop: shop_url }
    }

    /// The one that a file asks when it is run as it is.
    fn of(&self, file: &str) -> &str {
        if content(file).contains("127.0.0.1:8090") { &self.shop } else { &self.serve }
    }
}

/// Runs one script of the table in a folder of its own.
fn try_script(servers: &Servers, file: &str, flags: &str) {
    let scratch = Scratch::new("example-script");
    let cable = servers.serve.replace("http:", "ws:") + "/cable";
    let (base, path) = (servers.of(file), text(&examples().join(file)));
    let mut command = brunt(&format!("run {flags} -e BASE={base} -e CABLE={cable} {path}"));
    command.current_dir(&scratch.0);
    let ran = start(command).wait().with_code(0);
    let all_hold = ran.stdout.contains("checks_succeeded...: 100.00%");
    assert!(all_hold || !content(file).contains("check("), "{file}: {ran:#?}");
    assert!(!ran.stderr.contains("level=error"), "{file}: {ran:#?}");
}

#[test]
fn every_script_runs_and_its_checks_hold() {
    let servers = Servers::start();
    for (file, trial) in EXAMPLES {
        if let Script(flags) = trial {
            try_script(&servers, file, flags);
        }
    }
}

/// A shell script of `examples/` in this folder, with this brunt first in the PATH.
fn shell(scratch: &Scratch, file: &str, variables: &[(&str, &str)]) -> Ran {
    let own = Path::new(env!("CARGO_BIN_EXE_brunt")).parent().unwrap();
    let path = format!("{}:{}", own.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new(examples().join(file));
    command.current_dir(&scratch.0).env("PATH", path).envs(variables.iter().copied());
    for name in ["GITHUB_STEP_SUMMARY", "GITHUB_ACTIONS", "BRUNT_SAVE", "BRUNT_STORE"] {
        command.env_remove(name);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    start(command).wait()
}

#[test]
fn every_shell_script_runs_and_leaves_its_files() {
    let servers = Servers::start();
    let (host, port) = (servers.serve.replace("http://", ""), free_port().to_string());
    let page = format!("{}/", servers.serve);
    for (file, trial) in EXAMPLES {
        let Shell(length, codes, leaves) = trial else { continue };
        let scratch = Scratch::new("example-shell");
        // A project of its own: no run goes to the user's store.
        std::fs::create_dir(scratch.path(".brunt")).unwrap();
        let variables: [(&str, &str); 7] = [
            ("BASE", servers.of(file)),
            ("PROMETHEUS", servers.serve.as_str()),
            ("OLD", &page),
            ("NEW", &page),
            ("HOST", &host),
            ("PORT", &port),
            ("LENGTH", length),
        ];
        let ran = shell(&scratch, file, &variables);
        assert!(ran.code.is_some_and(|code| codes.contains(&code)), "{file}: {ran:#?}");
        for left in *leaves {
            let size = std::fs::metadata(scratch.path(left)).map(|file| file.len());
            assert!(size.is_ok_and(|size| size > 0), "{file} leaves no {left}: {ran:#?}");
        }
    }
}

#[test]
fn the_examples_of_grpc_call() {
    let address = crate::grpc_command::address(crate::grpc_command::one);
    let scratch = Scratch::new("example-grpc");
    let ran = shell(&scratch, "attack/grpc.sh", &[("HOST", &address), ("LENGTH", "1s")]);
    let ran = ran.with_code(0);
    assert_eq!(ran.line("Success").split_whitespace().last(), Some("100.00%"), "{ran:#?}");
    let script = text(&examples().join("scripts/grpc.js"));
    let ran = run(&format!("run -u 1 -i 3 -e HOST={address} {script}")).with_code(0);
    assert!(ran.stdout.contains("checks_succeeded...: 100.00% 3 out of 3"), "{ran:#?}");
}

#[test]
fn the_plan_of_jmeter_is_run() {
    let (_server, url) = serve("");
    let scratch = Scratch::new("example-jmeter");
    let (plan, port) = (text(&examples().join("jmeter/plan.jmx")), url.rsplit(':').next().unwrap());
    let (results, log) = (text(&scratch.path("r.jtl")), text(&scratch.path("jmeter.log")));
    let flags = format!("-Jthreads=2 -Jloops=3 -Jport={port}");
    run(&format!("jmeter -n -t {plan} -l {results} -j {log} {flags}")).with_code(0);
    let rows = std::fs::read_to_string(results).unwrap();
    assert_eq!(rows.matches(",home,200,").count(), 6, "{rows}");
}

/// The words of a container's command: brunt takes them, but for the host, which is another here.
#[test]
fn the_commands_of_containers_are_brunts() {
    let (_server, url) = serve("");
    let scratch = Scratch::new("example-container");
    for (file, host, key) in [
        ("docker/compose.yml", "http://site:8080", "command: [attack, "),
        ("kubernetes/job.yaml", "http://web.shop.svc:8080", "args: [attack, "),
    ] {
        let content = content(file);
        let line = content.lines().find_map(|line| line.trim().strip_prefix(key)).unwrap();
        let line =
            line.trim_end_matches(']').replace(host, &url).replace("/results", &text(&scratch.0));
        let line =
            line.replace("duration=30s", "duration=1s").replace("duration=1m", "duration=1s");
        // No blank stands in the list but after its commas, and in the quoted gates.
        let line = line.replace("ms, errors", "ms,errors");
        let words = line.split(", ").map(|word| word.trim_matches('"'));
        let mut command = brunt("attack");
        command.args(words);
        start(command).wait().with_code(0);
        std::fs::remove_file(scratch.path("run.arrow")).unwrap();
    }
}

#[test]
fn the_study_of_puma_finds_more_threads_faster() {
    let ran = study_of("puma", &["puma.toml", "wait.ru"], &["18541", "18542"]);
    assert!(ran.1.stdout.contains("five is faster than one"), "{:#?}", ran.1);
}

/// Runs a study of `examples/study/` on free ports in place of its own; gives its folder and what it said.
fn study_of(name: &str, files: &[&str], ports: &[&str]) -> (Scratch, Ran) {
    let scratch = Scratch::new(&format!("example-study-{name}"));
    let ports: Vec<(&str, u16)> = ports.iter().map(|port| (*port, free_port())).collect();
    for file in files {
        let mut content = content(&format!("study/{file}"));
        for (from, to) in &ports {
            content = content.replace(from, &to.to_string());
        }
        scratch.file(file, content);
    }
    let mut command = brunt(&format!("study run {} -quick -out trial", files[0]));
    command.current_dir(&scratch.0);
    let ran = start(command).wait().with_code(0);
    (scratch, ran)
}

#[test]
fn the_targets_file_is_attacked() {
    let (_server, url) = serve("");
    let scratch = Scratch::new("example-targets");
    let targets = std::fs::read_to_string(examples().join("targets.txt")).unwrap();
    scratch.file("targets.txt", targets.replace("http://127.0.0.1:8080", &url));
    scratch.file("search.json", std::fs::read(examples().join("search.json")).unwrap());
    let mut command =
        brunt("attack -targets=targets.txt -rate=60 -duration=500ms -output=run.arrow");
    command.current_dir(&scratch.0);
    start(command).wait().with_code(0);
    let results = text(&scratch.path("run.arrow"));
    let json = start(brunt(&format!("report -type=json {results}"))).wait().with_code(0).json();
    assert_eq!(json["status_codes"]["200"], 30);
    assert!(json["bytes_out"]["total"].as_u64().unwrap() > 0, "the body is sent: {json}");
}

#[test]
fn the_script_with_arrivals_has_its_schedule() {
    let script = text(&examples().join("scripts/arrivals.js"));
    let ran = start(brunt(&format!("inspect --execution-requirements {script}"))).wait();
    let json = ran.with_code(0).json();
    assert_eq!((&json["maxVUs"], &json["totalDuration"]), (&200.into(), &"2m10s".into()), "{json}");
}

#[test]
fn the_study_is_run() {
    let files = ["study.toml", "unlimited.txt", "ten.txt"];
    let (scratch, _) = study_of("queue", &files, &["18531", "18532"]);
    let study = std::fs::read_to_string(scratch.path("trial/study.json")).unwrap();
    let study: serde_json::Value = serde_json::from_str(&study).unwrap();
    let workloads = study["workloads"].as_array().unwrap();
    let judged = workloads.iter().filter_map(|one| one["orderings"].as_array()).flatten();
    let judged: Vec<&str> = judged.filter_map(|one| one["expected"].as_str()).collect();
    assert_eq!(judged, ["ten < unlimited: latency.p99", "ten > unlimited: errors"], "{study}");
    assert!(scratch.path("trial/report.html").is_file());
}

/// The change is fifty times slower than the main branch, and the last line of the script says so with its code.
#[test]
fn the_load_test_of_a_pull_request_finds_a_slower_change() {
    let (_main, main) = serve("--service fixed:1ms");
    let (_change, change) = serve("--service fixed:50ms");
    let scratch = Scratch::new("example-ci");
    let own = Path::new(env!("CARGO_BIN_EXE_brunt")).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let mut command = Command::new(examples().join("ci/load-test.sh"));
    command
        .current_dir(&scratch.0)
        .env("PATH", format!("{}:{path}", own.display()))
        .env("MAIN_URL", format!("{main}/"))
        .env("CHANGE_URL", format!("{change}/"))
        .env("LENGTH", "1s")
        .env("GITHUB_STEP_SUMMARY", scratch.path("summary.md"))
        .env("GITHUB_ACTIONS", "true")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let ran = start(command).wait().with_code(7);
    assert!(ran.stdout.contains("p99") && ran.stdout.contains("worse"), "{}", ran.stdout);
    assert!(scratch.path("results/compare.html").is_file());
    let summary = std::fs::read_to_string(scratch.path("summary.md")).unwrap();
    assert!(summary.contains("| ") && summary.contains("worse"), "{summary}");
    let annotated = ran.stderr.lines().any(|line| line.starts_with("::error title=comparison::"));
    assert!(annotated, "{}", ran.stderr);
    let metrics = std::fs::read_to_string(scratch.path("results/metrics.txt")).unwrap();
    assert!(metrics.contains("brunt_gate_passed{gate=\"p99>2s\"} 1"), "{metrics}");
    let junit = std::fs::read_to_string(scratch.path("results/smoke.xml")).unwrap();
    assert!(junit.contains(r#"name="gate errors&gt;0.1%">"#), "{junit}");
    assert!(scratch.path("results/smoke.html").is_file());
    let comment = std::fs::read_to_string(scratch.path("results/comment.md")).unwrap();
    assert!(comment.contains("**worse**") && comment.len() < 65_536, "{comment}");
    let limits = std::fs::read_to_string(scratch.path("results/compare.xml")).unwrap();
    assert!(
        limits.contains(r#"tests="2" failures="1""#) && limits.contains("p99&gt;+20%"),
        "{limits}"
    );
    let of_gitlab = std::fs::read(scratch.path("results/load-performance.json")).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&of_gitlab).unwrap();
    let waiting = json["metrics"]["http_req_waiting"]["p(95)"].as_f64().unwrap();
    assert!((50.0..500.0).contains(&waiting), "{json}");
    assert!(json["metrics"]["checks"]["passes"].as_u64().unwrap() > 0, "{json}");
}
