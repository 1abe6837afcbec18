//! The URLs that modules are known by, and the files they stand for: `file:///folder/name.js`, `https://host/name.js`. Which module
//! a name means is `resolve`'s.

/// The URL of what lies at `name` as seen from `base`.
pub(crate) fn joined(base: &str, name: &str) -> String {
    if let Some((scheme, _)) = name.split_once("://") {
        let (origin, path) = split(name);
        return if scheme == "file" {
            format!("file://{}", tidied(path))
        } else {
            format!("{origin}{path}")
        };
    }
    let (origin, path) = split(base);
    let path = path.split(['?', '#']).next().unwrap_or(path);
    if name.starts_with('/') {
        return format!("{origin}{}", tidied(name));
    }
    let folder = path.rfind('/').map_or("/", |end| &path[..=end]);
    format!("{origin}{}", tidied(&format!("{folder}{name}")))
}

/// The URL of a file; what is a URL already stays.
pub(crate) fn url_of(path: &str) -> String {
    if path.contains("://") {
        path.to_owned()
    } else {
        format!("file://{}", tidied(&format!("/{path}")))
    }
}

/// What the files of a test know a module by: a path, or the URL of a remote one.
pub(crate) fn path_of(url: &str) -> &str {
    url.strip_prefix("file://").unwrap_or(url)
}

/// A URL's scheme and host, and its path.
fn split(url: &str) -> (&str, &str) {
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url[start..].find('/').map_or(url.len(), |at| start + at);
    url.split_at(end)
}

/// The path without `.` and `..`.
fn tidied(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}
