//! Import circles: files of one crate that take names of each other, around a ring. What is in a circle can only be
//! understood, moved or tested together. It reads imports and paths; it does not resolve methods.
//!
//! An arrow leads from a file that names something to the file that *defines* it: a re-export on the way (`pub use` in a
//! `mod.rs`) is followed, and is no arrow itself. Code for tests alone has no arrows.

use std::collections::{BTreeMap, BTreeSet};

use crate::sources;

use super::imports::{self, Import};
use super::problem::Problem;

/// One file as a module of its crate.
struct Module {
    file: String,
    imports: Vec<Import>,
    /// The code without imports, without tests, comments and texts.
    code: String,
}

/// A crate's modules by their paths: the root is the empty path.
type Crate = BTreeMap<Vec<String>, Module>;

/// The names that make each arrow: from file, to file.
type Arrows = BTreeMap<(String, String), BTreeSet<String>>;

/// How often a name may be re-exported on its way; a longer way is a ring of imports.
const REEXPORTS_MAX: usize = 16;

/// Every circle of every crate. `files` maps paths to texts.
pub(super) fn check(files: &BTreeMap<String, String>) -> Vec<Problem> {
    let roots: BTreeSet<&str> =
        files.keys().filter_map(|path| path.split_once("/src/")).map(|(root, _)| root).collect();
    let circles = roots.into_iter().flat_map(|root| {
        let arrows = arrows(&modules(files, root));
        rings(&arrows).into_iter().map(move |ring| problem(root, &ring, &arrows))
    });
    circles.collect()
}

/// The problem of one circle: how many files, which, and what makes the arrows between them.
fn problem(root: &str, ring: &[String], arrows: &Arrows) -> Problem {
    let inside = arrows.iter().filter(|((from, to), _)| ring.contains(from) && ring.contains(to));
    let lines: Vec<String> = inside
        .map(|((from, to), names)| {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            format!("\n    {from} -> {to}: {}", names.join(" "))
        })
        .collect();
    let text = format!("{} files import each other in a circle{}", ring.len(), lines.concat());
    Problem::new(root, 0, "circles", text)
}

/// The modules below `root`/src, by their paths in the crate.
fn modules(files: &BTreeMap<String, String>, root: &str) -> Crate {
    let prefix = format!("{root}/src/");
    let of_crate =
        files.iter().filter_map(|(file, text)| Some((file, file.strip_prefix(&prefix)?, text)));
    of_crate
        .filter(|(_, path, _)| !path.ends_with("tests.rs") && !path.contains("tests/"))
        .map(|(file, path, text)| (module_path(path), module(file, text)))
        .collect()
}

fn module_path(path: &str) -> Vec<String> {
    let mut parts: Vec<String> =
        path.trim_end_matches(".rs").split('/').map(String::from).collect();
    if parts.last().is_some_and(|name| name == "mod") || matches!(path, "lib.rs" | "main.rs") {
        parts.pop();
    }
    parts
}

fn module(file: &str, text: &str) -> Module {
    let code = sources::split(text).code;
    let tests = sources::test_lines(&code);
    let lines = code.lines().zip(tests).map(|(line, test)| if test { "" } else { line });
    let code: Vec<&str> = lines.collect();
    let (imports, code) = imports::take(&code.join("\n"));
    Module { file: file.to_owned(), imports, code }
}

/// All arrows of a crate.
fn arrows(all: &Crate) -> Arrows {
    let mut arrows = Arrows::new();
    for (path, module) in all {
        for name in named(all, path, module) {
            let Some(to) = defining(all, path, &name, 0) else { continue };
            if to.file != module.file {
                let key = (module.file.clone(), to.file.clone());
                arrows.entry(key).or_default().insert(name.join("::"));
            }
        }
    }
    arrows
}

/// The paths that a module's code names, imported or written out.
fn named(all: &Crate, path: &[String], module: &Module) -> BTreeSet<Vec<String>> {
    let mut names = BTreeSet::new();
    for import in &module.imports {
        let is_used = !import.is_public || sources::has_word(&module.code, &import.name);
        let is_module = module_at(all, path, &import.path).is_some();
        if is_used && !is_module {
            names.insert(import.path.clone());
        }
    }
    for written in imports::paths(&module.code) {
        let alias = module.imports.iter().find(|import| import.name == written[0]);
        let full = match alias {
            Some(import) => import.path.iter().chain(&written[1..]).cloned().collect(),
            None => written,
        };
        names.insert(full);
    }
    names
}

/// The module that a path, seen from the module at `from`, stands for.
fn module_at(all: &Crate, from: &[String], name: &[String]) -> Option<Vec<String>> {
    let (base, rest) = base(all, from, name)?;
    let full: Vec<String> = base.iter().chain(rest).cloned().collect();
    all.contains_key(&full).then_some(full)
}

/// Where a path begins, and what follows; `None` if it leaves the crate.
fn base<'a>(
    all: &Crate,
    from: &[String],
    name: &'a [String],
) -> Option<(Vec<String>, &'a [String])> {
    let (mut at, mut rest) = match name.first()?.as_str() {
        "crate" => (Vec::new(), &name[1..]),
        "self" => (from.to_vec(), &name[1..]),
        "super" => (from.to_vec(), name),
        first => {
            let child: Vec<String> = from.iter().cloned().chain([first.to_owned()]).collect();
            return all.contains_key(&child).then(|| (from.to_vec(), name));
        }
    };
    while rest.first().is_some_and(|part| part == "super") {
        at.pop();
        rest = &rest[1..];
    }
    Some((at, rest))
}

