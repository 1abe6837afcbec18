//! curl's globs in addresses: `{a,b}`, `[1-9:2]`, `[a-c]`, escaped by a backslash.

/// How many addresses one may become.
const URLS_MAX: usize = 1000;
/// How long an address with globs may be, in bytes: brackets without an end are searched for from each of them.
const URL_BYTES_MAX: usize = 64 << 10;
/// How many digits the numbers of a range may have.
const DIGITS_MAX: usize = 20;

/// The addresses that one with globs stands for; itself where they are not understood.
pub(super) fn expand(url: &str) -> Vec<String> {
    if url.len() > URL_BYTES_MAX {
        return vec![url.to_owned()];
    }
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
    if let Some((list, length)) = from.strip_prefix('{').and_then(set) {
        return (list, length + 2);
    }
    if let Some((inner, _)) = from.strip_prefix('[').and_then(|rest| rest.split_once(']'))
        && let Some(list) = range(inner)
    {
        return (list, inner.len() + 2);
    }
    literal(1)
}

/// The texts of `a,b}`, and where the bracket is; a backslash makes a comma or a bracket part of a text.
fn set(rest: &str) -> Option<(Vec<String>, usize)> {
    let mut list = vec![String::new()];
    let mut chars = rest.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '}' => return Some((list, at)),
            ',' => list.push(String::new()),
            char => {
                let plain = if char == '\\' { chars.next()?.1 } else { char };
                list.last_mut()?.push(plain);
            }
        }
    }
    None
}

/// Whether a glob of an address has no end, so that curl refuses it.
pub(super) fn is_open(url: &str) -> bool {
    let mut rest = url;
    while let Some(at) = rest.find(['{', '\\']) {
        let from = &rest[at..];
        if from.starts_with('{') && set(&from[1..]).is_none() {
            return true;
        }
        let (_, length) = choices(from);
        rest = &from[length..];
    }
    false
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
    if first.len() > DIGITS_MAX {
        return None;
    }
    let width = if first.starts_with('0') { first.len() } else { 0 };
    let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
    let last = last.min(first.saturating_add(URLS_MAX.saturating_mul(step) as u64));
    Some((first..=last).step_by(step).map(|number| format!("{number:0width$}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_are_lists_unless_a_backslash_stands_before_them() {
        assert_eq!(expand("/{a\\,b,c}"), ["/a,b", "/c"]);
        assert_eq!(expand("/{a,b}[1-2]"), ["/a1", "/a2", "/b1", "/b2"]);
        assert_eq!(expand("/\\{a,b\\}"), ["/{a,b}"]);
        assert_eq!(expand("/[1-3:18446744073709551615]"), ["/1"]);
        assert_eq!(expand(&format!("/[{}1-2]", "0".repeat(70_000))).len(), 1);
        assert_eq!(expand(&format!("/[{}1-2]", "0".repeat(30))).len(), 1);
        assert!(is_open("/{a") && is_open("/{a}/{b,c") && is_open("/{a\\}"));
        assert!(!is_open("/{a}") && !is_open("/\\{a") && !is_open("/a}") && !is_open("/[a"));
    }
}
