//! What a path names in a JSON text, in GJSON's language: `a.b`, `list.0`, `list.#`, `list.#.name`, `list.#(age>40)#.name`,
//! `na*`, `a\.b`, `a|b`, `{a,b}`, `[a,b]` and the usual modifiers (`@reverse`, `@keys`, …). JSON lines (`..`) are not read.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Paths within paths are followed so deep.
const DEPTH_MAX: usize = 32;

/// What a path names, as JSON; `None` where that is nothing, or the text no JSON.
pub(super) fn select<'a>(json: &'a str, path: &str) -> Option<Cow<'a, str>> {
    let whole: &RawValue = serde_json::from_str(json).ok()?;
    get(Cow::Borrowed(whole.get()), path, DEPTH_MAX)
}

/// The first part of a path, and what follows it after a dot or a bar.
struct PathPart<'p> {
    part: &'p str,
    piped: bool,
    rest: Option<&'p str>,
}

fn first_part(path: &str) -> PathPart<'_> {
    let bytes = path.as_bytes();
    let mut end = match bytes.first() {
        Some(b'{' | b'[') => balanced(bytes, 0),
        Some(b'#') if bytes.get(1) == Some(&b'(') => balanced(bytes, 1),
        Some(b'@') => modifier_end(bytes),
        _ => 0,
    };
    while end < bytes.len() && !matches!(bytes[end], b'.' | b'|') {
        end += if bytes[end] == b'\\' { 2 } else { 1 };
    }
    let end = end.min(path.len());
    // An escape may have stepped into a character.
    let end = (end..=path.len()).find(|at| path.is_char_boundary(*at)).unwrap_or(path.len());
    let piped = bytes.get(end) == Some(&b'|');
    PathPart { part: &path[..end], piped, rest: path.get(end + 1..) }
}

/// Where a bracket that opens at `from` is closed, strings skipped.
fn balanced(bytes: &[u8], from: usize) -> usize {
    let (mut depth, mut at, mut quoted) = (0_usize, from, false);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'"' => quoted = !quoted,
            b'(' | b'[' | b'{' if !quoted => depth += 1,
            b')' | b']' | b'}' if !quoted => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// Where `@name` or `@name:argument` ends.
fn modifier_end(bytes: &[u8]) -> usize {
    let end = bytes.iter().position(|b| matches!(b, b':' | b'.' | b'|')).unwrap_or(bytes.len());
    match (bytes.get(end), bytes.get(end + 1)) {
        (Some(b':'), Some(b'{' | b'[' | b'(')) => balanced(bytes, end + 1),
        _ => end,
    }
}

/// A path up to its first bar, and what follows that.
fn until_bar(path: &str) -> (&str, Option<&str>) {
    let mut left = path;
    loop {
        let PathPart { part, piped, rest } = first_part(left);
        let at = part.as_ptr() as usize - path.as_ptr() as usize + part.len();
        match rest {
            Some(rest) if piped => return (&path[..at], Some(rest)),
            Some(rest) => left = rest,
            None => return (path, None),
        }
    }
}

fn get<'a>(json: Cow<'a, str>, path: &str, depth: usize) -> Option<Cow<'a, str>> {
    let depth = depth.checked_sub(1)?;
    let PathPart { part, piped, rest } = first_part(path);
    let found = match (part.as_bytes().first()?, json.trim_start().as_bytes().first()?) {
        (b'@', _) => modified(json, part)?,
        (b'{' | b'[', _) => Cow::Owned(several(&json, part, depth)?),
        (_, b'{') => member(json, part)?,
        (b'#', b'[') => {
            let rest = rest.filter(|_| !piped);
            return elements(json, part, rest, depth).and_then(|(found, used)| {
                let left = if used {
                    rest.and_then(|rest| until_bar(rest).1)
                } else {
                    first_part(path).rest
                };
                match left {
                    Some(left) => get(found, left, depth),
                    None => Some(found),
                }
            });
        }
        (_, b'[') => {
            let index: usize = part.parse().ok()?;
            picked(json, |text| items(text)?.get(index).copied())?
        }
        _ => return None,
    };
    match rest {
        Some(rest) => get(found, rest, depth),
        None => Some(found),
    }
}

