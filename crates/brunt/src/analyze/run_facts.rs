//! What is known of a run of the store, as texts.

use store::Run;

/// `2026-11-24 06:15:12Z` of an RFC 3339 time with milliseconds.
pub(super) fn started(time: &str) -> String {
    let seconds = time.get(..19).unwrap_or(time);
    format!("{}Z", seconds.replace('T', " "))
}

/// Labels, the baseline among them, on one line.
pub(super) fn labels(run: &Run) -> String {
    let own = run.manifest.labels.iter().map(|(key, value)| format!("{key}={value}"));
    let baseline = run.manifest.baseline.iter().map(|name| format!("[baseline {name}]"));
    own.chain(baseline).collect::<Vec<_>>().join(" ")
}

/// A text of at most so many characters, the last one an ellipsis where more were cut.
pub(super) fn shortened(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        None => text.to_owned(),
        Some(_) => text.chars().take(max - 1).chain(['…']).collect(),
    }
}

/// What a run attacked. It may have been kept without what is redacted now.
pub(super) fn attacked(run: &Run) -> Option<String> {
    let kept = run.manifest.attacked.as_ref()?;
    Some(stdx::redacted_message(kept).unwrap_or_else(|| kept.clone()))
}

/// What is known of a run: names and texts.
pub(super) fn facts(run: &Run) -> Vec<(&'static str, String)> {
    let manifest = &run.manifest;
    let git = manifest.git.as_ref().map(|git| {
        let dirty = if git.dirty { ", with changes" } else { "" };
        let branch = if git.branch.is_empty() { "no branch" } else { &git.branch };
        format!("{} ({branch}{dirty})", git.commit)
    });
    let machine = &manifest.machine;
    let cores = stdx::counted(machine.cores as u64, "core");
    let inputs = manifest.inputs.iter();
    // A manifest from elsewhere may have anything in place of a hash.
    let digits = |hash: &str| hash.chars().take(12).collect::<String>();
    let inputs = inputs.map(|input| format!("{} (SHA-256 {}…)", input.path, digits(&input.sha256)));
    let ended = manifest.ended.as_deref().map_or(String::new(), |ended| format!(" to {ended}"));
    let code = manifest.exit_code.map(|code| format!(", exit code {code}")).unwrap_or_default();
    let server = manifest.server.as_ref();
    let lines = [
        ("Run", format!("{} ({})", manifest.id, manifest.name)),
        ("Server", server.map_or(String::new(), |server| server.result.clone())),
        ("Verdict", format!("{}{code}", run.verdict())),
        (
            "Command",
            format!(
                "brunt {} {}",
                manifest.command,
                quoted(&store::without_secrets(&manifest.args))
            ),
        ),
        ("Attacked", attacked(run).unwrap_or_default()),
        ("Time", format!("{}{ended}", manifest.started)),
        ("Labels", labels(run)),
        ("Note", manifest.note.clone()),
        ("Commit", git.unwrap_or_default()),
        (
            "Machine",
            format!("{}: {cores}, {}, {}", machine.host, machine.processor, machine.kernel),
        ),
        ("Inputs", inputs.collect::<Vec<_>>().join(", ")),
        ("Folder", run.folder.display().to_string()),
    ];
    lines.into_iter().filter(|(_, text)| !text.is_empty()).collect()
}

/// Arguments as a shell reads them.
fn quoted(args: &[String]) -> String {
    let is_plain = |one: char| one.is_ascii_alphanumeric() || "-_=./:,@%+".contains(one);
    let quote = |arg: &String| match !arg.is_empty() && arg.chars().all(is_plain) {
        true => arg.clone(),
        false => format!("'{}'", arg.replace('\'', "'\\''")),
    };
    args.iter().map(quote).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_quoted_as_a_shell_reads_them() {
        let args = ["-rate=5".to_owned(), "it's".to_owned(), String::new()];
        assert_eq!(quoted(&args), "-rate=5 'it'\\''s' ''");
    }
}
