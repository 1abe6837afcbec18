//! Help, version, completions and the man page.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Command, Stdio};

use crate::{Ran, Scratch, feed, run, server};

const COMMANDS: [&str; 10] =
    ["demo", "attack", "report", "plot", "encode", "dump", "serve", "completions", "man", "help"];

#[test]
fn help_is_there_in_every_form() {
    for command in COMMANDS {
        let help = run(&format!("help {command}")).with_code(0);
        assert!(help.stdout.contains(&format!("usage: brunt {command}")), "{}", help.stdout);
        for form in ["-h", "--help", "-help"] {
            assert_eq!(
                run(&format!("{command} {form}")).with_code(0).stdout,
                help.stdout,
                "{command} {form}"
            );
        }
    }
    let overview = run("help").with_code(0).stdout;
    assert_eq!(run("--help").with_code(0).stdout, overview);
    assert!(COMMANDS.iter().all(|command| overview.contains(command)));
    let none = run("").with_code(2);
    assert_eq!((none.stdout.as_str(), none.stderr), ("", overview));
    assert!(run("help attack").stdout.contains("tee -i results.bin | brunt report"));
    assert!(run("help vegeta").with_code(0).stdout.contains("word for word"));
}

#[test]
fn the_version_is_printed() {
    let version = format!("brunt {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(run("--version").with_code(0).stdout, version);
    assert_eq!(run("-version").with_code(0).stdout, version);
    assert_eq!(run("attack -targets=/nowhere --version").with_code(0).stdout, version);
}

#[test]
fn cpus_stands_before_or_after_the_command() {
    for line in ["-cpus 1 attack -targets=/dev/null", "attack -targets=/dev/null -cpus=1"] {
        assert!(run(line).with_code(3).stderr.contains("no targets"), "{line}");
    }
    assert!(run("vegeta attack -cpus 1").with_code(2).stderr.contains("not defined: -cpus"));
}

#[test]
fn completions_are_valid_scripts() {
    for (shell, word) in
        [("bash", "complete "), ("zsh", "#compdef brunt"), ("fish", "complete -c brunt")]
    {
        let script = run(&format!("completions {shell}")).with_code(0);
        assert!(script.stdout.contains(word) && script.stdout.contains("max-workers"));
    }
    let script = run("completions bash").bytes;
    let mut bash = Command::new("bash");
    bash.args(["-c", "source /dev/stdin && COMP_WORDS=(brunt attack -dur) COMP_CWORD=2 && _brunt && echo \"${COMPREPLY[@]}\""]);
    bash.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let ran = feed(bash, script).with_code(0);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("-duration\n", ""));
    assert!(run("completions tcsh").with_code(2).stderr.contains("expected bash, zsh or fish"));
}

#[test]
fn the_man_page_is_roff() {
    let page = run("man").with_code(0).stdout;
    assert!(page.starts_with(".TH BRUNT 1") && page.contains(".SH EXIT STATUS"));
}

#[test]
fn a_url_is_enough() {
    let (_served, url) = server(demo::Config::default());
    let said = |ran: &Ran, words: &str| assert!(ran.stderr.contains(words), "{words}: {ran:?}");
    let counted = |ran: &Ran, words: &str| assert!(ran.stdout.contains(words), "{words}: {ran:?}");
    let attack = "attack -rate=50 -duration=200ms -output=none";
    let ran = run(&format!("{attack} {url}/ {url}/status/404")).with_code(0);
    counted(&ran, "200:5  404:5");
    let ran = run(&format!("{url}/ -rate=50 -duration=200ms")).with_code(0);
    said(&ran, "brunt: no command is given, so this is brunt attack -output=none\n");
    counted(&ran, "200:10");
    let ran = run(&format!("-n 20 -c 2 {url}/")).with_code(0);
    said(&ran, "brunt: no command is given, so this is brunt bench\n");
    counted(&ran, "200:20");
    for flags in ["-n 20 -c 2", "--users 2 -n 20", "-requests=20"] {
        let ran = run(&format!("attack {flags} {url}/")).with_code(0);
        said(&ran, " is of a closed loop, so this is brunt bench\n");
        counted(&ran, "200:20");
    }
    for (line, words) in [
        (format!("attack -n 20 -rate=5 {url}/"), "brunt bench -n 100 -c 10 URL"),
        (format!("attack -targets=t {url}/"), "a URL and -targets exclude each other"),
        (format!("attack -lazy {url}/"), "a URL is known before"),
        (format!("atack {url}/"), "did you mean attack?"),
        (format!("-n 5 bensh {url}/"), "unknown flag -n"),
        ("localhost:8080".to_owned(), "a URL begins with http:// or https://"),
    ] {
        said(&run(&line).with_code(2), words);
    }
    let ran = run(&format!("seek -step 200ms -warmup 0s -cooldown 0s -max-steps 1 {url}/"));
    said(&ran, "no -objective is given, so this seeks p95<500ms, errors<1%\n");
}

/// The head of the one request that a command sends to a server of its own.
fn head_of(command: impl FnOnce(&str) -> String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let served = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let (mut head, mut byte) = (Vec::new(), [0]);
        while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() == 1 {
            head.push(byte[0]);
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
        String::from_utf8(head).unwrap()
    });
    run(&command(&url)).with_code(0);
    served.join().unwrap()
}

#[test]
fn cookies_come_from_the_command_line_or_a_file_of_curl() {
    let scratch = Scratch::new("cookies");
    let jar = "127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\tabc\n#HttpOnly_127.0.0.1\tFALSE\t/cart\tFALSE\t0\tcart\t7\n";
    let jar = scratch.file("jar.txt", jar);
    let attack = "attack -rate=10 -duration=100ms -output=none";
    let head = head_of(|url| format!("{attack} -cookies={jar} {url}/"));
    assert!(head.contains("\r\nCookie: sid=abc\r\n"), "{head}");
    let head = head_of(|url| format!("bench -n 1 -c 1 -cookies={jar} {url}/cart"));
    assert!(head.contains("\r\nCookie: cart=7; sid=abc\r\n"), "{head}");
    let head = head_of(|url| format!("{attack} -cookies=a=1;b=2 {url}/"));
    assert!(head.contains("\r\nCookie: a=1;b=2\r\n"), "{head}");
    for (line, code, words) in [
        (format!("{attack} -cookies={jar} http://localhost:1/"), 3, "no cookie is for a target"),
        (format!("{attack} -cookies={jar}x http://127.0.0.1:1/"), 3, "jar.txtx"),
        (format!("{attack} -cookies={jar} -lazy"), 2, "-cookies needs targets that are known"),
        (format!("{attack} -cookies= http://127.0.0.1:1/"), 2, "no cookie is given"),
    ] {
        let ran = run(&line).with_code(code);
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
}
