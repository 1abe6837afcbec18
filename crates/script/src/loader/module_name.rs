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
/// Stands among the names of a facade that has no default.
pub(super) const NO_DEFAULT: &str = "!";
/// How the name of a stand-in for one of k6's modules begins, which has names that the module lacks: they follow as in a facade's.
const STAND_IN: &str = "lacking:";
/// The module that facades import `load` from.
pub(crate) const LOADER: &str = "brunt:commonjs";
/// The facade of a module, with these exports besides `default`.
pub(crate) fn facade(names: &[String], module: &str) -> String {
    format!("{FACADE}{}:{module}", names.join(","))
}

/// The stand-in for a module that lacks these names.
pub(crate) fn stand_in(names: &[String], module: &str) -> String {
    format!("{STAND_IN}{}:{module}", names.join(","))
}

/// The text of the stand-in of this name, if it is one.
fn stand_in_text(name: &str) -> Option<String> {
    let (names, module) = name.strip_prefix(STAND_IN)?.split_once(':')?;
    let module = serde_json::to_string(&exact(module)).ok()?;
    let mut text = format!(
        "export * from {module}; export {{ default }} from {module};\nconst lacking = undefined;\n"
    );
    for name in names.split(',').filter(|name| is_identifier(name)) {
        text.push_str(&format!("export {{ lacking as {name} }};\n"));
    }
    Some(text)
}

/// The text of the facade or stand-in of this name, if it is one.
pub(crate) fn facade_text(name: &str) -> Option<String> {
    if name.starts_with(STAND_IN) {
        return stand_in_text(name);
    }
    let (names, module) = name.strip_prefix(FACADE)?.split_once(':')?;
    let module = serde_json::to_string(module).ok()?;
    let mut text = format!(
        "import {{ load }} from '{LOADER}';\nconst all = load({module});\nconst has = all !== null && (typeof all === 'object' || typeof all === 'function');\n"
    );
    if !names.split(',').any(|name| name == NO_DEFAULT) {
        text.push_str("export default has && 'default' in all ? all.default : all;\n");
    }
    for (at, name) in names.split(',').filter(|name| is_identifier(name)).enumerate() {
        text.push_str(&format!(
            "const _{at} = has ? all.{name} : undefined; export {{ _{at} as {name} }};\n"
        ));
    }
    Some(text)
}

fn is_identifier(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_numeric())
        && name != "default"
        && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$')
}