/// The module that defines what a path names, re-exports followed.
fn defining<'a>(
    all: &'a Crate,
    from: &[String],
    name: &[String],
    depth: usize,
) -> Option<&'a Module> {
    let (mut at, mut rest) = base(all, from, name)?;
    while let Some(part) = rest.first() {
        let child: Vec<String> = at.iter().cloned().chain([part.clone()]).collect();
        if !all.contains_key(&child) {
            break;
        }
        (at, rest) = (child, &rest[1..]);
    }
    let module = all.get(&at)?;
    let Some(item) = rest.first() else { return Some(module) };
    let Some(import) = module.imports.iter().find(|import| import.name == *item) else {
        return Some(module);
    };
    if depth == REEXPORTS_MAX {
        return Some(module);
    }
    let further: Vec<String> = import.path.iter().chain(&rest[1..]).cloned().collect();
    // A re-export of another crate's name is nothing of this crate's.
    defining(all, &at, &further, depth + 1)
}

/// The circles: sets of two or more files that reach each other, by the files that each one reaches.
fn rings(arrows: &Arrows) -> Vec<Vec<String>> {
    let mut next: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (from, to) in arrows.keys() {
        next.entry(from).or_default().insert(to);
    }
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        next.keys().map(|file| (*file, reach(&next, file))).collect();
    let mut rings = BTreeSet::new();
    for (file, far) in &reached {
        let back = |other: &&&str| reached.get(**other).is_some_and(|from| from.contains(file));
        let ring: Vec<String> = far.iter().filter(back).map(ToString::to_string).collect();
        if ring.len() > 1 {
            rings.insert(ring);
        }
    }
    rings.into_iter().collect()
}

/// The files that arrows lead to from `file`, near and far.
fn reach<'a>(next: &BTreeMap<&'a str, BTreeSet<&'a str>>, file: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = vec![file];
    while let Some(at) = open.pop() {
        for to in next.get(at).into_iter().flatten() {
            if reached.insert(*to) {
                open.push(to);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_files(files: &[(&str, &str)], circles: &[&[&str]]) {
        let files = files
            .iter()
            .map(|(path, text)| (format!("crates/a/src/{path}"), (*text).to_owned()))
            .collect();
        let found: Vec<Vec<String>> = rings(&arrows(&modules(&files, "crates/a")));
        let found: Vec<Vec<&str>> = found
            .iter()
            .map(|ring| ring.iter().map(|file| &file["crates/a/src/".len()..]).collect())
            .collect();
        assert_eq!(found, circles);
    }

    #[test]
    fn two_files_that_take_names_of_each_other_are_a_circle() {
        let lib = ("lib.rs", "mod b;\nmod c;\n");
        let b = ("b.rs", "use crate::c::{C, other};\npub(crate) struct B;");
        check_files(&[lib, b, ("c.rs", "fn c() { super::b::B }")], &[&["b.rs", "c.rs"]]);
        check_files(&[lib, b, ("c.rs", "// super::b::B\nfn c() { \"crate::b::B\" }")], &[]);
        check_files(
            &[lib, b, ("c.rs", "#[cfg(test)]\nmod tests { use super::super::b::B; }")],
            &[],
        );
    }

    #[test]
    fn a_child_that_takes_a_name_of_its_caller_is_a_circle() {
        let caller = ("mod.rs", "mod b;\npub struct A;\nfn a() { b::run() }");
        check_files(&[("lib.rs", "mod a;")], &[]);
        let files = [
            ("lib.rs", "mod a;"),
            ("a/mod.rs", caller.1),
            ("a/b.rs", "use super::A;\nfn run() {}"),
        ];
        check_files(&files, &[&["a/b.rs", "a/mod.rs"]]);
    }

    #[test]
    fn reexports_lead_to_where_a_name_is_defined() {
        let root = ("lib.rs", "mod b;\nmod c;\npub use b::B;\npub use c::C as D;");
        check_files(&[root, ("b.rs", "pub struct B;"), ("c.rs", "use crate::B;")], &[]);
        check_files(
            &[root, ("b.rs", "use crate::D;"), ("c.rs", "use super::B;\nuse std::fmt;")],
            &[&["b.rs", "c.rs"]],
        );
    }

    #[test]
    fn a_module_that_is_imported_is_followed_to_the_names_taken() {
        let root = ("lib.rs", "mod a;\nmod c;");
        let a = ("a/mod.rs", "mod b;\npub use b::f;\npub fn g() {}");
        let c = ("c.rs", "use crate::a;\nfn c() { a::f() }");
        check_files(&[root, a, ("a/b.rs", "use crate::c::x;"), c], &[&["a/b.rs", "c.rs"]]);
    }

    #[test]
    fn a_ring_of_reexports_ends() {
        let b = ("b.rs", "pub use crate::c::X;");
        check_files(&[("lib.rs", "mod b;\nmod c;"), b, ("c.rs", "pub use crate::b::X;")], &[]);
    }
}
