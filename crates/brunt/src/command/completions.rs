//! `completions`: scripts for bash, zsh and fish, from the tables.

use cli::{
    CommandError, ExitCode, NO_FLAGS, Output, Registry, Row, ToolSpec, ValueKind, global,
    usage_error,
};

use crate::dialect::Invocation;

/// Prints the script for one shell.
pub(super) fn run(invocation: &Invocation, registry: &Registry) -> Result<ExitCode, CommandError> {
    let typed = invocation.parse(NO_FLAGS)?;
    let shell = match typed.operands.as_slice() {
        [shell] => shell.as_str(),
        _ => return Err(usage_error("completions takes one shell's name: bash, zsh or fish")),
    };
    let script = match shell {
        "bash" => bash(registry),
        "zsh" => zsh(registry),
        "fish" => fish(registry),
        other => {
            return Err(usage_error(format!(
                "there are no completions for \"{other}\" (expected bash, zsh or fish)"
            )));
        }
    };
    Output::Stdout.write(script.as_bytes())?;
    Ok(ExitCode::Ok)
}

/// A command's flags and the global ones.
fn rows(own: Vec<Row>) -> Vec<Row> {
    let everywhere = global::FLAGS.iter().map(|flag| flag.row).filter(|row| row.name != "profile");
    own.into_iter().chain(everywhere).collect()
}

fn bash(registry: &Registry) -> String {
    let mut text = String::from(
        "# bash completion of brunt; made by `brunt completions bash`\n_brunt() {\n  local cur=${COMP_WORDS[COMP_CWORD]} \
         prev=${COMP_WORDS[COMP_CWORD-1]} command= word flags=\n  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n    \
         case $word in -*|vegeta) ;; *) command=$word; break;; esac\n  done\n  case $command in\n",
    );
    let mut choices = String::new();
    for command in registry.commands {
        let flags: Vec<String> =
            rows(command.native_rows()).iter().map(|row| format!("-{}", row.name)).collect();
        text.push_str(&format!("    {}) flags=\"{}\";;\n", command.name, flags.join(" ")));
        for row in command.native_rows() {
            if let ValueKind::Choice(words) = row.kind {
                choices.push_str(&format!(
                    "    {}:-{}|{}:--{}) COMPREPLY=($(compgen -W \"{}\" -- \"$cur\")); return;;\n",
                    command.name,
                    row.name,
                    command.name,
                    row.name,
                    words.join(" ")
                ));
            }
        }
    }
    text.push_str("  esac\n  case $command:$prev in\n");
    text.push_str(&choices);
    text.push_str(&format!(
        "    completions:*) COMPREPLY=($(compgen -W \"bash zsh fish\" -- \"$cur\")); return;;\n  esac\n  \
         if [[ $cur == -* ]]; then\n    COMPREPLY=($(compgen -W \"$flags\" -- \"$cur\"))\n  \
         elif [[ -z $command ]]; then\n    COMPREPLY=($(compgen -W \"{}\" -- \"$cur\"))\n  \
         else\n    COMPREPLY=($(compgen -f -- \"$cur\"))\n  fi\n}}\ncomplete -o filenames -F _brunt brunt\n",
        registry.names().collect::<Vec<_>>().join(" ")
    ));
    text
}

fn zsh(registry: &Registry) -> String {
    let mut text = String::from(
        "#compdef brunt\n# zsh completion of brunt; made by `brunt completions zsh`\n_brunt() {\n  local -a commands\n  \
         commands=(\n",
    );
    for command in registry.commands {
        text.push_str(&format!("    '{}:{}'\n", command.name, zsh_text(command.summary)));
    }
    for ToolSpec { name, summary, .. } in registry.tools {
        text.push_str(&format!("    '{name}:{}'\n", zsh_text(summary)));
    }
    text.push_str("  )\n  if (( CURRENT == 2 )); then _describe command commands; return; fi\n  case $words[2] in\n");
    for command in registry.commands {
        text.push_str(&format!("    {}) _arguments \\\n", command.name));
        for row in rows(command.native_rows()) {
            let action = match row.kind {
                ValueKind::Switch | ValueKind::Optional { .. } => String::new(),
                ValueKind::Path => ":file:_files".to_owned(),
                ValueKind::Choice(words) => format!(":word:({})", words.join(" ")),
                ValueKind::Text(_) | ValueKind::Duration => ":value: ".to_owned(),
            };
            text.push_str(&format!("      '*-{}[{}]{action}' \\\n", row.name, zsh_text(row.docs)));
        }
        text.push_str("      '*:file:_files';;\n");
    }
    text.push_str("  esac\n}\n_brunt \"$@\"\n");
    text
}

/// Text inside zsh's quotes and brackets.
fn zsh_text(text: &str) -> String {
    text.replace('\'', "'\\''").replace('[', "\\[").replace(']', "\\]").replace(':', "\\:")
}

fn fish(registry: &Registry) -> String {
    let mut text = String::from(
        "# fish completion of brunt; made by `brunt completions fish`\ncomplete -c brunt -f\n",
    );
    for command in registry.commands {
        text.push_str(&format!(
            "complete -c brunt -n __fish_use_subcommand -a {} -d '{}'\n",
            command.name,
            fish_text(command.summary)
        ));
        for row in rows(command.native_rows()) {
            let value = match row.kind {
                ValueKind::Switch | ValueKind::Optional { .. } => String::new(),
                ValueKind::Path => " -r -F".to_owned(),
                ValueKind::Choice(words) => format!(" -x -a '{}'", words.join(" ")),
                ValueKind::Text(_) | ValueKind::Duration => " -x".to_owned(),
            };
            text.push_str(&format!(
                "complete -c brunt -n '__fish_seen_subcommand_from {}' -o {}{value} -d '{}'\n",
                command.name,
                row.name,
                fish_text(row.docs)
            ));
        }
    }
    for ToolSpec { name, summary, .. } in registry.tools {
        text.push_str(&format!(
            "complete -c brunt -n __fish_use_subcommand -a {name} -d '{}'\n",
            fish_text(summary)
        ));
    }
    text.push_str(
        "complete -c brunt -n '__fish_seen_subcommand_from report plot encode dump' -F\n",
    );
    text
}

/// Text inside fish's single quotes.
fn fish_text(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\'', "\\'")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::REGISTRY;

    #[test]
    fn every_shell_knows_every_flag_and_command() {
        let scripts = [bash(&REGISTRY), zsh(&REGISTRY), fish(&REGISTRY)];
        for name in REGISTRY.names() {
            assert!(scripts.iter().all(|script| script.contains(name)), "{name}");
        }
        for command in REGISTRY.commands {
            for script in &scripts {
                assert!(script.contains(command.name), "{}", command.name);
                for row in command.native_rows() {
                    let found = script.contains(&format!("-{}", row.name))
                        || script.contains(&format!("-o {}", row.name));
                    assert!(found, "{} -{}", command.name, row.name);
                }
            }
        }
    }

    #[test]
    fn quotes_do_not_end_the_text() {
        assert_eq!(zsh_text("it's [a:b]"), "it'\\''s \\[a\\:b\\]");
        assert_eq!(fish_text("it's"), "it\\'s");
    }
}
