//! Sessions as documentations show them, with prompts and what the commands printed.

/// A session as documentations show it: the lines behind a prompt are commands, the others what they printed, and stay empty.
pub(super) fn without_prompts(text: &str) -> String {
    let prompt = |line: &str| {
        let line = line.trim_start();
        ["$ ", "> curl", "% "].iter().find(|mark| line.starts_with(**mark)).map(|mark| {
            let length = if *mark == "> curl" { 2 } else { mark.len() };
            line[length..].to_owned()
        })
    };
    if !text
        .lines()
        .any(|line| prompt(line).is_some_and(|rest| rest.trim_start().starts_with("curl")))
    {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut command = String::new();
    for line in text.lines() {
        let goes_on = !command.is_empty() && (command.ends_with('\\') || has_open_quote(&command));
        if goes_on {
            let line = if command.ends_with('\\') {
                line.trim_start().strip_prefix("> ").unwrap_or(line)
            } else {
                line
            };
            command.push('\n');
            command.push_str(line);
            out.push_str(line);
        } else if let Some(rest) = prompt(line) {
            out.push_str(&rest);
            command = rest;
        } else {
            command.clear();
        }
        out.push('\n');
    }
    out
}

fn has_open_quote(text: &str) -> bool {
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match (quote, char) {
            (None | Some('"'), '\\') => {
                chars.next();
            }
            (None, '\'' | '"') => quote = Some(char),
            (Some(open), char) if open == char => quote = None,
            _ => {}
        }
    }
    quote.is_some()
}
