//! Remote modules that cannot be had: where one of them fails, all others that the static imports lead to are tried as well, so that
//! one error names all that is missing.

use std::collections::BTreeSet;

use super::files::Files;
use super::resolve;
use super::store::{Missing, Store};

/// Modules that are looked at, at most.
const MODULES_MAX: usize = 1000;
/// Remote modules that are tried beside the first one, at most: each may take as long as its time-out.
const TRIED_MAX: usize = 16;

/// What an error says more where the remote module `failed` could not be read: the others that cannot be either, with the
/// reasons, which versions of them are built in, and what to do.
pub(super) fn advice(store: &Store, files: &dyn Files, failed: &str) -> String {
    let others = others(store, files, failed);
    let mut text = String::new();
    for (name, reason) in &others {
        text.push_str(&format!("\nnor could {name}: {reason}"));
    }
    let names = std::iter::once(failed).chain(others.iter().map(|(name, _)| name.as_str()));
    let built_in: BTreeSet<&str> = names.flat_map(|name| store.builtins.kin(name)).collect();
    if !built_in.is_empty() {
        let built_in: Vec<&str> = built_in.into_iter().collect();
        text.push_str(&format!("\nThese need no network: {}.", built_in.join(", ")));
    }
    text + "\nWhere there is a network, `brunt vendor SCRIPT` puts all of them on disk, once; or save what is missing beside the script and import it by a relative name (./NAME.js)."
}

/// The other remote modules that cannot be read, with the reasons, in the order in which they were found.
fn others(store: &Store, files: &dyn Files, failed: &str) -> Vec<(String, String)> {
    let mut seen = BTreeSet::from([failed.to_owned()]);
    let mut todo = store.known_names();
    todo.reverse();
    let (mut missing, mut tried) = (Vec::new(), 0);
    while let Some(name) = todo.pop() {
        if seen.len() > MODULES_MAX {
            break;
        }
        if !seen.insert(name.clone()) || !store.is_of_script(&name) {
            continue;
        }
        let is_remote = resolve::is_remote(&name) && store.known(&name).is_none();
        tried += usize::from(is_remote);
        if is_remote && tried > TRIED_MAX {
            missing.push((name, "it was not tried".to_owned()));
            continue;
        }
        match store.unit(&name, files) {
            Ok(unit) => {
                let imports = unit.source.imports.iter().rev().filter_map(|import| {
                    resolve::resolve(store.builtins, &name, &import.specifier).ok()
                });
                todo.extend(imports);
            }
            // What is wrong with the others is said when their turn comes.
            Err(Missing::Unread(reason)) if is_remote => missing.push((name, reason)),
            Err(_) => {}
        }
    }
    missing
}
