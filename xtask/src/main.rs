//! The toolbox: every chore of the project as `cargo xtask COMMAND`. One file per command. It is never shipped, and it
//! holds no logic of the product: it starts `cargo`, `npm`, `nginx` and the `brunt` binary and looks at what they say.

mod asan;
mod bench;
mod ci;
mod codegen;
mod counts;
mod deny;
mod dist;
mod faults;
mod fuzz;
mod hook;
mod k8s;
mod licences;
mod msrv;
mod npm;
mod process;
mod sanitizer;
mod sources;
mod test;
mod tidy;
mod web;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;

/// A command: its name, its arguments as help shows them, what it does, and the function.
struct Command {
    name: &'static str,
    arguments: &'static str,
    about: &'static str,
    run: fn(&[String]) -> Result<ExitCode>,
}

/// Every command, in the order help shows them.
const COMMANDS: [Command; 17] = [
    Command {
        name: "test",
        arguments: "",
        about: "make sure of the Debian packages the tests need, run every test, count",
        run: test::run,
    },
    Command {
        name: "ci",
        arguments: "",
        about: "what CI runs: fmt, clippy, tidy, deny, sbom, web, codegen, doc, counts, test",
        run: ci::run,
    },
    Command {
        name: "tidy",
        arguments: "",
        about: "the house rules that no compiler checks",
        run: tidy::run,
    },
    Command {
        name: "codegen",
        arguments: "[--check]",
        about: "write flag reference, man page and completions from brunt's own table",
        run: codegen::run,
    },
    Command {
        name: "web",
        arguments: "[--check]",
        about: "build the bundles of web/ and modules/ into the crates' assets (needs Node)",
        run: web::run,
    },
    Command {
        name: "bench",
        arguments: "[--rounds N] [--seconds S] [--only NAME] [--before PROGRAM]",
        about: "speed against the peers found here, and another build; writes bench/RESULTS.md",
        run: bench::run,
    },
    Command {
        name: "counts",
        arguments: "[--update]",
        about: "instructions of the hot paths against bench/INSTRUCTIONS.md (needs valgrind)",
        run: counts::run,
    },
    Command {
        name: "deny",
        arguments: "[--offline]",
        about: "licences and known vulnerabilities of the dependencies (needs cargo-deny)",
        run: deny::run,
    },
    Command {
        name: "dist",
        arguments: "[--target TRIPLE] [--out FOLDER]",
        about: "a static program as archive, .deb and container image, with checksums and SBOM",
        run: dist::run,
    },
    Command {
        name: "sbom",
        arguments: "[--check]",
        about: "what the program is made of, as CycloneDX; dist puts it beside the archives",
        run: dist::sbom::run,
    },
    Command {
        name: "fuzz",
        arguments: "[--minutes N] [--seconds S] [--inputs N] [--only TARGET] [--no-asan] | --mutate N [--seed S]",
        about: "every fuzz target for its share of the time; a crash, hang or too much memory fails",
        run: fuzz::run,
    },
    Command {
        name: "faults",
        arguments: "[--seed N] [--moments N] [--only NAME]",
        about: "faults of machine and user against every command: signals, kills, disks, limits",
        run: faults::run,
    },
    Command {
        name: "asan",
        arguments: "[--walks N]",
        about: "the tests of crate script under AddressSanitizer, QuickJS's C included",
        run: asan::run,
    },
    Command {
        name: "k8s",
        arguments: "",
        about: "brunt fleet k8s against a real API server, built here (needs Go, kubectl)",
        run: k8s::run,
    },
    Command {
        name: "msrv",
        arguments: "",
        about: "whether everything builds with the oldest Rust version promised",
        run: msrv::run,
    },
    Command {
        name: "hook",
        arguments: "",
        about: "install a pre-commit hook: fmt, tidy, and clippy over the changed crates",
        run: hook::run,
    },
    Command { name: "help", arguments: "", about: "this text", run: help },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let name = arguments.first().map_or("help", String::as_str);
    let name = if matches!(name, "-h" | "--help") { "help" } else { name };
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        eprintln!("xtask: no command \"{name}\"; `cargo xtask help` lists them");
        return ExitCode::from(2);
    };
    (command.run)(arguments.get(1..).unwrap_or_default()).unwrap_or_else(|error| {
        eprintln!("xtask {name}: {error:#}");
        ExitCode::FAILURE
    })
}

/// Prints the list of commands.
fn help(_arguments: &[String]) -> Result<ExitCode> {
    println!("usage: cargo xtask COMMAND\n");
    for command in &COMMANDS {
        let call = format!("{} {}", command.name, command.arguments);
        println!("  {call:<50} {}", command.about);
    }
    Ok(ExitCode::SUCCESS)
}
