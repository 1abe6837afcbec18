//! JMeter's properties: files, then `-J`.

use std::collections::HashMap;

use anyhow::Context as _;

use super::arguments::Arguments;

/// Bytes of a file of properties at most.
const FILE_MAX: u64 = 16 << 20;

/// The properties of a command line: `-D`, then the files named, and above them `-J`, where one without a value takes a property
/// away.
///
/// # Errors
/// A file that is named cannot be read.
pub(super) fn of(arguments: &Arguments) -> anyhow::Result<HashMap<String, String>> {
    let mut all = HashMap::new();
    set(&arguments.system, &mut all);
    for name in &arguments.files {
        let size =
            std::fs::metadata(name).with_context(|| format!("reading properties {name}"))?.len();
        anyhow::ensure!(
            size <= FILE_MAX,
            "reading properties {name}: it has {size} bytes, more than {FILE_MAX}"
        );
        let text = std::fs::read(name).with_context(|| format!("reading properties {name}"))?;
        read(&String::from_utf8_lossy(&text), &mut all);
    }
    set(&arguments.properties, &mut all);
    Ok(all)
}

/// Sets properties; one without a value is none.
pub(super) fn set(given: &[(String, String)], all: &mut HashMap<String, String>) {
    for (name, value) in given {
        match value.as_str() {
            "" => drop(all.remove(name)),
            value => drop(all.insert(name.clone(), value.to_owned())),
        }
    }
}

/// Reads the text of a file: `name=value`, `name: value`, comments by `#` and `!`, lines that end with a backslash go on.
fn read(text: &str, into: &mut HashMap<String, String>) {
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let mut whole = line.trim_start().to_owned();
        if whole.starts_with(['#', '!']) || whole.is_empty() {
            continue;
        }
        while whole.ends_with('\\') && !whole.ends_with("\\\\") {
            whole.pop();
            whole.push_str(lines.next().unwrap_or_default().trim_start());
        }
        let end = whole.find(['=', ':', ' ', '\t']).unwrap_or(whole.len());
        let (name, rest) = whole.split_at(end);
        let value = rest.trim_start().trim_start_matches(['=', ':']).trim_start();
        into.insert(unescape(name), unescape(value));
    }
}

fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('t') => out.push('\t'),
                Some('n') => out.push('\n'),
                Some('r') => out.push('\r'),
                Some('u') => {
                    let digits: String = letters.by_ref().take(4).collect();
                    let code = u32::from_str_radix(&digits, 16).ok();
                    out.extend(code.and_then(char::from_u32));
                }
                other => out.extend(other),
            },
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issue_44_properties_without_a_value_are_none() {
        let pair = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let arguments = Arguments {
            system: [("a", "1"), ("b", "2")].map(pair).to_vec(),
            properties: [("b", ""), ("c", "3")].map(pair).to_vec(),
            ..Arguments::default()
        };
        let expect = [("a", "1"), ("c", "3")].map(pair);
        assert_eq!(of(&arguments).unwrap(), HashMap::from(expect));
    }

    #[test]
    fn files_of_properties_are_read() {
        let mut all = HashMap::new();
        read(
            "# c\n a = 1\nb:2\nlong=x\\\n   y\ntab=\\t\\u00e9\npath=c\\:\\\\d\nempty=\n",
            &mut all,
        );
        let get = |name: &str| all.get(name).map(String::as_str);
        assert_eq!([get("a"), get("b"), get("long")], [Some("1"), Some("2"), Some("xy")]);
        assert_eq!([get("tab"), get("path"), get("empty")], [Some("\té"), Some("c:\\d"), Some("")]);
    }
}
