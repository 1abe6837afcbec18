//! argv → `ToolConfig`, as text. `UPDATE=1` rewrites the snapshot.

use super::LOAD_TOOLS;

/// Command lines of every tool.
const LINES: &[&str] = &[
    "wrk http://h:81/p?q",
    "wrk -t4 -c100 -d2m --latency --timeout 5s -H X:y http://h/",
    "wrk -c 1k -t 1k http://h/",
    "wrk2 -R 2k -t2 -c64 -d30s -U https://h/",
    "perfer -t 2 -k -c 40 -b 2 h:1 -p /robots.txt -d 10",
    "perfer --compat=1.3 -t 3 -n 100 h:1",
    "perfer -t 2 -c 8 -b 4 -k -m 500 -l 50,99 -g 40x8 -d 2.5 http://h:1/x",
    "perfer -c 8 -b 4 -j h/x -p body -a A:b",
    "hey http://h/",
    "hey -n 201 -c 50 -m post -d x=1 -T a/b -t 0 -disable-redirects http://h/",
    "hey -z 10s -c 4 -q 2.5 -disable-keepalive -cpus 3 -o csv -x http://proxy:3128 http://u:p@h/",
    "oha http://h/",
    "oha -z 5s -w -c=8 -q 100 -r 0 --insecure --connect-to a:80:b:81 --output-format json -o f http://h/",
    "hey -h2 -n 10 -c 5 https://h/",
    "oha --http-version 2 -c 3 -p 8 https://h/",
    "oha -z 5s -A x -a u:p --host z --disable-compression http://h/",
];

/// Compares a text with the snapshot, line by line.
fn check_snapshot(text: &str) {
    let snapshot = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/snapshot.txt");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&snapshot, text).unwrap();
    }
    let expected = std::fs::read_to_string(&snapshot).unwrap();
    for (got, want) in text.lines().zip(expected.lines()) {
        assert_eq!(got, want, "in {} (UPDATE=1 rewrites it)", snapshot.display());
    }
    assert_eq!(text.lines().count(), expected.lines().count());
}

#[test]
fn command_lines_mean() {
    let mut all = String::new();
    for line in LINES {
        let mut words = line.split(' ').map(str::to_owned);
        let name = words.next().unwrap();
        let args: Vec<String> = words.collect();
        let tool = LOAD_TOOLS.iter().find(|tool| tool.name == name).unwrap();
        let mut config = (tool.parse)(&args).unwrap();
        // Where a line does not say, the machine does.
        config.settings.workers = config.settings.workers.min(2);
        config.probe = None;
        all.push_str(&format!("$ {line}\n{config:#?}\n\n"));
    }
    check_snapshot(&all);
}

#[test]
fn no_two_options_of_a_table_share_a_name() {
    fn check<T>(table: &[cli::Flag<T>]) {
        let names =
            table.iter().flat_map(|flag| flag.row.aliases.iter().copied().chain([flag.row.name]));
        let mut names: Vec<&str> = names.collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
    check(&super::wrk::wrk2_flags());
    check(super::perfer::FLAGS);
    check(super::hey::FLAGS);
    check(super::oha::FLAGS);
}
