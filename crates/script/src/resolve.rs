//! What an import's name means. K6's rules: built-in names, paths relative to the importing file, nothing guessed.

use crate::modules;

/// The full name of the module that `base` calls `name`.
///
/// # Errors
/// There can be no such module; the text says why.
pub(crate) fn resolve(base: &str, name: &str) -> Result<String, String> {
    if name == "k6" || name.starts_with("k6/") {
        let known = modules::is_one(name);
        return if known { Ok(name.to_owned()) } else { Err(format!("unknown module: {name}")) };
    }
    if modules::library(name).is_some() {
        return Ok(name.to_owned());
    }
    if let Some(path) = name.strip_prefix("file://") {
        return Ok(tidied(path));
    }
    if name.starts_with('/') {
        return Ok(tidied(name));
    }
    if name.starts_with("./") || name.starts_with("../") {
        let folder = base.rfind('/').map_or("", |end| &base[..=end]);
        return Ok(tidied(&format!("{folder}{name}")));
    }
    Err(format!(
        "The moduleSpecifier \"{name}\" couldn't be recognised as something k6 supports: a built-in name, a path that begins with ./, ../ or /, or a file:// URL"
    ))
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
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_relative_to_the_importing_file() {
        for (base, name, full) in [
            ("/a/b/main.js", "./x.js", "/a/b/x.js"),
            ("/a/b/main.js", "../x.js", "/a/x.js"),
            ("/a/main.js", "../../../x.js", "/x.js"),
            ("/a/main.js", "/y/./x.js", "/y/x.js"),
            ("/a/main.js", "file:///y/x.js", "/y/x.js"),
            ("main.js", "./lib/x.js", "lib/x.js"),
            ("/a/main.js", "k6", "k6"),
        ] {
            assert_eq!(resolve(base, name).as_deref(), Ok(full), "{base} {name}");
        }
        for name in ["lodash", "k6/nothing", "x.js"] {
            assert!(resolve("/a/main.js", name).is_err(), "{name}");
        }
    }
}
