//! `brunt study`: the template, what is wrong with files, servers that give way, studies that are killed and interrupted. After
//! each nothing that was started is left.

use std::path::Path;

use crate::{Ran, Scratch, Started, brunt, free_port, run, signal, start, text, until};

/// The study that `brunt study new` writes, on ports that were free a moment ago.
pub(crate) fn template(scratch: &Scratch) -> String {
    let file = text(&scratch.path("study.toml"));
    run(&format!("study new {file}")).with_code(0);
    let study = std::fs::read_to_string(&file).unwrap();
    let study = study.replace("18431", &free_port().to_string());
    std::fs::write(&file, study.replace("18432", &free_port().to_string())).unwrap();
    file
}

/// A study of one variant with this server, in runs of a tenth of a second.
fn small(scratch: &Scratch, name: &str, server: &str) -> String {
    let study = format!(
        "[study]\nname = \"{name}\"\nrepeats = 4\n[[variant]]\nname = \"one\"\n{server}\n\
         [[workload]]\nname = \"load\"\ncommand = \"bench -c 1 -d 100ms {{url}}/\"\n"
    );
    scratch.file(&format!("{name}.toml"), study)
}

/// `brunt serve` as a server of a study.
fn serve(port: u16) -> String {
    format!(
        "values = {{ url = \"http://127.0.0.1:{port}\" }}\n[[variant.server]]\nname = \"serve\"\n\
         command = [\"brunt\", \"serve\", \"--listen\", \"127.0.0.1:{port}\"]\nready = \"tcp://127.0.0.1:{port}\"\n"
    )
}

/// The processes whose command line holds this text.
fn processes(with: &str) -> Vec<String> {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let line = |entry: std::fs::DirEntry| {
        entry.file_name().to_str()?.parse::<u32>().ok()?;
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        line.contains(with).then_some(line)
    };
    all.filter_map(line).collect()
}

/// Nothing with this text in its command line is left.
#[track_caller]
fn nothing_left(with: &str) {
    until(&format!("{with} is gone: {:?}", processes(with)), || processes(with).is_empty());
}

fn document(out: &Path) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(out.join("study.json")).unwrap()).unwrap()
}

fn states(document: &serde_json::Value) -> Vec<String> {
    let runs = document["runs"].as_array().unwrap().iter();
    runs.map(|run| run["state"].as_str().unwrap().to_owned()).collect()
}

/// The load generators of a study redact what the study is to redact.
#[test]
fn what_a_study_redacts_its_generators_redact() {
    let scratch = Scratch::new("study-redact");
    let file = small(&scratch, "redact", &serve(free_port()));
    let study = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, study.replace("{url}/", "{url}/?token=SEKRET")).unwrap();
    let out = scratch.path("out");
    run(&format!("study run -redact=token {file} -out {}", text(&out))).with_code(0);
    let mut files = Vec::new();
    let mut folders = vec![out];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    let holds = |path: &Path, what: &str| {
        std::fs::read(path).unwrap().windows(what.len()).any(|part| part == what.as_bytes())
    };
    assert!(files.iter().any(|file| holds(file, "token=***")), "{files:?}");
    let shown: Vec<_> = files.iter().filter(|file| holds(file, "SEKRET")).collect();
    assert!(shown.is_empty(), "{shown:?}");
}

