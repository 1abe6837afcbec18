//! The five studies of `studies/`, in their short form and with the real servers. They have fixed ports, so one runs at a
//! time, and they take long: `case_` has them begin early.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::{Scratch, brunt, run, start_within, text, until};

/// All of them, by their folders.
const STUDIES: [&str; 5] =
    ["app-servers", "cable-servers", "nginx-or-not", "proxy-balancing", "saturation"];

/// Booting Rails nine times takes a minute where compilers have the cores.
const STUDY_LIMIT: Duration = Duration::from_secs(240);

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies").canonicalize().unwrap()
}

fn file(study: &str) -> String {
    text(&folder().join(study).join("study.toml"))
}

/// A study's short form that was run to its end.
struct Done {
    json: Value,
}

impl Done {
    /// Runs these variants until what the study's file expects of workloads came true, at most three times: what else this machine
    /// does slows one variant and not the other.
    #[track_caller]
    fn that_holds(study: &str, variants: &str, expected: &[(&str, &str)]) -> Self {
        let mut seen = Vec::new();
        for _ in 0..3 {
            let done = Self::of(study, variants);
            let mut orderings = expected.iter().map(|(of, what)| done.ordering(of, what));
            if orderings.all(|ordering| ordering["held"] == true) {
                return done;
            }
            seen.push(done.json["workloads"].clone());
        }
        panic!("{study}: not {expected:?} in {seen:#?}");
    }

    /// Runs these variants; everything that was started is gone afterwards.
    #[track_caller]
    fn of(study: &str, variants: &str) -> Self {
        let scratch = Scratch::new(&format!("studies-{study}"));
        let out = text(&scratch.path("out"));
        let command = format!("study run {} -quick -only={variants} -out={out}", file(study));
        // What is missing is reported on standard error, with the command that installs it.
        let ran = start_within(brunt(&command), STUDY_LIMIT).wait().with_code(0);
        let ports = ports(study);
        assert!(!ports.is_empty(), "{study} names its ports");
        until("the study's servers are gone", || {
            listening().is_disjoint(&ports) && started_for(&out).is_empty()
        });
        let page = std::fs::read_to_string(scratch.path("out/report.html")).unwrap();
        assert!(page.contains("Runs, in their order"), "{ran:#?}");
        let json = std::fs::read(scratch.path("out/study.json")).unwrap();
        let done = Self { json: serde_json::from_slice(&json).unwrap() };
        done.is_whole(variants);
        done
    }

    /// Every run was measured, and every variant that was asked for has one.
    #[track_caller]
    fn is_whole(&self, variants: &str) {
        assert_eq!(self.json["form"], "quick");
        let measured: BTreeSet<&str> = self.runs().map(|run| of(run, "variant")).collect();
        assert_eq!(measured, variants.split(',').collect());
        for run in self.runs() {
            assert_eq!(run["state"], "measured", "{run}");
        }
    }

    fn runs(&self) -> impl Iterator<Item = &Value> {
        self.json["runs"].as_array().unwrap().iter()
    }

    /// The share of errors of all runs of a workload.
    #[track_caller]
    fn errors(&self, workload: &str, share: f64) {
        let runs: Vec<&Value> = self.runs().filter(|run| run["workload"] == workload).collect();
        assert!(!runs.is_empty(), "{workload} was run: {}", self.json);
        for run in runs {
            assert_eq!(run["figures"]["errors"], share, "{run}");
        }
    }

    /// Every run has the server's own times, from the application's log.
    #[track_caller]
    fn has_server_times(&self) {
        for run in self.runs() {
            assert!(run["figures"]["server.p50"].as_f64().is_some_and(|p50| p50 > 0.0), "{run}");
        }
    }

    /// What became of an ordering that the study's file expects.
    #[track_caller]
    fn ordering(&self, workload: &str, expected: &str) -> &Value {
        let workloads = self.json["workloads"].as_array().unwrap();
        let workload = workloads.iter().find(|one| one["name"] == workload).unwrap();
        let orderings = workload["orderings"].as_array().unwrap();
        let ordering = orderings.iter().find(|one| one["expected"] == expected);
        ordering.unwrap_or_else(|| panic!("{expected} is not among {orderings:?}"))
    }
}

fn of<'a>(run: &'a Value, key: &str) -> &'a str {
    run[key].as_str().unwrap()
}

/// The ports that a study's file names: all of the studies lie between 4101 and 4149.
fn ports(study: &str) -> BTreeSet<u16> {
    let text = std::fs::read_to_string(file(study)).unwrap();
    let numbers = text.split(':').skip(1).filter_map(|rest| rest.get(..4)?.parse().ok());
    numbers.filter(|port| (4101..4150).contains(port)).collect()
}

