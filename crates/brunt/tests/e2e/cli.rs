//! Help, version, completions and the man page.

use std::process::{Command, Stdio};

use crate::{feed, run};

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