/// A part of a text, borrowed where the text is.
fn picked<'a>(
    json: Cow<'a, str>,
    pick: impl for<'t> FnOnce(&'t str) -> Option<&'t str>,
) -> Option<Cow<'a, str>> {
    match json {
        Cow::Borrowed(text) => pick(text).map(Cow::Borrowed),
        Cow::Owned(text) => pick(&text).map(|part| Cow::Owned(part.to_owned())),
    }
}

fn items(json: &str) -> Option<Vec<&str>> {
    let items: Vec<&RawValue> = serde_json::from_str(json).ok()?;
    Some(items.into_iter().map(RawValue::get).collect())
}

/// An object's members in their order.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        from.deserialize_map(Each)
    }
}

fn members(json: &str) -> Option<Vec<(String, &str)>> {
    let Members(list) = serde_json::from_str(json).ok()?;
    Some(list.into_iter().map(|(name, value)| (name, value.get())).collect())
}

fn member<'a>(json: Cow<'a, str>, part: &str) -> Option<Cow<'a, str>> {
    picked(json, |text| {
        let found = members(text)?.into_iter().find(|(name, _)| is_like(name, part));
        found.map(|(_, value)| value)
    })
}

/// Whether a text is what a pattern with `*`, `?` and escapes says.
fn is_like(text: &str, pattern: &str) -> bool {
    let pattern: Vec<(char, bool)> = {
        let mut letters = pattern.chars();
        std::iter::from_fn(|| match letters.next()? {
            '\\' => Some((letters.next()?, true)),
            letter => Some((letter, false)),
        })
        .collect()
    };
    let text: Vec<char> = text.chars().collect();
    // The place to go on from where a star takes one more letter.
    let (mut t, mut p, mut star) = (0, 0, None);
    while t < text.len() {
        match pattern.get(p) {
            Some(('*', false)) => {
                star = Some((p, t));
                p += 1;
            }
            Some(('?', false)) => (t, p) = (t + 1, p + 1),
            Some((letter, _)) if *letter == text[t] => (t, p) = (t + 1, p + 1),
            _ => {
                let Some((back, from)) = star else { return false };
                star = Some((back, from + 1));
                (t, p) = (from + 1, back + 1);
            }
        }
    }
    pattern[p..].iter().all(|letter| *letter == ('*', false))
}

/// `#`, `#.path`, `#(query)` and `#(query)#.path` of an array; whether `rest`, up to its first bar, is followed already.
fn elements<'a>(
    json: Cow<'a, str>,
    part: &str,
    rest: Option<&str>,
    depth: usize,
) -> Option<(Cow<'a, str>, bool)> {
    let within = rest.map(|rest| until_bar(rest).0);
    let list = items(&json)?;
    let Some(query) = part.strip_prefix("#(") else {
        if part != "#" {
            return None;
        }
        return match within {
            None => Some((Cow::Owned(list.len().to_string()), false)),
            Some(path) => Some((Cow::Owned(each(&list, path, depth)), true)),
        };
    };
    let (query, all) = match (query.strip_suffix(")#"), query.strip_suffix(')')) {
        (Some(query), _) => (query, true),
        (None, Some(query)) => (query, false),
        (None, None) => return None,
    };
    let query = Query::parse(query);
    let mut matches = list.into_iter().filter(|item| query.holds(item, depth));
    if !all {
        let found = matches.next()?.to_owned();
        return Some((Cow::Owned(found), false));
    }
    let matches: Vec<&str> = matches.collect();
    match within {
        Some(path) => Some((Cow::Owned(each(&matches, path, depth)), true)),
        None => Some((Cow::Owned(array(matches)), false)),
    }
}

/// What a path names in each of a list, where it names something.
fn each(list: &[&str], path: &str, depth: usize) -> String {
    let found = list.iter().filter_map(|item| get(Cow::Borrowed(item), path, depth));
    array(found)
}

fn array<T: AsRef<str>>(items: impl IntoIterator<Item = T>) -> String {
    let mut out = String::from("[");
    for item in items {
        if out.len() > 1 {
            out.push(',');
        }
        out.push_str(item.as_ref());
    }
    out + "]"
}

/// `path op value`.
struct Query<'q> {
    path: &'q str,
    op: &'q str,
    value: &'q str,
}

