//! What an import's name means. K6's rules: built-in names, paths relative to the importing file, nothing guessed. Full names
//! of modules are URLs: `file:///folder/name.js`, `https://host/name.js`.

use super::builtins::Builtins;
pub(crate) use super::module_url::{joined, path_of, url_of};

/// The full name of the module that `base` calls `name`.
///
/// # Errors
/// There can be no such module; the text says why.
pub(crate) fn resolve(builtins: &Builtins, base: &str, name: &str) -> Result<String, String> {
    if name == "k6" || name.starts_with("k6/") {
        return if builtins.has(name) { Ok(name.to_owned()) } else { Err(builtins.missing(name)) };
    }
    if builtins.has_library(name) {
        return Ok(name.to_owned());
    }
    if name.starts_with("https://") {
        return Ok(joined(base, name));
    }
    if name.starts_with("http://") {
        return Err(format!("only file and https URLs can be imported, not \"{name}\""));
    }
    let local = name.starts_with("file://");
    if local && is_remote(base) {
        return Err(not_local(name));
    }
    if local || ["/", "./", "../"].iter().any(|start| name.starts_with(start)) {
        return Ok(joined(base, name));
    }
    Err(format!(
        "The moduleSpecifier \"{name}\" couldn't be recognised as something k6 supports: a built-in name, a path that begins with ./, ../ or /, or a URL with file:// or https://"
    ))
}

/// Whether a module came from another machine.
pub(super) fn is_remote(name: &str) -> bool {
    name.starts_with("https://")
}

/// Why a remote module does not get a file of this machine.
pub(super) fn not_local(name: &str) -> String {
    format!("a remote module may not import a local one: \"{name}\"")
}

/// Whether the full name is that of a text: a file, one from another machine, or a library of ours.
pub(super) fn is_text(builtins: &Builtins, name: &str) -> bool {
    name.starts_with("file://") || is_remote(name) || builtins.has_library(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_relative_to_the_importing_file() {
        for (base, name, full) in [
            ("file:///a/b/main.js", "./x.js", "file:///a/b/x.js"),
            ("file:///a/b/main.js", "../x.js", "file:///a/x.js"),
            ("file:///a/main.js", "../../../x.js", "file:///x.js"),
            ("file:///a/main.js", "/y/./x.js", "file:///y/x.js"),
            ("file:///a/main.js", "file:///y/../x.js", "file:///x.js"),
            ("file:///a/main.js", "k6", "k6"),
            ("file:///a/main.js", "https://h/p/x.js?v=1", "https://h/p/x.js?v=1"),
            ("https://h:1/p/x.js?v=1", "./y.js", "https://h:1/p/y.js"),
            ("https://h:1/p/x.js", "/y.js", "https://h:1/y.js"),
        ] {
            assert_eq!(
                resolve(&crate::api::table::K6, base, name).as_deref(),
                Ok(full),
                "{base} {name}"
            );
        }
        for (base, name) in [
            ("file:///a/main.js", "lodash"),
            ("file:///a/main.js", "k6/nothing"),
            ("file:///a/main.js", "x.js"),
            ("file:///a/main.js", "http://h/x.js"),
            ("https://h/x.js", "file:///etc/passwd"),
        ] {
            assert!(resolve(&crate::api::table::K6, base, name).is_err(), "{name}");
        }
    }
}
