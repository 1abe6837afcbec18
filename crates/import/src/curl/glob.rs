//! curl's globs in addresses: `{a,b}`, `[1-9:2]`, `[a-c]`, escaped by a backslash.

/// How many addresses one may become.
const URLS_MAX: usize = 1000;

/// The addresses that one with globs stands for; itself where they are not understood.
pub(super) fn expand(url: &str) -> Vec<String> {
    let mut done = vec![String::new()];
    let mut rest = url;
    while let Some(at) = rest.find(['{', '[', '\\']) {
        let (before, from) = rest.split_at(at);
        done.iter_mut().for_each(|url| url.push_str(before));
        let (choices, length) = choices(from);
        if done.len() * choices.len() > URLS_MAX {
            return vec![url.to_owned()];
        }
        done = done
            .iter()
            .flat_map(|url| choices.iter().map(move |choice| format!("{url}{choice}")))
            .collect();
        rest = &from[length..];
    }
    done.iter_mut().for_each(|url| url.push_str(rest));
    done
}

/// The texts that may stand at the start of `from`, and how long the glob is.
fn choices(from: &str) -> (Vec<String>, usize) {
    let literal = |length: usize| (vec![from[..length].to_owned()], length);
    if let Some(rest) = from.strip_prefix('\\') {
        return match rest.chars().next() {
            Some(char) if "{}[]".contains(char) => (vec![char.to_string()], 2),
            _ => literal(1),
        };
    }
    if let Some((inner, _)) = from.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
        return (inner.split(',').map(str::to_owned).collect(), inner.len() + 2);
    }
    if let Some((inner, _)) = from.strip_prefix('[').and_then(|rest| rest.split_once(']'))
        && let Some(list) = range(inner)
    {
        return (list, inner.len() + 2);
    }
    literal(1)
}

fn range(inner: &str) -> Option<Vec<String>> {
    let (span, step) = inner.split_once(':').unwrap_or((inner, "1"));
    let step: usize = step.parse().ok().filter(|step| *step > 0)?;
    let (first, last) = span.split_once('-')?;
    let is_letter = |text: &str| text.len() == 1 && text.as_bytes()[0].is_ascii_alphabetic();
    if is_letter(first) && is_letter(last) {
        let (first, last) = (first.as_bytes()[0], last.as_bytes()[0]);
        return Some(
            (first..=last).step_by(step).map(|byte| char::from(byte).to_string()).collect(),
        );
    }
    let width = if first.starts_with('0') { first.len() } else { 0 };
    let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
    let last = last.min(first.saturating_add((URLS_MAX * step) as u64));
    Some((first..=last).step_by(step).map(|number| format!("{number:0width$}")).collect())
}