/// The ports that a process of this machine listens on with IPv4.
fn listening() -> BTreeSet<u16> {
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let port = |line: &str| {
        let mut columns = line.split_whitespace().skip(1);
        let (_, port) = columns.next()?.split_once(':')?;
        // proc(5): the third column is the state, and 0A is TCP_LISTEN.
        let listens = columns.nth(1)? == "0A";
        listens.then(|| u16::from_str_radix(port, 16).ok())?
    };
    table.lines().skip(1).filter_map(port).collect()
}

/// The processes with this folder in their command line or environment: servers log into it.
fn started_for(folder: &str) -> Vec<String> {
    let holds = |path: &Path, name: &str| {
        let held = std::fs::read(path.join(name)).unwrap_or_default();
        String::from_utf8_lossy(&held).contains(folder)
    };
    let all = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let found = all.filter(|path| holds(path, "cmdline") || holds(path, "environ"));
    found.map(|path| text(&path)).collect()
}

#[test]
fn every_study_is_read_in_both_forms() {
    let mut found: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(Result::unwrap)
        .filter(|entry| entry.path().join("study.toml").exists())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    found.sort_unstable();
    assert_eq!(found, STUDIES);
    let scratch = Scratch::new("studies-read");
    for study in STUDIES {
        for form in ["", "-quick"] {
            let out = scratch.path(study);
            // The file is read, and all its errors reported, before names are checked.
            let command =
                format!("study run {} {form} -only=nobody -out={}", file(study), text(&out));
            let refused = run(&command).with_code(2);
            refused.complains_once(&["-only", "no variant is called \"nobody\""]);
            assert!(!out.exists(), "{study}: nothing was begun");
        }
    }
}

/// One after the other: tests that waited for one another would each hold one of the few threads.
#[test]
fn each_comes_out_as_its_file_expects() {
    let studies: [(&str, fn()); STUDIES.len()] = [
        ("app-servers", app_servers_answer_pages_and_files),
        ("cable-servers", cable_servers_has_the_stand_in_ahead_of_action_cable),
        ("nginx-or-not", nginx_or_not_has_nginx_ahead_on_files_beside_pages),
        ("proxy-balancing", proxy_balancing_has_one_back_end_behind_three),
        ("saturation", saturation_has_clients_wait_for_workers),
    ];
    assert_eq!(studies.map(|(name, _)| name), STUDIES);
    let fails = |study: fn()| std::panic::catch_unwind(study).is_err();
    let failed = studies.into_iter().filter(|(_, study)| fails(*study)).map(|(name, _)| name);
    assert_eq!(failed.collect::<Vec<_>>(), [""; 0]);
}

fn nginx_or_not_has_nginx_ahead_on_files_beside_pages() {
    let expected =
        [("mixed-20", "nginx < puma: latency.mean"), ("mixed-20", "nginx < puma: latency.p50")];
    let done = Done::that_holds("nginx-or-not", "puma,nginx", &expected);
    // The page of the post answers 400.
    done.errors("page-6", 1.0);
    done.errors("mixed-20", 0.25);
    done.has_server_times();
}

fn cable_servers_has_the_stand_in_ahead_of_action_cable() {
    let expected = [("echo", "stand-in < async: rtt.p50"), ("broadcast", "stand-in ~ async: lost")];
    let done = Done::that_holds("cable-servers", "async,stand-in", &expected);
    done.errors("chat", 0.0);
}

fn proxy_balancing_has_one_back_end_behind_three() {
    let expected = [
        "hash < round-robin: throughput",
        "hash < fair: throughput",
        "round-robin < hash: latency.p50",
        "hash < passenger: throughput",
    ]
    .map(|one| ("waiting", one));
    let variants = "hash,round-robin,fair,passenger";
    let done = Done::that_holds("proxy-balancing", variants, &expected);
    done.errors("waiting", 0.0);
}

/// Which of them is faster is a matter of the machine, so only their answers are looked at.
fn app_servers_answer_pages_and_files() {
    let done = Done::of("app-servers", "puma,thin,nginx,passenger");
    done.errors("page", 0.0);
    done.errors("file", 0.0);
}

fn saturation_has_clients_wait_for_workers() {
    let expected = [("load", "c4 < c16: latency.p50")];
    let done = Done::that_holds("saturation", "c4,c16", &expected);
    done.errors("load", 0.0);
    done.has_server_times();
}
