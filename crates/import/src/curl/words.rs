//! The commands of an input, by the dialect of its shell.

use super::command::{Commands, FIRST};
use super::{bash, windows};
use crate::{ImportError, Input};

/// The commands of an input, by its dialect.
pub(super) fn commands(input: &Input<'_>) -> Result<Commands, ImportError> {
    let text: String = input
        .text
        .trim_start_matches('\u{feff}')
        .chars()
        .map(|char| if u32::from(char) >= FIRST { '\u{fffd}' } else { char })
        .collect();
    match Dialect::of(input.name, &text) {
        Dialect::Bash => bash::commands(input, &text),
        Dialect::Cmd => windows::cmd_commands(input, &text),
        Dialect::PowerShell => windows::powershell_commands(input, &text),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Bash,
    Cmd,
    PowerShell,
}

impl Dialect {
    fn of(name: &str, text: &str) -> Self {
        let name = name.to_ascii_lowercase();
        let has = |ending: &str| name.ends_with(ending) || name.contains(&format!("{ending}."));
        if has(".ps1") {
            return Self::PowerShell;
        }
        if has(".cmd") || has(".bat") {
            return Self::Cmd;
        }
        if has(".bash") || text.trim_start().starts_with("#!") {
            return Self::Bash;
        }
        let ends_in = |mark: char| text.lines().any(|line| line.trim_end().ends_with(mark));
        let is_bash = ends_in('\\') || text.contains("$(");
        if !is_bash && (begins_word(text, "^\"") || ends_in('^')) {
            return Self::Cmd;
        }
        let powershell = ends_in('`')
            || text.contains("$env:")
            || ["@'\n", "@\"\n"].iter().any(|mark| begins_word(text, mark));
        if powershell && !ends_in('\\') { Self::PowerShell } else { Self::Bash }
    }
}

/// Whether a word begins with `mark`: `^"` as browsers write it for cmd, `@"` of PowerShell. Regular expressions have the first within
/// their quotes, bash has the second in `"$@"`.
fn begins_word(text: &str, mark: &str) -> bool {
    text.match_indices(mark).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        before.is_none_or(|before| before.is_whitespace() || matches!(before, '=' | '('))
    })
}