impl<'q> Query<'q> {
    fn parse(text: &'q str) -> Self {
        const OPS: [&str; 9] = ["==", "!=", "<=", ">=", "!%", "=", "<", ">", "%"];
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            match bytes[at] {
                b'\\' => at += 1,
                b'(' | b'[' | b'{' => {
                    at = balanced(bytes, at);
                    continue;
                }
                _ => {
                    let op = OPS.iter().find(|op| bytes[at..].starts_with(op.as_bytes()));
                    if let Some(op) = op {
                        let (path, value) = (text[..at].trim(), text[at + op.len()..].trim());
                        return Self { path, op, value };
                    }
                }
            }
            at += 1;
        }
        Self { path: text.trim(), op: "", value: "" }
    }

    fn holds(&self, item: &str, depth: usize) -> bool {
        let found = match self.path {
            "" => Some(Cow::Borrowed(item)),
            path => get(Cow::Borrowed(item), path, depth),
        };
        let Some(found) = found else { return false };
        if self.op.is_empty() {
            return true;
        }
        let Ok(found) = serde_json::from_str::<serde_json::Value>(&found) else { return false };
        let bare = || serde_json::Value::from(self.value.trim_matches('"'));
        let value = serde_json::from_str(self.value).unwrap_or_else(|_| bare());
        let order = match (&found, &value) {
            (serde_json::Value::Number(a), serde_json::Value::Number(b)) => {
                a.as_f64().partial_cmp(&b.as_f64())
            }
            (serde_json::Value::String(a), serde_json::Value::String(b)) => match self.op {
                "%" => return is_like(a, b),
                "!%" => return !is_like(a, b),
                _ => Some(a.cmp(b)),
            },
            (serde_json::Value::Bool(a), serde_json::Value::Bool(b)) => Some(a.cmp(b)),
            (serde_json::Value::Null, serde_json::Value::Null) => Some(Ordering::Equal),
            _ => None,
        };
        match (self.op, order) {
            ("!=", None) => true,
            (_, None) => false,
            ("=" | "==", Some(order)) => order.is_eq(),
            ("!=", Some(order)) => order.is_ne(),
            ("<", Some(order)) => order.is_lt(),
            ("<=", Some(order)) => order.is_le(),
            (">", Some(order)) => order.is_gt(),
            (">=", Some(order)) => order.is_ge(),
            _ => false,
        }
    }
}

/// `{a,"name":b}` and `[a,b]`: several at once.
fn several(json: &str, part: &str, depth: usize) -> Option<String> {
    let (object, inner) = match part.strip_prefix('{') {
        Some(inner) => (true, inner.strip_suffix('}')?),
        None => (false, part.strip_prefix('[')?.strip_suffix(']')?),
    };
    let mut found = Vec::new();
    for path in split_list(inner) {
        let (name, path) = named(path);
        let Some(value) = get(Cow::Borrowed(json), path, depth) else { continue };
        if object {
            let last = || path.rsplit(['.', '|']).next().unwrap_or(path).to_owned();
            let name = serde_json::to_string(&name.unwrap_or_else(last)).ok()?;
            found.push(format!("{name}:{value}"));
        } else {
            found.push(value.into_owned());
        }
    }
    let list = array(found);
    Some(if object { format!("{{{}}}", &list[1..list.len() - 1]) } else { list })
}