#[test]
fn the_template_runs_and_is_reported() {
    let scratch = Scratch::new("study-template");
    let file = template(&scratch);
    let refused = run(&format!("study new {file}")).with_code(1);
    refused.complains_once(&["exists already", "-force"]);
    let out = scratch.path("out");
    let ran = run(&format!("study run {file} -quick -out {}", text(&out))).with_code(0);
    assert!(
        ran.stderr.contains("run 12 of 12: ") && ran.stderr.contains("VALID, p99 "),
        "{ran:#?}"
    );
    let lines = ran.stdout.lines().count();
    assert!(ran.stdout.contains("report.html") && (3..=7).contains(&lines), "{ran:#?}");
    let json = document(&out);
    assert_eq!(states(&json), ["measured"; 12]);
    assert_eq!(json["form"], "quick");
    assert!(json["variants"][0]["versions"]["serve"].as_str().unwrap().contains("brunt"), "{json}");
    assert!(json["machine"]["kernel"].is_string());
    let workload = &json["workloads"][0];
    assert_eq!(workload["metrics"].as_array().unwrap().len(), 6);
    let orderings = workload["orderings"].as_array().unwrap();
    assert!(orderings.iter().all(|ordering| ordering["held"] == true), "{workload}");
    for run in json["runs"].as_array().unwrap() {
        let rss = run["figures"]["server.rss"].as_f64().unwrap_or_else(|| panic!("{run}"));
        assert!(rss > 1e6 && run["figures"]["machine.load1"].is_number(), "{run}");
        assert_eq!(run["notes"], serde_json::json!([]), "{run}");
    }
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("<h2>Conclusion</h2>") && page.contains("Runs, in their order"));
    let folders = ["slow", "quick"].map(|name| text(&out.join("results/closed").join(name)));
    let compared = run(&format!("compare -json {} {}", folders[0], folders[1])).with_code(0);
    assert_eq!(compared.json()["comparisons"][0]["runs"], 3);
    let log = std::fs::read_to_string(out.join("runs/ab/slow/001/command.txt")).unwrap();
    assert!(log.starts_with("brunt ab --results="), "{log}");
    // Once more is nothing but the report.
    let again = run(&format!("study run {file} -quick -out {}", text(&out))).with_code(0);
    assert!(again.stderr.contains("going on: 12 of 12 runs done"), "{again:#?}");
    assert_eq!(states(&document(&out)), ["measured"; 12]);
    // Another study's runs are not this one's.
    let other = std::fs::read_to_string(&file).unwrap().replace("fixed:8ms", "fixed:7ms");
    std::fs::write(&file, other).unwrap();
    let refused = run(&format!("study run {file} -quick -out {}", text(&out))).with_code(3);
    assert!(refused.stderr.contains("was \"fixed:8ms\" and is \"fixed:7ms\""), "{refused:#?}");
    assert!(refused.stderr.contains("-fresh"), "{refused:#?}");
}

/// Variants that are far apart are decided after three runs of each, and a study goes on from there without another run. Where they
/// are not decided by the last run, the exit code says so.
#[test]
fn a_study_goes_on_until_it_is_sure() {
    let scratch = Scratch::new("study-until-sure");
    let file = template(&scratch);
    let out = text(&scratch.path("out"));
    let line = format!("study run {file} -quick -out {out} -until-sure=p50 -max-runs=8");
    let ran = run(&line).with_code(0);
    assert!(ran.stderr.contains("sure after "), "{ran:#?}");
    let json = document(Path::new(&out));
    let runs = states(&json);
    assert!(runs.len() < 32 && runs.iter().all(|state| state == "measured"), "{runs:?}");
    assert!(json["ended"].as_str().unwrap().starts_with("sure after ") && json["looks"] == 3);
    for workload in json["workloads"].as_array().unwrap() {
        let metrics = workload["metrics"].as_array().unwrap();
        let p50 = metrics.iter().find(|metric| metric["name"] == "latency.p50").unwrap();
        assert_ne!(p50["verdict"], "cannot tell", "{p50}");
    }
    let again = run(&line).with_code(0);
    assert!(again.stderr.contains("sure after ") && !again.stderr.contains(" … "), "{again:#?}");
    assert_eq!(states(&document(Path::new(&out))), runs);
    let other = run(&line.replace("-max-runs=8", "-max-runs=9")).with_code(3);
    assert!(other.stderr.contains("-until-sure was"), "{other:#?}");
    for (flags, words) in [
        ("-max-runs=8", "bounds nothing without -until-sure"),
        ("-until-sure=p98x", "\"p98x\" is no metric"),
        ("-until-sure=p50 -max-runs=2", "2 is not from 3 to 200"),
    ] {
        let refused = run(&format!("study run {file} -quick -out {out} {flags}")).with_code(2);
        assert!(refused.stderr.contains(words), "{refused:#?}");
    }
}

/// A study that has made its first run, and its plan.
fn under_way(scratch: &Scratch, file: &str) -> (Started, std::path::PathBuf) {
    let out = scratch.path("out");
    let started = start(brunt(&format!("study run {file} -quick -out {}", text(&out))));
    let plan = out.join("plan.json");
    let measured = || {
        let plan = std::fs::read_to_string(&plan).unwrap_or_default();
        plan.contains("\"measured\"") && !plan.contains("\"under_way\": null")
    };
    until("one run is made and the next is under way", measured);
    (started, out)
}

