//! `codegen`: the documents that come from brunt's own table of flags: man page, completions, flag reference. The binary
//! prints them; this writes them into the tree, or with `--check` compares. Nothing is generated that is compiled.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::{process, workspace};

/// What `brunt ARGUMENTS` prints, and where that is kept.
const GENERATED: [(&[&str], &str); 4] = [
    (&["man"], "docs/man/brunt.1"),
    (&["completions", "bash"], "docs/completions/brunt.bash"),
    (&["completions", "zsh"], "docs/completions/_brunt"),
    (&["completions", "fish"], "docs/completions/brunt.fish"),
];

/// The flag reference: each command's own help.
const FLAGS: &str = "docs/reference/flags.md";
/// What the commands with load have beside it.
const FEATURES: &str = "docs/reference/load-commands.md";
/// Commands without flags of brunt's own.
const WITHOUT_FLAGS: [&str; 2] = ["dump", "help"];

/// The command.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let check = arguments.iter().any(|argument| argument == "--check");
    let root = workspace::root();
    // One package alone would have the dependencies compiled anew, with other features than the tests have.
    let build = ["build", "--quiet", "--locked", "--workspace", "--all-targets"];
    process::stream(&root, "cargo", &build)?;
    let brunt = workspace::target_dir()?.join("debug/brunt").to_string_lossy().into_owned();
    let features = process::capture(&root, &brunt, &["help", "load"])?;
    let features = format!(
        "# Commands with load\n\nMade by `cargo xtask codegen` from the commands' own flags; `brunt help load` prints it.\n\n```\n{}\n```\n",
        features.trim_end()
    );
    let mut documents = vec![(FLAGS, reference(&root, &brunt)?), (FEATURES, features)];
    for (words, file) in GENERATED {
        documents.push((file, process::capture(&root, &brunt, words)?));
    }
    for (file, text) in documents {
        let path = root.join(file);
        let kept = fs::read_to_string(&path).unwrap_or_default();
        if kept == text {
            continue;
        }
        if check {
            bail!("{file} is not what brunt prints now; run `cargo xtask codegen`");
        }
        fs::create_dir_all(path.parent().unwrap_or(&root))?;
        fs::write(&path, text).with_context(|| format!("writing {file}"))?;
        println!("codegen: {file}");
    }
    Ok(ExitCode::SUCCESS)
}

/// The flag reference: the help of each command.
fn reference(root: &Path, brunt: &str) -> Result<String> {
    let mut text = String::from(
        "# Flags\n\nMade by `cargo xtask codegen` from the table that brunt parses with.\n",
    );
    let overview = process::capture(root, brunt, &["help"])?;
    let global =
        overview.split_once("flags of every command:\n").context("no flags of every command")?;
    let lines = global.1.split("\n\n").next().unwrap_or_default();
    text += &format!(
        "\n## Every command\n\nBefore the command or the name of another tool (`brunt -redact secrets hey URL`), or after the command.\n\n```\n{}\n```\n",
        lines.trim_end()
    );
    for command in commands(&overview) {
        let help = process::capture(root, brunt, &["help", command])?;
        text += &format!("\n## brunt {command}\n\n```\n{}\n```\n", help.trim_end());
    }
    Ok(text)
}

/// The commands of the overview, in its order, without those that speak another tool's command line.
fn commands(overview: &str) -> Vec<&str> {
    let lines = overview.lines().skip_while(|line| !line.starts_with("  demo"));
    let lines =
        lines.take_while(|line| !line.is_empty()).filter_map(|line| line.trim().split_once(' '));
    let own = lines.filter(|(_, does)| !does.trim_start().starts_with("Speak "));
    own.map(|(name, _)| name).filter(|name| !WITHOUT_FLAGS.contains(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_of_the_overview_has_its_flags() {
        let overview = "brunt: x\n\n  demo     Show.\n  dump     Old.\n  run      Run.\n  ab       Speak ab's.\n\nflags:\n  -x  Y\n";
        assert_eq!(commands(overview), ["demo", "run"]);
    }
}