/// The paths of a list, which are kept apart by commas.
fn split_list(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let (mut parts, mut from, mut at, mut quoted) = (Vec::new(), 0, 0, false);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'"' => quoted = !quoted,
            b'(' | b'[' | b'{' if !quoted => {
                at = balanced(bytes, at);
                continue;
            }
            b',' if !quoted => {
                parts.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    parts.push(&text[from.min(text.len())..]);
    parts
}

/// The name that a path of a list is given, and the path.
fn named(path: &str) -> (Option<String>, &str) {
    let mut names = serde_json::Deserializer::from_str(path).into_iter::<String>();
    let Some(Ok(name)) = names.next() else { return (None, path) };
    match path[names.byte_offset()..].strip_prefix(':') {
        Some(rest) => (Some(name), rest),
        None => (None, path),
    }
}

/// `@name` and `@name:argument`.
fn modified<'a>(json: Cow<'a, str>, part: &str) -> Option<Cow<'a, str>> {
    let name = part.split(':').next().unwrap_or(part);
    let text = &*json;
    let is_array = text.trim_start().starts_with('[');
    let made = match name {
        "@this" | "@valid" | "@pretty" | "@ugly" => return Some(json),
        "@reverse" if is_array => array(items(text)?.into_iter().rev()),
        "@reverse" => match members(text) {
            Some(list) => {
                let list = array(list.into_iter().rev().filter_map(|(name, value)| {
                    serde_json::to_string(&name).ok().map(|name| format!("{name}:{value}"))
                }));
                format!("{{{}}}", &list[1..list.len() - 1])
            }
            None => return Some(json),
        },
        "@keys" => {
            let names = members(text)?.into_iter();
            array(names.filter_map(|(name, _)| serde_json::to_string(&name).ok()))
        }
        "@values" if is_array => return Some(json),
        "@values" => array(members(text)?.into_iter().map(|(_, value)| value)),
        "@flatten" if is_array => {
            let inner = |item| items(item).unwrap_or_else(|| vec![item]);
            array(items(text)?.into_iter().flat_map(inner))
        }
        "@flatten" => return Some(json),
        "@tostr" => serde_json::to_string(text).ok()?,
        "@fromstr" => {
            let inner: String = serde_json::from_str(text).ok()?;
            serde_json::from_str::<&RawValue>(&inner).ok()?;
            inner
        }
        _ => return None,
    };
    Some(Cow::Owned(made))
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#"{"name":{"first":"Tom","last":"Anderson"},"age":37,"children":["Sara","Alex","Jack"],
        "fav.movie":"Deer Hunter","nil":null,"friends":[
        {"first":"Dale","last":"Murphy","age":44,"nets":["ig","fb","tw"]},
        {"first":"Roger","last":"Craig","age":68,"nets":["fb","tw"]},
        {"first":"Jane","last":"Murphy","age":47,"nets":["ig","tw"]}]}"#;

    #[test]
    fn paths_name_what_gjson_says() {
        for (path, expect) in [
            ("name.last", Some(r#""Anderson""#)),
            ("age", Some("37")),
            ("children.#", Some("3")),
            ("children.1", Some(r#""Alex""#)),
            ("children.9", None),
            ("child*.2", Some(r#""Jack""#)),
            ("c?ildren.0", Some(r#""Sara""#)),
            (r"fav\.movie", Some(r#""Deer Hunter""#)),
            ("nil", Some("null")),
            ("friends.#.first", Some(r#"["Dale","Roger","Jane"]"#)),
            ("friends.#.first|1", Some(r#""Roger""#)),
            ("friends.#.nets.#", Some("[3,2,2]")),
            (r#"friends.#(last=="Murphy").first"#, Some(r#""Dale""#)),
            (r#"friends.#(last=="Murphy")#.first"#, Some(r#"["Dale","Jane"]"#)),
            (r#"friends.#(last=="Murphy")#.first|#"#, Some("2")),
            ("friends.#(age>45)#.last", Some(r#"["Craig","Murphy"]"#)),
            (r#"friends.#(first%"D*").last"#, Some(r#""Murphy""#)),
            (r#"friends.#(first!%"D*").last"#, Some(r#""Craig""#)),
            (r#"friends.#(nets.#(=="fb"))#.first"#, Some(r#"["Dale","Roger"]"#)),
            (r#"children.#(!="Sara")"#, Some(r#""Alex""#)),
            ("friends.#(age>99)#", Some("[]")),
            ("friends.#(age>99)", None),
            ("children|@reverse", Some(r#"["Jack","Alex","Sara"]"#)),
            ("children.@reverse.0", Some(r#""Jack""#)),
            ("name.@keys", Some(r#"["first","last"]"#)),
            ("@this.age", Some("37")),
            (
                "{name.first,age,\"the\":children.0}",
                Some(r#"{"first":"Tom","age":37,"the":"Sara"}"#),
            ),
            ("[age,name.last]", Some(r#"[37,"Anderson"]"#)),
            ("friends.0.@values.#", Some("4")),
            ("", None),
            ("nope.nope", None),
            ("age.x", None),
            ("@nope", None),
        ] {
            assert_eq!(select(JSON, path).as_deref(), expect, "{path}");
        }
    }

    #[test]
    fn no_path_and_no_text_breaks_it() {
        for path in [
            "#(", "#()", "{", "[", "{{{{", "\\", "a\\", "@", "@:", "#(a", "|", "..", "#(\\",
            "#\u{e9}", "\\\u{e9}",
        ] {
            for json in [JSON, "", "[", "[[[1]]]", "{\"\":{}}", "[1,\"\u{e9}\"]"] {
                select(json, path);
            }
        }
        let deep = "@this.".repeat(1000) + "age";
        assert_eq!(select(JSON, &deep), None, "deeper than anybody means");
    }
}