#[test]
fn a_study_that_is_killed_goes_on_and_leaves_no_servers() {
    let scratch = Scratch::new("study-killed");
    let file = template(&scratch);
    let port = std::fs::read_to_string(&file).unwrap();
    let ports: Vec<String> = port
        .split("--listen\", \"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap().to_owned())
        .collect();
    let (started, out) = under_way(&scratch, &file);
    signal("KILL", started.pid());
    started.wait();
    ports.iter().for_each(|port| nothing_left(port));
    let first = std::fs::read_dir(out.join("results")).unwrap().count();
    assert!(first > 0);
    let plan = std::fs::read_to_string(out.join("plan.json")).unwrap();
    let began: Vec<i64> = records(&plan);
    let ran = run(&format!("study run {file} -quick -out {}", text(&out))).with_code(0);
    assert!(ran.stderr.contains("going on: "), "{ran:#?}");
    let json = document(&out);
    assert_eq!(states(&json), ["measured"; 12]);
    let after = records(&std::fs::read_to_string(out.join("plan.json")).unwrap());
    assert!(began.iter().all(|began| after.contains(began)), "{began:?} {after:?}");
    ports.iter().for_each(|port| nothing_left(port));
}

/// A study that was run to its end, of which the last run is to be made again.
fn without_the_last_run(out: &Path, change: impl FnOnce(&mut serde_json::Value)) {
    let plan = std::fs::read_to_string(out.join("plan.json")).unwrap();
    let mut plan: serde_json::Value = serde_json::from_str(&plan).unwrap();
    plan["runs"][3]["record"] = serde_json::Value::Null;
    change(&mut plan);
    std::fs::write(out.join("plan.json"), plan.to_string()).unwrap();
}

/// What servers are configured with may change, but not unsaid.
#[test]
fn a_study_that_goes_on_tells_what_has_changed() {
    let scratch = Scratch::new("study-unlike");
    let file = small(&scratch, "unlike", &serve(free_port()));
    scratch.file("front.conf", "one");
    let out = scratch.path("unlike-study");
    let line = format!("study run {file} -out {}", text(&out));
    let ran = run(&line).with_code(0);
    assert!(!ran.stderr.contains("alike"), "{ran:#?}");
    // No run is made with this.
    scratch.file("front.conf", "after the last run");
    let ran = run(&line).with_code(0);
    assert!(!ran.stderr.contains("alike"), "{ran:#?}");
    assert!(!document(&out)["incidents"].to_string().contains("alike"));
    // As if the last run were still to be made, and the first were of another version.
    without_the_last_run(&out, |plan| plan["runs"][0]["record"]["brunt"] = "0.0.9".into());
    scratch.file("front.conf", "two");
    let ran = run(&line).with_code(0);
    let changed = "run 4 was made with other files than runs 1 to 3: front.conf was changed";
    let made = "run 1 was made by brunt 0.0.9, run";
    for words in [changed, made] {
        assert!(ran.stderr.contains(words), "{words}: {ran:#?}");
        assert!(document(&out)["incidents"].to_string().contains(words), "{words}");
    }
    // It stays said, and nothing is new.
    let ran = run(&line).with_code(0);
    assert!(ran.stderr.contains(changed) && ran.stderr.matches("alike").count() == 2, "{ran:#?}");
    // Made anew with what the others were made with, it is like them.
    scratch.file("front.conf", "one");
    without_the_last_run(&out, |_| ());
    let ran = run(&line).with_code(0);
    assert!(!ran.stderr.contains("other files"), "{ran:#?}");
    assert!(!document(&out)["incidents"].to_string().contains("other files"));
}

/// A server may be upgraded while a study is stopped, but not unsaid.
#[test]
fn a_study_tells_that_a_server_was_upgraded() {
    let scratch = Scratch::new("study-upgraded");
    let server = serve(free_port()) + "version = [\"cat\", \"version.log\"]\n";
    let file = small(&scratch, "upgraded", &server);
    scratch.file("version.log", "serve 1");
    let out = scratch.path("upgraded-study");
    let line = format!("study run {file} -out {}", text(&out));
    run(&line).with_code(0);
    let version = || document(&out)["variants"][0]["versions"]["serve"].clone();
    scratch.file("version.log", "serve 2");
    let ran = run(&line).with_code(0);
    assert!(!ran.stderr.contains("alike"), "{ran:#?}");
    assert_eq!(version(), "serve 1", "that was measured");
    without_the_last_run(&out, |_| ());
    let ran = run(&line).with_code(0);
    let told = "serve of one was \"serve 1\" in runs 1 to 3, \"serve 2\" in run 4";
    assert!(ran.stderr.contains(told), "{ran:#?}");
    let json = document(&out);
    let mut incidents = json["incidents"].as_array().unwrap().iter();
    assert!(incidents.any(|text| text.as_str().unwrap().contains(told)), "{json}");
    assert_eq!(version(), "serve 2");
}

/// When each finished run of a plan began.
fn records(plan: &str) -> Vec<i64> {
    let plan: serde_json::Value = serde_json::from_str(plan).unwrap();
    let runs = plan["runs"].as_array().unwrap().iter();
    runs.filter_map(|run| run["record"]["began"].as_i64()).collect()
}

#[test]
fn an_interrupted_study_stops_its_servers_and_reports() {
    stopped_by("INT");
}

#[test]
fn a_study_whose_terminal_goes_away_stops_its_servers_and_reports() {
    stopped_by("HUP");
}

fn stopped_by(name: &str) {
    let scratch = Scratch::new(&format!("study-stopped-{name}"));
    let file = template(&scratch);
    let (started, out) = under_way(&scratch, &file);
    signal(name, started.pid());
    let ran = started.wait().with_code(11);
    assert!(ran.stderr.contains("interrupted: the same command goes on"), "{ran:#?}");
    nothing_left(&text(&out));
    let states = states(&document(&out));
    assert!(states.contains(&"measured".to_owned()) && states.contains(&"not run".to_owned()));
    // Half a run is no result.
    let measured = states.iter().filter(|state| *state == "measured").count();
    assert_eq!(files_below(&out.join("results")), measured);
    let listen = std::fs::read_to_string(&file).unwrap();
    for port in listen.split("--listen\", \"").skip(1) {
        nothing_left(port.split('"').next().unwrap());
    }
}

fn files_below(folder: &std::path::Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    entries.map(|entry| if entry.path().is_dir() { files_below(&entry.path()) } else { 1 }).sum()
}

/// What no study made stays.
#[test]
fn other_peoples_folders_are_not_cleared() {
    let scratch = Scratch::new("study-foreign");
    let file = template(&scratch);
    let out = scratch.path("out");
    std::fs::create_dir_all(out.join("results")).unwrap();
    std::fs::write(out.join("results/mine.txt"), "mine").unwrap();
    let ran = run(&format!("study run {file} -quick -fresh -out {}", text(&out))).with_code(3);
    assert!(ran.stderr.contains("no plan.json of a study"), "{ran:#?}");
    assert_eq!(std::fs::read_to_string(out.join("results/mine.txt")).unwrap(), "mine");
}

#[test]
fn a_server_that_is_never_ready_is_given_up() {
    let scratch = Scratch::new("study-never");
    let port = free_port();
    let server = format!(
        "values = {{ url = \"http://127.0.0.1:{port}\" }}\n[[variant.server]]\nname = \"sleeper\"\n\
         command = [\"sh\", \"-c\", \"echo no luck at all >&2; sleep 1000.{port}\"]\n\
         ready = \"tcp://127.0.0.1:{port}\"\nwithin = \"1s\"\n"
    );
    let file = small(&scratch, "never", &server);
    let out = scratch.path("out");
    let ran = run(&format!("study run {file} -out {}", text(&out))).with_code(11);
    assert!(ran.stderr.contains("sleeper was not ready within 1s"), "{ran:#?}");
    assert!(ran.stderr.contains("it said last: no luck at all"), "{ran:#?}");
    assert!(
        ran.stderr.contains("one is left out from here on: three of its runs in a row failed"),
        "{ran:#?}"
    );
    let json = document(&out);
    assert_eq!(states(&json), ["failed", "failed", "failed", "not run"]);
    let why = "three of its runs in a row failed before its servers were ready";
    assert_eq!(json["variants"][0]["left_out"], why);
    assert!(json["incidents"].to_string().contains("3 of 4 runs failed"), "{json}");
    nothing_left(&format!("sleep 1000.{port}"));
}

/// A workload that cannot be done is left out, and the others are not.
#[test]
fn a_workload_that_always_fails_is_given_up_alone() {
    let scratch = Scratch::new("study-fails");
    let file = small(&scratch, "fails", &serve(free_port()));
    let study = std::fs::read_to_string(&file).unwrap();
    let more = "[[workload]]\nname = \"none\"\ncommand = \"run {study}/no.js\"\n";
    std::fs::write(&file, study + more).unwrap();
    let out = scratch.path("out");
    let ran = run(&format!("study run {file} -out {}", text(&out))).with_code(11);
    let told = "none on one is left out from here on: three of its runs failed in a row";
    assert!(ran.stderr.contains(told), "{ran:#?}");
    let json = document(&out);
    let count = |workload: &str, state: &str| {
        let runs = json["runs"].as_array().unwrap().iter();
        runs.filter(|run| run["workload"] == workload && run["state"] == state).count()
    };
    assert_eq!((count("load", "measured"), count("none", "failed")), (4, 3), "{json}");
    assert_eq!((json["variants"][0]["left_out"].as_str(), count("none", "not run")), (Some(""), 1));
    assert_eq!(json["cells_left_out"][0]["workload"], "none");
    assert!(json["incidents"].to_string().contains("none on one was left out: three"), "{json}");
}

#[test]
fn a_server_that_dies_in_a_run_marks_it() {
    let scratch = Scratch::new("study-dies");
    let port = free_port();
    let own = env!("CARGO_BIN_EXE_brunt");
    // It serves until it is ready, and is gone soon after.
    let script =
        format!("{own} serve --listen 127.0.0.1:{port} & sleep 0.5; echo out of luck >&2; exit 3");
    let server = format!(
        "values = {{ url = \"http://127.0.0.1:{port}\" }}\n[[variant.server]]\nname = \"mortal\"\n\
         command = [\"sh\", \"-c\", \"{script}\"]\nready = \"tcp://127.0.0.1:{port}\"\n\
         [[variant]]\nname = \"two\"\n{}",
        serve(free_port())
    );
    let file = small(&scratch, "dies", &server);
    let study = std::fs::read_to_string(&file).unwrap().replace("-d 100ms", "-d 2s");
    std::fs::write(&file, study.replace("repeats = 4", "repeats = 1")).unwrap();
    let out = scratch.path("out");
    let ran = run(&format!("study run {file} -out {}", text(&out))).with_code(11);
    assert!(
        ran.stderr.contains("FAILED: mortal ended by itself (code 3); it said last: "),
        "{ran:#?}"
    );
    assert!(ran.stderr.contains("out of luck"), "{ran:#?}");
    let json = document(&out);
    let runs = json["runs"].as_array().unwrap();
    let state = |variant: &str| {
        runs.iter().find(|run| run["variant"] == variant).unwrap()["state"].as_str().unwrap()
    };
    assert_eq!((state("one"), state("two")), ("failed", "measured"), "the study goes on");
    assert!(!out.join("results/load/one/001.arrow").exists(), "half a run is no run");
    nothing_left(&format!("127.0.0.1:{port}"));
}

#[test]
fn a_port_that_is_taken_is_told_with_its_holder() {
    let scratch = Scratch::new("study-taken");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let file = small(&scratch, "taken", &serve(port));
    let study = std::fs::read_to_string(&file).unwrap().replace("repeats = 4", "repeats = 1");
    std::fs::write(&file, study).unwrap();
    let ran = run(&format!("study run {file} -out {}", text(&scratch.path("out")))).with_code(11);
    let holder = format!("127.0.0.1:{port} is taken already by ");
    assert!(ran.stderr.contains(&holder), "{ran:#?}");
    assert!(ran.stderr.contains(&format!("(process {})", std::process::id())), "{ran:#?}");
}

#[test]
fn what_is_missing_is_said_before_anything_runs() {
    let scratch = Scratch::new("study-missing");
    let needs = |name: &str, more: &str| {
        format!(
            "requires = [{{ command = \"{name}\", install = \"apt-get install {name}\" }}]\n{more}\n{}",
            serve(free_port())
        )
    };
    let both = format!(
        "{}[[variant]]\nname = \"two\"\n{}[[variant]]\nname = \"three\"\n{}",
        needs("no-such-a", ""),
        needs("no-such-b", ""),
        serve(free_port())
    );
    let file = small(&scratch, "missing", &both);
    let out = text(&scratch.path("out"));
    let ran = run(&format!("study run {file} -out {out}")).with_code(10);
    for words in [
        "variant one: no program no-such-a",
        "variant two: no program no-such-b",
        "  apt-get install no-such-a\n  apt-get install no-such-b",
        "-only=three",
    ] {
        assert!(ran.stderr.contains(words), "{words}: {ran:#?}");
    }
    assert!(!Path::new(&out).exists(), "nothing was begun");
    let ran = run(&format!("study run {file} -only=three -out {out}")).with_code(0);
    assert!(ran.stderr.contains("one is left out: -only names others"), "{ran:#?}");
    run(&format!("study run {file} -only=thre -out {out}"))
        .with_code(2)
        .complains_once(&["-only", "did you mean three?"]);
    let optional = format!(
        "{}[[variant]]\nname = \"two\"\n{}",
        needs("no-such-a", "optional = true"),
        serve(free_port())
    );
    let file = small(&scratch, "optional", &optional);
    let out = scratch.path("optional");
    run(&format!("study run {file} -out {}", text(&out))).with_code(0);
    assert_eq!(document(&out)["variants"][0]["left_out"], "no program no-such-a");
}

#[test]
fn wrong_files_are_told_line_by_line() {
    let scratch = Scratch::new("study-wrong");
    let cases = [
        (
            "[study]\nname = \"x\"\nrepeets = 3\n",
            vec![
                ":1: variant: is missing",
                ":3: study.repeets: unknown key (did you mean repeats?)",
            ],
        ),
        ("[study\n", vec![":1: "]),
        ("[study]\nname = 5\n", vec![":2: study.name: a whole number where a text is expected"]),
    ];
    for (number, (study, words)) in cases.into_iter().enumerate() {
        let file = scratch.file(&format!("{number}.toml"), study);
        let ran = run(&format!("study run {file}")).with_code(3);
        assert!(ran.stderr.contains("nothing was started"), "{ran:#?}");
        for words in words {
            assert!(ran.stderr.contains(&format!("{file}{words}")), "{words}: {ran:#?}");
        }
    }
    let code = |line: &str, code: i32| -> Ran { run(line).with_code(code) };
    code("study", 2).stderr.contains("brunt study run FILE").then_some(()).unwrap();
    for (line, flag) in [
        ("study new -out x y.toml", "-out"),
        ("study new -json", "-json"),
        ("study new -only=a -force", "-only"),
        ("study run /nowhere.toml -force", "-force"),
    ] {
        code(line, 2).complains_once(&[flag, "stands for nothing"]);
    }
    code("study runn x", 2).stderr.contains("did you mean run?").then_some(()).unwrap();
    code("study run", 2);
    code("study run /nowhere.toml", 3);
}

/// Two load generators at once are one run; commands run before and after it, and each run is printed as JSON.
#[test]
fn generators_and_commands_around_a_run() {
    let scratch = Scratch::new("study-around");
    let server = format!(
        "generators = 2\nprefix = [\"env\", \"N={{generator}}\"]\nbefore = [[\"touch\", \"{{run}}/was-before\"]]\n\
         after = [[\"touch\", \"{{run}}/was-after\"], [\"false\"]]\n{}",
        serve(free_port())
    );
    let file = small(&scratch, "around", &server);
    let out = scratch.path("out");
    let ran = run(&format!("study run {file} -json -out {}", text(&out))).with_code(0);
    let lines: Vec<serde_json::Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.iter().filter(|line| line["event"] == "run").count(), 4, "{ran:#?}");
    let folder = out.join("runs/load/one/001");
    assert!(folder.join("was-before").exists() && folder.join("was-after").exists());
    let line = std::fs::read_to_string(folder.join("command.txt")).unwrap();
    assert!(line.contains("env N=1 brunt bench") && line.contains("env N=2 brunt bench"), "{line}");
    assert!(out.join("results/load/one/001/2.arrow").exists());
    let json = document(&out);
    assert_eq!(json["runs"][0]["codes"], serde_json::json!([0, 0]));
    assert!(
        json["incidents"].to_string().contains("In every run: false failed (code 1)"),
        "{json}"
    );
}
