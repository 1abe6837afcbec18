//! The filters of a shell, as places in an answer: `jq`, a line of Python, `grep` and `sed` that look for a member of JSON.

use super::command::Command;
use crate::{Between, Find, JsonStep};

/// What a filter leaves of what was found before it; none if it is not known.
pub(super) fn apply(
    found: (Find, Option<Between>),
    filter: &Command,
) -> Option<(Find, Option<Between>)> {
    let (name, args) = filter.words.split_first()?;
    let is_whole = matches!(&found.0, Find::Body(between) if between.left.is_empty());
    match name.rsplit('/').next().unwrap_or(name) {
        "jq" if is_whole => Some((Find::Json(jq(args)?), None)),
        "python" | "python3" if is_whole => Some((Find::Json(python(args)?), None)),
        "grep" | "sed" | "awk" | "egrep" if is_whole => text_filter(name, args),
        // What only takes quotes, blanks and line ends off, or narrows what is found already.
        "tr" if args.first().is_some_and(|arg| arg == "-d") => Some(found),
        "xargs" if args.is_empty() => Some(found),
        "cat" | "head" | "tail" => Some(found),
        "cut" | "awk" | "sed" | "grep" if is_narrow(&found) => Some(found),
        "cut" | "grep" if is_member(&found) && takes_number(args) => Some(found),
        _ => None,
    }
}

/// Whether what was found is a member or a field, from which the next filter takes the value.
fn is_narrow(found: &(Find, Option<Between>)) -> bool {
    found.1.is_some() || matches!(found.0, Find::Header(_))
}

/// Whether what was found is a member of the answer's own object.
fn is_member(found: &(Find, Option<Between>)) -> bool {
    matches!(&found.0, Find::Json(path) if matches!(path.as_slice(), [JsonStep::Key(_)]))
}

/// `cut -d: -f2` and `grep -o '[0-9]*'` behind one that left `"id": 7`.
fn takes_number(args: &[String]) -> bool {
    args.iter().any(|arg| {
        matches!(arg.as_str(), "-d:" | ":") || arg.contains("[0-9]") || arg.contains("\\d")
    })
}

/// The path of a `jq` that walks to one value.
fn jq(args: &[String]) -> Option<Vec<JsonStep>> {
    let known = ["-r", "-e", "-j", "-c", "-M", "-er", "-re", "-rj", "-rc", "--raw-output"];
    let mut filters = args.iter().filter(|arg| !known.contains(&arg.as_str()));
    let filter = filters.next()?;
    let path = filter.split_once("//").map_or(filter.as_str(), |(path, _)| path).trim();
    let path = path.strip_suffix("| tostring").unwrap_or(path).trim();
    jq_path(path.strip_prefix('.')?)
}

fn jq_path(mut rest: &str) -> Option<Vec<JsonStep>> {
    let mut path = vec![];
    while !rest.is_empty() {
        let (step, after) = match rest.strip_prefix('[') {
            Some(inner) => {
                let (inner, after) = inner.split_once(']')?;
                (bracket(inner)?, after)
            }
            None => jq_key(rest)?,
        };
        path.push(step);
        let after = after.strip_prefix('?').unwrap_or(after);
        rest = after.strip_prefix('.').unwrap_or(after);
    }
    Some(path)
}

fn jq_key(rest: &str) -> Option<(JsonStep, &str)> {
    if let Some(quoted) = rest.strip_prefix('"') {
        let (key, after) = quoted.split_once('"')?;
        return Some((JsonStep::Key(key.to_owned()), after));
    }
    let is_name = |char: char| char.is_ascii_alphanumeric() || char == '_';
    let end = rest.find(|char| !is_name(char)).unwrap_or(rest.len());
    (end > 0).then(|| (JsonStep::Key(rest[..end].to_owned()), &rest[end..]))
}

/// `0`, `-1`, `"key"`, `'key'`.
fn bracket(inner: &str) -> Option<JsonStep> {
    let inner = inner.trim();
    if let Ok(index) = inner.parse() {
        return Some(JsonStep::Index(index));
    }
    let quote = inner.chars().next().filter(|char| matches!(char, '"' | '\''))?;
    let key = inner.strip_prefix(quote)?.strip_suffix(quote)?;
    Some(JsonStep::Key(key.to_owned()))
}

/// The path of `python3 -c '…print(json.load(sys.stdin)["a"][0])'`.
fn python(args: &[String]) -> Option<Vec<JsonStep>> {
    let [flag, code, ..] = args else { return None };
    let (before, printed) = code.rsplit_once("print(").filter(|_| flag == "-c")?;
    let loads = ["json.load(sys.stdin)", "json.loads(sys.stdin.read())"];
    let rest = match loads.iter().find_map(|load| printed.trim_start().strip_prefix(load)) {
        Some(rest) => rest,
        None => {
            let end = printed.find(['[', '.', ')'])?;
            let name = printed[..end].trim();
            let compact = before.replace(' ', "");
            loads.iter().any(|load| compact.contains(&format!("{name}={load}"))).then_some(())?;
            &printed[end..]
        }
    };
    python_path(rest)
}

fn python_path(mut rest: &str) -> Option<Vec<JsonStep>> {
    let mut path = vec![];
    loop {
        let (inner, after) = match rest {
            _ if rest.starts_with('[') => rest[1..].split_once(']')?,
            _ if rest.starts_with(".get(") => rest[5..].split_once(')')?,
            _ => return rest.starts_with(')').then_some(path),
        };
        path.push(bracket(inner)?);
        rest = after;
    }
}

/// `grep -o '"id": *"[^"]*"'` looks for a member, `grep -i '^location:'` for a header field.
fn text_filter(name: &str, args: &[String]) -> Option<(Find, Option<Between>)> {
    let pattern = args.iter().find(|arg| !arg.starts_with('-') && arg.len() > 2)?;
    if let Some(key) = member(pattern) {
        return Some(member_of(key, pattern));
    }
    let field = pattern.trim_start_matches(['/', '^']);
    let end = field.find(|char: char| !char.is_ascii_alphanumeric() && char != '-')?;
    let is_field = pattern.contains('^') || (name == "grep" && args.iter().any(|arg| arg == "-i"));
    (is_field && field[end..].starts_with(':'))
        .then(|| (Find::Header(field[..end].to_owned()), None))
}

/// The first name in quotes that a colon follows, blanks or a pattern of blanks between them.
fn member(pattern: &str) -> Option<&str> {
    let (_, rest) = pattern.split_once('"')?;
    let (key, after) = rest.split_once('"')?;
    let is_name = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-');
    let blanks = after.split_once(':')?.0;
    let only_blanks = ["", " *", "\\s*", " ?", "[ ]*", " ", "[[:space:]]*"].contains(&blanks);
    (only_blanks && !key.is_empty() && key.chars().all(is_name)).then_some(key)
}

/// A string stands between the quotes behind its name; a number is taken where the answer's own object has it.
fn member_of(key: &str, pattern: &str) -> (Find, Option<Between>) {
    let behind = pattern.split_once(&format!("\"{key}\"")).map_or("", |(_, behind)| behind);
    if !behind.contains('"') {
        return (Find::Json(vec![JsonStep::Key(key.to_owned())]), None);
    }
    let quote = || "\"".to_owned();
    let left = format!("\"{key}\"");
    (
        Find::Body(Between { left, right: String::new() }),
        Some(Between { left: quote(), right: quote() }),
    )
}
