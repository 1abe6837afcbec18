//! Modules by their full names: known ones, or read and made ready while the script is first run.

use std::sync::Arc;

use rquickjs::{Ctx, Result};

use super::module_error::{at, excerpt, thrown, thrown_at};
use super::resolve;
use super::source_map::SourcePos;
use super::store::{Missing, ModuleUnit, Store};
use super::unfetched;
use crate::runtime::current::vu_of;

/// The module of this full name, which the script calls `name`.
///
/// # Errors
/// There is no such module, or it has an error: an exception with the place of the import, or of the error.
pub(crate) fn unit(
    ctx: &Ctx<'_>,
    store: &Store,
    full: &str,
    name: &str,
    place: Option<&SourcePos>,
) -> Result<Arc<ModuleUnit>> {
    if let Some(unit) = store.known(full) {
        return Ok(unit);
    }
    let vu = vu_of(ctx)?;
    let Some(files) = vu.files.borrow().clone() else {
        let text = format!("\"{name}\" was not imported when the script was first run");
        return Err(thrown_at(ctx, &text, place));
    };
    store.unit(full, &*files).map_err(|missing| match missing {
        Missing::Unread(reason) => {
            let mut text = format!(
                "The moduleSpecifier \"{name}\" couldn't be found: {}: {reason}",
                resolve::path_of(full)
            );
            if resolve::is_remote(full) {
                text += &unfetched::advice(store, &*files, full);
            }
            thrown_at(ctx, &text, place)
        }
        Missing::Wrong(wrong) => {
            let place = SourcePos { file: full.to_owned(), line: wrong.line, column: wrong.column };
            let line = wrong.text.lines().nth(wrong.line.saturating_sub(1) as usize);
            let shown = line.map(|line| excerpt(&place, line)).unwrap_or_default();
            thrown(ctx, "SyntaxError", &wrong.message, &format!("{}\n{shown}", at(&place)))
        }
    })
}
