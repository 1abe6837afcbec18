//! Names of modules that mean more than a file: exact ones, and the ES modules that stand for CommonJS ones.

/// The prefix of an exact name: what follows is the full name, whichever module imports it.
pub(super) const EXACT: char = '=';

/// The name to ask for a module by its full name.
pub(crate) fn exact(name: &str) -> String {
    format!("{EXACT}{name}")
}

/// How the name of a facade begins: an ES module that exports what a CommonJS one does. The names wanted of it follow, a
/// comma between them, then a colon and the module's full name.
pub(super) const FACADE: &str = "commonjs:";
/// The module that facades import `load` from.
pub(crate) const LOADER: &str = "brunt:commonjs";
/// The facade of a module, with these exports besides `default`.
pub(crate) fn facade(names: &[String], module: &str) -> String {
    format!("{FACADE}{}:{module}", names.join(","))
}

/// The text of the facade of this name, if it is one.
pub(crate) fn facade_text(name: &str) -> Option<String> {
    let (names, module) = name.strip_prefix(FACADE)?.split_once(':')?;
    let module = serde_json::to_string(module).ok()?;
    let mut text = format!(
        "import {{ load }} from '{LOADER}';\nconst all = load({module});\nconst has = all !== null && (typeof all === 'object' || typeof all === 'function');\nexport default has && 'default' in all ? all.default : all;\n"
    );
    for (at, name) in names.split(',').filter(|name| is_identifier(name)).enumerate() {
        text.push_str(&format!(
            "const _{at} = has ? all.{name} : undefined; export {{ _{at} as {name} }};\n"
        ));
    }
    Some(text)
}

fn is_identifier(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$')
}
